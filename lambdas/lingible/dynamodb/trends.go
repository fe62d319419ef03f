package dynamodb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

var _ lingible.TrendStore = (*Store)(nil)

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

// CountTerm implements [lingible.TrendStore].
func (s *Store) CountTerm(ctx context.Context, term lingible.ProposedTrend, isLookUp bool, now time.Time) error {
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
	return s.db.Update(ctx, "CountTerm", []any{termKey(lingible.Slug(term.Term)), trendKind}, update, expression.ConditionBuilder{}, nil)
}

// UncountTerm implements [lingible.TrendStore].
func (s *Store) UncountTerm(ctx context.Context, slug string, isLookUp bool) error {
	counter, _ := countersOf(isLookUp)
	_, err := dynamo.Held(s.db.Update(ctx, "CountTerm", []any{termKey(slug), trendKind},
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
	attributes := map[string]any{"term": term.Term, "definition": term.Definition, "category": term.Category, "example_usage": term.Example}
	if term.Origin != "" {
		attributes["origin"] = term.Origin
	}
	if len(term.Related) > 0 {
		attributes["related_terms"] = term.Related
	}
	return attributes
}

// Trends implements [lingible.TrendStore]. Trends of the same popularity are in the order of their
// terms.
func (s *Store) Trends(ctx context.Context, query lingible.TrendQuery) (trends []lingible.Trend, err error) {
	pattern, partitions := "ListTrending", []string{"true", "false"}
	read := dynamo.Query{PageSize: query.Most}
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
		left := query.Most
		read.Values = []any{partition}
		for trend, err := range dynamo.Read[trendItem](ctx, s.db, pattern, read) {
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
	return trends[:min(query.Most, len(trends))], nil
}

// TrendSlugs implements [lingible.TrendStore].
func (s *Store) TrendSlugs(ctx context.Context) (slugs []string, err error) {
	for _, partition := range []string{"true", "false"} {
		found, err := s.slugs(ctx, "ListTrending", partition)
		if err != nil {
			return nil, err
		}
		slugs = append(slugs, found...)
	}
	return slugs, nil
}

// CountedTrends implements [lingible.TrendStore].
func (s *Store) CountedTrends(ctx context.Context, slugs []string) ([]lingible.CountedTrend, error) {
	read, err := dynamo.ReadBatch[trendItem](ctx, s.db, "GetTrends", termKeys(slugs, trendKind)...)
	trends := make([]lingible.CountedTrend, len(read))
	for i, trend := range read {
		if trend != nil {
			trends[i] = trend.read()
		}
		trends[i].Slug = slugs[i]
	}
	return trends, err
}

// ScoreTrend implements [lingible.TrendStore].
func (s *Store) ScoreTrend(ctx context.Context, scored lingible.CountedTrend, proposed *lingible.ProposedTrend, read time.Time) error {
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
	return dynamo.UnlessStale(s.db.Update(ctx, "ScoreTrend", []any{termKey(scored.Slug), trendKind}, update, asRead, nil))
}
