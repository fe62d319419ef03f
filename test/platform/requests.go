package platform

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/bench/routes"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// requested is a request of package routes to the platform's API, about to be made.
type requested struct {
	routes.Route
	routes.Request
}

// requests prepares the requests that package routes has of the platform's API, each by a client of its own. It leaves
// out those that the API refuses, and those that wait for other functions.
func (s *Suite) requests(t testing.TB, target *Target) []requested {
	t.Helper()
	measured, err := routes.Of(s.Construct)
	if err != nil {
		t.Fatal(err)
	}
	run := s.measured(t, target)
	var all []requested
	for _, route := range measured.Routes {
		if route.Waits || route.Status >= http.StatusBadRequest {
			continue
		}
		request, err := route.Prepare(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, requested{route, request})
	}
	return all
}

// withRequests adds a probe for each request of package routes to those of the scene. The scene comes last: functions
// behind streams do its work soon.
func (s *Suite) withRequests(scene onesynthtest.Scene) onesynthtest.Scene {
	served := map[string]string{}
	for _, route := range s.Platform.Routes {
		function, _ := s.Platform.Function(route.Function)
		served[route.Key()] = function.ConstructID()
	}
	return func(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
		requests := s.requests(t, Local(on))
		probes, end := scene(t, on)
		for _, r := range requests {
			probes = append(probes, onesynthtest.Probe{
				Function: served[r.Method+" "+r.Path], Name: r.String(),
				Do: func(t testing.TB) (onesynthtest.Reply, error) { return r.Send(t.Context()) },
			})
		}
		return probes, end
	}
}
