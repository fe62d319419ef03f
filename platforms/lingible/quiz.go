package lingible

import (
	"math"
	"time"
)

const (
	// QuizIdle is how long after its last question or answer a quiz ends.
	QuizIdle = 15 * time.Minute
	// QuizAge is how long the table keeps a quiz after its last question or answer.
	QuizAge = 48 * time.Hour
	// QuizDayAge is how long the table keeps the numbers of a day after its last question.
	QuizDayAge = 90 * 24 * time.Hour
	// MaxQuizDays limits the days of a history.
	MaxQuizDays = 30
	// QuizPoints are the points of an immediate right answer.
	QuizPoints = 10
)

// QuizStatus says whether a quiz goes on.
type QuizStatus string

// The statuses.
const (
	QuizActive QuizStatus = "active"
	QuizEnded  QuizStatus = "ended"
)

// QuizOption is a possible answer.
type QuizOption struct {
	ID   string `json:"option_id" dynamodbav:"option_id" enum:"a,b,c,d"`
	Text string `json:"text" dynamodbav:"text" example:"To show off what you have or can do"`
}

// QuizQuestion is a question as the quiz asks it. It does not say which option is right.
type QuizQuestion struct {
	SessionID  string       `json:"session_id" dynamodbav:"-" doc:"The quiz."`
	ID         string       `json:"question_id" dynamodbav:"question_id"`
	Term       string       `json:"term" dynamodbav:"term" doc:"Which option says what it means?" example:"flex"`
	Options    []QuizOption `json:"options" dynamodbav:"options" nullable:"false" doc:"Four, of which one is right."`
	Difficulty Difficulty   `json:"difficulty" dynamodbav:"difficulty" enum:"beginner,intermediate,advanced"`
	Category   Category     `json:"category" dynamodbav:"category" enum:"praise,criticism,feelings,people,talk,effort,money,food,outings"`
	AskedAt    time.Time    `json:"asked_at" dynamodbav:"asked_at" doc:"When it was asked first. The time for the answer counts from then."`
}

// QuizAnswer is the result of an answer.
type QuizAnswer struct {
	SessionID   string          `json:"session_id" dynamodbav:"-"`
	QuestionID  string          `json:"question_id" dynamodbav:"-"`
	Selected    string          `json:"selected_option" dynamodbav:"selected_option" enum:"a,b,c,d"`
	Correct     string          `json:"correct_option" dynamodbav:"-" enum:"a,b,c,d"`
	IsCorrect   bool            `json:"is_correct" dynamodbav:"is_correct"`
	Points      float64         `json:"points_earned" dynamodbav:"points_earned" minimum:"0" maximum:"10"`
	Seconds     float64         `json:"time_taken_seconds" dynamodbav:"time_taken_seconds" doc:"As the server measured it."`
	Explanation QuizExplanation `json:"explanation" dynamodbav:"-"`
	Progress    QuizProgress    `json:"progress" dynamodbav:"-" doc:"How the quiz stands with this answer."`
}

// QuizExplanation says what a term means.
type QuizExplanation struct {
	Gloss   string `json:"gloss" dynamodbav:"gloss"`
	Example string `json:"example" dynamodbav:"example"`
}

// QuizTotals count answers and points.
type QuizTotals struct {
	Questions int     `json:"questions_asked" dynamodbav:"quiz_count" doc:"Questions asked, also those without an answer." attribute:"QUIZ_DAILY and DELETED: questions asked on the day; QUIZ_SESSION: questions asked"`
	Correct   int     `json:"correct_answers" dynamodbav:"correct_count" attribute:"QUIZ_DAILY and QUIZ_SESSION: right answers"`
	Points    float64 `json:"total_score" dynamodbav:"total_score" attribute:"QUIZ_DAILY and QUIZ_SESSION: points"`
	Possible  float64 `json:"total_possible" dynamodbav:"total_possible" doc:"The points if all answers had been right at once." attribute:"QUIZ_DAILY and QUIZ_SESSION: points of right answers at once, 10 for each answer"`
}

