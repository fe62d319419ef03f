package clarity

import (
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// EvaluatedIn reads an attempt in an image, if it is completed and evaluated.
func EvaluatedIn(image trigger.Image) (attempt clarity.Attempt, evaluated bool, err error) {
	if trigger.Text(image, "status") != string(clarity.Completed) ||
		trigger.Text(image, "evaluationStatus") != string(clarity.EvaluationDone) {
		return attempt, false, nil
	}
	if err := trigger.Read(image, &attempt); err != nil {
		return attempt, false, fmt.Errorf("read the attempt: %w", err)
	}
	if err := attempt.CheckEvaluated(); err != nil {
		return attempt, false, fmt.Errorf("read the attempt %q: %w", attempt.ID, err)
	}
	return attempt, true, nil
}

// EventsOf returns the events of a change of attempts or of profiles.
func EventsOf(change trigger.Change) ([]trigger.Event, error) {
	if change.Table == "Profiles" {
		return profileChanged(change)
	}
	attempt, evaluated, err := EvaluatedIn(change.NewImage)
	if err != nil || !evaluated {
		return nil, err
	}
	detail := clarity.AttemptEvaluatedEvent{UserID: attempt.UserID, AttemptID: attempt.ID,
		ScenarioID: attempt.ScenarioID, OverallScore: attempt.Evaluation.OverallScore,
		SubmittedAt: attempt.Timestamp.String(), EvaluatedAt: attempt.Evaluation.EvaluatedAt.String()}
	for _, d := range attempt.Evaluation.Dimensions {
		detail.Scores = append(detail.Scores, clarity.ScoreEvent{Dimension: d.Name, Score: d.Score})
	}
	return []trigger.Event{{Name: clarity.AttemptEvaluated, Detail: detail}}, nil
}

// profileChanged is the event of a profile that is a user's latest.
func profileChanged(change trigger.Change) ([]trigger.Event, error) {
	var p profile
	if err := trigger.Read(change.NewImage, &p); err != nil || !p.Latest {
		return nil, err
	}
	detail := clarity.ProfileChangedEvent{UserID: p.UserID, AttemptID: p.AttemptID, AttemptCount: p.AttemptCount,
		OverallAverage: p.OverallAverage}
	for _, d := range p.Dimensions {
		detail.Averages = append(detail.Averages,
			clarity.AverageEvent{Dimension: d.Name, MovingAverage: d.MovingAverage, Trend: d.Trend})
	}
	return []trigger.Event{{Name: clarity.ProfileChanged, Detail: detail}}, nil
}
