package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/rapidtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// shop has orders, and a table for the keys of the requests that make them.
func shop() schema.Database {
	return schema.Database{
		Tables: []schema.Table{
			{
				Name: "Orders", PhysicalName: "orders", Key: schema.Key{Partition: "id"},
				Attributes: []schema.Attribute{{Name: "id", Type: schema.String},
					{Name: "placed", Type: schema.Number}},
			},
			{
				Name: "Keys", PhysicalName: "keys", Key: schema.Key{Partition: "whose", Sort: "key"},
				TimeToLive: "gone_at",
				Attributes: append(schema.IdempotencyAttributes(),
					schema.Attribute{Name: "whose", Type: schema.String},
					schema.Attribute{Name: "key", Type: schema.String},
					schema.Attribute{Name: "gone_at", Type: schema.Number},
					schema.Attribute{Name: "made_at", Type: schema.Number}),
			},
		},
		AccessPatterns: append(schema.IdempotencyPatterns("Keys"), schema.ReadIdempotency("Keys"),
			schema.AccessPattern{Name: "GetOrder", Action: schema.GetItem, Table: "Orders", Consistent: true},
			schema.AccessPattern{Name: "PlaceOrder", Action: schema.TransactWriteItems, Writes: []schema.Write{
				{Table: "Orders", Action: schema.UpdateItem}, schema.KeepAnswer("Keys"),
			}},
			schema.AccessPattern{Name: "OpenOrder", Action: schema.TransactWriteItems, Writes: []schema.Write{
				{Table: "Orders", Action: schema.UpdateItem}, schema.ClaimKey("Keys"),
			}},
			schema.AccessPattern{Name: "CountOrder", Action: schema.UpdateItem, Table: "Orders"}),
	}
}

const scope = "alice"

var (
	start   = time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)
	request = []byte("POST /orders\n{}")
	created = idempotency.Response{Status: 201, Body: []byte(`{"order":"1"}`)}
	always  = expression.ConditionBuilder{}
	never   = expression.AttributeExists(expression.Name("no_such_attribute"))
)

// till is the shop's keys under a clock of the test's.
type till struct {
	*dynamotest.Tables
	keys *idempotency.Keys
	now  time.Time
}

func itemKey(scope, key string) []any { return []any{"IDEMPOTENCY#" + scope, "KEY#" + key} }

func open(t testing.TB) *till {
	t.Helper()
	s := &till{Tables: dynamotest.Open(t, shop()), now: start}
	s.keys = idempotency.New(s.DB, "Keys", itemKey)
	s.keys.Clock = func() time.Time { return s.now }
	s.keys.CreatedAt = "made_at"
	return s
}

const lease = 10 * time.Second

func (s *till) claim(t testing.TB, key string) *idempotency.Claim {
	t.Helper()
	claim, replay, err := s.keys.Begin(t.Context(), scope, key, request, lease)
	if claim == nil || replay != nil || err != nil {
		t.Fatalf("Begin(%s) = %v, %v, %v; want a claim", key, claim, replay, err)
	}
	return claim
}

// errRefused is an error of the work whose answer is kept.
var errRefused = errors.New("refused")

// do carries a request out.
func (s *till) do(t testing.TB, timing idempotency.Timing, key, content string,
	work func(context.Context) (any, error)) (response idempotency.Response, replayed bool, err error) {
	t.Helper()
	return idempotency.Request{
		Keys: s.keys, Scope: scope, Key: key, Content: []byte(content), Claim: timing, Answer: asItIs,
		Refusal: func(err error) (idempotency.Response, bool) {
			return idempotency.Response{Status: 400}, errors.Is(err, errRefused)
		},
	}.Do(t.Context(), work)
}

// wantReplayed checks that a request is answered with what was answered before.
func wantReplayed(t testing.TB, what string, want idempotency.Response) func(idempotency.Response, bool, error) {
	return func(got idempotency.Response, replayed bool, err error) {
		t.Helper()
		if err != nil || !replayed || got.Status != want.Status || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("%s: got %v, replayed %v, %v; want %v", what, got, replayed, err, want)
		}
	}
}

// place is the work of a request: it counts how often an order was placed.
func place(ctx context.Context, db *dynamo.DB, order string, response idempotency.Response,
	claim *idempotency.Claim) error {
	return idempotency.Transact(idempotency.WithClaim(ctx, claim, asItIs), db, "PlaceOrder", response,
		placed(order, always))
}

// asItIs is an answer that the work itself has made.
func asItIs(result any) (idempotency.Response, error) { return result.(idempotency.Response), nil }

func placed(order string, condition expression.ConditionBuilder) dynamo.Write {
	return dynamo.Update("Orders", []any{order}, expression.Add(expression.Name("placed"), expression.Value(1)),
		condition)
}

