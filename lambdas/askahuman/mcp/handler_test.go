package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/mcp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// send sends a request to the platform's handler, as a client of the protocol would.
func send(handler http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Agent-Id", "me")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	handler := p.handler.Serve()
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, test := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		says               []string
	}{
		"List": {"POST", "/mcp", list, nil, 200, []string{`"ask_human"`, `"wait_for_answers"`}},
		"Initialize": {"POST", "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			nil, 200, []string{`"protocolVersion":"2025-06-18"`, `"instructions"`, `"tools":{}`}},
		"Initialized": {"POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, nil},
		"Ping":        {"POST", "/mcp", `{"jsonrpc":"2.0","id":"x","method":"ping"}`, nil, 200, []string{`"id":"x"`}},
		"UnknownTool": {"POST", "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obey","arguments":{}}}`, nil, 200,
			[]string{`"error"`, "obey"}},
		"UnknownMethod": {"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"obey"}`, nil, 400, []string{"obey"}},
		"NoJSON":        {"POST", "/mcp", `{`, nil, 400, nil},
		"Empty":         {"POST", "/mcp", ``, nil, 400, nil},
		"Number":        {"POST", "/mcp", `7`, nil, 400, nil},
		"TooLarge": {"POST", "/mcp", `"` + strings.Repeat("x", problem.DefaultMaxBodyBytes) + `"`, nil, 400,
			[]string{"262144"}},
		"NoAccept":      {"POST", "/mcp", list, []string{"Accept: text/html"}, 400, []string{"Accept"}},
		"NoContentType": {"POST", "/mcp", list, []string{"Content-Type: text/plain"}, 415, nil},
		"OddVersion": {"POST", "/mcp", list, []string{"Mcp-Protocol-Version: 1999-01-01"}, 400,
			[]string{"2025-11-25"}},
		"Listen": {"POST", "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}`,
			[]string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"}, 404, []string{"-32601"}},
		"Session": {"POST", "/mcp", list, []string{"Mcp-Session-Id: abc"}, 200, nil},
		"Stream":  {"GET", "/mcp", "", nil, 405, nil},
		"End":     {"DELETE", "/mcp", "", nil, 405, nil},
		"Other":   {"GET", "/agent/questions", "", nil, 404, nil},
		"Below":   {"POST", "/mcp/x", list, nil, 404, nil},
		"Metadata": {"GET", "/.well-known/oauth-protected-resource/mcp", "", nil, 200,
			[]string{`{"resource":"https://example.com/mcp","resource_name":"Ask-a-Human"}`}},
		"MetadataOfHost": {"GET", "/.well-known/oauth-protected-resource", "", nil, 200,
			[]string{`{"resource":"https://example.com",`}},
		"MetadataHere": {"GET", "/.well-known/oauth-protected-resource/mcp", "", []string{"X-Forwarded-Proto: http"},
			200, []string{`"http://example.com/mcp"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := send(handler, test.method, test.path, test.body, test.headers...)
			if w.Code != test.status {
				t.Fatalf("got %d %s; want %d", w.Code, w.Body, test.status)
			}
			says(t, w.Body.String(), test.says...)
			if w.Code == http.StatusMethodNotAllowed && w.Header().Get("Allow") != "POST" {
				t.Errorf("got Allow %q; want POST", w.Header().Get("Allow"))
			}
			if got := w.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("got Cache-Control %q; want no-store", got)
			}
			if session := w.Header().Get("Mcp-Session-Id"); session != "" {
				t.Errorf("got the session %q; want none", session)
			}
		})
	}
}

// An id comes back as it was sent, or is refused: readers differ about other numbers, and half a pair is no text.
func TestIDs(t *testing.T) {
	t.Parallel()
	handler := newPlatform(t).handler.Serve()
	for id, taken := range map[string]bool{
		`0`: true, `1`: true, `-5`: true, `"1"`: true, `""`: true, `"日本"`: true, `"\ud83d\ude00"`: true,
		`9007199254740991`: true, `9007199254740992`: true, `-9007199254740992`: true,
		`9007199254740993`: false, `-9007199254740993`: false, `9223372036854775807`: false,
		`99999999999999999999`: false, `1.5`: false, `1e3`: false, `null`: false, `{}`: false, `[1]`: false,
		`true`: false, `"\ud83d"`: false, "\"\xff\"": false,
	} {
		w := send(handler, "POST", "/mcp", `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
		want := http.StatusBadRequest
		if taken {
			want = http.StatusOK
		}
		var sent, answer struct{ ID any }
		if w.Code != want || json.Unmarshal(w.Body.Bytes(), &answer) != nil ||
			taken && (json.Unmarshal([]byte(`{"id":`+id+`}`), &sent) != nil || answer.ID != sent.ID) ||
			!taken && !strings.Contains(w.Body.String(), `"id":null`) {
			t.Errorf("%s: got %d %s", id, w.Code, w.Body)
		}
	}
	notification := send(handler, "POST", "/mcp",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if notification.Code != http.StatusAccepted {
		t.Errorf("a notification got %d %s", notification.Code, notification.Body)
	}
}

// A request has 10 messages at most, and one where its protocol has no batches. Its calls together wait for 20
// questions.
func TestBatches(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) {
		p.service.Pause = func(context.Context, time.Duration) error { return context.Canceled }
	})
	handler := p.handler.Serve()
	question := must.Get(p.service.Ask(t.Context(), "me", askAnything()))(t)
	batch := func(tool, arguments string, count int) string {
		calls := make([]string, count)
		for i := range calls {
			calls[i] = fmt.Sprintf(
				`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, i+1, tool,
				arguments)
		}
		return " [" + strings.Join(calls, ",") + "]"
	}
	id := question.ID
	one, three := `{"question_id":"`+id+`","seen":0,"wait_seconds":0}`,
		`{"questions":[{"question_id":"`+id+
			`"},{"question_id":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"},{"question_id":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3b"}]}`
	for name, test := range map[string]struct {
		body, version string
		status, waits int
		says          []string
	}{
		"Ten":       {batch(mcp.WaitForAnswers, one, 10), "", 200, 10, nil},
		"TenOf2025": {batch(mcp.WaitForAnswers, one, 10), "2025-03-26", 200, 10, nil},
		"Eleven": {batch(mcp.WaitForAnswers, one, 11), "", 400, 0,
			[]string{`"id":null`, "-32600", "more than 10 messages"}},
		"Hundreds":  {batch(mcp.WaitForAnswers, one, 300), "2025-03-26", 400, 0, []string{"more than 10 messages"}},
		"Newer":     {batch(mcp.WaitForAnswers, one, 1), "2025-06-18", 400, 0, []string{"batching is not supported"}},
		"Newest":    {batch(mcp.WaitForAnswers, one, 2), "2025-11-25", 400, 0, []string{"batching is not supported"}},
		"Lists":     {batch(mcp.ListQuestions, "{}", 10), "", 200, 10, nil},
		"ManyWaits": {batch(mcp.WaitForAnswers, three, 10), "", 200, -1, []string{"waits for more than 20 questions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := send(handler, "POST", "/mcp", test.body, "Mcp-Protocol-Version: "+test.version)
			if w.Code != test.status {
				t.Fatalf("got %d %s; want %d", w.Code, w.Body, test.status)
			}
			if waits := strings.Count(w.Body.String(), `"status":"OPEN"`); test.waits >= 0 && waits != test.waits {
				t.Errorf("%d questions were read; want %d", waits, test.waits)
			}
			says(t, w.Body.String(), test.says...)
		})
	}
}

// Where agents show tokens, the metadata says whose, and what to ask the issuer for. The resource is the endpoint's
// whole address.
func TestMetadataNamesTheIssuer(t *testing.T) {
	t.Parallel()
	for resource, change := range map[string]func(h *mcp.Handler){
		`/team/v1/mcp","auth`: func(h *mcp.Handler) { h.BasePath = "team/v1" },
		`"resource":"https://asks.example.com/mcp",`: func(h *mcp.Handler) {
			h.PublicURL = "https://asks.example.com"
		},
	} {
		p := newPlatform(t, func(p *platform) {
			p.handler.Issuer, p.handler.Scope = "https://issuer.example.com", "askahuman/call"
			change(p.handler)
		})
		reply := must.Get(http.Get(p.url + "/.well-known/oauth-protected-resource/mcp"))(t)
		defer reply.Body.Close()
		body := must.Get(io.ReadAll(reply.Body))(t)
		says(t, string(body), `"authorization_servers":["https://issuer.example.com"]`,
			`"scopes_supported":["askahuman/call"]`, `"bearer_methods_supported":["header"]`, resource)
	}
}

// Without waiting, there is no tool that waits, and none is recommended.
func TestWithoutWaiting(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) { p.api.Parts.WithoutWaiting, p.handler.Parts.WithoutWaiting = true, true })
	session := connect(t, p.url, agent("me"))
	for tool, err := range session.Tools(t.Context(), nil) {
		must.OK(t, err)
		if tool.Name == mcp.WaitForAnswers {
			t.Errorf("got the tool %s", tool.Name)
		}
	}
	asked := callTool(t, session, mcp.AskHuman, map[string]any{"prompt": prompt})
	id, _ := field(t, asked, "question_id").(string)
	for _, said := range []string{text(asked),
		text(callTool(t, session, mcp.CheckQuestion, map[string]any{"question_id": id}))} {
		if strings.Contains(said, "wait_for_answers") {
			t.Errorf("got %q, which recommends a tool that there is not", said)
		}
	}
}

// The tools end with the request, so that a function answers before its time is over.
func TestToolsEndWithTheRequest(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) {
		p.service.Pause = func(ctx context.Context, _ time.Duration) error {
			<-ctx.Done()
			return ctx.Err()
		}
	})
	question := must.Get(p.service.Ask(t.Context(), "me", askAnything()))(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_answers","arguments":{"question_id":"` +
		question.ID + `"}}}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	for name, value := range map[string]string{"Accept": "application/json, text/event-stream",
		"Content-Type": "application/json", "X-Agent-Id": "me"} {
		r.Header.Set(name, value)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		p.handler.Serve().ServeHTTP(httptest.NewRecorder(), r)
	}()
	wait.Until(t, "the tool ends after its request", func() (any, bool) {
		select {
		case <-served:
			return nil, true
		default:
			return nil, false
		}
	})
}

// Each request is a line of the log, with the route that it was for, and without what was asked.
func TestLog(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) { p.service.Clock = nil })
	handler := p.handler.Serve()
	send(handler, "POST", "/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_human","arguments":{"prompt":"`+prompt+
			`"}}}`)
	var routes []string
	for line := range strings.Lines(p.log.String()) {
		var entry struct{ Msg, Route string }
		must.OK(t, json.Unmarshal([]byte(line), &entry))
		routes = append(routes, entry.Msg)
	}
	if got := strings.Join(routes, ","); got != "request,request" || strings.Contains(p.log.String(), "apologise") {
		t.Errorf("got the log %s; want a line for the tool's request, and one for the client's", p.log.String())
	}
}

// FuzzHTTP: nothing that a client sends is an error of the server's.
func FuzzHTTP(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"ask_human"}}`, `[]`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_question","arguments":{"question_id":{"a":[1]}}}}`,
		`{"jsonrpc":"1.0"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `null`, `{"jsonrpc":"2.0","id":{},"method":7}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_human","arguments":[]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":{}},"name":"list_questions"}}`,
		"\xff\xfe",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"list_questions\",\"arguments\":{\"cursor\":\"\\u0000\"}}}",
	} {
		f.Add(body, "", "")
		f.Add(body, "2026-07-28", "tools/call")
	}
	p := newPlatform(f)
	handler := p.handler.Serve()
	f.Fuzz(func(t *testing.T, body, version, method string) {
		if strings.ContainsAny(version+method, "\r\n\x00") {
			t.Skip()
		}
		if w := send(handler, http.MethodPost, "/mcp", body, "Mcp-Protocol-Version: "+version,
			"Mcp-Method: "+method); w.Code >= http.StatusInternalServerError {
			t.Errorf("got %d %s for %q", w.Code, w.Body, body)
		}
	})
}
