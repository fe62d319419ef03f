package askahuman

import (
	"context"
	"time"
)

// People is the side of the platform that people see: they find questions,
// answer them, earn points and subscribe to notifications.
type People struct {
	// Store keeps the questions, answers, stats and subscriptions.
	Store PeopleStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Answer is an answer as a person gives it.
type Answer struct {
	// QuestionID is the question that it answers.
	QuestionID string
	// Text answers a text question, Option (an index from 0) a multiple choice
	// question; the other is nil.
	Text   *string
	Option *int
	// Confidence is MinConfidence to MaxConfidence; 0: not given.
	Confidence int
	// ResponseTimeMS is how long the person took in milliseconds, as the client
	// says; -1: not given.
	ResponseTimeMS int64
}

// Badge is an earned badge with its name.
type Badge struct {
	ID, Name string
	EarnedAt time.Time
}

// Receipt is what a person gets for an answer.
type Receipt struct {
	ResponseID string
	// Points is what the answer earned, bonuses included.
	Points int
	// NewBadges are the badges that it earned, in the order of [BadgeName]'s list.
	NewBadges []Badge
	// TotalPoints are all of the person's points after it.
	TotalPoints int
	// Status is the question's status after it.
	Status Status
}

// Standing is where a person stands.
type Standing struct {
	Stats
	// StreakDays is the streak as of today: 0 when it is broken.
	StreakDays int
	// Rank is the all-time rank; 0: none, or beyond [MaxRank].
	Rank int
	// Badges are the earned badges with their names.
	Badges []Badge
}

// RankedEntry is one line of a leaderboard.
type RankedEntry struct {
	// Rank is 1 for the most points; equal points share a rank.
	Rank int
	BoardEntry
	// IsCurrentUser says that this is the person who asks.
	IsCurrentUser bool
}

// Board is a leaderboard as one person sees it.
type Board struct {
	Period  Period
	Entries []RankedEntry
	// YourRank and YourPoints are the person's own; the rank is 0 when there is
	// none or it is beyond [MaxRank].
	YourRank, YourPoints int
}

// Feed feeds.
func (p *People) Feed(ctx context.Context, personHash string, audience []string, limit int, cursor string) ([]Question, string, error) {
	return nil, "", errSkeleton
}

// Question reads.
func (p *People) Question(ctx context.Context, personHash, questionID string) (q Question, canAnswer bool, err error) {
	return Question{}, false, errSkeleton
}

// Answer answers.
func (p *People) Answer(ctx context.Context, personHash string, zone *time.Location, answer Answer) (Receipt, error) {
	return Receipt{}, errSkeleton
}

// Stats reads.
func (p *People) Stats(ctx context.Context, personHash string, zone *time.Location) (Standing, error) {
	return Standing{}, errSkeleton
}

// Leaderboard reads.
func (p *People) Leaderboard(ctx context.Context, personHash string, period Period, limit int) (Board, error) {
	return Board{}, errSkeleton
}

// Subscribe subscribes.
func (p *People) Subscribe(ctx context.Context, personHash, token string, interval time.Duration) (Subscription, error) {
	return Subscription{}, errSkeleton
}

// ChangeSubscription changes.
func (p *People) ChangeSubscription(ctx context.Context, id, token string, interval time.Duration) (Subscription, error) {
	return Subscription{}, errSkeleton
}

// Unsubscribe ends.
func (p *People) Unsubscribe(ctx context.Context, id string) error { return errSkeleton }
