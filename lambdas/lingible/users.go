package lingible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// admission is the outcome of [Service.Admit].
type admission struct {
	done  chan struct{}
	usage lingible.Usage
	err   error
	// isTaken says that [Service.Usage] has returned the usage: whoever asks again wants to know more.
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
// [Service.Usage] does, which then returns it, and returns [lingible.ErrUserDeleted] if the account is deleted. Run it
// once, beside what the request reads. Nothing that the request writes, and no answer but the error, may come
// before it.
func (s *Service) Admit(caller Caller) (admitted Caller, check func(context.Context) error) {
	admitted = caller
	admitted.admission = &admission{done: make(chan struct{})}
	return admitted, func(ctx context.Context) error {
		defer close(admitted.admission.done)
		admitted.admission.usage, admitted.admission.err = s.Usage(ctx, caller)
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
// sign-up has. It returns [lingible.ErrUserDeleted] for a token from before the deletion of the account.
func (s *Service) Usage(ctx context.Context, caller Caller) (usage lingible.Usage, err error) {
	if a := caller.admission; a != nil && !a.isTaken.Swap(true) {
		err := a.wait(ctx)
		return a.usage, err
	}
	err = retry.Do(ctx, func() error {
		var found bool
		if usage, found, err = s.readUsage(ctx, caller.ID); err != nil || found {
			return err
		}
		if _, err := s.profile(ctx, caller); err != nil {
			return err
		}
		return retry.ErrStale
	})
	return usage, err
}

// usageAfter does work that does not need the usage of a caller, and returns the usage, which an admission
// reads meanwhile. If both fail, it returns the error of the usage.
func (s *Service) usageAfter(ctx context.Context, caller Caller, work func() error) (lingible.Usage, error) {
	err := work()
	usage, failed := s.Usage(ctx, caller)
	return usage, cmp.Or(failed, err)
}

// limitsTime is how long the check of limits after a failed write may take.
const limitsTime = time.Second

// unlessLimited returns the [*lingible.UsageError] of check if err says that a write met too many others, and otherwise
// err. The others may have reached the limit, and then no repeat helps.
func unlessLimited(ctx context.Context, err error, check func(context.Context) error) error {
	if !errors.Is(err, retry.ErrStale) && !errors.Is(err, retry.ErrBusy) {
		return err
	}
	ctx, cancel := retry.ToRelease(ctx, time.Now().Add(limitsTime))
	defer cancel()
	if limited, ok := errors.AsType[*lingible.UsageError](check(ctx)); ok {
		return limited
	}
	return err
}

// Balance returns what a caller has left, and creates the user as [Service.Usage] does.
func (s *Service) Balance(ctx context.Context, caller Caller) (lingible.Balance, error) {
	usage, err := s.Usage(ctx, caller)
	if err != nil {
		return lingible.Balance{}, err
	}
	now, limits := s.Calendar.Clock.Now(), usage.Tier.Limits()
	balance := lingible.Balance{
		Tier: usage.Tier, DailyLimit: limits.DailyTranslations, DailyUsed: usage.Used(now),
		ResetDailyAt: usage.ResetDailyAt,
		TextLength:   limits.TextLength, QuizLimit: limits.DailyQuestions, SubmissionLimit: limits.Submissions,
		SubmissionsUsed: len(usage.Submitted(now)),
	}
	balance.DailyRemaining = max(0, balance.DailyLimit-balance.DailyUsed)
	if !now.Before(usage.ResetDailyAt) {
		balance.ResetDailyAt = s.Calendar.NextMidnight(now)
	}
	return balance, nil
}

// Profile returns the profile of a caller, and creates the user as [Service.Usage] does.
func (s *Service) Profile(ctx context.Context, caller Caller) (user lingible.User, err error) {
	err = retry.Do(ctx, func() error {
		user, err = s.profile(ctx, caller)
		return err
	})
	return user, err
}

// Upgrade makes a caller a premium user, who may be one already. It creates the user as
// [Service.Usage] does.
func (s *Service) Upgrade(ctx context.Context, caller Caller) (user lingible.User, err error) {
	err = retry.Do(ctx, func() error {
		if user, err = s.profile(ctx, caller); err != nil || user.Tier == lingible.Premium {
			return err
		}
		now := s.Calendar.Clock.Now()
		err := s.storeTier(ctx, user, lingible.Premium, now)
		user.Tier, user.UpdatedAt = lingible.Premium, now
		return err
	})
	return user, err
}

// DeleteAccount begins the deletion of a caller's account, which the account cleaner finishes. It is no
// error if the account is deleted already.
func (s *Service) DeleteAccount(ctx context.Context, caller Caller) error {
	err := retry.Do(ctx, func() error {
		if _, err := s.profile(ctx, caller); err != nil {
			return err
		}
		return s.beginDeletion(ctx, caller.ID, s.Calendar.Clock.Now())
	})
	if errors.Is(err, lingible.ErrUserDeleted) {
		return nil
	}
	return err
}

// CreateUser creates the user of a caller whose sign-up is confirmed, unless there is one.
func (s *Service) CreateUser(ctx context.Context, caller Caller) error {
	_, err := s.create(ctx, caller)
	if errors.Is(err, retry.ErrStale) {
		return nil
	}
	return err
}

// profile reads the profile of a caller, or creates it. It returns [lingible.ErrUserDeleted] for a token from
// before the deletion of the account and during the deletion, and [retry.ErrStale] if another request was
// faster.
func (s *Service) profile(ctx context.Context, caller Caller) (lingible.User, error) {
	user, found, err := s.readUser(ctx, caller.ID)
	switch {
	case err == nil && !found:
		return s.create(ctx, caller)
	case err == nil && user.Status == lingible.Deleting:
		err = lingible.ErrUserDeleted
	}
	return user, err
}

func (s *Service) create(ctx context.Context, caller Caller) (lingible.User, error) {
	now := s.Calendar.Clock.Now()
	signedIn := caller.SignedIn
	if signedIn.IsZero() {
		signedIn = now
	}
	user := lingible.User{ID: caller.ID, Email: caller.Email, Tier: lingible.Free, Status: lingible.Active,
		CreatedAt: now, UpdatedAt: now}
	return user, s.storeUser(ctx, user, signedIn)
}

// tombstoneLife is how long it is known that an account was deleted: as long as someone who signed in before may get
// new tokens. Refresh tokens of Amazon Cognito are for 30 days by default ("CreateUserPoolClient", Amazon Cognito API
// reference).
const tombstoneLife = 30 * 24 * time.Hour

type (
	profileItem struct {
		key
		lingible.User
	}
	usageItem struct {
		key
		lingible.Usage
	}
	// tombstone says when an account was deleted, and what of it counts towards the limits of the next one.
	tombstone struct {
		key
		DeletedAt    time.Time   `dynamodbav:"deleted_at"`
		DailyUsed    int         `dynamodbav:"daily_used"`
		ResetDailyAt time.Time   `dynamodbav:"reset_daily_at"`
		SubmittedAt  []time.Time `dynamodbav:"submitted_at"`
		// Questions counts the questions of the quiz on the day that ends at ResetDailyAt.
		Questions int   `dynamodbav:"quiz_count"`
		TTL       int64 `dynamodbav:"ttl"`
	}
)

func profileKey(user string) key { return keyOf(lingible.UserKey(user)) }
func usageKey(user string) key   { return key{userKey(user), "USAGE#LIMITS"} }

// tombstoneKey does not name the user, whose account is deleted.
func tombstoneKey(user string) key { return key{"DELETED#" + ratelimit.Digest(user), "METADATA"} }

// readUser reads a profile; false: there is none.
func (s *Service) readUser(ctx context.Context, id string) (user lingible.User, found bool, err error) {
	found, err = s.DB.Get(ctx, "GetUser", &user, profileKey(id).values()...)
	return user, found, err
}

// readUsage reads the usage of a user; false: there is none.
func (s *Service) readUsage(ctx context.Context, id string) (usage lingible.Usage, found bool, err error) {
	found, err = s.DB.Get(ctx, "GetUsage", &usage, usageKey(id).values()...)
	return usage, found, err
}

// storeUser stores a profile and its usage, which goes on from that of a deleted account. It returns
// [lingible.ErrUserDeleted] if the account was deleted at or after the sign-in, and [retry.ErrStale] if there is a
// profile.
func (s *Service) storeUser(ctx context.Context, user lingible.User, signedIn time.Time) error {
	// The first translation finds that a day has begun.
	usage := lingible.Usage{UserID: user.ID, Tier: user.Tier, ResetDailyAt: user.CreatedAt, SubmittedAt: []time.Time{}}
	isNew := dynamo.Absent("PK")
	store := func(asRead expression.ConditionBuilder, more ...dynamo.Write) error {
		return s.DB.Transact(ctx, "CreateUser", append([]dynamo.Write{
			dynamo.Check(users, tombstoneKey(user.ID).values(), asRead),
			dynamo.Put(users, profileItem{profileKey(user.ID), user}, isNew),
			dynamo.Put(users, usageItem{usageKey(user.ID), usage}, isNew),
		}, more...)...)
	}
	err := store(dynamo.Absent("deleted_at"))
	refused, ok := errors.AsType[*dynamo.TransactionError](err)
	if !ok {
		return err
	}
	item, wasDeleted := refused.Failed(0)
	if !wasDeleted {
		return dynamo.UnlessStale(err)
	}
	var deleted tombstone
	if err := attributevalue.UnmarshalMap(item, &deleted); err != nil {
		return fmt.Errorf("read the deletion of the account: %w", err)
	}
	if !deleted.DeletedAt.Before(signedIn) {
		return lingible.ErrUserDeleted
	}
	usage.DailyUsed, usage.SubmittedAt = deleted.DailyUsed, append(usage.SubmittedAt, deleted.SubmittedAt...)
	var asked []dynamo.Write
	if user.CreatedAt.Before(deleted.ResetDailyAt) {
		usage.ResetDailyAt = deleted.ResetDailyAt
		if deleted.Questions > 0 {
			asked = append(asked, dynamo.Put(users, quizDayItem{quizDayKey(user.ID, s.Calendar.Day(user.CreatedAt)),
				lingible.QuizTotals{Questions: deleted.Questions},
				dynamo.ExpiryAt(user.CreatedAt.Add(lingible.QuizDayAge))}, isNew))
		}
	}
	return dynamo.UnlessStale(store(dynamo.Equal("deleted_at", dynamo.FormatTime(deleted.DeletedAt)), asked...))
}

// storeTier changes the tier of profile and usage from user.Tier. It returns [retry.ErrStale] if they have another one,
// or if the user is being deleted: the deletion has removed the usage.
func (s *Service) storeTier(ctx context.Context, user lingible.User, to lingible.Tier, now time.Time) error {
	asRead := dynamo.Equal("tier", user.Tier)
	tier := func() expression.UpdateBuilder { return expression.Set(dynamo.Name("tier"), expression.Value(to)) }
	return dynamo.UnlessStale(s.DB.Transact(ctx, "UpgradeUser",
		dynamo.Update(users, profileKey(user.ID).values(),
			tier().Set(dynamo.Name("updated_at"), expression.Value(dynamo.FormatTime(now))), asRead),
		dynamo.Update(users, usageKey(user.ID).values(), tier(), asRead)))
}

// beginDeletion removes the usage, keeps what of it counts towards limits, and says in the profile that it is being
// deleted. It returns [retry.ErrStale] if there is no usage, or if it has changed meanwhile.
func (s *Service) beginDeletion(ctx context.Context, id string, now time.Time) error {
	var usage lingible.Usage
	var found bool
	var days []lingible.QuizDay
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() (err error) { usage, found, err = s.readUsage(reading, id); return err })
	group.Go(func() (err error) { days, err = s.quizDays(reading, id, 1); return err })
	if err := group.Wait(); err != nil {
		return err
	}
	if !found {
		return retry.ErrStale
	}
	today, asked, askedAsRead := s.Calendar.Day(now), 0, dynamo.Absent("quiz_count")
	if len(days) > 0 && days[0].Date == today {
		asked = days[0].Questions
		askedAsRead = dynamo.Equal("quiz_count", asked)
	}
	usageAsRead := dynamo.Equal("daily_used", usage.DailyUsed).And(
		dynamo.Equal("reset_daily_at", dynamo.FormatTime(usage.ResetDailyAt)),
		dynamo.Equal("submitted_at", formatted(usage.SubmittedAt)))
	kept := tombstone{key: tombstoneKey(id), DeletedAt: now, DailyUsed: usage.Used(now),
		ResetDailyAt: s.Calendar.NextMidnight(now), SubmittedAt: append([]time.Time{}, usage.Submitted(now)...),
		Questions: asked, TTL: dynamo.ExpiryAt(now.Add(tombstoneLife))}
	deleting := expression.Set(dynamo.Name("status"), expression.Value(lingible.Deleting)).
		Set(dynamo.Name("updated_at"), expression.Value(dynamo.FormatTime(now)))
	return dynamo.UnlessStale(s.DB.Transact(ctx, "BeginAccountDeletion",
		dynamo.Update(users, profileKey(id).values(), deleting, dynamo.Equal("status", lingible.Active)),
		dynamo.Delete(users, usageKey(id).values(), usageAsRead),
		dynamo.Check(users, quizDayKey(id, today).values(), askedAsRead),
		dynamo.Put(users, kept, expression.ConditionBuilder{})))
}
