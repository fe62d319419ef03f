package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Lake says how the stream of one table becomes files that can be queried: which items become rows, in which tables,
// with which views and queries over them.
//
// Each change of an item is one row of the table <entity>_changes: the columns of [ChangeColumns], then the entity's
// own. These show the item after the change, or, if the change removed it, as it last was.
type Lake struct {
	// Name is the name of the catalog's database: lower-case letters, digits and
	// underscores, such as "todo".
	Name string
	// Table is the logical name of the table. Its stream carries new and old images.
	Table string
	// Entities are the kinds of items that become rows. Others stay out.
	Entities []Entity
	// Views are over the entities' tables and over views before them.
	Views []View
	// Queries are saved for people to begin with.
	Queries []SavedQuery
}

// Entity is one kind of item of a table.
type Entity struct {
	// Name is in the singular, such as "task".
	Name string
	// Description says what an item is.
	Description string `json:",omitempty"`
	// PartitionPrefix and SortPrefix are the prefixes of the items' partition and sort keys. Empty: any key.
	PartitionPrefix string `json:",omitempty"`
	SortPrefix      string `json:",omitempty"`
	// Columns are the columns of its table beside [ChangeColumns] that differ from the
	// table's attributes, see [Entity.ColumnsOf]. An entity with a prefix shares its table
	// with others, so it has only the columns that are listed here.
	Columns []Column
	// Omit names the attributes without a column, for an entity without a prefix. Default: each attribute of the table
	// has one.
	Omit []string `json:",omitempty"`
}

// Matches reports whether an item with these keys belongs to the entity. Pass "" for a key that is not a String: only
// an empty prefix matches it.
func (e Entity) Matches(partition, sort string) bool {
	return strings.HasPrefix(partition, e.PartitionPrefix) && strings.HasPrefix(sort, e.SortPrefix)
}

// ChangeTable returns the name of the table with the entity's changes, such as "task_changes".
func (e Entity) ChangeTable() string { return e.Name + "_changes" }

// ColumnsOf returns the columns of the entity's table beside [ChangeColumns], as they follow from the attributes of t.
// An entity without a prefix has a column for each attribute that Omit does not name, in the table's order, then the
// listed columns of other attributes. A column that states no Type or Description takes its attribute's: a String
// becomes text, a Number an integer and a Boolean a boolean. Lists, maps, sets and binaries have no column type.
func (e Entity) ColumnsOf(t Table) []Column {
	listed := map[string][]Column{}
	var order []string
	if !e.shares() {
		for _, a := range t.Attributes {
			if !slices.Contains(e.Omit, a.Name) {
				order, listed[a.Name] = append(order, a.Name), nil
			}
		}
	}
	for _, c := range e.Columns {
		if _, ok := listed[c.Source()]; !ok {
			order = append(order, c.Source())
		}
		listed[c.Source()] = append(listed[c.Source()], c)
	}
	var all []Column
	for _, name := range order {
		columns := listed[name]
		if len(columns) == 0 {
			columns = []Column{{Name: name}}
		}
		a, _ := t.Attribute(name)
		for _, c := range columns {
			c.Type = cmp.Or(c.Type, columnTypes[a.Type])
			c.Description = cmp.Or(c.Description, a.Description)
			all = append(all, c)
		}
	}
	return all
}

// shares reports whether the table has items of other entities.
func (e Entity) shares() bool { return e.PartitionPrefix != "" || e.SortPrefix != "" }

// columnTypes are the types of columns that state none, by the type of the attribute. An
// integer, not a decimal: a fraction goes to the failure queue, and is not rounded.
var columnTypes = map[Type]ColumnType{String: ColumnText, Number: ColumnInteger, Boolean: ColumnBoolean}

// Column is one column of a table or view. A column of an entity takes what it does not
// state from its attribute, see [Entity.ColumnsOf]; a column of a view states its type.
type Column struct {
	// Name is its name: lower-case letters, digits and underscores.
	Name string
	// Attribute is the item's attribute that the column shows. Empty: the attribute with the column's name.
	Attribute string `json:",omitempty"`
	// TrimPrefix is removed from texts that begin with it, such as "TASK#" from a key.
	TrimPrefix string `json:",omitempty"`
	// Before shows the attribute as it was before the change. It is null for a new item, and in objects that a version
	// without the column wrote.
	Before bool `json:",omitempty"`
	// Type is its type, such as [ColumnTimestamp] of a Number.
	Type ColumnType
	// Description says what it means.
	Description string `json:",omitempty"`
	// From is the type of the attribute. It follows from the table: only a [LakeDefinition] states it.
	From Type `json:",omitempty"`
}

