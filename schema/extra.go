package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Record is a kind of item of a table, to which a team can add attributes ([Extra]).
type Record struct {
	// Name is what people call it, such as "Task".
	Name string
	// Table is the logical name of its table.
	Table string
	// Form is the zero value of the struct that the API returns for a record. The struct embeds wire.Extended
	// (schema/wire). Default: the API returns no such record.
	Form any
	// Forms are the names of Form in the OpenAPI document. Default: Name.
	Forms []string
	// Beside names the fields that Forms have in the OpenAPI document and Form does not. Default: none.
	Beside []string
	// Entity is the name of its [Entity] in a lake over the table. Default: no lake has the record.
	Entity string
}

// FormNames returns Forms, with their default filled in.
func (r Record) FormNames() []string {
	if len(r.Forms) == 0 {
		return []string{r.Name}
	}
	return r.Forms
}

// Extra has the attributes, and the indexes over them, that a team adds to a record of a platform that it imports. The
// construct takes it as Props.Extra. The platform's own functions keep the attributes when they write the record, and
// never change them.
type Extra struct {
	// Record is the name of one of the platform's Records, such as "Task".
	Record string
	// Attributes are further attributes of the record. Their names are new in the table.
	Attributes []ExtraAttribute `json:",omitempty"`
	// Indexes are further indexes of the record's table. Their keys may name Attributes and the table's own.
	Indexes []Index `json:",omitempty"`
}

// ExtraAttribute is an attribute that a team adds to a record.
type ExtraAttribute struct {
	Attribute
	// MaxLength is how long a value may be: characters of a String, bytes of a Binary, members of a set, list or map.
	// Required for these.
	MaxLength int `json:",omitempty"`
	// Minimum and Maximum are the limits of a Number. Default: any number.
	Minimum *float64 `json:",omitempty"`
	Maximum *float64 `json:",omitempty"`
	// Writers are the functions that may write it, by name: the team's own, each with an access pattern that writes
	// the table. Any other function's write is refused.
	Writers []string
	// Shown adds the attribute to the record's form in the API's answers. It can be a String, Number, Boolean,
	// StringSet or NumberSet. Default: it is not shown.
	Shown bool `json:",omitempty"`
	// Column is the type of its column in the lake that has the record. Default: text, decimal or boolean of a String,
	// Number or Boolean, and none of other types. [NoColumn] keeps it out of the lake.
	Column ColumnType `json:",omitempty"`
}

const (
	// NoColumn keeps an attribute out of the lake.
	NoColumn ColumnType = "none"
	// ExtraVariable is the environment variable with the attributes that a team has added ([EncodeExtra]).
	ExtraVariable = "EXTRA_ATTRIBUTES"
	// maxExtraBytes is how long its value may be: AWS Lambda limits the whole environment to 4 KB.
	maxExtraBytes = 2 << 10
)

var extraName = expression(`^[a-z][A-Za-z0-9_]{0,63}$`)

// extraColumns are the columns of attributes whose Column says none. A decimal takes every number.
var extraColumns = map[Type]ColumnType{String: ColumnText, Number: ColumnDecimal, Boolean: ColumnBoolean}

func (a ExtraAttribute) column() (ColumnType, bool) {
	kind := cmp.Or(a.Column, extraColumns[a.Type])
	return kind, kind != "" && kind != NoColumn
}

// Record returns the record of that name.
func (p Platform) Record(name string) (Record, bool) {
	return named(p.Records, name, func(r Record) string { return r.Name })
}

// Extended returns the platform with a team's attributes and indexes in its tables, grants, lakes and documents. It
// leaves out additions that are not possible, which [Platform.Validate] reports. A second call on a platform changes
// nothing.
func (p Platform) Extended(extra ...Extra) Platform {
	if len(extra) == 0 || len(p.Extra) > 0 {
		return p
	}
	p.Extra = extra
	p.Database.Tables, p.Lakes = slices.Clone(p.Database.Tables), slices.Clone(p.Lakes)
	var refused findings
	for _, e := range extra {
		path := "Extra[" + e.Record + "]"
		record, ok := p.Record(e.Record)
		at := slices.IndexFunc(p.Database.Tables, func(t Table) bool { return t.Name == record.Table })
		if !ok || at < 0 {
			refused.add(path+".Record", quoted(e.Record), "name a record of %s: %s", p.Title, p.recordNames())
			continue
		}
		p.Database.Tables[at] = p.Database.Tables[at].extended(&refused, path, e)
		p.extendLakes(record, e)
	}
	p.unextended = refused.list
	return p
}

