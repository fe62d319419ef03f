package lingible

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// Direction says which way a text is translated.
type Direction string

// The directions.
const (
	ToStandard Direction = "to_standard"
	ToSlang    Direction = "to_slang"
)

// LowConfidence is the confidence below which a translation is not to be relied on.
const LowConfidence = 0.3

// Language translates, validates submissions and proposes trends: the embedded one of package
// language, or a model of Amazon Bedrock. It is safe for concurrent use. Its methods return a
// [*model.Error], or the error of the context.
type Language interface {
	// Translate translates a text.
	Translate(ctx context.Context, text string, to Direction) (Rendering, error)
	// Validate judges a submission.
	Validate(ctx context.Context, submission Proposal) (Verdict, error)
	// Trends proposes up to most terms that are in use.
	Trends(ctx context.Context, most int) ([]ProposedTrend, error)
	// ModelID says what translates and judges, such as "onesynth.language-1".
	ModelID() string
}

// Rendering is a text in the other language.
type Rendering struct {
	Text string
	// Confidence is from 0 to 1: of the embedded language the share of the words of the original
	// that it knows. A text without words has 0.
	Confidence float64
	// Unchanged says that the text is the original, byte for byte.
	Unchanged bool
	// Terms are the slugs of the terms of the lexicon that were found or put in, each once, in the
	// order of the text. A term without a plain equivalent is found, and stays.
	Terms []string
}

// Proposal is a term that somebody proposes for the lexicon, also on the wire.
type Proposal struct {
	Term    string `json:"slang_term" dynamodbav:"slang_term" minLength:"1" maxLength:"100" doc:"It needs a letter, digit or symbol." example:"parallel parked"`
	Meaning string `json:"meaning" dynamodbav:"meaning" minLength:"1" maxLength:"500" example:"Pleased with something small that one did well"`
	Example string `json:"example_usage" dynamodbav:"example_usage" minLength:"1" maxLength:"500" doc:"A sentence with the term." example:"She fixed the printer and was parallel parked all day."`
	// Context may be empty.
	Context string `json:"context,omitempty" dynamodbav:"context,omitempty" nullable:"true" maxLength:"500" doc:"Where the term is from, or who uses it."`
}

// Check checks what the tags of the fields do not state.
func (p Proposal) Check(problems *validate.Problems, _ string) {
	if !validate.IsBlank(p.Term) {
		checkSlug(problems, "slang_term", p.Term, nil)
	}
}

// Verdict is what a [Language] says about a [Proposal].
type Verdict struct {
	Valid bool `json:"valid" dynamodbav:"valid"`
	// Confidence says how sure the verdict is, from 0 to 1.
	Confidence float64 `json:"confidence" dynamodbav:"confidence" minimum:"0" maximum:"1"`
	// Usage says how much use the term promises, from 1 to 10.
	Usage int `json:"usage_score" dynamodbav:"usage_score" minimum:"1" maximum:"10"`
	// Recommended says that the submission is valid, and that no rule found a weakness.
	Recommended bool `json:"-" dynamodbav:"-"`
	// Reasons say for people which rules are broken, or what would make a valid submission better.
	Reasons []string `json:"reasons" dynamodbav:"reasons" nullable:"false"`
}

// TrendCategory is what kind of a term a trend is.
type TrendCategory string

// The categories of trends. Users of the free tier see [Slang] alone.
const (
	Slang      TrendCategory = "slang"
	PhraseLike TrendCategory = "phrase"
	Expression TrendCategory = "expression"
	Meme       TrendCategory = "meme"
	Hashtag    TrendCategory = "hashtag"
)

// TrendCategories are all categories of trends.
func TrendCategories() []TrendCategory {
	return []TrendCategory{Slang, PhraseLike, Expression, Meme, Hashtag}
}

// ProposedTrend is a term that a [Language] takes for one in use.
type ProposedTrend struct {
	Term       string
	Definition string
	Category   TrendCategory
	// Popularity is from 0 to 100.
	Popularity float64
	Example    string
	// Origin may be empty.
	Origin  string
	Related []string
}

// Tier is what a user has subscribed to.
type Tier string

// The tiers.
const (
	Free    Tier = "free"
	Premium Tier = "premium"
)

// Limits are what a tier allows.
type Limits struct {
	// DailyTranslations is how many translations are charged on a day, at most.
	DailyTranslations int
	// TextLength is how many characters a text to translate has, at most.
	TextLength int
	// History is how long translations are kept; 0: not at all.
	History time.Duration
	// DailyQuestions is how many questions of the quiz are asked on a day; 0: any number.
	DailyQuestions int
	// Trends is how many trending terms are listed, at most, and AllTrends whether of all
	// categories, or of [Slang] alone.
	Trends    int
	AllTrends bool
	// Submissions is how many terms are submitted within [SubmissionWindow]; 0: none.
	Submissions int
}

// SubmissionWindow is the time in which [Limits.Submissions] are counted.
const SubmissionWindow = 24 * time.Hour

// Limits are the limits of the tier; those of [Free] for an unknown one.
func (t Tier) Limits() Limits {
	if t == Premium {
		return Limits{DailyTranslations: 100, TextLength: 100, History: 30 * 24 * time.Hour, Trends: 100, AllTrends: true, Submissions: 10}
	}
	return Limits{DailyTranslations: 10, TextLength: 50, DailyQuestions: 10, Trends: 10}
}