func (s *till) mustPlace(t testing.TB, order string, claim *idempotency.Claim) {
	t.Helper()
	if err := place(t.Context(), s.DB, order, created, claim); err != nil {
		t.Fatalf("place order: %v", err)
	}
}

// times is how often an order was placed.
func (s *till) times(t testing.TB, order string) int {
	t.Helper()
	var stored struct {
		Placed int `dynamodbav:"placed"`
	}
	must.Get(s.Get(context.Background(), "GetOrder", &stored, order))(t)
	return stored.Placed
}

func (s *till) stored(t testing.TB, key string) dynamo.Item {
	t.Helper()
	return s.Item(t, "Keys", itemKey(scope, key)...)
}

// wantTimes checks the times of a key that was claimed at the start.
func (s *till) wantTimes(t testing.TB, key string) {
	t.Helper()
	stored := s.stored(t, key)
	for name, at := range map[string]time.Time{"gone_at": start.Add(24 * time.Hour), "made_at": start} {
		got, _ := stored[name].(*types.AttributeValueMemberN)
		if want := strconv.FormatInt(at.Unix(), 10); got == nil || got.Value != want {
			t.Errorf("%s of %s is %v; want %s", name, key, stored[name], want)
		}
	}
}

// Begin's outcomes other than a claim.
func (s *till) wantReplay(t testing.TB, key string, want idempotency.Response) {
	t.Helper()
	claim, replay, err := s.keys.Begin(t.Context(), scope, key, request, lease)
	if claim != nil || err != nil || replay == nil {
		t.Fatalf("Begin(%s) = %v, %v, %v; want a replay", key, claim, replay, err)
	}
	if replay.Status != want.Status || !bytes.Equal(replay.Body, want.Body) {
		t.Errorf("got %d %q; want %d %q", replay.Status, replay.Body, want.Status, want.Body)
	}
}

func (s *till) wantRunning(t testing.TB, key string, until time.Time) {
	t.Helper()
	claim, replay, err := s.keys.Begin(t.Context(), scope, key, request, lease)
	if claim != nil || replay != nil || !isRunning(err, until) {
		t.Fatalf("Begin(%s) = %v, %v, %v; want that it is running until %v", key, claim, replay, err, until)
	}
}

func isRunning(err error, until time.Time) bool {
	running, ok := errors.AsType[*idempotency.RunningError](err)
	return ok && running.Until.Equal(until)
}

func (s *till) wantOther(t testing.TB, key string) {
	t.Helper()
	claim, replay, err := s.keys.Begin(t.Context(), scope, key, []byte("POST /orders\n{\"two\":2}"), lease)
	if claim != nil || replay != nil || !errors.Is(err, idempotency.ErrOtherRequest) {
		t.Errorf("Begin(%s) of another request = %v, %v, %v; want ErrOtherRequest", key, claim, replay, err)
	}
}

func TestLifeOfAKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	claim := s.claim(t, "key")
	if _, kept := claim.Kept(); kept {
		t.Error("an answer is kept before there is one")
	}
	if diff := cmp.Diff(itemKey(scope, "key"), claim.Key()); diff != "" {
		t.Errorf("key of the item (-want +got):\n%s", diff)
	}
	s.wantRunning(t, "key", start.Add(lease))
	s.wantOther(t, "key")

	s.mustPlace(t, "1", claim)
	if kept, ok := claim.Kept(); !ok || kept.Status != created.Status || !bytes.Equal(kept.Body, created.Body) {
		t.Errorf("got %v, %v kept; want %v", kept, ok, created)
	}
	s.wantReplay(t, "key", created)
	s.wantOther(t, "key")
	s.claim(t, "another key")
	if claim, _, err := s.keys.Begin(t.Context(), "bob", "key", request, lease); claim == nil || err != nil {
		t.Errorf("the same key of another scope: got %v, %v; want a claim", claim, err)
	}
	if n := s.times(t, "1"); n != 1 {
		t.Errorf("the order was placed %d times; want once", n)
	}

	// The stored item, as the schema describes it.
	stored := s.stored(t, "key")
	for _, absent := range []string{"claim", "claimed_until"} {
		if stored[absent] != nil {
			t.Errorf("an answered key still has %s", absent)
		}
	}
	s.wantTimes(t, "key")
	if got := stored["response_data"].(*types.AttributeValueMemberS).Value; got != string(created.Body) {
		t.Errorf("got body %q in the table; want %q", got, created.Body)
	}
}

