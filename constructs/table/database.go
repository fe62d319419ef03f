package table

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/schema"
)

// DatabaseProps describe all tables of a platform. The zero value of everything
// but Database is the safe default.
type DatabaseProps struct {
	// Database is the data model. Required.
	Database schema.Database
	// Prefix begins the physical table names: "aah" gives "aah-questions".
	// Default: names that AWS CloudFormation makes up.
	Prefix string
	// RemoveWithStack, DeletionProtection and OwnedKey are those of [Props], for
	// every table.
	RemoveWithStack, DeletionProtection, OwnedKey bool
}

// Database is the tables of a platform.
type Database struct {
	constructs.Construct
	// Tables are in the order of the data model.
	Tables []*Table
}

// Tables returns the props of each table, in the order of the data model. Their
// Validate says whether [NewDatabase] would take them.
func (p DatabaseProps) Tables() []Props {
	var list []Props
	for _, t := range p.Database.Tables {
		one := Props{Table: t, RemoveWithStack: p.RemoveWithStack, DeletionProtection: p.DeletionProtection, OwnedKey: p.OwnedKey}
		if p.Prefix != "" {
			one.Name = p.Prefix + "-" + t.PhysicalName
		}
		list = append(list, one)
	}
	return list
}

// NewDatabase declares all tables of a data model; their construct ids are their
// logical names. It panics with the error of [Props.Validate] of the first table
// that is wrong.
func NewDatabase(scope constructs.Construct, id string, p DatabaseProps) *Database {
	d := &Database{}
	constructs.NewConstruct_Override(d, scope, &id)
	for _, t := range p.Tables() {
		d.Tables = append(d.Tables, New(d, t.Table.Name, t))
	}
	return d
}

// Table returns the table of that logical name. It panics if there is none: the
// names are those of the data model.
func (d *Database) Table(name string) *Table {
	for _, t := range d.Tables {
		if t.Schema.Name == name {
			return t
		}
	}
	panic(fmt.Errorf("the database has no table %q", name))
}

// Grant lets the grantee do exactly what the grants say, table by table.
func (d *Database) Grant(grantee awsiam.IGrantable, grants ...schema.Grant) {
	for _, t := range d.Tables {
		if uses(grants, t.Schema.Name) {
			t.Grant(grantee, grants...)
		}
	}
}

// Environment returns the variables in which functions find the tables' physical
// names.
func (d *Database) Environment() map[string]string {
	variables := map[string]string{}
	for _, t := range d.Tables {
		variables[t.Schema.EnvironmentVariable()] = *t.Resource.TableName()
	}
	return variables
}

func uses(grants []schema.Grant, table string) bool {
	for _, g := range grants {
		if g.Table == table {
			return true
		}
	}
	return false
}
