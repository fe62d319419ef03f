package routes

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"
)

const (
	// evaluationsOfUser is how many evaluations a user has in a day by default.
	evaluationsOfUser = 20
	// profileEvery is the interval of reading the profile, and so the precision of its delay.
	profileEvery = 10 * time.Millisecond
)

// Clarity says what to measure of Clarity.
func (described) Clarity() Measured {
	begin := func(run *Run) *trainee { return &trainee{caller: newCaller(run)} }
	taking := func(prepare, request func(*trainee, context.Context) error) starter {
		return steps(begin, func(u *trainee, ctx context.Context) error {
			if err := u.needUser(ctx); err != nil || prepare == nil {
				return err
			}
			return prepare(u, ctx)
		}, request)
	}
	signedIn := taking(nil, nil)
	attempted, profiled := taking((*trainee).needAttempt, nil), taking((*trainee).needProfile, nil)
	return Measured{Routes: []Route{
		{Name: "warm", Method: "GET", Path: "/openapi.json", Note: ", without DynamoDB",
			start: steps(begin, slowly, nil)},
		{Name: "submit", Method: "POST", Path: "/attempts", Note: ", evaluated by the rubric", Clients: allClients,
			start: taking(nil, (*trainee).submit)},
		{Name: "repeat", Method: "POST", Path: "/attempts", Note: ", with an idempotency key",
			start: taking((*trainee).key, (*trainee).submit)},
		{Name: "begin", Method: "POST", Path: "/attempts", Note: ", in progress", Clients: allClients,
			start: taking(nil, (*trainee).begin)},
		{Name: "save", Method: "PUT", Path: "/attempts/{id}", Clients: allClients,
			start: taking((*trainee).begin, with(func(u *trainee) given { return given{"answers": u.answers()} }))},
		{Name: "get", Method: "GET", Path: "/attempts/{id}", Clients: allClients, start: attempted},
		{Name: "list", Method: "GET", Path: "/attempts", Query: "limit=10", Note: ", 10", Clients: allClients,
			start: taking((*trainee).needTen, nil)},
		{Name: "choose", Method: "GET", Path: "/scenarios", Note: ", from memory", Clients: allClients,
			start: signedIn},
		{Name: "read", Method: "GET", Path: "/scenarios/{id}", Note: ", from memory", start: signedIn},
		{Name: "again", Method: "POST", Path: "/attempts/{id}/evaluate", Note: ", evaluated", start: attempted},
		{Name: "profile", Method: "GET", Path: "/users/me/profile", Clients: allClients, start: profiled},
		{Name: "history", Method: "GET", Path: "/users/me/profile/history", Clients: allClients, start: profiled},
		{Name: "learn", Method: "POST", Path: "/attempts", Note: " to the new profile", Waits: true,
			start: taking(nil, (*trainee).profiled)},
	}}
}

// trainee is one client, a user with attempts of its own.
type trainee struct {
	caller
	questions       []struct{ QuestionID string }
	submitted, made int
}

// needUser makes the client another user when this one's evaluations of the day are used up.
func (u *trainee) needUser(ctx context.Context) error {
	if u.Header.Get("Authorization") != "" && u.submitted < evaluationsOfUser {
		return nil
	}
	if err := u.as(ctx, "bench-"+rand.Text()); err != nil {
		return err
	}
	u.submitted, u.made = 0, 0
	delete(u.known, "attemptId")
	if u.questions != nil {
		return nil
	}
	if err := u.run.Seed(ctx, "clarity"); err != nil {
		return err
	}
	var list struct{ Scenarios []struct{ ScenarioID string } }
	if err := u.call(ctx, "GET /scenarios", nil, &list); err != nil {
		return err
	}
	u.known["scenarioId"] = list.Scenarios[0].ScenarioID
	var scenario struct{ Questions []struct{ QuestionID string } }
	err := u.call(ctx, "GET /scenarios/{id}", nil, &scenario)
	u.questions = scenario.Questions
	return err
}

// answers are of about 100 words each.
func (u *trainee) answers() []map[string]string {
	const text = "The report assumes that the people who replied are like those who did not, which may be false: 40 " +
		"of 200 replied, so 160 opinions are missing. " +
		"If only half of them agreed, the share would fall from 80 percent to 56. Another explanation is the season, " +
		"because the figures of June are compared with those of December. " +
		"I would ask for the same month of last year before I decide. I am not sure how large the effect of the " +
		"price is. "
	var list []map[string]string
	for _, q := range u.questions {
		list = append(list, map[string]string{"questionId": q.QuestionID,
			"answer": fmt.Sprint(text, "This is note ", u.made, ".")})
	}
	return list
}

// key gives requests idempotency keys.
func (u *trainee) key(context.Context) error {
	u.IdempotencyKeys = true
	return nil
}

func (u *trainee) submit(ctx context.Context) error {
	u.submitted++
	u.made++
	err := u.call(ctx, "POST /attempts", given{"answers": u.answers(), "durationSeconds": 600}, nil)
	if err == nil && !u.knows("evaluation") {
		err = fmt.Errorf("attempt %v was not evaluated", u.known["attemptId"])
	}
	return err
}

func (u *trainee) begin(ctx context.Context) error {
	u.made++
	return u.call(ctx, "POST /attempts", given{"answers": u.answers()[:1], "status": "in-progress"}, nil)
}

func (u *trainee) needAttempt(ctx context.Context) error {
	if u.knows("attemptId") {
		return nil
	}
	return u.submit(ctx)
}

func (u *trainee) needTen(ctx context.Context) error {
	for u.made < 10 {
		if err := u.submit(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (u *trainee) needProfile(ctx context.Context) error {
	if u.knows("attemptId") {
		return nil
	}
	return u.profiled(ctx)
}

// profiled submits an attempt and waits for its profile.
func (u *trainee) profiled(ctx context.Context) error {
	if err := u.submit(ctx); err != nil {
		return err
	}
	for {
		var list struct{ Profiles []struct{ AttemptID string } }
		if err := u.call(ctx, "GET /users/me/profile/history?limit=1", nil, &list); err != nil {
			return err
		}
		if len(list.Profiles) > 0 && list.Profiles[0].AttemptID == u.known["attemptId"] {
			return nil
		}
		if err := wait(ctx, profileEvery); err != nil {
			return err
		}
	}
}
