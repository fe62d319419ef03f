package askahuman

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

func complaint() askahuman.ComplaintEntry {
	return askahuman.ComplaintEntry{Reason: "abuse", Comment: "It calls me names.", By: "person", At: wire.Time(start)}
}

// as is the decision of an operator who decides whatever was decided before.
func as(operator string) askahuman.Decision { return askahuman.Decision{Operator: operator} }

// byPerson is a report of a question as a person makes it.
func byPerson(r askahuman.QuestionReport) askahuman.PersonReport {
	return askahuman.PersonReport{QuestionID: &r.QuestionID, Reason: r.Reason, Comment: r.Comment}
}

// moderated is a service on a clock that stands still.
type moderated struct {
	*testing.T
	*Service
}

func newModerated(t *testing.T) *moderated {
	t.Helper()
	return &moderated{t, &Service{DB: dynamotest.Open(t, askahuman.Platform().Database).DB, Clock: func() time.Time {
		return start
	}}}
}

func (m *moderated) ask(agent string, responses int) askahuman.Question {
	m.Helper()
	q, err := m.Ask(m.Context(), agent, askahuman.Ask{Prompt: "What is the meaning of it all?",
		Type: askahuman.TypeText, MinResponses: &responses})
	m.must(err)
	return q
}

func (m *moderated) answer(person, questionID, text string) error {
	_, err := m.Answer(m.Context(), person, nil, askahuman.Answer{QuestionID: questionID, Text: &text})
	return err
}

func (m *moderated) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *moderated) wants(want, got error) {
	m.Helper()
	if !errors.Is(got, want) {
		m.Errorf("got %v, want %v", got, want)
	}
}

// list returns the cases of a state, in pages of two.
func (m *moderated) list(state askahuman.ReportState) (cases []askahuman.OperatorReport) {
	m.Helper()
	for cursor := ""; ; {
		page, next, err := m.Reports(m.Context(), state, 2, cursor)
		m.must(err)
		if cases = append(cases, page...); next == "" {
			return cases
		}
		cursor = next
	}
}

// An operator sees and hides what an agent has open, page by page where it has more, and nothing of another's.
func TestOpenQuestions(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	for range 5 {
		m.ask("a", 3)
	}
	closed, other := m.ask("a", 3), m.ask("b", 3)
	m.must(m.Close(ctx, "a", closed.ID))
	open := func(limit int, now time.Time) askahuman.OfAgent {
		t.Helper()
		got, err := m.openOfAgent(ctx, "a", limit, now)
		m.must(err)
		return got
	}
	for limit, want := range map[int]int{2: 2, 4: 4, 5: 5, 6: 5} {
		if got := open(limit, start); len(got.Questions) != want || got.More != (limit < 5) || got.Blocked {
			t.Errorf("of %d: got %d questions, more %t, blocked %t", limit, len(got.Questions), got.More, got.Blocked)
		}
	}
	if got := open(2, start.Add(2*time.Hour)); len(got.Questions) != 0 || got.More {
		t.Errorf("after their deadline: got %+v", got)
	}
	m.must(m.BlockAgent(ctx, as("olga"), "a", true))
	ended, cancel := context.WithDeadline(ctx, time.Now())
	defer cancel()
	if _, _, err := m.HideOpenQuestions(ended, as("olga"), "a"); err == nil {
		t.Error("an operation without time reports success")
	}
	hidden, more, err := m.HideOpenQuestions(ctx, as("olga"), "a")
	if m.must(err); hidden != 5 || more {
		t.Errorf("hid %d, more %t; want all 5", hidden, more)
	}
	if got := open(10, start); len(got.Questions) != 0 || !got.Blocked {
		t.Errorf("got %+v after all were hidden", got)
	}
	if q, err := m.question(ctx, other.ID, start); err != nil || q.Status != askahuman.StatusOpen {
		t.Errorf("another agent's question is %+v, %v", q, err)
	}
	if cases := m.list(askahuman.ReportHidden); len(cases) != 5 || cases[0].DecidedBy != "olga" {
		t.Errorf("got %d decisions: %+v", len(cases), cases)
	}
}