// Source returns the name of the attribute that the column shows.
func (c Column) Source() string {
	if c.Attribute == "" {
		return c.Name
	}
	return c.Attribute
}

// ColumnType is the type of a column.
type ColumnType string

// The column types. A record goes to the failure queue if an attribute does not convert, such as the text "soon" to a
// date.
const (
	// ColumnText is text, of a String.
	ColumnText ColumnType = "text"
	// ColumnInteger is a whole number of 64 bits, of a Number.
	ColumnInteger ColumnType = "integer"
	// ColumnDecimal is a floating-point number of 64 bits, of a Number.
	ColumnDecimal ColumnType = "decimal"
	// ColumnBoolean is true or false, of a Boolean.
	ColumnBoolean ColumnType = "boolean"
	// ColumnDate is a day, of a String as YYYY-MM-DD.
	ColumnDate ColumnType = "date"
	// ColumnTimestamp is a moment in UTC to the millisecond, of a Number of seconds
	// since the Unix epoch or of a String in ISO 8601.
	ColumnTimestamp ColumnType = "timestamp"
)

// EventDate is the column by which the files of an entity are partitioned: the
// day, in UTC, of the change.
const EventDate = "event_date"

// ChangeColumns returns the first columns of every entity's table.
func ChangeColumns() []Column {
	return []Column{
		{Name: "event_id", Type: ColumnText, Description: "Unique id of the change"},
		{Name: "event_name", Type: ColumnText, Description: "INSERT, MODIFY or REMOVE"},
		{Name: "event_time", Type: ColumnTimestamp, Description: "When the stream says that the change was made"},
		{Name: "sequence_number", Type: ColumnText,
			Description: "Place of the change among those of its item, 40 digits, so that text sorts as numbers do"},
	}
}

// View is a stored SELECT, in the part of SQL that Amazon Athena and DuckDB share.
type View struct {
	// Name is its name: lower-case letters, digits and underscores.
	Name string
	// Description says what a row is.
	Description string
	// Columns are the columns of the SELECT, in its order. Each needs Name, Type and Description alone.
	Columns []Column
	// SQL is the SELECT. It names tables and views of the lake without a database.
	SQL string
	// Lists names the entity whose own columns the SELECT lists: all except those with Before, in their order,
	// separated by ", ". [Platform.Extended] adds the columns of a team's attributes to that list. Default: it adds
	// none.
	Lists string
}

// SavedQuery is a SELECT for people to begin with.
type SavedQuery struct {
	// Name is its name for people.
	Name string
	// Description says what it answers.
	Description string
	// SQL is the SELECT.
	SQL string
}

// Entity returns the entity of that name.
func (l Lake) Entity(name string) (Entity, bool) {
	return named(l.Entities, name, func(x Entity) string { return x.Name })
}

// lakeName is what Amazon Athena takes without quotes ("Name databases, tables,
// and columns").
var lakeName = expression(`^[a-z][a-z0-9_]*$`)

