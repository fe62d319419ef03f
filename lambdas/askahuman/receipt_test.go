package askahuman

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// A receipt says how many have answered, whether that was all, and which badge is nearest.
func TestReceipt(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ask := choiceAsk("a", "b")
	ask.MinResponses = new(6)
	q := p.ask(t, ask)
	for i := range 6 {
		receipt := p.answer(t, person(i), option(q.ID, 0))
		if receipt.Answers != i+1 || receipt.Completed != (i == 5) || receipt.OptionShares != nil {
			t.Errorf("answer %d of 6: got %+v; want no shares, which the platform does not tell", i+1, receipt)
		}
		wantEqual(t, "next badge", receipt.NextBadge,
			&askahuman.NextBadge{ID: "streak_3", Name: "On a Roll", Have: 1, Need: 3})
	}
	if got := must.Get(p.people.Stats(t.Context(), person(0), nil))(t).NextBadges; len(got) != nextShown ||
		got[0].ID != "streak_3" {
		t.Errorf("next badges: got %+v", got)
	}
	// The streak has ended.
	p.MoveTo(p.Now().Add(72 * time.Hour))
	later := must.Get(p.people.Stats(t.Context(), person(0), nil))(t)
	wantEqual(t, "next badges of a streak that has ended", later.NextBadges,
		[]askahuman.NextBadge{{ID: "answers_10", Name: "Getting Started", Have: 1, Need: 10},
			{ID: "generalist", Name: "Generalist", Have: 1, Need: 25},
			{ID: "streak_3", Name: "On a Roll", Have: 0, Need: 3}})
}

// A platform that shares options tells who has answered what others chose, from five answers on.
func TestOptionShares(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, askahuman.Parts{ShareOptions: true})
	var unread error
	p.people.SharesUnread = func(_ context.Context, err error) { unread = err }
	operators := p.as(t, "moderationapi")
	ask := choiceAsk("a", "b", "c")
	ask.MinResponses = new(8)
	q := p.ask(t, ask)
	var receipts []askahuman.Receipt
	choose := func(i int, want ...int) {
		t.Helper()
		receipts = append(receipts, p.answer(t, person(len(receipts)), option(q.ID, i)))
		if got := receipts[len(receipts)-1].OptionShares; !slices.Equal(got, want) {
			t.Errorf("answer %d: got the shares %v; want %v", len(receipts), got, want)
		}
	}
	for range 4 {
		choose(0)
	}
	choose(2, 80, 0, 20)
	choose(2, 67, 0, 33)
	// What an operator has hidden is in no share.
	must.OK(t, operators.HideResponse(t.Context(), as("olga"), q.ID, receipts[5].ResponseID, true))
	choose(1, 67, 17, 16)
	// The answer counts also when the others cannot be read.
	failed := errors.New("the table rests")
	p.faults(func(r dynamotest.Request) error {
		if r.Action == schema.Query && r.Index == "" {
			return failed
		}
		return nil
	})
	choose(1)
	if !errors.Is(unread, failed) || !receipts[7].Completed {
		t.Errorf("got %+v and the error %v; want a stored answer, and %v", receipts[7], unread, failed)
	}

	p.faults(nil)
	texts := p.ask(t, askahuman.Ask{Prompt: textAsk().Prompt, Type: askahuman.TypeText, MinResponses: new(6)})
	for i := range 6 {
		if receipt := p.answer(t, person(i), text(texts.ID, "Yes, it is.")); receipt.OptionShares != nil {
			t.Errorf("a text question has the shares %v", receipt.OptionShares)
		}
	}
}
