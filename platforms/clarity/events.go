package clarity

import "github.com/onesynth-cdk/onesynth/schema"

// The names of the events.
const (
	AttemptEvaluated = "AttemptEvaluated"
	ProfileChanged   = "ProfileChanged"
)

// AttemptEvaluatedEvent is the detail of [AttemptEvaluated]. It has neither the answers nor the reasons for the scores.
type AttemptEvaluatedEvent struct {
	UserID       string       `json:"user_id" maxLength:"255" personal:"true" doc:"The user."`
	AttemptID    string       `json:"attempt_id" format:"uuid" doc:"The attempt."`
	ScenarioID   string       `json:"scenario_id" maxLength:"100" doc:"The scenario."`
	OverallScore int          `json:"overall_score" minimum:"0" maximum:"100" personal:"true" doc:"The weighted mean of the scores."`
	Scores       []ScoreEvent `json:"scores" nullable:"false" maxItems:"8" personal:"true" doc:"One for each dimension."`
	SubmittedAt  string       `json:"submitted_at" format:"date-time" doc:"When the attempt was submitted."`
	EvaluatedAt  string       `json:"evaluated_at" format:"date-time" doc:"When it was evaluated."`
}

// ScoreEvent is the score of an attempt in one dimension.
type ScoreEvent struct {
	Dimension Dimension `json:"dimension" enum:"clarity,relevance,logic,evidence,assumptions,alternatives,quantitative-reasoning,humility-uncertainty" doc:"The dimension."`
	Score     int       `json:"score" minimum:"0" maximum:"4" doc:"The score."`
}

// ProfileChangedEvent is the detail of [ProfileChanged]: the user's latest profile.
type ProfileChangedEvent struct {
	UserID         string         `json:"user_id" maxLength:"255" personal:"true" doc:"The user."`
	AttemptID      string         `json:"attempt_id" format:"uuid" doc:"The attempt up to which the profile goes."`
	AttemptCount   int            `json:"attempt_count" minimum:"1" doc:"Evaluated attempts up to this one."`
	OverallAverage float64        `json:"overall_average" minimum:"0" maximum:"100" personal:"true" doc:"The mean of the overall scores of up to 10 attempts."`
	Averages       []AverageEvent `json:"averages" nullable:"false" maxItems:"8" personal:"true" doc:"One for each dimension."`
}

// AverageEvent has a user's figures in one dimension.
type AverageEvent struct {
	Dimension     Dimension `json:"dimension" enum:"clarity,relevance,logic,evidence,assumptions,alternatives,quantitative-reasoning,humility-uncertainty" doc:"The dimension."`
	MovingAverage float64   `json:"moving_average" minimum:"0" maximum:"4" doc:"The mean of the scores of up to 10 attempts."`
	Trend         Trend     `json:"trend" enum:"improving,declining,stable" doc:"How the scores develop."`
}

// Events returns the events of Clarity.
func Events() []schema.Event {
	return []schema.Event{
		{Name: AttemptEvaluated, Version: 1, Description: "An attempt was evaluated, which it is once.",
			Table: "Attempts", Changes: evaluated(), Detail: AttemptEvaluatedEvent{}},
		{Name: ProfileChanged, Version: 1, Table: "Profiles",
			Description: "The latest profile of a user has an evaluated " +
				"attempt more, also one that came out of order.",
			Changes: image(map[string]any{"latest": map[string]any{"BOOL": []any{true}}}),
			Detail:  ProfileChangedEvent{}},
	}
}

// image selects changes whose new image has these attributes.
func image(attributes map[string]any) []map[string]any {
	return []map[string]any{{"dynamodb": map[string]any{"NewImage": attributes}}}
}

// evaluated selects attempts that are completed and evaluated. They do not change, so each comes once.
func evaluated() []map[string]any {
	return image(map[string]any{"status": map[string]any{"S": []any{string(Completed)}},
		"evaluationStatus": map[string]any{"S": []any{string(EvaluationDone)}}})
}
