package clarity

import (
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// uses makes every function do its work, but for what the requests of package routes do.
func uses(t testing.TB, on *platform.Target) {
	one, some := newUser(t, on)
	byRequest, bySchedule := platform.Post(t, one, clarity.CreateAttempt, completed(some, "the first of a few")),
		platform.Post(t, one, clarity.CreateAttempt, completed(some, "to be evaluated again"))
	on.Flush(t)
	unevaluate(t, on, byRequest.ID)
	platform.Call(t, one, clarity.EvaluateAttempt, clarity.AttemptParams{ID: byRequest.ID})
	unevaluate(t, on, bySchedule.ID)
	on.RunSchedule(t, "")
	platform.Call(t, one, clarity.ListScenarios, clarity.ScenariosParams{Difficulty: "beginner"})
	platform.Succeeded(t, one.Try(t, http.MethodGet, "/", nil))
	// A user who has attempts and a profile deletes the account, and signs up again.
	platform.Call(t, one, clarity.DeleteUser, schema.None{})
	on.Flush(t)
	platform.Post(t, one, clarity.CreateAttempt, completed(some, "a new beginning"))
	on.Flush(t)
}

// unevaluate makes an attempt one whose evaluation is due, as a killed function leaves it.
func unevaluate(t testing.TB, p *platform.Target, id string) {
	t.Helper()
	item := p.Item(t, "Attempts", "attemptId", id)
	past := time.Now().Add(-time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")
	delete(item, "evaluation")
	item["evaluationStatus"], item["pendingEvaluation"], item["evaluateAfter"], item["claimedUntil"] = "pending",
		"pending", past, past
	p.Put(t, "Attempts", item)
}
