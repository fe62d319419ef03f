package askahuman

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Ask-a-Human passes the checks that every platform passes.
func TestShared(t *testing.T) {
	t.Parallel()
	suite.Check(t, platform.Scenario{
		Open: "/human/questions?limit=1",
		// An answer at night earns one badge more.
		Walkthrough: "docs/platforms/askahuman.md", Varies: regexp.MustCompile(`,\{"id":"night_owl"[^}]*\}`),
		Odd:      odd,
		Statuses: []int{http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusNotFound},
		LargeBodies: map[string][]byte{
			"Prompt": fmt.Appendf(nil, `{"type":"text","prompt":"%s"}`, strings.Repeat("x", 1<<20-32)),
			"Number": fmt.Appendf(nil, `{"type":"text","prompt":"How many are these?","min_responses":%s}`,
				strings.Repeat("9", 200_000)),
			"Options": fmt.Appendf(nil, `{"type":"multiple_choice","prompt":"Which one is it?","options":["a"%s]}`,
				strings.Repeat(`,"a"`, 50_000)),
		},
		Uses: uses,
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			asker, question := newAgent(newClient(t, &target{on})), textQuestion(2)
			question.IdempotencyKey = new(onesynthtest.Unique("key"))
			return platform.Repeat{
				Claims:   true,
				Function: "AgentAPI",
				Send: func(ctx context.Context) (onesynthtest.Reply, error) {
					return asker.Send(ctx, http.MethodPost, "/agent/questions", nil, question)
				},
				Made: func(t testing.TB) int { return len(asker.list(t).Questions) },
				Other: func(t testing.TB) {
					other := question
					other.Prompt = "Should error messages be shorter?"
					suite.Invalid(t, asker.Try(t, http.MethodPost, "/agent/questions", other),
						http.StatusBadRequest, "idempotency_key")
				},
				Waits: func(t testing.TB, r onesynthtest.Reply) {
					suite.Refused(t, r, http.StatusConflict, "REQUEST_IN_PROGRESS")
					if r.Header.Get("Retry-After") != "1" {
						t.Errorf("got %v with Retry-After %q; want 1", r, r.Header.Get("Retry-After"))
					}
				},
			}
		},
	})
}
