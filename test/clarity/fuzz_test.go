package clarity

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The OpenAPI document says of each route what it takes and what it answers.
func TestDocument(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.load(t)
	suite.CheckAnswers(t, "Authorization: "+newUser(t, on).Header.Get("Authorization"))
}

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) { suite.Fuzz(f, language) }

// language is what users usually ask.
func language(t testing.TB, on *platform.Target) platform.Language {
	at := &target{on}
	one := newUser(t, at)
	all := one.scenarios(t, at)
	var ids []string
	for _, s := range all[:4] {
		ids = append(ids, one.begin(t, begun(s.ID)).ID, s.ID)
	}
	var asked atomic.Int32
	return platform.Language{
		Headers: func() map[string]string {
			// Who has sent DELETE /users/me can begin nothing for a while.
			sender := one
			if asked.Add(1)%2 == 0 {
				sender = newUser(t, at)
			}
			return map[string]string{
				"Authorization": sender.Header.Get("Authorization"), "Content-Type": "application/json",
				"Idempotency-Key": onesynthtest.Unique("key"), "If-Match": "*",
			}
		},
		Queries:     []string{"difficulty", "limit", "nextToken"},
		QueryValues: []string{"beginner", "advanced", "1", "100"},
		Parameters:  map[string][]string{"id": ids},
		Body: func(random *rand.Rand, route schema.Route) map[string]any {
			attempt := completed(all[random.IntN(len(all))], "as people usually write")
			if route.Path != "/attempts" {
				return map[string]any{"answers": attempt.Answers, "status": clarity.InProgress}
			}
			return map[string]any{"answers": attempt.Answers, "scenarioId": attempt.ScenarioID, "durationSeconds": 600}
		},
		Bodies: []string{
			`{"scenarioId":"\ud800","answers":[]}`, `{"durationSeconds":1e400}`,
			`{"status":"completed","status":"abandoned"}`, `{"answers":[null]}`,
			`{"answers":[{"questionId":"q1","answer":"\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000"}]}`,
			`{"answers":{}}`, `{"answers":"q1"}`,
		},
		Texts: []string{"#", "EVALUATIONS#x", "in-progress", "2026-02-30", "true"},
	}
}