// validate adds what the catalog, or the first record of the stream, would refuse. at is
// the path to the lake.
func (l Lake) validate(f *findings, at string, d Database) {
	validateLakeName(f, at, l.Name)
	table, ok := d.Table(l.Table)
	if !ok {
		f.add(at+".Table", quoted(l.Table), "name a declared table")
		return
	}
	if table.Stream != StreamNewAndOldImages {
		f.add(at+".Table", quoted(l.Table), "its stream is %q: a lake needs %s, because a removal's row comes from "+
			"the old image", table.Stream, StreamNewAndOldImages)
	}
	if len(l.Entities) == 0 {
		f.add(at+".Entities", "", "name at least one kind of item")
	}
	unique(f, at+".Entities", l.Entities, func(e Entity) string { return e.Name })
	relations := map[string]bool{}
	for _, e := range l.Entities {
		path := at + ".Entities[" + e.Name + "]"
		validateLakeName(f, path, e.Name)
		relations[e.ChangeTable()] = true
		for part, prefix := range map[string]string{table.Key.Partition: e.PartitionPrefix,
			table.Key.Sort: e.SortPrefix} {
			if a, _ := table.Attribute(part); prefix != "" && a.Type != String {
				f.add(path, quoted(prefix), "a prefix needs a key of type String")
			}
		}
		e.validateOmit(f, path, table)
		columns := ChangeColumns()
		for _, c := range e.ColumnsOf(table) {
			if c.validateSource(f, path+".Columns["+c.Name+"]", table) {
				columns = append(columns, c)
			}
		}
		validateColumns(f, path, columns)
	}
	l.validateLength(f, at, d)
	for _, v := range l.Views {
		path := at + ".Views[" + v.Name + "]"
		validateLakeName(f, path, v.Name)
		if relations[v.Name] {
			f.add(path+".Name", quoted(v.Name), "use each name once")
		}
		relations[v.Name] = true
		if v.SQL == "" {
			f.add(path+".SQL", "", "write a SELECT")
		}
		if e, ok := l.Entity(v.Lists); v.Lists != "" && (!ok || !strings.Contains(v.SQL, e.listed())) {
			f.add(path+".Lists", quoted(v.Lists), "name an entity all of whose columns the SELECT lists")
		}
		if len(v.Columns) == 0 {
			f.add(path+".Columns", "", "name the columns of the SELECT: the catalog needs their types")
		}
		validateColumns(f, path, v.Columns)
	}
	unique(f, at+".Queries", l.Queries, func(q SavedQuery) string { return q.Name })
	for _, q := range l.Queries {
		if q.Name == "" || q.SQL == "" {
			f.add(at+".Queries["+q.Name+"]", quoted(q.SQL), "write a name and a SELECT")
		}
	}
}

func validateLakeName(f *findings, path, name string) {
	if !matches(lakeName, name) {
		f.add(path+".Name", quoted(name), "write lower-case letters, digits and underscores, beginning with a letter")
	}
}

func validateColumns(f *findings, path string, columns []Column) {
	unique(f, path+".Columns", columns, func(c Column) string { return c.Name })
	for _, c := range columns {
		validateLakeName(f, path+".Columns["+c.Name+"]", c.Name)
		if c.Name == EventDate {
			f.add(path+".Columns["+c.Name+"].Name", quoted(c.Name),
				"the files are partitioned by it: choose another name")
		}
		switch c.Type {
		case ColumnText, ColumnInteger, ColumnDecimal, ColumnBoolean, ColumnDate, ColumnTimestamp:
		default:
			f.add(path+".Columns["+c.Name+"].Type", quoted(string(c.Type)),
				"write ColumnText, ColumnInteger, ColumnDecimal, ColumnBoolean, ColumnDate or ColumnTimestamp")
		}
	}
}

// validateOmit checks that each attribute left out would have a column otherwise.
func (e Entity) validateOmit(f *findings, path string, table Table) {
	if e.shares() && len(e.Omit) > 0 {
		f.add(path+".Omit", fmt.Sprint(e.Omit),
			"leave it out: an entity with a prefix has only the columns that are listed")
		return
	}
	for _, name := range e.Omit {
		if _, ok := table.Attribute(name); !ok {
			f.add(path+".Omit", quoted(name), "declare the attribute in %s, or take it out", table.Name)
		}
		if slices.ContainsFunc(e.Columns, func(c Column) bool { return c.Source() == name }) {
			f.add(path+".Omit", quoted(name), "Columns lists it: take it out of one of the two")
		}
	}
}

// validateSource checks that the attribute can become a value of the column, and reports
// whether the column has a type.
func (c Column) validateSource(f *findings, path string, table Table) bool {
	a, ok := table.Attribute(c.Source())
	if !ok {
		f.add(path+".Attribute", quoted(c.Source()), "declare the attribute in %s, or name one that is declared",
			table.Name)
		return c.Type != ""
	}
	if c.Type == "" {
		f.add(path+".Type", "an attribute of type "+string(a.Type),
			"no column can show it: name the attribute in Omit, or take the column out")
		return false
	}
	from := map[ColumnType][]Type{
		ColumnText: {String}, ColumnDate: {String}, ColumnTimestamp: {Number, String},
		ColumnInteger: {Number}, ColumnDecimal: {Number}, ColumnBoolean: {Boolean},
	}[c.Type]
	if !slices.Contains(from, a.Type) {
		f.add(path+".Type", fmt.Sprintf("%q of a %s", c.Type, a.Type), "a column of this type is made of %v", from)
	}
	return true
}
