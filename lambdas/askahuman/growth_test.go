package askahuman

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// TestGrowth: a list costs at most 12 requests and 25 read units, however many of an agent's questions and of other
// people there are, and its pages lead to all that it has.
func TestGrowth(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	store := &Service{DB: tables.DB}
	store.Rules = quotaOf(1000)
	const asked, partial, people = 420, 3, 1200
	var group errgroup.Group
	group.SetLimit(16)
	for i := range asked {
		q := newQuestion("agent", 3)
		q.CreatedAt = wire.Time(start.Add(time.Duration(i) * time.Second))
		q.ID = wire.NewID(time.Time(q.CreatedAt))
		if i < partial {
			q.Status, q.CurrentResponses = askahuman.StatusPartial, 1
		}
		group.Go(func() error { return store.createQuestion(ctx, q) })
	}
	for i := range people {
		group.Go(func() error {
			_, err := tables.Client.PutItem(ctx, &sdk.PutItemInput{TableName: aws.String("UserStats"),
				Item: map[string]types.AttributeValue{
					"fingerprint_hash": &types.AttributeValueMemberS{Value: fmt.Sprintf("%064d", i)},
					"_leaderboard":     &types.AttributeValueMemberS{Value: "_leaderboard"},
					"total_points":     &types.AttributeValueMemberN{Value: fmt.Sprint(10 + i)},
					"total_answers":    &types.AttributeValueMemberN{Value: "1"},
				}})
			return err
		})
	}
	must.OK(t, group.Wait())
	cost := func(what string, read func() error) {
		t.Helper()
		tables.Recorder.Requests()
		must.OK(t, read())
		units, made := 0.0, tables.Recorder.Requests()
		for _, request := range made {
			units += request.Units
		}
		t.Logf("%s: %d requests, %.1f read units", what, len(made), units)
		if len(made) > 12 || units > 25 {
			t.Errorf("%s: got %d requests and %.1f read units; want at most 12 and 25", what, len(made), units)
		}
	}
	for status, want := range map[askahuman.Status]int{"": asked, askahuman.StatusOpen: asked - partial,
		askahuman.StatusPartial: partial, askahuman.StatusClosed: 0} {
		found := map[string]bool{}
		for cursor, more := "", true; more; {
			cost(fmt.Sprintf("questions with the status %q", status), func() error {
				page, next, err := store.agentQuestions(ctx, "agent", status, 20, cursor,
					start.Add(10*time.Minute))
				for _, q := range page {
					found[q.ID] = true
				}
				cursor, more = next, next != ""
				return err
			})
		}
		if len(found) != want {
			t.Errorf("status %q: found %d questions, want %d", status, len(found), want)
		}
	}
	instance := &Service{DB: tables.DB, Clock: func() time.Time { return start }}
	for what, audience := range map[string][]string{"the feed": nil,
		"the feed of an audience that nobody asks": {"ethics"}} {
		cost(what, func() error {
			page, next, err := instance.Feed(ctx, "me", audience, 20, "")
			if err == nil && (next == "" || len(page) != 20*(1-len(audience))) {
				t.Errorf("%s: got %d questions and the cursor %q; want a cursor", what, len(page), next)
			}
			return err
		})
	}
	for _, request := range []string{"first", "second"} {
		cost("the "+request+" standing of an instance", func() error {
			standing, err := instance.Stats(ctx, fmt.Sprintf("%064d", people-500), nil)
			if err == nil && (standing.Rank == nil || *standing.Rank != 500) {
				t.Errorf("got rank %v, want 500", standing.Rank)
			}
			return err
		})
	}
}
