package clarity

import (
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// defaultEvaluationTime is how long a try may take, at most, unless [Service.EvaluationTime] says less.
	defaultEvaluationTime = time.Minute
	// leastEvaluationTime is how much time a try needs that may take longer: with less it is not begun, since
	// it counts.
	leastEvaluationTime = 15 * time.Second
	// settleTime is how much of its time an invocation reserves for storing what a try came to, at most: no more
	// than for the try.
	settleTime = 6 * time.Second
	// storeTime is how long an operation may take beside a try, at most. With the rubric's time, that makes the 9
	// seconds that the operations of the other platforms have.
	storeTime = 5 * time.Second
	// leaseMargin is how long after the deadline of its context a try is certainly dead: its
	// invocation ends at most a second later.
	leaseMargin = 2 * time.Second
	// defaultLease is the lease of a try whose context has no deadline.
	defaultLease = 5 * time.Minute
	// limitJitter spreads the attempts that wait for the next day over its beginning.
	limitJitter = time.Hour
	// concurrentEvaluations is how many tries [Service.EvaluatePending] makes at once.
	concurrentEvaluations = 4
)

// delays are how long after each failed try the next one follows. After the last one there is none
// without a request.
func delays() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour}
}

// maxTries is how many tries an attempt has without a request.
func maxTries() int { return len(delays()) + 1 }

// Evaluate evaluates a completed attempt that has no evaluation. An attempt that has one is returned
// as it is. An attempt whose evaluation fails is returned without one.
//
// It returns [clarity.ErrAttemptNotFound], [clarity.ErrForbidden], [clarity.ErrNotCompleted], a [*clarity.RunningError]
// or a [*clarity.LimitError].
func (s *Service) Evaluate(ctx context.Context, user, id string) (clarity.Attempt, error) {
	attempt, err := s.Attempt(ctx, user, id)
	if err != nil {
		return clarity.Attempt{}, err
	}
	if attempt.Status != clarity.Completed {
		return clarity.Attempt{}, clarity.ErrNotCompleted
	}
	if attempt, err = s.evaluate(ctx, attempt); err != nil {
		return clarity.Attempt{}, fmt.Errorf("evaluate the attempt: %w", err)
	}
	return attempt, nil
}

// Run is what [Service.EvaluatePending] did.
type Run struct {
	// Evaluated and Failed count tries, Skipped attempts that another invocation evaluates, or that
	// wait for the next day.
	Evaluated, Failed, Skipped int
	// Unfinished says that time ran out.
	Unfinished bool
}

// EvaluatePending evaluates the attempts whose time has come, the longest overdue first and a few at
// a time, until none is left or time runs out. An attempt that cannot be read or written does not
// keep it from the others; the error has all of these.
func (s *Service) EvaluatePending(ctx context.Context) (run Run, err error) {
	overdue := dynamo.Read[clarity.Attempt](ctx, s.DB, "ListPendingEvaluations",
		dynamo.Query{Values: []any{pending, dynamo.FormatTime(s.Clock.Now())}})
	run.Unfinished, err = kit.Work(ctx, overdue, concurrentEvaluations, s.leastTime()+s.settleTime(),
		func(ctx context.Context, found clarity.Attempt) (*int, error) {
			ctx, cancel := context.WithTimeout(ctx, s.WorkTime())
			defer cancel()
			attempt, tried, err := s.resume(ctx, found.ID)
			switch {
			case err != nil:
				return nil, fmt.Errorf("attempt %s: %w", found.ID, err)
			case !tried:
				return &run.Skipped, nil
			case attempt.Evaluation == nil:
				return &run.Failed, nil
			}
			return &run.Evaluated, nil
		})
	return run, err
}

// resume evaluates an attempt that the index names, which may be behind the table.
func (s *Service) resume(ctx context.Context, id string) (attempt clarity.Attempt, tried bool, err error) {
	if attempt, err = s.read(ctx, id); err != nil {
		return attempt, false, err
	}
	switch {
	case attempt.EvaluateAfter.IsZero() || attempt.EvaluateAfter.After(s.Clock.Now()):
		return attempt, false, nil
	case attempt.EvaluationTries >= maxTries():
		// Its tries died before they could say so.
		attempt.EvaluationStatus, attempt.EvaluationFailure, attempt.EvaluateAfter = clarity.EvaluationFailed,
			string(model.TimedOut), time.Time{}
		return attempt, true, s.settle(ctx, attempt)
	}
	attempt, err = s.evaluate(ctx, attempt)
	if errors.Is(err, &clarity.RunningError{}) || errors.Is(err, &clarity.LimitError{}) {
		return attempt, false, nil
	}
	return attempt, true, err
}

