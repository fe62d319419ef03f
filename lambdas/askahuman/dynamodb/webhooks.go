package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

var _ webhooks.SecretStore = (*Store)(nil)

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
