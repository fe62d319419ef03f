package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// shelf has no scenario that is asked for, and as many others.
type shelf int

func (s shelf) Scenario(context.Context, string) (clarity.Scenario, error) {
	return clarity.Scenario{}, clarity.ErrScenarioNotFound
}

func (s shelf) Scenarios(context.Context, clarity.Difficulty) ([]clarity.Scenario, error) {
	return make([]clarity.Scenario, s), nil
}

// Where no scenario is active, an answer about one that is not there says what loads the first ones.
func TestWithoutInitialData(t *testing.T) {
	t.Parallel()
	const command = "onesynth seed clarity"
	for others, want := range []bool{true, false} {
		s := &service.Service{Scenarios: shelf(others)}
		handler := (&api.API{Service: s, Keys: &httpapitest.Ledger{}, Clock: began}).Handler()
		attempt := map[string]any{"scenarioId": "washing-machine-repair", "status": "in-progress", "answers": []any{}}
		for line, body := range map[string]any{"GET /scenarios/washing-machine-repair": nil,
			"POST /attempts": attempt} {
			got := send(t, handler, "ann", line, body, "Content-Type: application/json")
			if got.Code != http.StatusNotFound || strings.Contains(got.Error, command) != want {
				t.Errorf("%d others, %s: got %d %s", others, line, got.Code, got.Error)
			}
		}
	}
}
