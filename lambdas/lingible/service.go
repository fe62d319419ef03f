// Package lingible is what runs of Lingible: it translates slang, takes terms that people submit, lets them vote, asks
// quiz questions and keeps the trends. What Lingible is, its tables and entities, is in platforms/lingible.
//
// Each write that uses up what a user has left, or adds something of a user, depends on the user's
// usage, alone or in one transaction: so no limit is overshot, and nothing is added for a user whose
// account is deleted.
package lingible

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Service has the operations of the platform. It is safe for concurrent use, unless Random is set.
//
// Package httpapi has judged the input of each method, before the request's key is claimed.
type Service struct {
	// DB are the tables.
	DB *dynamo.DB
	// CursorKey signs the cursors of lists.
	CursorKey dynamo.CursorKey
	// Language translates, judges submissions and proposes trends.
	Language Language
	// Lexicon has the terms of the quiz, and those whose uses are counted, as of some seconds ago. Nil: none are.
	Lexicon *language.Live
	// Calendar has the days of limits, and the clock.
	Calendar lingible.Calendar
	// VotesToApprove is how many votes approve a submission, 1 to [lingible.MaxVotes].
	VotesToApprove int
	// Random chooses the terms of the quiz and the order of options. Nil: a secure one, since the order must
	// tell nothing.
	Random rand.Source
	// Metrics count what happened. Nil: nothing is counted.
	Metrics *kit.Metrics
	// Log receives what callers need not know. Nil: [slog.Default].
	Log *slog.Logger

	begin sync.Once
	wrong *cache.Cache[[]string]
}

// Platform returns the platform, as the service's tables describe it.
func (s *Service) Platform() schema.Platform { return s.DB.Platform(lingible.Platform) }

func (s *Service) count(ctx context.Context, metric string, n int) {
	s.Metrics.Emit(ctx, kit.Count(metric, n))
}

func (s *Service) log() *slog.Logger { return cmp.Or(s.Log, slog.Default()) }

// Language translates, validates submissions and proposes trends: the embedded one of package
// language, or a model of Amazon Bedrock. It is safe for concurrent use. Its methods return a
// [*model.Error], or the error of the context.
type Language interface {
	// Translate translates a text. An empty direction is [lingible.ToStandard].
	Translate(ctx context.Context, in lingible.TranslationInput) (lingible.Rendering, error)
	// Validate judges a submission.
	Validate(ctx context.Context, submission lingible.Proposal) (lingible.Verdict, error)
	// Trends proposes up to most terms that are in use.
	Trends(ctx context.Context, most int) ([]lingible.ProposedTrend, error)
	// ModelID says what translates and judges, such as "onesynth.language-1".
	ModelID() string
}

// Caller is a user as the token of a request describes one.
type Caller struct {
	// ID is the token's subject.
	ID string
	// Email is the token's email address; empty: it has none.
	Email string
	// SignedIn is when the user signed in: a token that was refreshed since has it, too. Zero: now.
	SignedIn time.Time

	// admission reads the usage of the caller of a request; nil: nothing does.
	admission *admission
}

// The tables.
const (
	submissions  = "Submissions"
	lexicon      = "Lexicon"
	trending     = "Trending"
	users        = "Users"
	translations = "Translations"
)

// Keys returns the idempotency keys. Their scope is the user's id, and they go with the user.
func (s *Service) Keys() *idempotency.Keys {
	return idempotency.New(s.DB, users, func(user, key string) []any {
		return []any{userKey(user), fmt.Sprintf("KEY#%x", sha256.Sum256([]byte(key)))}
	})
}

// Limiter returns the counter of rate limits.
func (s *Service) Limiter() *ratelimit.Counter {
	return ratelimit.New(s.DB, users, func(counter string) []any { return []any{"RATE#" + counter, "METADATA"} })
}

// key is the primary key that all tables have. A struct that embeds it is an item.
type key struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
}

// keyOf returns a key of package platforms/lingible.
func keyOf(values []any) key { return key{values[0].(string), values[1].(string)} }

func (k key) values() []any { return []any{k.PK, k.SK} }

// first reads the first item of a query; false: there is none.
func first[T any](ctx context.Context, db *dynamo.DB, pattern string, values ...any) (item T, found bool, err error) {
	page, err := db.Page(ctx, pattern, dynamo.Query{Values: values, PageSize: 1})
	if err != nil || len(page.Items) == 0 {
		return item, false, err
	}
	return item, true, attributevalue.UnmarshalMap(page.Items[0], &item)
}

func userKey(id string) string { return "USER#" + id }

// termKey is the partition key of what belongs to a term, by its slug.
func termKey(slug string) string { return "TERM#" + slug }

// slugOf is the slug of a partition key of [termKey].
func slugOf(partition string) string { return strings.TrimPrefix(partition, termKey("")) }
