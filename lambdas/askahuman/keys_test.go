package askahuman

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// created answers a request with the id of the question that it made.
func created(result any) (idempotency.Response, error) {
	return idempotency.Response{Status: 201, Body: []byte(result.(askahuman.Question).ID)}, nil
}

// A question that is asked under a claim is stored with its answer, or not at all.
func TestCreateQuestionUnderClaim(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := &Service{DB: dynamotest.Open(t, askahuman.Platform().Database).DB}
	keys := store.Keys()
	now := start
	keys.Clock = func() time.Time { return now }
	// Callers' own text may be longer than a key of a table.
	agent, key := strings.Repeat("é", askahuman.MaxAgentIDLength), strings.Repeat("☃", 255)
	begin := func() (*idempotency.Claim, *idempotency.Response) {
		t.Helper()
		claim, replay, err := keys.Begin(ctx, agent, key, []byte("request"), time.Second)
		must.OK(t, err)
		return claim, replay
	}
	stored := func(q askahuman.Question) bool {
		_, err := store.question(ctx, q.ID, start)
		return !errors.Is(err, askahuman.ErrQuestionNotFound)
	}

	slow, _ := begin()
	now = now.Add(time.Second)
	heir, _ := begin()
	late := newQuestion(agent, 3)
	if err := store.createQuestion(idempotency.WithClaim(ctx, slow, created), late); !errors.Is(err,
		idempotency.ErrClaimLost) || stored(late) {
		t.Errorf("under a claim that was taken over: got %v, stored %v; want ErrClaimLost", err, stored(late))
	}

	must.OK(t, keys.Release(ctx, slow)) // which leaves the heir's claim
	q := newQuestion(agent, 3)
	if err := store.createQuestion(idempotency.WithClaim(ctx, heir, created), q); err != nil || !stored(q) {
		t.Errorf("under the claim of the heir: got %v, stored %v", err, stored(q))
	}
	if claim, replay := begin(); claim != nil || replay == nil || string(replay.Body) != q.ID {
		t.Errorf("a repeat: got %v, %v; want the answer with %s", claim, replay, q.ID)
	}
	if claim, _, err := keys.Begin(ctx, "another agent", key, []byte("request"), time.Second); claim == nil ||
		err != nil {
		t.Errorf("another agent's key: got %v, %v; want a claim", claim, err)
	}
}