// store stores an attempt as [Service.write] does. A completed attempt is stored under the claim of its first try,
// which counts for its user's day: one write less. If the limit of the day is reached, too little time is left, or too
// much is going on for a write that counts, it is stored for the evaluator.
func (s *Service) store(ctx context.Context, attempt clarity.Attempt,
	condition expression.ConditionBuilder) (clarity.Attempt, bool, error) {
	if attempt.Status != clarity.Completed {
		return s.write(ctx, attempt, condition)
	}
	waiting := attempt
	waiting.EvaluationStatus, waiting.EvaluateAfter = clarity.EvaluationPending, s.lease(ctx)
	_, none := s.end(ctx)
	if none == nil {
		stored, isNew, err := s.write(ctx, s.claimed(ctx, attempt), condition)
		limit, limited := errors.AsType[*clarity.LimitError](err)
		switch {
		case limited:
			return s.write(ctx, limitedUntil(attempt, limit), condition)
		case !errors.Is(err, retry.ErrBusy):
			return stored, isNew, err
		}
		none = err
	}
	stored, isNew, err := s.write(ctx, waiting, condition)
	if err == nil && isNew {
		s.warnUnevaluated(ctx, attempt.ID, none)
	}
	return stored, isNew, err
}

// finish evaluates an attempt that is stored: isNew says by this request. It is returned as it is if
// it could not be evaluated: the work of its user is stored, and the evaluator goes on.
func (s *Service) finish(ctx context.Context, scenario clarity.Scenario, attempt clarity.Attempt,
	isNew bool) (evaluated clarity.Attempt, err error) {
	if attempt.Status != clarity.Completed {
		return attempt, nil
	}
	if isNew {
		s.count(ctx, "AttemptsCompleted")
	}
	switch {
	case !isNew:
		evaluated, err = s.evaluate(ctx, attempt)
	case attempt.Claim != "":
		evaluated, err = s.try(ctx, scenario, attempt)
	default:
		return attempt, nil
	}
	if errors.Is(err, &clarity.RunningError{}) {
		return clarity.Attempt{}, err
	}
	if err != nil && !errors.Is(err, &clarity.LimitError{}) {
		s.warnUnevaluated(ctx, attempt.ID, err)
	}
	return evaluated, nil
}

func (s *Service) warnUnevaluated(ctx context.Context, id string, err error) {
	s.log().WarnContext(ctx, "an attempt was stored and not evaluated: the evaluator goes on", "attempt_id", id,
		"error", err.Error())
}

// WorkTime is how long an operation takes, at most. Whoever bounds it so keeps the claims short of operations
// that die.
func (s *Service) WorkTime() time.Duration { return storeTime + s.evaluationTime() + s.settleTime() }

func (s *Service) evaluationTime() time.Duration {
	return cmp.Or(s.EvaluationTime, defaultEvaluationTime)
}
func (s *Service) leastTime() time.Duration  { return min(leastEvaluationTime, s.evaluationTime()/2) }
func (s *Service) settleTime() time.Duration { return min(settleTime, s.evaluationTime()) }

// lease is when the invocation is certainly dead.
func (s *Service) lease(ctx context.Context) time.Time {
	left := defaultLease
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	return s.Clock.Now().Add(left + leaseMargin).Truncate(time.Millisecond)
}

// end is when a try has to end, so that the invocation has time to store what it came to. It returns
// an error that wraps [context.DeadlineExceeded] when there is no time for a try.
func (s *Service) end(ctx context.Context) (time.Time, error) {
	end := time.Now().Add(s.evaluationTime())
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(-s.settleTime()).Before(end) {
		end = deadline.Add(-s.settleTime())
	}
	if time.Until(end) < s.leastTime() {
		return end, fmt.Errorf("no time is left for an evaluation: %w", context.DeadlineExceeded)
	}
	return end, nil
}

// evaluate tries once to evaluate a completed attempt. It claims the attempt, so that no other try
// runs, and continues with [Service.try].
//
// It returns a [*clarity.RunningError], a [*clarity.LimitError], or an error of the store, or one that wraps
// [context.DeadlineExceeded] if no time is left.
func (s *Service) evaluate(ctx context.Context, attempt clarity.Attempt) (clarity.Attempt, error) {
	if attempt.EvaluationStatus == clarity.EvaluationDone {
		return attempt, nil
	}
	if _, err := s.end(ctx); err != nil {
		return attempt, err
	}
	// Before the claim, which counts for the day of the user.
	scenario, err := s.Scenarios.Scenario(ctx, attempt.ScenarioID)
	if err != nil && !errors.Is(err, clarity.ErrScenarioNotFound) {
		return attempt, err
	}
	claimed, err := s.claim(ctx, attempt)
	if err != nil || claimed.EvaluationStatus == clarity.EvaluationDone {
		return claimed, err
	}
	return s.try(ctx, scenario, claimed)
}

