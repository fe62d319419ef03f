package platform

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// withRequests adds a probe for each request of package routes to those of the scene. The scene comes last: functions
// behind streams do its work soon.
func (s *Suite) withRequests(scene onesynthtest.Scene) onesynthtest.Scene {
	return func(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
		// Functions that prepare the requests remember for a while what they read: half of the data, or none.
		s.Load(t, Local(on))
		requests := s.requests(t, Local(on))
		probes, end := scene(t, on)
		return append(probes, requests...), end
	}
}

// requests are probes that make the requests of package routes, each by a client of its own that is ready to do so.
// They leave out those that the API refuses, and those that wait for other functions.
func (s *Suite) requests(t testing.TB, target *Target) (probes []onesynthtest.Probe) {
	t.Helper()
	served := map[string]string{}
	for _, route := range s.Platform.Routes {
		function, _ := s.Platform.Function(route.Function)
		served[route.Key()] = function.ConstructID()
	}
	measured, run := s.measured(t, target)
	for _, route := range measured.Routes {
		if route.Waits || route.Status >= http.StatusBadRequest {
			continue
		}
		request, err := route.Prepare(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		probes = append(probes, onesynthtest.Probe{
			Function: served[route.Method+" "+route.Path], Name: route.String(),
			Do: func(t testing.TB) (onesynthtest.Reply, error) { return request.Send(t.Context()) },
		})
	}
	return probes
}
