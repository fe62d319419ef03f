package lingible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

const (
	// proposing is how long a run waits for proposals: enough time is left to score the counts.
	proposing = time.Minute
	// atOnce is how many terms are counted or scored at the same time.
	atOnce = 16
)

// CountTerms begins to count a use of each term of the lexicon, by its slug. isLookUp says that the term is all of the
// text. settle waits for that, and takes the uses back unless the translation is charged. It returns how many counts
// are wrong by a use, and logs why. A process that dies before settle has ended may leave a use counted of a
// translation that is not charged.
func (s *Service) CountTerms(ctx context.Context, slugs []string,
	isLookUp bool) (settle func(isCharged bool) (wrong int)) {
	var begun errgroup.Group
	var counted []string
	wrong := 0
	begun.Go(func() (err error) {
		counted, wrong, err = each(slugs, func(slug string) (bool, error) {
			entry, ok, err := s.Lexicon.Entry(ctx, slug)
			if err == nil && ok {
				err = s.countTerm(ctx, entry.Trend(), isLookUp, s.Calendar.Clock.Now())
			}
			return ok, err
		})
		return err
	})
	return func(isCharged bool) int {
		err := begun.Wait()
		if !isCharged {
			_, wrong, err = each(counted, func(slug string) (bool, error) {
				return true, s.uncountTerm(ctx, slug, isLookUp)
			})
		}
		if err != nil {
			s.log().WarnContext(ctx, "terms were not counted", "terms", wrong, "error", err.Error())
		}
		return wrong
	}
}

// each does work for each item, several at the same time. It returns those that work was done for, and how many
// failed, with the error of one.
func each[T any](items []T, work func(T) (isDone bool, err error)) (done []T, failed int, err error) {
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, item := range items {
		all.Go(func() error {
			isDone, err := work(item)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed++
			case isDone:
				done = append(done, item)
			}
			return err
		})
	}
	err = all.Wait()
	return done, failed, err
}

// Trends lists trends for a caller, the most popular first: as many and of such categories as the
// tier allows. It returns [lingible.ErrUserDeleted], or a [*lingible.SubscriptionError] for another category.
func (s *Service) Trends(ctx context.Context, caller Caller, query lingible.TrendQuery) ([]lingible.Trend, error) {
	usage, err := s.Usage(ctx, caller)
	if err != nil {
		return nil, err
	}
	limits := usage.Tier.Limits()
	if !limits.AllTrends {
		if query.Category = cmp.Or(query.Category, lingible.Slang); query.Category != lingible.Slang {
			return nil, &lingible.SubscriptionError{What: fmt.Sprintf("the category %s of trends", query.Category)}
		}
	}
	query.Limit = min(query.Limit, limits.Trends)
	return s.listTrends(ctx, query)
}

// TrendRun is what a run of the trending job did.
type TrendRun struct {
	// Scored are the trends that have a new score, and Proposed those that the language proposed.
	Scored, Proposed int
}

// ScoreTrends scores all trends by their uses and by what the language proposes. Runs may overlap: each
// use counts once. Without proposals, the uses alone count.
func (s *Service) ScoreTrends(ctx context.Context) (run TrendRun, err error) {
	within, cancel := context.WithTimeout(ctx, proposing)
	proposals, err := s.Language.Trends(within, lingible.MaxProposed)
	cancel()
	if err != nil {
		if ctx.Err() != nil {
			return run, err
		}
		s.log().WarnContext(ctx, "the language proposed no trends: the counts alone are scored", "error", err.Error())
		s.count(ctx, "LanguageFailures", 1)
		proposals = nil
	}
	slugs, err := s.trendSlugs(ctx)
	if err != nil {
		return run, err
	}
	proposed := map[string]*lingible.ProposedTrend{}
	for _, p := range proposals {
		if slug := lingible.Slug(p.Term); slug != "" && proposed[slug] == nil {
			proposed[slug], slugs = &p, append(slugs, slug)
		}
	}
	run.Proposed = len(proposed)
	slices.Sort(slugs)
	trends, err := s.countedTrends(ctx, slices.Compact(slugs))
	if err != nil {
		return run, err
	}
	now, next := s.Calendar.Clock.Now(), make([]lingible.CountedTrend, len(trends))
	for i, trend := range trends {
		if next[i] = trend; isScored(trend, proposed[trend.Slug]) {
			next[i] = trend.Scored(now, proposed[trend.Slug])
		}
	}
	lists := lingible.TrendListsOf(next)
	scored, _, err := each(trends, func(trend lingible.CountedTrend) (bool, error) {
		return s.score(ctx, trend, proposed[trend.Slug], lists)
	})
	run.Scored = len(scored)
	s.count(ctx, "TrendsScored", run.Scored)
	return run, err
}

