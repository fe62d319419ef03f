package lingible

import (
	"context"
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

// UserStore is the storage that [Users] needs. Each write is all or nothing.
type UserStore interface {
	// User reads a profile; false: there is none.
	User(ctx context.Context, id string) (User, bool, error)
	// Usage reads the usage of a user; false: there is none.
	Usage(ctx context.Context, id string) (Usage, bool, error)
	// CreateUser stores a profile and its usage, unless there is a profile. It returns
	// [ErrUserDeleted] if the account was deleted at or after issued.
	CreateUser(ctx context.Context, user User, issued time.Time) error
	// Upgrade changes the tier of profile and usage from user.Tier. It returns [ErrStale] if they
	// have another one.
	Upgrade(ctx context.Context, user User, to Tier, now time.Time) error
	// BeginDeletion removes the usage, and says in the profile that it is being deleted. It returns
	// [ErrStale] if there is none.
	BeginDeletion(ctx context.Context, id string, now time.Time) error
}

// Users are the users. It is safe for concurrent use.
type Users struct {
	Store    UserStore
	Calendar Calendar
}

// Usage returns the usage of a caller. The first request of a caller creates the user, unless the
// sign-up has. It returns [ErrUserDeleted] for a token from before the deletion of the account.
func (u *Users) Usage(ctx context.Context, caller Caller) (usage Usage, err error) {
	err = retry.Do(ctx, ErrStale, func() error {
		var found bool
		if usage, found, err = u.Store.Usage(ctx, caller.ID); err != nil || found {
			return err
		}
		if err := u.Create(ctx, caller); err != nil {
			return err
		}
		return ErrStale
	})
	return usage, err
}

// Create creates the user of a caller, unless there is one. It returns [ErrUserDeleted] for a token
// from before the deletion of the account, and while that goes on.
func (u *Users) Create(ctx context.Context, caller Caller) error {
	user, found, err := u.Store.User(ctx, caller.ID)
	switch {
	case err != nil:
		return err
	case found && user.Status == Deleting:
		return ErrUserDeleted
	case found:
		return nil
	}
	now := u.Calendar.Time()
	issued := caller.Issued
	if issued.IsZero() {
		issued = now
	}
	user = User{ID: caller.ID, Email: caller.Email, Tier: Free, Status: Active, CreatedAt: now, UpdatedAt: now}
	return u.Store.CreateUser(ctx, user, issued)
}
