// Package askahuman has the rules of Ask-a-Human: AI agents ask questions, people answer them
// anonymously, agents read the answers.
//
// [Agents], [People] and [Notifier] are the three sides of the platform. Each
// declares the store that it needs and knows no AWS type; package dynamodb
// implements the stores, package api serves the first two over HTTP, and
// package fcm sends the third one's notifications.
package askahuman

import (
	"errors"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
)

// The errors that callers distinguish. Each is one code of the wire format.
var (
	// ErrQuestionNotFound: there is no such question, its retention has ended,
	// or it is another agent's.
	ErrQuestionNotFound = errors.New("no such question: check the id; questions are kept for 7 days after they close and for 24 hours after they expire")
	// ErrQuestionClosed: the question takes no more answers.
	ErrQuestionClosed = errors.New("this question takes no more answers: it has all it asked for, was closed, or its deadline has passed")
	// ErrAlreadyAnswered: this person has answered this question.
	ErrAlreadyAnswered = errors.New("you have answered this question already: one person answers a question once")
	// ErrQuotaExceeded: the agent has as many open questions as it may have.
	ErrQuotaExceeded = errors.New("you have as many questions open or partial as an agent may have: wait for answers, or close some with DELETE /agent/questions/{question_id}")
	// ErrSubscriptionNotFound: there is no such subscription.
	ErrSubscriptionNotFound = errors.New("no such subscription: it may have been ended; subscribe again with POST /human/push/subscribe")
)

// Status is the state of a question.
type Status string

// The statuses (seed: Questions table).
const (
	StatusOpen    Status = "OPEN"
	StatusPartial Status = "PARTIAL"
	StatusClosed  Status = "CLOSED"
	StatusExpired Status = "EXPIRED"
)

// Statuses are all statuses in the order of a question's life.
func Statuses() []Status {
	return []Status{StatusOpen, StatusPartial, StatusClosed, StatusExpired}
}

// QuestionType is how a question is answered.
type QuestionType string

// The question types.
const (
	TypeText           QuestionType = "text"
	TypeMultipleChoice QuestionType = "multiple_choice"
)

// The limits that rules and stores build on; the tags of [Ask], [Answer] and the forms of
// subscriptions state the limits of single fields. Lengths are in characters (Unicode code points).
const (
	MinOptions, MaxOptions           = 2, 10
	DefaultResponses                 = 5
	DefaultTimeout, MaxTimeout       = time.Hour, 24 * time.Hour
	MaxConfidence                    = 5
	DefaultListLimit, MaxListLimit   = 20, 50
	DefaultBoardLimit, MaxBoardLimit = 10, 100
	MinInterval, MaxInterval         = 5 * time.Minute, 24 * time.Hour
	DefaultInterval                  = 30 * time.Minute
	DefaultOpenQuestions             = 100
	MaxAgentIDLength                 = 128
	MaxFingerprintLength             = 512
	MaxRank                          = 1000 // ranks beyond it are not shown: counting further would read the whole board
	KeepClosed                       = 7 * 24 * time.Hour
	KeepExpired                      = 24 * time.Hour
	KeepResponses                    = 30 * 24 * time.Hour
	NotificationBonusWindow          = 5 * time.Minute
	RenotifyAfter                    = 15 * time.Minute
)

// Audiences are the tags a question can be addressed to; the last is the
// default.
func Audiences() []string {
	return []string{"technical", "product", "ethics", "creative", "general"}
}

// Question is a question and its state. Its tags, like the tags of [Response], [Stats] and
// [AgentKey], are the names of the attributes in the table.
type Question struct {
	ID                string       `dynamodbav:"question_id"`
	Status            Status       `dynamodbav:"status"`
	Prompt            string       `dynamodbav:"prompt"`
	Type              QuestionType `dynamodbav:"type"`
	Options           []string     `dynamodbav:"options,omitempty"` // of a multiple choice question
	Audience          []string     `dynamodbav:"audience"`
	RequiredResponses int          `dynamodbav:"required_responses"`
	CurrentResponses  int          `dynamodbav:"current_responses"`
	AgentID           string       `dynamodbav:"agent_id"`
	IdempotencyKey    string       `dynamodbav:"idempotency_key,omitempty"` // empty: none
	CallbackURL       string       `dynamodbav:"callback_url,omitempty"`    // where a webhook goes when it ends; empty: nowhere
	CreatedAt         time.Time    `dynamodbav:"created_at"`
	Deadline          time.Time    `dynamodbav:"deadline"`              // when answers stop being taken
	ExpiresAt         time.Time    `dynamodbav:"-"`                     // when it may be deleted
	ClosedAt          time.Time    `dynamodbav:"closed_at,omitempty"`   // zero: not closed
	NotifiedAt        time.Time    `dynamodbav:"notified_at,omitempty"` // zero: no one was notified yet
	DueAt             time.Time    `dynamodbav:"due_at,omitempty"`      // when the notifier looks at it next; zero: never
	HiddenAt          time.Time    `dynamodbav:"hidden_at,omitempty"`   // when an operator hid it; zero: not hidden
}

// StatusAt is the status at a moment: an open or partial question is expired
// from its deadline on, whether or not anything has rewritten it.
func (q Question) StatusAt(now time.Time) Status {
	if q.Answerable() && !now.Before(q.Deadline) {
		return StatusExpired
	}
	return q.Status
}

