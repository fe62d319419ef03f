package clarity

import (
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// probes make every function do its work, but for what the requests of package routes do.
func probes(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
	at := &target{platform.Local(on)}
	one := newUser(t, at)
	some := one.scenarios(t, at)[0]
	done := one.begin(t, completed(some, "the first of a few"))
	pending := one.begin(t, completed(some, "to be evaluated again"))
	run := func(t testing.TB) (onesynthtest.Reply, error) {
		at.unevaluate(t, pending.ID)
		return onesynthtest.Reply{}, on.Run.RunSchedule(t.Context(), on.Schedule(t, ""))
	}
	// leaves lets a user with an attempt and a profile be deleted.
	leaves := func(t testing.TB, words string) (caller, error) {
		t.Helper()
		leaver := newUser(t, at)
		leaver.begin(t, completed(some, words))
		if err := on.FlushUntilRefused(t); err != nil {
			return leaver, err
		}
		leaver.MustSend(t, http.MethodDelete, "/users/me", nil, nil)
		return leaver, on.FlushUntilRefused(t)
	}
	return []onesynthtest.Probe{
		{Function: "AccountEraser", Name: "Erase", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			_, err := leaves(t, "soon forgotten")
			return onesynthtest.Reply{}, err
		}},
		{Function: "Profiler", Name: "Anew", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			leaver, err := leaves(t, "soon forgotten, and remembered")
			if err != nil {
				return onesynthtest.Reply{}, err
			}
			leaver.begin(t, completed(some, "a new beginning"))
			return onesynthtest.Reply{}, on.FlushUntilRefused(t)
		}},
		{Function: "ClarityAPI", Name: "Evaluate", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			at.unevaluate(t, done.ID)
			return one.Send(t.Context(), http.MethodPost, "/attempts/"+done.ID+"/evaluate", nil, nil)
		}},
		{Function: "ClarityAPI", Name: "Beginner", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return one.Send(t.Context(), http.MethodGet, "/scenarios?difficulty=beginner", nil, nil)
		}},
		{Function: "WebPage", Name: "Page", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return one.Send(t.Context(), http.MethodGet, "/", nil, nil)
		}},
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