// try evaluates an attempt that is claimed, and is the only way to an evaluation. It asks the
// evaluator, and stores what that said, if the claim still is its own. It returns the attempt as it
// then is, also with an error: a [*clarity.RunningError], or one of the store.
func (s *Service) try(ctx context.Context, scenario clarity.Scenario, claimed clarity.Attempt) (clarity.Attempt,
	error) {
	// The answers have the questions of a scenario that is gone.
	scenario.Questions = asked(scenario.Questions, claimed.Answers)
	settled, metric := claimed, "Evaluations"
	settled.EvaluateAfter = time.Time{}
	judgement, failed := s.judge(ctx, scenario, claimed.Answers)
	if failed == nil {
		settled.Evaluation = &clarity.Evaluation{OverallScore: judgement.OverallScore(), Judgement: judgement,
			EvaluatedAt: wire.Time(s.Clock.Now())}
		settled.EvaluationStatus, settled.EvaluationFailure = clarity.EvaluationDone, ""
	} else {
		metric = "EvaluationFailures"
		s.log().WarnContext(ctx, "an evaluation failed", "attempt_id", claimed.ID, "try", claimed.EvaluationTries,
			"error", failed.Error())
		settled.EvaluationStatus, settled.EvaluationFailure = clarity.EvaluationFailed, string(failed.Failure)
		if claimed.EvaluationTries < maxTries() {
			settled.EvaluationStatus, settled.EvaluateAfter = clarity.EvaluationPending,
				s.Clock.Now().Add(delays()[claimed.EvaluationTries-1])
		}
	}
	err := s.settle(ctx, settled)
	if errors.Is(err, retry.ErrStale) {
		// This try was taken for dead, and another one runs or has run.
		return s.current(ctx, claimed)
	}
	if err != nil {
		return claimed, err
	}
	s.count(ctx, metric)
	return settled, nil
}

// claimed is an attempt under a claim of its next try.
func (s *Service) claimed(ctx context.Context, attempt clarity.Attempt) clarity.Attempt {
	attempt.EvaluationStatus, attempt.EvaluationTries = clarity.EvaluationRunning, attempt.EvaluationTries+1
	attempt.Claim, attempt.ClaimedUntil = cryptorand.Text(), s.lease(ctx)
	attempt.EvaluateAfter = attempt.ClaimedUntil
	return attempt
}

// limitedUntil is an attempt whose evaluation the limit puts off to the next day.
func limitedUntil(attempt clarity.Attempt, limit *clarity.LimitError) clarity.Attempt {
	attempt.EvaluationStatus, attempt.EvaluationFailure = clarity.EvaluationPending, clarity.Limited
	attempt.EvaluateAfter = limit.Until.Add(rand.N(limitJitter)).Truncate(time.Millisecond)
	return attempt
}

// claim claims an attempt for a try, which counts for its user's day. An attempt that has been
// evaluated meanwhile is returned instead.
func (s *Service) claim(ctx context.Context, attempt clarity.Attempt) (clarity.Attempt, error) {
	var claimed clarity.Attempt
	err := retry.Do(ctx, func() error {
		claimed = s.claimed(ctx, attempt)
		err := s.storeClaim(ctx, claimed)
		if !errors.Is(err, retry.ErrStale) {
			return err
		}
		if attempt, err = s.current(ctx, attempt); err != nil || attempt.EvaluationStatus == clarity.EvaluationDone {
			claimed = attempt
			return err
		}
		return retry.ErrStale
	})
	limit, limited := errors.AsType[*clarity.LimitError](err)
	if err != nil && !limited {
		return attempt, err
	}
	// An attempt that is tried no more, or waits for the next day already, stays as it is.
	if limited && !attempt.EvaluateAfter.IsZero() && attempt.EvaluateAfter.Before(limit.Until) {
		attempt = limitedUntil(attempt, limit)
		if err := s.settle(ctx, attempt); err != nil {
			return attempt, err
		}
	}
	if limited {
		return attempt, limit
	}
	return claimed, nil
}

