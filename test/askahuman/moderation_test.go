package askahuman

import (
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

type report struct {
	ReportID   string           `json:"report_id"`
	State      string           `json:"state"`
	QuestionID string           `json:"question_id"`
	ResponseID string           `json:"response_id"`
	Prompt     string           `json:"prompt"`
	Options    []string         `json:"options"`
	AgentID    string           `json:"agent_id"`
	Answer     string           `json:"answer"`
	Option     *int             `json:"selected_option"`
	Person     string           `json:"person"`
	Handle     string           `json:"handle"`
	Current    string           `json:"current_handle"`
	NameReset  bool             `json:"name_reset"`
	Hidden     bool             `json:"hidden"`
	Complaints []map[string]any `json:"complaints"`
	ReportedAt time.Time        `json:"reported_at"`
	DecidedAt  *time.Time       `json:"decided_at"`
	DecidedBy  string           `json:"decided_by"`
	Version    int              `json:"version"`
	Blocked    bool             `json:"person_blocked"`
	OfPerson   int              `json:"person_version"`
}

type moderated struct {
	Reports    []report `json:"reports"`
	NextCursor string   `json:"next_cursor"`
}

// openOf are the questions of an agent that take answers.
type openOf struct {
	Blocked   bool            `json:"blocked"`
	Questions []agentQuestion `json:"questions"`
	Version   int             `json:"version"`
}

// Only operators moderate: neither users of no group, nor agents with a token of their own issuer.
func TestModerationNeedsOperators(t *testing.T) {
	t.Parallel()
	target := &target{suite.OwnRunOf(t, "tokens", run.Options{})}
	c := newClient(t, target)
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
