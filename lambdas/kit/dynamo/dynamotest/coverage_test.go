package dynamotest

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/schema"
)

// A pattern counts as requested when a request is made as it is declared.
func TestConsumed(t *testing.T) {
	t.Parallel()
	patterns := []schema.AccessPattern{
		{Name: "Get", Action: schema.GetItem, Table: "T"},
		{Name: "Elsewhere", Action: schema.GetItem, Table: "T"},
		{Name: "List", Action: schema.Query, Table: "T", Index: "I"},
		{Name: "Never", Action: schema.PutItem, Table: "T"},
	}
	table, missing := consumed(patterns, map[string][]Request{
		"Get": {{Action: schema.GetItem, Table: "T", Units: 1},
			{Action: schema.GetItem, Table: "T", Units: 0.5}},
		"Elsewhere": {{Action: schema.GetItem, Table: "U"}},
		"List":      {{Action: schema.Query, Table: "T"}},
	})
	if !slices.Equal(missing, []string{"Elsewhere", "List", "Never"}) || !strings.Contains(table, "0.5 to 1.0") {
		t.Errorf("got %v of\n%s", missing, table)
	}
}

func passing() int { return 0 }

// A run of some tests, such as this one alone, covers nothing. Otherwise tests that pass fail by what they have not
// requested.
func TestCovering(t *testing.T) {
	want := 1
	if some() {
		want = 0
	}
	never := schema.Database{AccessPatterns: []schema.AccessPattern{
		{Name: "Never", Action: schema.PutItem, Table: "T"}}}
	if got := Covering(passing, never)(); got != want {
		t.Errorf("the tests end with %d, want %d", got, want)
	}
	if got := Covering(passing, schema.Database{})(); got != 0 {
		t.Errorf("tests of no pattern end with %d", got)
	}
}