// storeClaim stores the claim of an attempt, if it has no evaluation and no claim that lasts. It returns
// [retry.ErrStale] or a [*clarity.LimitError].
func (s *Service) storeClaim(ctx context.Context, claimed clarity.Attempt) error {
	now := s.Clock.Now()
	update, err := dynamo.Changes(newAttemptItem(claimed), "claim", "claimedUntil", "evaluationStatus",
		"evaluationTries", "pendingEvaluation", "evaluateAfter")
	if err != nil {
		return err
	}
	free := dynamo.Equal("status", clarity.Completed).And(dynamo.Absent("evaluation"), dynamo.Absent("claim").Or(
		dynamo.Name("claimedUntil").LessThanEqual(expression.Value(dynamo.FormatTime(now)))))
	err = s.DB.Transact(ctx, "ClaimEvaluation", dynamo.Update("Attempts", []any{claimed.ID}, update, free),
		s.counted(claimed.UserID, now))
	return dynamo.UnlessStale(err, dynamo.OnFailed(0, retry.ErrStale), dynamo.OnFailed(1, beyond(now)))
}

// counted counts an evaluation of a user on the day of a moment, unless the limit is reached. It is the second write of
// a transaction.
func (s *Service) counted(user string, now time.Time) dynamo.Write {
	day := dayOf(now)
	update := expression.Add(dynamo.Name("evaluations"), expression.Value(1)).
		Set(dynamo.Name("expiresAt"), expression.Value(dynamo.ExpiryAt(day.AddDate(0, 0, 2))))
	allowed := dynamo.Absent("evaluations").Or(
		dynamo.Name("evaluations").LessThan(expression.Value(s.EvaluationsPerDay)))
	return dynamo.Update("Guards", []any{"EVALUATIONS#" + day.Format(time.DateOnly) + "#" + user}, update, allowed)
}

// beyond is the error of an evaluation beyond the limit of the day.
func beyond(now time.Time) error { return &clarity.LimitError{Until: dayOf(now).AddDate(0, 0, 1)} }

func dayOf(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// settle stores how the evaluation of an attempt stands and removes its claim, if that is still the attempt's.
// Otherwise it returns [retry.ErrStale].
func (s *Service) settle(ctx context.Context, attempt clarity.Attempt) error {
	// A try that was claimed meanwhile has counted, also if it is over.
	own := dynamo.Absent("claim").And(dynamo.Absent("evaluationTries").Or(
		dynamo.Equal("evaluationTries", attempt.EvaluationTries)))
	if attempt.Claim != "" {
		own = dynamo.Equal("claim", attempt.Claim)
	}
	attempt.Claim, attempt.ClaimedUntil = "", time.Time{}
	item, open := newAttemptItem(attempt), own.And(dynamo.Absent("evaluation"),
		dynamo.Equal("status", clarity.Completed))
	if idempotency.ClaimFrom(ctx) == nil {
		// Half the price of a transaction.
		return dynamo.UnlessStale(s.DB.Put(ctx, "SettleEvaluation", item, open))
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.DB, "AnswerEvaluation", attempt,
		dynamo.Put("Attempts", item, open)))
}

// current reads an attempt again. It returns a [*clarity.RunningError] if a try is running.
func (s *Service) current(ctx context.Context, attempt clarity.Attempt) (clarity.Attempt, error) {
	read, err := s.read(ctx, attempt.ID)
	if err != nil {
		return attempt, err
	}
	if read.Claim != "" && read.ClaimedUntil.After(s.Clock.Now()) {
		return read, &clarity.RunningError{Until: read.ClaimedUntil}
	}
	return read, nil
}

// judge asks the evaluator, until the end of the try.
func (s *Service) judge(ctx context.Context, scenario clarity.Scenario, answers []clarity.Answer) (clarity.Judgement,
	*model.Error) {
	until, _ := s.end(ctx)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	judgement, err := s.Evaluator(ctx, scenario, answers)
	failed, known := errors.AsType[*model.Error](err)
	switch {
	case known:
		return clarity.Judgement{}, failed
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return clarity.Judgement{}, &model.Error{Failure: model.TimedOut, Err: err}
	case err != nil:
		return clarity.Judgement{}, &model.Error{Failure: model.Unavailable, Err: err}
	}
	if err := judgement.Check(); err != nil {
		return clarity.Judgement{}, &model.Error{Failure: model.Unusable, Err: err}
	}
	return judgement, nil
}

// asked are the questions that the answers were given to, which the scenario may have changed since.
func asked(questions []clarity.Question, answers []clarity.Answer) []clarity.Question {
	list := make([]clarity.Question, len(answers))
	for i, answer := range answers {
		if at := slices.IndexFunc(questions, func(q clarity.Question) bool {
			return q.ID == answer.QuestionID
		}); at >= 0 {
			list[i] = questions[at]
		}
		list[i].ID, list[i].Text = answer.QuestionID, answer.QuestionText
	}
	return list
}
