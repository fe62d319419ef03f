package lingible

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// User is a user's profile, also on the wire.
type User struct {
	ID        string     `json:"user_id" dynamodbav:"user_id"`
	Email     string     `json:"email,omitempty" dynamodbav:"email,omitempty"`
	Tier      Tier       `json:"tier" dynamodbav:"tier" enum:"free,premium"`
	Status    UserStatus `json:"status" dynamodbav:"status" enum:"active"`
	CreatedAt time.Time  `json:"created_at" dynamodbav:"created_at"`
	UpdatedAt time.Time  `json:"updated_at" dynamodbav:"updated_at"`
}

// UserStatus says whether a user's account is being deleted.
type UserStatus string

// The statuses.
const (
	Active   UserStatus = "active"
	Deleting UserStatus = "deleting"
)

// Usage is what a user has used, and what that is limited by.
type Usage struct {
	UserID string `dynamodbav:"user_id"`
	Tier   Tier   `dynamodbav:"tier"`
	// DailyUsed counts the translations charged since the last midnight before ResetDailyAt.
	DailyUsed    int       `dynamodbav:"daily_used"`
	ResetDailyAt time.Time `dynamodbav:"reset_daily_at"`
	// Charges are the ids of the latest translations that were charged by a write of their own, the latest
	// last: not those that are kept, or have an idempotency key.
	Charges []string `dynamodbav:"charges,omitempty"`
	// SubmittedAt are the times of the submissions of the last [SubmissionWindow], and maybe older
	// ones.
	SubmittedAt []time.Time `dynamodbav:"submitted_at"`
	// QuizSessionID is the quiz that was begun last, unless it was ended. Empty: none.
	QuizSessionID string `dynamodbav:"quiz_session_id,omitempty"`
}

// Used is how many translations are charged on the day of a moment.
func (u Usage) Used(now time.Time) int {
	if !now.Before(u.ResetDailyAt) {
		return 0
	}
	return u.DailyUsed
}

// Submitted are the times of the submissions that count at a moment, in order.
func (u Usage) Submitted(now time.Time) []time.Time {
	recent := slices.DeleteFunc(slices.Clone(u.SubmittedAt), func(at time.Time) bool { return !at.Add(SubmissionWindow).After(now) })
	slices.SortFunc(recent, time.Time.Compare)
	return recent
}

// Balance is what a user has left, also on the wire.
type Balance struct {
	Tier            Tier      `json:"tier" enum:"free,premium"`
	DailyLimit      int       `json:"daily_limit" doc:"Translations that are charged on a day, at most."`
	DailyUsed       int       `json:"daily_used"`
	DailyRemaining  int       `json:"daily_remaining"`
	ResetDailyAt    time.Time `json:"reset_daily_at" doc:"When the next day begins: translations and questions of the quiz then count from 0."`
	TextLength      int       `json:"text_length" doc:"Characters of a text to translate, at most."`
	QuizLimit       int       `json:"quiz_limit" doc:"Questions of the quiz on a day, at most; 0: any number. GET /quiz/history says how many were asked."`
	SubmissionLimit int       `json:"submission_limit" doc:"Terms that are submitted within 24 hours, at most."`
	SubmissionsUsed int       `json:"submissions_used"`
}

// UserStore is the storage that [Users] needs. Each write is all or nothing.
type UserStore interface {
	// User reads a profile; false: there is none.
	User(ctx context.Context, id string) (User, bool, error)
	// Usage reads the usage of a user; false: there is none.
	Usage(ctx context.Context, id string) (Usage, bool, error)
	// CreateUser stores a profile and its usage. It returns [ErrUserDeleted] if the account was
	// deleted at or after issued, and [retry.ErrStale] if there is a profile.
	CreateUser(ctx context.Context, user User, issued time.Time) error
	// Upgrade changes the tier of profile and usage from user.Tier. It returns [retry.ErrStale] if they
	// have another one.
	Upgrade(ctx context.Context, user User, to Tier, now time.Time) error
	// BeginDeletion removes the usage, and says in the profile that it is being deleted. It returns
	// [retry.ErrStale] if there is none.
	BeginDeletion(ctx context.Context, id string, now time.Time) error
}

// Users are the users. It is safe for concurrent use.
type Users struct {
	Store    UserStore
	Calendar Calendar
}

// admission is the outcome of [Users.Admit].
type admission struct {
	done  chan struct{}
	usage Usage
	err   error
	// isTaken says that [Users.Usage] has returned the usage: whoever asks again wants to know more.
	isTaken atomic.Bool
}

