package askahuman

import (
	"cmp"
	"net/http"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// Every route answers in its form, no matter how much DynamoDB throttles. A repeated request is
// carried out once. The notifier makes up for failed runs.
func TestThrottling(t *testing.T) {
	t.Parallel()
	on := ownRun(t, run.Options{})
	type check = func(testing.TB, routes.Request, onesynthtest.Reply)
	// reported checks that what has the id of that name was reported once.
	reported := func(name string) check {
		return func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			for _, item := range on.Items(t, "Reports") {
				if item["report_id"] == r.Known[name] && len(item["reports"].([]any)) == 1 {
					return
				}
			}
			t.Errorf("%s %v is not reported once", name, r.Known[name])
		}
	}
	// asked checks the question of a request as its agent sees it.
	asked := func(want string, satisfied func(askahuman.QuestionWithResponses) bool) check {
		return func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			agent, _ := on.by(t, r)
			if got := agent.question(t, r.Known["question_id"].(string)); !satisfied(got) {
				t.Errorf("got %+v; want %s", got, want)
			}
		}
	}
	hidden := asked("it hidden", func(q askahuman.QuestionWithResponses) bool {
		return q.Status == "CLOSED" && q.Question.Hidden
	})
	// subscribed checks how many subscriptions the token of that name has.
	subscribed := func(t testing.TB, r routes.Request, name string, want int) (found []map[string]any) {
		t.Helper()
		for _, item := range on.Items(t, "Subscriptions") {
			if item["fcm_token"] == cmp.Or(r.Body[name], r.Known[name]) {
				found = append(found, item)
			}
		}
		if len(found) != want {
			t.Errorf("got %d subscriptions with the %s of %v; want %d", len(found), name, r.Body, want)
		}
		return found
	}
	suite.CheckThrottling(t, on.Target, map[string]platform.Outcome{
		"POST /agent/questions": {Request: "once",
			Check: func(t testing.TB, r routes.Request, told onesynthtest.Reply) {
				agent, _ := on.by(t, r)
				if page := agent.list(t); len(page.Questions) != 1 ||
					page.Questions[0].ID != onesynthtest.Field(told.Body, "question_id") {
					t.Errorf("got %+v; told was %v", page, told)
				}
			}},
		"DELETE /agent/questions/{question_id}": {Check: asked("CLOSED", func(q askahuman.QuestionWithResponses) bool {
			return q.Status == "CLOSED"
		})},
		"POST /agent/webhook-secrets": {Check: func(t testing.TB, r routes.Request, told onesynthtest.Reply) {
			agent, _ := on.by(t, r)
			if told := onesynthtest.Read[askahuman.WebhookSecretList](t, told, http.StatusOK).Secrets; !slices.Contains(
				agent.webhookSecrets(t), told[0]) {
				t.Error("the secret that was told does not sign")
			}
		}},
		"POST /human/responses": {Repeated: http.StatusConflict,
			Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
				agent, person := on.by(t, r)
				if got := agent.question(t, r.Known["question_id"].(string)); got.CurrentResponses != 1 ||
					len(got.Responses) != 1 {
					t.Errorf("got %+v; want one answer", got)
				}
				if got := person.stats(t); got.TotalAnswers != 1 || got.TotalPoints != 15 {
					t.Errorf("got %+v; want the 15 points of one answer", got)
				}
			}},
		"POST /human/push/subscribe": {Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			subscribed(t, r, "fcm_token", 1)
		}},
		"PUT /human/push/subscribe": {Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			subscribed(t, r, "fcm_token", 1)
			subscribed(t, r, "old_fcm_token", 0)
		}},
		"PUT /human/push/subscribe/{subscription_id}": {
			Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
				for _, item := range subscribed(t, r, "fcm_token", 1) {
					if want := r.Body["min_interval_minutes"]; item["min_interval_minutes"] != float64(want.(int)) {
						t.Errorf("got %v; want %v minutes", item, want)
					}
				}
			}},
		"DELETE /human/push/subscribe/{subscription_id}": {Repeated: http.StatusNotFound,
			Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) { subscribed(t, r, "fcm_token", 0) }},
		"POST /human/reports": {Check: reported("question_id")},
		"POST /agent/reports": {Check: reported("response_id")},
		"GET /operator/questions": {Check: func(t testing.TB, r routes.Request, told onesynthtest.Reply) {
			if got := onesynthtest.Read[askahuman.OfAgent](t, told, http.StatusOK); len(got.Questions) != 1 ||
				got.Questions[0].ID != r.Known["question_id"] {
				t.Errorf("got %+v; want the question %v", got, r.Known["question_id"])
			}
		}},
		"PUT /operator/questions":               {Check: hidden},
		"PUT /operator/questions/{question_id}": {Check: hidden},
		"PUT /operator/questions/{question_id}/responses/{response_id}": {
			Check: asked("its answer hidden", func(q askahuman.QuestionWithResponses) bool {
				return q.Hidden == 1 && len(q.Responses) == 0
			})},
		"PUT /operator/blocks": {Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			blocked := newClient(t, on).agent(r.Body["agent_id"].(string), "")
			suite.Refused(t, blocked.Try(t, http.MethodPost, "/agent/questions", textQuestion(1)), http.StatusForbidden,
				"BLOCKED")
		}},
		"PUT /human/handle": {Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			if _, person := on.by(t, r); person.stats(t).Handle != r.Body["handle"] {
				t.Errorf("the person is called %q; want %q", person.stats(t).Handle, r.Body["handle"])
			}
		}},
		"DELETE /human/data": {Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			_, person := on.by(t, r)
			hash := onesynthtest.Field(person.Try(t, http.MethodGet, "/human/data", nil).Body, "person")
			for _, item := range on.Items(t, "Responses") {
				if item["fingerprint_hash"] == hash {
					t.Errorf("the answer %v is still the person's", item["response_id"])
				}
			}
		}},
	}, func(t *testing.T, share float64) {
		// A run that cannot even read what is due fails, and comes again.
		if err := on.Run.RunSchedule(t.Context(), on.Schedule(t, "")); share == 1 && err == nil {
			t.Error("a run of the notifier succeeded without a table")
		}
	}, func(t *testing.T) {
		one := newClient(t, on).newPerson()
		token := onesynthtest.Unique("token")
		one.subscribe(t, token)
		newClient(t, on).newAgent().ask(t, textQuestion(50))
		on.runNotifier(t)
		perToken := map[string]int{}
		for _, push := range on.pushes(t) {
			perToken[push.Token]++
		}
		if perToken[token] != 1 {
			t.Errorf("got %d notifications of someone new; want 1", perToken[token])
		}
		for one, n := range perToken {
			if n > 1 {
				t.Errorf("%s: got %d notifications; want at most 1", one, n)
			}
		}
		for _, item := range on.Items(t, "Guards") {
			if ids, _ := item["open_question_ids"].([]string); len(ids) > 1 {
				t.Errorf("got %d places of an agent who asked once", len(ids))
			}
		}
	})
}

// by are the agent and the person who make a request.
func (p *target) by(t testing.TB, r routes.Request) (agent, person) {
	t.Helper()
	c := newClient(t, p)
	return c.agent(r.Header.Get("X-Agent-Id"), ""), c.person(r.Header.Get("X-Fingerprint"))
}
