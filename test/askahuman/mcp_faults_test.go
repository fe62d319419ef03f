package askahuman

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A model that calls ask_human again asks once, without a key of its own: many calls at once, and one after another
// that was killed.
func TestMCPRepeats(t *testing.T) {
	t.Parallel()
	suite.CheckRepeats(t, func(t testing.TB, on *platform.Target) platform.Repeat {
		asker, arguments := newAgent(platform.NewClient(t, on)),
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
				case strings.Contains(string(reply.Body), "call ask_human again with the same arguments in a second"):
					reply.Status = http.StatusConflict
					reply.Header.Set("Retry-After", "1")
				default:
					reply.Status = http.StatusBadRequest
				}
				return reply, err
			},
			Made: func(t testing.TB) int {
				return len(platform.Call(t, asker, askahuman.ListQuestions, askahuman.AgentListParams{}).Questions)
			},
			// What differs is another question, and has another key.
			Other: func(testing.TB) {},
			Waits: func(testing.TB, onesynthtest.Reply) {},
		}
	})
}