func (a *admission) wait(ctx context.Context) error {
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Admit admits the caller of a request, on whichever route it is: check reads the caller's usage as
// [Users.Usage] does, which then returns it, and returns [ErrUserDeleted] if the account is deleted. Run it
// once, beside what the request reads. Nothing that the request writes, and no answer but the error, may come
// before it.
func (u *Users) Admit(caller Caller) (admitted Caller, check func(context.Context) error) {
	admitted = caller
	admitted.admission = &admission{done: make(chan struct{})}
	return admitted, func(ctx context.Context) error {
		defer close(admitted.admission.done)
		admitted.admission.usage, admitted.admission.err = u.Usage(ctx, caller)
		return admitted.admission.err
	}
}

// Admitted waits until the caller of a request is admitted, and returns the error of the check.
func (c Caller) Admitted(ctx context.Context) error {
	if c.admission == nil {
		return nil
	}
	return c.admission.wait(ctx)
}

// Usage returns the usage of a caller. The first request of a caller creates the user, unless the
// sign-up has. It returns [ErrUserDeleted] for a token from before the deletion of the account.
func (u *Users) Usage(ctx context.Context, caller Caller) (usage Usage, err error) {
	if a := caller.admission; a != nil && !a.isTaken.Swap(true) {
		err := a.wait(ctx)
		return a.usage, err
	}
	err = retry.Do(ctx, func() error {
		var found bool
		if usage, found, err = u.Store.Usage(ctx, caller.ID); err != nil || found {
			return err
		}
		if _, err := u.profile(ctx, caller); err != nil {
			return err
		}
		return retry.ErrStale
	})
	return usage, err
}

// usageAfter does work that does not need the usage of a caller, and returns the usage, which an admission
// reads meanwhile. If both fail, it returns the error of the usage.
func (u *Users) usageAfter(ctx context.Context, caller Caller, work func() error) (Usage, error) {
	err := work()
	usage, failed := u.Usage(ctx, caller)
	return usage, cmp.Or(failed, err)
}

// Balance returns what a caller has left, and creates the user as [Users.Usage] does.
func (u *Users) Balance(ctx context.Context, caller Caller) (Balance, error) {
	usage, err := u.Usage(ctx, caller)
	if err != nil {
		return Balance{}, err
	}
	now, limits := u.Calendar.Time(), usage.Tier.Limits()
	balance := Balance{
		Tier: usage.Tier, DailyLimit: limits.DailyTranslations, DailyUsed: usage.Used(now), ResetDailyAt: usage.ResetDailyAt,
		TextLength: limits.TextLength, QuizLimit: limits.DailyQuestions, SubmissionLimit: limits.Submissions, SubmissionsUsed: len(usage.Submitted(now)),
	}
	balance.DailyRemaining = max(0, balance.DailyLimit-balance.DailyUsed)
	if !now.Before(usage.ResetDailyAt) {
		balance.ResetDailyAt = u.Calendar.NextMidnight(now)
	}
	return balance, nil
}

// Profile returns the profile of a caller, and creates the user as [Users.Usage] does.
func (u *Users) Profile(ctx context.Context, caller Caller) (user User, err error) {
	err = retry.Do(ctx, func() error {
		user, err = u.profile(ctx, caller)
		return err
	})
	return user, err
}

// Upgrade makes a caller a premium user, who may be one already. It creates the user as
// [Users.Usage] does.
func (u *Users) Upgrade(ctx context.Context, caller Caller) (user User, err error) {
	err = retry.Do(ctx, func() error {
		if user, err = u.profile(ctx, caller); err != nil || user.Tier == Premium {
			return err
		}
		now := u.Calendar.Time()
		err := u.Store.Upgrade(ctx, user, Premium, now)
		user.Tier, user.UpdatedAt = Premium, now
		return err
	})
	return user, err
}

// Delete begins the deletion of a caller's account, which the account cleaner finishes. It is no
// error if the account is deleted already.
func (u *Users) Delete(ctx context.Context, caller Caller) error {
	err := retry.Do(ctx, func() error {
		if _, err := u.profile(ctx, caller); err != nil {
			return err
		}
		return u.Store.BeginDeletion(ctx, caller.ID, u.Calendar.Time())
	})
	if errors.Is(err, ErrUserDeleted) {
		return nil
	}
	return err
}

// Create creates the user of a caller whose sign-up is confirmed, unless there is one.
func (u *Users) Create(ctx context.Context, caller Caller) error {
	_, err := u.create(ctx, caller)
	if errors.Is(err, retry.ErrStale) {
		return nil
	}
	return err
}

// profile reads the profile of a caller, or creates it. It returns [ErrUserDeleted] for a token from
// before the deletion of the account and during the deletion, and [retry.ErrStale] if another request was
// faster.
func (u *Users) profile(ctx context.Context, caller Caller) (User, error) {
	user, found, err := u.Store.User(ctx, caller.ID)
	switch {
	case err == nil && !found:
		return u.create(ctx, caller)
	case err == nil && user.Status == Deleting:
		err = ErrUserDeleted
	}
	return user, err
}

func (u *Users) create(ctx context.Context, caller Caller) (User, error) {
	now := u.Calendar.Time()
	issued := caller.Issued
	if issued.IsZero() {
		issued = now
	}
	user := User{ID: caller.ID, Email: caller.Email, Tier: Free, Status: Active, CreatedAt: now, UpdatedAt: now}
	return user, u.Store.CreateUser(ctx, user, issued)
}
