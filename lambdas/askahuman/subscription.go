package askahuman

import (
	"context"
	"strings"
	"time"
	"unicode"
)

// Subscribe subscribes a device to notifications, at most one in every interval
// (MinInterval to MaxInterval in whole minutes; 0 is DefaultInterval). token is
// the device's Firebase Cloud Messaging token; one that has a subscription keeps
// it, with the new interval. personHash empty is an unknown person, who earns no
// points for being quick. It returns an [*InvalidError].
func (p *People) Subscribe(ctx context.Context, personHash, token string, interval time.Duration) (Subscription, error) {
	if interval == 0 {
		interval = DefaultInterval
	}
	var invalid problems
	invalid.token(token)
	invalid.interval(interval)
	if err := invalid.err(); err != nil {
		return Subscription{}, err
	}
	now := clock(p.Now)
	subscription, err := p.Store.Subscribe(ctx, Subscription{
		ID:                 newID(),
		Token:              token,
		Interval:           interval,
		NextNotificationAt: now,
		Active:             true,
		PersonHash:         personHash,
		CreatedAt:          now,
		UpdatedAt:          now,
	})
	return subscription, because(err, "store the subscription")
}

// ChangeSubscription gives a subscription a new token (empty: as it is) or a new
// interval (0: as it is) and makes it active again. It returns an [*InvalidError]
// or [ErrSubscriptionNotFound].
func (p *People) ChangeSubscription(ctx context.Context, id, token string, interval time.Duration) (Subscription, error) {
	var invalid problems
	if token == "" && interval == 0 {
		invalid.add("fcm_token", ConstraintRequired, "is missing, and so is min_interval_minutes; send what is to change")
	}
	if token != "" {
		invalid.token(token)
	}
	if interval != 0 {
		invalid.interval(interval)
	}
	if err := invalid.err(); err != nil {
		return Subscription{}, err
	}
	if !isID(id) {
		return Subscription{}, ErrSubscriptionNotFound
	}
	subscription, err := p.Store.ChangeSubscription(ctx, id, token, interval, clock(p.Now))
	return subscription, because(err, "change subscription "+id)
}

// Unsubscribe ends a subscription. It returns [ErrSubscriptionNotFound].
func (p *People) Unsubscribe(ctx context.Context, id string) error {
	if !isID(id) {
		return ErrSubscriptionNotFound
	}
	return because(p.Store.Unsubscribe(ctx, id), "end subscription "+id)
}

func (p *problems) token(token string) {
	p.text("fcm_token", token, 1, MaxTokenLength)
	if strings.ContainsFunc(token, unicode.IsSpace) && !isBlank(token) {
		p.add("fcm_token", ConstraintFormat, "contains white space; send the token exactly as Firebase Cloud Messaging gave it")
	}
}

func (p *problems) interval(interval time.Duration) {
	p.duration("min_interval_minutes", interval, time.Minute, MinInterval, MaxInterval)
}
