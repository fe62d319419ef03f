package askahuman

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// deliveryKey is a key in the Guards table.
func deliveryKey(questionID string) []any { return []any{"DELIVERY#" + questionID} }

// delivery returns how far the webhook of a question is; nil: its agent wants none. Before the question has
// ended, nothing is read.
func (s *Service) delivery(ctx context.Context, question askahuman.Question) (*askahuman.Delivery, error) {
	if question.CallbackURL == "" {
		return nil, nil
	}
	var delivery askahuman.Delivery
	if !question.Answerable() {
		if _, err := s.DB.Get(ctx, "GetDelivery", &delivery, deliveryKey(question.ID)...); err != nil {
			return nil, wrap(err, "read the delivery of question "+question.ID)
		}
	}
	delivery.State = cmp.Or(delivery.State, askahuman.DeliveryWaiting)
	return &delivery, nil
}

// Delivered reports whether the endpoint of a question has taken its webhook.
func (s *Service) Delivered(ctx context.Context, questionID string) (bool, error) {
	var delivery askahuman.Delivery
	_, err := s.DB.Get(ctx, "GetDelivery", &delivery, deliveryKey(questionID)...)
	return delivery.State == askahuman.DeliveryDone, wrap(err, "read the delivery of question "+questionID)
}

// NoteDelivery notes how the last attempt at the webhook of a question ended, unless it was delivered before. With a
// zero AttemptedAt there was no attempt, and the item says of earlier ones what it said. The item is kept for as long
// as a closed question.
func (s *Service) NoteDelivery(ctx context.Context, questionID string, d askahuman.Delivery) error {
	attributes, now := []string{"delivery", "next_attempt_at"}, time.Time(d.AttemptedAt)
	if d.AttemptedAt.IsZero() {
		now = s.Clock.Now()
	} else {
		attributes = append(attributes, "attempts", "attempted_at")
	}
	update, err := dynamo.Changes(d, attributes...)
	if err != nil {
		return err
	}
	update = update.Set(dynamo.Name("expires_at"),
		expression.Value(dynamo.ExpiryAt(now.Add(askahuman.KeepClosed+24*time.Hour))))
	// A duplicate of the message may fail later.
	_, err = dynamo.Satisfied(s.DB.Update(ctx, "NoteDelivery", deliveryKey(questionID), update,
		dynamo.Name("delivery").NotEqual(expression.Value(askahuman.DeliveryDone)), nil))
	return err
}
