package dynamo_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// partial answers a part of each batch, as DynamoDB does under load, and with items that are too much for one answer.
type partial struct {
	dynamo.Client
	// part is how many keys of one table it reads for a request; 0: none.
	part     int
	requests int
}

func (p *partial) BatchGetItem(ctx context.Context, input *dynamodb.BatchGetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	p.requests++
	left := maps.Clone(input.RequestItems)
	table := slices.Min(slices.Collect(maps.Keys(left)))
	asked, rest := left[table], left[table]
	n := min(p.part, len(asked.Keys))
	asked.Keys, rest.Keys = asked.Keys[:n], asked.Keys[n:]
	if left[table] = rest; len(rest.Keys) == 0 {
		delete(left, table)
	}
	output := &dynamodb.BatchGetItemOutput{}
	if n > 0 {
		var err error
		if output, err = p.Client.BatchGetItem(ctx,
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: asked}},
			options...); err != nil {
			return nil, err
		}
	}
	output.UnprocessedKeys = left
	return output, nil
}

// What is left of a batch is read with further requests.
func TestBatchInParts(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, notes())
	client := &partial{Client: tables.Recorder, part: 40}
	db := dynamotest.Through(t, client, notes())
	const n = 101
	var keys [][]any
	var stored []note
	for at := range n {
		keys, stored = append(keys, key(at)), append(stored, note{Status: "kept", At: at})
	}
	fill(t, tables, stored...)
	items, err := db.BatchGet(t.Context(), "GetAll", keys...)
	if err != nil || len(items) != n || client.requests != 3+1 {
		t.Fatalf("got %d items with %d requests, %v; want %d with 4", len(items), client.requests, err, n)
	}
	for at, item := range items {
		if item == nil {
			t.Errorf("item %d is missing", at)
		}
	}
	read, err := dynamo.ReadBatch[note](t.Context(), db, "GetAll", key(n), key(n-1))
	if err != nil || len(read) != 2 || read[0] != nil || read[1] == nil || read[1].At != n-1 {
		t.Errorf("got %v, %v; want nothing, and the note %d", read, err, n-1)
	}
	if read, err := dynamo.ReadBatch[struct {
		At []string `dynamodbav:"_at"`
	}](t.Context(), db, "GetAll", key(0)); err == nil {
		t.Errorf("got %v of another type", read)
	}
}

// A batch that makes no progress fails, within the budget of the invocation.
func TestBatchGivesUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		budget *retry.Budget
		want   int
	}{
		"without budget": {nil, retry.Attempts},
		"with budget":    {retry.NewBudget(3), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := &partial{}
				db := dynamotest.Through(t, client, notes())
				ctx := retry.WithBudget(t.Context(), test.budget)
				if _, err := db.BatchGet(ctx, "GetAll", key(1), key(2)); !errors.Is(err, retry.ErrBusy) ||
					client.requests != test.want {
					t.Errorf("got %v after %d requests; want ErrBusy after %d", err, client.requests, test.want)
				}
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := db.BatchGet(ended, "GetAll", key(1)); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v; want the error of the context", err)
				}
			})
		})
	}
}

// GetEach reads an item of each table, those that DynamoDB leaves out with further requests.
func TestGetEach(t *testing.T) {
	t.Parallel()
	database := notes()
	others := database.Tables[0]
	others.Name, others.PhysicalName = "Others", "others"
	third := others
	third.Name, third.PhysicalName = "Third", "third"
	database.Tables = append(database.Tables, others, third)
	database.AccessPatterns = append(database.AccessPatterns,
		schema.AccessPattern{Name: "Each", Action: schema.BatchGetItem, Tables: []string{"Third", "Notes", "Others"},
			Consistent: true},
		schema.AccessPattern{Name: "StoreOther", Action: schema.PutItem, Table: "Others"})
	must.OK(t, database.Validate())
	tables := dynamotest.Open(t, database)
	client := &partial{Client: tables.Recorder, part: 1}
	db := dynamotest.Through(t, client, database)
	must.OK(t, errors.Join(db.Put(t.Context(), "Store", note{Status: "kept", At: 1}, none),
		db.Put(t.Context(), "StoreOther", note{Status: "kept", At: 2}, none)))
	var read [3]note
	found, err := db.GetEach(t.Context(), "Each", [][]any{key(1), key(1), key(2)}, &read[0], &read[1], &read[2])
	if err != nil || !slices.Equal(found, []bool{false, true, true}) || read[1].At != 1 || read[2].At != 2 ||
		client.requests != 3 {
		t.Errorf("got %v, %+v with %d requests, %v", found, read, client.requests, err)
	}
	if _, err := db.GetEach(t.Context(), "Each", [][]any{key(1)}, &read[0]); err == nil {
		t.Error("one key for three tables is taken")
	}
	if _, err := db.GetEach(t.Context(), "Each", [][]any{key(1), key(1), key(2)}, &read[0], new(int),
		&read[2]); err == nil {
		t.Error("an item is read into a number")
	}
}
