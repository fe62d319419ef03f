package routes

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
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
	begin := func(l *Run) *trainee {
		return &trainee{caller: caller{run: l, http: &http.Client{Transport: &http.Transport{}}}}
	}
	with := func(prepare, request func(*trainee, context.Context) error) NewClient {
		return client(begin, func(u *trainee, ctx context.Context) error {
			if err := u.needUser(ctx); err != nil || prepare == nil {
				return err
			}
			return prepare(u, ctx)
		}, request)
	}
	get := func(path string) func(*trainee, context.Context) error {
		return func(u *trainee, ctx context.Context) error {
			return u.call(ctx, http.MethodGet, path, http.StatusOK, nil, nil)
		}
	}
	return Measured{Routes: []Route{
		{Name: "warm    GET /openapi.json, without DynamoDB", Clients: []int{1}, Client: client(begin, slowly, get("/openapi.json"))},
		{Name: "submit  POST /attempts, evaluated by the rubric", Clients: allClients, Patterns: []string{"SubmitAttempt", "SettleEvaluation"}, Client: with(nil, (*trainee).submit)},
		{Name: "repeat  POST /attempts, with an idempotency key", Clients: []int{1}, Patterns: []string{"SubmitAttempt", "AnswerEvaluation"}, Client: with(nil, (*trainee).submitOnce)},
		{Name: "begin   POST /attempts, in progress", Clients: allClients, Patterns: []string{"StoreAttempt"}, Client: with(nil, (*trainee).begin)},
		{Name: "save    PUT /attempts/{id}", Clients: allClients, Patterns: []string{"GetAttempt", "SaveAttempt"}, Client: with((*trainee).begin, (*trainee).save)},
		{Name: "get     GET /attempts/{id}", Clients: allClients, Patterns: []string{"GetAttempt"}, Client: with((*trainee).needAttempt, (*trainee).get)},
		{Name: "list    GET /attempts, 10", Clients: allClients, Patterns: []string{"ListUserAttempts"}, Client: with((*trainee).needTen, get("/attempts?limit=10"))},
		{Name: "choose  GET /scenarios, from memory", Clients: allClients, Client: with(nil, get("/scenarios"))},
		{Name: "read    GET /scenarios/{id}, from memory", Clients: single, Client: with(nil, (*trainee).read)},
		{Name: "again   POST /attempts/{id}/evaluate, evaluated", Clients: single, Patterns: []string{"GetAttempt"}, Client: with((*trainee).needAttempt, (*trainee).again)},
		{Name: "profile GET /users/me/profile", Clients: allClients, Patterns: []string{"GetLatestProfile"}, Client: with((*trainee).needProfile, get("/users/me/profile"))},
		{Name: "history GET /users/me/profile/history", Clients: allClients, Patterns: []string{"ListProfiles"}, Client: with((*trainee).needProfile, get("/users/me/profile/history"))},
		{Name: "learn   POST /attempts to the new profile", Waits: true, Clients: []int{1}, Client: with(nil, (*trainee).profiled)},
	}}
}

// trainee is one client, a user with attempts of its own.
type trainee struct {
	caller
	token    string
	scenario struct {
		ID        string                        `json:"scenarioId"`
		Questions []struct{ QuestionID string } `json:"questions"`
	}
	submitted, made int
	last            string
}

func (u *trainee) call(ctx context.Context, method, path string, want int, body, out any) error {
	return u.caller.call(ctx, method, path, http.Header{"Authorization": {"Bearer " + u.token}}, want, body, out)
}

// needUser makes the client another user when this one's evaluations of the day are used up.
func (u *trainee) needUser(ctx context.Context) (err error) {
	if u.token != "" && u.submitted < evaluationsOfUser {
		return nil
	}
	if u.token, err = u.run.Token(ctx, "bench-"+rand.Text()); err != nil {
		return err
	}
	u.submitted, u.made, u.last = 0, 0, ""
	if u.scenario.ID != "" {
		return nil
	}
	if err := u.run.Seed(ctx, "clarity"); err != nil {
		return err
	}
	var list struct{ Scenarios []struct{ ScenarioID string } }
	if err := u.call(ctx, http.MethodGet, "/scenarios", http.StatusOK, nil, &list); err != nil {
		return err
	}
	return u.call(ctx, http.MethodGet, "/scenarios/"+list.Scenarios[0].ScenarioID, http.StatusOK, nil, &u.scenario)
}

// answers are of about 100 words each.
func (u *trainee) answers() []map[string]string {
	const text = "The report assumes that the people who replied are like those who did not, which may be false: 40 of 200 replied, so 160 opinions are missing. " +
		"If only half of them agreed, the share would fall from 80 percent to 56. Another explanation is the season, because the figures of June are compared with those of December. " +
		"I would ask for the same month of last year before I decide. I am not sure how large the effect of the price is. "
	var list []map[string]string
	for _, q := range u.scenario.Questions {
		list = append(list, map[string]string{"questionId": q.QuestionID, "answer": fmt.Sprint(text, "This is note ", u.made, ".")})
	}
	return list
}

type madeAttempt struct {
	AttemptID  string
	Evaluation *struct{ EvaluatedAt string }
}

func (u *trainee) post(ctx context.Context, header http.Header, body map[string]any) error {
	header.Set("Authorization", "Bearer "+u.token)
	u.made++
	var made madeAttempt
	err := u.caller.call(ctx, http.MethodPost, "/attempts", header, http.StatusCreated, body, &made)
	if err == nil && body["status"] == nil && made.Evaluation == nil {
		err = fmt.Errorf("attempt %s was not evaluated", made.AttemptID)
	}
	u.last = made.AttemptID
	return err
}

func (u *trainee) submit(ctx context.Context) error {
	u.submitted++
	return u.post(ctx, http.Header{}, map[string]any{"scenarioId": u.scenario.ID, "answers": u.answers(), "durationSeconds": 600})
}

func (u *trainee) submitOnce(ctx context.Context) error {
	u.submitted++
	return u.post(ctx, http.Header{"Idempotency-Key": {rand.Text()}}, map[string]any{"scenarioId": u.scenario.ID, "answers": u.answers()})
}

func (u *trainee) begin(ctx context.Context) error {
	return u.post(ctx, http.Header{}, map[string]any{"scenarioId": u.scenario.ID, "answers": u.answers()[:1], "status": "in-progress"})
}

func (u *trainee) save(ctx context.Context) error {
	return u.call(ctx, http.MethodPut, "/attempts/"+u.last, http.StatusOK, map[string]any{"answers": u.answers()}, nil)
}

func (u *trainee) needAttempt(ctx context.Context) error {
	if u.last != "" {
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

func (u *trainee) get(ctx context.Context) error {
	return u.call(ctx, http.MethodGet, "/attempts/"+u.last, http.StatusOK, nil, nil)
}

func (u *trainee) needProfile(ctx context.Context) error {
	if u.last != "" {
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
		if err := u.call(ctx, http.MethodGet, "/users/me/profile/history?limit=1", http.StatusOK, nil, &list); err != nil {
			return err
		}
		if len(list.Profiles) > 0 && list.Profiles[0].AttemptID == u.last {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(profileEvery):
		}
	}
}

func (u *trainee) read(ctx context.Context) error {
	return u.call(ctx, http.MethodGet, "/scenarios/"+u.scenario.ID, http.StatusOK, nil, nil)
}

func (u *trainee) again(ctx context.Context) error {
	return u.call(ctx, http.MethodPost, "/attempts/"+u.last+"/evaluate", http.StatusOK, nil, nil)
}
