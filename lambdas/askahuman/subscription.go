package askahuman

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// Subscribe subscribes a device to notifications, at most one in every interval
// (MinInterval to MaxInterval in whole minutes; 0 is DefaultInterval). token is
// the device's Firebase Cloud Messaging token; one that has a subscription keeps
// it, with the new interval. personHash empty is an unknown person, who earns no
// points for being quick. It returns an [*validate.Error].
func (p *People) Subscribe(ctx context.Context, personHash, token string, interval time.Duration) (Subscription, error) {
	if interval == 0 {
		interval = DefaultInterval
	}
	var invalid problems
	invalid.token("fcm_token", token)
	invalid.interval(interval)
	if err := invalid.Err(); err != nil {
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
// interval (0: as it is) and makes it active again. It returns an [*validate.Error]
// or [ErrSubscriptionNotFound].
func (p *People) ChangeSubscription(ctx context.Context, id, token string, interval time.Duration) (Subscription, error) {
	var invalid problems
	if token == "" && interval == 0 {
		invalid.Add("fcm_token", validate.RuleRequired, "is missing, and so is min_interval_minutes; send what is to change")
	}
	if token != "" {
		invalid.token("fcm_token", token)
	}
	if interval != 0 {
		invalid.interval(interval)
	}
	if err := invalid.Err(); err != nil {
		return Subscription{}, err
	}
	if !isID(id) {
		return Subscription{}, ErrSubscriptionNotFound
	}
	subscription, err := p.Store.ChangeSubscription(ctx, id, token, interval, clock(p.Now))
	return subscription, because(err, "change subscription "+id)
}

// RenewSubscription gives a device's subscription a new token, and a new interval (0:
// as it is), and makes it active again. It is the subscription that has the old token
// (empty: unknown), or else the one that has the new token already, or else the last
// one that the person made (personHash empty: unknown): a token is the device's own,
// and several devices can be one person. It returns an [*validate.Error] or
// [ErrSubscriptionNotFound].
func (p *People) RenewSubscription(ctx context.Context, personHash, oldToken, token string, interval time.Duration) (Subscription, error) {
	var invalid problems
	invalid.token("fcm_token", token)
	if oldToken != "" {
		invalid.token("old_fcm_token", oldToken)
	}
	if interval != 0 {
		invalid.interval(interval)
	}
	if err := invalid.Err(); err != nil {
		return Subscription{}, err
	}
	for _, known := range []struct{ token, personHash string }{{token: oldToken}, {token: token}, {personHash: personHash}} {
		if known.token == "" && known.personHash == "" {
			continue
		}
		id, err := p.Store.FindSubscription(ctx, known.token, known.personHash)
		if err == nil {
			return p.ChangeSubscription(ctx, id, token, interval)
		}
		if !errors.Is(err, ErrSubscriptionNotFound) {
			return Subscription{}, because(err, "find the subscription")
		}
	}
	return Subscription{}, ErrSubscriptionNotFound
}

// Unsubscribe ends a subscription. It returns [ErrSubscriptionNotFound].
func (p *People) Unsubscribe(ctx context.Context, id string) error {
	if !isID(id) {
		return ErrSubscriptionNotFound
	}
	return because(p.Store.Unsubscribe(ctx, id), "end subscription "+id)
}

func (p *problems) token(field, token string) {
	p.Text(field, token, 1, MaxTokenLength)
	if strings.ContainsFunc(token, unicode.IsSpace) && !validate.IsBlank(token) {
		p.Add(field, validate.RuleFormat, "contains white space; send the token exactly as Firebase Cloud Messaging gave it")
	}
}

func (p *problems) interval(interval time.Duration) {
	p.duration("min_interval_minutes", interval, time.Minute, MinInterval, MaxInterval)
}
