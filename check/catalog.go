package check

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// column is a column of a table of the catalog.
type column struct{ name, kind string }

func columns(r *resource) []column {
	var all []column
	for _, declared := range slices.Concat(list(r.at("TableInput", "StorageDescriptor", "Columns")), list(r.at("TableInput", "PartitionKeys"))) {
		all = append(all, column{text(at(declared, "Name")), text(at(declared, "Type"))})
	}
	return all
}

// catalogTable reports what makes SQL fail, or pass over rows from before: Parquet objects keep the names and types of the
// columns they were written with ("Handle schema updates", Amazon Athena user guide).
func (c *comparison) catalogTable(old, changed *resource) {
	deployed, proposed := columns(old), columns(changed)
	find := func(columns []column, name string) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	}
	var added []column
	for _, after := range proposed {
		if find(deployed, after.name) < 0 {
			added = append(added, after)
		}
	}
	for _, before := range deployed {
		n := find(proposed, before.name)
		switch {
		case n < 0:
			got := fmt.Sprintf("the column %s (%s) goes", before.name, before.kind)
			step := "Leave the column. If no SQL names it, and what it shows may go: accept this finding."
			if alike := slices.IndexFunc(added, func(c column) bool { return c.kind == before.kind }); alike >= 0 {
				got += fmt.Sprintf(", and %s is new: it looks renamed", added[alike].name)
				step = "Leave the column, and add " + added[alike].name + " beside it."
			}
			c.addBy(c.columnBy(changed, before.name, ""), Refusal, "column-"+before.name, changed, got, "SQL that names the column fails: views, saved queries and dashboards. Rows from before have their values under the old name.", step)
		case proposed[n].kind != before.kind:
			c.addBy(c.columnBy(changed, before.name, proposed[n].kind), Refusal, "column-"+before.name, changed, fmt.Sprintf("the type of the column %s changes from %s to %s", before.name, before.kind, proposed[n].kind),
				"Objects from before have the old type: queries that read both fail (HIVE_BAD_DATA), or get other values.",
				fmt.Sprintf("Leave the column %s as deployed, and add one of the type %s under another name.", before.name, proposed[n].kind))
		}
	}
	for _, place := range [][]string{{"TableInput", "StorageDescriptor", "Location"}, {"TableInput", "Parameters", "storage.location.template"}} {
		if before, after := old.at(place...), changed.at(place...); before != nil && !reflect.DeepEqual(before, after) {
			c.add(Refusal, "location", changed, fmt.Sprintf("the place of the objects changes from %s to %s", say(before), cmp.Or(say(after), "none")),
				"Queries no longer find the rows from before.", "Leave the place as deployed.", "If it has to change: copy the objects first (aws s3 sync), then accept this finding.")
			return
		}
	}
}
