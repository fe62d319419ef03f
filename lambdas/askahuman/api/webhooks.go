package api

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// bindWebhooks serves the routes of webhooks.
func (a *AgentAPI) bindWebhooks(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.ReadWebhookSecrets,
		func(ctx context.Context, r request) (askahuman.WebhookSecretList, error) {
			if err := a.checkAgent(ctx, r.Caller.ID); err != nil {
				return askahuman.WebhookSecretList{}, err
			}
			return secretList(a.Webhooks.Valid(ctx, r.Caller.ID))
		})
	httpapi.Bind(s, askahuman.RotateWebhookSecret,
		func(ctx context.Context, r request) (askahuman.WebhookSecretList, error) {
			if err := a.checkAgent(ctx, r.Caller.ID); err != nil {
				return askahuman.WebhookSecretList{}, err
			}
			return secretList(a.Webhooks.Rotate(ctx, r.Caller.ID))
		})
	httpapi.Bind(s, askahuman.TestWebhook,
		func(ctx context.Context, r requestWith[askahuman.WebhookTest]) (askahuman.WebhookTestSent, error) {
			id, err := a.WebhookTests.Test(ctx, r.Caller.ID, r.Body.CallbackURL)
			return askahuman.WebhookTestSent{WebhookID: id}, err
		})
}

func secretList(secrets []webhook.Secret, err error) (askahuman.WebhookSecretList, error) {
	list := askahuman.WebhookSecretList{Secrets: make([]string, len(secrets))}
	for i, secret := range secrets {
		list.Secrets[i] = secret.Reveal()
	}
	return list, err
}

// checkAgent returns [askahuman.ErrBlocked] if the agent is blocked.
func (a *AgentAPI) checkAgent(ctx context.Context, id string) error {
	if a.Parts.WithoutModeration {
		return nil
	}
	return a.Service.CheckAgent(ctx, id)
}
