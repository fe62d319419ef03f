package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

type extendable struct {
	ID    string `json:"id"`
	Extra string `json:"$extra,omitempty"` // as that of wire.Extended
}

// extending is a platform with records, a lake, and a function that a team has added.
func extending(extra ...schema.Extra) schema.Platform {
	text := func(name string) schema.Attribute { return schema.Attribute{Name: name, Type: schema.String} }
	return schema.Platform{
		Name: "own", Title: "Own",
		Database: schema.Database{
			Tables: []schema.Table{{Name: "Things", PhysicalName: "things", Stream: schema.StreamNewAndOldImages,
				Key: schema.Key{Partition: "key"}, Attributes: []schema.Attribute{text("key"), text("name")},
				Indexes: []schema.Index{{Name: "ByName", Key: schema.Key{Partition: "name"}}}}},
			AccessPatterns: []schema.AccessPattern{
				schema.PutItem.Pattern("Store", "Things", "Stores a thing.").UsedBy("things"),
				schema.GetItem.Pattern("Look", "Things", "Reads a thing.").UsedBy("things"),
			},
		},
		Functions: []schema.Function{{Name: "things", Trigger: schema.OnOther{}}},
		Records: []schema.Record{
			{Name: "Thing", Table: "Things", Form: extendable{}, Entity: "thing"}, {Name: "Note", Table: "Things"},
		},
		Lakes: []schema.Lake{{Name: "own", Table: "Things",
			Entities: []schema.Entity{{Name: "thing", PartitionPrefix: "THING#",
				Columns: []schema.Column{{Name: "key"}, {Name: "name"}, {Name: "name_before", Attribute: "name",
					Before: true}}}},
			Views: []schema.View{{Name: "things", Lists: "thing", SQL: "SELECT key, name, 1 AS one FROM thing_changes",
				Columns: []schema.Column{{Name: "key", Type: schema.ColumnText},
					{Name: "name", Type: schema.ColumnText}, {Name: "one", Type: schema.ColumnInteger}}}},
		}},
	}.Extended(extra...).Join(schema.Own{
		Functions: []schema.Function{{Name: "labels", Trigger: schema.OnOther{}},
			{Name: "reader", Trigger: schema.OnOther{}}},
		AccessPatterns: []schema.AccessPattern{
			schema.UpdateItem.Pattern("Label", "Things", "Labels a thing.").UsedBy("labels"),
			schema.Existing("Look").UsedBy("reader"),
		},
	})
}

// label is an attribute that a team adds.
func label(change func(*schema.ExtraAttribute)) schema.ExtraAttribute {
	a := schema.ExtraAttribute{Attribute: schema.Attribute{Name: "label", Type: schema.String, Description: "Label"},
		MaxLength: 20, Writers: []string{"labels"}}
	if change != nil {
		change(&a)
	}
	return a
}

// What a team has added is in tables, grants, lakes and their views; the platform itself stays as it was.
func TestExtended(t *testing.T) {
	t.Parallel()
	weight := schema.ExtraAttribute{Attribute: schema.Attribute{Name: "weight", Type: schema.Number,
		Description: "Weight"}, Minimum: new(0.0), Maximum: new(9.5), Writers: []string{"labels"}, Shown: true}
	hidden := label(func(a *schema.ExtraAttribute) { a.Name, a.Column = "hidden", schema.NoColumn })
	extra := schema.Extra{Record: "Thing", Attributes: []schema.ExtraAttribute{label(nil), weight, hidden},
		Indexes: []schema.Index{{Name: "ByLabel", Key: schema.Key{Partition: "label", Sort: "name"}}}}
	plain, p := extending(), extending(extra)
	must.OK(t, p.Validate())
	table := p.Database.Tables[0]
	if _, ok := table.Index("ByLabel"); !ok || len(table.Attributes) != 5 || len(table.Extra) != 3 {
		t.Errorf("the table is %+v", table)
	}
	columns := p.Lakes[0].Entities[0].ColumnsOf(table)
	if got := columns[len(columns)-1]; len(columns) != 5 || got.Name != "weight" || got.Type != schema.ColumnDecimal {
		t.Errorf("the lake has the columns %+v, want label and the weight as a decimal at the end", columns)
	}
	view := p.Lakes[0].Views[0]
	if view.SQL != "SELECT key, name, label, weight, 1 AS one FROM thing_changes" || view.Columns[3].Name != "weight" ||
		len(view.Columns) != 5 {
		t.Errorf("the view is %+v", view)
	}
	update := schema.Grant{Action: schema.UpdateItem, Table: "Things"}
	if got := p.GrantsOf("things"); !slices.Contains(got, update) || len(got) != 3 {
		t.Errorf("the platform's function is granted %v, want to keep what is added, too", got)
	}
	if got := plain.GrantsOf("things"); slices.Contains(got, update) || len(plain.Database.Tables[0].Attributes) != 2 ||
		strings.Contains(plain.Lakes[0].Views[0].SQL, "label") {
		t.Errorf("without anything it is %+v, granted %v", plain, got)
	}
	read, err := schema.ReadExtra(schema.EncodeExtra(p.Extra))
	if err != nil || len(read) != 1 || len(read[0].Attributes) != 3 || *read[0].Attributes[1].Maximum != 9.5 ||
		!read[0].Attributes[1].Shown || read[0].Attributes[0].Writers[0] != "labels" {
		t.Errorf("functions read %+v, %v", read, err)
	}
	if _, err := schema.ReadExtra("[{"); err == nil {
		t.Error("functions read half of it")
	}
}

