package clarity_test

import (
	"context"
	"errors"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// A key that is claimed before the work keeps a refusal.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	keys := service.Keys(w.DB)
	keys.Clock = w.Read
	begin := func() (*idempotency.Claim, *idempotency.Response) {
		t.Helper()
		claim, kept, err := keys.Begin(t.Context(), "ann", "a key", []byte("request"), time.Minute)
		must.OK(t, err)
		return claim, kept
	}
	claim, kept := begin()
	if kept != nil {
		t.Fatalf("got %+v", kept)
	}
	must.OK(t, keys.Settle(t.Context(), claim, idempotency.Response{Status: 409}))
	if _, kept := begin(); kept == nil || kept.Status != 409 {
		t.Errorf("got %+v", kept)
	}
	// Work that fails before it writes reads the key.
	_, replayed, err := idempotency.Request{Keys: keys, Scope: "ann", Key: "a key", Content: []byte("request"),
		Claim: idempotency.WithWrite}.Do(t.Context(), func(context.Context) (any, error) {
		return nil, errors.New("failed")
	})
	if !replayed || err != nil {
		t.Errorf("after work that fails: got %t, %v", replayed, err)
	}
}
