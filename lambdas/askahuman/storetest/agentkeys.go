package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
)

// RunAgentKeys is [Run] for stores of agents' keys.
func RunAgentKeys(t *testing.T, newStore func(t *testing.T) askahuman.AgentKeyStore) {
	for name, check := range map[string]func(t *testing.T, s askahuman.AgentKeyStore){
		"Kept":             agentKeyKept,
		"NotFound":         agentKeyNotFound,
		"Revoke":           agentKeyRevoked,
		"MarkUsed":         agentKeyMarked,
		"MarkUsed/Race":    agentKeyMarkRace,
		"MarkUsed/Refused": agentKeyMarkRefused,
		"Cancelled":        agentKeysCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newStore(t))
		})
	}
}

func mustKeep(t *testing.T, s askahuman.AgentKeyStore, key, agentID string) askahuman.AgentKey {
	t.Helper()
	kept := askahuman.AgentKey{Hash: askahuman.HashAgentKey(key), AgentID: agentID, CreatedAt: start}
	OK(t, s.CreateAgentKey(t.Context(), kept))
	return kept
}

// holdsKeys checks that the store has those keys, both one by one and in the list.
func holdsKeys(t *testing.T, s askahuman.AgentKeyStore, want ...askahuman.AgentKey) {
	t.Helper()
	got := Must(s.AgentKeys(t.Context()))(t)
	byHash := cmpopts.SortSlices(func(a, b askahuman.AgentKey) bool { return a.Hash < b.Hash })
	if diff := cmp.Diff(want, got, byHash, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("AgentKeys (-want +got):\n%s", diff)
	}
	for _, key := range want {
		got := Must(s.AgentKey(t.Context(), key.Hash))(t)
		if diff := cmp.Diff(key, got, cmpopts.IgnoreFields(askahuman.AgentKey{}, "CreatedAt")); diff != "" {
			t.Errorf("AgentKey (-want +got):\n%s", diff)
		}
	}
}

func agentKeyKept(t *testing.T, s askahuman.AgentKeyStore) {
	holdsKeys(t, s)
	first, second, other := mustKeep(t, s, "first", awkward), mustKeep(t, s, "second", awkward), mustKeep(t, s, "third", "other")
	mustKeep(t, s, "first", awkward) // as after an answer that was lost
	holdsKeys(t, s, first, second, other)
}

func agentKeyNotFound(t *testing.T, s askahuman.AgentKeyStore) {
	mustKeep(t, s, "key", "agent")
	unknown := askahuman.HashAgentKey("another")
	if _, err := s.AgentKey(t.Context(), unknown); !errors.Is(err, askahuman.ErrAgentKeyNotFound) {
		t.Errorf("AgentKey: got %v", err)
	}
	if err := s.RevokeAgentKey(t.Context(), unknown, start); !errors.Is(err, askahuman.ErrAgentKeyNotFound) {
		t.Errorf("RevokeAgentKey: got %v", err)
	}
	if marked, err := s.MarkAgentKeyUsed(t.Context(), unknown, start, start); marked || err != nil {
		t.Errorf("MarkAgentKeyUsed: got %v, %v", marked, err)
	}
	if _, err := s.AgentKey(t.Context(), unknown); !errors.Is(err, askahuman.ErrAgentKeyNotFound) {
		t.Errorf("to revoke or mark a key that is not there made one: %v", err)
	}
}

func agentKeyRevoked(t *testing.T, s askahuman.AgentKeyStore) {
	key, other := mustKeep(t, s, "key", "agent"), mustKeep(t, s, "other", "agent")
	key.RevokedAt = start.Add(time.Minute)
	for _, at := range []time.Duration{time.Minute, time.Hour} {
		OK(t, s.RevokeAgentKey(t.Context(), key.Hash, start.Add(at)))
	}
	holdsKeys(t, s, key, other)
}

func agentKeyMarked(t *testing.T, s askahuman.AgentKeyStore) {
	key := mustKeep(t, s, "key", "agent")
	for _, use := range []struct {
		after  time.Duration
		marked bool
	}{{0, true}, {59 * time.Minute, false}, {time.Hour, true}, {90 * time.Minute, false}} {
		now := start.Add(use.after)
		marked, err := s.MarkAgentKeyUsed(t.Context(), key.Hash, now.Add(-time.Hour), now)
		if err != nil || marked != use.marked {
			t.Errorf("after %s: got %v, %v; want %v", use.after, marked, err, use.marked)
		}
		if marked {
			key.LastUsedAt = now
		}
		holdsKeys(t, s, key)
	}
}

func agentKeyMarkRace(t *testing.T, s askahuman.AgentKeyStore) {
	key := mustKeep(t, s, "key", "agent")
	claimOnce(t, 16, func(int) (bool, error) {
		return s.MarkAgentKeyUsed(t.Context(), key.Hash, start.Add(-time.Hour), start)
	})
}

func agentKeyMarkRefused(t *testing.T, s askahuman.AgentKeyStore) {
	key := mustKeep(t, s, "key", "agent")
	key.RevokedAt = start
	OK(t, s.RevokeAgentKey(t.Context(), key.Hash, start))
	if marked, err := s.MarkAgentKeyUsed(t.Context(), key.Hash, start, start.Add(time.Hour)); marked || err != nil {
		t.Errorf("a revoked key: got %v, %v", marked, err)
	}
	holdsKeys(t, s, key)
}

func agentKeysCancelled(t *testing.T, s askahuman.AgentKeyStore) {
	key := mustKeep(t, s, "key", "agent")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, read := s.AgentKey(ctx, key.Hash)
	_, listed := s.AgentKeys(ctx)
	_, marked := s.MarkAgentKeyUsed(ctx, key.Hash, start, start)
	for name, err := range map[string]error{
		"AgentKey": read, "AgentKeys": listed, "MarkAgentKeyUsed": marked,
		"CreateAgentKey": s.CreateAgentKey(ctx, key), "RevokeAgentKey": s.RevokeAgentKey(ctx, key.Hash, start),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v; want context.Canceled", name, err)
		}
	}
}
