package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

type webhookTestInput struct{ Body WebhookTest }

// WebhookTest is an endpoint to try.
type WebhookTest struct {
	CallbackURL string `json:"callback_url" minLength:"1" maxLength:"2048" doc:"The endpoint, as an ask names it." example:"https://agent.example.com/webhooks"`
}

// WebhookTestSent is a webhook that tries an endpoint.
type WebhookTestSent struct {
	WebhookID string `json:"webhook_id" doc:"The webhook-id that the endpoint gets." example:"msg_2f1c0d9a8b7e4f6aa1b2c3d4e5f60718"`
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
	httpapi.Serve(s, httpapi.Operation{ID: "readWebhookSecrets",
		Description: "Returns the secrets with which the agent's webhooks are signed, as Standard Webhooks 1.0.0 " +
			"says. Each agent has secrets of its own.",
		Errors: []error{askahuman.ErrBlocked},
	}, func(ctx context.Context, _ *struct{}) (WebhookSecretList, error) {
		if err := a.checkAgent(ctx); err != nil {
			return WebhookSecretList{}, err
		}
		return secretList(a.Webhooks.Valid(ctx, caller(ctx)))
	})
	httpapi.Serve(s, httpapi.Operation{ID: "rotateWebhookSecret",
		Description: "Makes another secret the present one. The former one is valid for 24 hours more: until then " +
			"webhooks have a signature by each. At most six former ones are valid.",
		Errors: []error{askahuman.ErrBlocked},
	}, func(ctx context.Context, _ *struct{}) (WebhookSecretList, error) {
		if err := a.checkAgent(ctx); err != nil {
			return WebhookSecretList{}, err
		}
		return secretList(a.Webhooks.Rotate(ctx, caller(ctx)))
	})
	httpapi.Serve(s, httpapi.Operation{ID: "testWebhook", Status: http.StatusAccepted,
		Description: "Sends a webhook of the type webhook.test to an endpoint, signed as any other. It is sent once, " +
			"whatever the endpoint answers.",
		Stricter: httpapi.Forms{"body.callback_url": a.callbackForm()},
		Errors:   []error{askahuman.ErrBlocked},
	}, func(ctx context.Context, input *webhookTestInput) (WebhookTestSent, error) {
		id, err := a.WebhookTests.Test(ctx, caller(ctx), input.Body.CallbackURL)
		return WebhookTestSent{WebhookID: id}, err
	})
}

// checkAgent returns [askahuman.ErrBlocked] if the agent is blocked.
func (a *AgentAPI) checkAgent(ctx context.Context) error {
	if a.Parts.WithoutModeration {
		return nil
	}
	return a.Service.CheckAgent(ctx, caller(ctx))
}

// callbackPattern is the form of a callback_url with a name as its host, as [webhook.Addresses.CheckURL] takes it. What
// ends in a number is no name. A local run takes http:// of its own machine, too, so no tag has the pattern.
const callbackPattern = `^[Hh][Tt][Tt][Pp][Ss]://([0-9A-Za-z_-]{1,63}\.)+` +
	`([0-9]*[A-WYZa-wyz_-][0-9A-Za-z_-]*|([1-9][0-9]*|0[0-9]+)?[Xx][0-9A-Za-z_-]*|` +
	`0[Xx][0-9A-Fa-f]*[G-Zg-z_-][0-9A-Za-z_-]*)\.?` +
	`(:(0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)?` +
	`(/([^\x00-\x1f\x7f#%?]|%[0-9A-Fa-f]{2})*)?(\?[^\x00-\x1f\x7f#]*)?#?$`

// callbackForm is the form of callback_url in the document.
func (a *AgentAPI) callbackForm() func(*huma.Schema) {
	if a.Parts.WithoutWebhooks {
		return func(form *huma.Schema) {
			*form = huma.Schema{Type: "null", Description: "This environment sends no webhooks."}
		}
	}
	return httpapi.Pattern(callbackPattern)
}
