package askahuman

import (
	"context"
	"time"
)

// NotifierStore is what [Notifier] needs stored.
type NotifierStore interface {
	// DueQuestions reads the questions that are due at now, longest due first,
	// page by page until yield returns false.
	DueQuestions(ctx context.Context, now time.Time, yield func(Question) bool) error
	// EndQuestion is as in [AgentStore].
	EndQuestion(ctx context.Context, question Question, status Status, now time.Time) (ended bool, err error)
	// ClaimQuestion makes the question due again at next, and notified at
	// notifiedAt (zero: no one was), if it is still open or partial and still due
	// when it was read to be. It reports whether it was.
	ClaimQuestion(ctx context.Context, question Question, notifiedAt, next time.Time) (claimed bool, err error)
	// DueSubscriptions reads active subscriptions whose interval has passed at
	// now, longest ago first, at most limit.
	DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]Subscription, error)
	// ClaimSubscription takes a subscription for one notification of a question at
	// now, if it is active, still due when it was read to be, and not of a person
	// who has answered the question; and remembers it for the points of a quick
	// answer. It reports whether it was.
	ClaimSubscription(ctx context.Context, subscription Subscription, questionID string, now time.Time) (claimed bool, err error)
	// ReleaseSubscription undoes the claim that was made at claimedAt, because the
	// notification could not be sent.
	ReleaseSubscription(ctx context.Context, subscription Subscription, questionID string, claimedAt time.Time) error
	// DeactivateSubscription takes a subscription out of use, if it still has
	// this token.
	DeactivateSubscription(ctx context.Context, subscription Subscription, now time.Time) error
}
