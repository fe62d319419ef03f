package askahuman

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
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
	Hidden     bool             `json:"hidden"`
	Complaints []map[string]any `json:"complaints"`
	ReportedAt time.Time        `json:"reported_at"`
	DecidedAt  *time.Time       `json:"decided_at"`
	DecidedBy  string           `json:"decided_by"`
}

type moderated struct {
	Reports    []report `json:"reports"`
	NextCursor string   `json:"next_cursor"`
}

// openOf are the questions of an agent that take answers.
type openOf struct {
	Blocked   bool            `json:"blocked"`
	Questions []agentQuestion `json:"questions"`
}

// Strangers report, an operator hides and blocks, and what is hidden is gone from that moment on.
func TestModeration(t *testing.T) {
	t.Parallel()
	c := newClient(t, ownRun(t, local.Options{}))
	asker, ann, bob, olga := c.newAgent(), c.newPerson(), c.newPerson(), c.newOperator(t)
	question := textQuestion(3)
	question.Prompt = `<a href="https://evil.example">Win</a> a prize at https://evil.example, dear human?`
	asked := asker.ask(t, question)
	ann.answer(t, answer{QuestionID: asked.QuestionID, Answer: "You are a bad, bad agent."})
	responseID := asker.question(t, asked.QuestionID).Responses[0].ResponseID
	bob.report(t, asked.QuestionID)
	onesynthtest.Read[reported](t, asker.try(t, http.MethodPost, "/agent/reports",
		map[string]any{"question_id": asked.QuestionID, "response_id": responseID, "reason": "abuse"}),
		http.StatusCreated)

	page := onesynthtest.Read[moderated](t, olga.try(t, http.MethodGet, "/operator/reports", nil), http.StatusOK)
	if len(page.Reports) != 2 {
		t.Fatalf("got %+v", page)
	}
	ofAnswer := page.Reports[slices.IndexFunc(page.Reports, func(r report) bool { return r.ResponseID == responseID })]
	if ofAnswer.Prompt != question.Prompt || ofAnswer.Answer != "You are a bad, bad agent." ||
		ofAnswer.AgentID != asker.id || strings.Contains(ofAnswer.Person, ann.fingerprint) {
		t.Errorf("got %+v", ofAnswer)
	}
	olga.put(t, "/operator/questions/"+asked.QuestionID+"/responses/"+responseID, map[string]any{"hidden": true})
	if got := asker.question(t, asked.QuestionID); len(got.Responses) != 0 || got.HiddenResponses != 1 ||
		got.CurrentResponses != 1 {
		t.Errorf("with its answer hidden: %+v", got)
	}
	olga.put(t, "/operator/blocks", map[string]any{"person": ofAnswer.Person, "blocked": true})
	other := asker.ask(t, textQuestion(1))
	refused(t, ann.try(t, http.MethodPost, "/human/responses", textAnswer(other.QuestionID)), http.StatusForbidden,
		"BLOCKED")
	refused(t, ann.try(t, http.MethodPost, "/human/reports",
		map[string]any{"question_id": other.QuestionID, "reason": "spam"}), http.StatusForbidden, "BLOCKED")

	olga.put(t, "/operator/questions/"+asked.QuestionID, map[string]any{"hidden": true})
	refused(t, bob.try(t, http.MethodGet, "/human/questions/"+asked.QuestionID, nil), http.StatusNotFound,
		"QUESTION_NOT_FOUND")
	refused(t, bob.try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)), http.StatusNotFound,
		"QUESTION_NOT_FOUND")
	for _, shown := range bob.wholeFeed(t, nil) {
		if shown.QuestionID == asked.QuestionID {
			t.Error("the feed has the hidden question")
		}
	}
	if got := asker.question(t, asked.QuestionID); got.Status != "CLOSED" || !got.Hidden {
		t.Errorf("hidden: %+v", got)
	}
	olga.put(t, "/operator/blocks", map[string]any{"agent_id": asker.id, "blocked": true})
	refused(t, asker.try(t, http.MethodPost, "/agent/questions", textQuestion(1)), http.StatusForbidden, "BLOCKED")
	open := onesynthtest.Read[openOf](t, olga.try(t, http.MethodGet, "/operator/questions?agent_id="+asker.id, nil),
		http.StatusOK)
	if !open.Blocked || len(open.Questions) != 1 || open.Questions[0].QuestionID != other.QuestionID {
		t.Errorf("got %+v; want the one question that a blocked agent has open", open)
	}
	hidden := onesynthtest.Read[map[string]any](t,
		olga.try(t, http.MethodPut, "/operator/questions", map[string]any{"agent_id": asker.id, "hidden": true}),
		http.StatusOK)
	if got := asker.question(t, other.QuestionID); hidden["hidden"] != 1.0 || !got.Hidden {
		t.Errorf("got %v, and then %+v", hidden, got)
	}
	olga.put(t, "/operator/blocks", map[string]any{"agent_id": asker.id, "blocked": false})
	asker.ask(t, textQuestion(1))
	if left := onesynthtest.Read[moderated](t, olga.try(t, http.MethodGet, "/operator/reports", nil),
		http.StatusOK); len(left.Reports) != 0 {
		t.Errorf("still open: %+v", left)
	}
}

// Only operators moderate: neither users of no group, nor agents with a token of their own issuer.
func TestModerationNeedsOperators(t *testing.T) {
	t.Parallel()
	target := &target{suite.OwnRunOf(t, "tokens", local.Options{})}
	c := newClient(t, target)
	authorizers := map[string]string{}
	for _, api := range rooms.Of(target.Run).APIs {
		authorizers["agents"] = api.Issuer
		for _, other := range api.Others {
			authorizers["operators"] = other.Issuer
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
