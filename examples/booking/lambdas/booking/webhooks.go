package booking

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Webhook is what the hotel is told.
type Webhook struct {
	// ID is the same for each attempt, and for each duplicate.
	ID   string             `json:"id"`
	Type string             `json:"type"`
	Data hotel.BookingEvent `json:"data"`
}

// ReadWebhookSecret reads the secret that signs webhooks.
func ReadWebhookSecret(ctx context.Context, e kit.Environment) (signing webhook.Secret, err error) {
	text, err := kit.ReadSecret(ctx, e, hotel.WebhookSecret)
	if err == nil {
		signing, err = webhook.NewSecret([]byte(text))
	}
	return signing, err
}

// PutEndpoint stores where the hotel wants its webhooks. It returns a [*validate.Error].
func (s *Service) PutEndpoint(ctx context.Context, endpoint hotel.Endpoint, allowed webhook.Addresses) error {
	if err := allowed.CheckURL(endpoint.URL); err != nil {
		return validate.Errorf("url", validate.RuleFormat, "%v", err)
	}
	endpoint.Name = hotel.WebhookSetting
	return s.DB.Put(ctx, "PutEndpoint", endpoint, expression.ConditionBuilder{})
}

// Hook tells the hotel.
type Hook struct {
	Service *Service
	Client  *webhook.Client
	Secret  webhook.Secret
}

// Send makes one attempt at a webhook. There is none while the hotel has no endpoint.
func (h Hook) Send(ctx context.Context, message string, now time.Time) error {
	var hook Webhook
	if err := json.Unmarshal([]byte(message), &hook); err != nil {
		return fmt.Errorf("%w: %w", trigger.ErrHopeless, err)
	}
	var endpoint hotel.Endpoint
	found, err := h.Service.DB.Get(ctx, "GetEndpoint", &endpoint, hotel.WebhookSetting)
	if err != nil || !found {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	webhook.Sign(header, hook.ID, now, []byte(message), h.Secret)
	answer, err := h.Client.Post(ctx, endpoint.URL, header, []byte(message))
	switch {
	case err != nil || answer.OK():
		return err
	case answer.Gone():
		return fmt.Errorf("%w: the hotel's endpoint answers %d", trigger.ErrHopeless, answer.Status)
	}
	return &trigger.LaterError{After: answer.RetryAfter,
		Err: fmt.Errorf("the hotel's endpoint answers %d", answer.Status)}
}
