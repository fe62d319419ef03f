package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

// WebhookSecrets are the secrets that sign an agent's webhooks; [webhooks.Secrets] is one.
//
// [webhooks.Secrets]: https://pkg.go.dev/github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks#Secrets
type WebhookSecrets interface {
	// Valid returns those that are valid now, the present one first, and Rotate makes another one the present one first.
	Valid(ctx context.Context, agentID string) ([]webhook.Secret, error)
	Rotate(ctx context.Context, agentID string) ([]webhook.Secret, error)
}

// WebhookSecretList are the secrets of an agent.
type WebhookSecretList struct {
	Secrets []string `json:"secrets" nullable:"false" minItems:"1" doc:"The secrets whose signatures webhooks have: the present one, and former ones that are still valid. A receiver accepts a webhook with a signature by any of them." example:"[\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]"`
}

func secretList(secrets []webhook.Secret, err error) (WebhookSecretList, error) {
	list := WebhookSecretList{Secrets: make([]string, len(secrets))}
	for i, secret := range secrets {
		list.Secrets[i] = secret.Reveal()
	}
	return list, err
}

// registerWebhooks declares the routes of webhooks.
func (a *AgentAPI) registerWebhooks(s *httpapi.Server) {
	httpapi.Serve(s, httpapi.Operation{
		Method: http.MethodGet, Path: "/agent/webhook-secrets", ID: "readWebhookSecrets", Status: http.StatusOK,
		Description: "Returns the secrets with which the agent's webhooks are signed, as Standard Webhooks 1.0.0 says. Each agent has secrets of its own.",
	}, func(ctx context.Context, _ *struct{}) (WebhookSecretList, error) {
		return secretList(a.Webhooks.Valid(ctx, caller(ctx)))
	})
	httpapi.Serve(s, httpapi.Operation{
		Method: http.MethodPost, Path: "/agent/webhook-secrets", ID: "rotateWebhookSecret", Status: http.StatusOK,
		Description: "Makes another secret the present one. The former one is valid for 24 hours more: until then webhooks have a signature by each. At most six former ones are valid.",
	}, func(ctx context.Context, _ *struct{}) (WebhookSecretList, error) {
		return secretList(a.Webhooks.Rotate(ctx, caller(ctx)))
	})
}

// callbackForm is the form of callback_url in the document.
func (a *AgentAPI) callbackForm() func(*huma.Schema) {
	if a.Parts.WithoutWebhooks {
		return func(form *huma.Schema) {
			*form = huma.Schema{Type: "null", Description: "This environment sends no webhooks."}
		}
	}
	return httpapi.Pattern(`^https://([A-Za-z0-9-]{1,63}\.)+[A-Za-z][A-Za-z0-9-]{0,62}(:[1-9][0-9]{0,3})?(/([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*)?(\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})*)?$`)
}
