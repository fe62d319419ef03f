package setup

import (
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// keyAge is for how long the platform's key is kept: an operator who replaces it waits no longer.
const keyAge = time.Hour

// WebhookSecrets returns the secrets of agents' webhooks, by the platform's key that the function's environment names.
func WebhookSecrets(environment kit.Environment, db *dynamo.DB) (*webhooks.Secrets, error) {
	arn, err := environment.Require(askahuman.WebhookSecretVariable)
	if err != nil {
		return nil, err
	}
	return &webhooks.Secrets{Key: kit.NewSecret(environment.AWS, arn[0], keyAge).Value, DB: db}, nil
}
