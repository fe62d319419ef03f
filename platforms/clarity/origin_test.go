package clarity_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

// TestClarityIsTheOrigin checks the model against the origin, whose values are written out here
// once more.
func TestClarityIsTheOrigin(t *testing.T) {
	t.Parallel()
	d := clarity.Platform().Database
	must.OK(t, clarity.Platform().Validate())
	for name, want := range map[string]struct {
		key        schema.Key
		capacity   schema.Capacity
		stream     schema.StreamView
		index      string
		indexKey   schema.Key
		attributes string
	}{
		"Attempts": {
			schema.Key{Partition: "attemptId"}, schema.Capacity{}, "NEW_IMAGE", "UserAttempts",
			schema.Key{Partition: "userId", Sort: "timestamp"},
			"attemptId:String userId:String scenarioId:String timestamp:String answers:List evaluation:Map " +
				"durationSeconds:Number status:String schemaVersion:String",
		},
		"Profiles": {
			schema.Key{Partition: "userId", Sort: "timestamp"}, schema.Capacity{}, "", "", schema.Key{},
			"attemptCount:Number dimensions:List weaknesses:List improvements:List recommendations:List " +
				"overallAverage:Number schemaVersion:String",
		},
		"Scenarios": {
			schema.Key{Partition: "scenarioId"}, schema.Capacity{ReadUnits: 5, WriteUnits: 1}, "", "ActiveScenarios",
			schema.Key{Partition: "active", Sort: "difficulty"},
			// The origin says Boolean for active, which no index takes as a key.
			"title:String description:String difficulty:String tags:StringSet questions:List active:String " +
				"createdAt:String estimatedMinutes:Number schemaVersion:String",
		},
	} {
		table, ok := d.Table(name)
		if !ok || table.Key != want.key || table.Capacity != want.capacity || table.Stream != want.stream {
			t.Errorf("%s: got key %v, capacity %v, stream %q", name, table.Key, table.Capacity, table.Stream)
		}
		if want.index != "" {
			if index, ok := table.Index(want.index); !ok || index.Key != want.indexKey ||
				index.Projection != schema.ProjectAll {
				t.Errorf("%s: got index %+v, want key %v with all attributes", name, index, want.indexKey)
			}
		}
		for attribute := range strings.FieldsSeq(want.attributes) {
			attribute, typ, _ := strings.Cut(attribute, ":")
			if got, ok := table.Attribute(attribute); !ok || string(got.Type) != typ {
				t.Errorf("%s.%s: got %q, want %s", name, attribute, got.Type, typ)
			}
		}
	}
	var rows []string
	for _, p := range d.AccessPatterns {
		rows = append(rows, strings.Split(p.Origin, "; ")...)
	}
	for _, row := range []string{
		"Get attempt by ID", "List user attempts", "Get recent attempts for profile", "Get latest profile",
		"Get profile history",
		"Update profile", "Get scenario by ID", "List active scenarios", "List scenarios by difficulty",
	} {
		if !strings.Contains("; "+strings.Join(rows, "; ")+"; ", "; "+row+"; ") {
			t.Errorf("no access pattern for the origin's row %q", row)
		}
	}
}
