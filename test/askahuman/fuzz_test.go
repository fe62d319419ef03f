package askahuman

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) { suite.Fuzz(f, odd) }

// The OpenAPI document says of each route what it takes and what it answers.
func TestDocument(t *testing.T) {
	t.Parallel()
	suite.CheckAnswers(t)
}

// odd are unusual bodies and texts, which the fuzzer sends to this platform.
var odd = platform.Odd{
	Bodies: []string{
		`{"prompt":"\ud800 alone and more","type":"text"}`, `{"prompt":1e400}`, `{"min_responses":1e-400}`,
		`{"type":"text","type":"text","type":null}`,
		`{"prompt":"\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000","type":"text"}`,
		`{"question_id":{"$ne":null}}`,
	},
	Texts: []string{"TOKEN#x", "RATE#create#x", "OPEN"},
}