// DynamoDB deletes late: what is still there after its time counts for nothing.
func TestExpiredKeyIsNew(t *testing.T) {
	t.Parallel()
	s := open(t)
	// Half a second later must not cut the retention short.
	s.now = start.Add(500 * time.Millisecond)
	begun := s.now
	s.mustPlace(t, "1", s.claim(t, "key"))
	s.now = begun.Add(idempotency.Retention - time.Millisecond)
	s.wantReplay(t, "key", created)
	s.wantOther(t, "key")

	s.now = begun.Add(idempotency.Retention + time.Second)
	claim, replay, err := s.keys.Begin(t.Context(), scope, "key", []byte("another request"), lease)
	if claim == nil || replay != nil || err != nil {
		t.Fatalf("Begin after the retention = %v, %v, %v; want a claim", claim, replay, err)
	}
	if stored := s.stored(t, "key"); stored["http_status_code"] != nil || stored["response_data"] != nil {
		t.Errorf("the new claim has the old answer: %v", stored)
	}
	s.wantOther(t, "key") // the first request is the other one now
	if err := place(t.Context(), s.DB, "2", created, claim); err != nil {
		t.Error(err)
	}
}

func TestTakeover(t *testing.T) {
	t.Parallel()
	s := open(t)
	zombie := s.claim(t, "key")
	s.now = start.Add(lease - time.Millisecond)
	s.wantRunning(t, "key", start.Add(lease))
	s.now = start.Add(lease)
	s.wantOther(t, "key")
	heir := s.claim(t, "key")

	// The first attempt was slow, not dead.
	if err := place(t.Context(), s.DB, "1", created, zombie); !errors.Is(err, idempotency.ErrClaimLost) {
		t.Errorf("the zombie's work: got %v; want ErrClaimLost", err)
	}
	if err := s.keys.Settle(t.Context(), zombie, idempotency.Response{Status: 400}); !errors.Is(err,
		idempotency.ErrClaimLost) {
		t.Errorf("the zombie's refusal: got %v; want ErrClaimLost", err)
	}
	if err := s.keys.Release(t.Context(), zombie); err != nil {
		t.Errorf("the zombie's release: %v", err)
	}
	s.wantRunning(t, "key", s.now.Add(lease))
	if n := s.times(t, "1"); n != 0 {
		t.Errorf("the zombie placed the order %d times", n)
	}

	s.mustPlace(t, "1", heir)
	if err := place(t.Context(), s.DB, "1", created, zombie); !errors.Is(err, idempotency.ErrClaimLost) {
		t.Errorf("the zombie's work after the heir's: got %v; want ErrClaimLost", err)
	}
	s.wantReplay(t, "key", created)
	if n := s.times(t, "1"); n != 1 {
		t.Errorf("the order was placed %d times; want once", n)
	}
}

// An attempt past its lease may still finish when no other has taken over.
func TestLateIsFineWithoutTakeover(t *testing.T) {
	t.Parallel()
	s := open(t)
	claim := s.claim(t, "key")
	s.now = start.Add(time.Hour)
	s.mustPlace(t, "1", claim)
	s.wantReplay(t, "key", created)
}

func TestSettle(t *testing.T) {
	t.Parallel()
	refusal := idempotency.Response{Status: 400, Body: []byte(`{"detail":"a completed task is not reopened"}`)}
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		claim := s.claim(t, "key")
		must.OK(t, s.keys.Settle(t.Context(), claim, refusal))
		if kept, ok := claim.Kept(); !ok || kept.Status != refusal.Status {
			t.Errorf("got %v, %v kept", kept, ok)
		}
		if err := s.keys.Release(t.Context(), claim); err != nil {
			t.Errorf("Release of what is settled: %v", err)
		}
		s.wantReplay(t, "key", refusal)
	})
	t.Run("AfterTheTransaction", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		claim := s.claim(t, "key")
		s.mustPlace(t, "1", claim)
		must.OK(t, s.keys.Settle(t.Context(), claim, refusal))
		s.wantReplay(t, "key", created)
	})
	t.Run("ErrClaimLost/KeyGone", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		claim := s.claim(t, "key")
		s.Remove(t, "Keys", itemKey(scope, "key")...)
		if err := s.keys.Settle(t.Context(), claim, refusal); !errors.Is(err, idempotency.ErrClaimLost) {
			t.Errorf("Settle: got %v; want ErrClaimLost", err)
		}
		if err := place(t.Context(), s.DB, "1", created, claim); !errors.Is(err, idempotency.ErrClaimLost) {
			t.Errorf("Transact: got %v; want ErrClaimLost", err)
		}
		if err := s.keys.Release(t.Context(), claim); err != nil {
			t.Errorf("Release: %v", err)
		}
		if s.stored(t, "key") != nil {
			t.Error("the key is back")
		}
	})
}

