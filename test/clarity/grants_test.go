package clarity

import (
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// probes make every function do its work.
func probes(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
	at := &target{platform.Local(on)}
	one := newUser(t, at)
	some := one.scenarios(t, at)[0]
	saved := one.begin(t, input{"scenarioId": some.ID, "status": "in-progress", "answers": clarity.GivenAnswers{}})
	finished := one.begin(t, input{"scenarioId": some.ID, "status": "in-progress", "answers": clarity.GivenAnswers{}})
	done := one.begin(t, completed(some, "the first of a few"))
	pending := one.begin(t, completed(some, "to be evaluated again"))
	request := func(name, method, path string, body any) onesynthtest.Probe {
		return onesynthtest.Probe{Function: "ClarityAPI", Name: name,
			Do: func(t testing.TB) (onesynthtest.Reply, error) {
				return one.Send(t.Context(), method, path, onesynthtest.Key(onesynthtest.Unique("key")), body)
			}}
	}
	run := func(t testing.TB) (onesynthtest.Reply, error) {
		at.unevaluate(t, pending.ID)
		return onesynthtest.Reply{}, on.Run.RunSchedule(t.Context(), on.Schedule(t, ""))
	}
	return []onesynthtest.Probe{
		request("Begin", http.MethodPost, "/attempts",
			input{"scenarioId": some.ID, "status": "in-progress", "answers": clarity.GivenAnswers{}}),
		request("Submit", http.MethodPost, "/attempts", completed(some, "one more of these")),
		request("Save", http.MethodPut, pathOf(saved), input{"durationSeconds": 5}),
		request("Complete", http.MethodPut, pathOf(finished),
			input{"status": "completed", "answers": completed(some, "now it is done")["answers"]}),
		{Function: "ClarityAPI", Name: "Evaluate", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			at.unevaluate(t, done.ID)
			return one.Send(t.Context(), http.MethodPost, pathOf(done)+"/evaluate", nil, nil)
		}},
		request("Read", http.MethodGet, pathOf(done), nil),
		request("List", http.MethodGet, "/attempts", nil),
		request("Scenarios", http.MethodGet, "/scenarios", nil),
		request("Beginner", http.MethodGet, "/scenarios?difficulty=beginner", nil),
		request("Scenario", http.MethodGet, "/scenarios/"+some.ID, nil),
		request("Profile", http.MethodGet, "/users/me/profile", nil),
		request("History", http.MethodGet, "/users/me/profile/history", nil),
		request("Document", http.MethodGet, "/openapi.json", nil),
		{Function: "Evaluator", Name: "Run", Do: run},
		{Function: "EvaluatorSchedule", Name: "Deliver", Do: run},
		{Function: "Profiler", Name: "Profile", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			one.begin(t, completed(some, "another one for the profile"))
			return onesynthtest.Reply{}, on.FlushUntilRefused(t)
		}},
		{Function: "ScenarioSeeder", Name: "Seed", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return onesynthtest.Reply{}, suite.Seed(t, at.Target)
		}},
	}, func() {}
}

// unevaluate makes an attempt one whose evaluation is due, as a killed function leaves it.
func (p *target) unevaluate(t testing.TB, id string) {
	t.Helper()
	item := p.Item(t, "Attempts", "attemptId", id)
	past := time.Now().Add(-time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")
	delete(item, "evaluation")
	item["evaluationStatus"], item["pendingEvaluation"], item["evaluateAfter"], item["claimedUntil"] = "pending",
		"pending", past, past
	p.Put(t, "Attempts", item)
}
