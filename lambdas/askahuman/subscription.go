package askahuman

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// NewSubscription is a request to notify a device.
type NewSubscription struct {
	Token    string `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's Firebase Cloud Messaging token, without white space."`
	Interval *int   `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time from a notification of the person, on any of their devices, to the next one on this device; 30 by default." example:"30"`
}

// SubscriptionChange is a change of a subscription.
type SubscriptionChange struct {
	Token    *string `json:"fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications." example:"60"`
}

// SubscriptionRenewal is a device whose token has changed.
type SubscriptionRenewal struct {
	Token    string  `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	OldToken *string `json:"old_fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The one that it had before."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications; as it was by default." example:"60"`
}

// Subscribe subscribes a device to notifications. A token that has a subscription keeps
// it, with the new interval. personHash empty is an unknown person, who earns no
// points for being quick. It returns an [*validate.Error].
func (p *People) Subscribe(ctx context.Context, personHash string, device NewSubscription) (Subscription, error) {
	if err := validateDevice(device, &device.Token, nil); err != nil {
		return Subscription{}, err
	}
	interval := DefaultInterval
	if device.Interval != nil {
		interval = minutes(device.Interval)
	}
	now := clock(p.Now)
	subscription, err := p.Store.Subscribe(ctx, Subscription{
		ID:                 newID(),
		Token:              device.Token,
		Interval:           interval,
		NextNotificationAt: now,
		Active:             true,
		PersonHash:         personHash,
		CreatedAt:          now,
		UpdatedAt:          now,
	})
	return subscription, wrap(err, "store the subscription")
}

// ChangeSubscription gives a subscription a new token or a new interval, and makes it
// active again. It returns an [*validate.Error] or [ErrSubscriptionNotFound].
func (p *People) ChangeSubscription(ctx context.Context, id string, change SubscriptionChange) (Subscription, error) {
	if change == (SubscriptionChange{}) {
		return Subscription{}, validate.Errorf("body", validate.RuleRequired, "changes nothing; send fcm_token, min_interval_minutes, or both")
	}
	if err := validateDevice(change, change.Token, nil); err != nil {
		return Subscription{}, err
	}
	if !isID(id) {
		return Subscription{}, ErrSubscriptionNotFound
	}
	token := ""
	if change.Token != nil {
		token = *change.Token
	}
	subscription, err := p.Store.ChangeSubscription(ctx, id, token, minutes(change.Interval), clock(p.Now))
	return subscription, wrap(err, "change subscription "+id)
}

// RenewSubscription gives a device's subscription a new token, and a new interval if there
// is one, makes it active again, and returns its id. It is the subscription that has the old token, or else
// the one that has the new token already, or else the last one that the person made
// (personHash empty: unknown): a token is the device's own, and several devices can be one
// person. It returns an [*validate.Error] or [ErrSubscriptionNotFound].
func (p *People) RenewSubscription(ctx context.Context, personHash string, device SubscriptionRenewal) (id string, err error) {
	if err := validateDevice(device, &device.Token, device.OldToken); err != nil {
		return "", err
	}
	tokens := []string{device.Token}
	if device.OldToken != nil {
		tokens = []string{*device.OldToken, device.Token}
	}
	id, from, err := p.Store.FindSubscription(ctx, personHash, tokens...)
	if err != nil {
		return "", wrap(err, "find the subscription")
	}
	return id, wrap(p.Store.RenewSubscription(ctx, id, from, device.Token, minutes(device.Interval), clock(p.Now)), "renew subscription "+id)
}

// Unsubscribe ends a subscription. It returns [ErrSubscriptionNotFound].
func (p *People) Unsubscribe(ctx context.Context, id string) error {
	if !isID(id) {
		return ErrSubscriptionNotFound
	}
	return wrap(p.Store.Unsubscribe(ctx, id), "end subscription "+id)
}

// validateDevice returns an [*validate.Error] with all that is wrong with a form and its tokens.
func validateDevice(form any, token, oldToken *string) error {
	var p problems
	p.Form(form)
	p.token("fcm_token", token)
	p.token("old_fcm_token", oldToken)
	p.InOrder(form)
	return p.Err()
}

func (p *problems) token(field string, token *string) {
	if token != nil && strings.ContainsFunc(*token, unicode.IsSpace) && !validate.IsBlank(*token) {
		p.Add(field, validate.RuleFormat, "contains white space; send the token exactly as Firebase Cloud Messaging gave it")
	}
}

// minutes is a number of minutes; zero when there is none.
func minutes(n *int) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Minute
}
