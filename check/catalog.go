package check

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// column is a column of a table of the catalog.
type column struct{ name, kind string }

func columns(r *resource) []column {
	var all []column
	for _, declared := range slices.Concat(list(r.at("TableInput", "StorageDescriptor", "Columns")),
		list(r.at("TableInput", "PartitionKeys"))) {
		all = append(all, column{text(at(declared, "Name")), text(at(declared, "Type"))})
	}
	return all
}

// catalogTable reports changes after which queries fail, skip older rows, or misread them: Parquet objects keep the
// names, types and values of the columns that they were written with ("Handle schema updates", Amazon Athena user
// guide). A view has no objects: its rows are computed by each query.
func (c *comparison) catalogTable(old, changed *resource) {
	deployed, proposed := columns(old), columns(changed)
	was, is := catalogMetadataOf(c.deployedMetadata, old), catalogMetadataOf(c.proposedMetadata, changed)
	view := text(changed.at("TableInput", "TableType")) == "VIRTUAL_VIEW"
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
		showed, shows := was.Attributes[before.name], is.Attributes[before.name]
		switch {
		case n < 0:
			got := fmt.Sprintf("the column %s (%s) goes", before.name, before.kind)
			why := "SQL that names the column fails: views, saved queries and dashboards."
			if !view {
				why += " Rows from before have their values under the old name."
			}
			step := "Leave the column. If no SQL names it, and what it shows may go: accept this finding."
			if alike := slices.IndexFunc(added, func(c column) bool { return c.kind == before.kind }); alike >= 0 {
				got += fmt.Sprintf(", and %s is new: it looks renamed", added[alike].name)
				step = "Leave the column, and add " + added[alike].name + " beside it."
			}
			c.addBy(c.columnBy(changed, before.name, ""), Refusal, "column-"+before.name, changed, got, why,
				do("%s", step))
		case proposed[n].kind != before.kind:
			by := c.columnBy(changed, before.name, proposed[n].kind)
			got := turns("the type of the column "+before.name, before.kind, proposed[n].kind)
			if view {
				c.addBy(by, Warning, "column-"+before.name, changed, got, "SQL that takes the column for the old "+
					"type fails, or gives other values.",
					do("Make sure that saved queries and dashboards take the new type."))
				continue
			}
			c.addBy(by, Refusal, "column-"+before.name, changed, got,
				"Objects from before have the old type: queries that read both fail (HIVE_BAD_DATA), or get other "+
					"values.",
				do("Leave the column %s as deployed, and add one of the type %s under another name.", before.name,
					proposed[n].kind))
		case showed != "" && shows != "" && showed != shows:
			c.addBy(is.Line+".Columns["+before.name+"] of the schema", Refusal, "column-"+before.name, changed,
				fmt.Sprintf("the column %s shows the attribute %s, and showed %s", before.name, shows, showed),
				fmt.Sprintf("Objects from before keep the values of %s: the history has both in one column, and no "+
					"query tells them apart.", showed),
				do("Leave the column %s as deployed, and show %s in another column.", before.name, shows),
				do("If both have the same values, as when an attribute is renamed: accept this finding."))
		}
	}
	for _, place := range [][]string{{"TableInput", "StorageDescriptor", "Location"},
		{"TableInput", "Parameters", "storage.location.template"}} {
		if before, after := old.at(place...), changed.at(place...); before != nil && !reflect.DeepEqual(before, after) {
			c.add(Refusal, "location", changed, turns("the place of the objects", say(before), say(after)),
				"Queries no longer find the rows from before.", do("Leave the place as deployed."), do("If it has "+
					"to change: copy the objects first (aws s3 sync), then accept this finding."))
			return
		}
	}
	c.projection(old, changed)
}

// projection reports partitions that queries no longer find. The catalog holds none: each query computes them from
// these parameters ("Set up partition projection", Amazon Athena user guide).
func (c *comparison) projection(old, changed *resource) {
	was, is := members(old.at("TableInput", "Parameters")), members(changed.at("TableInput", "Parameters"))
	if text(was["projection.enabled"]) != "true" {
		return
	}
	var got []string
	for name, value := range sorted(was) {
		before, after := text(value), text(is[name])
		switch {
		case !strings.HasPrefix(name, "projection.") || before == after:
		case strings.HasSuffix(name, ".range") && holds(after, before):
		case strings.HasSuffix(name, ".values") && len(missing(texts(before), texts(after))) == 0:
		default:
			got = append(got, turns(name, before, after))
		}
	}
	if len(got) > 0 {
		c.addBy("Parameters of "+changed.constructPath(), Refusal, "projection", changed, join(got),
			"Queries skip partitions that they found: their rows seem lost, and nothing fails. The objects stay in "+
				"the bucket.",
			do("Leave it as deployed, or only widen the range."),
			do("If no query needs these partitions: accept this finding."))
	}
}

// texts returns the elements of a list that is written with commas.
func texts(list string) []any {
	var all []any
	for element := range strings.SplitSeq(list, ",") {
		all = append(all, strings.TrimSpace(element))
	}
	return all
}

// holds reports whether a range, such as "2026-01-01,NOW", holds the other: its start is the same or earlier, and its
// end the same or later. It compares two numbers, and two dates that are written alike.
func holds(wide, narrow string) bool {
	a, b := texts(wide), texts(narrow)
	if len(a) != 2 || len(b) != 2 {
		return false
	}
	ordered := func(first, second string) bool {
		x, errX := strconv.Atoi(first)
		y, errY := strconv.Atoi(second)
		if errX == nil && errY == nil {
			return x <= y
		}
		return first == second || date.MatchString(first) && date.MatchString(second) && len(first) == len(second) &&
			first <= second
	}
	return ordered(a[0].(string), b[0].(string)) && ordered(b[1].(string), a[1].(string))
}

// date is a date or a time whose order is that of its text.
var date = regexp.MustCompile(`^\d{4}([-/ :T]\d\d)*$`)
