package askahuman

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Where agents need tokens, as in the environment tokens, the token names the agent, and people
// need none.
func TestAgentsNeedTokens(t *testing.T) {
	t.Parallel()
	target := suite.OwnRunOf(t, "tokens", run.Options{})
	c := platform.NewClient(t, target)
	token := func(subject string) string {
		t.Helper()
		return target.Token(t, map[string]any{"sub": subject})
	}
	try := func(method, path, authorization string, body any) onesynthtest.Reply {
		t.Helper()
		header := http.Header{"X-Agent-Id": {"agent-one"}}
		if authorization != "" {
			header.Set("Authorization", authorization)
		}
		return c.MustSend(t, method, path, header, body)
	}

	bearer := "Bearer " + token("agent-one")
	asked := onesynthtest.Read[askahuman.Submission](t, try(http.MethodPost, "/agent/questions", bearer,
		textQuestion(1)), http.StatusCreated)
	answer(t, newPerson(c), textAnswer(asked.QuestionID))
	got := onesynthtest.Read[askahuman.QuestionWithResponses](t, try(http.MethodGet, asked.PollURL, bearer, nil),
		http.StatusOK)
	if got.Status != "CLOSED" || len(got.Responses) != 1 {
		t.Errorf("got %+v; want CLOSED with the answer", got)
	}
	// The header X-Agent-Id says nothing: the other agent sends the same.
	other := "Bearer " + token("agent-two")
	suite.Refused(t, try(http.MethodGet, "/agent/questions/"+asked.QuestionID, other, nil), http.StatusNotFound,
		"QUESTION_NOT_FOUND")

	// A request that bypasses the gateway has no token.
	r := target.PastGateway(t, "AgentAPI", http.MethodGet, "/agent/questions")
	suite.Refused(t, r, http.StatusUnauthorized, "UNAUTHORIZED")

	suite.CheckGatewayErrors(t, target, "tokens")
	suite.CheckTokens(t, target, http.Header{"X-Agent-Id": {"agent-one"}})
}