// isScored reports whether a trend has a score: not if its time has ended, and nobody proposes it.
func isScored(read lingible.CountedTrend, proposed *lingible.ProposedTrend) bool {
	return !read.LastUpdated.IsZero() || proposed != nil
}

// score stores what a run changes of a trend, and reports whether that was anything. A score that no list shows stays
// as it was stored, so no index is written. Nothing needs to be stored without new uses: heat follows from the time
// since it was stored.
func (s *Service) score(ctx context.Context, read lingible.CountedTrend, proposed *lingible.ProposedTrend,
	lists lingible.TrendLists) (stored bool, err error) {
	err = retry.Do(ctx, func() error {
		if stored = isScored(read, proposed); !stored {
			return nil
		}
		next := read.Scored(s.Calendar.Clock.Now(), proposed)
		if proposed == nil && next.IsActive == read.IsActive && !lists.Show(next, next.Popularity) &&
			!lists.Show(next, read.Popularity) {
			next.Popularity = read.Popularity
		}
		stored = proposed != nil || next.CountedUses != read.CountedUses || next.Popularity != read.Popularity ||
			next.IsActive != read.IsActive
		if !stored {
			return nil
		}
		err := s.storeScore(ctx, next, proposed, read.LastUpdated)
		if errors.Is(err, retry.ErrStale) {
			again, err := s.countedTrends(ctx, []string{read.Slug})
			if err != nil {
				return err
			}
			read = again[0]
		}
		return err
	})
	return stored && err == nil, err
}

const (
	trendKind = "METADATA#trending"
	// filteredPage is how many trends of a category one request reads, those among them that a
	// filter drops.
	filteredPage = 100
)

// trendItem is a trend as stored. A key must be a String.
type trendItem struct {
	key
	lingible.CountedTrend
	Active string `dynamodbav:"is_active"`
}

func (i trendItem) read() lingible.CountedTrend {
	i.IsActive, i.Slug = i.Active == "true", slugOf(i.PK)
	return i.CountedTrend
}

// trendExpiry is the end of a trend that was used or proposed at a moment.
func trendExpiry(now time.Time) int64 { return dynamo.ExpiryAt(now.Add(lingible.TrendAge)) }

// countTerm counts a use of a term, and stores the trend if there is none.
func (s *Service) countTerm(ctx context.Context, term lingible.ProposedTrend, isLookUp bool, now time.Time) error {
	counter, other := countersOf(isLookUp)
	update := expression.Add(dynamo.Name(counter), expression.Value(1)).
		Add(dynamo.Name(other), expression.Value(0)).
		Set(dynamo.Name("ttl"), expression.Value(trendExpiry(now)))
	begun := described(term)
	begun["popularity_score"], begun["is_active"], begun["heat"], begun["counted_uses"] = 0, "true", 0, 0
	begun["first_seen"], begun["last_updated"] = dynamo.FormatTime(now), dynamo.FormatTime(now)
	for name, value := range begun {
		update = update.Set(dynamo.Name(name), dynamo.Name(name).IfNotExists(expression.Value(value)))
	}
	return s.DB.Update(ctx, "CountTerm", []any{termKey(lingible.Slug(term.Term)), trendKind}, update,
		expression.ConditionBuilder{}, nil)
}

// uncountTerm takes back a use that was counted.
func (s *Service) uncountTerm(ctx context.Context, slug string, isLookUp bool) error {
	counter, _ := countersOf(isLookUp)
	_, err := dynamo.Satisfied(s.DB.Update(ctx, "CountTerm", []any{termKey(slug), trendKind},
		expression.Add(dynamo.Name(counter), expression.Value(-1)), expression.AttributeExists(dynamo.Name("PK")), nil))
	return err
}

// countersOf are the attribute that counts such a use, and the one that counts others.
func countersOf(isLookUp bool) (counter, other string) {
	if isLookUp {
		return "search_count", "translation_count"
	}
	return "translation_count", "search_count"
}

