package lingible

import (
	"context"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Lingible passes the checks that every platform passes.
func TestShared(t *testing.T) {
	t.Parallel()
	suite.Check(t, platform.Scenario{
		Walkthrough: "docs/platforms/lingible.md", SignUps: "Users",
		Statuses: []int{http.StatusOK, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
			http.StatusUnprocessableEntity},
		Uses: uses,
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			one := newPremium(t, on)
			one.Retry = []int{http.StatusServiceUnavailable}
			key := onesynthtest.Key(onesynthtest.Unique("key"))
			body := proposal()
			return platform.Repeat{
				Function: "LingibleAPI",
				Send: func(ctx context.Context) (onesynthtest.Reply, error) {
					return one.Send(ctx, http.MethodPost, "/slang/submit", key, body)
				},
				Made: func(t testing.TB) int { return len(own(t, one)) },
				Other: func(t testing.TB) {
					suite.Refused(t, one.MustSend(t, http.MethodPost, "/slang/submit", key, proposal()),
						http.StatusUnprocessableEntity, "VAL_001")
				},
			}
		},
	})
}

// Each route takes and answers what the OpenAPI document says.
func TestDocument(t *testing.T) {
	t.Parallel()
	on := shared(t)
	suite.CheckAnswers(t, "Authorization: "+newPremium(t, on).Header.Get("Authorization"))
}
