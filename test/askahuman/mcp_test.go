package askahuman

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// callTool calls a tool of the Model Context Protocol, as plain HTTP.
func (a agent) callTool(ctx context.Context, tool string, arguments any) (onesynthtest.Reply, *sdk.CallToolResult,
	error) {
	header := a.Header.Clone()
	header.Set("Accept", "application/json, text/event-stream")
	reply, err := a.Send(ctx, http.MethodPost, "/mcp", header, map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return reply, nil, err
	}
	var answer struct{ Result *sdk.CallToolResult }
	if err := json.Unmarshal(reply.Body, &answer); err != nil {
		return reply, nil, err
	}
	return reply, answer.Result, nil
}

// agentTransport carries requests of one agent.
type agentTransport struct{ agent agent }

func (a agentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range a.agent.Header {
		r.Header[name] = values
	}
	return http.DefaultTransport.RoundTrip(r)
}

// The official client of the Model Context Protocol asks, waits and reads, through the API's gateway.
func TestMCP(t *testing.T) {
	t.Parallel()
	on := suite.Shared(t)
	c := platform.NewClient(t, on)
	asker := newAgent(c)
	session := must.Get(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{
			Endpoint: on.URL + "/mcp", HTTPClient: &http.Client{Transport: agentTransport{asker}},
		}, nil))(t)
	defer session.Close()
	call := func(tool string, arguments map[string]any) map[string]any {
		t.Helper()
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil || result.IsError {
			t.Fatalf("%s: got %v, %v", tool, result, err)
		}
		fields, _ := result.StructuredContent.(map[string]any)
		return fields
	}
	ask := map[string]any{"prompt": "Should error messages apologise to people?", "min_responses": 1}
	id, _ := call("ask_human", ask)["question_id"].(string)
	if again := call("ask_human", ask)["question_id"]; again != id {
		t.Errorf("asked twice: got %v, then %v", id, again)
	}
	answer(t, newPerson(c), textAnswer(id))
	if got := call("wait_for_answers", map[string]any{"question_id": id, "seen": 0}); got["status"] != "CLOSED" ||
		got["current_responses"] != 1.0 {
		t.Errorf("got %v; want CLOSED with one answer", got)
	}
	if got := asker.question(t, id); got.Status != "CLOSED" {
		t.Errorf("the API says %s; want CLOSED", got.Status)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if r := asker.Try(t, method, "/mcp", nil); r.Status != http.StatusMethodNotAllowed {
			t.Errorf("got %v; want 405", r)
		}
	}
}
