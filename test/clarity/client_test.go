package clarity

import (
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// caller is a user with a token.
type caller struct{ platform.Caller }

func newUser(t testing.TB, on *target) caller {
	t.Helper()
	return caller{platform.NewCaller(t, on.Target)}
}

// scenarios returns the active scenarios. The first call loads them.
func (c caller) scenarios(t testing.TB, on *target) []clarity.Scenario {
	t.Helper()
	on.load(t)
	return onesynthtest.Call(t, c, clarity.ListScenarios, clarity.ScenariosParams{}, schema.None{}).Value.Scenarios
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

func (c caller) begin(t testing.TB, body clarity.Submission) clarity.Attempt {
	t.Helper()
	return onesynthtest.Call(t, c, clarity.CreateAttempt, schema.None{}, body).Value
}

func (c caller) read(t testing.TB, id string) clarity.Attempt {
	t.Helper()
	return onesynthtest.Call(t, c, clarity.ReadAttempt, clarity.AttemptParams{ID: id}, schema.None{}).Value
}

// all returns the caller's attempts, newest first, by pages.
func (c caller) all(t testing.TB, limit int) (list []clarity.Attempt) {
	t.Helper()
	for at := (clarity.PageParams{Limit: limit}); ; {
		page := onesynthtest.Call(t, c, clarity.ListAttempts, at, schema.None{}).Value
		if len(page.Attempts) > limit {
			t.Fatalf("got %d attempts on a page; want at most %d", len(page.Attempts), limit)
		}
		list = append(list, page.Attempts...)
		if at.NextToken = page.NextToken; at.NextToken == "" {
			return list
		}
	}
}

// profiles returns the caller's profiles, newest first.
func (c caller) profiles(t testing.TB) []clarity.Profile {
	t.Helper()
	return onesynthtest.Call(t, c, clarity.ListProfiles, clarity.PageParams{Limit: 100}, schema.None{}).Value.Profiles
}