// Plus returns the sum, with points exact to two decimals.
func (t QuizTotals) Plus(other QuizTotals) QuizTotals {
	return QuizTotals{t.Questions + other.Questions, t.Correct + other.Correct, inCents(t.Points + other.Points),
		t.Possible + other.Possible}
}

// QuizProgress says how a quiz stands.
type QuizProgress struct {
	ID             string     `json:"session_id" dynamodbav:"session_id" attribute:"QUIZ_SESSION: UUID of version 7, which sorts by time"`
	Status         QuizStatus `json:"status" dynamodbav:"session_status" enum:"active,ended" attribute:"QUIZ_SESSION: active or ended"`
	StartedAt      time.Time  `json:"started_at" dynamodbav:"started_at" attribute:"QUIZ_SESSION: RFC 3339 in UTC with milliseconds"`
	LastActivityAt time.Time  `json:"last_activity_at" dynamodbav:"last_activity_at" doc:"The last question or answer. A quiz ends 15 minutes later." attribute:"QUIZ_SESSION: last question or answer; 15 minutes later the quiz has ended: RFC 3339 in UTC with milliseconds"`
	QuizTotals
}

// AskedQuestion is a question as it is stored, with the right option and the user's answer.
type AskedQuestion struct {
	QuizQuestion
	// Right is the id of the right option.
	Right string `dynamodbav:"right"`
	// Day is the day on which it was asked, and for which it counts.
	Day string `dynamodbav:"day"`
	QuizExplanation
	// Answer is nil until there is one.
	Answer *QuizAnswer `dynamodbav:"answer,omitempty"`
}

// QuizSession is a quiz as it is stored.
type QuizSession struct {
	QuizProgress
	// Asked are the slugs of the terms that it has asked about.
	Asked []string `dynamodbav:"asked" attribute:"QUIZ_SESSION: slugs of the terms asked about"`
	// Question is the one that was asked last.
	Question AskedQuestion `dynamodbav:"question" attribute:"QUIZ_SESSION: the question that was asked last, with its answer once it has one"`
	// Version is 1, and one more after each change.
	Version int `dynamodbav:"version" attribute:"QUIZ_SESSION: 1, and one more with each change"`
}

// QuizDay has a user's totals of one day, also on the wire.
type QuizDay struct {
	Date string `json:"date" dynamodbav:"-" format:"date"`
	QuizTotals
}

// QuizHistory has a user's totals of the latest days with questions, also on the wire.
type QuizHistory struct {
	Days   []QuizDay  `json:"days" nullable:"false" doc:"The days with questions, newest first: 30 at most, of the last 90 days."`
	Totals QuizTotals `json:"totals" doc:"Of these days."`
	// Limit and Remaining are nil if the number of questions has no limit.
	Limit     *int `json:"daily_limit" nullable:"true" doc:"How many questions are asked on a day; null: any number."`
	Remaining *int `json:"remaining_today" nullable:"true" doc:"How many of them are left today; null: any number."`
}

// Points returns the points of a right answer after a time, to two decimals: 10 at once, 0.3 less with each second, and
// 1 from 30 seconds on.
func Points(taken time.Duration) float64 {
	return inCents(max(1, QuizPoints*(1-0.9*min(max(0, taken).Seconds()/30, 1))))
}

func inCents(points float64) float64 { return math.Round(100*points) / 100 }

// Answered returns the answer to the last question, which must have one.
func (s QuizSession) Answered() QuizAnswer {
	answer := *s.Question.Answer
	answer.SessionID, answer.QuestionID, answer.Correct = s.ID, s.Question.ID, s.Question.Right
	answer.Explanation, answer.Progress = s.Question.QuizExplanation, s.QuizProgress
	return answer
}

// At returns the quiz as of a moment: it has ended if it is idle for [QuizIdle], or if usage names another quiz. The
// error is [ErrNoQuiz] if the quiz is idle for [QuizAge].
func (s QuizSession) At(now time.Time, usage Usage) (QuizSession, error) {
	idle := now.Sub(s.LastActivityAt)
	if idle >= QuizAge {
		return QuizSession{}, ErrNoQuiz
	}
	if idle >= QuizIdle || s.ID != usage.QuizSessionID {
		s.Status = QuizEnded
	}
	return s, nil
}
