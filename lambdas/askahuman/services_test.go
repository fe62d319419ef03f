package askahuman

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

func textAsk() askahuman.Ask {
	return askahuman.Ask{Prompt: "Is this a good name for a function?", Type: askahuman.TypeText}
}

func choiceAsk(options ...string) askahuman.Ask {
	return askahuman.Ask{Prompt: "Which of these is better?", Type: askahuman.TypeMultipleChoice, Options: options}
}

func (p *platform) ask(t testing.TB, ask askahuman.Ask) askahuman.Question {
	t.Helper()
	q := Must(p.checkedAsk("agent", ask))(t)
	return q
}

// checkedAsk asks as the API does, which checks the form.
func (p *platform) checkedAsk(agent string, ask askahuman.Ask) (askahuman.Question, error) {
	if err := validate.Form(ask); err != nil {
		return askahuman.Question{}, err
	}
	return p.Ask(context.Background(), agent, ask)
}

// device subscribes a device of a person.
func (p *platform) device(t testing.TB, person, token string, minutes int) askahuman.Subscription {
	t.Helper()
	sub := Must(p.people.Subscribe(context.Background(), person,
		askahuman.NewSubscription{Token: token, Interval: &minutes}))(t)
	return sub
}

func text(id, answer string) askahuman.Answer {
	return askahuman.Answer{QuestionID: id, Text: &answer}
}

func option(id string, i int) askahuman.Answer {
	return askahuman.Answer{QuestionID: id, Option: &i}
}

func (p *platform) answer(t testing.TB, person string, answer askahuman.Answer) Receipt {
	t.Helper()
	receipt := Must(p.people.Answer(context.Background(), person, nil, answer))(t)
	return receipt
}

