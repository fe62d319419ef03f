package clarity

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Status is the state of a user's work on an attempt.
type Status string

// The statuses. A completed or abandoned attempt stays so.
const (
	Completed  Status = "completed"
	InProgress Status = "in-progress"
	Abandoned  Status = "abandoned"
)

// EvaluationStatus is the state of the evaluation of a completed attempt. It is "" for other attempts.
type EvaluationStatus string

// The statuses of evaluations.
const (
	// EvaluationPending has not begun, or has failed and will be tried again.
	EvaluationPending EvaluationStatus = "pending"
	// EvaluationRunning has a try that runs or has died.
	EvaluationRunning EvaluationStatus = "running"
	// EvaluationDone has a result, which does not change.
	EvaluationDone EvaluationStatus = "done"
	// EvaluationFailed has failed so often that only the user's request starts another try.
	EvaluationFailed EvaluationStatus = "failed"
)

// Limited is the EvaluationFailure of an attempt whose user has reached the day's limit: the evaluation was put off
// without a try.
const Limited = "limit"

// Attempt is a user's work on a scenario, also on the wire. Moments are in UTC, to the millisecond.
type Attempt struct {
	ID         string `json:"attemptId" dynamodbav:"attemptId" format:"uuid" example:"550e8400-e29b-41d4-a716-446655440000" attribute:"Partition key: UUID"`
	UserID     string `json:"userId" dynamodbav:"userId" doc:"The subject of the user's token." attribute:"Subject of the user's token"`
	ScenarioID string `json:"scenarioId" dynamodbav:"scenarioId" example:"city-bike-lanes" attribute:"The scenario"`
	// Timestamp is when the attempt was begun, and from its completion on when it was submitted.
	Timestamp wire.Time `json:"timestamp" dynamodbav:"timestamp" format:"date-time" doc:"When the attempt was begun, and from its completion on when it was submitted." attributetype:"String" attribute:"When the attempt was begun, and from its completion on when it was submitted: RFC 3339 in UTC with milliseconds"`
	// DurationSeconds is nil if it is not known.
	DurationSeconds *int   `json:"durationSeconds,omitzero" dynamodbav:"durationSeconds,omitempty" nullable:"false" doc:"Absent if it is not known." attribute:"Time spent on the attempt"`
	Status          Status `json:"status" dynamodbav:"status" enum:"completed,in-progress,abandoned" attribute:"completed, in-progress or abandoned"`
	Version         int    `json:"version" dynamodbav:"version" minimum:"1" doc:"1 for a new attempt, and one more with each change by its user; the ETag." example:"1" attribute:"1, and one more with each change by the user; a write is conditional on the version that it read"`
	// Answers are in the order of the questions.
	Answers          []Answer         `json:"answers,omitzero" dynamodbav:"answers" attribute:"-" nullable:"false" doc:"In the order of the questions. Left out of answers to POST and PUT."`
	Evaluation       *Evaluation      `json:"evaluation" doc:"Null unless evaluationStatus is done." dynamodbav:"evaluation,omitempty" attribute:"-"`
	EvaluationStatus EvaluationStatus `json:"evaluationStatus,omitempty" dynamodbav:"evaluationStatus,omitempty" enum:"pending,running,done,failed" doc:"Of a completed attempt. pending: it is evaluated later, without another request. failed: it is evaluated only after POST /attempts/{id}/evaluate." attribute:"Of a completed attempt: pending, running, done or failed"`
	// EvaluationFailure is why the last try failed: the failure of the language model, or [Limited].
	EvaluationFailure string `json:"evaluationFailure,omitempty" dynamodbav:"evaluationFailure,omitempty" enum:"timed-out,throttled,unusable,declined,unavailable,limit" doc:"Why there is no evaluation yet. limit: the limit of evaluations a day is reached." attribute:"Why the last try to evaluate it failed: timed-out, throttled, unusable, declined, unavailable or limit; absent otherwise"`

	// EvaluationTries is how often its evaluation was begun.
	EvaluationTries int `json:"-" dynamodbav:"evaluationTries,omitempty" attribute:"How often its evaluation was begun"`
	// Claim is the random token of the try that is running, until ClaimedUntil at the latest.
	Claim        string    `json:"-" dynamodbav:"claim,omitempty" attribute:"Random token of the try that is running; absent when none is"`
	ClaimedUntil time.Time `json:"-" dynamodbav:"claimedUntil,omitempty" attribute:"Until when that try may be running: RFC 3339 in UTC with milliseconds"`
	// EvaluateAfter is when the evaluator may try it next. Zero: never.
	EvaluateAfter time.Time `json:"-" dynamodbav:"evaluateAfter,omitempty" attribute:"When the evaluator may try next: RFC 3339 in UTC with milliseconds; absent with pendingEvaluation"`
	wire.Extended
}

