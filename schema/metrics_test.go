package schema_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

func TestValidateMetrics(t *testing.T) {
	t.Parallel()
	p := todo.Platform()
	p.Metrics = append(p.Metrics,
		schema.Metric{Name: "TasksCreated", Function: "todoapi", Unit: schema.Count},
		schema.Metric{Name: "Tasks Seen", Function: "todoapi", Unit: schema.Count},
		schema.Metric{Name: "TasksSeen", Function: "nobody", Unit: schema.Count},
		schema.Metric{Name: "TasksSeen", Function: "todoapi", Unit: "Parsecs"})
	var found finding.List
	if !errors.As(p.Validate(), &found) {
		t.Fatalf("got %v, want findings", p.Validate())
	}
	var paths []string
	for _, f := range found {
		paths = append(paths, f.Path)
	}
	want := []string{"Metrics[4]", "Metrics[todoapi/Tasks Seen].Name", "Metrics[nobody/TasksSeen].Function",
		"Metrics[todoapi/TasksSeen].Unit"}
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