// value is a number; 0 when there is none.
func value(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func seconds(d time.Duration) int { return int(d / time.Second) }

func fields(t testing.TB, err error) []string {
	t.Helper()
	invalid, ok := errors.AsType[*validate.Error](err)
	if !ok {
		t.Fatalf("error = %v, want a validate.Error", err)
	}
	var names []string
	for _, problem := range invalid.Problems {
		names = append(names, problem.Field)
		if problem.Message == "" || !utf8.ValidString(problem.Message) || len(problem.Message) > 400 {
			t.Errorf("message of %s: %q", problem.Field, problem.Message)
		}
	}
	return names
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
	// People see these errors, so nothing is wrapped around them.
	if err != nil && want != nil && errors.Is(err, want) && err.Error() != want.Error() {
		t.Errorf("text = %q, want %q", err, want)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	got := p.ask(t, textAsk())
	now := p.now.Truncate(time.Millisecond)
	want := askahuman.Question{
		ID: got.ID, Status: askahuman.StatusOpen, Prompt: textAsk().Prompt, Type: askahuman.TypeText,
		Audience: []string{"general"}, RequiredResponses: 5, AgentID: "agent",
		CreatedAt: wire.Time(now), Deadline: wire.Time(now.Add(time.Hour)), DueAt: now,
		ExpiresAt: now.Add(25*time.Hour + time.Second).Truncate(time.Second),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := uuid.Parse(got.ID); err != nil {
		t.Errorf("id %q: %v", got.ID, err)
	}
	read := Must(p.Read(t.Context(), "agent", got.ID))(t)
	// Time to live counts whole seconds.
	got.ExpiresAt = time.Unix(dynamo.ExpiryAt(got.ExpiresAt), 0).UTC()
	if diff := cmp.Diff(got, read.Question); diff != "" {
		t.Errorf("as read (-asked +read):\n%s", diff)
	}
	if read.Summary != nil {
		t.Errorf("a text question has the summary %v", read.Summary)
	}
}

func TestAskInvalid(t *testing.T) {
	t.Parallel()
	change := func(base askahuman.Ask, f func(*askahuman.Ask)) askahuman.Ask {
		f(&base)
		return base
	}
	p := newPlatform(t)
	prompt := func(s string) askahuman.Ask { return change(textAsk(), func(a *askahuman.Ask) { a.Prompt = s }) }
	for name, test := range map[string]struct {
		ask  askahuman.Ask
		want []string // nil: valid
	}{
		"all of it": {ask: askahuman.Ask{Type: "essay", Audience: []string{"martians"}, MinResponses: new(51),
			TimeoutSeconds: new(1), IdempotencyKey: new(" ")},
			want: []string{"prompt", "type", "audience[0]", "min_responses", "timeout_seconds", "idempotency_key"}},
		"prompt of 9 and blanks":     {ask: prompt(" 123456789 \n"), want: []string{"prompt"}},
		"prompt of 1999 and a blank": {ask: prompt(strings.Repeat("é", 1999) + " ")},
		"prompt of 2000 and a blank": {ask: prompt(strings.Repeat("é", 2000) + " "), want: []string{"prompt"}},
		"option of blanks":           {ask: choiceAsk("a", " \u200b"), want: []string{"options[1]"}},
		"prompt of blanks": {ask: prompt(strings.Repeat(" \t\u00a0\u200b", 10)),
			want: []string{"prompt"}},
		"prompt with NUL":  {ask: prompt("1234567890\x00"), want: []string{"prompt"}},
		"prompt not UTF-8": {ask: prompt("1234567890\xff"), want: []string{"prompt"}},
		"a type as long as a book": {ask: change(textAsk(), func(a *askahuman.Ask) {
			a.Type = askahuman.QuestionType(strings.Repeat("\xff", 100_000))
		}), want: []string{"type"}},
		"text with options": {ask: change(textAsk(), func(a *askahuman.Ask) {
			a.Options = []string{"a", "b"}
		}), want: []string{"options"}},
		"text with no options": {ask: change(textAsk(), func(a *askahuman.Ask) {
			a.Options = []string{}
		})},
		"choice without options": {ask: choiceAsk(), want: []string{"options"}},
		"two options":            {ask: choiceAsk("a", "b")},
		"eleven options, two of them wrong": {ask: choiceAsk("1", "2", "3", "", "5", "6", "7", "8", "9", "0", "1"),
			want: []string{"options", "options[3]", "options[10]"}},
		"options that look the same":  {ask: choiceAsk("a", " a"), want: []string{"options[1]"}},
		"options that differ in case": {ask: choiceAsk("a", "A")},
		"every audience": {ask: change(textAsk(), func(a *askahuman.Ask) {
			a.Audience = askahuman.Audiences()
		})},
		"an audience twice": {ask: change(textAsk(), func(a *askahuman.Ask) {
			a.Audience = []string{"ethics", "ethics"}
		}), want: []string{"audience[1]"}},
		"a day": {ask: change(textAsk(), func(a *askahuman.Ask) {
			a.TimeoutSeconds = new(seconds(askahuman.MaxTimeout))
		})},
		"a day and a second": {ask: change(textAsk(), func(a *askahuman.Ask) {
			a.TimeoutSeconds = new(seconds(askahuman.MaxTimeout) + 1)
		}), want: []string{"timeout_seconds"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.checkedAsk(name, test.ask)
			if test.want == nil {
				if err != nil {
					t.Errorf("error = %v, want none", err)
				}
				return
			}
			if diff := cmp.Diff(test.want, fields(t, err)); diff != "" {
				t.Errorf("fields (-want +got):\n%s\n%v", diff, err)
			}
			if list, _, err := p.List(t.Context(), name, "", 20, ""); err != nil || len(list) != 0 {
				t.Errorf("still stored: %v, %v", list, err)
			}
		})
	}
}

// TestAskAnything puts any text anywhere: a refusal names fields, and what is
// taken is kept as it was.
func TestAskAnything(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	asks := 0
	rapid.Check(t, func(t *rapid.T) {
		ask := askahuman.Ask{
			Prompt: rapid.String().Draw(t, "prompt"),
			Type: rapid.SampledFrom([]askahuman.QuestionType{askahuman.TypeText, askahuman.TypeMultipleChoice,
				askahuman.QuestionType(rapid.String().Draw(t, "type"))}).Draw(t, "which type"),
			Options: rapid.SliceOfN(rapid.String(), 0, 12).Draw(t, "options"),
			Audience: rapid.SliceOfN(rapid.SampledFrom(append(askahuman.Audiences(), "x")), 0, 3).Draw(t,
				"audience"),
			MinResponses:   rapid.Ptr(rapid.IntRange(-1, 52), true).Draw(t, "responses"),
			IdempotencyKey: rapid.Ptr(rapid.String(), true).Draw(t, "key"),
		}
		asks++
		q, err := p.checkedAsk(fmt.Sprint("agent ", asks), ask)
		if err != nil {
			if _, ok := errors.AsType[*validate.Error](err); !ok {
				t.Fatalf("error = %v", err)
			}
			return
		}
		kept, err := p.question(context.Background(), q.ID, p.now)
		if err != nil || kept.Prompt != ask.Prompt || !slices.Equal(kept.Options, ask.Options) {
			t.Fatalf("kept %q %q, %v; want %q %q", kept.Prompt, kept.Options, err, ask.Prompt, ask.Options)
		}
	})
}

// An impossible id and another agent's question are not found.
func TestNoSuchQuestion(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	q := p.ask(t, textAsk())
	for _, id := range []string{uuid.NewString(), "", "x", "../" + q.ID, strings.ToUpper(q.ID), "\x00",
		strings.Repeat("9", 5000)} {
		_, err := p.Read(t.Context(), "agent", id)
		wantErr(t, err, askahuman.ErrQuestionNotFound)
		wantErr(t, p.Close(t.Context(), "agent", id), askahuman.ErrQuestionNotFound)
		_, _, err = p.people.Question(t.Context(), "me", id)
		wantErr(t, err, askahuman.ErrQuestionNotFound)
	}
	_, err := p.Read(t.Context(), "another agent", q.ID)
	wantErr(t, err, askahuman.ErrQuestionNotFound)
	wantErr(t, p.Close(t.Context(), "another agent", q.ID), askahuman.ErrQuestionNotFound)
	p.now = time.Time(q.Deadline)
	_, _, err = p.people.Question(t.Context(), "me", q.ID)
	wantErr(t, err, askahuman.ErrQuestionClosed)
	// Closed after its deadline, it has expired.
	OK(t, p.Close(t.Context(), "agent", q.ID))
	if read := Must(p.Read(t.Context(), "agent", q.ID))(t); read.Status != askahuman.StatusExpired ||
		!read.ClosedAt.IsZero() {
		t.Errorf("%+v; want EXPIRED", read)
	}
}

// readsAnswers reports whether a request reads the answers to a question.
func readsAnswers(r dynamotest.Request) bool {
	return r.Operation == schema.Query && r.Table == "Responses" && r.Index == ""
}

// growing has one more answer arrive before the answers to a question are read, once.
func (p *platform) growing(t *testing.T, questionID string) {
	var once atomic.Bool
	p.faults(func(r dynamotest.Request) error {
		if readsAnswers(r) && !once.Swap(true) {
			p.answer(t, "p", text(questionID, "an answer"))
		}
		return nil
	})
}

func TestReadAgreesWithItself(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ask := textAsk()
	ask.MinResponses = new(1)
	q := p.ask(t, ask)
	p.growing(t, q.ID)
	read, err := p.Read(t.Context(), "agent", q.ID)
	if err != nil || read.Status != askahuman.StatusClosed || read.CurrentResponses != 1 || len(read.Responses) != 1 {
		t.Errorf("read %s with %d of %d answers, %v", read.Status, len(read.Responses), read.CurrentResponses, err)
	}
}

// Each question has its present status, and a cursor is valid for the caller's own list.
func TestList(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	for i := range 5 {
		ask := textAsk()
		ask.TimeoutSeconds = new((5 - i) * 60)
		p.ask(t, ask)
	}
	p.now = p.now.Add(3 * time.Minute)
	for status, n := range map[askahuman.Status]int{askahuman.StatusOpen: 2, askahuman.StatusExpired: 3,
		askahuman.StatusClosed: 0} {
		page, next, err := p.List(t.Context(), "agent", status, 20, "")
		if err != nil || len(page) != n || next != "" ||
			slices.ContainsFunc(page, func(q askahuman.Question) bool { return q.Status != status }) {
			t.Errorf("%s: %v, next %q, %v; want %d", status, page, next, err, n)
		}
	}
	_, next, err := p.List(t.Context(), "agent", "", 2, "")
	if page, _, otherErr := p.List(t.Context(), "another agent", "", 2, next); next == "" || err != nil ||
		otherErr != nil || len(page) != 0 {
		t.Errorf("another agent with the cursor %q: %v, %v, %v", next, page, err, otherErr)
	}
	_, _, err = p.List(t.Context(), "agent", "", 20, "garbage")
	if got := fields(t, err); !slices.Equal(got, []string{"cursor"}) {
		t.Errorf("fields = %v", got)
	}
}

func TestFeed(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var want []string
	for i := range 45 {
		ask := textAsk()
		ask.Audience = []string{askahuman.Audiences()[i%5], askahuman.Audiences()[(i+1)%5]}
		q := p.ask(t, ask)
		if i%3 == 0 {
			p.answer(t, "me", text(q.ID, "mine"))
		} else {
			p.answer(t, "you", text(q.ID, "yours"))
			want = slices.Insert(want, 0, q.ID)
		}
		p.now = p.now.Add(time.Second)
	}
	feed := func(person string, audience []string, limit int) (ids []string, pages int) {
		t.Helper()
		cursor := ""
		for {
			page, next, err := p.people.Feed(t.Context(), person, audience, limit, cursor)
			if err != nil {
				t.Fatalf("Feed: %v", err)
			}
			pages++
			for _, q := range page {
				ids = append(ids, q.ID)
			}
			if cursor = next; cursor == "" {
				return ids, pages
			}
		}
	}
	for _, limit := range []int{4, 7, 20, 50} {
		got, pages := feed("me", nil, limit)
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %d questions, want %d", limit, len(got), len(want))
		}
		if wantPages := (len(want) + limit - 1) / limit; pages != wantPages {
			t.Errorf("pages of %d: %d pages, want %d", limit, pages, wantPages)
		}
	}
	if got, _ := feed("", nil, 50); len(got) != 45 {
		t.Errorf("an unknown person sees %d questions, want 45", len(got))
	}
	if got, _ := feed("", []string{"technical"}, 50); len(got) != 18 {
		t.Errorf("%d technical questions, want 18", len(got))
	}
	if got, _ := feed("", []string{"technical", "product"}, 3); len(got) != 27 {
		t.Errorf("%d technical or product questions, want 27", len(got))
	}
	p.now = p.now.Add(time.Hour)
	if got, _ := feed("", nil, 50); len(got) != 0 {
		t.Errorf("%d questions after their deadlines", len(got))
	}
	_, _, err := p.people.Feed(t.Context(), "me", []string{"x", "ethics", "ethics"}, 20, "")
	if got := fields(t, err); !slices.Equal(got, []string{"audience[0]", "audience[2]"}) {
		t.Errorf("fields = %v", got)
	}
	_, _, err = p.people.Feed(t.Context(), "me", nil, 20, "%")
	if got := fields(t, err); !slices.Equal(got, []string{"cursor"}) {
		t.Errorf("fields = %v", got)
	}
}

// A person who has answered nearly everything gets a page that looks at 120 questions and no more.
func TestFeedIsBounded(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.now = p.now.Truncate(time.Second)
	const all = 131
	var group errgroup.Group
	group.SetLimit(16)
	questions := make([]askahuman.Question, all)
	for i := range questions {
		questions[i] = questionAt(fmt.Sprint("agent ", i/100), p.now.Add(time.Duration(i)*time.Millisecond))
		group.Go(func() error { return p.createQuestion(t.Context(), questions[i]) })
		if i > 0 {
			item := Must(dynamo.Marshal(responseTo(questions[i], "me", p.now)))(t)
			group.Go(func() error {
				_, err := p.tables.Client.PutItem(t.Context(),
					&sdk.PutItemInput{TableName: aws.String("Responses"), Item: item})
				return err
			})
		}
	}
	OK(t, group.Wait())
	page, next, err := p.people.Feed(t.Context(), "me", nil, 10, "")
	if last := formatCursor(positionOf(questions[all-120])); err != nil || len(page) != 0 || next != last {
		t.Fatalf("the first page: %d questions, next %q, %v; want none, and the question after 120", len(page), next,
			err)
	}
	page, next, err = p.people.Feed(t.Context(), "me", nil, 10, next)
	if err != nil || len(page) != 1 || page[0].ID != questions[0].ID || next != "" {
		t.Errorf("the second page: %d questions, next %q, %v; want the oldest one", len(page), next, err)
	}
}

func TestAnswerRefused(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	textual, choice := p.ask(t, textAsk()), p.ask(t, choiceAsk("yes", "no"))
	late := textAsk()
	late.TimeoutSeconds = new(60)
	overdue := p.ask(t, late)
	answeredAndOverdue := p.ask(t, late)
	p.answer(t, "me", text(answeredAndOverdue.ID, "in time"))
	closed, answeredAndClosed := p.ask(t, textAsk()), p.ask(t, textAsk())
	p.answer(t, "me", text(answeredAndClosed.ID, "in time"))
	for _, q := range []askahuman.Question{closed, answeredAndClosed} {
		OK(t, p.Close(t.Context(), "agent", q.ID))
	}
	p.now = p.now.Add(time.Minute)

	before := Must(p.people.Stats(t.Context(), "me", nil))(t)
	for name, test := range map[string]struct {
		answer askahuman.Answer
		want   error
	}{
		"unknown":             {text(uuid.NewString(), "an answer"), askahuman.ErrQuestionNotFound},
		"not an id":           {text("'; DROP TABLE", "an answer"), askahuman.ErrQuestionNotFound},
		"overdue":             {text(overdue.ID, "an answer"), askahuman.ErrQuestionClosed},
		"answered and late":   {text(answeredAndOverdue.ID, "an answer"), askahuman.ErrAlreadyAnswered},
		"closed":              {text(closed.ID, "an answer"), askahuman.ErrQuestionClosed},
		"answered and closed": {text(answeredAndClosed.ID, "an answer"), askahuman.ErrAlreadyAnswered},
	} {
		_, err := p.people.Answer(t.Context(), "me", nil, test.answer)
		t.Log(name)
		wantErr(t, err, test.want)
	}

	both := text(textual.ID, "an answer")
	both.Option = new(int)
	with := func(f func(*askahuman.Answer)) askahuman.Answer {
		a := text(textual.ID, "an answer")
		f(&a)
		return a
	}
	for name, test := range map[string]struct {
		person string
		answer askahuman.Answer
		want   []string
	}{
		"neither":           {"me", askahuman.Answer{QuestionID: textual.ID}, []string{"answer"}},
		"both":              {"me", both, []string{"answer"}},
		"text for a choice": {"me", text(choice.ID, "yes"), []string{"selected_option"}},
		"choice for a text": {"me", option(textual.ID, 0), []string{"answer"}},
		"option 2 of 2":     {"me", option(choice.ID, 2), []string{"selected_option"}},
		"several things at once": {"me", with(func(a *askahuman.Answer) {
			a.Text, a.Confidence, a.ResponseTimeMS = nil, new(9), new(int64(-9))
		}), []string{"answer", "confidence", "response_time_ms"}},
		"option 0 is fine": {"another", option(choice.ID, 0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.people.Answer(t.Context(), test.person, nil, test.answer)
			if test.want == nil {
				if err != nil {
					t.Errorf("error = %v", err)
				}
				return
			}
			if got := fields(t, err); !slices.Equal(got, test.want) {
				t.Errorf("fields = %v, want %v", got, test.want)
			}
		})
	}
	after := Must(p.people.Stats(t.Context(), "me", nil))(t)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("refused answers changed the stats (-before +after):\n%s", diff)
	}
}

func TestAnswerTriesAgain(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	q := p.ask(t, textAsk())
	var left atomic.Int64
	p.faults(func(r dynamotest.Request) error {
		if r.Operation == schema.TransactWriteItems && left.Add(-1) >= 0 {
			return retry.ErrStale
		}
		return nil
	})
	left.Store(5)
	if got := p.answer(t, "me", text(q.ID, "an answer")); got.PointsEarned != 15 {
		t.Errorf("receipt = %+v", got)
	}
	left.Store(1 << 40)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := p.people.Answer(ctx, "you", nil, text(q.ID, "an answer"))
	if !errors.Is(err, retry.ErrStale) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want retry.ErrStale", err)
	}
}

