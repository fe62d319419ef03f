package routes

import (
	"context"
	"fmt"
	"slices"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

const (
	// evaluationsOfUser is how many evaluations a user has in a day by default.
	evaluationsOfUser = 20
	// scenario is one of the initial data. Its questions are q1 to q3.
	scenario = "cafe-loyalty-card"
)

// Clarity says what to measure of Clarity.
func (described) Clarity() Measured {
	first := func(_ *caller, n int) given {
		return given{"scenarioId": scenario, "answers": answers(n)[:1], "status": clarity.InProgress}
	}
	profile := func(ctx context.Context, c *caller) error {
		if c.known["attemptId"] != nil {
			return nil
		}
		return c.do(ctx, Route{Operation: clarity.CreateAttempt.Describe(), then: profiled})
	}
	return Measured{
		platform: clarity.Platform(),
		makers:   map[string]schema.Described{"attemptId": clarity.CreateAttempt},
		bodies: map[string]func(*caller, int) given{
			clarity.CreateAttempt.ID: func(_ *caller, n int) given {
				return given{"scenarioId": scenario, "answers": answers(n), "durationSeconds": 600}
			},
			clarity.SaveAttempt.ID: func(_ *caller, n int) given { return given{"answers": answers(n + 1)} },
		},
		Routes: []Route{
			{Name: "warm", Of: clarity.ReadDocument, Note: ", without DynamoDB"},
			{Name: "submit", Of: clarity.CreateAttempt, Note: ", evaluated by the rubric", Clients: allClients,
				per: evaluationsOfUser, then: evaluated},
			{Name: "repeat", Of: clarity.CreateAttempt, Note: ", with an idempotency key", keyed: true,
				per: evaluationsOfUser, then: evaluated},
			{Name: "begin", Of: clarity.CreateAttempt, Note: ", in progress", Clients: allClients, body: first},
			{Name: "save", Of: clarity.SaveAttempt, Clients: allClients, before: func(ctx context.Context,
				c *caller) error {
				return c.do(ctx, Route{Operation: clarity.CreateAttempt.Describe(), body: first})
			}},
			{Name: "get", Of: clarity.ReadAttempt, Clients: allClients},
			{Name: "list", Of: clarity.ListAttempts, Params: clarity.PageParams{Limit: 10}, Note: ", 10",
				Clients: allClients, has: slices.Repeat([]string{"attemptId"}, 10)},
			{Name: "choose", Of: clarity.ListScenarios, Note: ", from memory", Clients: allClients},
			{Name: "read", Of: clarity.ReadScenario, Note: ", from memory",
				Params: clarity.ScenarioParams{ID: scenario}},
			{Name: "again", Of: clarity.EvaluateAttempt, Note: ", evaluated"},
			{Name: "profile", Of: clarity.ReadProfile, Clients: allClients, before: profile},
			{Name: "history", Of: clarity.ListProfiles, Clients: allClients, before: profile},
			{Name: "export", Of: clarity.ExportData, Note: ", of an attempt or more", has: []string{"attemptId"}},
			{Name: "erase", Of: clarity.DeleteUser, has: []string{"attemptId"}, per: 1},
			{Name: "learn", Of: clarity.CreateAttempt, Note: " to the new profile", Waits: true,
				per: evaluationsOfUser, then: profiled},
		},
	}
}

// answers are of about 100 words each.
func answers(n int) (list clarity.GivenAnswers) {
	const text = "The report assumes that the people who replied are like those who did not, which may be false: 40 " +
		"of 200 replied, so 160 opinions are missing. " +
		"If only half of them agreed, the share would fall from 80 percent to 56. Another explanation is the season, " +
		"because the figures of June are compared with those of December. " +
		"I would ask for the same month of last year before I decide. I am not sure how large the effect of the " +
		"price is. "
	for _, question := range []string{"q1", "q2", "q3"} {
		list = append(list, clarity.GivenAnswer{QuestionID: question, Text: fmt.Sprint(text, "This is note ", n, ".")})
	}
	return list
}

// evaluated checks that an attempt was evaluated at once.
func evaluated(_ context.Context, c *caller, _ client.Reply) (err error) {
	if c.known["evaluation"] == nil {
		err = fmt.Errorf("attempt %v was not evaluated", c.known["attemptId"])
	}
	return err
}

// profiled waits for the profile of an attempt.
func profiled(ctx context.Context, c *caller, _ client.Reply) error {
	return until(ctx, c, clarity.ListProfiles, clarity.PageParams{Limit: 1}, func(list clarity.ProfileList) bool {
		return len(list.Profiles) > 0 && list.Profiles[0].AttemptID == c.known["attemptId"]
	})
}