// What is reported waits for an operator with all that was said, once for each reporter, and moves on
// with the decision.
func TestReports(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	q := m.ask("a", 3)
	m.must(m.answer("ann", q.ID, "Forty-two, you fool."))
	answerID := askahuman.ResponseID(q.ID, "ann")
	about := askahuman.QuestionReport{QuestionID: q.ID, Reason: "abuse", Comment: new("rude")}
	for range 2 {
		for _, person := range []string{"bob", "eve"} {
			reported, err := m.ReportByPerson(ctx, person, byPerson(about))
			if m.must(err); reported != (askahuman.Reported{ReportID: q.ID, Status: "open"}) {
				t.Errorf("got %+v", reported)
			}
		}
		reported, err := m.ReportResponse(ctx, "a",
			askahuman.ResponseReport{QuestionReport: about, ResponseID: answerID})
		if m.must(err); reported.ReportID != answerID {
			t.Errorf("got %+v", reported)
		}
	}
	_, err := m.ReportResponse(ctx, "a", askahuman.ResponseReport{QuestionReport: about, ResponseID: uuid.NewString()})
	m.wants(askahuman.ErrResponseNotFound, err)

	open := m.list(askahuman.ReportOpen)
	slices.SortFunc(open, func(a, b askahuman.OperatorReport) int { return len(a.ResponseID) - len(b.ResponseID) })
	if len(open) != 2 || open[0].ID != q.ID || open[1].ID != answerID {
		t.Fatalf("got %+v", open)
	}
	if c := open[0]; len(c.Complaints) != 2 ||
		c.Complaints[1] != (askahuman.ComplaintEntry{Reason: "abuse", Comment: "rude", By: "person",
			At: wire.Time(start)}) ||
		c.Prompt != q.Prompt || c.AgentID != "a" {
		t.Errorf("got %+v", c)
	}
	if c := open[1]; len(c.Complaints) != 1 || c.Answer == nil ||
		*c.Answer != "Forty-two, you fool." || c.Person != "ann" {
		t.Errorf("got %+v", c)
	}
	m.must(m.Dismiss(ctx, as("olga"), q.ID, true))
	m.must(m.HideResponse(ctx, as("olga"), q.ID, answerID, true))
	// A further report opens nothing that is decided.
	_, err = m.ReportByPerson(ctx, "zoe", byPerson(about))
	m.must(err)
	if left := m.list(askahuman.ReportOpen); len(left) != 0 {
		t.Errorf("still open: %+v", left)
	}
	if d := m.list(askahuman.ReportDismissed); len(d) != 1 || d[0].DecidedBy != "olga" || len(d[0].Complaints) != 3 {
		t.Errorf("dismissed: %+v", d)
	}
	if h := m.list(askahuman.ReportHidden); len(h) != 1 || h[0].ID != answerID || !h[0].Hidden {
		t.Errorf("hidden: %+v", h)
	}
	m.must(m.Dismiss(ctx, as("olga"), q.ID, false))
	if o := m.list(askahuman.ReportOpen); len(o) != 1 {
		t.Errorf("opened again: %+v", o)
	}
}

