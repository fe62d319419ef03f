package table_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

var database = schema.Database{
	Tables: []schema.Table{
		{
			Name: "Plain", PhysicalName: "plain",
			Key:        schema.Key{Partition: "id"},
			Attributes: []schema.Attribute{{Name: "id", Type: schema.Binary}},
		},
		{
			Name: "AllOfIt", PhysicalName: "all-of-it",
			Key:          schema.Key{Partition: "id", Sort: "at"},
			TimeToLive:   "end",
			Stream:       schema.StreamNewAndOldImages,
			Capacity:     schema.Capacity{ReadUnits: 5, WriteUnits: 3},
			RecoveryDays: 7,
			Attributes: []schema.Attribute{
				{Name: "id", Type: schema.String}, {Name: "at", Type: schema.Number}, {Name: "end", Type: schema.Number},
				{Name: "owner", Type: schema.String}, {Name: "note", Type: schema.String},
			},
			Indexes: []schema.Index{
				{Name: "ByOwner", Key: schema.Key{Partition: "owner", Sort: "at"}, Projection: schema.ProjectInclude, Include: []string{"note"}},
				{Name: "ByEnd", Key: schema.Key{Partition: "end"}, Projection: schema.ProjectKeysOnly},
			},
		},
	},
}

var synthesised, regional synthtest.Template

func TestMain(m *testing.M) {
	synthtest.Main(m, declare, func(folder string) error {
		var err error
		if synthesised, err = synthtest.Load(folder, "stack"); err != nil {
			return err
		}
		if regional, err = synthtest.Load(folder, "regional"); err != nil {
			return err
		}
		return readDescriptions(folder)
	})
}

func declare(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("stack"), nil)
	kept := table.NewDatabase(stack, "Kept", table.DatabaseProps{Database: database, Prefix: "t", DeletionProtection: true})
	table.NewDatabase(stack, "Removed", table.DatabaseProps{Database: database, RemoveWithStack: true, OwnedKey: true})
	role := awsiam.NewRole(stack, jsii.String("Reader"), &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil)})
	grants := []schema.Grant{
		{Operation: schema.UpdateItem, Table: "AllOfIt"},
		{Operation: schema.Query, Table: "AllOfIt", Index: "ByOwner"},
		{Operation: schema.GetItem, Table: "AllOfIt"},
		{Operation: schema.GetItem, Table: "AllOfIt"},
		{Operation: schema.GetItem, Table: "Nowhere"},
	}
	kept.Grant(role, grants...)
	if *kept.Table("Plain").Grant(role, grants...).Success() {
		panic("a grant on a table that no grant names was made")
	}
	declareOptions(stack)
	declareExisting(stack)
	declareRegional(app)
}

// find returns the table whose logical id begins so.
func find(t *testing.T, prefix string) (map[string]any, string) {
	t.Helper()
	return findIn(t, synthesised, prefix)
}

func findIn(t *testing.T, template synthtest.Template, prefix string) (map[string]any, string) {
	t.Helper()
	for id, r := range template.Resources {
		if r.Type == "AWS::DynamoDB::GlobalTable" && strings.HasPrefix(id, prefix) {
			return r.Properties, r.DeletionPolicy
		}
	}
	t.Fatalf("no table %s", prefix)
	return nil, ""
}

func TestPlain(t *testing.T) {
	t.Parallel()
	got, policy := find(t, "KeptPlain")
	want := map[string]any{
		"TableName":            "t-plain",
		"AttributeDefinitions": []any{map[string]any{"AttributeName": "id", "AttributeType": "B"}},
		"KeySchema":            []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}},
		"BillingMode":          "PAY_PER_REQUEST",
		"SSESpecification":     map[string]any{"SSEEnabled": true, "SSEType": "KMS"},
		"Replicas": []any{map[string]any{
			"Region":                           map[string]any{"Ref": "AWS::Region"},
			"DeletionProtectionEnabled":        true,
			"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35.0},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" || policy != "Retain" {
		t.Errorf("policy %s, table (-want +got):\n%s", policy, diff)
	}
}

// A table of a deployment that fails leaves nothing behind, unless it or a replica is
// protected: what has been in use stays.
func TestRemoval(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		template    synthtest.Template
		table, want string
	}{
		{synthesised, "KeptPlain", "Retain"},
		{synthesised, "ChosenPlain", "RetainExceptOnCreate"},
		{synthesised, "RemovedPlain", "Delete"},
		{regional, "Replicated", "Retain"},
		{regional, "ScaledEverywhere", "RetainExceptOnCreate"},
	} {
		if _, got := findIn(t, test.template, test.table); got != test.want {
			t.Errorf("%s: got the deletion policy %s, want %s", test.table, got, test.want)
		}
	}
}

