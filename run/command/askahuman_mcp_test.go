package command

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// A desktop agent starts the command, and its tools call the API as the agent. An ask whose answer is
// lost is sent again with the same idempotency key.
func TestMCPOverStdio(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arguments, environment []string
		header, value          string
	}{
		"Open":        {[]string{"--agent", "my-agent"}, nil, "X-Agent-Id", "my-agent"},
		"Token":       {nil, []string{"ASK_A_HUMAN_TOKEN=a-secret"}, "Authorization", "Bearer a-secret"},
		"AsPublished": {nil, []string{"ASK_A_HUMAN_AGENT_ID=my-agent"}, "X-Agent-Id", "my-agent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if got := r.Header.Get(test.header); got != test.value ||
					r.Method+r.URL.Path != "POST/agent/questions" {
					t.Errorf("got %s %s with %s %q; want %q", r.Method, r.URL, test.header, got, test.value)
				}
				if bodies = append(bodies, string(body)); len(bodies) == 1 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w,
					`{"question_id":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a","status":"OPEN","poll_url":"/x","expires_at":"2026-02-02T10:30:00.000Z","created_at":%q}`,
					wire.Time(time.Now()))
			}))
			defer server.Close()
			run := exec.CommandContext(t.Context(), command,
				append([]string{"mcp", "--api", server.URL}, test.arguments...)...)
			run.Env = append(run.Environ(), test.environment...)
			var complaints strings.Builder
			run.Stderr = &complaints
			session := must.Get(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&sdk.CommandTransport{Command: run}, nil))(t)
			result, err := session.CallTool(t.Context(),
				&sdk.CallToolParams{Name: "ask_human",
					Arguments: map[string]any{"prompt": "Should error messages apologise to people?"}})
			if err != nil || result.IsError {
				t.Fatalf("got %v, %v", result, err)
			}
			if err := session.Close(); err != nil {
				t.Errorf("the command ends with %v", err)
			}
			if len(bodies) != 2 || bodies[0] != bodies[1] || !strings.Contains(bodies[0], `"idempotency_key":"mcp-`) {
				t.Errorf("got the requests %q; want one twice, with an idempotency key", bodies)
			}
			if complaints.Len() > 0 {
				t.Errorf("got %q on standard error; want nothing", complaints.String())
			}
		})
	}
}

func TestMCPErr(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arguments []string
		says      string
	}{
		"NoAPI":   {[]string{"--agent", "a"}, "--api"},
		"OddAPI":  {[]string{"--api", "localhost:8080", "--agent", "a"}, "http or https URL"},
		"Query":   {[]string{"--api", "https://a.example/?x=1", "--agent", "a"}, "http or https URL"},
		"NoAgent": {[]string{"--api", "https://a.example"}, "there is no agent"},
		"Both": {[]string{"--api", "https://a.example", "--agent", "a", "--token", "b"},
			"a token says who the agent is"},
		"PlainHTTP": {[]string{"--api", "http://a.example", "--token", "b"}, "without encryption"},
		"LongAgent": {[]string{"--api", "https://a.example", "--agent", strings.Repeat("a", 129)}, "--agent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := invoke(t, append([]string{"mcp"}, test.arguments...)...)
			if status == 0 || stdout != "" || !strings.Contains(stderr, test.says) {
				t.Errorf("got status %d, %q and %q; want it to say %q on standard error alone", status, stdout, stderr,
					test.says)
			}
		})
	}
}