func (p Platform) recordNames() string {
	if len(p.Records) == 0 {
		return "none takes attributes"
	}
	var names []string
	for _, r := range p.Records {
		names = append(names, r.Name+" (of the table "+r.Table+")")
	}
	return strings.Join(names, ", ")
}

// extended is the table with further attributes and indexes.
func (t Table) extended(refused *findings, path string, e Extra) Table {
	t.Attributes, t.Indexes, t.Extra = slices.Clone(t.Attributes), slices.Clone(t.Indexes), slices.Clone(t.Extra)
	for _, a := range e.Attributes {
		if _, taken := t.Attribute(a.Name); taken {
			refused.add(path+".Attributes["+a.Name+"].Name", quoted(a.Name),
				"items of %s have an attribute of this name: choose another one", t.Name)
			continue
		}
		t.Attributes, t.Extra = append(t.Attributes, a.Attribute), append(t.Extra, a)
	}
	for _, i := range e.Indexes {
		if _, taken := t.Index(i.Name); taken {
			refused.add(path+".Indexes["+i.Name+"].Name", quoted(i.Name),
				"%s has an index of this name: choose another one", t.Name)
			continue
		}
		t.Indexes = append(t.Indexes, i)
	}
	return t
}

// extendLakes adds columns of the attributes to the lakes that have the record.
func (p Platform) extendLakes(record Record, e Extra) {
	var columns []Column
	var names, omitted []string
	for _, a := range e.Attributes {
		if kind, ok := a.column(); ok {
			columns = append(columns, Column{Name: a.Name, Type: kind, Description: a.Description})
			names = append(names, a.Name)
		} else {
			omitted = append(omitted, a.Name)
		}
	}
	for at, lake := range p.Lakes {
		entity := slices.IndexFunc(lake.Entities, func(e Entity) bool { return e.Name == record.Entity })
		if lake.Table != record.Table || entity < 0 {
			continue
		}
		lake.Entities, lake.Views = slices.Clone(lake.Entities), slices.Clone(lake.Views)
		extended := &lake.Entities[entity]
		if !extended.shares() {
			extended.Omit = slices.Concat(extended.Omit, omitted)
		}
		before := extended.listed()
		extended.Columns = slices.Concat(extended.Columns, columns)
		for i, v := range lake.Views {
			if v.Lists != record.Entity || len(columns) == 0 {
				continue
			}
			lake.Views[i].SQL = strings.ReplaceAll(v.SQL, before, before+", "+strings.Join(names, ", "))
			last := before[strings.LastIndexByte(before, ' ')+1:]
			after := 1 + slices.IndexFunc(v.Columns, func(c Column) bool { return c.Name == last })
			lake.Views[i].Columns = slices.Insert(slices.Clone(v.Columns), after, columns...)
		}
		p.Lakes[at] = lake
	}
}