// A released key still belongs to its request, and lives a full day from its next
// claim.
func TestRelease(t *testing.T) {
	t.Parallel()
	s := open(t)
	first := s.claim(t, "key")
	// A request whose time is up needs it most.
	done, cancel := context.WithCancel(t.Context())
	cancel()
	must.OK(t, s.keys.Release(done, first))
	if err := place(t.Context(), s.DB, "1", created, first); !errors.Is(err, idempotency.ErrClaimLost) {
		t.Errorf("work after the release: got %v; want ErrClaimLost", err)
	}
	s.wantOther(t, "key")
	s.now = start.Add(time.Hour)
	second := s.claim(t, "key")
	s.wantRunning(t, "key", s.now.Add(lease))
	s.mustPlace(t, "1", second)
	s.now = start.Add(24*time.Hour + 30*time.Minute)
	s.wantReplay(t, "key", created)
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s := open(t)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, body := range map[string][]byte{
		"nil": nil, "empty": {}, "JSON": []byte(`{"a":"\u0000"}`), "NUL": {0}, "not UTF-8": {0xff, 0xfe},
		"every byte":     all,
		"lone surrogate": []byte("\xed\xa0\x80"), "unicode": []byte("☃ 👩‍👩‍👧 עברית"),
		"large": bytes.Repeat([]byte("é"), 150_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := idempotency.Response{Status: 200, Body: body}
			must.OK(t, s.keys.Settle(t.Context(), s.claim(t, name), response))
			s.wantReplay(t, name, response)
		})
	}
}

func asCreated(any) (idempotency.Response, error) { return created, nil }

func TestTransact(t *testing.T) {
	t.Parallel()
	t.Run("WithoutClaim", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		must.OK(t, idempotency.Transact(t.Context(), s.DB, "PlaceOrder", nil, placed("1", always)))
		if n := s.times(t, "1"); n != 1 || idempotency.ClaimFrom(t.Context()) != nil {
			t.Errorf("placed %d times", n)
		}
	})
	t.Run("ErrTransaction", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		claim := s.claim(t, "key")
		ctx := idempotency.WithClaim(t.Context(), claim, asCreated)
		if idempotency.ClaimFrom(ctx) != claim {
			t.Error("the context does not give its claim")
		}
		err := idempotency.Transact(ctx, s.DB, "PlaceOrder", nil, placed("1", never))
		refused, ok := errors.AsType[*dynamo.TransactionError](err)
		if !ok {
			t.Fatalf("got %v; want a transaction error", err)
		}
		if _, failed := refused.Failed(0); !failed {
			t.Error("the write whose condition does not hold is not among the failed")
		}
		// The work may be retried in another way under the same claim, once.
		must.OK(t, idempotency.Transact(ctx, s.DB, "PlaceOrder", nil, placed("1", always)))
		if err := idempotency.Transact(ctx, s.DB, "PlaceOrder", nil, placed("1", always)); err == nil ||
			s.times(t, "1") != 1 {
			t.Errorf("a second answer: got %v, and the order placed %d times", err, s.times(t, "1"))
		}
	})
	t.Run("ErrClaimLost/OverOtherConditions", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		claim := s.claim(t, "key")
		s.now = start.Add(lease)
		s.mustPlace(t, "1", s.claim(t, "key"))
		ctx := idempotency.WithClaim(t.Context(), claim, asCreated)
		if err := idempotency.Transact(ctx, s.DB, "PlaceOrder", nil, placed("1", never)); !errors.Is(err,
			idempotency.ErrClaimLost) {
			t.Errorf("got %v; want ErrClaimLost", err)
		}
	})
	t.Run("ErrAnswer", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		unfit := errors.New("unfit")
		ctx := idempotency.WithClaim(t.Context(), s.claim(t, "key"), func(any) (idempotency.Response, error) {
			return idempotency.Response{}, unfit
		})
		if err := idempotency.Transact(ctx, s.DB, "PlaceOrder", nil, placed("1", always)); !errors.Is(err, unfit) ||
			s.times(t, "1") != 0 {
			t.Errorf("got %v, and the order placed %d times", err, s.times(t, "1"))
		}
	})
	t.Run("OtherPlacesStay", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		ctx := idempotency.WithClaim(t.Context(), s.claim(t, "key"), asCreated)
		other := s.claim(t, "other").Key()
		writes := []dynamo.Write{placed("1", always),
			dynamo.Update("Keys", other, expression.Set(expression.Name("claim"), expression.Value("mine")), always)}
		must.OK(t, idempotency.Transact(ctx, s.DB, "PlaceOrder", nil, writes[:1]...))
		// The caller's array behind the writes that it passed has not changed.
		if err := s.DB.Transact(t.Context(), "PlaceOrder", writes...); err != nil || s.times(t, "1") != 2 {
			t.Errorf("the caller's writes: %v, placed %d times", err, s.times(t, "1"))
		}
	})
}

func TestLeaseOfTheInvocation(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.keys.Clock = nil
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	if claim, _, err := s.keys.Begin(ctx, scope, "key", request, 0); claim == nil || err != nil {
		t.Fatal(claim, err)
	}
	_, _, err := s.keys.Begin(ctx, scope, "key", request, 0)
	running, ok := errors.AsType[*idempotency.RunningError](err)
	if !ok {
		t.Fatalf("got %v; want a running error", err)
	}
	if running.Until.Before(deadline) {
		t.Errorf("the lease ends at %v, before the invocation's deadline %v", running.Until, deadline)
	}
}

