package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestLakeDefinition(t *testing.T) {
	t.Parallel()
	platform := todo.Platform()
	definition := must.Get(platform.Lakes[0].Definition(platform.Database))(t)
	text := definition.Encode()
	t.Logf("%d bytes: %s", len(text), text)
	read := must.Get(schema.ParseLakeDefinition(text))(t)
	if diff := cmp.Diff(definition, read); diff != "" {
		t.Errorf("reading what was written (-written +read):\n%s", diff)
	}
	if len(definition.Entities) != len(platform.Lakes[0].Entities) {
		t.Fatalf("got %d entities; want %d", len(definition.Entities), len(platform.Lakes[0].Entities))
	}
	table, _ := platform.Database.Table(platform.Lakes[0].Table)
	if definition.Key != table.Key {
		t.Errorf("key is %v; want %v", definition.Key, table.Key)
	}
	for i, want := range platform.Lakes[0].Entities {
		var columns []schema.Column
		for _, column := range want.ColumnsOf(table) {
			attribute, _ := table.Attribute(column.Source())
			column.From, column.Description = attribute.Type, ""
			columns = append(columns, column)
		}
		if diff := cmp.Diff(columns, definition.Entities[i].Columns); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Name, diff)
		}
	}
}

// Columns follow from the attributes; those listed differ, or are all that an entity with a prefix has.
func TestColumnsOf(t *testing.T) {
	t.Parallel()
	table := schema.Table{Attributes: []schema.Attribute{
		{"id", schema.String, "Which"}, {"at", schema.Number, "Unix seconds"}, {"n", schema.Number, "How many"},
		{"on", schema.Boolean, "Whether"}, {"tags", schema.List, "Tags"},
	}}
	id := schema.Column{Name: "id", Type: schema.ColumnText, Description: "Which"}
	n := schema.Column{Name: "n", Type: schema.ColumnInteger, Description: "How many"}
	on := schema.Column{Name: "on", Type: schema.ColumnBoolean, Description: "Whether"}
	for name, test := range map[string]struct {
		entity schema.Entity
		want   []schema.Column
	}{
		"All": {schema.Entity{Omit: []string{"tags"}},
			[]schema.Column{id, {Name: "at", Type: schema.ColumnInteger, Description: "Unix seconds"}, n, on}},
		"NoType": {schema.Entity{Omit: []string{"id", "at", "n", "on"}},
			[]schema.Column{{Name: "tags", Description: "Tags"}}},
		"Differ": {schema.Entity{Omit: []string{"tags"},
			Columns: []schema.Column{{Name: "when", Attribute: "at", Type: schema.ColumnTimestamp}}},
			[]schema.Column{id, {Name: "when", Attribute: "at", Type: schema.ColumnTimestamp,
				Description: "Unix seconds"}, n, on}},
		"Twice": {schema.Entity{Omit: []string{"at", "on", "tags"},
			Columns: []schema.Column{{Name: "n"},
				{Name: "half", Attribute: "n", Type: schema.ColumnDecimal, Description: "A decimal"}}},
			[]schema.Column{id, n, {Name: "half", Attribute: "n", Type: schema.ColumnDecimal,
				Description: "A decimal"}}},
		"Prefix": {schema.Entity{PartitionPrefix: "A#",
			Columns: []schema.Column{{Name: "n"}, {Name: "id", TrimPrefix: "A#"}}},
			[]schema.Column{n, {Name: "id", TrimPrefix: "A#", Type: schema.ColumnText, Description: "Which"}}},
		"Nothing": {schema.Entity{SortPrefix: "A#"}, nil},
		"Unknown": {schema.Entity{SortPrefix: "A#", Columns: []schema.Column{{Name: "nope", Type: schema.ColumnText}}},
			[]schema.Column{{Name: "nope", Type: schema.ColumnText}}},
	} {
		got := test.entity.ColumnsOf(table)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		test.entity.Columns = got
		if diff := cmp.Diff(got, test.entity.ColumnsOf(table)); diff != "" {
			t.Errorf("%s: completed twice (-once +twice):\n%s", name, diff)
		}
	}
}

// Only items of an entity are its: what shares the table is told apart by keys.
func TestEntityMatches(t *testing.T) {
	t.Parallel()
	platform := todo.Platform()
	definition := must.Get(platform.Lakes[0].Definition(platform.Database))(t)
	for _, test := range []struct{ partition, sort, want string }{
		{"TASK#u", "TASK#1", "task"},
		{"USER#u", "METADATA", "user"},
		{"EMAIL#a@example.com", "METADATA", ""},
		{"COUNTS#u", "METADATA", ""},
		{"IDEMPOTENCY#u", "KEY#1", ""},
		{"TASK#u", "METADATA", ""},
		{"", "", ""},
	} {
		got := ""
		for _, e := range definition.Entities {
			if e.Matches(test.partition, test.sort) {
				got += e.Name
			}
		}
		if got != test.want {
			t.Errorf("%s, %s is of %q; want %q", test.partition, test.sort, got, test.want)
		}
	}
}

func TestLakeDefinitionRefuses(t *testing.T) {
	t.Parallel()
	platform := todo.Platform()
	other := platform.Lakes[0]
	other.Table = "Nowhere"
	if _, err := other.Definition(platform.Database); err == nil || !strings.Contains(err.Error(), "Lake.Table") {
		t.Errorf("a lake of a table that is not there: got %v", err)
	}
	long := platform.Lakes[0]
	long.Entities = nil
	for i := range 20 {
		e := platform.Lakes[0].Entities[0]
		e.Name = fmt.Sprintf("task_%d", i)
		long.Entities = append(long.Entities, e)
	}
	if _, err := long.Definition(platform.Database); err == nil || !strings.Contains(err.Error(), "environment") {
		t.Errorf("a lake of 240 columns: got %v", err)
	}
	platform.Lakes = []schema.Lake{long}
	if err := platform.Validate(); err == nil || !strings.Contains(err.Error(), "environment") {
		t.Errorf("a platform with a lake of 240 columns: got %v", err)
	}
}

func TestParseLakeDefinitionRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Empty":        "",
		"NoJSON":       "{",
		"Null":         "null",
		"NoKey":        `{"Entities":[{"Name":"task","Columns":[]}]}`,
		"NoEntities":   `{"Key":{"Partition":"PK"}}`,
		"UnknownField": `{"Key":{"Partition":"PK"},"Entities":[{"Name":"task","Colums":[]}]}`,
	} {
		if d, err := schema.ParseLakeDefinition(text); err == nil {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}