var errBroken = errors.New("broken")

func TestErrorsComeThrough(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	q := p.ask(t, textAsk())
	p.faults(func(dynamotest.Request) error { return errBroken })
	_, err := p.people.Answer(t.Context(), "me", nil, text(q.ID, "an answer"))
	if !errors.Is(err, errBroken) {
		t.Errorf("Answer: %v", err)
	}
	if _, _, err := p.people.Feed(t.Context(), "me", nil, 20, ""); !errors.Is(err, errBroken) {
		t.Errorf("Feed: %v", err)
	}
	if _, err := p.people.Stats(t.Context(), "me", nil); !errors.Is(err, errBroken) {
		t.Errorf("Stats: %v", err)
	}
}

func TestLeaderboard(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	// b answers twice on Tuesday, a and c once on Wednesday.
	p.now = time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	for range 2 {
		p.answer(t, "b", text(p.ask(t, textAsk()).ID, "an answer"))
	}
	p.now = p.now.Add(24 * time.Hour)
	for _, person := range []string{"a", "c"} {
		p.answer(t, person, text(p.ask(t, textAsk()).ID, "an answer"))
	}
	type line struct {
		rank, points int
		me           bool
	}
	for _, test := range []struct {
		period               askahuman.Period
		person               string
		limit                int
		want                 []line
		yourRank, yourPoints int
	}{
		{askahuman.PeriodAllTime, "c", 10, []line{{1, 30, false}, {2, 15, false}, {2, 15, true}}, 2, 15},
		{askahuman.PeriodAllTime, "b", 1, []line{{1, 30, true}}, 1, 30},
		{askahuman.PeriodWeekly, "c", 2, []line{{1, 30, false}, {2, 15, false}}, 2, 15},
		{askahuman.PeriodDaily, "b", 10, []line{{1, 15, false}, {1, 15, false}}, 0, 0},
		{askahuman.PeriodDaily, "a", 10, []line{{1, 15, true}, {1, 15, false}}, 1, 15},
		{askahuman.PeriodDaily, "", 10, []line{{1, 15, false}, {1, 15, false}}, 0, 0},
		{askahuman.PeriodAllTime, "nobody", 100, []line{{1, 30, false}, {2, 15, false}, {2, 15, false}}, 0, 0},
	} {
		board := Must(p.people.Leaderboard(t.Context(), test.person, test.period, test.limit))(t)
		var got []line
		for _, e := range board.Entries {
			got = append(got, line{e.Rank, e.Points, e.IsCurrentUser})
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(line{})); diff != "" {
			t.Errorf("%s for %q (-want +got):\n%s", test.period, test.person, diff)
		}
		if value(board.YourRank) != test.yourRank || board.YourPoints != test.yourPoints {
			t.Errorf("%s for %q: rank %d with %d points, want %d with %d", test.period, test.person,
				value(board.YourRank), board.YourPoints, test.yourRank, test.yourPoints)
		}
	}
	p.crowd(t, 0, 200)
	many := p.as(t, "humanapi")
	for limit, want := range map[int]int{1: 1, 100: 100, 101: 100, 1 << 40: 100} {
		board, err := many.Leaderboard(t.Context(), "", askahuman.PeriodAllTime, limit)
		if err != nil || len(board.Entries) != want {
			t.Errorf("limit %d: %d entries, %v; want %d", limit, len(board.Entries), err, want)
		}
	}
}

