package api_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// shelf is a table without the scenario that is asked for, and with or without others.
type shelf string

func (s shelf) Do(r *http.Request) (*http.Response, error) {
	body := "{}"
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
		body = `{"Items":[` + string(s) + `]}`
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// Where no scenario is active, an answer about one that is not there says what loads the first ones.
func TestWithoutInitialData(t *testing.T) {
	t.Parallel()
	const command = "onesynth seed clarity"
	for others, want := range map[shelf]bool{"": true, `{"scenarioId":{"S":"a"}}`: false} {
		tables := dynamotest.Over(t, clarity.Platform().Database, others)
		s := &service.Service{DB: tables.DB, Scenarios: service.NewScenarios(tables.DB, nil)}
		handler := (&api.API{Service: s, Keys: &httpapitest.Ledger{}, Clock: began}).Handler()
		attempt := map[string]any{"scenarioId": "washing-machine-repair", "status": "in-progress", "answers": []any{}}
		for line, body := range map[string]any{"GET /scenarios/washing-machine-repair": nil,
			"POST /attempts": attempt} {
			got := send(t, handler, "ann", line, body, "Content-Type: application/json")
			if got.Code != http.StatusNotFound || strings.Contains(got.Error, command) != want {
				t.Errorf("others %q, %s: got %d %s", others, line, got.Code, got.Error)
			}
		}
	}
}
