package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// wide is a valid platform whose index has keys of several attributes.
func wide() schema.Platform {
	p := minimal()
	table := &p.Database.Tables[0]
	for _, name := range []string{"a", "b", "c", "d"} {
		table.Attributes = append(table.Attributes, schema.Attribute{Name: name, Type: schema.String})
	}
	table.Indexes[0].FurtherPartition = []string{"a"}
	table.Indexes[0].FurtherSort = []string{"b", "c"}
	p.Database.AccessPatterns[1].KeyConditions = conditions("text", "a", "at")
	return p
}

func conditions(attributes ...string) []schema.KeyCondition {
	var list []schema.KeyCondition
	for _, a := range attributes {
		list = append(list, schema.KeyCondition{Attribute: a, Comparison: schema.Equal})
	}
	return list
}

func TestIndexOfSeveralAttributes(t *testing.T) {
	t.Parallel()
	const index, query = "Tables[Notes].Indexes[ByText]", "AccessPatterns[ListByText]"
	for name, test := range map[string]struct {
		spoil func(*schema.Index, *schema.AccessPattern)
		path  string
	}{
		"OK": {func(*schema.Index, *schema.AccessPattern) {}, ""},
		"PartitionOnly": {func(_ *schema.Index, p *schema.AccessPattern) {
			p.KeyConditions = conditions("text", "a")
		}, ""},
		"WholeKey": {func(_ *schema.Index, p *schema.AccessPattern) {
			p.KeyConditions = conditions("text", "a", "at", "b", "c")
		}, ""},
		"RangeLast": {func(_ *schema.Index, p *schema.AccessPattern) {
			p.KeyConditions = conditions("text", "a", "at", "b")
			p.KeyConditions[3].Comparison = schema.BeginsWith
		}, ""},
		"ErrFivePartition": {func(i *schema.Index, p *schema.AccessPattern) {
			i.FurtherPartition, i.FurtherSort = []string{"a", "b", "c", "d"}, nil
			p.KeyConditions = conditions("text", "a", "b", "c", "d")
		}, index + ".FurtherPartition"},
		"ErrFiveSort": {func(i *schema.Index, p *schema.AccessPattern) {
			i.FurtherPartition, i.FurtherSort = nil, []string{"a", "b", "c", "d"}
			p.KeyConditions = conditions("text")
		}, index + ".FurtherSort"},
		"ErrNoFirstSort": {func(i *schema.Index, p *schema.AccessPattern) {
			i.Key.Sort = ""
			p.KeyConditions = conditions("text", "a")
		}, index + ".FurtherSort"},
		"ErrTwice": {func(i *schema.Index, _ *schema.AccessPattern) {
			i.FurtherSort = []string{"a"}
		}, index + ".FurtherSort[0]"},
		"ErrBoolean": {func(i *schema.Index, _ *schema.AccessPattern) {
			i.FurtherSort = []string{"flag"}
		}, index + ".FurtherSort[0]"},
		"ErrUndeclared": {func(i *schema.Index, _ *schema.AccessPattern) {
			i.FurtherSort = []string{"nope"}
		}, index + ".FurtherSort[0]"},
		"ErrPartOfPartition": {func(_ *schema.Index, p *schema.AccessPattern) { p.KeyConditions = conditions("text") },
			query + ".KeyConditions"},
		"ErrPartitionRange": {func(_ *schema.Index, p *schema.AccessPattern) {
			p.KeyConditions[1].Comparison = schema.Less
		},
			query + ".KeyConditions[1].Comparison"},
		"ErrRangeBeforeTheEnd": {func(_ *schema.Index, p *schema.AccessPattern) {
			p.KeyConditions = conditions("text", "a", "at", "b")
			p.KeyConditions[2].Comparison = schema.Less
		}, query + ".KeyConditions[2].Comparison"},
		"ErrSkipped": {func(_ *schema.Index, p *schema.AccessPattern) {
			p.KeyConditions = conditions("text", "a", "b")
		},
			query + ".KeyConditions[2].Attribute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := wide()
			test.spoil(&p.Database.Tables[0].Indexes[0], &p.Database.AccessPatterns[1])
			var found finding.List
			errors.As(p.Validate(), &found)
			var paths []string
			for _, f := range found {
				paths = append(paths, f.Path)
			}
			if diff := cmp.Diff(test.path, strings.Join(paths, " ")); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, found)
			}
		})
	}
	t.Run("Projects", func(t *testing.T) {
		t.Parallel()
		table := wide().Database.Tables[0]
		if !table.Projects(table.Indexes[0], "c") || table.Projects(table.Indexes[0], "d") {
			t.Error("an index projects the attributes of its key, and with KEYS_ONLY no more")
		}
	})
	t.Run("Document", func(t *testing.T) {
		t.Parallel()
		if got := wide().Document(); !strings.Contains(got,
			"| ByText | `text` + `a`, `at` + `b` + `c` | KEYS_ONLY |") {
			t.Errorf("the index is not described:\n%s", got)
		}
	})
}
