package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

var (
	_ webhooks.SecretStore   = (*Store)(nil)
	_ webhooks.DeliveryStore = (*Store)(nil)
)

// webhookSecret is a key in the Guards table.
func webhookSecret(agentID string) []any { return []any{"WEBHOOKS#" + digest(agentID)} }

// WebhookSecretVersion implements [webhooks.SecretStore].
func (s *Store) WebhookSecretVersion(ctx context.Context, agentID string) (version webhooks.Version, err error) {
	_, err = s.db.Get(ctx, "GetWebhookSecret", &version, webhookSecret(agentID)...)
	return version, err
}

// RotateWebhookSecret implements [webhooks.SecretStore].
func (s *Store) RotateWebhookSecret(ctx context.Context, agentID string, next webhooks.Version) (bool, error) {
	number := dynamo.Name("secret_version")
	former := number.Equal(expression.Value(next.Number - 1))
	if next.Number == 1 {
		former = dynamo.Absent("secret_version")
	}
	times := make([]string, len(next.Rotated))
	for i, at := range next.Rotated {
		times[i] = formatTime(at)
	}
	return dynamo.Held(s.db.Update(ctx, "RotateWebhookSecret", webhookSecret(agentID),
		expression.Set(number, expression.Value(next.Number)).Set(dynamo.Name("rotated_at"), expression.Value(times)), former, nil))
}

// delivery is a key in the Guards table.
func delivery(questionID string) []any { return []any{"DELIVERY#" + questionID} }

// Delivery implements [askahuman.AgentStore].
func (s *Store) Delivery(ctx context.Context, questionID string) (d askahuman.Delivery, err error) {
	_, err = s.db.Get(ctx, "GetDelivery", &d, delivery(questionID)...)
	return d, err
}

// NoteDelivery implements [webhooks.DeliveryStore]. The item is kept for as long as a closed question.
func (s *Store) NoteDelivery(ctx context.Context, questionID string, d askahuman.Delivery) error {
	state, next := dynamo.Name("delivery"), dynamo.Name("next_attempt_at")
	update := expression.Set(state, expression.Value(d.State)).
		Set(dynamo.Name("attempts"), expression.Value(d.Attempts)).
		Set(dynamo.Name("attempted_at"), expression.Value(formatTime(d.AttemptedAt))).
		Set(dynamo.Name("expires_at"), expression.Value(dynamo.ExpiryAt(d.AttemptedAt.Add(askahuman.KeepClosed+24*time.Hour))))
	if d.NextAttemptAt.IsZero() {
		update = update.Remove(next)
	} else {
		update = update.Set(next, expression.Value(formatTime(d.NextAttemptAt)))
	}
	// A duplicate of the message may fail later.
	_, err := dynamo.Held(s.db.Update(ctx, "NoteDelivery", delivery(questionID), update, state.NotEqual(expression.Value(askahuman.DeliveryDone)), nil))
	return err
}
