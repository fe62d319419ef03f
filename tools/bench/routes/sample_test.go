package routes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// A body has what is given, what is known, and of the rest what the contract requires.
func TestSample(t *testing.T) {
	t.Parallel()
	const prompt = "Should error messages apologise to people?"
	type unknown struct {
		Name  string  `json:"name"`
		Size  int     `json:"size" example:"3"`
		Share *string `json:"share,omitempty"`
	}
	for name, test := range map[string]struct {
		schema.Described
		given, known map[string]any
		want         map[string]any
		err          string
	}{
		"examples and what is known": {askahuman.AskQuestion, nil, map[string]any{"type": "text", "created_at": "now"},
			map[string]any{"prompt": prompt, "type": "text"}, ""},
		"the form that takes what is given": {askahuman.DecideBlock, map[string]any{"agent_id": "a"}, nil,
			map[string]any{"agent_id": "a", "blocked": true}, ""},
		"the form that requires the least": {askahuman.ChangeSubscription, map[string]any{"min_interval_minutes": 10},
			map[string]any{"fcm_token": "a"}, map[string]any{"min_interval_minutes": 10}, ""},
		"only what is required": {askahuman.AskQuestion, map[string]any{"min_responses": 50}, nil,
			map[string]any{"min_responses": 50, "prompt": prompt, "type": "text"}, ""},
		"the only value that there is": {askahuman.HideOpenOfAgent, nil, map[string]any{"agent_id": "a", "hidden": 1},
			map[string]any{"agent_id": "a", "hidden": true}, ""},
		"no body": {askahuman.Unsubscribe, nil, nil, nil, ""},
		"no example": {schema.Operation[schema.None, unknown, schema.None]{ID: "make"}, nil, nil, nil,
			"make: the contract has no example of name: give it one"},
		"a number and a pointer": {schema.Operation[schema.None, *unknown, schema.None]{ID: "make"},
			map[string]any{"name": "a"}, nil, map[string]any{"name": "a", "size": 3.0}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Sample(test.Describe(), test.given, test.known)
			if diff := cmp.Diff(test.want, got); diff != "" || (err == nil) != (test.err == "") ||
				err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v; want %q (-want +got):\n%s", err, test.err, diff)
			}
		})
	}
}
