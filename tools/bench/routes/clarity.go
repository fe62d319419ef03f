package routes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// evaluationsOfUser is how many evaluations a user has in a day by default.
	evaluationsOfUser = 20
	// profileEvery is the interval of reading the profile, and so the precision of its delay.
	profileEvery = 10 * time.Millisecond
)

// Clarity says what to measure of Clarity.
func (described) Clarity() Measured {
	first := func(c *caller) given { return given{"answers": answers(c)[:1], "status": clarity.InProgress} }
	profile := func(ctx context.Context, c *caller) error {
		if c.knows("attemptId") {
			return nil
		}
		return submitToProfile(ctx, c)
	}
	return Measured{
		platform: clarity.Platform(), load: loadScenarios, loads: []string{"scenarioId"},
		identify: asUser, identity: []string{"sub"},
		within: map[string][]string{"sub": {"attemptId"}},
		makers: map[string]schema.Described{"attemptId": clarity.CreateAttempt},
		bodies: map[string]func(*caller) given{
			clarity.CreateAttempt.ID: func(c *caller) given {
				return given{"answers": answers(c), "durationSeconds": 600}
			},
			clarity.SaveAttempt.ID: func(c *caller) given { return given{"answers": answers(c)} },
		},
		Routes: []Route{
			{Name: "warm", Of: clarity.ReadDocument, Note: ", without DynamoDB"},
			{Name: "submit", Of: clarity.CreateAttempt, Note: ", evaluated by the rubric", Clients: allClients,
				per: evaluationsOfUser, send: submit},
			{Name: "repeat", Of: clarity.CreateAttempt, Note: ", with an idempotency key", keyed: true,
				per: evaluationsOfUser, send: submit},
			{Name: "begin", Of: clarity.CreateAttempt, Note: ", in progress", Clients: allClients, body: first},
			{Name: "save", Of: clarity.SaveAttempt, Clients: allClients, before: func(ctx context.Context,
				c *caller) error {
				return c.send(ctx, clarity.CreateAttempt.Describe(), Route{}, first(c), nil)
			}},
			{Name: "get", Of: clarity.ReadAttempt, Clients: allClients},
			{Name: "list", Of: clarity.ListAttempts, Params: clarity.PageParams{Limit: 10}, Note: ", 10",
				Clients: allClients, has: slices.Repeat([]string{"attemptId"}, 10)},
			{Name: "choose", Of: clarity.ListScenarios, Note: ", from memory", Clients: allClients},
			{Name: "read", Of: clarity.ReadScenario, Note: ", from memory"},
			{Name: "again", Of: clarity.EvaluateAttempt, Note: ", evaluated"},
			{Name: "profile", Of: clarity.ReadProfile, Clients: allClients, before: profile},
			{Name: "history", Of: clarity.ListProfiles, Clients: allClients, before: profile},
			{Name: "export", Of: clarity.ExportData, Note: ", of an attempt or more", has: []string{"attemptId"}},
			{Name: "erase", Of: clarity.DeleteUser, has: []string{"attemptId"}, per: 1},
			{Name: "learn", Of: clarity.CreateAttempt, Note: " to the new profile", Waits: true,
				per: evaluationsOfUser, send: submitToProfile},
		},
	}
}

// loadScenarios loads the scenarios, and returns the first one with its questions.
func loadScenarios(ctx context.Context, c *caller) (map[string]any, error) {
	if err := c.run.Seed(ctx, "clarity"); err != nil {
		return nil, err
	}
	if err := c.of.identify(ctx, c); err != nil {
		return nil, err
	}
	var list clarity.ScenarioList
	err := c.send(ctx, clarity.ListScenarios.Describe(), Route{}, nil, &list)
	if err != nil || len(list.Scenarios) == 0 {
		return nil, fmt.Errorf("got the scenarios %v: %w", list, err)
	}
	return map[string]any{"scenarioId": list.Scenarios[0].ID, "questions": list.Scenarios[0].Questions}, nil
}

// answers are of about 100 words each.
func answers(c *caller) (list clarity.GivenAnswers) {
	const text = "The report assumes that the people who replied are like those who did not, which may be false: 40 " +
		"of 200 replied, so 160 opinions are missing. " +
		"If only half of them agreed, the share would fall from 80 percent to 56. Another explanation is the season, " +
		"because the figures of June are compared with those of December. " +
		"I would ask for the same month of last year before I decide. I am not sure how large the effect of the " +
		"price is. "
	questions, _ := c.known["questions"].([]clarity.Question)
	for _, q := range questions {
		list = append(list, clarity.GivenAnswer{QuestionID: q.ID,
			Text: fmt.Sprint(text, "This is note ", len(c.made["attemptId"])+1, ".")})
	}
	return list
}

// submit submits an attempt, which has to be evaluated.
func submit(ctx context.Context, c *caller) error {
	delete(c.known, "evaluation")
	err := c.request(ctx)
	if err == nil && !c.knows("evaluation") {
		err = fmt.Errorf("attempt %v was not evaluated", c.known["attemptId"])
	}
	return err
}

// submitToProfile submits an attempt and waits for its profile.
func submitToProfile(ctx context.Context, c *caller) error {
	if err := c.do(ctx, clarity.CreateAttempt); err != nil {
		return err
	}
	for {
		var list clarity.ProfileList
		if err := c.send(ctx, clarity.ListProfiles.Describe(), Route{Params: clarity.PageParams{Limit: 1}}, nil,
			&list); err != nil {
			return err
		}
		if len(list.Profiles) > 0 && list.Profiles[0].AttemptID == c.known["attemptId"] {
			return nil
		}
		if err := wait(ctx, profileEvery); err != nil {
			return err
		}
	}
}
