package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLakeDefinition(t *testing.T) {
	t.Parallel()
	todo := Todo()
	definition, err := todo.Lake.Definition(todo.Database)
	if err != nil {
		t.Fatal(err)
	}
	text := definition.Encode()
	t.Logf("%d bytes: %s", len(text), text)
	read, err := ParseLakeDefinition(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(definition, read); diff != "" {
		t.Errorf("reading what was written (-written +read):\n%s", diff)
	}
	if len(definition.Entities) != len(todo.Lake.Entities) {
		t.Fatalf("got %d entities; want %d", len(definition.Entities), len(todo.Lake.Entities))
	}
	table, _ := todo.Database.Table(todo.Lake.Table)
	if definition.Key != table.Key {
		t.Errorf("key is %v; want %v", definition.Key, table.Key)
	}
	for i, want := range todo.Lake.Entities {
		got := definition.Entities[i]
		if len(got.Columns) != len(want.Columns) {
			t.Fatalf("%s has %d columns; want %d", want.Name, len(got.Columns), len(want.Columns))
		}
		for j, column := range want.Columns {
			attribute, _ := table.Attribute(column.Source())
			want := LakeColumn{Name: column.Name, Attribute: column.Attribute, TrimPrefix: column.TrimPrefix, Type: column.Type, From: attribute.Type}
			if diff := cmp.Diff(want, got.Columns[j]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", column.Name, diff)
			}
		}
	}
}

// Only items of an entity are its: what shares the table is told apart by keys.
func TestLakeEntityMatches(t *testing.T) {
	t.Parallel()
	todo := Todo()
	definition, err := todo.Lake.Definition(todo.Database)
	if err != nil {
		t.Fatal(err)
	}
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
	todo := Todo()
	other := todo.Lake
	other.Table = "Nowhere"
	if _, err := other.Definition(todo.Database); err == nil || !strings.Contains(err.Error(), "Lake.Table") {
		t.Errorf("a lake of a table that is not there: got %v", err)
	}
	long := todo.Lake
	long.Entities = nil
	for i := range 20 {
		e := todo.Lake.Entities[0]
		e.Name = fmt.Sprintf("task_%d", i)
		long.Entities = append(long.Entities, e)
	}
	if _, err := long.Definition(todo.Database); err == nil || !strings.Contains(err.Error(), "environment") {
		t.Errorf("a lake of 240 columns: got %v", err)
	}
	todo.Lake = long
	if err := todo.Validate(); err == nil || !strings.Contains(err.Error(), "environment") {
		t.Errorf("a platform with a lake of 240 columns: got %v", err)
	}
}

func TestParseLakeDefinitionRefuses(t *testing.T) {
	t.Parallel()
	column := func(c string) string {
		return `{"Key":{"Partition":"PK","Sort":"SK"},"Entities":[{"Name":"task","Columns":[` + c + `]}]}`
	}
	for name, text := range map[string]string{
		"Empty":          "",
		"NoJSON":         "{",
		"Null":           "null",
		"NoKey":          `{"Entities":[{"Name":"task","Columns":[]}]}`,
		"NoEntities":     `{"Key":{"Partition":"PK"}}`,
		"UnknownField":   `{"Key":{"Partition":"PK"},"Entities":[{"Name":"task","Colums":[]}]}`,
		"EntityName":     `{"Key":{"Partition":"PK"},"Entities":[{"Name":"../x","Columns":[]}]}`,
		"UnknownType":    column(`{"Name":"a","Type":"uuid","From":"String"}`),
		"WrongAttribute": column(`{"Name":"a","Type":"integer","From":"String"}`),
		"ChangeColumn":   column(`{"Name":"event_id","Type":"text","From":"String"}`),
		"Twice":          column(`{"Name":"a","Type":"text","From":"String"},{"Name":"a","Type":"text","From":"String"}`),
		"Partition":      column(`{"Name":"event_date","Type":"date","From":"String"}`),
	} {
		if d, err := ParseLakeDefinition(text); err == nil {
			t.Errorf("%s: got %+v", name, d)
		}
	}
	if _, err := ParseLakeDefinition(column(`{"Name":"a","Type":"timestamp","From":"Number"}`)); err != nil {
		t.Errorf("a good one: %v", err)
	}
}