// Answerable reports whether the stored status still takes answers.
func (q Question) Answerable() bool {
	return q.Status == StatusOpen || q.Status == StatusPartial
}

// AnswerableAt reports whether the question takes answers at a moment.
func (q Question) AnswerableAt(now time.Time) bool {
	return q.Answerable() && now.Before(q.Deadline)
}

// UnderHalf reports whether the question has less than half of its answers,
// which makes the next one worth more.
func (q Question) UnderHalf() bool { return 2*q.CurrentResponses < q.RequiredResponses }

// Response is one person's answer to a question.
type Response struct {
	ID             string       `dynamodbav:"response_id"`
	QuestionID     string       `dynamodbav:"question_id"`
	PersonHash     string       `dynamodbav:"fingerprint_hash"`
	Answer         string       `dynamodbav:"answer,omitempty"` // of a text question
	SelectedOption int          `dynamodbav:"-"`                // of a multiple choice question
	Type           QuestionType `dynamodbav:"-"`
	Confidence     int          `dynamodbav:"confidence,omitempty"` // zero: not given
	ResponseTimeMS int64        `dynamodbav:"-"`                    // as the client says; -1: not given
	CreatedAt      time.Time    `dynamodbav:"created_at"`
	Points         int          `dynamodbav:"points_earned"`
	Flags          []string     `dynamodbav:"flags,omitempty"`
	ContentDigest  string       `dynamodbav:"content_digest,omitempty"` // of a text answer
	ContentLength  int          `dynamodbav:"content_length,omitempty"` // of a text answer, in characters
	HiddenAt       time.Time    `dynamodbav:"hidden_at,omitempty"`      // when an operator hid it; zero: not hidden
}

// RecentAnswer is the part of a person's earlier answer that the feed needs to leave out its
// question, and that the flags need to find repetition.
type RecentAnswer struct {
	QuestionID    string    `dynamodbav:"question_id"`
	ContentDigest string    `dynamodbav:"content_digest"` // empty: multiple choice
	ContentLength int       `dynamodbav:"content_length"`
	CreatedAt     time.Time `dynamodbav:"created_at"`
}

// Stats are a person's points, streak and badges. The zero value, with the
// person's hash, is a person who never answered.
type Stats struct {
	PersonHash        string         `dynamodbav:"fingerprint_hash"`
	TotalPoints       int            `dynamodbav:"total_points"`
	TotalAnswers      int            `dynamodbav:"total_answers"`
	StreakDays        int            `dynamodbav:"streak_days"`
	StreakLastDate    string         `dynamodbav:"streak_last_date,omitempty"` // YYYY-MM-DD in the person's zone
	Badges            []EarnedBadge  `dynamodbav:"-"`
	AnswersByCategory map[string]int `dynamodbav:"answers_by_category"`
	NightAnswers      int            `dynamodbav:"night_answers"`
	FastAnswers       int            `dynamodbav:"fast_answers"`
	ConfidentAnswers  int            `dynamodbav:"confident_answers"`
	CreatedAt         time.Time      `dynamodbav:"created_at"`
	UpdatedAt         time.Time      `dynamodbav:"updated_at"`
	Version           int64          `dynamodbav:"version"`              // zero: not stored yet
	BlockedAt         time.Time      `dynamodbav:"blocked_at,omitempty"` // when an operator blocked the person; zero: not blocked
	Day               string         `dynamodbav:"-"`                    // UTC day of DailyPoints, YYYY-MM-DD
	DailyPoints       int            `dynamodbav:"daily_points"`
	DailyAnswers      int            `dynamodbav:"daily_answers"`
	Week              string         `dynamodbav:"-"` // Monday of the UTC week of WeeklyPoints, YYYY-MM-DD
	WeeklyPoints      int            `dynamodbav:"weekly_points"`
	WeeklyAnswers     int            `dynamodbav:"weekly_answers"`
}

// EarnedBadge is a badge and when it was earned.
type EarnedBadge struct {
	ID       string
	EarnedAt time.Time
}

// Period is the time that a leaderboard covers.
type Period string

// The periods. Days and weeks are UTC; a week begins on Monday.
const (
	PeriodDaily   Period = "daily"
	PeriodWeekly  Period = "weekly"
	PeriodAllTime Period = "all_time"
)

// Subscription is a device that receives notifications.
type Subscription struct {
	ID                 string
	Token              string
	Interval           time.Duration // least time between notifications, in whole minutes
	LastNotifiedAt     time.Time     // zero: never
	NextNotificationAt time.Time
	Active             bool
	PersonHash         string // empty: subscribed without a fingerprint
	CreatedAt          time.Time
	UpdatedAt          time.Time
}

// Position is a place in a list that is sorted by creation, newest first: the
// item after which the next page begins. The zero value is the beginning.
type Position struct {
	CreatedAt time.Time
	ID        string
}

// PollURL is the path at which an agent reads a question and its answers.
func PollURL(questionID string) string { return "/agent/questions/" + questionID }

// FormatTime writes a moment in the form of the wire format and the stores: in UTC with
// milliseconds. The text has one width, so that it sorts by time.
func FormatTime(t time.Time) string { return wire.Time(t).String() }
