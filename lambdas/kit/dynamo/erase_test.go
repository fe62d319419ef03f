package dynamo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// listed are notes that can be listed by status.
func listed() schema.Database {
	database := notes()
	database.AccessPatterns = append(database.AccessPatterns,
		schema.AccessPattern{Name: "List", Action: schema.Query, Table: "Notes", Consistent: true,
			Attributes:    []string{"status", "_at"},
			KeyConditions: []schema.KeyCondition{{Attribute: "status", Comparison: schema.Equal}}})
	return database
}

// Everything under a partition key is deleted, page after page, except what Keep keeps. The next
// erasure finishes one that died at some write.
func TestErase(t *testing.T) {
	t.Parallel()
	database := listed()
	database.AccessPatterns = append(database.AccessPatterns,
		schema.AccessPattern{Name: "ListIndex", Action: schema.Query, Table: "Notes", Index: "BySize",
			KeyConditions: []schema.KeyCondition{{Attribute: "status", Comparison: schema.Equal}}})
	must.OK(t, database.Validate())
	over := errors.New("the erasure is over")
	for name, test := range map[string]struct {
		erasure dynamo.Erasure
		// n is the number of items, survived the number of writes that the first erasure makes,
		// left the number of items that it leaves.
		n, survived, left int
	}{
		"Alone":     {dynamo.Erasure{List: "List", Delete: "Drop"}, 105, 40, 65},
		"OfAnIndex": {dynamo.Erasure{List: "ListIndex", Delete: "Drop"}, 30, 10, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, tables := t.Context(), dynamotest.Open(t, database)
			tables.Recorder.PageSize = 25
			stored := func(partition string) (left []int) {
				t.Helper()
				for item, err := range tables.Items(ctx, "List", dynamo.Query{Values: []any{partition}}) {
					var n note
					if err == nil {
						err = attributevalue.UnmarshalMap(item, &n)
					}
					must.OK(t, err)
					left = append(left, n.At)
				}
				return left
			}
			all := []note{{Status: "first", At: test.n}, {Status: "other", At: 1}}
			for at := range test.n {
				all = append(all, note{Status: []string{"first", "second"}[at%2], At: at})
			}
			fill(t, tables, all...)
			dead := errors.New("the process is dead")
			var writes atomic.Int64
			tables.Recorder.Faults(func(action schema.Action) error {
				if action == schema.DeleteItem && writes.Add(1) > int64(test.survived) {
					return dead
				}
				return nil
			}, nil)
			erasure := test.erasure
			erasure.Keep = func(item dynamo.Item) bool {
				var read note
				return attributevalue.UnmarshalMap(item, &read) == nil && read.At == test.n
			}
			leaving := worldtest.Leaving(ctx, 3*time.Second)
			if complete, err := tables.Erase(leaving, erasure, "first", "second"); complete || err != nil ||
				writes.Load() > 0 {
				t.Errorf("without time: got %t, %v after %d writes; want an end without a write", complete, err,
					writes.Load())
			}
			if complete, err := tables.Erase(ctx, erasure, "first", "second"); complete || !errors.Is(err, dead) {
				t.Errorf("got %t, %v; want the death", complete, err)
			}
			tables.Recorder.Faults(nil, nil)
			if left := len(stored("first")) + len(stored("second")); left != test.left+1 {
				t.Errorf("got %d items left after the death; want %d", left, test.left+1)
			}
			// A page that was read while the erasure went on is deleted, and none after it. What has changed stays.
			pages := 0
			erasure.GoesOn = func(context.Context) error {
				if pages++; pages > 1 {
					return over
				}
				return nil
			}
			erasure.If = func(dynamo.Item) expression.ConditionBuilder { return dynamo.Equal("size", 1) }
			if complete, err := tables.Erase(ctx, erasure, "first", "second"); complete || !errors.Is(err, over) ||
				len(stored("first"))+len(stored("second")) != test.left+1 {
				t.Errorf("after the end: got %t, %v", complete, err)
			}
			erasure.GoesOn, erasure.If = nil, nil
			for range 2 { // the second finds nothing to do
				if complete, err := tables.Erase(ctx, erasure, "first", "second"); !complete || err != nil {
					t.Errorf("got %t, %v", complete, err)
				}
			}
			got := fmt.Sprint(stored("first"), stored("second"), stored("other"))
			if want := fmt.Sprint([]int{test.n}, []int{}, []int{1}); !cmp.Equal(want, got) {
				t.Errorf("got %s left; want %s", got, want)
			}
		})
	}
}

// Erasures that meet remove each item once: the table's stream tells no removal twice.
func TestErasuresAtOnce(t *testing.T) {
	t.Parallel()
	platform := schema.Platform{Database: listed()}
	platform.Database.Tables[0].Stream = schema.StreamNewAndOldImages
	tables := dynamotest.Open(t, platform.Database)
	records := triggertest.Stream(t, platform, tables, "Notes")
	var all []note
	for at := range 100 {
		all = append(all, note{Status: "first", At: at})
	}
	fill(t, tables, all...)
	var erasing errgroup.Group
	for range 4 {
		erasing.Go(func() error {
			_, err := tables.Erase(t.Context(), dynamo.Erasure{List: "List", Delete: "Drop"}, "first")
			return err
		})
	}
	must.OK(t, erasing.Wait())
	removed := 0
	for _, record := range records() {
		if bytes.Contains(record, []byte(`"eventName":"REMOVE"`)) {
			removed++
		}
	}
	if removed != len(all) {
		t.Errorf("the stream tells %d removals of %d items", removed, len(all))
	}
}

// A page of a list has a limit, also if the query has none: DynamoDB Local answers nobody else while it reads one.
func TestPagesHaveALimit(t *testing.T) {
	t.Parallel()
	ctx, tables := t.Context(), dynamotest.Open(t, listed())
	const n = 600
	var all []note
	for at := range n {
		all = append(all, note{Status: "kept", At: at})
	}
	fill(t, tables, all...)
	tables.Recorder.Requests()
	for _, err := range tables.Items(ctx, "List", dynamo.Query{Values: []any{"kept"}}) {
		must.OK(t, err)
	}
	if complete, err := tables.Erase(ctx, dynamo.Erasure{List: "List", Delete: "Drop"}, "kept"); !complete ||
		err != nil {
		t.Fatalf("got %t, %v", complete, err)
	}
	queries, deleted := 0, 0
	for _, request := range tables.Recorder.Requests() {
		switch input := request.Input.(type) {
		case *dynamodb.QueryInput:
			if queries++; input.Limit == nil || *input.Limit != 250 {
				t.Errorf("query %d has the limit %v, want 250", queries, input.Limit)
			}
		case *dynamodb.DeleteItemInput:
			deleted++
		}
	}
	if queries != 2*3 || deleted != n {
		t.Errorf("got %d queries and %d deletions, want 6 and %d", queries, deleted, n)
	}
}
