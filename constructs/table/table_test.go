package table_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

var database = schema.Database{
	Tables: []schema.Table{
		{
			Name: "Plain", PhysicalName: "plain", OwnKeyTypes: true,
			Key:        schema.Key{Partition: "id"},
			Attributes: []schema.Attribute{{Name: "id", Type: schema.Binary}},
		},
		{
			Name: "AllOfIt", PhysicalName: "all-of-it",
			Key:        schema.Key{Partition: "id", Sort: "at"},
			TimeToLive: "end",
			Stream:     schema.StreamNewAndOldImages,
			Capacity:   schema.Capacity{ReadUnits: 5, WriteUnits: 3},
			Attributes: []schema.Attribute{
				{Name: "id", Type: schema.String}, {Name: "at", Type: schema.Number},
				{Name: "end", Type: schema.Number},
				{Name: "owner", Type: schema.String}, {Name: "note", Type: schema.String},
			},
			Indexes: []schema.Index{
				{Name: "ByOwner", Key: schema.Key{Partition: "owner", Sort: "at"}, Projection: schema.ProjectInclude,
					Include: []string{"note"}},
				{Name: "ByEnd", Key: schema.Key{Partition: "end"}, Projection: schema.ProjectKeysOnly},
			},
		},
	},
}

func TestMain(m *testing.M) { synthtest.Main(m, declare) }

func declare(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("stack"), nil)
	week := table.DatabaseOptions{Each: map[string]table.Options{"AllOfIt": {RecoveryDays: 7}}}
	kept := table.NewDatabase(stack, "Kept",
		table.DatabaseProps{Database: database, Prefix: "t", DeletionProtection: true, Options: week})
	table.NewDatabase(stack, "Removed",
		table.DatabaseProps{Database: database, RemoveWithStack: true, OwnedKey: true, Options: week})
	role := awsiam.NewRole(stack, jsii.String("Reader"),
		&awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil)})
	grants := []schema.Grant{
		{Action: schema.UpdateItem, Table: "AllOfIt"},
		{Action: schema.Query, Table: "AllOfIt", Index: "ByOwner"},
		{Action: schema.GetItem, Table: "AllOfIt"},
		{Action: schema.GetItem, Table: "AllOfIt"},
		{Action: schema.GetItem, Table: "Nowhere"},
	}
	kept.Grant(role, grants...)
	if *kept.Table("Plain").Grant(role, grants...).Success() {
		panic("a grant on a table that no grant names was made")
	}
	declareOptions(stack)
	declareExisting(stack)
	declareRegional(app)
}

// The golden files have tables with and without options, what roles may do with them, and the
// metadata for onesynth check. A table of a deployment that fails leaves nothing behind,
// unless it or a replica is protected.
func TestGolden(t *testing.T) {
	t.Parallel()
	synthtest.Golden(t, "testdata/golden", "", synthtest.Stacks(t, "stack", "regional"))
}

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	plain := database.Tables[0]
	synthtest.Validate(t, map[string]synthtest.Case[table.Props]{
		"OK":      {table.Props{Table: plain}, nil},
		"Name":    {table.Props{Table: plain, Name: "a.b_c-9"}, nil},
		"ErrZero": {table.Props{}, []string{"Props.Table.Name", "Props.Table.Key.Partition"}},
		"ErrBooleanKey": {table.Props{Table: schema.Table{
			Name: "Flags", Key: schema.Key{Partition: "active"},
			Attributes: []schema.Attribute{{Name: "active", Type: schema.Boolean}},
		}}, []string{"Props.Table.Key.Partition"}},
		"ErrShortName": {table.Props{Table: plain, Name: "ab"}, []string{"Props.Name"}},
		"ErrName":      {table.Props{Table: plain, Name: "a table"}, []string{"Props.Name"}},
		"ErrLongName":  {table.Props{Table: plain, Name: strings.Repeat("a", 256)}, []string{"Props.Name"}},
		"ErrContradicts": {table.Props{Table: plain, RemoveWithStack: true, DeletionProtection: true},
			[]string{"Props.DeletionProtection"}},
		"ErrAll": {table.Props{Name: "-", RemoveWithStack: true, DeletionProtection: true},
			[]string{"Props.Table.Name", "Props.Table.Key.Partition", "Props.Name", "Props.DeletionProtection"}},
	})
}
