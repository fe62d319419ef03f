package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// notes has one pattern of each kind, with reserved words and a leading
// underscore for attribute names.
func notes() schema.Database {
	return schema.Database{
		Tables: []schema.Table{{
			Name: "Notes", PhysicalName: "notes", Key: schema.Key{Partition: "status", Sort: "_at"},
			Attributes: []schema.Attribute{{Name: "status", Type: schema.String}, {Name: "_at", Type: schema.Number},
				{Name: "size", Type: schema.Number}, {Name: "a.b", Type: schema.String}},
			Indexes: []schema.Index{{Name: "BySize", Key: schema.Key{Partition: "status", Sort: "size"},
				Projection: schema.ProjectKeysOnly}},
		}},
		AccessPatterns: []schema.AccessPattern{
			{Name: "Get", Action: schema.GetItem, Table: "Notes", Consistent: true,
				Attributes: []string{"_at", "a.b"}},
			{Name: "Range", Action: schema.Query, Table: "Notes",
				KeyConditions: []schema.KeyCondition{{Attribute: "status", Comparison: schema.Equal},
					{Attribute: "_at", Comparison: schema.Between}}, Filter: []string{"size"}},
			{Name: "CountBelow", Action: schema.Query, Table: "Notes", Index: "BySize", Count: true,
				KeyConditions: []schema.KeyCondition{{Attribute: "status", Comparison: schema.Equal},
					{Attribute: "size", Comparison: schema.Less}}},
			{Name: "GetAll", Action: schema.BatchGetItem, Table: "Notes", Attributes: []string{"a.b"}},
			{Name: "Store", Action: schema.PutItem, Table: "Notes"},
			{Name: "Drop", Action: schema.DeleteItem, Table: "Notes"},
			{Name: "Grow", Action: schema.UpdateItem, Table: "Notes"},
			{Name: "Fill", Action: schema.TransactWriteItems,
				Writes: []schema.Write{{Table: "Notes", Action: schema.PutItem, Repeated: true}}},
			{Name: "Move", Action: schema.TransactWriteItems, Writes: []schema.Write{
				{Table: "Notes", Action: schema.PutItem},
				{Table: "Notes", Action: schema.DeleteItem, Optional: true},
				{Table: "Notes", Action: schema.UpdateItem, Optional: true},
				{Table: "Notes", Action: schema.ConditionCheckItem, Optional: true},
			}},
		},
	}
}

// fill stores notes, 100 with a request.
func fill(t *testing.T, db *dynamotest.Tables, notes ...note) {
	t.Helper()
	for some := range slices.Chunk(notes, 100) {
		var writes []dynamo.Write
		for _, n := range some {
			writes = append(writes, dynamo.Put("Notes", n, none))
		}
		must.OK(t, db.Transact(t.Context(), "Fill", writes...))
	}
}

// misread has the text of a note in another type.
type misread struct {
	Text int `dynamodbav:"a.b"`
}

type note struct {
	Status string `dynamodbav:"status"`
	At     int    `dynamodbav:"_at"`
	Size   int    `dynamodbav:"size"`
	Text   string `dynamodbav:"a.b"`
}

var (
	none  = expression.ConditionBuilder{}
	isNew = expression.AttributeNotExists(expression.Name("status"))
	size  = expression.Name("size")
	key   = func(at int) []any { return []any{"kept", at} }
)