// Calendar says which day it is for users: one clock for every daily limit.
type Calendar struct {
	// Zone is the time zone of all users. Nil: UTC.
	Zone *time.Location
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
}

// Time is the moment, in UTC and in whole milliseconds, as stores keep it.
func (c Calendar) Time() time.Time {
	now := c.Now
	if now == nil {
		now = time.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// Day is the day of a moment, as YYYY-MM-DD.
func (c Calendar) Day(at time.Time) string { return at.In(c.zone()).Format(time.DateOnly) }

// longestDay is longer than any day that the time zone database has, in seconds.
const longestDay = 50 * 60 * 60

// NextMidnight is when the day after that of a moment begins, in UTC. In a zone that skips
// midnight at a daylight-saving switch, the day begins with the first moment that it has; in one
// that repeats midnight, with the first of the two.
func (c Calendar) NextMidnight(at time.Time) time.Time {
	day, from := c.Day(at), at.Unix()+1
	seconds := sort.Search(longestDay, func(i int) bool { return c.Day(time.Unix(from+int64(i), 0)) != day })
	return time.Unix(from+int64(seconds), 0).UTC()
}

func (c Calendar) zone() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// Caller is a user as the token of a request describes one.
type Caller struct {
	// ID is the token's subject.
	ID string
	// Email is the token's email address; empty: it has none.
	Email string
	// Issued is when the token was issued. Zero: now.
	Issued time.Time

	// admission reads the usage of the caller of a request; nil: nothing does.
	admission *admission
}

// Counter is called with the name of a metric for what happened n times. Nil counts nothing.
type Counter func(ctx context.Context, metric string, n int)

func (c Counter) add(ctx context.Context, metric string, n int) {
	if c != nil {
		c(ctx, metric, n)
	}
}

// UsageError says that the caller has used up what the tier allows (BIZ_001).
type UsageError struct {
	// What names what is used up, such as "translations".
	What string
	// Limit is how many of it the tier allows.
	Limit int
	// Until is when there is more.
	Until time.Time
}

// Error says so.
func (e *UsageError) Error() string {
	return fmt.Sprintf("your tier allows %d %s: try again after %s, or upgrade", e.Limit, e.What, e.Until.UTC().Format(time.RFC3339))
}

// Is matches every such error.
func (e *UsageError) Is(target error) bool { _, ok := target.(*UsageError); return ok }

// RetryAt is when there is more.
func (e *UsageError) RetryAt() time.Time { return e.Until }

// SubscriptionError says that something is for premium users (BIZ_004).
type SubscriptionError struct {
	// What names what it is, such as "the history of translations".
	What string
}

// Error says so.
func (e *SubscriptionError) Error() string {
	return e.What + " is for premium users: upgrade with POST /user/upgrade"
}

// Is matches every such error.
func (e *SubscriptionError) Is(target error) bool { _, ok := target.(*SubscriptionError); return ok }

// The errors that callers see.
var (
	// ErrUserDeleted says that the caller's account is deleted, or is being deleted.
	ErrUserDeleted = errors.New("your account is deleted: sign in again to open a new one")
	// ErrTranslationNotFound says that the caller has no such translation.
	ErrTranslationNotFound = errors.New("there is no such translation")
	// ErrSubmissionNotFound says that there is no such submission.
	ErrSubmissionNotFound = errors.New("there is no such submission")
	// ErrTermKnown says that the lexicon has the term.
	ErrTermKnown = errors.New("the lexicon has the term already")
	// ErrAlreadySubmitted says that the caller has submitted the term in the last 7 days.
	ErrAlreadySubmitted = errors.New("you have submitted this term in the last 7 days")
	// ErrOwnSubmission says that the caller has submitted what the vote is for.
	ErrOwnSubmission = errors.New("you cannot vote for your own submission")
	// ErrAlreadyVoted says that the caller's vote counts already.
	ErrAlreadyVoted = errors.New("you have voted for this submission already")
	// ErrNotOpen says that a submission takes no votes: it is not validated yet, it is decided
	// otherwise than by votes, or it has [MaxVotes].
	ErrNotOpen = errors.New("the submission takes no votes: it is not validated yet, or it is decided")
	// ErrDecided says that a submission is approved or rejected already.
	ErrDecided = errors.New("the submission is decided already")
	// ErrNoQuiz says that the caller has no such quiz, or that it has ended.
	ErrNoQuiz = errors.New("there is no such quiz, or it has ended: get a question to begin one")
	// ErrNoSuchQuestion says that the quiz's last question is another one.
	ErrNoSuchQuestion = errors.New("the quiz has not asked this question last: get its question")
	// ErrAnswered says that the question has another answer already.
	ErrAnswered = errors.New("the question has another answer already: get the next question")
	// ErrNoQuestion says that the lexicon has no further question.
	ErrNoQuestion = errors.New("there is no further question of this kind: end the quiz, or ask for another category or difficulty")
	// ErrNoTerms is ErrNoQuestion while the quiz has no term at all: the initial data is missing.
	ErrNoTerms error = noTerms{}
)

type noTerms struct{}

func (noTerms) Error() string {
	return "there is no question, because the lexicon has no term: an operator loads the first ones with onesynth seed lingible"
}

// Is makes it an [ErrNoQuestion].
func (noTerms) Is(target error) bool { return target == ErrNoQuestion }