// listed are the names of an entity's own columns as a view lists them.
func (e Entity) listed() string {
	var names []string
	for _, c := range e.Columns {
		if !c.Before {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}

// EncodeExtra returns the part of extra that functions need, as JSON: the value of [ExtraVariable].
func EncodeExtra(extra []Extra) string {
	var needed []Extra
	for _, e := range extra {
		e.Indexes, e.Attributes = nil, slices.Clone(e.Attributes)
		for i := range e.Attributes {
			a := &e.Attributes[i]
			a.Column = ""
			if !a.Shown {
				a.Description = ""
			}
		}
		needed = append(needed, e)
	}
	text, err := json.Marshal(needed)
	if err != nil {
		// A limit that is no number is refused by Validate, too.
		return err.Error()
	}
	return string(text)
}

// ReadExtra parses the result of [EncodeExtra]. An empty text gives nil.
func ReadExtra(text string) (extra []Extra, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &extra); err != nil {
		return nil, fmt.Errorf("%s: %w", ExtraVariable, err)
	}
	return extra, nil
}

func (p Platform) validateRecords(f *findings) {
	unique(f, "Records", p.Records, func(r Record) string { return r.Name })
	for _, r := range p.Records {
		path := "Records[" + r.Name + "]"
		if _, ok := p.Database.Table(r.Table); !ok {
			f.add(path+".Table", quoted(r.Table), "name a declared table")
		}
		if r.Form != nil && !slices.Contains(jsonNames(r.Form), extraField) {
			f.add(path+".Form", fmt.Sprintf("a %T", r.Form), "embed wire.Extended of schema/wire in the struct, "+
				"or leave Form out: the API would show nothing that a team adds")
		}
	}
}

// extraField is the JSON name of the field of wire.Extended.
const extraField = "$extra"

// jsonNames are the names of a struct's fields on the wire.
func jsonNames(form any) (names []string) {
	t := reflect.TypeOf(form)
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func (p Platform) validateExtra(f *findings) {
	p.validateRecords(f)
	f.list = append(f.list, p.unextended...)
	for _, e := range p.Extra {
		record, ok := p.Record(e.Record)
		if !ok {
			continue
		}
		path := "Extra[" + e.Record + "]"
		if len(e.Attributes) == 0 && len(e.Indexes) == 0 {
			f.add(path, "neither attributes nor indexes", "add one, or leave it out")
		}
		for _, a := range e.Attributes {
			at := path + ".Attributes[" + a.Name + "]"
			a.validate(f, at)
			p.validateShown(f, at+".Shown", record, a)
			p.validateWriters(f, at+".Writers", record, a)
		}
	}
	if size := len(EncodeExtra(p.Extra)); len(p.Extra) > 0 && size > maxExtraBytes {
		f.add("Extra", fmt.Sprintf("%d bytes", size), "it stands in the environment of functions, which takes "+
			"%d bytes: add fewer attributes, or shorten their names and the descriptions of those that are shown",
			maxExtraBytes)
	}
}

func (a ExtraAttribute) validate(f *findings, path string) {
	if !matches(extraName, a.Name) {
		f.add(path+".Name", quoted(a.Name), "write up to 64 letters, digits and underscores, a lower-case letter first")
	}
	if a.Description == "" {
		f.add(path+".Description", "", "say what it means")
	}
	switch a.Type {
	case Number, Boolean:
		if a.MaxLength != 0 {
			f.add(path+".MaxLength", fmt.Sprint(a.MaxLength), "a %s has no length: leave it out", a.Type)
		}
	default:
		if a.MaxLength < 1 {
			f.add(path+".MaxLength", fmt.Sprint(a.MaxLength), "say how long a value is at most, 1 or more")
		}
	}
	if (a.Minimum != nil || a.Maximum != nil) && a.Type != Number {
		f.add(path+".Minimum", "limits of a "+string(a.Type), "a Number alone has Minimum and Maximum: leave them out")
	}
	if a.Minimum != nil && a.Maximum != nil && *a.Minimum > *a.Maximum {
		f.add(path+".Minimum", fmt.Sprint(*a.Minimum), "write no more than Maximum, which is %v", *a.Maximum)
	}
}

// validateShown checks that the API can show the attribute.
func (p Platform) validateShown(f *findings, path string, record Record, a ExtraAttribute) {
	if !a.Shown {
		return
	}
	if record.Form == nil {
		f.add(path, "true", "the API of %s has no form of %s: leave it out, and show the attribute by a route of "+
			"your own", p.Title, record.Name)
		return
	}
	if slices.Contains([]Type{Binary, List, Map}, a.Type) {
		f.add(path, "a "+string(a.Type), "the API shows a String, Number, Boolean, StringSet or NumberSet: leave it "+
			"out, or choose another type")
	}
	if slices.Contains(append(jsonNames(record.Form), record.Beside...), a.Name) {
		f.add(path, "true", "%s has a field %q already: choose another name", record.Name, a.Name)
	}
}

// validateWriters checks that each writer is a function that a team has added, and may write the table.
func (p Platform) validateWriters(f *findings, path string, record Record, a ExtraAttribute) {
	if len(a.Writers) == 0 {
		f.add(path, "", "name the functions of your own that write it")
	}
	for i, name := range a.Writers {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !slices.Contains(p.joined, name) {
			f.add(at, quoted(name), "name a function of your own, of Own.Functions: the platform's keep the "+
				"attribute, and never write it")
			continue
		}
		if !slices.ContainsFunc(p.GrantsOf(name), func(g Grant) bool {
			return g.Table == record.Table && (g.Action == PutItem || g.Action == UpdateItem)
		}) {
			f.add(at, quoted(name), "give the function an access pattern that writes %s, of Own.AccessPatterns: "+
				"UpdateItem, PutItem, or a transaction with one", record.Table)
		}
	}
}