func TestReadsAndWrites(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Open(t, notes())
	db.Recorder.PageSize = 2
	for at := range 7 {
		fill(t, db, note{"kept", at, at * 10, fmt.Sprint("text ", at)})
	}
	t.Run("Get", func(t *testing.T) {
		var got note
		found, err := db.Get(ctx, "Get", &got, "kept", 3)
		if want := (note{At: 3, Text: "text 3"}); err != nil || !found || got != want {
			t.Errorf("got %+v, %v, %v; want %+v", got, found, err, want)
		}
		if found, err := db.Get(ctx, "Get", &got, "kept", 99); found || err != nil {
			t.Errorf("of nothing: got %v, %v", found, err)
		}
	})
	t.Run("PageAfterPage", func(t *testing.T) {
		var got []string
		query := dynamo.Query{Values: []any{"kept", 0, 6}, Filter: size.NotEqual(expression.Value(30)), PageSize: 2}
		for {
			page := must.Get(db.Page(ctx, "Range", query))(t)
			got = append(got, fmt.Sprint(len(page.Items), " of ", page.Evaluated))
			if page.Next == nil {
				break
			}
			query.StartAfter = page.Next
		}
		if want := []string{"2 of 2", "1 of 2", "2 of 2", "1 of 1"}; !cmp.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("ReadPagesToTheEnd", func(t *testing.T) {
		var got []int
		query := dynamo.Query{Values: []any{"kept", 1, 6}, Filter: size.NotEqual(expression.Value(30))}
		for n, err := range dynamo.Read[note](ctx, db.DB, "Range", query) {
			must.OK(t, err)
			got = append(got, n.At)
		}
		if diff := cmp.Diff([]int{1, 2, 4, 5, 6}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		wrong := 0
		for _, err := range dynamo.Read[misread](ctx, db.DB, "Range", query) {
			if err == nil || !strings.HasPrefix(err.Error(), "Range: read item: ") {
				t.Errorf("got %v", err)
			}
			wrong++
		}
		if wrong != 5 {
			t.Errorf("%d items did not fit, want all 5", wrong)
		}
		// The names of a filter are those of its request alone.
		all, err := db.Page(ctx, "Range", dynamo.Query{Values: query.Values})
		if err != nil || len(all.Items) != 2 {
			t.Errorf("without the filter: got %v, %v", all.Items, err)
		}
	})
	t.Run("CountStopsAtTheLimit", func(t *testing.T) {
		for limit, want := range map[int]int{100: 5, 5: 5, 3: 3} {
			if got, err := db.Count(ctx, "CountBelow", limit, "kept", 50); got != want || err != nil {
				t.Errorf("limit %d: got %d, %v; want %d", limit, got, err, want)
			}
		}
	})
	t.Run("Update", func(t *testing.T) {
		var got note
		if err := db.Update(ctx, "Grow", key(1), expression.Add(size, expression.Value(5)),
			size.Equal(expression.Value(10)), &got); err != nil || got.Size != 15 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("ErrCondition", func(t *testing.T) {
		err := db.Update(ctx, "Grow", key(2), expression.Add(size, expression.Value(5)),
			size.Equal(expression.Value(-1)), nil)
		var refused *dynamo.ConditionError
		if !errors.As(err, &refused) || refused.Item["size"] == nil {
			t.Errorf("got %v, want a condition error with the item", err)
		}
	})
	t.Run("PutAndDelete", func(t *testing.T) {
		stored := note{"kept", 90, 1, "first"}
		for _, step := range []struct {
			name  string
			do    func() error
			holds bool
		}{
			{"a first put", func() error { return db.Put(ctx, "Store", stored, isNew) }, true},
			{"a second put", func() error { return db.Put(ctx, "Store", stored, isNew) }, false},
			{"a delete of another version", func() error {
				return db.Delete(ctx, "Drop", key(90), size.Equal(expression.Value(2)))
			}, false},
			{"a put without condition", func() error {
				stored.Size = 2
				return db.Put(ctx, "Store", stored, none)
			}, true},
			{"a delete", func() error {
				return db.Delete(ctx, "Drop", key(90), size.Equal(expression.Value(2)))
			}, true},
			{"a delete of nothing", func() error { return db.Delete(ctx, "Drop", key(90), none) }, true},
		} {
			err := step.do()
			held, other := dynamo.Satisfied(err)
			refused, isRefused := errors.AsType[*dynamo.ConditionError](err)
			if held != step.holds || other != nil || !held && (!isRefused || refused.Item["size"] == nil) {
				t.Errorf("%s: got %v; want it to hold: %t", step.name, err, step.holds)
			}
		}
		if found, err := db.Get(ctx, "Get", &note{}, key(90)...); found || err != nil {
			t.Errorf("after the delete: got %v, %v", found, err)
		}
	})
	t.Run("BatchGet", func(t *testing.T) {
		var keys [][]any
		var want []string
		for at := 120; at >= 0; at-- {
			// Item 4 again and again, in another form. From 7 on there is none.
			keys, want = append(keys, []any{"kept", json.Number("4.0")}, key(at)), append(want, "text 4", "")
			if at < 7 {
				want[len(want)-1] = fmt.Sprint("text ", at)
			}
		}
		items, err := db.BatchGet(ctx, "GetAll", keys...)
		var got []string
		for _, item := range items {
			var n note
			if err := attributevalue.UnmarshalMap(item, &n); err != nil || n.Size != 0 ||
				item != nil && n.Status != "kept" {
				t.Fatalf("got %+v, %v; want the attributes of the pattern and of the key", n, err)
			}
			got = append(got, n.Text)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, -want +got:\n%s", err, diff)
		}
	})
	t.Run("Check", func(t *testing.T) {
		for at, holds := range map[int]bool{5: true, 6: false} {
			err := db.Transact(ctx, "Move",
				dynamo.Put("Notes", note{Status: "checked", At: at}, isNew),
				dynamo.Check("Notes", key(at), size.Equal(expression.Value(50))))
			var refused *dynamo.TransactionError
			if holds && err != nil || !holds && !errors.As(err, &refused) {
				t.Errorf("item %d: got %v", at, err)
			}
			if found, err := db.Get(ctx, "Get", &note{}, "checked", at); found != holds || err != nil {
				t.Errorf("item %d: stored %v, %v; want %v", at, found, err, holds)
			}
		}
	})
	t.Run("ErrTransaction", func(t *testing.T) {
		err := db.Transact(ctx, "Move",
			dynamo.Put("Notes", note{Status: "moved", At: 1}, isNew),
			dynamo.Delete("Notes", key(99), size.Equal(expression.Value(1))),
			dynamo.Update("Notes", key(4), expression.Set(size, expression.Value(0)), size.Equal(expression.Value(1))))
		var refused *dynamo.TransactionError
		if held, other := dynamo.Satisfied(err); !errors.As(err, &refused) || held || other != nil {
			t.Fatalf("got %v, want a transaction error", err)
		}
		if _, failed := refused.Failed(0); failed {
			t.Error("the write whose condition holds is among the failed")
		}
		if item, failed := refused.Failed(1); !failed || item != nil {
			t.Errorf("of no item: got %v, %v", item, failed)
		}
		if item, failed := refused.Failed(2); !failed || item["size"] == nil {
			t.Errorf("of an item: got %v, %v", item, failed)
		}
		first, second := errors.New("first"), errors.New("second")
		if got := dynamo.UnlessStale(err, dynamo.OnFailed(0, first), dynamo.OnFailed(2, second),
			dynamo.OnFailed(1, first)); got != second {
			t.Errorf("it means %v, want the first refusal that is true", got)
		}
		if got := dynamo.UnlessStale(err, dynamo.OnFailed(0, first)); got != retry.ErrStale {
			t.Errorf("it means %v, want that it is stale", got)
		}
		if got := dynamo.UnlessStale(first, dynamo.OnFailed(1, second)); got != first {
			t.Errorf("got %v of another error", got)
		}
		if found, _ := db.Get(ctx, "Get", &note{}, "moved", 1); found {
			t.Error("a part of a refused transaction was stored")
		}
	})
}

func TestOnlyDeclaredRequests(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Open(t, notes())
	for name, err := range map[string]error{
		"unknown pattern":   second(db.Get(ctx, "Nope", &note{}, "kept", 1)),
		"another operation": second(db.Get(ctx, "Grow", &note{}, "kept", 1)),
		"half a key":        second(db.Get(ctx, "Get", &note{}, "kept")),
		"missing value":     second(db.Count(ctx, "CountBelow", 1, "kept")),
		"value too many":    second(db.Count(ctx, "CountBelow", 1, "kept", 1, 2)),
		"undeclared write":  db.Transact(ctx, "Move", dynamo.Delete("Notes", key(1), none)),
		"writes in disorder": db.Transact(ctx, "Move", dynamo.Put("Notes", note{Status: "kept"}, none),
			dynamo.Update("Notes", key(1), expression.Set(size, expression.Value(1)), none),
			dynamo.Delete("Notes", key(2), none)),
		"no write": db.Transact(ctx, "Move"),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if got := db.Recorder.Requests(); len(got) != 0 {
		t.Errorf("requests were made: %v", got)
	}
	odd := notes()
	odd.AccessPatterns[1].KeyConditions[1].Comparison = "like"
	if _, err := dynamo.New(db.Client, odd, map[string]string{"Notes": "Notes"}); err == nil ||
		!strings.Contains(err.Error(), `unknown comparison "like"`) {
		t.Errorf("a comparison that DynamoDB lacks: got %v", err)
	}
}

// Items have the attributes that their table declares. What is within one is the item's own matter.
func TestOnlyDeclaredAttributes(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Open(t, notes())
	sized := func(attribute string) expression.UpdateBuilder {
		return expression.Set(size, expression.Value(1)).Set(expression.Name(attribute), expression.Value(1))
	}
	for name, err := range map[string]error{
		"put": db.Put(ctx, "Store", map[string]any{"status": "kept", "_at": 1, "siez": 1}, none),
		"put in a transaction": db.Transact(ctx, "Fill",
			dynamo.Put("Notes", map[string]any{"status": "kept", "_at": 1, "siez": 1}, none)),
		"update": db.Update(ctx, "Grow", key(1), sized("siez"), none, nil),
		"remove": db.Update(ctx, "Grow", key(1), expression.Remove(expression.Name("siez")), none, nil),
		"within": db.Update(ctx, "Grow", key(1), sized("siez.size"), none, nil),
	} {
		if err == nil ||
			!strings.Contains(err.Error(), `the table Notes has no attribute "siez": spell it as in the schema`) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if got := db.Recorder.Requests(); len(got) != 0 {
		t.Errorf("requests were made: %v", got)
	}
}

// A function makes the requests of its own access patterns. The error of any other says what to add
// to the schema, and no request is made.
func TestOnlyTheFunctionsOwnPatterns(t *testing.T) {
	t.Parallel()
	platform := schema.Platform{Name: "notes", Database: notes()}.Join(schema.Own{
		Functions:      []schema.Function{{Name: "reader"}},
		AccessPatterns: []schema.AccessPattern{schema.Existing("Get").UsedBy("reader")},
	})
	tables := dynamotest.Open(t, platform.Database)
	db := must.Get(tables.As(platform, "reader"))(t)
	ctx, erasure := t.Context(), dynamo.Erasure{List: "Range", Delete: "Drop"}
	for pattern, err := range map[string]error{
		"Range":  second(db.Page(ctx, "Range", dynamo.Query{})),
		"GetAll": second(db.BatchGet(ctx, "GetAll", key(1))),
		"Store":  db.Put(ctx, "Store", note{Status: "kept"}, none),
		"Drop":   db.Delete(ctx, "Drop", key(1), none),
		"Grow":   db.Update(ctx, "Grow", key(1), expression.Set(size, expression.Value(1)), none, nil),
		"Move":   db.Transact(ctx, "Move", dynamo.Put("Notes", note{Status: "kept"}, none)),
		"Range ": second(db.Erase(ctx, erasure, "kept")),
	} {
		pattern = strings.TrimSpace(pattern)
		want := fmt.Sprintf("the function reader may not use the access pattern %q: let the pattern say "+
			`UsedBy("reader") in the schema`, pattern)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v; want %s", pattern, err, want)
		}
	}
	if got := tables.Recorder.Requests(); len(got) != 0 {
		t.Errorf("requests were made: %v", got)
	}
	if found, err := db.Get(ctx, "Get", &note{}, key(1)...); found || err != nil {
		t.Errorf("its own pattern: got %v, %v", found, err)
	}
	environment := kit.Environment{Getenv: func(string) string { return "notes" }}
	if _, err := dynamo.Open(environment, platform, "writer"); err == nil ||
		!strings.Contains(err.Error(), `has no function "writer"`) || !strings.Contains(err.Error(), "(reader)") {
		t.Errorf("a function that the schema does not have: got %v", err)
	}
	if _, err := dynamo.Open(environment, platform, "reader"); err != nil {
		t.Errorf("got %v", err)
	}
	if _, err := dynamo.Open(kit.Environment{Getenv: func(string) string { return "" }}, platform,
		"reader"); err == nil || !strings.Contains(err.Error(), "NOTES_TABLE") {
		t.Errorf("without a name in the environment: got %v", err)
	}
}

// A put or a delete on its own costs half of a transaction of one.
func TestLoneWritesCostHalf(t *testing.T) {
	t.Parallel()
	database := notes()
	database.Tables[0].Indexes = nil // each would cost as much again
	ctx, db := t.Context(), dynamotest.Open(t, database)
	for _, test := range []struct {
		name  string
		write func() error
		units float64
	}{
		{"put", func() error { return db.Put(ctx, "Store", note{Status: "kept", At: 1}, isNew) }, 1},
		{"delete", func() error { return db.Delete(ctx, "Drop", key(1), none) }, 1},
		{"transaction", func() error {
			return db.Transact(ctx, "Move", dynamo.Put("Notes", note{Status: "kept", At: 1}, isNew))
		}, 2},
	} {
		if err := test.write(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := db.Recorder.Requests(); len(got) != 1 || got[0].Units != test.units {
			t.Errorf("%s: got %+v; want one request of %g units", test.name, got, test.units)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A transaction that was done before its answer was lost does not fail on its own
// conditions.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, notes())
	tables.Wire.Lose(2)
	if err := tables.Transact(t.Context(), "Move",
		dynamo.Put("Notes", note{Status: "kept", At: 1}, isNew)); err != nil || tables.Wire.Attempts() != 3 {
		t.Errorf("got %v after %d attempts, want success after 3", err, tables.Wire.Attempts())
	}
	var refused *dynamo.TransactionError
	if err := tables.Transact(t.Context(), "Move",
		dynamo.Put("Notes", note{Status: "kept", At: 1}, isNew)); !errors.As(err, &refused) {
		t.Errorf("the same transaction again: got %v, want a transaction error", err)
	}
}

// Requests that may succeed another time are retried, and have their own error if they fail.
func TestContention(t *testing.T) {
	t.Parallel()
	always := func(answer dynamotest.Answer) (answers []dynamotest.Answer) {
		for range 2 * retry.Attempts {
			answers = append(answers, answer)
		}
		return answers
	}
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	for name, test := range map[string]struct {
		answers      []dynamotest.Answer
		wantAttempts int
		check        func(error) bool
	}{
		"OK": {nil, 1, func(err error) bool { return err == nil }},
		"OKAfterRetries": {[]dynamotest.Answer{
			dynamotest.Canceled("TransactionConflict"), {Code: "TransactionInProgressException"},
			dynamotest.Canceled("ThrottlingError"),
			{Code: "TransactionConflictException"}, dynamotest.Canceled("None", "ProvisionedThroughputExceeded"),
			{Err: io.ErrUnexpectedEOF}, {Code: "ThrottlingException"},
		}, 8, func(err error) bool { return err == nil }},
		"ErrCondition": {always(dynamotest.Canceled("TransactionConflict", "ConditionalCheckFailed")), 1,
			func(err error) bool {
				_, ok := errors.AsType[*dynamo.TransactionError](err)
				return ok
			}},
		"ErrValidation": {always(dynamotest.Canceled("ValidationError")), 1, func(err error) bool {
			return err != nil && !errors.Is(err, retry.ErrBusy) && !errors.Is(err, retry.ErrUnanswered)
		}},
		"ErrBusyByConflicts": {always(dynamotest.Canceled("None", "TransactionConflict")), retry.Attempts,
			is(retry.ErrBusy)},
		"ErrBusyByThrottling": {always(dynamotest.Throttled()), retry.Attempts, is(retry.ErrBusy)},
		"ErrUnansweredByBreak": {always(dynamotest.Answer{Err: io.ErrUnexpectedEOF}), retry.Attempts,
			is(retry.ErrUnanswered)},
		"ErrUnansweredItself": {always(dynamotest.Answer{Code: "TransactionInProgressException"}), retry.Attempts,
			is(retry.ErrUnanswered)},
		"ErrUnansweredInTime": {always(dynamotest.Answer{Err: context.DeadlineExceeded}), retry.Attempts,
			is(retry.ErrUnanswered)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				attempt := 0
				db, wire := dynamotest.Refused(t, notes(), func(string) (answer dynamotest.Answer) {
					if attempt < len(test.answers) {
						answer = test.answers[attempt]
					}
					attempt++
					return answer
				})
				err := db.Transact(t.Context(), "Move", dynamo.Put("Notes", note{Status: "kept"}, none))
				if wire.Attempts() != test.wantAttempts || !test.check(err) {
					t.Errorf("got %d attempts and %v, want %d attempts", wire.Attempts(), err, test.wantAttempts)
				}
			})
		})
	}
	t.Run("ErrContextEnds", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		db, wire := dynamotest.Refused(t, notes(), nil)
		err := db.Transact(ctx, "Move", dynamo.Put("Notes", note{Status: "kept"}, none))
		if !errors.Is(err, context.Canceled) || wire.Attempts() > 0 {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}
