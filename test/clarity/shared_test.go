package clarity

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Clarity passes the checks that every platform passes.
func TestShared(t *testing.T) {
	t.Parallel()
	suite.Check(t, platform.Scenario{
		Walkthrough: "docs/platforms/clarity.md",
		Statuses: []int{http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusUnauthorized,
			http.StatusNotFound},
		Uses: uses,
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			one, some := newUser(t, on)
			one.Retry = []int{http.StatusServiceUnavailable}
			key := onesynthtest.Key(onesynthtest.Unique("key"))
			body := completed(some, "once, because it is enough")
			return platform.Repeat{
				Claims:   true,
				Function: "ClarityAPI",
				Send: func(ctx context.Context) (onesynthtest.Reply, error) {
					return one.Send(ctx, http.MethodPost, "/attempts", key, body)
				},
				Made: func(t testing.TB) int {
					all := platform.Call(t, one, clarity.ListAttempts, clarity.PageParams{}).Attempts
					if len(all) > 1 {
						t.Errorf("got attempts %+v; want one", all)
					}
					// A request that died may have stored its attempt.
					return len(slices.DeleteFunc(all, func(a clarity.Attempt) bool { return a.Evaluation == nil }))
				},
				Other: func(t testing.TB) {
					suite.Refused(t, one.MustSend(t, http.MethodPost, "/attempts", key,
						begun(body.ScenarioID)), http.StatusBadRequest)
				},
				// An hour, for which the claim is.
				Waits: func(t testing.TB, r onesynthtest.Reply) {
					for _, a := range platform.Call(t, one, clarity.ListAttempts, clarity.PageParams{}).Attempts {
						unevaluate(t, on, a.ID) // the try of the request that died
					}
					suite.Refused(t, r, http.StatusConflict)
					if after, ok := r.RetryAfter(); !ok || after.Minutes() < 50 || after.Minutes() > 60 {
						t.Errorf("got %v with Retry-After %q; want an hour", r, r.Header.Get("Retry-After"))
					}
				},
			}
		},
	})
}

// Each route takes and answers what the OpenAPI document says.
func TestDocument(t *testing.T) {
	t.Parallel()
	one, _ := newUser(t, suite.Shared(t))
	suite.CheckAnswers(t, "Authorization: "+one.Header.Get("Authorization"))
}