// Pages of reports have each case once, newest first; 50 reports of one are kept.
func TestReportPages(t *testing.T) {
	t.Parallel()
	m := newModerated(t)
	want := map[string]bool{}
	for i := range 5 {
		q := m.ask("a", 1)
		c := complaint()
		// Two have one moment.
		c.At = wire.Time(start.Add(time.Duration(i/2) * time.Second))
		m.must(m.keepReport(t.Context(), subject{question: q.ID}, "bob", c))
		want[q.ID] = true
	}
	cases := m.list(askahuman.ReportOpen)
	for i, c := range cases {
		if !want[c.ID] || i > 0 && time.Time(c.ReportedAt).After(time.Time(cases[i-1].ReportedAt)) {
			t.Errorf("%d: got %+v", i, c)
		}
		delete(want, c.ID)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	q := m.ask("a", 1)
	for i := range askahuman.MaxReporters + 1 {
		m.must(m.keepReport(t.Context(), subject{question: q.ID}, fmt.Sprint("person", i), complaint()))
	}
	for _, c := range m.list(askahuman.ReportOpen) {
		if c.ID == q.ID && len(c.Complaints) != askahuman.MaxReporters {
			t.Errorf("got %d complaints", len(c.Complaints))
		}
	}
}

// A hidden question is gone for people at once, also for an answer that is under way, and its agent
// sees why it has ended. Its place of the quota is free.
func TestHideQuestion(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	m.Rules = quotaOf(1)
	q := m.ask("a", 3)
	m.must(m.answer("ann", q.ID, "An answer from before."))
	read, err := m.question(ctx, q.ID, start)
	m.must(err)
	for range 2 {
		m.must(m.HideQuestion(ctx, as("olga"), q.ID, true))
	}
	m.wants(askahuman.ErrQuestionNotFound, m.answer("bob", q.ID, "An answer from after."))
	m.wants(askahuman.ErrAlreadyAnswered, m.answer("ann", q.ID, "An answer from after."))
	if _, err := m.submitResponse(ctx, read,
		askahuman.Response{ID: uuid.NewString(), QuestionID: q.ID, PersonHash: "eve", CreatedAt: start},
		askahuman.Stats{PersonHash: "eve"}); !errors.Is(err, askahuman.ErrQuestionClosed) {
		t.Errorf("an answer that was under way: %v", err)
	}
	_, _, err = m.Question(ctx, "bob", q.ID)
	m.wants(askahuman.ErrQuestionNotFound, err)
	if feed, _, err := m.Feed(ctx, "bob", nil, 20, ""); err != nil || len(feed) != 0 {
		t.Errorf("the feed has %+v, %v", feed, err)
	}
	seen, err := m.Read(ctx, "a", q.ID)
	if m.must(err); seen.Status != askahuman.StatusClosed || seen.HiddenAt.IsZero() || len(seen.Responses) != 1 {
		t.Errorf("its agent sees %+v", seen)
	}
	m.ask("a", 1)
	m.must(m.HideQuestion(ctx, as("olga"), q.ID, false))
	seen, err = m.Read(ctx, "a", q.ID)
	if m.must(err); seen.Status != askahuman.StatusClosed || !seen.HiddenAt.IsZero() {
		t.Errorf("shown again, its agent sees %+v", seen)
	}
	_, _, err = m.Question(ctx, "bob", q.ID)
	m.wants(askahuman.ErrQuestionClosed, err)
	m.wants(askahuman.ErrQuestionNotFound, m.HideQuestion(ctx, as("olga"), uuid.NewString(), true))
}

// Answers and hiding meet: whichever is first, no answer is stored after it.
func TestHideQuestionRace(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	for range 4 {
		q := m.ask("a", 4)
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := m.HideQuestion(ctx, as("olga"), q.ID, true); err != nil {
				t.Error(err)
			}
		})
		for i := range 4 {
			wait.Go(func() {
				err := m.answer(fmt.Sprint(q.ID, i), q.ID, "An answer that races.")
				if err != nil && !errors.Is(err, askahuman.ErrQuestionNotFound) &&
					!errors.Is(err, askahuman.ErrQuestionClosed) {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		seen, err := m.Read(ctx, "a", q.ID)
		if m.must(err); seen.Status != askahuman.StatusClosed || seen.HiddenAt.IsZero() ||
			len(seen.Responses) != seen.CurrentResponses {
			t.Errorf("got %s, hidden at %v, %d answers of %d", seen.Status, seen.HiddenAt, len(seen.Responses),
				seen.CurrentResponses)
		}
	}
}

// A hidden answer is gone for its agent, who learns how many there are; shown again, it is back.
func TestHideResponse(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	options := []string{"Yes", "No"}
	q, err := m.Ask(ctx, "a", askahuman.Ask{Prompt: "Is this a question?", Type: askahuman.TypeMultipleChoice,
		Options: options, MinResponses: new(2)})
	m.must(err)
	for i, person := range []string{"ann", "bob"} {
		_, err := m.Answer(ctx, person, nil, askahuman.Answer{QuestionID: q.ID, Option: &i})
		m.must(err)
	}
	id := askahuman.ResponseID(q.ID, "ann")
	m.must(m.HideResponse(ctx, as("olga"), q.ID, id, true))
	seen, err := m.Read(ctx, "a", q.ID)
	if m.must(err); len(seen.Responses) != 1 || seen.Responses[0].PersonHash == "ann" || seen.Hidden != 1 ||
		seen.CurrentResponses != 2 || seen.Summary[0].Count != 0 || seen.Summary[1].Count != 1 {
		t.Errorf("got %+v", seen)
	}
	waited, _, err := m.ReadNews(ctx, "a", q.ID, Wait{Longest: time.Second})
	if m.must(err); len(waited.Responses) != 1 || waited.Hidden != 1 || waited.Summary[0].Count != 0 {
		t.Errorf("a read that waits shows %+v", waited)
	}
	m.must(m.HideResponse(ctx, as("olga"), q.ID, id, false))
	seen, err = m.Read(ctx, "a", q.ID)
	if m.must(err); len(seen.Responses) != 2 || seen.Hidden != 0 || seen.Summary[0].Count != 1 {
		t.Errorf("shown again: %+v", seen)
	}
	m.wants(askahuman.ErrResponseNotFound, m.HideResponse(ctx, as("olga"), q.ID, uuid.NewString(), true))
	m.wants(askahuman.ErrResponseNotFound, m.HideResponse(ctx, as("olga"), uuid.NewString(), id, true))
}

// A blocked person can neither answer nor report, also with an answer that is under way, and can again
// when the block is lifted.
func TestBlockPerson(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	first, second := m.ask("a", 3), m.ask("a", 3)
	m.wants(askahuman.ErrPersonNotFound, m.BlockPerson(ctx, as("olga"), "ann", true))
	m.must(m.answer("ann", first.ID, "My first answer here."))
	stats, err := m.stats(ctx, "ann")
	m.must(err)
	for range 2 {
		m.must(m.BlockPerson(ctx, as("olga"), "ann", true))
	}
	m.wants(askahuman.ErrBlocked, m.answer("ann", second.ID, "My second answer here."))
	r, _ := newAnswer(second, "ann")
	if _, err := m.submitResponse(ctx, second, r, stats); err == nil {
		t.Error("an answer that was under way is stored")
	}
	_, err = m.ReportByPerson(ctx, "ann", askahuman.PersonReport{QuestionID: &second.ID, Reason: "spam"})
	m.wants(askahuman.ErrBlocked, err)
	m.must(m.BlockPerson(ctx, as("olga"), "ann", false))
	m.must(m.answer("ann", second.ID, "My second answer here."))
	if after, err := m.stats(ctx, "ann"); err != nil || after.TotalAnswers != 2 || !after.BlockedAt.IsZero() {
		t.Errorf("got %+v, %v", after, err)
	}
}

// A blocked agent cannot ask, with and without an idempotency key, with a full quota and an empty one, and
// while questions of it end.
func TestBlockAgent(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	ask := askahuman.Ask{Prompt: "Will you let me ask this?", Type: askahuman.TypeText}
	q := m.ask("a", 1)
	m.must(m.BlockAgent(ctx, as("olga"), "a", true))
	m.must(m.answer("ann", q.ID, "The last answer to it."))
	_, err := m.Ask(ctx, "a", ask)
	m.wants(askahuman.ErrBlocked, err)
	claim, _, err := m.Keys().Begin(ctx, "a", "key", []byte("x"), 0)
	m.must(err)
	_, err = m.Ask(idempotency.WithClaim(ctx, claim, created), "a", ask)
	m.wants(askahuman.ErrBlocked, err)
	m.Rules = quotaOf(1)
	m.ask("full", 1)
	m.must(m.BlockAgent(ctx, as("olga"), "full", true))
	_, err = m.Ask(ctx, "full", ask)
	m.wants(askahuman.ErrBlocked, err)
	m.ask("b", 1)
	m.must(m.BlockAgent(ctx, as("olga"), "a", false))
	m.ask("a", 1)
}
