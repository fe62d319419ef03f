package inmem

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
)

var (
	_ webhooks.SecretStore   = (*Store)(nil)
	_ webhooks.DeliveryStore = (*Store)(nil)
)

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

// Delivery implements [askahuman.AgentStore].
func (s *Store) Delivery(ctx context.Context, questionID string) (askahuman.Delivery, error) {
	return locked(ctx, s, func() (askahuman.Delivery, error) { return s.deliveries[questionID], nil })
}

// NoteDelivery implements [webhooks.DeliveryStore].
func (s *Store) NoteDelivery(ctx context.Context, questionID string, d askahuman.Delivery) error {
	return change(ctx, s, func() error {
		if s.deliveries == nil {
			s.deliveries = map[string]askahuman.Delivery{}
		}
		if s.deliveries[questionID].State != askahuman.DeliveryDone {
			s.deliveries[questionID] = d
		}
		return nil
	})
}
