package askahuman

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Subscribe subscribes a device to notifications. A token that has a subscription keeps
// it, with the new interval. personHash empty is an unknown person, who earns no
// points for being quick. It returns an [*validate.Error].
func (s *Service) Subscribe(ctx context.Context, personHash string,
	device askahuman.NewSubscription) (askahuman.Subscription, error) {
	now := s.Clock.Now()
	made := askahuman.Subscription{
		ID: uuid.NewString(), Token: device.Token, Minutes: askahuman.Or(device.Interval,
			askahuman.DefaultIntervalMinutes),
		LastNotifiedAt: askahuman.Never, NextNotificationAt: askahuman.Never, Active: askahuman.SubscriptionActive,
		PersonHash: personHash,
		CreatedAt:  now, UpdatedAt: now,
	}
	var stored askahuman.Subscription
	err := retry.Do(ctx, func() (err error) {
		stored, err = s.subscribe(ctx, made)
		return err
	})
	return stored, wrap(err, "store the subscription")
}

// ChangeSubscription gives a subscription a new token or a new interval, and makes it
// active again. It returns an [*validate.Error] or [askahuman.ErrSubscriptionNotFound].
func (s *Service) ChangeSubscription(ctx context.Context, id string,
	change askahuman.SubscriptionChange) (askahuman.Subscription, error) {
	if !wire.IsID(id) {
		return askahuman.Subscription{}, askahuman.ErrSubscriptionNotFound
	}
	subscription, err := s.changeSubscription(ctx, id, askahuman.Or(change.Token, ""),
		askahuman.Or(change.Interval, 0), s.Clock.Now())
	return subscription, wrap(err, "change subscription "+id)
}

// RenewSubscription gives a device's subscription a new token, and a new interval if there
// is one, makes it active again, and returns its id. It is the subscription that has the old token, or else
// the one that has the new token already, or else the last one that the person made
// (personHash empty: unknown): a token is the device's own, and several devices can be one
// person. It returns an [*validate.Error] or [askahuman.ErrSubscriptionNotFound].
func (s *Service) RenewSubscription(ctx context.Context, personHash string,
	device askahuman.SubscriptionRenewal) (id string, err error) {
	tokens := []string{device.Token}
	if device.OldToken != nil {
		tokens = []string{*device.OldToken, device.Token}
	}
	id, from, err := s.findSubscription(ctx, personHash, tokens...)
	if err != nil {
		return "", wrap(err, "find the subscription")
	}
	err = s.renewSubscription(ctx, id, from, device.Token, askahuman.Or(device.Interval, 0), s.Clock.Now())
	return id, wrap(err, "renew subscription "+id)
}

// Unsubscribe ends a subscription. It returns [askahuman.ErrSubscriptionNotFound].
func (s *Service) Unsubscribe(ctx context.Context, id string) error {
	if !wire.IsID(id) {
		return askahuman.ErrSubscriptionNotFound
	}
	return wrap(s.endSubscription(ctx, id, ""), "end subscription "+id)
}

// endSubscription ends a subscription, of that person alone unless personHash is empty. It returns
// [askahuman.ErrSubscriptionNotFound].
func (s *Service) endSubscription(ctx context.Context, id, personHash string) error {
	return retry.Do(ctx, func() error {
		existing, err := s.subscriptionItem(ctx, id)
		if err != nil {
			return err
		}
		if existing == nil || existing.Token == "" || personHash != "" && existing.PersonHash != personHash {
			return askahuman.ErrSubscriptionNotFound
		}
		_, err = s.transact(ctx, "DeleteSubscription", []dynamo.Write{
			dynamo.Delete("Subscriptions", []any{id}, unchangedSubscription(*existing)),
			dynamo.Delete("Subscriptions", []any{askahuman.TokenKey(existing.Token)}, expression.ConditionBuilder{}),
		}, notOfPerson(*existing, ""))
		return err
	})
}
