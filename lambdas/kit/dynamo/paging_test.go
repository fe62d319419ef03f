package dynamo_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// A list is read page by page to its end, in its order, and refuses a cursor of another list.
func TestReadPage(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Open(t, notes())
	for at := range 5 {
		fill(t, db, note{Status: "kept", At: at})
	}
	list := dynamo.List{Pattern: "Range", Values: []any{"kept", 0, 9}, Key: dynamo.CursorKey("0123456789abcdef"),
		Scope: []string{"alice"}}
	var got []int
	var last string
	for _, item := range dynamotest.Pages(t, func(from string) ([]note, string, error) {
		items, next, err := dynamo.ReadPage[note](ctx, db.DB, list, from, 2)
		last = cmp.Or(next, last)
		return items, next, err
	}) {
		got = append(got, item.At)
	}
	if !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("got the notes %v", got)
	}
	others := list
	others.Scope, others.Parameter = []string{"bob"}, "nextToken"
	within := list
	within.Values = []any{"kept", 0, 8}
	for name, test := range map[string]struct {
		list        dynamo.List
		from, field string
	}{"OfOtherList": {others, last, "nextToken"}, "OfOtherValues": {within, last, "cursor"},
		"MadeUp": {list, "AQ", "cursor"}} {
		_, _, err := dynamo.ReadPage[note](ctx, db.DB, test.list, test.from, 2)
		if wrong, ok := errors.AsType[*validate.Error](err); !ok || wrong.Problems[0].Field != test.field {
			t.Errorf("%s: got %v; want a problem of the %s", name, err, test.field)
		}
	}
	list.Key = nil
	if _, _, err := dynamo.ReadPage[note](ctx, db.DB, list, "", 2); !errors.Is(err, dynamo.ErrCursorKey) {
		t.Errorf("without a key: got %v", err)
	}
}
