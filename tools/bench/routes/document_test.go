package routes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A body has what is given, what is known, and of the rest what the document requires.
func TestBody(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash("../../../lambdas/askahuman/api/testdata/openapi-header.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document Document
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		method, path string
		given, known map[string]any
		want         map[string]any
	}{
		"examples and what is known": {
			"POST", "/agent/questions",
			nil, map[string]any{"type": "text", "created_at": "now"},
			map[string]any{"prompt": "Should error messages apologise to people?", "type": "text"},
		},
		"the form that takes what is given": {
			"PUT", "/operator/blocks",
			map[string]any{"agent_id": "a"}, nil, map[string]any{"agent_id": "a", "blocked": true},
		},
		"the form that requires the least": {
			"PUT", "/human/push/subscribe/{subscription_id}",
			map[string]any{"min_interval_minutes": 10}, map[string]any{"fcm_token": "a"},
			map[string]any{"min_interval_minutes": 10},
		},
		"only what is required": {
			"POST", "/agent/questions",
			map[string]any{"min_responses": 50}, nil,
			map[string]any{"min_responses": 50, "prompt": "Should error messages apologise to people?", "type": "text"},
		},
		"the only value that there is": {
			"PUT", "/operator/questions",
			nil, map[string]any{"agent_id": "a", "hidden": 1}, map[string]any{"agent_id": "a", "hidden": true},
		},
		"none": {"DELETE", "/human/push/subscribe/{subscription_id}", nil, map[string]any{"text": "a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operation := document.Operation(test.method, test.path)
			got, err := operation.Body(test.given, test.known)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("got %v (-want +got):\n%s", err, diff)
			}
			if test.path == "/agent/questions" && (operation.Succeeds(200) || !operation.Succeeds(201) ||
				operation.Succeeds(409)) {
				t.Error("a status that the document does not declare for success is taken for one")
			}
		})
	}
}
