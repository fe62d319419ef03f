package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// DatabaseProps describe all tables of a platform. The zero value of everything
// but Database is the safe default.
type DatabaseProps struct {
	// Database is the data model. Required.
	Database schema.Database
	// Prefix is the prefix of the physical table names: "aah" gives "aah-questions". Default: names that AWS
	// CloudFormation makes up.
	Prefix string
	// RemoveWithStack, DeletionProtection and OwnedKey are as in [Props], for every table.
	RemoveWithStack, DeletionProtection, OwnedKey bool
	// Key is as in [Props], for every table that does not exist already.
	Key awskms.IKey
	// Options are the options of the tables. Default: the zero value.
	Options DatabaseOptions
}

// Validate returns a [finding.List] with all invalid props, or nil. It includes the mistakes in the data model.
// [NewDatabase] checks what depends on the stack's region.
func (p DatabaseProps) Validate() error { return p.validate("") }

func (p DatabaseProps) validate(region string) error {
	var f finding.List
	if len(p.Database.Tables) == 0 {
		f.Add("Props.Database.Tables", p.Database.Tables, "at least one table",
			"pass a data model, such as the Database of a schema.Platform")
	}
	f.AddAll(p.Database.Validate(), "", "Props.Database.")
	for _, t := range p.Database.Tables {
		if p.Prefix != "" && !physicalName.MatchString(p.Prefix+"-"+t.PhysicalName) {
			f.Add("Props.Prefix", p.Prefix, "what makes names of 3 to 255 letters, digits, and _ - .",
				"change it, or leave it empty for generated names")
			break
		}
	}
	checkProtection(&f, p.RemoveWithStack, p.DeletionProtection, p.OwnedKey, p.Key, region)
	p.Check(&f, "Props.Options", region)
	return f.Err()
}

// Check adds a finding below path for each of the Options that is invalid. region is the stack's, or "" while it is not
// known: Check then leaves out what depends on it.
func (p DatabaseProps) Check(f *finding.List, path, region string) {
	var found finding.List
	for _, name := range slices.Sorted(maps.Keys(p.Options.Each)) {
		each := fmt.Sprintf("%s.Each[%q]", path, name)
		switch _, ok := p.Database.Table(name); {
		case !ok:
			found.Add(each, name, p.names(), "name a table of the data model")
		case p.Options.Existing[name] != nil:
			found.Add(each, "options", "none for a table that exists", "change the existing table where it is declared")
		}
	}
	used := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Options.Existing)) {
		existing, at := p.Options.Existing[name], fmt.Sprintf("%s.Existing[%q]", path, name)
		t, ok := p.Database.Table(name)
		if !ok {
			found.Add(at, name, p.names(), "name a table of the data model")
			continue
		}
		if !checkExisting(&found, at, existing, t, region) {
			continue
		}
		physical := *existing.TableName()
		if other, twice := used[physical]; twice {
			found.Add(at, "the same table as "+other, "each table once",
				"each would read the items of the other: pass a table of its own")
		}
		used[physical] = name
	}
	for _, one := range p.tables() {
		if one.Existing != nil {
			continue
		}
		at := path + ".All"
		if _, ok := p.Options.Each[one.Table.Name]; ok {
			at = fmt.Sprintf("%s.Each[%q]", path, one.Table.Name)
		}
		one.Options.check(&found, at, one.environment(region))
	}
	// A mistake in All that concerns several tables is reported once.
	said := map[finding.Finding]bool{}
	for _, each := range found {
		if !said[each] {
			said[each] = true
			*f = append(*f, each)
		}
	}
}

func (p DatabaseProps) names() string {
	return strings.Join(props.Map(p.Database.Tables, func(t schema.Table) string { return t.Name }), ", ")
}

// Database is the tables of a platform.
type Database struct {
	constructs.Construct
	props.Location
	// Tables are in the order of the data model.
	Tables []*Table
}

