package clarity

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
)

// Service has the operations on attempts. It is safe for concurrent use.
//
// The input of each method has passed [validate.Form], which package httpapi calls once for a
// request, before the request's key is claimed.
type Service struct {
	// Store keeps attempts.
	Store Store
	// Scenarios reads scenarios.
	Scenarios ScenarioStore
	// Evaluator judges answers.
	Evaluator Evaluator
	// EvaluationTime is how long the evaluator may take, at most. Zero: a minute, as for a model.
	EvaluationTime time.Duration
	// EvaluationsPerDay is how many evaluations are begun for a user on a day (UTC), at most.
	EvaluationsPerDay int
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
	// Count is called with the name of a metric for each thing that happened. Nil is allowed.
	Count func(ctx context.Context, metric string)
	// Log receives what callers need not know. Nil: [slog.Default].
	Log *slog.Logger
}

// Store is the storage that [Service] needs. Each write is all or nothing.
type Store interface {
	// Attempt reads an attempt as it is now. It returns [ErrAttemptNotFound].
	Attempt(ctx context.Context, id string) (Attempt, error)
	// Attempts reads up to most attempts of a user, newest first, from a cursor on; "" is the
	// beginning. It returns a [*validate.Error] for a cursor of another list.
	Attempts(ctx context.Context, user string, most int, from string) (AttemptList, error)
	// CreateAttempt stores an attempt, unless there is one with its id. It returns the one that is
	// stored then, and whether it was created. An attempt with a claim counts as an evaluation of its
	// user on the day of its timestamp. A day has at most limit: CreateAttempt returns a [*LimitError] beyond it.
	CreateAttempt(ctx context.Context, attempt Attempt, limit int) (stored Attempt, created bool, err error)
	// SaveAttempt stores a changed attempt, if it still is in progress and has the version before.
	// Otherwise it returns [retry.ErrStale]. An attempt with a claim counts as in CreateAttempt.
	SaveAttempt(ctx context.Context, attempt Attempt, limit int) error
	// ClaimEvaluation stores the claim of an attempt and what goes with it, if the attempt has no
	// evaluation and no claim that lasts. It counts an evaluation of the user on the day of now, of
	// which limit are allowed. It returns [retry.ErrStale] or a [*LimitError].
	ClaimEvaluation(ctx context.Context, attempt Attempt, now time.Time, limit int) error
	// SettleEvaluation stores how the evaluation of an attempt stands and removes its claim, if that
	// is still the attempt's. Otherwise it returns [retry.ErrStale].
	SettleEvaluation(ctx context.Context, attempt Attempt) error
	// PendingEvaluations reads the ids of the attempts to evaluate by now, longest overdue first.
	PendingEvaluations(ctx context.Context, now time.Time) iter.Seq2[string, error]
}

// Submit stores an attempt, and evaluates it if it is completed. id is the id of the attempt, the
// same in each attempt at one request; "" is a new one. An attempt that exists already is not stored
// again, but evaluated if it is not yet.
//
// An attempt that is stored is returned, also when it could not be evaluated. Submit returns
// [ErrScenarioNotFound], [ErrScenarioInactive], a [*validate.Error] or a [*RunningError].
func (s *Service) Submit(ctx context.Context, user, id string, in Submission) (Attempt, error) {
	scenario, err := s.Scenarios.Scenario(ctx, in.ScenarioID)
	if err == nil && !scenario.Active && !s.exists(ctx, user, id) {
		err = ErrScenarioInactive
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("read the scenario: %w", err)
	}
	if id == "" {
		random, err := uuid.NewRandom()
		if err != nil {
			return Attempt{}, fmt.Errorf("make an id: %w", err)
		}
		id = random.String()
	}
	attempt := Attempt{
		ID: id, UserID: user, ScenarioID: scenario.ID, Timestamp: wire.Time(s.now()), DurationSeconds: in.DurationSeconds,
		Status: cmp.Or(in.Status, Completed), Version: 1,
	}
	if attempt.Answers, err = answersTo(scenario.Questions, in.Answers, attempt.Status); err != nil {
		return Attempt{}, err
	}
	stored, created, err := s.store(ctx, attempt, func(attempt Attempt) (Attempt, bool, error) {
		return s.Store.CreateAttempt(ctx, attempt, s.EvaluationsPerDay)
	})
	if err == nil && stored.UserID != user {
		err = ErrForbidden
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("store the attempt: %w", err)
	}
	return s.finish(ctx, scenario, stored, created)
}

