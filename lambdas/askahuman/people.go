package askahuman

import (
	"context"
	"time"
)

// PeopleStore is the storage that [People] needs.
type PeopleStore interface {
	// Question reads one question as it is now. It returns [ErrQuestionNotFound].
	Question(ctx context.Context, id string, now time.Time) (Question, error)
	// OpenQuestions reads up to limit questions that are open or partial and
	// before their deadline, newest first, after a position. It reads what a feed shows
	// of them alone. more says whether there may be further ones.
	OpenQuestions(ctx context.Context, limit int, after Position, now time.Time) (questions []Question, more bool, err error)
	// HasAnswered reports whether the person has answered the question.
	HasAnswered(ctx context.Context, questionID, personHash string) (bool, error)
	// RecentAnswers reads what a person answered since a moment, newest first, at
	// most limit (0: all).
	RecentAnswers(ctx context.Context, personHash string, since time.Time, limit int) ([]RecentAnswer, error)
	// AnswerState reads what a person's answer to a question depends on, but the recent answers, as it is now. It returns
	// [ErrQuestionNotFound].
	AnswerState(ctx context.Context, questionID, personHash string, now time.Time) (AnswerState, error)
	// Stats reads a person's stats. They are zero, except for the hash, if the person never
	// answered.
	Stats(ctx context.Context, personHash string) (Stats, error)
	// SubmitResponse stores the answer, counts it on the question (closing it with
	// the last one) and stores the stats, all or nothing. question is as it was
	// read; stats are the new ones, with the Version that was read.
	// It returns [ErrAlreadyAnswered], [ErrQuestionClosed] (also when the deadline has
	// passed at response.CreatedAt), or [retry.ErrStale] when the stats changed meanwhile, or
	// the question is no longer [Question.UnderHalf]; it may also return that when only
	// the count changed.
	SubmitResponse(ctx context.Context, question Question, response Response, stats Stats) (Submitted, error)
	// Top reads the highest entries of a board, highest first. day is the UTC day or Monday as in
	// Day and Week of [Stats]; empty for all time.
	Top(ctx context.Context, period Period, day string, limit int) ([]BoardEntry, error)
	// Subscribe stores a subscription. If its token has one already, that one is
	// made active with the new interval and person, and returned instead; its times need not be read for that.
	Subscribe(ctx context.Context, subscription Subscription) (Subscription, error)
	// FindSubscription returns the id of the subscription that has the first of the tokens that
	// any has, or else of the last one that the person made (personHash empty: unknown), and the token that
	// it has. It returns [ErrSubscriptionNotFound].
	FindSubscription(ctx context.Context, personHash string, tokens ...string) (id, token string, err error)
	// RenewSubscription is ChangeSubscription with a token for a subscription that was found: from is the token that it had.
	RenewSubscription(ctx context.Context, id, from, token string, interval time.Duration, now time.Time) error
	// ChangeSubscription sets a subscription's token (empty: as it is) and interval
	// (zero: as it is) and makes it active. A token that another subscription has
	// moves here and ends that one. It returns [ErrSubscriptionNotFound].
	ChangeSubscription(ctx context.Context, id, token string, interval time.Duration, now time.Time) (Subscription, error)
	// Unsubscribe ends a subscription. It returns [ErrSubscriptionNotFound].
	Unsubscribe(ctx context.Context, id string) error
}

// AnswerState is what a person's answer to a question depends on.
type AnswerState struct {
	Question Question
	// Answered says that the person has answered the question.
	Answered bool
	// Stats are the person's, as [PeopleStore.Stats] reads them.
	Stats Stats
	// NotifiedAt is when the person was notified of the question; zero: never, or of another one since.
	NotifiedAt time.Time
}

// Submitted is the state of a question after an answer.
type Submitted struct {
	// Status is its status after the answer.
	Status Status
	// First says that no answer came before. It is true of exactly one answer to a question.
	First bool
}

// BoardEntry is one person on a leaderboard.
type BoardEntry struct {
	PersonHash string
	Points     int
	Answers    int
}
