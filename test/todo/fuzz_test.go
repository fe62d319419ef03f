package todo

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The OpenAPI document says of each route what it takes and what it answers.
func TestDocument(t *testing.T) {
	t.Parallel()
	suite.CheckAnswers(t, "Authorization: "+newUser(t, shared(t)).Header.Get("Authorization"))
}

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) { suite.Fuzz(f, odd) }

// odd are unusual bodies and texts, which the fuzzer sends to this platform.
var odd = platform.Odd{
	Bodies: []string{
		`{"title":"\ud800 alone"}`, `{"title":1e400}`, `{"title":"a","title":"b"}`, `{"title":"\u0000"}`,
		`{"TITLE":"a"}`, `{"title":"a","due_date":"0000-00-00"}`,
		`{"action":"delete_completed"}`, `{"action":"set_status","status":"pending","task_ids":["a","a"]}`,
		`{"email":"a@b\r\nc","name":"x"}`,
	},
	Texts: []string{"TASK#x", "COUNTS#x", "2026-02-30", "9999-12-31", `"1"`, "completed"},
}
