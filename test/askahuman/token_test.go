package askahuman

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Where agents are not open, as in the environment prod, an agent is who its token
// says, and people need none.
func TestAgentsNeedTokens(t *testing.T) {
	t.Parallel()
	target := &target{suite.OwnRunOf(t, "prod", local.Options{})}
	c := newClient(t, target)
	if physical := target.Tables["Questions"]; physical != "aah-questions" {
		t.Errorf("got table %s; want aah-questions", physical)
	}
	token := func(change map[string]any) string {
		t.Helper()
		body := map[string]any{"sub": "agent-one"}
		for name, value := range change {
			body[name] = value
		}
		issuer := platform.Client{URL: target.Run.ConsoleURL(), HTTP: c.HTTP}
		got := issuer.MustSend(t, http.MethodPost, "/token", nil, body)
		if got.Status != http.StatusOK {
			t.Fatalf("got %v; want a token", got)
		}
		return platform.Field(got.Body, "access_token")
	}
	try := func(method, path, authorization string, body any) platform.Reply {
		t.Helper()
		header := http.Header{"X-Agent-Id": {"agent-one"}}
		if authorization != "" {
			header.Set("Authorization", authorization)
		}
		return c.MustSend(t, method, path, header, body)
	}

	bearer := "Bearer " + token(nil)
	asked := platform.Read[submission](t, try(http.MethodPost, "/agent/questions", bearer, textQuestion(1)), http.StatusCreated)
	c.newPerson().answer(t, textAnswer(asked.QuestionID))
	got := platform.Read[agentQuestion](t, try(http.MethodGet, "/agent/questions/"+asked.QuestionID, bearer, nil), http.StatusOK)
	if got.Status != "CLOSED" || len(got.Responses) != 1 {
		t.Errorf("got %+v; want CLOSED with the answer", got)
	}
	// The header X-Agent-Id says nothing: the other agent sends the same.
	other := "Bearer " + token(map[string]any{"sub": "agent-two"})
	refused(t, try(http.MethodGet, "/agent/questions/"+asked.QuestionID, other, nil), http.StatusNotFound, "QUESTION_NOT_FOUND")

	for name, authorization := range map[string]string{
		"Missing":       "",
		"Nonsense":      "Bearer nonsense",
		"Expired":       "Bearer " + token(map[string]any{"expires": "-1h"}),
		"OtherAudience": "Bearer " + token(map[string]any{"claims": map[string]any{"aud": "another", "client_id": "another"}}),
		"OtherIssuer":   "Bearer " + token(map[string]any{"claims": map[string]any{"iss": "https://issuer.example.com"}}),
		"Changed":       bearer[:len(bearer)-4] + "AAAA",
		"Unsigned":      "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZ2VudC1vbmUifQ.",
	} {
		t.Run(name, func(t *testing.T) {
			for _, route := range []string{"GET /agent/questions", "POST /agent/questions", "GET /agent/questions/" + asked.QuestionID, "DELETE /agent/questions/" + asked.QuestionID} {
				method, path := platform.Split(route)
				r := try(method, path, authorization, nil)
				var body struct{ Message string }
				if err := json.Unmarshal(r.Body, &body); r.Status != http.StatusUnauthorized || err != nil || body.Message != "Unauthorized" {
					t.Errorf("got %v; want 401 Unauthorized", r)
				}
			}
		})
	}
}
