package lingible

import (
	"math"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

const (
	// TrendAge is how long the table keeps a trend after its last use or proposal.
	TrendAge = 90 * 24 * time.Hour
	// MaxProposed limits the trends that a language proposes to one run of the trending job.
	MaxProposed = 50
	// MaxTrends limits a list of trends. A user's list has the limit of [Limits.Trends], too.
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
)

// TrendCategory is what kind of term a trend is.
type TrendCategory string

// The categories of trends. Users of the free tier see [Slang] alone.
const (
	Slang      TrendCategory = "slang"
	PhraseLike TrendCategory = "phrase"
	Expression TrendCategory = "expression"
	Meme       TrendCategory = "meme"
	Hashtag    TrendCategory = "hashtag"
)

// TrendCategories returns all categories of trends.
func TrendCategories() []TrendCategory {
	return []TrendCategory{Slang, PhraseLike, Expression, Meme, Hashtag}
}

// ProposedTrend is a term that a language considers to be in use. Its JSON is what a model answers.
type ProposedTrend struct {
	Term       string        `json:"term"`
	Definition string        `json:"definition"`
	Category   TrendCategory `json:"category"`
	// Popularity is from 0 to 100.
	Popularity float64 `json:"popularity"`
	Example    string  `json:"example"`
	// Origin may be empty.
	Origin  string   `json:"origin"`
	Related []string `json:"related"`
}

// Check adds a problem for each field that is too long, or not allowed.
func (t ProposedTrend) Check(p *validate.Problems, _ string) {
	p.Text("term", t.Term, 1, 100)
	p.Text("definition", t.Definition, 1, 500)
	validate.OneOf(p, "category", t.Category, TrendCategories())
	if t.Popularity < 0 || t.Popularity > 100 {
		p.Add("popularity", validate.RuleRange, "is %v; allowed is 0 to 100", t.Popularity)
	}
	p.Text("example", t.Example, 1, 500)
	p.Text("origin", t.Origin, 0, 200)
	for _, related := range t.Related {
		p.Text("related", related, 1, 100)
	}
}

// Trend is a trending term, also on the wire.
type Trend struct {
	Term       string        `json:"term" dynamodbav:"term" example:"flex"`
	Definition string        `json:"definition" dynamodbav:"definition" example:"To show off what you have or can do"`
	Category   TrendCategory `json:"category" dynamodbav:"category" enum:"slang,phrase,expression,meme,hashtag"`
	Popularity float64       `json:"popularity_score" dynamodbav:"popularity_score" minimum:"0" maximum:"100" doc:"As of the last daily run; 0 before the first."`
	IsActive   bool          `json:"is_active" dynamodbav:"-" doc:"Whether the term is in use."`
}

// CountedTrend is a trend with the counts that its popularity is computed from.
type CountedTrend struct {
	Trend
	// Slug identifies it.
	Slug string `dynamodbav:"-"`
	// Translations and LookUps count its uses. A look-up is the translation of the term alone.
	Translations int `dynamodbav:"translation_count"`
	LookUps      int `dynamodbav:"search_count"`
	// Heat is the number of uses, each of which counts half after every 7 days, as of LastUpdated. A look-up counts as
	// two uses. CountedUses is how many uses it includes.
	Heat        float64 `dynamodbav:"heat"`
	CountedUses int     `dynamodbav:"counted_uses"`
	// LastUpdated is when Heat was last computed. Zero: the table does not have the trend.
	LastUpdated time.Time `dynamodbav:"last_updated"`
}

// Scored returns the trend as of now, in whole milliseconds. proposed is the language's proposal of the term, or nil.
// Heat depends on the time that has passed and on the uses, not on how often Scored was called.
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

// TrendLists knows which trends the lists of [TrendQuery] show: the first [MaxTrends] of those in use, of all others,
// and of each category, with and without those that are not in use.
type TrendLists struct {
	// least has the lowest score that a full list shows.
	least map[trendList]float64
}

// trendList identifies a list. An empty category stands for all.
type trendList struct {
	category TrendCategory
	uses     string
}

// lists returns the lists that could show a trend.
func (t CountedTrend) lists() []trendList {
	if t.IsActive {
		return []trendList{{uses: "in use"}, {category: t.Category}, {category: t.Category, uses: "in use"}}
	}
	return []trendList{{uses: "not in use"}, {category: t.Category}}
}

// TrendListsOf returns the lists of all trends. Those that the table does not have are left out.
func TrendListsOf(trends []CountedTrend) TrendLists {
	scores := map[trendList][]float64{}
	for _, trend := range trends {
		for _, list := range trend.lists() {
			if !trend.LastUpdated.IsZero() {
				scores[list] = append(scores[list], trend.Popularity)
			}
		}
	}
	least := map[trendList]float64{}
	for list, all := range scores {
		if len(all) >= MaxTrends {
			slices.Sort(all)
			least[list] = all[len(all)-MaxTrends]
		}
	}
	return TrendLists{least}
}

// Show reports whether a list would show a trend if it had that score. Trends of the lowest score that is shown count
// as shown, since a list may have any of them.
func (l TrendLists) Show(trend CountedTrend, popularity float64) bool {
	return slices.ContainsFunc(trend.lists(), func(list trendList) bool {
		least, isFull := l.least[list]
		return !isFull || popularity >= least
	})
}

// TrendQuery says which trends to list.
type TrendQuery struct {
	// Category is the category. Empty: all.
	Category TrendCategory
	// ActiveOnly leaves out trends that are not in use.
	ActiveOnly bool
	// Limit is how many trends there are at most.
	Limit int
}
