package lingible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

const (
	// TrendAge is how long a trend is kept after its last use or proposal.
	TrendAge = 90 * 24 * time.Hour
	// MaxProposed is how many trends a [Language] proposes to a run of the trending job, at most.
	MaxProposed = 50
	// MaxTrends is how long a list of trends is, at most; of a user that of [Limits.Trends].
	MaxTrends = 100

	// halfLife is the time after which half of a use counts.
	halfLife = 7 * 24 * time.Hour
	// lookUpWeight is how many uses a look-up is.
	lookUpWeight = 2
	// halfPopular is the heat of a score of 50.
	halfPopular = 50
	// leastHeat is the heat from which a term is in use: one use within a week.
	leastHeat = 0.5
	// noHeat is the heat that is as none. DynamoDB stores no number that is much smaller.
	noHeat = 1e-6
	// proposing is how long a run waits for proposals: enough time is left to score the counts.
	proposing = time.Minute
	// atOnce is how many terms are counted or scored at the same time.
	atOnce = 16
)

// Trend is a trending term, also on the wire.
type Trend struct {
	Term       string        `json:"term" dynamodbav:"term" example:"flex"`
	Definition string        `json:"definition" dynamodbav:"definition" example:"To show off what you have or can do"`
	Category   TrendCategory `json:"category" dynamodbav:"category" enum:"slang,phrase,expression,meme,hashtag"`
	Popularity float64       `json:"popularity_score" dynamodbav:"popularity_score" minimum:"0" maximum:"100" doc:"As of the last daily run; 0 before the first."`
	IsActive   bool          `json:"is_active" dynamodbav:"-" doc:"Whether the term is in use."`
}

// CountedTrend is a trend with what its popularity follows from.
type CountedTrend struct {
	Trend
	// Slug identifies it.
	Slug string `dynamodbav:"-"`
	// Translations and LookUps count its uses. A look-up is the translation of the term alone.
	Translations int `dynamodbav:"translation_count"`
	LookUps      int `dynamodbav:"search_count"`
	// Heat has in it the first CountedUses of the uses, as of LastUpdated.
	Heat        float64 `dynamodbav:"heat"`
	CountedUses int     `dynamodbav:"counted_uses"`
	// LastUpdated is when it was scored last, or begun. Zero: it is not stored.
	LastUpdated time.Time `dynamodbav:"last_updated"`
}

// Scored is the trend as of a moment, in whole milliseconds. proposed is what the language says of
// it; nil: nothing. The heat depends on the time that has passed and on the uses, and not on how
// often it was scored.
func (t CountedTrend) Scored(now time.Time, proposed *ProposedTrend) CountedTrend {
	// Another process may have a clock that is ahead.
	now = now.UTC().Truncate(time.Millisecond)
	if now.Before(t.LastUpdated) {
		now = t.LastUpdated
	}
	uses := t.Translations + lookUpWeight*t.LookUps
	t.Heat = t.Heat*math.Exp2(-now.Sub(t.LastUpdated).Hours()/halfLife.Hours()) + float64(uses-t.CountedUses)
	if t.Heat < noHeat {
		t.Heat = 0
	}
	t.CountedUses, t.LastUpdated = uses, now
	t.IsActive = t.Heat >= leastHeat
	t.Popularity = math.Round(1000*t.Heat/(t.Heat+halfPopular)) / 10
	if proposed != nil {
		t.Term, t.Definition, t.Category, t.IsActive = proposed.Term, proposed.Definition, proposed.Category, true
		t.Popularity = max(t.Popularity, math.Round(10*min(proposed.Popularity, 100))/10)
	}
	return t
}

// TrendQuery says which trends are listed.
type TrendQuery struct {
	// Category is the category; empty: all.
	Category TrendCategory
	// ActiveOnly leaves out those that are not in use.
	ActiveOnly bool
	// Most is how many are listed, at most.
	Most int
}

// TrendStore is the storage that [Trends] needs.
type TrendStore interface {
	// CountTerm counts a use of a term, and stores the trend if there is none.
	CountTerm(ctx context.Context, term ProposedTrend, isLookUp bool, now time.Time) error
	// UncountTerm takes back a use that was counted.
	UncountTerm(ctx context.Context, slug string, isLookUp bool) error
	// Trends reads trends, the most popular first. Only attributes that are listed are read.
	Trends(ctx context.Context, query TrendQuery) ([]Trend, error)
	// TrendSlugs reads the slugs of all trends.
	TrendSlugs(ctx context.Context) ([]string, error)
	// CountedTrends reads the trends of slugs, in their order, as they are now.
	CountedTrends(ctx context.Context, slugs []string) ([]CountedTrend, error)
	// ScoreTrend stores a scored trend, and what the language says of it, if it was scored last when
	// read says; zero: it is not stored. Otherwise it returns [retry.ErrStale].
	ScoreTrend(ctx context.Context, scored CountedTrend, proposed *ProposedTrend, read time.Time) error
}

// TermFinder finds terms of the lexicon.
type TermFinder interface {
	// Entry returns the term with a slug; false: there is none.
	Entry(ctx context.Context, slug string) (Entry, bool, error)
}

// Trends are the trending terms. It is safe for concurrent use.
type Trends struct {
	Users *Users
	Store TrendStore
	// Lexicon has the terms that are counted.
	Lexicon TermFinder
	// Language proposes trends to [Trends.Score].
	Language Language
	// Now is the clock. Nil: [time.Now].
	Now   func() time.Time
	Count Counter
	// Log receives what callers need not know. Nil: [slog.Default].
	Log *slog.Logger
}

