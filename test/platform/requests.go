package platform

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// checkGrants checks that no permission is superfluous or missing, while the requests of package routes are made, each
// by a client of its own, and what uses does besides.
func (s *Suite) checkGrants(t *testing.T, uses func(testing.TB, *Target)) {
	s.Local(t, "dev").CheckGrants(t, func(t testing.TB, on *onesynthtest.Target) {
		target := Local(on)
		// Functions that prepare the requests remember for a while what they read: half of the data, or none.
		s.Load(t, target)
		measured, run := s.measured(t, target)
		for _, route := range measured.Routes {
			if route.Waits || route.Status >= http.StatusBadRequest {
				continue
			}
			request := must.Get(route.Prepare(t.Context(), run))(t)
			Succeeded(t, must.Get(request.Send(t.Context()))(t))
		}
		uses(t, target)
	})
}

// Succeeded checks that a reply is one of success.
func Succeeded(t testing.TB, r onesynthtest.Reply) {
	t.Helper()
	if !succeeded(r) {
		t.Errorf("got %v; want success", r)
	}
}