func TestErrTable(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, table := range []string{"Orders", "None"} {
		if claim, replay, err := idempotency.New(s.DB, table, itemKey).Begin(t.Context(), scope, "key", request,
			lease); claim != nil || replay != nil || err == nil {
			t.Errorf("keys in %s: got %v, %v, %v; want an error", table, claim, replay, err)
		}
	}
}

// An attempt whose answers from the table are lost recognises its own writes.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	s := open(t)
	refusal := idempotency.Response{Status: 404, Body: []byte("{}")}

	s.Wire.Lose(2)
	claim := s.claim(t, "placed")
	s.Wire.Lose(2)
	if err := place(t.Context(), s.DB, "1", created, claim); err != nil || s.times(t, "1") != 1 {
		t.Errorf("got %v, and the order placed %d times; want once", err, s.times(t, "1"))
	}
	s.wantReplay(t, "placed", created)

	claim = s.claim(t, "settled")
	s.Wire.Lose(2)
	if err := s.keys.Settle(t.Context(), claim, refusal); err != nil {
		t.Errorf("Settle: %v", err)
	}
	s.wantReplay(t, "settled", refusal)

	claim = s.claim(t, "released")
	s.Wire.Lose(2)
	if err := s.keys.Release(t.Context(), claim); err != nil {
		t.Errorf("Release: %v", err)
	}
	s.claim(t, "released")

	// A transaction whose success stays unknown: the attempt gives up, and the next one gets the
	// answer.
	claim = s.claim(t, "unknown")
	s.Wire.Lose(100)
	if err := place(t.Context(), s.DB, "2", created, claim); !errors.Is(err, retry.ErrUnanswered) {
		t.Fatalf("got %v; want ErrUnanswered", err)
	}
	s.Wire.Lose(0)
	if err := s.keys.Release(t.Context(), claim); err != nil {
		t.Errorf("Release: %v", err)
	}
	s.wantReplay(t, "unknown", created)
	if n := s.times(t, "2"); n != 1 {
		t.Errorf("the order was placed %d times; want once", n)
	}
}

// unanswered is a context whose first request has no answer and is not made again; done says whether it
// is carried out.
func (s *till) unanswered(t testing.TB, done bool) context.Context {
	first := true
	s.Wire.Answers(func(string) (answer dynamotest.Answer) {
		if first {
			answer = dynamotest.Answer{Done: done, Err: io.ErrUnexpectedEOF}
		}
		first = false
		return answer
	})
	return retry.WithBudget(t.Context(), retry.NewBudget(1))
}

// A claim that may be stored, but whose answers were all lost, is released: the next attempt need
// not wait for the lease of an attempt that never began.
func TestUnansweredClaimIsReleased(t *testing.T) {
	t.Parallel()
	s := open(t)
	for name, done := range map[string]bool{"stored": true, "not stored": false} {
		once := s.unanswered(t, done)
		if claim, replay, err := s.keys.Begin(once, scope, name, request, lease); claim != nil || replay != nil ||
			!errors.Is(err, retry.ErrUnanswered) {
			t.Errorf("%s: got %v, %v, %v; want ErrUnanswered", name, claim, replay, err)
		}
		s.claim(t, name)
	}
}

// Each step of a history asks the table several times.
func TestMain(m *testing.M) { rapidtest.Main(m.Run, 40) }

