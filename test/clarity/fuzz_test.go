package clarity

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The OpenAPI document says of each route what it takes and what it answers.
func TestDocument(t *testing.T) {
	t.Parallel()
	one, _ := newUser(t, shared(t))
	suite.CheckAnswers(t, "Authorization: "+one.Header.Get("Authorization"))
}

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) { suite.Fuzz(f, odd) }

// odd are unusual bodies and texts, which the fuzzer sends to this platform.
var odd = platform.Odd{
	Bodies: []string{
		`{"scenarioId":"\ud800","answers":[]}`, `{"durationSeconds":1e400}`,
		`{"status":"completed","status":"abandoned"}`, `{"answers":[null]}`,
		`{"answers":[{"questionId":"q1","answer":"\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000"}]}`,
		`{"answers":{}}`, `{"answers":"q1"}`,
	},
	Texts: []string{"#", "EVALUATIONS#x", "in-progress", "2026-02-30", "true"},
}
