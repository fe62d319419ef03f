package lingible

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Lingible passes the checks that every platform passes.
func TestShared(t *testing.T) {
	t.Parallel()
	suite.Check(t, platform.Scenario{
		Open: "/health", Walkthrough: "docs/platforms/lingible.md", SignUps: "Users",
		Odd: odd,
		Statuses: []int{http.StatusOK, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
			http.StatusUnprocessableEntity},
		LargeBodies: map[string][]byte{
			"Text":    fmt.Appendf(nil, `{"text":"%s"}`, strings.Repeat("x", 1<<20-64)),
			"Unicode": fmt.Appendf(nil, `{"text":"%s"}`, strings.Repeat(`\ud83e\udde2`, 20_000)),
			"Members": fmt.Appendf(nil, `{"text":"a"%s}`, strings.Repeat(`,"a":1`, 50_000)),
		},
		Uses: uses,
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			one := newPremium(t, &target{on})
			one.Retry = []int{http.StatusServiceUnavailable}
			key := onesynthtest.Key(onesynthtest.Unique("key"))
			body := proposal()
			return platform.Repeat{
				Function: "LingibleAPI",
				Send: func(ctx context.Context) (onesynthtest.Reply, error) {
					return one.Send(ctx, http.MethodPost, "/slang/submit", key, body)
				},
				Made: func(t testing.TB) int { return len(own(t, one)) },
				Other: func(t testing.TB) {
					suite.Refused(t, one.MustSend(t, http.MethodPost, "/slang/submit", key, proposal()),
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
func FuzzRequest(f *testing.F) { suite.Fuzz(f, odd) }

// odd are unusual bodies and texts, which the fuzzer sends to this platform.
var odd = platform.Odd{
	Bodies: []string{
		`{"text":"\ud800"}`, `{"text":1e400}`, `{"text":"a","text":"b"}`, `{"text":null}`, `{"text":["a"]}`,
		`{"slang_term":"\u0000"}`,
		`{"slang_term":"#","meaning":"#","example_usage":"#"}`, `{"session_id":{}}`, `{"confirmation":["DELETE"]}`,
	},
	Texts: []string{"#", "TERM#sus", "USER#x", "METADATA#lexicon", "rizz", "🧢", "ﷺ"},
}
