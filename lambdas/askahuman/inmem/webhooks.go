package inmem

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
)

var _ webhooks.SecretStore = (*Store)(nil)

// WebhookSecretVersion implements [webhooks.SecretStore].
func (s *Store) WebhookSecretVersion(ctx context.Context, agentID string) (webhooks.Version, error) {
	return locked(ctx, s, func() (webhooks.Version, error) { return s.versions[agentID], nil })
}

// RotateWebhookSecret implements [webhooks.SecretStore].
func (s *Store) RotateWebhookSecret(ctx context.Context, agentID string, next webhooks.Version) (bool, error) {
	return locked(ctx, s, func() (bool, error) {
		if s.versions[agentID].Number != next.Number-1 {
			return false, nil
		}
		if s.versions == nil {
			s.versions = map[string]webhooks.Version{}
		}
		s.versions[agentID] = next
		return true, nil
	})
}
