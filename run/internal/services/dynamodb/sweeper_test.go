package dynamodb_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	tables "github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// sessions has a sort key, an index and a time to live. The engine's own deletion fails on such tables.
var sessions = `"Sessions": ` + enginetest.Sessions

func ids(t testing.TB, client *dynamodb.Client, index *string) (found []string) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String("sessions"), IndexName: index})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(t.Context()))(t)
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
	must.OK(t, tables.CreateTables(t.Context(), client, source))
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for id, ttl := range map[string]types.AttributeValue{
		"a-expired":       enginetest.Seconds(now.Add(-time.Second)),
		"b-expires-now":   enginetest.Seconds(now),
		"c-fraction":      &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Unix()-1, 10) + ".5"},
		"k-lives":         enginetest.Seconds(now.Add(time.Second)),
		"k-milliseconds":  &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Add(-time.Hour).UnixMilli(), 10)},
		"k-none":          nil,
		"k-six-years-old": enginetest.Seconds(now.AddDate(-6, 0, 0)),
		"k-text":          &types.AttributeValueMemberS{Value: strconv.FormatInt(now.Unix()-9, 10)},
		"k-null":          &types.AttributeValueMemberNULL{Value: true},
		"k-list": &types.AttributeValueMemberL{
			Value: []types.AttributeValue{enginetest.Seconds(now.Add(-time.Hour))}},
		"k-zero": &types.AttributeValueMemberN{Value: "0"},
	} {
		enginetest.Put(t, client, "sessions", enginetest.Session(id, ttl))
	}
	sweeper := must.Get(tables.NewSweeper(client, source,
		tables.SweeperOptions{Now: func() time.Time { return now }}))(t)
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
	must.OK(t, tables.CreateTables(t.Context(), client, source))
	now := time.Now()
	large := &types.AttributeValueMemberB{Value: make([]byte, 300<<10)} // a page is 1 MB
	for i := range 12 {
		ttl := now.Add(time.Hour)
		if i%2 == 0 {
			ttl = now.Add(-time.Hour)
		}
		item := enginetest.Session(fmt.Sprint(i), enginetest.Seconds(ttl))
		item["body"] = large
		enginetest.Put(t, client, "sessions", item)
	}
	sweeper := must.Get(tables.NewSweeper(client, source, tables.SweeperOptions{}))(t)
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
	must.OK(t, tables.CreateTables(t.Context(), client, source))
	enginetest.Put(t, client, "sessions", enginetest.Session("x", enginetest.Seconds(time.Now().Add(-time.Hour))))
	sweeper := must.Get(tables.NewSweeper(client, source, tables.SweeperOptions{Interval: time.Millisecond}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sweeper.Run(ctx)
	}()
	wait.For(t, "the items", 0, func() int { return len(ids(t, client, nil)) })
	cancel()
	<-done
}

// Writers that race with the sweeper lose nothing: an item that lives longer now stays, and an expired one goes, in
// every order.
func TestSweeperRacesWithWriters(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	must.OK(t, tables.CreateTables(t.Context(), client, source))
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	sweeper := must.Get(tables.NewSweeper(client, source,
		tables.SweeperOptions{Now: func() time.Time { return now }}))(t)
	var want []string
	var writing, sweeping sync.WaitGroup
	ends := make(chan struct{})
	sweeping.Go(func() {
		for {
			if _, err := sweeper.Sweep(t.Context()); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-ends:
				return
			default:
			}
		}
	})
	const writers, rounds = 6, 30
	for w := range writers {
		last, id := now, fmt.Sprint("writer ", w)
		if w%2 == 0 {
			last = now.Add(time.Hour)
			want = append(want, id)
		}
		writing.Go(func() {
			for i := range rounds {
				at := last
				if i < rounds-1 && i%2 == 0 {
					at = now.Add(-time.Second)
				}
				input := &dynamodb.PutItemInput{TableName: aws.String("sessions"),
					Item: enginetest.Session(id, enginetest.Seconds(at))}
				if _, err := client.PutItem(t.Context(), input); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(ends)
	sweeping.Wait()
	must.Get(sweeper.Sweep(t.Context()))(t)
	if difference := cmp.Diff(want, ids(t, client, nil)); difference != "" {
		t.Error(difference)
	}
}

// A walk deletes what has expired on every page of a table.
func TestSweeperWalksOverPages(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	must.OK(t, tables.CreateTables(t.Context(), client, source))
	var want []string
	for i := range 60 {
		ttl, id := time.Now().Add(time.Hour), fmt.Sprintf("%02d", i)
		if i%3 == 0 {
			ttl = time.Now().Add(-time.Hour)
		} else {
			want = append(want, id)
		}
		enginetest.Put(t, client, "sessions", enginetest.Session(id, enginetest.Seconds(ttl)))
	}
	sweeper := must.Get(tables.NewSweeper(client, source, tables.SweeperOptions{Interval: time.Millisecond}))(t)
	go sweeper.Run(t.Context())
	for {
		left := ids(t, client, nil)
		if len(left) <= len(want) {
			if difference := cmp.Diff(want, left); difference != "" {
				t.Error(difference)
			}
			return
		}
	}
}

// With a negative interval only Sweep deletes items.
func TestSweeperOnDemand(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	must.OK(t, tables.CreateTables(t.Context(), client, source))
	enginetest.Put(t, client, "sessions", enginetest.Session("x", enginetest.Seconds(time.Now().Add(-time.Hour))))
	sweeper := must.Get(tables.NewSweeper(client, source, tables.SweeperOptions{Interval: -1}))(t)
	sweeper.Run(t.Context())
	if left := ids(t, client, nil); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
	if deleted, err := sweeper.Sweep(t.Context()); err != nil || deleted != 1 {
		t.Errorf("deleted %d, %v", deleted, err)
	}
}
