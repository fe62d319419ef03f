package askahuman

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
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
	return must.Get(m.Ask(m.Context(), agent, askahuman.Ask{Prompt: "What is the meaning of it all?",
		Type: askahuman.TypeText, MinResponses: &responses}))(m)
}

func (m *moderated) answer(person, questionID, text string) error {
	_, err := m.Answer(m.Context(), person, nil, askahuman.Answer{QuestionID: questionID, Text: &text})
	return err
}

// list returns the cases of a state, in pages of two.
func (m *moderated) list(state askahuman.ReportState) []askahuman.OperatorReport {
	m.Helper()
	return dynamotest.Pages(m, func(from string) ([]askahuman.OperatorReport, string, error) {
		return m.Reports(m.Context(), state, 2, from)
	})
}

// An operator sees and hides what an agent has open, page by page where it has more, and nothing of another's.
func TestOpenQuestions(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	for range 5 {
		m.ask("a", 3)
	}
	closed, other := m.ask("a", 3), m.ask("b", 3)
	must.OK(m, m.Close(ctx, "a", closed.ID))
	open := func(limit int, now time.Time) askahuman.OfAgent {
		t.Helper()
		return must.Get(m.openOfAgent(ctx, "a", limit, now))(m)
	}
	for limit, want := range map[int]int{2: 2, 4: 4, 5: 5, 6: 5} {
		if got := open(limit, start); len(got.Questions) != want || got.More != (limit < 5) || got.Blocked {
			t.Errorf("of %d: got %d questions, more %t, blocked %t", limit, len(got.Questions), got.More, got.Blocked)
		}
	}
	if got := open(2, start.Add(2*time.Hour)); len(got.Questions) != 0 || got.More {
		t.Errorf("after their deadline: got %+v", got)
	}
	must.OK(m, m.BlockAgent(ctx, as("olga"), "a", true))
	ended, cancel := context.WithDeadline(ctx, time.Now())
	defer cancel()
	if _, _, err := m.HideOpenQuestions(ended, as("olga"), "a"); err == nil {
		t.Error("an operation without time reports success")
	}
	hidden, more, err := m.HideOpenQuestions(ctx, as("olga"), "a")
	if must.OK(m, err); hidden != 5 || more {
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
		of := subject{question: q.ID}
		if i == 0 {
			must.OK(m, m.answer("ann", q.ID, "Forty-two, you fool."))
			of.response = askahuman.ResponseID(q.ID, "ann")
		}
		must.OK(m, m.keepReport(t.Context(), of, "bob", c))
		want[of.id()] = true
	}
	cases := m.list(askahuman.ReportOpen)
	for i, c := range cases {
		if !want[c.ID] || (c.Answer != nil) != (c.ResponseID != "") ||
			i > 0 && time.Time(c.ReportedAt).After(time.Time(cases[i-1].ReportedAt)) {
			t.Errorf("%d: got %+v", i, c)
		}
		delete(want, c.ID)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	q := m.ask("a", 1)
	for i := range askahuman.MaxReporters + 1 {
		must.OK(m, m.keepReport(t.Context(), subject{question: q.ID}, fmt.Sprint("person", i), complaint()))
	}
	for _, c := range m.list(askahuman.ReportOpen) {
		if c.ID == q.ID && len(c.Complaints) != askahuman.MaxReporters {
			t.Errorf("got %d complaints", len(c.Complaints))
		}
	}
}

// A hidden question takes no answer that is under way. Its place of the quota is free.
func TestHideQuestion(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	m.Rules = quotaOf(1)
	q := m.ask("a", 3)
	read := must.Get(m.question(ctx, q.ID, start))(m)
	for range 2 {
		must.OK(m, m.HideQuestion(ctx, as("olga"), q.ID, true))
	}
	if _, err := m.submitResponse(ctx, read,
		askahuman.Response{ID: uuid.NewString(), QuestionID: q.ID, PersonHash: "eve", CreatedAt: start},
		askahuman.Stats{PersonHash: "eve"}); !errors.Is(err, askahuman.ErrQuestionClosed) {
		t.Errorf("an answer that was under way: %v", err)
	}
	m.ask("a", 1)
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
		if must.OK(m, err); seen.Status != askahuman.StatusClosed || seen.HiddenAt.IsZero() ||
			len(seen.Responses) != seen.CurrentResponses {
			t.Errorf("got %s, hidden at %v, %d answers of %d", seen.Status, seen.HiddenAt, len(seen.Responses),
				seen.CurrentResponses)
		}
	}
}

// A block stops also an answer that is under way.
func TestBlockPerson(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	first, second := m.ask("a", 3), m.ask("a", 3)
	must.OK(m, m.answer("ann", first.ID, "My first answer here."))
	stats := must.Get(m.stats(ctx, "ann"))(m)
	must.OK(m, m.BlockPerson(ctx, as("olga"), "ann", true))
	r := responseTo(second, "ann", start)
	if _, err := m.submitResponse(ctx, second, r, stats); err == nil {
		t.Error("an answer that was under way is stored")
	}
}

// A blocked agent cannot ask, with and without an idempotency key, with a full quota and an empty one, and
// while questions of it end.
func TestBlockAgent(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), newModerated(t)
	ask := askahuman.Ask{Prompt: "Will you let me ask this?", Type: askahuman.TypeText}
	q := m.ask("a", 1)
	must.OK(m, m.BlockAgent(ctx, as("olga"), "a", true))
	must.OK(m, m.answer("ann", q.ID, "The last answer to it."))
	_, err := m.Ask(ctx, "a", ask)
	wantError(m.T, err, askahuman.ErrBlocked)
	claim, _, err := m.Keys().Begin(ctx, "a", "key", []byte("x"), 0)
	must.OK(m, err)
	_, err = m.Ask(idempotency.WithClaim(ctx, claim, created), "a", ask)
	wantError(m.T, err, askahuman.ErrBlocked)
	m.Rules = quotaOf(1)
	m.ask("full", 1)
	must.OK(m, m.BlockAgent(ctx, as("olga"), "full", true))
	_, err = m.Ask(ctx, "full", ask)
	wantError(m.T, err, askahuman.ErrBlocked)
	m.ask("b", 1)
	must.OK(m, m.BlockAgent(ctx, as("olga"), "a", false))
	m.ask("a", 1)
}