// Random histories of attempts at one request, which die anywhere, resume late, and conflict: the
// work is done at most once, and every answer is the same.
func TestRandomAttempts(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, shop())
	var histories int
	rapid.Check(t, func(r *rapid.T) {
		histories++
		s := &till{Tables: tables, now: start}
		s.keys = idempotency.New(s.DB, "Keys", itemKey)
		s.keys.Clock = func() time.Time { return s.now }
		key := fmt.Sprint("key", histories)
		order := fmt.Sprint("order", histories)
		ctx := context.Background()

		var claims []*idempotency.Claim // of attempts that go on, or seem dead
		var given []idempotency.Response
		attempts := 0
		// Each attempt would answer something of its own.
		answerOf := func() idempotency.Response {
			attempts++
			return idempotency.Response{Status: 200 + attempts%4, Body: fmt.Append(nil, "attempt ", attempts)}
		}
		pick := func(r *rapid.T) *idempotency.Claim {
			if len(claims) == 0 {
				r.Skip("no attempt goes on")
			}
			return rapid.SampledFrom(claims).Draw(r, "attempt")
		}
		committed := 0
		r.Repeat(map[string]func(*rapid.T){
			"begin": func(r *rapid.T) {
				claim, replay, err := s.keys.Begin(ctx, scope, key, request, lease)
				_, running := errors.AsType[*idempotency.RunningError](err)
				switch {
				case claim != nil:
					claims = append(claims, claim)
				case replay != nil:
					given = append(given, *replay)
				case !running:
					r.Fatalf("Begin: %v", err)
				}
			},
			"begin deferred": func(r *rapid.T) {
				claim, replay, err := s.keys.Begin(ctx, scope, key, request, idempotency.Deferred)
				if claim == nil || replay != nil || err != nil {
					r.Fatalf("Begin: %v, %v, %v", claim, replay, err)
				}
				claims = append(claims, claim)
			},
			"begin work": func(r *rapid.T) {
				err := idempotency.Claiming(idempotency.WithClaim(ctx, pick(r), nil), s.DB, "OpenOrder",
					placed("open", always))
				if err != nil && !errors.Is(err, idempotency.ErrClaimLost) {
					r.Fatalf("Claiming: %v", err)
				}
			},
			"begin other": func(r *rapid.T) {
				free := s.stored(t, key) == nil
				claim, replay, err := s.keys.Begin(ctx, scope, key, []byte("other"), lease)
				if claim != nil && free {
					// The other came first; it steps back, and the key with it.
					s.Remove(t, "Keys", itemKey(scope, key)...)
					return
				}
				if claim != nil || replay != nil || !errors.Is(err, idempotency.ErrOtherRequest) {
					r.Fatalf("Begin of another request: %v, %v, %v", claim, replay, err)
				}
			},
			"work": func(r *rapid.T) {
				claim, response := pick(r), answerOf()
				if _, kept := claim.Kept(); kept {
					return
				}
				switch err := place(ctx, s.DB, order, response, claim); {
				case err == nil:
					committed++
					given = append(given, response)
				case !errors.Is(err, idempotency.ErrClaimLost):
					r.Fatalf("Transact: %v", err)
				}
			},
			"refuse": func(r *rapid.T) {
				claim, response := pick(r), answerOf()
				_, kept := claim.Kept()
				switch err := s.keys.Settle(ctx, claim, response); {
				case err == nil && !kept:
					given = append(given, response)
				case err != nil && !errors.Is(err, idempotency.ErrClaimLost):
					r.Fatalf("Settle: %v", err)
				}
			},
			"release": func(r *rapid.T) {
				if err := s.keys.Release(ctx, pick(r)); err != nil {
					r.Fatalf("Release: %v", err)
				}
			},
			"time passes": func(r *rapid.T) {
				s.now = s.now.Add(time.Duration(rapid.IntRange(1, 15).Draw(r, "seconds")) * time.Second)
			},
			"": func(r *rapid.T) {
				if n := s.times(t, order); n > 1 || n != committed {
					r.Fatalf("the work was done %d times, and %d attempts say that they did it", n, committed)
				}
				for _, response := range given {
					if response.Status != given[0].Status || !bytes.Equal(response.Body, given[0].Body) {
						r.Fatalf("answers differ: %d %q and %d %q", given[0].Status, given[0].Body, response.Status,
							response.Body)
					}
				}
			},
		})
	})
}

// A request that claims its key with the work's transaction makes no request of its own before that, and
// has the outcome that a claimed one has.
func TestWithWrite(t *testing.T) {
	t.Parallel()
	s := open(t)
	// do does the work, which is refused instead if refusal says so.
	do := func(key, content string, refusal bool) (idempotency.Response, bool, error) {
		return s.do(t, idempotency.WithWrite, key, content, func(ctx context.Context) (any, error) {
			if refusal {
				return nil, errRefused
			}
			return created, idempotency.Transact(ctx, s.DB, "PlaceOrder", created, placed(key, always))
		})
	}
	s.Recorder.Requests()
	for range 3 {
		response, _, err := do("new", string(request), false)
		if err != nil || response.Status != created.Status || !bytes.Equal(response.Body, created.Body) ||
			s.times(t, "new") != 1 {
			t.Errorf("got %v, %v, placed %d times; want %v once", response, err, s.times(t, "new"), created)
		}
	}
	if made := s.Recorder.Requests(); made[0].Action != schema.TransactWriteItems {
		t.Errorf("the first request was %v", made[0])
	}
	s.wantReplay(t, "new", created)
	s.wantOther(t, "new")
	s.wantTimes(t, "new")

	// A refusal is kept. A later attempt that would succeed, or be refused otherwise, has it again.
	for i, again := range []bool{true, true, false} {
		if response, replayed, err := do("refused", string(request), again); err != nil || response.Status != 400 ||
			replayed != (i > 0) {
			t.Errorf("got %v, replayed %v, %v; want the refusal", response, replayed, err)
		}
	}
	for _, refusal := range []bool{true, false} {
		wantReplayed(t, "a repeat", created)(do("new", string(request), refusal))
		if _, _, err := do("new", "another request", refusal); !errors.Is(err, idempotency.ErrOtherRequest) {
			t.Errorf("another request: got %v", err)
		}
		s.claim(t, fmt.Sprint("running ", refusal))
		if _, _, err := do(fmt.Sprint("running ", refusal), string(request), refusal); !isRunning(err,
			start.Add(lease)) {
			t.Errorf("got %v; want that the attempt that holds the key is running", err)
		}
	}
}

