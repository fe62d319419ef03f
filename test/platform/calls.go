package platform

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/bench/routes"
	"github.com/onesynth-cdk/onesynth/local"
)

var writeCalls = flag.Bool("write-calls", false, "write the platform's part of docs/CALLS.md")

// checkCalls checks that docs/CALLS.md shows the calls of DynamoDB that each route makes.
func (s *Suite) checkCalls(t *testing.T) {
	tracer := &routes.Tracer{Delay: 20 * time.Millisecond}
	target := s.OwnRun(t, local.Options{Observe: tracer.Observe})
	measured, err := routes.Of(s.Construct)
	if err != nil {
		t.Fatal(err)
	}
	run := &routes.Run{
		API: target.Run.URL(""), Console: target.Run.ConsoleURL(),
		Seed: func(context.Context, string) error { return s.Seed(t, target) },
	}
	want, missing, err := measured.Document(t.Context(), s.Platform, run, tracer)
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range missing {
		if !strings.HasSuffix(route, "/health") && !strings.HasSuffix(route, "/openapi.json") {
			t.Errorf("package routes has no request of %s: add one", route)
		}
	}
	path := filepath.Join(Root(t), "docs", "CALLS.md")
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	title := "## " + s.Platform.Title + "\n"
	before, after, found := strings.Cut(string(document), title)
	got, rest, more := strings.Cut(after, "\n## ")
	if more {
		rest = "\n## " + rest
	}
	if *writeCalls {
		if !found {
			before += "\n"
		}
		if err := os.WriteFile(path, []byte(before+want+rest), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, title+got); diff != "" {
		t.Errorf("%s is stale: run `make calls` (-want +got):\n%s", path, diff)
	}
}
