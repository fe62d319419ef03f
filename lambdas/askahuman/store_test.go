package askahuman

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// An ask whose writes were done, and their answers lost, has its one question and its one place.
func TestLostAsk(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	store := &Service{DB: tables.DB}
	store.Rules = quotaOf(1)
	lost := map[string]bool{}
	tables.Wire.Answers(func(operation string) dynamotest.Answer {
		if lost[operation] {
			return dynamotest.Answer{}
		}
		lost[operation] = true
		return dynamotest.Answer{Done: true, Err: io.ErrUnexpectedEOF}
	})
	q := newQuestion("agent", 1)
	if err := store.createQuestion(t.Context(), q); err != nil || !lost["UpdateItem"] || !lost["PutItem"] {
		t.Fatalf("got %v; lost the answers to %v", err, lost)
	}
	if err := store.createQuestion(t.Context(), newQuestion("agent", 1)); !errors.Is(err, askahuman.ErrQuotaExceeded) {
		t.Errorf("got %v; want ErrQuotaExceeded", err)
	}
	if stored, err := store.question(t.Context(), q.ID, start); err != nil || stored.Prompt != q.Prompt {
		t.Errorf("got %+v, %v", stored, err)
	}
}

// Time to live deletes a question that nothing has marked, and an agent's list of open questions,
// in any order: no place is lost or returned twice, and nothing stays for ever.
func TestQuotaAfterTimeToLive(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	store := &Service{DB: tables.DB}
	store.Rules = quotaOf(2)
	ask := func() askahuman.Question {
		t.Helper()
		q := newQuestion("agent", 1)
		must.OK(t, store.createQuestion(ctx, q))
		return q
	}
	full := func() {
		t.Helper()
		if err := store.createQuestion(ctx, newQuestion("agent", 1)); !errors.Is(err, askahuman.ErrQuotaExceeded) {
			t.Errorf("got %v; want ErrQuotaExceeded", err)
		}
	}
	expire := func(table, key, value string) {
		t.Helper()
		must.Get(tables.Client.DeleteItem(ctx, &awsdynamodb.DeleteItemInput{
			TableName: &table, Key: map[string]types.AttributeValue{key: &types.AttributeValueMemberS{Value: value}},
		}))(t)
	}
	lists := func() []map[string]types.AttributeValue {
		t.Helper()
		guards := must.Get(tables.Client.Scan(ctx, &awsdynamodb.ScanInput{TableName: aws.String("Guards")}))(t)
		return guards.Items
	}

	lost, kept := ask(), ask()
	full()
	expire("Questions", "question_id", lost.ID)
	ask()
	full()
	if ended, err := store.endQuestion(ctx, lost, start); ended || err != nil {
		t.Errorf("ended a question that is gone: %v, %v", ended, err)
	}
	full()

	list := lists()[0]
	expire("Guards", "guard_key", list["guard_key"].(*types.AttributeValueMemberS).Value)
	if ended, err := store.endQuestion(ctx, kept, start); !ended || err != nil {
		t.Fatalf("EndQuestion: %v, %v", ended, err)
	}
	for _, item := range lists() {
		if item["expires_at"] == nil {
			t.Errorf("got %v; want an item that expires", item)
		}
	}
	ask()
	ask()
	full()
}

// A run of the notifier whose claim was done, and its answer lost, has the claim: it
// does not take its own write for another run's. A run that comes second has none.
func TestLostClaims(t *testing.T) {
	t.Parallel()
	ctx, database := t.Context(), askahuman.Platform().Database
	tables := dynamotest.Open(t, database)
	store := &Service{DB: tables.DB}
	q := newQuestion("agent", 1)
	must.OK(t, store.createQuestion(ctx, q))
	sub := must.Get(storedSubscription(ctx, store, subscriptionAt("token", "", start)))(t)
	known := sub
	known.ID, known.Token, known.PersonHash = uuid.NewString(), "another token", "person"
	must.Get(storedSubscription(ctx, store, known))(t)
	for _, claim := range []struct {
		name     string
		do       func() (bool, error)
		attempts int
	}{
		{"ClaimQuestion", func() (bool, error) {
			return store.claimQuestion(ctx, q, start, start.Add(time.Minute))
		}, 2},
		{"ClaimSubscription", func() (bool, error) { return store.claimSubscription(ctx, sub, q.ID, start) }, 2},
		// The person's answer is read, and both writes are lost.
		{"ClaimPerson", func() (bool, error) { return store.claimSubscription(ctx, known, q.ID, start) }, 5},
	} {
		for i, want := range []bool{true, false} {
			before, lost := tables.Wire.Attempts(), false
			tables.Wire.Answers(func(operation string) dynamotest.Answer {
				// The first of the two attempts at each write.
				if lost = operation != "GetItem" && !lost; lost {
					return dynamotest.Answer{Done: true, Err: io.ErrUnexpectedEOF}
				}
				return dynamotest.Answer{}
			})
			if got, err := claim.do(); got != want || err != nil ||
				want && tables.Wire.Attempts() != before+claim.attempts {
				t.Errorf("%s %d: got %v, %v after %d attempts; want %v", claim.name, i+1, got, err,
					tables.Wire.Attempts()-before, want)
			}
		}
	}
}

// A person whose subscription could not be claimed, be it that the write failed or that its answer never came, may be
// claimed at once.
func TestPersonIsGivenBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	store := &Service{DB: tables.DB}
	sub := must.Get(storedSubscription(ctx, store, subscriptionAt("token", "person", start)))(t)
	broken := errors.New("broken")
	second := func() func(schema.Action) error {
		writes := 0
		return func(operation schema.Action) error {
			if operation == schema.UpdateItem {
				writes++
			}
			if writes == 2 {
				writes++
				return broken
			}
			return nil
		}
	}
	none := func(schema.Action) error { return nil }
	for name, faults := range map[string][2]func(schema.Action) error{"failed": {second(), none},
		"unanswered": {none, second()}} {
		tables.Recorder.Faults(faults[0], faults[1])
		if claimed, err := store.claimSubscription(ctx, sub, uuid.NewString(), start); claimed ||
			!errors.Is(err, broken) {
			t.Errorf("%s: got %v, %v; want an error", name, claimed, err)
		}
		tables.Recorder.Faults(nil, nil)
		at := must.Get(store.dueSubscriptions(ctx, start, 10))(t)
		if len(at) != 1 || !at[0].LastNotifiedAt.Equal(askahuman.Never) {
			t.Errorf("%s: due %+v; want the subscription as it was", name, at)
		}
		if claimed, err := store.claimSubscription(ctx, sub, uuid.NewString(), start); !claimed || err != nil {
			t.Errorf("%s: then got %v, %v; want a claim", name, claimed, err)
		}
		must.OK(t, store.releaseSubscription(ctx, sub, start))
	}
}