// Attempts that race, whenever they claim the key: one does the work, and each that is answered has its answer.
// The others learn that it is running, or, if all do the work, that another has committed.
func TestRaces(t *testing.T) {
	t.Parallel()
	for name, timing := range map[string]idempotency.Timing{"BeforeWork": idempotency.BeforeWork,
		"WithWrite": idempotency.WithWrite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			var group sync.WaitGroup
			var mu sync.Mutex
			given := map[string]int{}
			attempt := func(i int) (again bool) {
				answer := idempotency.Response{Status: 201, Body: fmt.Append(nil, "made by ", i)}
				response, _, err := idempotency.Request{
					Keys: s.keys, Scope: scope, Key: "key", Content: request, Claim: timing,
					Answer: func(any) (idempotency.Response, error) { return answer, nil },
				}.Do(t.Context(), func(ctx context.Context) (any, error) {
					s.times(t, "1")
					return nil, idempotency.Transact(ctx, s.DB, "PlaceOrder", nil, placed("1", always))
				})
				_, running := errors.AsType[*idempotency.RunningError](err)
				switch {
				case err == nil:
					mu.Lock()
					given[string(response.Body)]++
					mu.Unlock()
				case timing == idempotency.WithWrite:
					if !errors.Is(err, retry.ErrBusy) {
						t.Error(err)
						return false
					}
					return true
				case !running:
					t.Error(err)
				}
				return false
			}
			for i := range 24 {
				group.Go(func() {
					for attempt(i) {
					}
				})
			}
			group.Wait()
			if n := s.times(t, "1"); n != 1 || len(given) != 1 {
				t.Errorf("the work was done %d times, and answered with %v; want once and one answer", n, given)
			}
		})
	}
}

// Nothing is written and nothing else answered if the request has been carried out, is running, or is another one's:
// the outcome of the work does not matter, also if it fails before it writes.
func TestWithWriteOfAnother(t *testing.T) {
	t.Parallel()
	s := open(t)
	failed := errors.New("failed")
	do := func(key, content string, work func(context.Context) (any, error)) (idempotency.Response, bool, error) {
		return s.do(t, idempotency.WithWrite, key, content, work)
	}
	count := func(ctx context.Context) (any, error) {
		return created, s.Update(ctx, "CountOrder", []any{"counted"},
			expression.Add(expression.Name("placed"), expression.Value(1)), always, nil)
	}
	works := map[string]struct {
		work func(context.Context) (any, error)
		want int
		err  error
	}{
		"transaction": {func(ctx context.Context) (any, error) {
			return created, idempotency.Transact(ctx, s.DB, "PlaceOrder", created, placed("placed", always))
		}, 201, nil},
		"beginning": {func(ctx context.Context) (any, error) {
			return created, idempotency.Claiming(ctx, s.DB, "OpenOrder", placed("opened", always))
		}, 201, nil},
		"write":   {count, 201, nil},
		"nothing": {func(context.Context) (any, error) { return created, nil }, 201, nil},
		"refusal": {func(context.Context) (any, error) { return nil, errRefused }, 400, nil},
		"failure": {func(context.Context) (any, error) { return nil, failed }, 0, failed},
	}
	written := func() int { return s.times(t, "placed") + s.times(t, "opened") + s.times(t, "counted") }
	for name, test := range works {
		before := written()
		s.claim(t, name+" running")
		if _, _, err := do(name+" running", string(request), test.work); !isRunning(err, start.Add(lease)) {
			t.Errorf("%s, while another attempt is running: got %v", name, err)
		}
		if _, _, err := do(name+" running", "other", test.work); !errors.Is(err, idempotency.ErrOtherRequest) {
			t.Errorf("%s, another request: got %v", name, err)
		}
		kept := idempotency.Response{Status: 409, Body: []byte("kept")}
		must.OK(t, s.keys.Settle(t.Context(), s.claim(t, name+" done"), kept))
		wantReplayed(t, name+", after the answer", kept)(do(name+" done", string(request), test.work))
		if after := written(); after != before {
			t.Errorf("%s: %d writes without a claim", name, after-before)
		}
		response, replayed, err := do(name, string(request), test.work)
		if response.Status != test.want || replayed || !errors.Is(err, test.err) {
			t.Errorf("%s: got %v, replayed %v, %v", name, response, replayed, err)
		}
		if test.err == nil {
			s.wantReplay(t, name, response)
		} else {
			s.claim(t, name) // no claim is left behind
		}
	}

	// Work that fails reads the key once. If that fails, too, or the answer has expired, its own error stands.
	s.Recorder.Requests()
	if _, _, err := do("fails", string(request), works["failure"].work); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if made := s.Recorder.Requests(); len(made) != 1 || made[0].Action != schema.GetItem {
		t.Errorf("work that fails makes the requests %v", made)
	}
	s.now = start.Add(idempotency.Retention)
	if _, _, err := do("failure done", string(request), works["failure"].work); !errors.Is(err, failed) {
		t.Errorf("after a day: got %v", err)
	}
	s.now = start
	s.Recorder.Faults(func(schema.Action) error { return errors.New("no table") }, nil)
	if _, _, err := do("failure done", string(request), works["failure"].work); !errors.Is(err, failed) {
		t.Errorf("without the table: got %v", err)
	}
	s.Recorder.Faults(nil, nil)

	// A claim that AWS refuses is made once, and the work writes nothing.
	before := written()
	s.Wire.Answers(func(operation string) dynamotest.Answer {
		if operation == "UpdateItem" {
			return dynamotest.Throttled()
		}
		return dynamotest.Answer{}
	})
	sent := s.Wire.Attempts()
	once := idempotency.Request{Keys: s.keys, Scope: scope, Key: "busy", Content: request,
		Claim: idempotency.WithWrite}
	_, _, err := once.Do(retry.WithBudget(t.Context(), retry.NewBudget(1)), count)
	if sent = s.Wire.Attempts() - sent; !errors.Is(err, retry.ErrBusy) || sent != 1 || written() != before {
		t.Errorf("got %v after %d requests, %d writes", err, sent, written()-before)
	}
}

