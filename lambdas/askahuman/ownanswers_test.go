package askahuman

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// People see their own answers alone, and the questions as far as there is something to see.
func TestOwnAnswers(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	operators := p.as(t, "moderationapi")
	short := textAsk()
	short.TimeoutSeconds = new(60)
	once := choiceAsk("a", "b")
	once.MinResponses = new(1)
	var want []askahuman.OwnAnswer
	for _, test := range []struct {
		ask    askahuman.Ask
		status askahuman.Status
		then   func(q askahuman.Question) error
	}{
		{textAsk(), askahuman.StatusPartial, nil},
		{choiceAsk("a", "b"), askahuman.StatusPartial, nil},
		{once, askahuman.StatusClosed, nil},
		{short, askahuman.StatusExpired, nil},
		{choiceAsk("a", "b"), "", func(q askahuman.Question) error {
			return operators.HideQuestion(t.Context(), as("olga"), q.ID, true)
		}},
	} {
		p.MoveTo(p.Now().Add(time.Second))
		q := p.ask(t, test.ask)
		own := askahuman.OwnAnswer{QuestionID: q.ID, Prompt: q.Prompt, Answer: new(awkward), Confidence: new(4),
			CreatedAt: wire.Time(p.Now().Truncate(time.Millisecond)), Status: test.status}
		if q.Type == askahuman.TypeMultipleChoice {
			own.Answer, own.SelectedOption, own.Option = nil, new(1), "b"
		}
		own.Points = p.answer(t, person(0), askahuman.Answer{QuestionID: q.ID, Text: own.Answer,
			Option: own.SelectedOption, Confidence: own.Confidence}).PointsEarned
		if test.then != nil {
			must.OK(t, test.then(q))
		}
		if test.status == "" {
			own.Prompt, own.Option = "", ""
		}
		want = append([]askahuman.OwnAnswer{own}, want...)
	}
	p.answer(t, person(1), text(want[4].QuestionID, "Of someone else."))
	p.MoveTo(p.Now().Add(time.Minute))
	for _, limit := range []int{1, 2, 4, 5, 1000} {
		var got []askahuman.OwnAnswer
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			p.Tables.Recorder.Requests()
			page, next, err := p.people.OwnAnswers(t.Context(), person(0), limit, cursor)
			must.OK(t, err)
			if n := len(p.Tables.Recorder.Requests()); n != 3 || len(page) > limit {
				t.Errorf("limit %d: got %d answers by %d requests; want 3", limit, len(page), n)
			}
			got, cursor = append(got, page...), next
		}
		if len(got) != len(want) {
			t.Fatalf("limit %d: got %d answers", limit, len(got))
		}
		for i := range want {
			wantEqual(t, "answer", got[i], want[i])
		}
	}
	if got, next, err := p.people.OwnAnswers(t.Context(), person(2), 20, ""); len(got) > 0 || next != "" || err != nil {
		t.Errorf("nobody's answers: got %v, %q, %v", got, next, err)
	}
	// The questions go before the answers, and answers before they are deleted.
	p.MoveTo(p.Now().Add(10 * 24 * time.Hour))
	got, _, err := p.people.OwnAnswers(t.Context(), person(0), 1, "")
	must.OK(t, err)
	wantEqual(t, "the answer to a deleted question", got[0].Prompt+string(got[0].Status), "")
	p.MoveTo(p.Now().Add(20 * 24 * time.Hour))
	if got, next, err := p.people.OwnAnswers(t.Context(), person(0), 1, ""); len(got) > 0 || next != "" || err != nil {
		t.Errorf("after 30 days: got %v, %q, %v", got, next, err)
	}
}

// Any cursor of the right form gives a page of one's own answers, also one from before all of them, or of
// another list.
func TestOwnAnswersFromAnywhere(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	q := p.ask(t, textAsk())
	p.answer(t, person(0), text(q.ID, "I do."))
	for at, want := range map[time.Time]int{time.Unix(0, 0): 0, p.Now().Add(-31 * 24 * time.Hour): 0,
		p.Now().Add(-time.Hour): 0, p.Now().Add(time.Hour): 1, latestCursorTime: 1} {
		for _, id := range []string{q.ID, uuid.NewString()} {
			cursor := formatCursor(position{CreatedAt: at, ID: id})
			if got, _, err := p.people.OwnAnswers(t.Context(), person(0), 20, cursor); err != nil || len(got) != want {
				t.Errorf("from %v on: got %d answers, %v; want %d", at, len(got), err, want)
			}
		}
	}
	_, _, err := p.people.OwnAnswers(t.Context(), person(0), 20, "x")
	wantError(t, err, errCursor)
}
