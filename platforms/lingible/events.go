package lingible

import "github.com/onesynth-cdk/onesynth/schema"

// The names of the events.
const (
	TranslationKept = "TranslationKept"
	TermSubmitted   = "TermSubmitted"
	TermApproved    = "TermApproved"
	QuizFinished    = "QuizFinished"
)

// TranslationKeptEvent is the detail of [TranslationKept]. It leaves out the texts, which their owner reads by the API.
type TranslationKeptEvent struct {
	UserID        string    `json:"user_id" dynamodbav:"-" maxLength:"255" personal:"true" doc:"The user."`
	TranslationID string    `json:"translation_id" dynamodbav:"translation_id" format:"uuid" doc:"The translation."`
	Direction     Direction `json:"direction" dynamodbav:"direction" enum:"to_standard,to_slang" doc:"Into what it was translated."`
	Confidence    float64   `json:"confidence_score" dynamodbav:"confidence_score" minimum:"0" maximum:"1" doc:"How sure the translation is."`
	ModelUsed     string    `json:"model_used" dynamodbav:"model_used" maxLength:"2048" doc:"What translated it."`
	CreatedAt     string    `json:"created_at" dynamodbav:"created_at" format:"date-time" doc:"When it was made."`
}

// TermEvent is the detail of [TermSubmitted] and [TermApproved].
type TermEvent struct {
	SubmissionID string           `json:"submission_id" dynamodbav:"submission_id" format:"uuid" doc:"The submission."`
	UserID       string           `json:"user_id" dynamodbav:"user_id" maxLength:"255" personal:"true" doc:"The user who submitted it."`
	Term         string           `json:"slang_term" dynamodbav:"slang_term" maxLength:"100" personal:"true" doc:"As the user wrote it."`
	Meaning      string           `json:"meaning" dynamodbav:"meaning" maxLength:"500" personal:"true" doc:"What it means, as the user wrote it."`
	Status       SubmissionStatus `json:"status" dynamodbav:"status" enum:"pending,validated,auto_approved,community_approved,admin_approved,rejected,admin_rejected" doc:"How far the submission is."`
	ApprovalType string           `json:"approval_type,omitempty" dynamodbav:"approval_type" enum:"llm_auto,community_vote,admin_manual" doc:"Absent unless it is approved."`
	Upvotes      int              `json:"upvotes" dynamodbav:"upvotes" minimum:"0" doc:"Votes for it."`
	CreatedAt    string           `json:"created_at" dynamodbav:"created_at" format:"date-time" doc:"When it was submitted."`
}

// QuizFinishedEvent is the detail of [QuizFinished].
type QuizFinishedEvent struct {
	UserID    string  `json:"user_id" dynamodbav:"-" maxLength:"255" personal:"true" doc:"The user."`
	SessionID string  `json:"session_id" dynamodbav:"session_id" format:"uuid" doc:"The quiz."`
	Questions int     `json:"questions_asked" dynamodbav:"quiz_count" minimum:"0" personal:"true" doc:"Questions asked, also those without an answer."`
	Correct   int     `json:"correct_answers" dynamodbav:"correct_count" minimum:"0" personal:"true" doc:"Right answers."`
	Points    float64 `json:"total_score" dynamodbav:"total_score" minimum:"0" personal:"true" doc:"Points."`
	Possible  float64 `json:"total_possible" dynamodbav:"total_possible" minimum:"0" doc:"The points if all answers had been right at once."`
	StartedAt string  `json:"started_at" dynamodbav:"started_at" format:"date-time" doc:"When it began."`
}

// Events returns the events of Lingible.
func Events() []schema.Event {
	only := func(kinds ...any) []map[string]any { return []map[string]any{{"eventName": kinds}} }
	return []schema.Event{
		{Name: TranslationKept, Version: 1, Table: "Translations", Changes: only("INSERT"),
			Detail: TranslationKeptEvent{},
			Description: "A translation of a premium user was kept. One of a free user leaves no record, and " +
				"has no event."},
		{Name: TermSubmitted, Version: 1, Table: "Submissions", Changes: only("INSERT"), Detail: TermEvent{},
			Description: "A user submitted a term."},
		{Name: TermApproved, Version: 1, Table: "Submissions", Changes: only("MODIFY"), Detail: TermEvent{},
			Before:      true,
			Description: "A submitted term was approved, by its validation, by votes or by an administrator."},
		{Name: QuizFinished, Version: 1, Table: "Users", Detail: QuizFinishedEvent{},
			Description: "A user ended a quiz. One that ends since nothing was answered leaves no record of its " +
				"end, and has no event.",
			Changes: []map[string]any{{"eventName": []any{"MODIFY"},
				"dynamodb": map[string]any{"NewImage": map[string]any{
					"session_status": map[string]any{"S": []any{string(QuizEnded)}}}}}}},
	}
}
