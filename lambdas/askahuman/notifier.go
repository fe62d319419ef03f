package askahuman

import (
	"context"
	"time"
)

// NotifierStore is the storage that [Notifier] needs.
type NotifierStore interface {
	// DueQuestions reads the questions that are due at now, longest due first,
	// page by page until yield returns false.
	DueQuestions(ctx context.Context, now time.Time, yield func(Question) bool) error
	// EndQuestion is as in [AgentStore].
	EndQuestion(ctx context.Context, question Question, status Status, now time.Time) (ended bool, err error)
	// ClaimQuestion makes the question due again at next, and sets when people were notified (zero:
	// no one was), if it is still open or partial and its due time is as it was read. It reports
	// whether it did.
	ClaimQuestion(ctx context.Context, question Question, notifiedAt, next time.Time) (claimed bool, err error)
	// DueSubscriptions reads active subscriptions whose interval has passed at
	// now, longest ago first, at most limit.
	DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]Subscription, error)
	// ClaimSubscription takes a subscription, and the person who made it, for one notification of a
	// question at now. It reports whether it did: the subscription has to be active and its due
	// time as it was read, the person must not have answered the question, and nothing may have
	// been sent to the person, on any device, within the subscription's interval. If only the
	// interval prevents it, the store may make the subscription due when the interval has passed.
	ClaimSubscription(ctx context.Context, subscription Subscription, questionID string, now time.Time) (claimed bool, err error)
	// MarkNotified remembers, for the points of a quick answer, that a notification of
	// the question reached the person under the claim that was made at claimedAt.
	MarkNotified(ctx context.Context, personHash, questionID string, claimedAt time.Time) error
	// ReleaseSubscription undoes the claim that was made at claimedAt, because the
	// notification was not sent: subscription is as it was read before the claim.
	ReleaseSubscription(ctx context.Context, subscription Subscription, claimedAt time.Time) error
	// DeactivateSubscription takes a subscription out of use, if it still has
	// this token.
	DeactivateSubscription(ctx context.Context, subscription Subscription, now time.Time) error
}
