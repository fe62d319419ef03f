package clarity

import (
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// newUser returns a user with a token, and the first active scenario. The first call loads the scenarios.
func newUser(t testing.TB, on *platform.Target) (platform.Caller, clarity.Scenario) {
	t.Helper()
	suite.Load(t, on)
	c := platform.NewCaller(t, on)
	return c, platform.Call(t, c, clarity.ListScenarios, clarity.ScenariosParams{}).Scenarios[0]
}

// completed is a completed attempt at a scenario, with words of its own for each answer.
func completed(s clarity.Scenario, words string) clarity.Submission {
	attempt := clarity.Submission{ScenarioID: s.ID, Change: clarity.Change{DurationSeconds: new(600)}}
	for _, q := range s.Questions {
		attempt.Answers = append(attempt.Answers, clarity.GivenAnswer{QuestionID: q.ID,
			Text: fmt.Sprintf("To %s I would say: %s", q.ID, words)})
	}
	return attempt
}

// begun is an attempt at a scenario without an answer.
func begun(scenarioID string) clarity.Submission {
	return clarity.Submission{ScenarioID: scenarioID, Answers: clarity.GivenAnswers{},
		Change: clarity.Change{Status: clarity.InProgress}}
}