// Everything that cannot be added is refused, with the place and what to do.
func TestExtraRefused(t *testing.T) {
	t.Parallel()
	of := func(change func(*schema.ExtraAttribute)) schema.Extra {
		return schema.Extra{Record: "Thing", Attributes: []schema.ExtraAttribute{label(change)}}
	}
	index := func(name, key string) schema.Extra {
		return schema.Extra{Record: "Thing", Indexes: []schema.Index{{Name: name, Key: schema.Key{Partition: key}}}}
	}
	var many schema.Extra
	for i := range 20 {
		many.Indexes = append(many.Indexes, index("Another"+string(rune('A'+i)), "name").Indexes...)
	}
	many.Record = "Thing"
	var long []schema.ExtraAttribute
	for i := range 20 {
		long = append(long, label(func(a *schema.ExtraAttribute) {
			a.Name, a.Description, a.Shown = "label"+string(rune('a'+i)), strings.Repeat("long ", 20), true
		}))
	}
	for path, c := range map[string]struct {
		extra  schema.Extra
		remedy string
	}{
		"Extra[Nothing].Record": {schema.Extra{Record: "Nothing"},
			"name a record of Own: Thing (of the table Things), Note"},
		"Extra[Thing]": {schema.Extra{Record: "Thing"}, "add one"},
		"Extra[Thing].Attributes[name].Name": {of(func(a *schema.ExtraAttribute) { a.Name = "name" }),
			"items of Things have an attribute of this name"},
		"Extra[Thing].Attributes[$label].Name": {of(func(a *schema.ExtraAttribute) { a.Name = "$label" }),
			"a lower-case letter first"},
		"Extra[Thing].Attributes[label].Description": {of(func(a *schema.ExtraAttribute) { a.Description = "" }),
			"say what it means"},
		"Tables[Things].Attributes[label].Type": {of(func(a *schema.ExtraAttribute) { a.Type = "Text" }),
			"write String"},
		"Extra[Thing].Attributes[label].MaxLength": {of(func(a *schema.ExtraAttribute) { a.MaxLength = 0 }),
			"say how long"},
		"Extra[Thing].Attributes[number].MaxLength": {of(func(a *schema.ExtraAttribute) {
			a.Name, a.Type = "number", schema.Number
		}), "a Number has no length"},
		"Extra[Thing].Attributes[label].Minimum": {of(func(a *schema.ExtraAttribute) { a.Minimum = new(1.0) }),
			"a Number alone has"},
		"Extra[Thing].Attributes[number].Minimum": {of(func(a *schema.ExtraAttribute) {
			a.Name, a.Type, a.MaxLength, a.Minimum, a.Maximum = "number", schema.Number, 0, new(2.0), new(1.0)
		}), "no more than Maximum, which is 1"},
		"Extra[Thing].Attributes[id].Shown": {of(func(a *schema.ExtraAttribute) { a.Name, a.Shown = "id", true }),
			"Thing has a field"},
		"Extra[Thing].Attributes[map].Shown": {of(func(a *schema.ExtraAttribute) {
			a.Name, a.Type, a.Shown = "map", schema.Map, true
		}), "the API shows a String"},
		"Extra[Note].Attributes[label].Shown": {schema.Extra{Record: "Note", Attributes: []schema.ExtraAttribute{
			label(func(a *schema.ExtraAttribute) { a.Shown = true })}}, "the API of Own has no form of Note"},
		"Extra[Thing].Attributes[label].Writers": {of(func(a *schema.ExtraAttribute) { a.Writers = nil }),
			"name the functions"},
		"Extra[Thing].Attributes[label].Writers[0]": {of(func(a *schema.ExtraAttribute) {
			a.Writers = []string{"things"}
		}), "a function of your own"},
		"Extra[Thing].Attributes[label].Writers[1]": {of(func(a *schema.ExtraAttribute) {
			a.Writers = []string{"labels", "reader"}
		}), "an access pattern that writes Things"},
		"Lakes[own].Entities[thing].Columns[label].Type": {of(func(a *schema.ExtraAttribute) {
			a.Column = schema.ColumnInteger
		}), "a column of this type is made of"},
		"Extra[Thing].Indexes[ByName].Name":              {index("ByName", "key"), "an index of this name"},
		"Tables[Things].Indexes[ByColour].Key.Partition": {index("ByColour", "colour"), "declare the attribute"},
		"Tables[Things].Indexes":                         {many, "DynamoDB allows 20"},
		"Extra": {schema.Extra{Record: "Thing", Attributes: long},
			"takes 2048 bytes"},
	} {
		err := extending(c.extra).Validate()
		found, ok := errors.AsType[finding.List](err)
		if !ok || !slices.ContainsFunc(found, func(f finding.Finding) bool {
			return f.Path == path && strings.Contains(f.Remedy, c.remedy)
		}) {
			t.Errorf("%s: got %v, want a finding there that says %q", path, err, c.remedy)
		}
	}
	ofNote := schema.Extra{Record: "Note", Attributes: []schema.ExtraAttribute{label(nil)}}
	twice := extending(of(nil), ofNote).Validate()
	if twice == nil || !strings.Contains(twice.Error(), "Extra[Note].Attributes[label].Name") {
		t.Errorf("one name in two records of a table: got %v", twice)
	}
}

// A record that could not show what a team adds, or has no table, is refused.
func TestRecordsRefused(t *testing.T) {
	t.Parallel()
	p := extending()
	p.Records = append(p.Records, schema.Record{Name: "Note", Table: "Things", Form: struct{}{}},
		schema.Record{Name: "Other", Table: "Others", Form: 1})
	found, _ := errors.AsType[finding.List](p.Validate())
	var paths []string
	for _, f := range found {
		paths = append(paths, f.Path)
	}
	want := "Records[2] Records[Note].Form Records[Other].Table Records[Other].Form"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