// tables returns the props of each table, in the order of the data model.
func (p DatabaseProps) tables() []Props {
	var list []Props
	for _, t := range p.Database.Tables {
		if existing := p.Options.Existing[t.Name]; existing != nil {
			list = append(list, Props{Table: t, Existing: existing})
			continue
		}
		one := Props{
			Table: t, RemoveWithStack: p.RemoveWithStack, DeletionProtection: p.DeletionProtection,
			OwnedKey: p.OwnedKey, Key: p.Key,
			Options: p.Options.of(t.Name),
		}
		if p.Prefix != "" {
			one.Name = p.Prefix + "-" + t.PhysicalName
		}
		list = append(list, one)
	}
	return list
}

// NewDatabase declares all tables of a data model; their construct ids are their
// logical names. It ends the program, by [props.Fatal], with the error of
// [DatabaseProps.Validate] before it declares anything; the error then includes what
// depends on the stack's region.
func NewDatabase(scope constructs.Construct, id string, p DatabaseProps) *Database {
	location := props.Accept("database", scope, id, p.validate(props.Region(scope)), p.checkNames(scope))
	d := &Database{Location: location}
	constructs.NewConstruct_Override(d, scope, &id)
	p.claimNames(d)
	for _, t := range p.tables() {
		name := t.Table.Name
		d.Tables = append(d.Tables, newTable(d, name, props.LocationBelow(d, name), t))
	}
	return d
}

// claimed is the kind of the marks on the tables that an app declares.
const claimed = "onesynth:table"

// claims returns the marks of the tables with names, by name, in the same account and region as the
// scope. Where these are not known, the marks are of the scope's stack.
func (p DatabaseProps) claims(scope constructs.Construct) map[string]string {
	if p.Prefix == "" {
		return nil
	}
	stack := awscdk.Stack_Of(scope)
	for stack.NestedStackParent() != nil {
		stack = stack.NestedStackParent()
	}
	where := *stack.Account() + "/" + *stack.Region()
	if props.IsToken(where) {
		where = *stack.Node().Path()
	}
	marks := map[string]string{}
	for _, t := range p.tables() {
		if t.Name != "" {
			marks[t.Name] = where + "/" + t.Name
		}
	}
	return marks
}

// checkNames returns a [finding.List] if a table that is declared already has the
// name of one of these: DynamoDB would refuse the second.
func (p DatabaseProps) checkNames(scope constructs.Construct) error {
	if p.Prefix == "" || props.Region(scope) == "" {
		return nil
	}
	var f finding.List
	marks, taken := p.claims(scope), props.Marked(scope, claimed)
	for _, t := range p.tables() {
		if taken[marks[t.Name]] {
			f.Add("Props.Prefix", p.Prefix, "one that names no other tables of the stack, or of its account and region",
				"choose another: there is a table "+t.Name+" already")
			break
		}
	}
	return f.Err()
}

// claimNames remembers the names for [DatabaseProps.checkNames].
func (p DatabaseProps) claimNames(scope constructs.Construct) {
	if marks := p.claims(scope); len(marks) > 0 {
		props.Mark(scope, claimed, slices.Sorted(maps.Values(marks))...)
	}
}

// Table returns the table of that logical name. It ends the program, by [props.Fatal], if the data
// model has no table of that name.
func (d *Database) Table(name string) *Table {
	for _, t := range d.Tables {
		if t.Schema.Name == name {
			return t
		}
	}
	props.Fatal(fmt.Errorf("the database has no table %q: spell it as the data model does", name))
	return nil
}

// Grant lets the grantee do exactly what the grants say, table by table.
func (d *Database) Grant(grantee awsiam.IGrantable, grants ...schema.Grant) {
	for _, t := range d.Tables {
		if slices.ContainsFunc(grants, func(g schema.Grant) bool { return g.Table == t.Schema.Name }) {
			t.grant(grantee, grants)
		}
	}
}

// Environment returns the variables in which functions find the tables' physical
// names.
func (d *Database) Environment() map[string]string {
	variables := map[string]string{}
	for _, t := range d.Tables {
		variables[t.Schema.EnvironmentVariable()] = t.tableName()
	}
	return variables
}
