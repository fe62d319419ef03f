package askahuman

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

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
