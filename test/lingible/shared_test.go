package lingible

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Lingible passes the checks that every platform passes.
func TestShared(t *testing.T) {
	t.Parallel()
	suite.Check(t, platform.Scenario{
		Open: "/health", Walkthrough: "docs/platforms/lingible.md", SignUps: "Users",
		Language: language,
		Statuses: []int{http.StatusOK, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
			http.StatusUnprocessableEntity},
		LargeBodies: map[string][]byte{
			"Text":    fmt.Appendf(nil, `{"text":"%s"}`, strings.Repeat("x", 1<<20-64)),
			"Unicode": fmt.Appendf(nil, `{"text":"%s"}`, strings.Repeat(`\ud83e\udde2`, 20_000)),
			"Members": fmt.Appendf(nil, `{"text":"a"%s}`, strings.Repeat(`,"a":1`, 50_000)),
		},
		Probes: probes,
		Failed: func(t testing.TB, r onesynthtest.Reply) {
			t.Helper()
			if onesynthtest.Field(r.Body, "message") == "Internal Server Error" || r.Request == uncounted {
				return // of the gateway: without its secret the function does not even start
			}
			// Without an export there is no language.
			if f, _ := suite.IsError(r); f.Code == "SYS_003" {
				suite.Refused(t, r, http.StatusServiceUnavailable, "SYS_003")
				return
			}
			suite.Refused(t, r, http.StatusInternalServerError, "SYS_001")
		},
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			one := newPremium(t, &target{on})
			one.Retry = []int{http.StatusServiceUnavailable}
			key := onesynthtest.Key(onesynthtest.Unique("key"))
			body := proposal(newTerm())
			return platform.Repeat{
				Function: "LingibleAPI",
				Send: func(ctx context.Context) (onesynthtest.Reply, error) {
					return one.Send(ctx, http.MethodPost, "/slang/submit", key, body)
				},
				Made: func(t testing.TB) int { return len(one.own(t)) },
				Other: func(t testing.TB) {
					suite.Refused(t, one.MustSend(t, http.MethodPost, "/slang/submit", key, proposal(newTerm())),
						http.StatusUnprocessableEntity, "VAL_001")
				},
			}
		},
	})
}

// The OpenAPI document says of each route what it takes and what it answers.
func TestDocument(t *testing.T) {
	t.Parallel()
	on := shared(t)
	suite.CheckAnswers(t, "Authorization: "+newPremium(t, on).Header.Get("Authorization"))
}

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) { suite.Fuzz(f, language) }

// language is what users usually ask.
func language(t testing.TB, on *platform.Target) platform.Language {
	at := &target{on}
	at.load(t)
	one := newPremium(t, at)
	ids := []string{one.translate(t, "no cap").ID}
	submissions := []string{one.submit(t, proposal(newTerm())).ID}
	question := one.question(t)
	bodies := map[string]func(*rand.Rand) map[string]any{
		"/translate": func(random *rand.Rand) map[string]any {
			return map[string]any{"text": []string{"no cap", "it looks sus", "a plain text"}[random.IntN(3)],
				"direction": []string{"to_standard", "to_slang"}[random.IntN(2)]}
		},
		"/slang/submit": func(*rand.Rand) map[string]any {
			p := proposal(newTerm())
			return map[string]any{"slang_term": p.Term, "meaning": p.Meaning, "example_usage": p.Example}
		},
		"/quiz/answer": func(*rand.Rand) map[string]any {
			return map[string]any{"session_id": question.SessionID, "question_id": question.ID,
				"selected_option": "a"}
		},
		"/quiz/end": func(*rand.Rand) map[string]any {
			return map[string]any{"session_id": onesynthtest.Unique("session")}
		},
		// A deleted account would answer nothing else.
		"/user/account": func(*rand.Rand) map[string]any { return map[string]any{"confirmation": "no"} },
	}
	return platform.Language{
		Headers: func() map[string]string {
			return map[string]string{"Authorization": one.Header.Get("Authorization"),
				"Content-Type": "application/json", "Idempotency-Key": onesynthtest.Unique("key")}
		},
		Queries:     []string{"limit", "cursor", "category", "active_only", "difficulty", "session_id"},
		QueryValues: []string{"1", "100", "slang", "food", "true", "false", "beginner", question.SessionID},
		Parameters:  map[string][]string{"id": ids, "submission_id": submissions},
		Body: func(random *rand.Rand, route schema.Route) map[string]any {
			if body, ok := bodies[route.Path]; ok {
				return body(random)
			}
			return nil
		},
		Bodies: []string{
			`{"text":"\ud800"}`, `{"text":1e400}`, `{"text":"a","text":"b"}`, `{"text":null}`, `{"text":["a"]}`,
			`{"slang_term":"\u0000"}`,
			`{"slang_term":"#","meaning":"#","example_usage":"#"}`, `{"session_id":{}}`, `{"confirmation":["DELETE"]}`,
		},
		Texts: []string{"#", "TERM#sus", "USER#x", "METADATA#lexicon", "rizz", "🧢", "ﷺ"},
	}
}
