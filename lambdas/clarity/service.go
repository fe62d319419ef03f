// Package clarity is what runs of Clarity: people work through the questions of a scenario, an [Evaluator] judges their
// answers by a rubric of eight dimensions, and a profile shows how they develop. Package api below serves it, and
// packages rubric and bedrock evaluate.
//
// An attempt is stored before it is evaluated. Each later write of it is conditional: on the version that was read, or
// on the token of the try that evaluates it. So no write is lost, and no attempt is evaluated twice.
package clarity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Service has the operations on attempts and profiles. It is safe for concurrent use.
//
// Package httpapi has judged the input of each method, before the request's key is claimed.
type Service struct {
	// DB are the tables.
	DB *dynamo.DB
	// CursorKey signs the cursors of lists.
	CursorKey dynamo.CursorKey
	Scenarios *Scenarios
	// Evaluator judges answers.
	Evaluator Evaluator
	// EvaluationTime is how long the evaluator may take, at most. Zero: a minute, as for a model.
	EvaluationTime time.Duration
	// EvaluationsPerDay is how many evaluations are begun for a user on a day (UTC), at most.
	EvaluationsPerDay int
	Clock             wire.Clock
	// Metrics count what happened. Nil: nothing is counted.
	Metrics *kit.Metrics
	// Log receives what callers need not know. Nil: [slog.Default].
	Log *slog.Logger
}

// Platform returns the platform, as the service's tables describe it.
func (s *Service) Platform() schema.Platform { return s.DB.Platform(clarity.Platform) }

// Evaluator judges answers, one for each question of the scenario and in their order. It is safe for concurrent use,
// and returns an [*model.Error], or the error of the context.
type Evaluator func(ctx context.Context, scenario clarity.Scenario, answers []clarity.Answer) (clarity.Judgement,
	error)

// Keys are the idempotency keys of the tables. Their scope is the user's id.
func Keys(db *dynamo.DB) *idempotency.Keys { return idempotency.New(db, "Guards", nil) }

// Submit stores an attempt, and evaluates it if it is completed. id is the id of the attempt, the
// same in each attempt at one request; "" is a new one. An attempt that exists already is not stored
// again, but evaluated if it is not yet.
//
// An attempt that is stored is returned, also when it could not be evaluated. Submit returns
// [clarity.ErrScenarioNotFound], [clarity.ErrScenarioInactive], a *validate.Error or a [*clarity.RunningError].
func (s *Service) Submit(ctx context.Context, user, id string, in clarity.Submission) (clarity.Attempt, error) {
	scenario, err := s.Scenarios.Scenario(ctx, in.ScenarioID)
	if err == nil && !scenario.Active && !s.exists(ctx, user, id) {
		err = clarity.ErrScenarioInactive
	}
	if err != nil {
		return clarity.Attempt{}, fmt.Errorf("read the scenario: %w", err)
	}
	if id == "" {
		id = uuid.NewString()
	}
	attempt := clarity.Attempt{
		ID: id, UserID: user, ScenarioID: scenario.ID, Timestamp: wire.Time(s.Clock.Now()),
		DurationSeconds: in.DurationSeconds,
		Status:          cmp.Or(in.Status, clarity.Completed), Version: 1,
	}
	if attempt.Answers, err = clarity.AnswersTo(scenario.Questions, in.Answers, attempt.Status); err != nil {
		return clarity.Attempt{}, err
	}
	stored, created, err := s.store(ctx, attempt, dynamo.Absent("attemptId"))
	if err == nil && stored.UserID != user {
		err = clarity.ErrForbidden
	}
	if err != nil {
		return clarity.Attempt{}, fmt.Errorf("store the attempt: %w", err)
	}
	return s.finish(ctx, scenario, stored, created)
}

// exists reports whether an earlier attempt at the same request has stored the attempt.
func (s *Service) exists(ctx context.Context, user, id string) bool {
	if id == "" {
		return false
	}
	stored, err := s.read(ctx, id)
	return err == nil && stored.UserID == user
}

// Save changes an attempt in progress: it saves, completes or abandons it. ifVersion is the version
// that it must have; 0: any. again says that the request may be a repeat: then an attempt that is
// completed with the same answers counts as completed by this request.
//
// An attempt that is stored is returned, also when it could not be evaluated. Save returns
// [clarity.ErrAttemptNotFound], [clarity.ErrForbidden], [clarity.ErrNotInProgress], a [*problem.VersionError], a
// *validate.Error, [clarity.ErrScenarioNotFound] or a [*clarity.RunningError].
func (s *Service) Save(ctx context.Context, user, id string, in clarity.Save, ifVersion int,
	again bool) (clarity.Attempt, error) {
	var scenario clarity.Scenario
	var attempt clarity.Attempt
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
			answers = clarity.Given(read.Answers)
		}
		attempt = read
		attempt.Status, attempt.Version = cmp.Or(in.Status, clarity.InProgress), read.Version+1
		var invalid error
		attempt.Answers, invalid = clarity.AnswersTo(scenario.Questions, answers, attempt.Status)
		switch {
		case again && read.Status == clarity.Completed && attempt.Status == clarity.Completed &&
			slices.Equal(read.Answers, attempt.Answers):
			attempt = read
			return nil
		case read.Status != clarity.InProgress:
			return clarity.ErrNotInProgress
		case ifVersion != 0 && read.Version != ifVersion:
			return &problem.VersionError{What: "the attempt", Current: read.Version}
		case invalid != nil:
			return invalid
		}
		now := s.Clock.Now()
		switch {
		case in.DurationSeconds != nil:
			attempt.DurationSeconds = in.DurationSeconds
		case attempt.Status != clarity.InProgress:
			took := int(min(max(0, now.Sub(time.Time(read.Timestamp))), clarity.MaxDurationSeconds*time.Second) /
				time.Second)
			attempt.DurationSeconds = &took
		}
		if attempt.Status == clarity.Completed {
			attempt.Timestamp = wire.Time(now)
		}
		if attempt, saved, err = s.store(ctx, attempt, inProgressAt(read.Version)); err == nil && !saved {
			err = retry.ErrStale
		}
		return err
	})
	if err != nil {
		return clarity.Attempt{}, fmt.Errorf("save the attempt: %w", err)
	}
	return s.finish(ctx, scenario, attempt, saved)
}

