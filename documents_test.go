package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/platforms"
	"github.com/onesynth-cdk/onesynth/schema"
)

var update = flag.Bool("update", false, "write the generated documents of docs/reference")

// The schemas of all platforms are valid, with all parts that props add, and docs/reference/access-patterns shows them.
func TestAccessPatternReference(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		for _, described := range []schema.Platform{p.Schema, p.Whole} {
			if err := described.Validate(); err != nil {
				t.Errorf("%s: %v", p.Name(), err)
			}
		}
		path, want := filepath.Join("docs", "reference", "access-patterns", p.Name()+".md"), p.Whole.Document()
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale: run `make reference` (-want +got):\n%s", path, diff)
		}
	}
}
