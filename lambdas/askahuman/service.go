package askahuman

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Service has the operations of agents, who ask and cannot see another agent's question; of people, of whom it knows
// but a hash of the fingerprint that their device sends; and of operators, who moderate, and may repeat all that they
// do. It is safe for concurrent use.
type Service struct {
	// DB are the tables.
	DB *dynamo.DB
	// Shards are those of the busiest index keys.
	Shards Shards
	// Parts says what the platform has besides. The zero value: the parts of [askahuman.Platform].
	Parts askahuman.Parts
	// Rules have the quota of open questions and the points of answers. Nil: [askahuman.DefaultRules].
	Rules *askahuman.Rules
	// CheckCallback returns what is wrong with the address of an endpoint for webhooks, as what follows the field's
	// name. Nil: no webhooks are sent, and an ask that wants one is refused.
	CheckCallback func(url string) error
	// Ended is called once for each question that an agent's request ends, with its new status, possibly from several
	// goroutines at once. Nil is allowed.
	Ended func(ctx context.Context, status askahuman.Status)
	// SharesUnread is called with the error for which a receipt has no shares of the options. Nil is allowed.
	SharesUnread func(ctx context.Context, err error)
	Clock        wire.Clock
	// Pause lets time pass while [Service.ReadNews] waits, and returns the error of a context that ends first. Nil is
	// [retry.Pause].
	Pause func(ctx context.Context, d time.Duration) error

	boards boards
}

// Open returns the service of a function of askahuman.Platform, on the tables that its
// environment names.
// Its variables SHARDS and READ_SHARDS are [Shards.Write], 1 by default, and
// [Shards.Read], by default the same. LEFT_OUT names the parts that the stack has not, SHARE_OPTIONS is
// [askahuman.Parts.ShareOptions], and RULES has the rules.
func Open(environment kit.Environment, function string) (*Service, error) {
	parts, err := askahuman.ParseParts(environment.Getenv("LEFT_OUT"))
	if err != nil {
		return nil, err
	}
	if parts.ShareOptions, err = environment.Bool(askahuman.ShareOptionsVariable); err != nil {
		return nil, err
	}
	tables, err := dynamo.Open(environment, askahuman.With(parts), function)
	if err != nil {
		return nil, err
	}
	shards, err := environment.Int("SHARDS", 1)
	if err != nil {
		return nil, err
	}
	read, err := environment.Int("READ_SHARDS", shards)
	if err != nil {
		return nil, err
	}
	rules, err := askahuman.ParseRules(environment.Getenv("RULES"))
	if err != nil {
		return nil, err
	}
	return &Service{DB: tables, Shards: Shards{Write: shards, Read: read}, Parts: parts, Rules: &rules}, nil
}

// Platform returns the platform with the service's parts.
func (s *Service) Platform() schema.Platform {
	return s.DB.Platform(func() schema.Platform { return askahuman.With(s.Parts) })
}

func (s *Service) rules() askahuman.Rules {
	return askahuman.Or(s.Rules, askahuman.DefaultRules())
}

// moment is a moment in an expression.
func moment(t time.Time) expression.ValueBuilder { return expression.Value(dynamo.FormatTime(t)) }

func digest(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "\x00"))))
}

// answerable is true of questions whose stored status takes answers. It compares the beginning,
// because the shard follows the status.
func answerable() expression.ConditionBuilder {
	return dynamo.Name("status").BeginsWith(string(askahuman.StatusOpen)).
		Or(dynamo.Name("status").BeginsWith(string(askahuman.StatusPartial)))
}

// Limiter returns the counter of calls. An agent's asks are counted in the item of its open questions, so that one
// write counts an ask and takes its place.
func (s *Service) Limiter() *ratelimit.Counter {
	counter := ratelimit.New(s.DB, "Guards", func(counter string) []any { return []any{"RATE#" + counter} })
	counter.KeepIn("create", quota)
	return counter
}

// wrap wraps an error with the action that failed. It returns the errors that callers
// distinguish unchanged, because their text is for people, and nil for nil.
func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	var known problem.Problem
	if errors.As(err, &known) {
		return known
	}
	return fmt.Errorf("%s: %w", doing, err)
}