// crowd gives people, by number, more points than anyone else has.
func (p *platform) crowd(t *testing.T, from, to int) {
	t.Helper()
	var group errgroup.Group
	for numbers := range slices.Chunk(slices.Collect(between(from, to)), 25) {
		group.Go(func() error {
			var writes []types.WriteRequest
			for _, i := range numbers {
				writes = append(writes, types.WriteRequest{
					PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
						"fingerprint_hash": &types.AttributeValueMemberS{Value: fmt.Sprint("ahead", i)},
						"_leaderboard":     &types.AttributeValueMemberS{Value: leaderboard},
						"total_points":     &types.AttributeValueMemberN{Value: "1000000"},
						"total_answers":    &types.AttributeValueMemberN{Value: "1"},
					}}})
			}
			_, err := p.tables.Client.BatchWriteItem(t.Context(),
				&sdk.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"UserStats": writes}})
			return err
		})
	}
	OK(t, group.Wait())
}

// between are the numbers from one up to another, which is not among them.
func between(from, to int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := from; i < to && yield(i); i++ {
		}
	}
}

func TestRankIsLimited(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.answer(t, "me", text(p.ask(t, textAsk()).ID, "an answer"))
	there := 0
	for _, test := range []struct{ ahead, want int }{{0, 1}, {askahuman.MaxRank - 1, askahuman.MaxRank},
		{askahuman.MaxRank, 0}} {
		p.crowd(t, there, test.ahead)
		there = test.ahead
		standing, err := p.as(t, "humanapi").Stats(t.Context(), "me", nil)
		if err != nil || value(standing.Rank) != test.want {
			t.Errorf("with %d ahead: rank %d, %v; want %d", test.ahead, value(standing.Rank), err, test.want)
		}
	}
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	sub, err := p.people.Subscribe(t.Context(), "me", askahuman.NewSubscription{Token: "token"})
	if err != nil || sub.Minutes != askahuman.DefaultIntervalMinutes || sub.Active == "" || sub.PersonHash != "me" ||
		!sub.NextNotificationAt.Equal(askahuman.Never) {
		t.Errorf("Subscribe = %+v, %v", sub, err)
	}
	change := func(token *string, minutes *int) (askahuman.Subscription, error) {
		return p.people.ChangeSubscription(t.Context(), sub.ID,
			askahuman.SubscriptionChange{Token: token, Interval: minutes})
	}
	if changed, err := change(new("another"), new(60)); err != nil || changed.Token != "another" ||
		changed.Minutes != 60 {
		t.Errorf("ChangeSubscription = %+v, %v", changed, err)
	}
	for _, token := range []string{"", " ", "a b", "a\n", strings.Repeat("x", 4097), "\xff",
		strings.Repeat("xy", 2049)} {
		_, err := p.people.Subscribe(t.Context(), "me", askahuman.NewSubscription{Token: token})
		_, changeErr := change(&token, nil)
		_, renewErr := p.people.RenewSubscription(t.Context(), "me", askahuman.SubscriptionRenewal{Token: token})
		for _, err := range []error{err, changeErr, renewErr} {
			if got := fields(t, err); !slices.Equal(got, []string{"fcm_token"}) {
				t.Errorf("token %.10q: fields = %v", token, got)
			}
		}
	}
	most := int(askahuman.MaxInterval / time.Minute)
	for minutes, valid := range map[int]bool{5: true, most: true, 4: false, most + 1: false, 0: false, -1: false} {
		_, err := p.people.Subscribe(t.Context(), "me", askahuman.NewSubscription{Token: "token", Interval: &minutes})
		_, changeErr := change(nil, &minutes)
		if (err == nil) != valid || (changeErr == nil) != valid {
			t.Errorf("%d minutes: %v and %v; valid %v", minutes, err, changeErr, valid)
		}
	}
	_, err = change(nil, nil)
	if got := fields(t, err); !slices.Equal(got, []string{"body"}) {
		t.Errorf("fields = %v", got)
	}
	for _, id := range []string{uuid.NewString(), "x", "", "TOKEN#abc"} {
		_, err := p.people.ChangeSubscription(t.Context(), id, askahuman.SubscriptionChange{Token: new("token")})
		wantErr(t, err, askahuman.ErrSubscriptionNotFound)
		wantErr(t, p.people.Unsubscribe(t.Context(), id), askahuman.ErrSubscriptionNotFound)
	}
	wantErr(t, p.people.Unsubscribe(t.Context(), sub.ID), nil)
	wantErr(t, p.people.Unsubscribe(t.Context(), sub.ID), askahuman.ErrSubscriptionNotFound)
}