// Attempt reads an attempt of a user. It returns [clarity.ErrAttemptNotFound] or [clarity.ErrForbidden].
func (s *Service) Attempt(ctx context.Context, user, id string) (clarity.Attempt, error) {
	if !wire.IsID(id) {
		return clarity.Attempt{}, clarity.ErrAttemptNotFound
	}
	attempt, err := s.read(ctx, id)
	if err == nil && attempt.UserID != user {
		err = clarity.ErrForbidden
	}
	if err != nil {
		return clarity.Attempt{}, fmt.Errorf("read the attempt: %w", err)
	}
	return attempt, nil
}

// Attempts lists up to most attempts of a user, newest first, from a cursor on; "" is the beginning. It returns a
// *validate.Error for a cursor of another list.
func (s *Service) Attempts(ctx context.Context, user string, most int, from string) (list clarity.AttemptList,
	err error) {
	read := dynamo.List{Pattern: "ListUserAttempts", Values: []any{user}, Parameter: "nextToken", Key: s.CursorKey,
		Scope: []string{user}}
	list.Attempts, list.NextToken, err = dynamo.ReadPage[clarity.Attempt](ctx, s.DB, read, from,
		cmp.Or(most, clarity.DefaultPageSize))
	if err != nil {
		return clarity.AttemptList{}, fmt.Errorf("list the attempts: %w", err)
	}
	return list, nil
}

// read reads an attempt as it is now, whosever it is. It returns [clarity.ErrAttemptNotFound].
func (s *Service) read(ctx context.Context, id string) (attempt clarity.Attempt, err error) {
	found, err := s.DB.Get(ctx, "GetAttempt", &attempt, id)
	if err == nil && !found {
		err = clarity.ErrAttemptNotFound
	}
	return attempt, err
}

// pending is the partition of the index PendingEvaluations.
const pending = "pending"

// attemptItem is an item of Attempts.
type attemptItem struct {
	clarity.Attempt
	PendingEvaluation string `dynamodbav:"pendingEvaluation,omitempty"`
	SchemaVersion     string `dynamodbav:"schemaVersion"`
}

func newAttemptItem(attempt clarity.Attempt) attemptItem {
	item := attemptItem{Attempt: attempt, SchemaVersion: clarity.SchemaVersion}
	if !attempt.EvaluateAfter.IsZero() {
		item.PendingEvaluation = pending
	}
	return item
}

// inProgressAt is true of an attempt that is in progress, and has the version.
func inProgressAt(version int) expression.ConditionBuilder {
	return dynamo.Equal("version", version).And(dynamo.Equal("status", clarity.InProgress))
}

// write stores a new or changed attempt, if the condition is true. It returns what is stored then, and whether it is
// this attempt. One with a claim counts as an evaluation of its user on the day of its timestamp, and the request's
// idempotency key is claimed with it; another one completes the request, so the answer is kept with it. Beyond the
// limit of the day, write returns a [*clarity.LimitError].
func (s *Service) write(ctx context.Context, attempt clarity.Attempt,
	condition expression.ConditionBuilder) (clarity.Attempt, bool, error) {
	item, day := newAttemptItem(attempt), time.Time(attempt.Timestamp)
	put := dynamo.Put("Attempts", item, condition)
	var err error
	switch {
	case attempt.Claim != "":
		err = idempotency.Claiming(ctx, s.DB, "SubmitAttempt", put, s.counted(attempt.UserID, day))
	case attempt.Version == 1 && idempotency.ClaimFrom(ctx) == nil:
		err = s.DB.Put(ctx, "StoreAttempt", item, condition)
	default:
		err = idempotency.Transact(ctx, s.DB, "SaveAttempt", attempt, put)
	}
	var stored dynamo.Item
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		stored = refused.Item
	} else if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if stored, ok = refused.Failed(0); !ok {
			return clarity.Attempt{}, false, beyond(day)
		}
	} else {
		return attempt, err == nil, err
	}
	var existing clarity.Attempt
	if err := attributevalue.UnmarshalMap(stored, &existing); err != nil {
		return clarity.Attempt{}, false, fmt.Errorf("read the stored attempt: %w", err)
	}
	return existing, false, nil
}

func (s *Service) count(ctx context.Context, metric string) {
	s.Metrics.Emit(ctx, kit.Count(metric, 1))
}

func (s *Service) log() *slog.Logger { return cmp.Or(s.Log, slog.Default()) }