// AttemptList is a part of a list of attempts, also on the wire.
type AttemptList struct {
	Attempts  []Attempt `json:"attempts" nullable:"false" doc:"Newest first."`
	NextToken string    `json:"nextToken,omitempty" doc:"Where the list goes on; absent at its end."`
}

// GivenAnswer is an answer as its user gives it, also on the wire.
type GivenAnswer struct {
	QuestionID string `json:"questionId" minLength:"1" maxLength:"50" example:"q1"`
	Text       string `json:"answer" maxLength:"5000" doc:"Kept as written. Of a completed attempt 10 characters or more, not counting white space and other invisible characters around them."`
}

// GivenAnswers are answers to different questions.
type GivenAnswers []GivenAnswer

// Check implements [validate.Checker].
func (g GivenAnswers) Check(p *validate.Problems, field string) {
	seen := map[string]bool{}
	for i, answer := range g {
		if seen[answer.QuestionID] {
			p.Add(fmt.Sprintf("%s[%d].questionId", field, i), validate.RuleUnique,
				"is %s again: answer each question once", validate.Quoted(answer.QuestionID))
		}
		seen[answer.QuestionID] = true
	}
}

// Change is a user's change of an attempt, also on the wire.
type Change struct {
	DurationSeconds *int   `json:"durationSeconds,omitempty" nullable:"true" minimum:"0" maximum:"86400" doc:"Time spent on the attempt, in seconds. Without it, an attempt that was in progress gets the time since it was begun when it ends, and another has none." example:"1800"`
	Status          Status `json:"status,omitempty" nullable:"true" enum:"completed,in-progress,abandoned" doc:"completed: each question has an answer of 10 characters or more, and the attempt is evaluated. POST without it completes the attempt, PUT without it leaves it in progress."`
}

// Submission is a new attempt as its user gives it, also on the wire.
type Submission struct {
	ScenarioID string       `json:"scenarioId" minLength:"1" maxLength:"100" example:"city-bike-lanes"`
	Answers    GivenAnswers `json:"answers" nullable:"false" maxItems:"10" doc:"One for each question of a completed attempt, any of them otherwise."`
	Change
}

// Save is a change of an attempt in progress as its user gives it, also on the wire.
type Save struct {
	Answers GivenAnswers `json:"answers,omitempty" nullable:"true" maxItems:"10" doc:"Replace all answers that were saved. Left out: these stay."`
	Change
}

// AnswersTo returns the given answers with their questions, in the order of the questions. It returns a
// [*validate.Error] if an attempt of that status cannot have them.
func AnswersTo(questions []Question, given GivenAnswers, status Status) ([]Answer, error) {
	var p validate.Problems
	answers, at := make([]Answer, 0, len(questions)), map[string]int{}
	for i, answer := range given {
		at[answer.QuestionID] = i
		if !slices.ContainsFunc(questions, func(q Question) bool { return q.ID == answer.QuestionID }) {
			p.Add(fmt.Sprintf("answers[%d].questionId", i), validate.RuleEnum,
				"is %s, which is no question of the scenario: read them at GET /scenarios/{id}",
				validate.Quoted(answer.QuestionID))
		}
	}
	for _, question := range questions {
		i, ok := at[question.ID]
		if !ok {
			if status == Completed {
				p.Add("answers", validate.RuleRequired, "lack one to %s: a completed attempt has one for each question",
					validate.Quoted(question.ID))
			}
			continue
		}
		text := given[i].Text
		if n := visibleLength(text); status == Completed && n < MinAnswerLength {
			p.Add(fmt.Sprintf("answers[%d].answer", i), validate.RuleLength, "has %d characters without the white "+
				"space around them; an answer of a completed attempt needs %d to %d", n, MinAnswerLength,
				MaxAnswerLength)
		}
		answers = append(answers, Answer{QuestionID: question.ID, QuestionText: question.Text, Text: text,
			WordCount: len(strings.Fields(text))})
	}
	return answers, p.Err()
}

// visibleLength is the number of characters without those around them that cannot be seen.
func visibleLength(text string) int {
	return utf8.RuneCountInString(strings.TrimFunc(text, func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r)
	}))
}

// Given returns the answers as their user gave them.
func Given(answers []Answer) GivenAnswers {
	list := make(GivenAnswers, len(answers))
	for i, a := range answers {
		list[i] = GivenAnswer{QuestionID: a.QuestionID, Text: a.Text}
	}
	return list
}
