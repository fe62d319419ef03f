package dynamo_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// partial answers a part of each batch, as DynamoDB does under load, and with items that
// are too much for one answer.
type partial struct {
	dynamo.Client
	part     int // how many keys of a batch; 0: none
	requests int
}

func (p *partial) BatchGetItem(ctx context.Context, input *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	p.requests++
	asked := input.RequestItems["Notes"]
	left := asked
	left.Keys = asked.Keys[min(p.part, len(asked.Keys)):]
	asked.Keys = asked.Keys[:min(p.part, len(asked.Keys))]
	output := &dynamodb.BatchGetItemOutput{}
	if len(asked.Keys) > 0 {
		var err error
		if output, err = p.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"Notes": asked}}, options...); err != nil {
			return nil, err
		}
	}
	output.UnprocessedKeys = nil
	if len(left.Keys) > 0 {
		output.UnprocessedKeys = map[string]types.KeysAndAttributes{"Notes": left}
	}
	return output, nil
}

// What is left of a batch is read with further requests.
func TestBatchInParts(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, notes())
	client := &partial{Client: tables.Recorder, part: 40}
	db, err := dynamo.New(client, notes(), map[string]string{"Notes": "Notes"})
	if err != nil {
		t.Fatal(err)
	}
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
				db, err := dynamo.New(client, notes(), map[string]string{"Notes": "Notes"})
				if err != nil {
					t.Fatal(err)
				}
				ctx := retry.WithBudget(t.Context(), test.budget)
				if _, err := db.BatchGet(ctx, "GetAll", key(1), key(2)); !errors.Is(err, retry.ErrBusy) || client.requests != test.want {
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
