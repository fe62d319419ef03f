package setup

import (
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/secret"
	"github.com/onesynth-cdk/onesynth/schema"
)

// keyAge is for how long the platform's key is kept: an operator who replaces it waits no longer.
const keyAge = time.Hour

// WebhookSecrets returns the secrets of agents' webhooks, by the platform's key that the function's environment names.
func WebhookSecrets(environment kit.Environment, store webhooks.SecretStore) (*webhooks.Secrets, error) {
	arn, err := environment.Require(schema.WebhookSecretVariable)
	if err != nil {
		return nil, err
	}
	return &webhooks.Secrets{Key: secret.New(environment.AWS, arn[0], keyAge).Value, Store: store}, nil
}
