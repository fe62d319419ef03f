package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// docs/operate/alarms.md describes every metric.
func TestMetricReference(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("docs", "operate", "alarms.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(string(content), "\n## Metrics\n")
	below, _, _ = strings.Cut(below, "\n## ")
	var got, want []string
	for line := range strings.Lines(below) {
		if strings.HasPrefix(line, "| `") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	add := func(room string, metrics []schema.Metric) {
		for _, m := range metrics {
			want = append(want, fmt.Sprintf("| `%s` | `%s/%s` | %s | %s |", m.Name, room, m.Function, m.Unit,
				m.Description))
		}
	}
	for _, p := range platforms.All() {
		add(p.Name(), p.Schema.Metrics)
	}
	add(schema.LakeRoom, schema.LakeMetrics())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics in docs/operate/alarms.md (-schema +documented):\n%s", diff)
	}
}
