package askahuman

import (
	"context"
	"net/http"
	"regexp"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Ask-a-Human passes the checks that every platform passes.
func TestShared(t *testing.T) {
	t.Parallel()
	suite.Check(t, platform.Scenario{
		// An answer at night earns one badge more.
		Walkthrough: "docs/platforms/askahuman.md", Varies: regexp.MustCompile(`,\{"id":"night_owl"[^}]*\}`),
		Statuses: []int{http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusNotFound},
		Uses:     uses,
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			asker, question := newAgent(platform.NewClient(t, on)), textQuestion(2)
			question.IdempotencyKey = new(onesynthtest.Unique("key"))
			return platform.Repeat{
				Claims:   true,
				Function: "AgentAPI",
				Send: func(ctx context.Context) (onesynthtest.Reply, error) {
					return asker.Send(ctx, http.MethodPost, "/agent/questions", nil, question)
				},
				Made: func(t testing.TB) int {
					return len(platform.Call(t, asker, askahuman.ListQuestions, askahuman.AgentListParams{}).Questions)
				},
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

// Each route takes and answers what the OpenAPI document says.
func TestDocument(t *testing.T) {
	t.Parallel()
	suite.CheckAnswers(t)
}
