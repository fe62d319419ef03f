package askahuman

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// toolText is the text of a tool's result.
func toolText(result *sdk.CallToolResult) string {
	if len(result.Content) == 0 {
		return ""
	}
	text, _ := result.Content[0].(*sdk.TextContent)
	if text == nil {
		return ""
	}
	return text.Text
}

// A model that calls ask_human again asks once, without a key of its own: many calls at once, and one after another
// that was killed.
func TestMCPRepeats(t *testing.T) {
	t.Parallel()
	suite.CheckRepeats(t, func(t testing.TB, on *platform.Target) platform.Repeat {
		asker, arguments := newAgent(newClient(t, &target{on})),
			map[string]any{"prompt": "Should error messages apologise to people?"}
		return platform.Repeat{
			Claims:   true,
			Function: "MCPAPI",
			// The reply is as if of the API.
			Send: func(ctx context.Context) (onesynthtest.Reply, error) {
				reply, result, err := asker.callTool(ctx, "ask_human", arguments)
				switch {
				case err != nil || result == nil:
				case !result.IsError:
					reply.Status, reply.Body = http.StatusCreated, fmt.Append(nil, result.StructuredContent)
				case strings.Contains(toolText(result), "call ask_human again with the same arguments in a second"):
					reply.Status = http.StatusConflict
					reply.Header.Set("Retry-After", "1")
				default:
					reply.Status = http.StatusBadRequest
				}
				return reply, err
			},
			Made: func(t testing.TB) int { return len(asker.list(t).Questions) },
			// What differs is another question, and has another key.
			Other: func(testing.TB) {},
			Waits: func(testing.TB, onesynthtest.Reply) {},
		}
	})
}

// Hostile requests end no process of the function, and each is answered.
func TestMCPAnyBody(t *testing.T) {
	t.Parallel()
	on := ownRun(t, run.Options{})
	asker := newAgent(newClient(t, on))
	header := mcpHeader(asker)
	header.Set("Content-Type", "application/json")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var results atomic.Int32
	const requests, workers = 600, 4
	if err := onesynthtest.Together(workers, func(worker int) error {
		random := rand.New(rand.NewPCG(seed, uint64(worker)))
		for range requests / workers {
			body := hostileMessage(random)
			reply, err := asker.Send(t.Context(), http.MethodPost, "/mcp", header, body)
			if err != nil {
				return fmt.Errorf("%q: %w", body, err)
			}
			// The SDK answers subscriptions/listen by a stream of one event.
			said := bytes.TrimPrefix(reply.Body, []byte("event: message\ndata: "))
			answered := reply.Status == http.StatusAccepted || len(said) > 0
			if reply.Status < 200 || reply.Status >= 500 || !answered ||
				reply.Status == http.StatusOK && !json.Valid(said) {
				return fmt.Errorf("%.2000q: got %v", body, reply)
			}
			if bytes.Contains(reply.Body, []byte(`"result"`)) {
				results.Add(1)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	// Otherwise the requests were too wrong to reach a tool.
	if results.Load() < 20 {
		t.Errorf("got %d results; want at least 20", results.Load())
	}
	for _, f := range runtest.Of(on.Run).Functions() {
		if f.Deaths+f.Errors+f.TimeOuts > 0 {
			t.Errorf("%s: got %d deaths, %d errors, %d time-outs; want none", f.Name, f.Deaths, f.Errors,
				f.TimeOuts)
		}
	}
}

// hostileMessage is a message of the Model Context Protocol with something wrong, most times.
func hostileMessage(random *rand.Rand) []byte {
	odd := []any{nil, true, -1, 1e300, "", strings.Repeat("x", 5000), "\u202e\x00", []any{}, []any{[]any{nil}},
		map[string]any{}, map[string]any{"": nil}}
	one := func(usual ...any) any {
		if random.IntN(5) == 0 {
			return odd[random.IntN(len(odd))]
		}
		return usual[random.IntN(len(usual))]
	}
	id := "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"
	message := map[string]any{
		"jsonrpc": one("2.0"), "id": one(1, "a"),
		"method": one("tools/call", "tools/call", "tools/call", "tools/list", "initialize", "ping",
			"notifications/initialized", "subscriptions/listen", "resources/list"),
		"params": one(map[string]any{
			"name": one("ask_human", "check_question", "list_questions", "close_question"),
			"arguments": one(
				map[string]any{"prompt": one("Is this a good question?"), "options": one([]any{"a", "b"}),
					"min_responses": one(1)},
				map[string]any{"question_id": one(id, "../human/questions")},
				map[string]any{"limit": one(5), "status": one("OPEN"), "cursor": one("x")},
			),
			"_meta": one(map[string]any{"progressToken": one(1)}),
		}),
	}
	if random.IntN(8) == 0 {
		delete(message, []string{"jsonrpc", "id", "method", "params"}[random.IntN(4)])
	}
	var whole any = message
	if random.IntN(15) == 0 {
		whole = []any{message, message}
	}
	body, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	switch place := random.IntN(len(body)); random.IntN(10) {
	case 0:
		return body[:place]
	case 1:
		body[place] = byte(random.Uint32())
	case 2:
		return append(body, body...)
	case 3:
		return bytes.Repeat(body[:1], 1+random.IntN(100_000))
	}
	return body
}