// described are the attributes of a trend that say what the term is.
func described(term lingible.ProposedTrend) map[string]any {
	attributes := map[string]any{"term": term.Term, "definition": term.Definition, "category": term.Category,
		"example_usage": term.Example}
	if term.Origin != "" {
		attributes["origin"] = term.Origin
	}
	if len(term.Related) > 0 {
		attributes["related_terms"] = term.Related
	}
	return attributes
}

// listTrends reads trends, the most popular first. Only attributes that are listed are read. Trends of the same
// popularity are in the order of their terms.
func (s *Service) listTrends(ctx context.Context, query lingible.TrendQuery) (trends []lingible.Trend, err error) {
	pattern, partitions := "ListTrending", []string{"true", "false"}
	read := dynamo.Query{PageSize: query.Limit}
	switch {
	case query.Category != "":
		pattern, partitions = "ListTrendingByCategory", []string{string(query.Category)}
		if query.ActiveOnly {
			read.Filter, read.PageSize = dynamo.Equal("is_active", "true"), filteredPage
		}
	case query.ActiveOnly:
		partitions = partitions[:1]
	}
	for _, partition := range partitions {
		left := query.Limit
		read.Values = []any{partition}
		for trend, err := range dynamo.Read[trendItem](ctx, s.DB, pattern, read) {
			if err != nil {
				return nil, err
			}
			trends = append(trends, trend.read().Trend)
			if left--; left == 0 {
				break
			}
		}
	}
	slices.SortStableFunc(trends, func(a, b lingible.Trend) int {
		return cmp.Or(cmp.Compare(b.Popularity, a.Popularity), strings.Compare(a.Term, b.Term))
	})
	return trends[:min(query.Limit, len(trends))], nil
}

// trendSlugs reads the slugs of all trends.
func (s *Service) trendSlugs(ctx context.Context) (slugs []string, err error) {
	for _, partition := range []string{"true", "false"} {
		found, err := slugsOf(ctx, s.DB, "ListTrending", partition)
		if err != nil {
			return nil, err
		}
		slugs = append(slugs, found...)
	}
	return slugs, nil
}

// countedTrends reads the trends of slugs, in their order, as they are now.
func (s *Service) countedTrends(ctx context.Context, slugs []string) ([]lingible.CountedTrend, error) {
	read, err := dynamo.ReadBatch[trendItem](ctx, s.DB, "GetTrends", termKeys(slugs, trendKind)...)
	trends := make([]lingible.CountedTrend, len(read))
	for i, trend := range read {
		if trend != nil {
			trends[i] = trend.read()
		}
		trends[i].Slug = slugs[i]
	}
	return trends, err
}

// storeScore stores a scored trend, and what the language says of it, if it was scored last when read says; zero: it
// is not stored. Otherwise it returns [retry.ErrStale].
func (s *Service) storeScore(ctx context.Context, scored lingible.CountedTrend, proposed *lingible.ProposedTrend,
	read time.Time) error {
	asRead := dynamo.Absent("last_updated")
	if !read.IsZero() {
		asRead = dynamo.Equal("last_updated", dynamo.FormatTime(read))
	}
	now := dynamo.FormatTime(scored.LastUpdated)
	update := expression.Set(dynamo.Name("first_seen"), dynamo.Name("first_seen").IfNotExists(expression.Value(now))).
		Set(dynamo.Name("last_updated"), expression.Value(now)).
		Set(dynamo.Name("heat"), expression.Value(scored.Heat)).
		Set(dynamo.Name("counted_uses"), expression.Value(scored.CountedUses)).
		Set(dynamo.Name("popularity_score"), expression.Value(scored.Popularity)).
		Set(dynamo.Name("is_active"), expression.Value(fmt.Sprint(scored.IsActive)))
	if proposed != nil {
		for name, value := range described(*proposed) {
			update = update.Set(dynamo.Name(name), expression.Value(value))
		}
		update = update.Set(dynamo.Name("ttl"), expression.Value(trendExpiry(scored.LastUpdated))).
			Add(dynamo.Name("translation_count"), expression.Value(0)).
			Add(dynamo.Name("search_count"), expression.Value(0))
	}
	return dynamo.UnlessStale(s.DB.Update(ctx, "ScoreTrend", []any{termKey(scored.Slug), trendKind}, update, asRead,
		nil))
}