// The transaction with which the work begins claims the key, and the one that completes it keeps the
// answer: two requests in all.
func TestClaiming(t *testing.T) {
	t.Parallel()
	s := open(t)
	// do opens an order, does what is meant to happen meanwhile, and places the order.
	do := func(key, content string, condition expression.ConditionBuilder,
		meanwhile func() error) (idempotency.Response, bool, error) {
		return s.do(t, idempotency.WithWrite, key, content, func(ctx context.Context) (any, error) {
			if err := idempotency.Claiming(ctx, s.DB, "OpenOrder", placed(key, condition)); err != nil {
				return nil, err
			}
			if err := meanwhile(); err != nil {
				return nil, err
			}
			return created, idempotency.Transact(ctx, s.DB, "PlaceOrder", created, placed(key, always))
		})
	}
	nothing := func() error { return nil }
	s.Recorder.Requests()
	response, replayed, err := do("key", string(request), always, func() error {
		s.wantRunning(t, "key", start.Add(idempotency.DefaultLease))
		// A second attempt opens nothing, another request neither.
		if _, _, err := do("key", string(request), always, nothing); !isRunning(err,
			start.Add(idempotency.DefaultLease)) || s.times(t, "key") != 1 {
			t.Errorf("meanwhile: got %v, opened %d times", err, s.times(t, "key"))
		}
		if _, _, err := do("key", "other", always, nothing); !errors.Is(err, idempotency.ErrOtherRequest) {
			t.Errorf("another request: got %v", err)
		}
		s.Recorder.Requests()
		return nil
	})
	if made := s.Recorder.Requests(); err != nil || replayed || response.Status != created.Status || len(made) != 1 ||
		s.times(t, "key") != 2 {
		t.Errorf("got %v, replayed %v, %v after %v", response, replayed, err, made)
	}
	wantReplayed(t, "the repeat", created)(do("key", string(request), always, nothing))
	if n := s.times(t, "key"); n != 2 {
		t.Errorf("placed %d times", n)
	}

	// A refused transaction leaves no claim, and neither does one whose work fails after it.
	if _, _, err := do("refused", string(request), never, nothing); err == nil || s.stored(t, "refused") != nil {
		t.Errorf("got %v, and the key %v", err, s.stored(t, "refused"))
	}
	failed := errors.New("failed")
	if _, _, err := do("failed", string(request), always, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if _, replayed, err := do("failed", string(request), always, nothing); err != nil || replayed {
		t.Errorf("after a failure: replayed %v, %v", replayed, err)
	}
	// An answer that is lost on the way is asked for again; one that never comes releases the claim.
	s.Wire.Lose(2)
	if _, _, err := do("lost", string(request), always, nothing); err != nil || s.times(t, "lost") != 2 {
		t.Errorf("got %v, placed %d times", err, s.times(t, "lost"))
	}
	claim, _, err := s.keys.Begin(t.Context(), scope, "unanswered", request, idempotency.Deferred)
	must.OK(t, err)
	once := s.unanswered(t, true)
	if err := idempotency.Claiming(idempotency.WithClaim(once, claim, nil), s.DB, "OpenOrder",
		placed("unanswered", always)); !errors.Is(err, retry.ErrUnanswered) {
		t.Errorf("got %v; want ErrUnanswered", err)
	}
	s.claim(t, "unanswered")
}
