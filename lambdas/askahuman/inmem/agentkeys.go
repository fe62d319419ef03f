package inmem

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
)

var _ askahuman.AgentKeyStore = (*AgentKeys)(nil)

// AgentKeys implements [askahuman.AgentKeyStore]. The zero value is empty and ready.
// It is safe for concurrent use.
type AgentKeys struct {
	mu   sync.Mutex
	keys map[string]askahuman.AgentKey // by hash
}

// CreateAgentKey implements [askahuman.AgentKeyStore].
func (s *AgentKeys) CreateAgentKey(ctx context.Context, key askahuman.AgentKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[string]askahuman.AgentKey{}
	}
	s.keys[key.Hash] = key
	return nil
}

// AgentKey implements [askahuman.AgentKeyStore].
func (s *AgentKeys) AgentKey(ctx context.Context, hash string) (askahuman.AgentKey, error) {
	if err := ctx.Err(); err != nil {
		return askahuman.AgentKey{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.keys[hash]
	if !ok {
		return askahuman.AgentKey{}, askahuman.ErrAgentKeyNotFound
	}
	return key, nil
}

// AgentKeys implements [askahuman.AgentKeyStore].
func (s *AgentKeys) AgentKeys(ctx context.Context) ([]askahuman.AgentKey, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.keys)), nil
}

// RevokeAgentKey implements [askahuman.AgentKeyStore].
func (s *AgentKeys) RevokeAgentKey(ctx context.Context, hash string, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.keys[hash]
	if !ok {
		return askahuman.ErrAgentKeyNotFound
	}
	if key.RevokedAt.IsZero() {
		key.RevokedAt = now
		s.keys[hash] = key
	}
	return nil
}

// MarkAgentKeyUsed implements [askahuman.AgentKeyStore].
func (s *AgentKeys) MarkAgentKeyUsed(ctx context.Context, hash string, since, now time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.keys[hash]
	if !ok || !key.RevokedAt.IsZero() || key.LastUsedAt.After(since) {
		return false, nil
	}
	key.LastUsedAt = now
	s.keys[hash] = key
	return true, nil
}