func TestAllOfIt(t *testing.T) {
	t.Parallel()
	got, policy := find(t, "RemovedAllOfIt")
	if policy != "Delete" || got["TableName"] != nil {
		t.Errorf("got policy %s and name %v, want Delete and none", policy, got["TableName"])
	}
	want := map[string]any{
		"BillingMode":             "PROVISIONED",
		"SSESpecification":        map[string]any{"SSEEnabled": false},
		"StreamSpecification":     map[string]any{"StreamViewType": "NEW_AND_OLD_IMAGES"},
		"TimeToLiveSpecification": map[string]any{"AttributeName": "end", "Enabled": true},
		"KeySchema": []any{
			map[string]any{"AttributeName": "id", "KeyType": "HASH"},
			map[string]any{"AttributeName": "at", "KeyType": "RANGE"},
		},
	}
	for property, value := range want {
		if diff := cmp.Diff(value, got[property]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", property, diff)
		}
	}
	scaling := func(v any) string {
		m, _ := v.(map[string]any)
		for _, settings := range m {
			s := settings.(map[string]any)
			return fmt.Sprint(s["MinCapacity"], " to ", s["MaxCapacity"])
		}
		return "none"
	}
	if s := scaling(got["WriteProvisionedThroughputSettings"]); s != "3 to 30" {
		t.Errorf("write capacity: got %s, want 3 to 30", s)
	}
	replica := got["Replicas"].([]any)[0].(map[string]any)
	if s := scaling(replica["ReadProvisionedThroughputSettings"]); s != "5 to 50" {
		t.Errorf("read capacity: got %s, want 5 to 50", s)
	}
	if days := replica["PointInTimeRecoverySpecification"].(map[string]any)["RecoveryPeriodInDays"]; days != 7.0 {
		t.Errorf("recovery: got %v days, want 7", days)
	}
	var indexes []string
	for _, i := range got["GlobalSecondaryIndexes"].([]any) {
		index := i.(map[string]any)
		indexes = append(indexes, fmt.Sprint(index["IndexName"], " ", index["Projection"]))
	}
	if diff := cmp.Diff([]string{"ByOwner map[NonKeyAttributes:[note] ProjectionType:INCLUDE]", "ByEnd map[ProjectionType:KEYS_ONLY]"}, indexes); diff != "" {
		t.Errorf("indexes (-want +got):\n%s", diff)
	}
}

// One statement for the table and one for the index, with exactly the actions of
// the grants, each once and sorted.
func TestGrant(t *testing.T) {
	t.Parallel()
	var got []string
	for id, r := range synthesised.Resources {
		if r.Type != "AWS::IAM::Policy" || !strings.HasPrefix(id, "Reader") {
			continue
		}
		for _, s := range r.Properties["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			statement := s.(map[string]any)
			resource := "table"
			if join, ok := statement["Resource"].(map[string]any)["Fn::Join"].([]any); ok {
				resource = fmt.Sprint(join[1].([]any)[1])
			}
			got = append(got, fmt.Sprint(statement["Action"], " ", resource))
		}
	}
	want := []string{"[dynamodb:GetItem dynamodb:UpdateItem] table", "dynamodb:Query /index/ByOwner"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	plain := database.Tables[0]
	tests := map[string]struct {
		props table.Props
		paths []string
	}{
		"OK":      {table.Props{Table: plain}, nil},
		"Name":    {table.Props{Table: plain, Name: "a.b_c-9"}, nil},
		"ErrZero": {table.Props{}, []string{"Props.Table.Name", "Props.Table.Key.Partition"}},
		"ErrBooleanKey": {table.Props{Table: schema.Table{
			Name: "Flags", Key: schema.Key{Partition: "active"}, Attributes: []schema.Attribute{{Name: "active", Type: schema.Boolean}},
		}}, []string{"Props.Table.Key.Partition"}},
		"ErrShortName":   {table.Props{Table: plain, Name: "ab"}, []string{"Props.Name"}},
		"ErrName":        {table.Props{Table: plain, Name: "a table"}, []string{"Props.Name"}},
		"ErrLongName":    {table.Props{Table: plain, Name: strings.Repeat("a", 256)}, []string{"Props.Name"}},
		"ErrContradicts": {table.Props{Table: plain, RemoveWithStack: true, DeletionProtection: true}, []string{"Props.DeletionProtection"}},
		"ErrAll":         {table.Props{Name: "-", RemoveWithStack: true, DeletionProtection: true}, []string{"Props.Table.Name", "Props.Table.Key.Partition", "Props.Name", "Props.DeletionProtection"}},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		test := tests[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.paths, synthtest.Paths(t, test.props.Validate())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// The template's metadata has the data model of each table, which onesynth check compares.
func TestModel(t *testing.T) {
	t.Parallel()
	var id string
	for logical := range synthesised.OfType("AWS::DynamoDB::GlobalTable") {
		if strings.HasPrefix(logical, "KeptAllOfIt") {
			id = logical
		}
	}
	want := map[string]any{
		"table": "AllOfIt", "resource": id, "key": "id S HASH, at N RANGE", "timeToLive": "end", "stream": "NEW_AND_OLD_IMAGES",
		"attributes": map[string]any{"id": "String", "at": "Number", "end": "Number", "owner": "String", "note": "String"},
		"indexes":    map[string]any{"ByOwner": "owner S HASH, at N RANGE; INCLUDE note", "ByEnd": "end N HASH; KEYS_ONLY"},
	}
	if diff := cmp.Diff(want, synthesised.Metadata["onesynth:Kept/AllOfIt"]); diff != "" {
		t.Errorf("data model (-want +got):\n%s", diff)
	}
	// A table that exists already has items, although the template has no resource for it.
	delete(want, "resource")
	if diff := cmp.Diff(want, synthesised.Metadata["onesynth:Existing/AllOfIt"]); diff != "" {
		t.Errorf("data model of an existing table (-want +got):\n%s", diff)
	}
}
