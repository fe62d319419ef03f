package askahuman

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Only operators moderate: neither users of no group, nor agents with a token of their own issuer.
func TestModerationNeedsOperators(t *testing.T) {
	t.Parallel()
	target := suite.OwnRunOf(t, "tokens", run.Options{})
	c := platform.NewClient(t, target)
	authorizers := map[string]string{}
	for _, api := range runtest.Of(target.Run).APIs() {
		authorizers["agents"] = api.Issuers[0]
		for _, other := range api.Issuers[1:] {
			authorizers["operators"] = other
		}
	}
	operators := []string{"operators"}
	for name, test := range map[string]struct {
		issuer string
		groups []string
		agents int // the status of an agent's route
		status int
	}{
		"Operator": {"operators", []string{"night shift", "operators"}, http.StatusUnauthorized, http.StatusOK},
		"Blank": {"operators", []string{"night operators", "[operators", "operators]"},
			http.StatusUnauthorized, http.StatusForbidden},
		"NoGroup": {"operators", nil, http.StatusUnauthorized, http.StatusForbidden},
		"OtherGroup": {"operators", []string{"operator", "Operators"}, http.StatusUnauthorized,
			http.StatusForbidden},
		"Agent":           {"agents", nil, http.StatusOK, http.StatusUnauthorized},
		"AgentWithGroups": {"agents", operators, http.StatusOK, http.StatusUnauthorized},
	} {
		issuer := authorizers[test.issuer]
		if issuer == "" {
			t.Fatalf("the API has the authorizers %v", authorizers)
		}
		token := target.Token(t, map[string]any{"sub": onesynthtest.Unique(name), "iss": issuer,
			"claims": map[string]any{"cognito:groups": test.groups}})
		header := http.Header{"Authorization": {"Bearer " + token}}
		if got := c.MustSend(t, http.MethodGet, "/operator/reports", header, nil); got.Status != test.status {
			t.Errorf("%s: got %v; want %d", name, got, test.status)
		}
		if got := c.MustSend(t, http.MethodGet, "/agent/questions", header, nil); got.Status != test.agents {
			t.Errorf("%s as an agent: got %v; want %d", name, got, test.agents)
		}
	}
	if got := c.MustSend(t, http.MethodGet, "/operator/reports", nil, nil); got.Status != http.StatusUnauthorized {
		t.Errorf("without a token: got %v", got)
	}
}
