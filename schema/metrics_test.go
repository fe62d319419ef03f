package schema_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
)

func TestValidateMetrics(t *testing.T) {
	t.Parallel()
	p := schema.Todo()
	p.Metrics = append(p.Metrics,
		schema.Metric{Name: "TasksCreated", Function: "todoapi", Unit: schema.Count},
		schema.Metric{Name: "Tasks Seen", Function: "todoapi", Unit: schema.Count},
		schema.Metric{Name: "TasksSeen", Function: "nobody", Unit: schema.Count},
		schema.Metric{Name: "TasksSeen", Function: "todoapi", Unit: "Parsecs"})
	var found schema.Findings
	if !errors.As(p.Validate(), &found) {
		t.Fatalf("got %v, want findings", p.Validate())
	}
	var paths []string
	for _, f := range found {
		paths = append(paths, f.Path)
	}
	want := []string{"Metrics[4]", "Metrics[todoapi/Tasks Seen].Name", "Metrics[nobody/TasksSeen].Function", "Metrics[todoapi/TasksSeen].Unit"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestMetricsOf(t *testing.T) {
	t.Parallel()
	if got := schema.MetricsOf("writer", schema.LakeMetrics()); len(got) != 4 || got[0].Name != "LakeRows" {
		t.Errorf("got %v", got)
	}
	if got := schema.MetricsOf("nobody", schema.LakeMetrics()); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	got := schema.AskAHuman().Database.Operations("Guards")
	want := []schema.Operation{schema.GetItem, schema.TransactWriteItems, schema.UpdateItem}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// The reference of metrics in docs/OPERATIONS.md is this list.
func TestMetricReference(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "docs", "OPERATIONS.md"))
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
			want = append(want, fmt.Sprintf("| `%s` | `%s/%s` | %s | %s |", m.Name, room, m.Function, m.Unit, m.Description))
		}
	}
	for _, p := range []schema.Platform{schema.AskAHuman(), schema.Todo()} {
		add(p.Name, p.Metrics)
	}
	add(schema.LakeRoom, schema.LakeMetrics())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics in docs/OPERATIONS.md (-schema +documented):\n%s", diff)
	}
}