// CountTerms begins to count a use of each term of the lexicon, as [TermCounter] says. A process that
// dies before settle has ended may leave a use counted of a translation that is not charged.
func (t *Trends) CountTerms(ctx context.Context, slugs []string, isLookUp bool) (settle func(isCharged bool) (wrong int)) {
	var begun errgroup.Group
	var counted []string
	wrong := 0
	begun.Go(func() (err error) {
		counted, wrong, err = each(slugs, func(slug string) (bool, error) {
			entry, ok, err := t.Lexicon.Entry(ctx, slug)
			if err == nil && ok {
				err = t.Store.CountTerm(ctx, entry.Trend(), isLookUp, t.now())
			}
			return ok, err
		})
		return err
	})
	return func(isCharged bool) int {
		err := begun.Wait()
		if !isCharged {
			_, wrong, err = each(counted, func(slug string) (bool, error) { return true, t.Store.UncountTerm(ctx, slug, isLookUp) })
		}
		if err != nil {
			t.log().WarnContext(ctx, "terms were not counted", "terms", wrong, "error", err.Error())
		}
		return wrong
	}
}

// each does work for each term, several at the same time. It returns those that work was done for,
// and how many failed, with the error of one.
func each(slugs []string, work func(slug string) (isDone bool, err error)) (done []string, failed int, err error) {
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, slug := range slugs {
		all.Go(func() error {
			isDone, err := work(slug)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed++
			case isDone:
				done = append(done, slug)
			}
			return err
		})
	}
	err = all.Wait()
	return done, failed, err
}

// List lists trends for a caller, the most popular first: as many and of such categories as the
// tier allows. It returns [ErrUserDeleted], or a [*SubscriptionError] for another category.
func (t *Trends) List(ctx context.Context, caller Caller, query TrendQuery) ([]Trend, error) {
	usage, err := t.Users.Usage(ctx, caller)
	if err != nil {
		return nil, err
	}
	limits := usage.Tier.Limits()
	if !limits.AllTrends {
		if query.Category = cmp.Or(query.Category, Slang); query.Category != Slang {
			return nil, &SubscriptionError{What: fmt.Sprintf("the category %s of trends", query.Category)}
		}
	}
	query.Most = min(query.Most, limits.Trends)
	return t.Store.Trends(ctx, query)
}

// TrendRun is what a run of the trending job did.
type TrendRun struct {
	// Scored are the trends that have a new score, and Proposed those that the language proposed.
	Scored, Proposed int
}

// Score scores all trends by their uses and by what the language proposes. Runs may overlap: each
// use counts once. Without proposals, the uses alone count.
func (t *Trends) Score(ctx context.Context) (run TrendRun, err error) {
	within, cancel := context.WithTimeout(ctx, proposing)
	proposals, err := t.Language.Trends(within, MaxProposed)
	cancel()
	if err != nil {
		if ctx.Err() != nil {
			return run, err
		}
		t.log().WarnContext(ctx, "the language proposed no trends: the counts alone are scored", "error", err.Error())
		t.Count.add(ctx, "LanguageFailures", 1)
		proposals = nil
	}
	slugs, err := t.Store.TrendSlugs(ctx)
	if err != nil {
		return run, err
	}
	proposed := map[string]*ProposedTrend{}
	for _, p := range proposals {
		if slug := Slug(p.Term); slug != "" && proposed[slug] == nil {
			proposed[slug], slugs = &p, append(slugs, slug)
		}
	}
	run.Proposed = len(proposed)
	slices.Sort(slugs)
	trends, err := t.Store.CountedTrends(ctx, slices.Compact(slugs))
	if err != nil {
		return run, err
	}
	var scored atomic.Int64
	scores, running := errgroup.WithContext(ctx)
	scores.SetLimit(atOnce)
	for _, trend := range trends {
		scores.Go(func() error {
			stored, err := t.score(running, trend, proposed[trend.Slug])
			if stored {
				scored.Add(1)
			}
			return err
		})
	}
	err = scores.Wait()
	run.Scored = int(scored.Load())
	t.Count.add(ctx, "TrendsScored", run.Scored)
	return run, err
}

// score stores the score of a trend if that is another one, and reports whether it did. There is none whose time has
// ended. A score that stays need not be stored: it follows from the time since the last one that was.
func (t *Trends) score(ctx context.Context, read CountedTrend, proposed *ProposedTrend) (stored bool, err error) {
	err = retry.Do(ctx, func() error {
		if stored = !read.LastUpdated.IsZero() || proposed != nil; !stored {
			return nil
		}
		next := read.Scored(t.now(), proposed)
		stored = proposed != nil || next.CountedUses != read.CountedUses || next.Popularity != read.Popularity || next.IsActive != read.IsActive
		if !stored {
			return nil
		}
		err := t.Store.ScoreTrend(ctx, next, proposed, read.LastUpdated)
		if errors.Is(err, retry.ErrStale) {
			again, err := t.Store.CountedTrends(ctx, []string{read.Slug})
			if err != nil {
				return err
			}
			read = again[0]
		}
		return err
	})
	return stored && err == nil, err
}

func (t *Trends) now() time.Time { return Calendar{Now: t.Now}.Time() }

func (t *Trends) log() *slog.Logger { return cmp.Or(t.Log, slog.Default()) }
