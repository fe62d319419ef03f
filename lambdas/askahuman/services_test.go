package askahuman

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

func textAsk() askahuman.Ask {
	return askahuman.Ask{Prompt: "Is this a good name for a function?", Type: askahuman.TypeText}
}

func choiceAsk(options ...string) askahuman.Ask {
	return askahuman.Ask{Prompt: "Which of these is better?", Type: askahuman.TypeMultipleChoice, Options: options}
}

func (p *platform) ask(t testing.TB, ask askahuman.Ask) askahuman.Question {
	t.Helper()
	// The API checks the form.
	must.OK(t, openapi.Check(ask))
	return must.Get(p.Ask(context.Background(), "agent", ask))(t)
}

// device subscribes a device of a person.
func (p *platform) device(t testing.TB, person, token string, minutes int) askahuman.Subscription {
	t.Helper()
	return must.Get(p.people.Subscribe(context.Background(), person,
		askahuman.NewSubscription{Token: token, Interval: &minutes}))(t)
}

func text(id, answer string) askahuman.Answer {
	return askahuman.Answer{QuestionID: id, Text: &answer}
}

func option(id string, i int) askahuman.Answer {
	return askahuman.Answer{QuestionID: id, Option: &i}
}

func (p *platform) answer(t testing.TB, person string, answer askahuman.Answer) askahuman.Receipt {
	t.Helper()
	return must.Get(p.people.Answer(context.Background(), person, nil, answer))(t)
}