// TestBoardsAreShared: an instance reads a board once in half a minute, for all people, and a person's own entry is
// never old.
func TestBoardsAreShared(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var boards atomic.Int64
	p.faults(func(r dynamotest.Request) error {
		if r.Table == "UserStats" && r.Operation == schema.Query {
			boards.Add(1)
		}
		return nil
	})
	people := p.as(t, "humanapi")
	keys := int64(len(people.Shards.keys("")))
	board := func(person string) Leaderboard {
		return Must(people.Leaderboard(t.Context(), person, askahuman.PeriodAllTime, 3))(t)
	}
	points := func(b Leaderboard) (all []int) {
		for _, e := range b.Entries {
			all = append(all, e.Points)
		}
		return all
	}
	p.answer(t, "a", text(p.ask(t, textAsk()).ID, "an answer"))
	one := points(board("a"))[0]
	for range 2 {
		p.answer(t, "b", text(p.ask(t, textAsk()).ID, "an answer"))
	}
	// b answered after the board was read: b sees the new place, and a not yet.
	if got := board("b"); value(got.YourRank) != 1 || len(got.Entries) != 2 || !got.Entries[0].IsCurrentUser ||
		got.Entries[0].Points != got.YourPoints {
		t.Errorf("b sees %+v", got)
	}
	if got := board("a"); value(got.YourRank) != 1 || !slices.Equal(points(got), []int{one}) {
		t.Errorf("a sees %+v", got)
	}
	if standing := Must(people.Stats(t.Context(), "b", nil))(t); value(standing.Rank) != 1 || boards.Load() != keys {
		t.Errorf("b has rank %d, after %d requests for boards; want 1, %d", value(standing.Rank), boards.Load(), keys)
	}
	p.now = p.now.Add(30 * time.Second)
	if got := board("a"); value(got.YourRank) != 2 || len(got.Entries) != 2 || boards.Load() != 2*keys {
		t.Errorf("after half a minute a sees %+v, after %d requests", got, boards.Load())
	}
}
