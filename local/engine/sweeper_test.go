package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/local/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
)

// sessions has a sort key, an index and a time to live. The engine's own deletion fails on such tables.
const sessions = `"Sessions": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "sessions", "BillingMode": "PAY_PER_REQUEST",
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "part", "AttributeType": "N"}, {"AttributeName": "status", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "part", "KeyType": "RANGE"}],
  "GlobalSecondaryIndexes": [{"IndexName": "by-status", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}],
  "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}, "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": true}}}`

func put(t testing.TB, client *dynamodb.Client, table string, item map[string]types.AttributeValue) {
	t.Helper()
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}); err != nil {
		t.Fatal(err)
	}
}

func session(id string, ttl types.AttributeValue) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"id": &types.AttributeValueMemberS{Value: id}, "part": &types.AttributeValueMemberN{Value: "1"}, "status": &types.AttributeValueMemberS{Value: "OPEN"},
	}
	if ttl != nil {
		item["ttl"] = ttl
	}
	return item
}

func seconds(at time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix(), 10)}
}

func ids(t testing.TB, client *dynamodb.Client, index *string) (found []string) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String("sessions"), IndexName: index})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			id, ok := item["id"].(*types.AttributeValueMemberS)
			if !ok {
				t.Fatalf("got item %v", item)
			}
			found = append(found, id.Value)
		}
	}
	slices.Sort(found)
	return found
}

func TestSweepDeletesWhatHasExpired(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	if err := engine.CreateTables(t.Context(), client, source); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for id, ttl := range map[string]types.AttributeValue{
		"a-expired":       seconds(now.Add(-time.Second)),
		"b-expires-now":   seconds(now),
		"c-fraction":      &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Unix()-1, 10) + ".5"},
		"k-lives":         seconds(now.Add(time.Second)),
		"k-milliseconds":  &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Add(-time.Hour).UnixMilli(), 10)},
		"k-none":          nil,
		"k-six-years-old": seconds(now.AddDate(-6, 0, 0)),
		"k-text":          &types.AttributeValueMemberS{Value: strconv.FormatInt(now.Unix()-9, 10)},
		"k-null":          &types.AttributeValueMemberNULL{Value: true},
		"k-list":          &types.AttributeValueMemberL{Value: []types.AttributeValue{seconds(now.Add(-time.Hour))}},
		"k-zero":          &types.AttributeValueMemberN{Value: "0"},
	} {
		put(t, client, "sessions", session(id, ttl))
	}
	sweeper, err := engine.NewSweeper(client, source, engine.SweeperOptions{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if deleted, err := sweeper.Sweep(t.Context()); err != nil || deleted != 3 {
		t.Errorf("got %d %v, want 3", deleted, err)
	}
	want := []string{"k-list", "k-lives", "k-milliseconds", "k-none", "k-null", "k-six-years-old", "k-text", "k-zero"}
	for _, index := range []*string{nil, aws.String("by-status")} {
		if difference := cmp.Diff(want, ids(t, client, index)); difference != "" {
			t.Errorf("index %s: %s", aws.ToString(index), difference)
		}
	}
}

func TestSweepPagesThroughLargeTables(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	if err := engine.CreateTables(t.Context(), client, source); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	large := &types.AttributeValueMemberB{Value: make([]byte, 300<<10)} // a page is 1 MB
	for i := range 12 {
		ttl := now.Add(time.Hour)
		if i%2 == 0 {
			ttl = now.Add(-time.Hour)
		}
		item := session(fmt.Sprint(i), seconds(ttl))
		item["body"] = large
		put(t, client, "sessions", item)
	}
	sweeper, err := engine.NewSweeper(client, source, engine.SweeperOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if deleted, err := sweeper.Sweep(t.Context()); err != nil || deleted != 6 {
		t.Errorf("got %d %v, want 6", deleted, err)
	}
	if left := ids(t, client, nil); len(left) != 6 {
		t.Errorf("got %v", left)
	}
}

func TestSweeperRunsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	if err := engine.CreateTables(t.Context(), client, source); err != nil {
		t.Fatal(err)
	}
	put(t, client, "sessions", session("x", seconds(time.Now().Add(-time.Hour))))
	sweeper, err := engine.NewSweeper(client, source, engine.SweeperOptions{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sweeper.Run(ctx)
	}()
	for len(ids(t, client, nil)) > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
}