// value is a number; 0 when there is none.
func value(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func seconds(d time.Duration) int { return int(d / time.Second) }

// readsAnswers reports whether a request reads the answers to a question.
func readsAnswers(r dynamotest.Request) bool {
	return r.Action == schema.Query && r.Table == "Responses" && r.Index == ""
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

func TestFeed(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var want []string
	for i := range 45 {
		q := p.ask(t, textAsk())
		if i%3 == 0 {
			p.answer(t, "me", text(q.ID, "mine"))
		} else {
			p.answer(t, "you", text(q.ID, "yours"))
			want = slices.Insert(want, 0, q.ID)
		}
		p.MoveTo(p.Now().Add(time.Second))
	}
	feed := func(person string, limit int) (ids []string, pages int) {
		t.Helper()
		cursor := ""
		for {
			page, next, err := p.people.Feed(t.Context(), person, nil, limit, cursor)
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
		got, pages := feed("me", limit)
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %d questions, want %d", limit, len(got), len(want))
		}
		if wantPages := (len(want) + limit - 1) / limit; pages != wantPages {
			t.Errorf("pages of %d: %d pages, want %d", limit, pages, wantPages)
		}
	}
	if got, _ := feed("", 50); len(got) != 45 {
		t.Errorf("an unknown person sees %d questions, want 45", len(got))
	}
	p.MoveTo(p.Now().Add(time.Hour))
	if got, _ := feed("", 50); len(got) != 0 {
		t.Errorf("%d questions after their deadlines", len(got))
	}
}

// A person who has answered nearly everything gets a page that looks at 120 questions and no more.
func TestFeedIsBounded(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.MoveTo(p.Now().Truncate(time.Second))
	const all = 131
	var group errgroup.Group
	group.SetLimit(16)
	questions, answers := make([]askahuman.Question, all), []any{}
	for i := range questions {
		questions[i] = questionAt(fmt.Sprint("agent ", i/100), p.Now().Add(time.Duration(i)*time.Millisecond))
		if i > 0 {
			questions[i].CurrentResponses = 1
		}
		group.Go(func() error { return p.createQuestion(t.Context(), questions[i]) })
		if i > 0 {
			answers = append(answers, must.Get(dynamo.Marshal(responseTo(questions[i], "me", p.Now())))(t))
		}
	}
	must.OK(t, group.Wait())
	p.Tables.Store(t, "Responses", answers...)
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

var errBroken = errors.New("broken")

// What can be no id is refused without a request to the tables. An error of the tables is returned.
func TestRefusedWithoutTables(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	q := p.ask(t, textAsk())
	p.faults(func(dynamotest.Request) error { return errBroken })
	ctx, about := t.Context(), askahuman.QuestionReport{QuestionID: "x", Reason: "spam"}
	asked := askahuman.QuestionReport{QuestionID: q.ID, Reason: "spam"}
	of := func(_ any, err error) error { return err }
	for name, test := range map[string]struct{ got, want error }{ // nil: a problem of the form
		"Read":           {of(p.Read(ctx, "agent", "x")), askahuman.ErrQuestionNotFound},
		"Close":          {p.Close(ctx, "agent", strings.ToUpper(q.ID)), askahuman.ErrQuestionNotFound},
		"Answer":         {of(p.people.Answer(ctx, "me", nil, text("", "yes"))), askahuman.ErrQuestionNotFound},
		"ReportQuestion": {of(p.people.ReportByPerson(ctx, "me", byPerson(about))), askahuman.ErrQuestionNotFound},
		"Dismiss":        {p.Dismiss(ctx, as("olga"), "x", true), askahuman.ErrReportNotFound},
		"HideQuestion":   {p.HideQuestion(ctx, as("olga"), "x", true), askahuman.ErrQuestionNotFound},
		"Unsubscribe":    {p.Unsubscribe(ctx, "x"), askahuman.ErrSubscriptionNotFound},
		"List/Cursor":    {listed(p.List(ctx, "agent", "", 20, "x")), errCursor},
		"Feed/Audience":  {listed(p.Feed(ctx, "me", []string{"x"}, 20, "")), nil},
		"ReportResponse": {of(p.ReportResponse(ctx, "agent", askahuman.ResponseReport{})),
			askahuman.ErrQuestionNotFound},
		"ReportQ/Tables": {of(p.people.ReportByPerson(ctx, "me", byPerson(asked))), errBroken},
		"ReportR/Tables": {of(p.ReportResponse(ctx, "agent", askahuman.ResponseReport{QuestionReport: asked,
			ResponseID: q.ID})), errBroken},
		"Answer/Tables": {of(p.people.Answer(ctx, "me", nil, text(q.ID, "yes"))), errBroken},
		"Feed/Tables":   {listed(p.people.Feed(ctx, "me", nil, 20, "")), errBroken},
		"Stats/Tables":  {of(p.people.Stats(ctx, "me", nil)), errBroken},
		"Read/Tables":   {of(p.Read(ctx, "agent", q.ID)), errBroken},
		"Change/Unknown": {of(p.ChangeSubscription(ctx, "x", askahuman.SubscriptionChange{Interval: new(5)})),
			askahuman.ErrSubscriptionNotFound},
	} {
		if _, form := errors.AsType[*validate.Error](test.got); test.want == nil && !form ||
			test.want != nil && !errors.Is(test.got, test.want) {
			t.Errorf("%s: got %v; want %v", name, test.got, test.want)
		}
	}
}

// listed is the error of a list.
func listed(_ []askahuman.Question, _ string, err error) error { return err }

func TestLeaderboard(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	// b answers twice on Tuesday, a and c once on Wednesday.
	p.MoveTo(time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC))
	for range 2 {
		p.answer(t, "b", text(p.ask(t, textAsk()).ID, "an answer"))
	}
	p.MoveTo(p.Now().Add(24 * time.Hour))
	for _, person := range []string{"a", "c"} {
		p.answer(t, person, text(p.ask(t, textAsk()).ID, "an answer"))
	}
	type line struct {
		rank, points, answers int
		me                    bool
	}
	for _, test := range []struct {
		period               askahuman.Period
		person               string
		limit                int
		want                 []line
		yourRank, yourPoints int
	}{
		{askahuman.PeriodAllTime, "c", 10, []line{{1, 30, 2, false}, {2, 15, 1, false}, {2, 15, 1, true}}, 2, 15},
		{askahuman.PeriodAllTime, "b", 1, []line{{1, 30, 2, true}}, 1, 30},
		{askahuman.PeriodWeekly, "c", 2, []line{{1, 30, 2, false}, {2, 15, 1, false}}, 2, 15},
		{askahuman.PeriodDaily, "b", 10, []line{{1, 15, 1, false}, {1, 15, 1, false}}, 0, 0},
		{askahuman.PeriodDaily, "a", 10, []line{{1, 15, 1, true}, {1, 15, 1, false}}, 1, 15},
		{askahuman.PeriodDaily, "", 10, []line{{1, 15, 1, false}, {1, 15, 1, false}}, 0, 0},
		{askahuman.PeriodAllTime, "nobody", 100, []line{{1, 30, 2, false}, {2, 15, 1, false}, {2, 15, 1, false}}, 0, 0},
	} {
		board := must.Get(p.people.Leaderboard(t.Context(), test.person, test.period, test.limit))(t)
		var got []line
		for _, e := range board.Entries {
			got = append(got, line{e.Rank, e.Points, e.Answers, e.IsCurrentUser})
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
	var ahead []any
	for i := from; i < to; i++ {
		ahead = append(ahead, map[string]any{"fingerprint_hash": fmt.Sprint("ahead", i), "_leaderboard": leaderboard,
			"total_points": 1000000, "total_answers": 1})
	}
	p.Tables.Store(t, "UserStats", ahead...)
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

// TestBoardsAreShared: an instance reads a board once in half a minute, for all people, and a person's own entry is
// never old.
func TestBoardsAreShared(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var boards atomic.Int64
	p.faults(func(r dynamotest.Request) error {
		if r.Table == "UserStats" && r.Action == schema.Query {
			boards.Add(1)
		}
		return nil
	})
	people := p.as(t, "humanapi")
	keys := int64(len(people.Shards.keys("")))
	board := func(person string) askahuman.Leaderboard {
		return must.Get(people.Leaderboard(t.Context(), person, askahuman.PeriodAllTime, 3))(t)
	}
	points := func(b askahuman.Leaderboard) (all []int) {
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
	if standing := must.Get(people.Stats(t.Context(), "b", nil))(t); value(standing.Rank) != 1 ||
		boards.Load() != keys {
		t.Errorf("b has rank %d, after %d requests for boards; want 1, %d", value(standing.Rank), boards.Load(), keys)
	}
	p.MoveTo(p.Now().Add(30 * time.Second))
	if got := board("a"); value(got.YourRank) != 2 || len(got.Entries) != 2 || boards.Load() != 2*keys {
		t.Errorf("after half a minute a sees %+v, after %d requests", got, boards.Load())
	}
}
