package routes_test

import (
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// Requests name routes of the schema, and differ from each other by what people read.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		measured, err := routes.Of(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for _, r := range measured.Routes {
			is := func(of schema.Route) bool { return of.Method == r.Method && of.Path == r.Path }
			if !slices.ContainsFunc(p.Schema.Routes, is) {
				t.Errorf("%s: the schema of %s has no such route", r, p.Name())
			}
			if said[r.String()] {
				t.Errorf("%s: two requests of %s are called so", r, p.Name())
			}
			said[r.String()] = true
		}
	}
}