// exists reports whether an earlier attempt at the same request has stored the attempt.
func (s *Service) exists(ctx context.Context, user, id string) bool {
	if id == "" {
		return false
	}
	stored, err := s.Store.Attempt(ctx, id)
	return err == nil && stored.UserID == user
}

// Save changes an attempt in progress: it saves, completes or abandons it. ifVersion is the version
// that it must have; 0: any. again says that the request may be a repeat: then an attempt that is
// completed with the same answers counts as completed by this request.
//
// An attempt that is stored is returned, also when it could not be evaluated. Save returns
// [ErrAttemptNotFound], [ErrForbidden], [ErrNotInProgress], a [*VersionError], a [*validate.Error],
// [ErrScenarioNotFound] or a [*RunningError].
func (s *Service) Save(ctx context.Context, user, id string, in Save, ifVersion int, again bool) (Attempt, error) {
	var scenario Scenario
	var attempt Attempt
	var saved bool
	err := retry.Do(ctx, func() error {
		read, err := s.Attempt(ctx, user, id)
		if err != nil {
			return err
		}
		if scenario, err = s.Scenarios.Scenario(ctx, read.ScenarioID); err != nil {
			return err
		}
		answers := in.Answers
		if answers == nil {
			answers = given(read.Answers)
		}
		attempt = read
		attempt.Status, attempt.Version = cmp.Or(in.Status, InProgress), read.Version+1
		var invalid error
		attempt.Answers, invalid = answersTo(scenario.Questions, answers, attempt.Status)
		switch {
		case again && read.Status == Completed && attempt.Status == Completed && slices.Equal(read.Answers, attempt.Answers):
			attempt = read
			return nil
		case read.Status != InProgress:
			return ErrNotInProgress
		case ifVersion != 0 && read.Version != ifVersion:
			return &VersionError{Current: read.Version}
		case invalid != nil:
			return invalid
		}
		now := s.now()
		switch {
		case in.DurationSeconds != nil:
			attempt.DurationSeconds = in.DurationSeconds
		case attempt.Status != InProgress:
			took := int(min(max(0, now.Sub(time.Time(read.Timestamp))), MaxDurationSeconds*time.Second) / time.Second)
			attempt.DurationSeconds = &took
		}
		if attempt.Status == Completed {
			attempt.Timestamp = wire.Time(now)
		}
		attempt, saved, err = s.store(ctx, attempt, func(attempt Attempt) (Attempt, bool, error) {
			return attempt, true, s.Store.SaveAttempt(ctx, attempt, s.EvaluationsPerDay)
		})
		return err
	})
	if err != nil {
		return Attempt{}, fmt.Errorf("save the attempt: %w", err)
	}
	return s.finish(ctx, scenario, attempt, saved)
}

// Attempt reads an attempt of a user. It returns [ErrAttemptNotFound] or [ErrForbidden].
func (s *Service) Attempt(ctx context.Context, user, id string) (Attempt, error) {
	// Another spelling of the same UUID is another key to a store, so it is no id.
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return Attempt{}, ErrAttemptNotFound
	}
	attempt, err := s.Store.Attempt(ctx, id)
	if err == nil && attempt.UserID != user {
		err = ErrForbidden
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("read the attempt: %w", err)
	}
	return attempt, nil
}

// Attempts lists the attempts of a user, newest first, as [Store] does.
func (s *Service) Attempts(ctx context.Context, user string, most int, from string) (AttemptList, error) {
	list, err := s.Store.Attempts(ctx, user, cmp.Or(most, DefaultPageSize), from)
	if err != nil {
		return AttemptList{}, fmt.Errorf("list the attempts: %w", err)
	}
	return list, nil
}

// now returns the moment in whole milliseconds, as stores keep it, so that values before a write and
// after a read agree.
func (s *Service) now() time.Time {
	clock := s.Now
	if clock == nil {
		clock = time.Now
	}
	return clock().UTC().Truncate(time.Millisecond)
}

func (s *Service) count(ctx context.Context, metric string) {
	if s.Count != nil {
		s.Count(ctx, metric)
	}
}

func (s *Service) log() *slog.Logger { return cmp.Or(s.Log, slog.Default()) }
