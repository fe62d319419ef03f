// Package table makes DynamoDB tables from the tables that package schema
// describes, and grants from its access patterns: each action on each table or index
// by name.
//
// [NewDatabase] declares all tables of a data model, [New] a single one. [Options] are
// the settings of DynamoDB beyond the schema.
package table

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Props describe a table. The zero value of everything but Table is the safe
// default.
type Props struct {
	// Table is the table's description. Required.
	Table schema.Table
	// Name is the physical name. Default: one that AWS CloudFormation makes up, so
	// that a table can be replaced.
	Name string
	// RemoveWithStack deletes the table and its data with the stack. Default: the
	// table outlives the stack.
	RemoveWithStack bool
	// DeletionProtection makes DynamoDB refuse to delete the table. Default: off.
	DeletionProtection bool
	// OwnedKey encrypts with a key that DynamoDB owns, which costs nothing and
	// leaves no trace in AWS CloudTrail. Default: the account's AWS managed key
	// aws/dynamodb. Data is encrypted at rest either way.
	OwnedKey bool
	// Key is a customer managed key that encrypts the table. [Table.Grant] then lets grantees use it through DynamoDB;
	// the key's policy has to leave that to IAM, as a CDK key's does. Default: see OwnedKey.
	Key awskms.IKey
	// Options are what DynamoDB offers beyond that. Default: the zero value.
	Options Options
	// Existing is a table to use instead of declaring one: see [DatabaseOptions.Existing]. Set nothing else but Table
	// then. Default: [New] declares a table.
	Existing awsdynamodb.ITable
}

// physicalName is what DynamoDB takes ("Naming rules", DynamoDB developer guide).
var physicalName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// Validate returns a [finding.List] with all invalid props, or nil. It includes the mistakes in the description, such
// as a Boolean as a key. [New] checks what depends on the stack's region.
func (p Props) Validate() error { return p.validate("") }

func (p Props) validate(region string) error {
	var f finding.List
	described := p.Table
	if described.PhysicalName == "" {
		// Only a database that gives its tables names needs it.
		described.PhysicalName = "unnamed"
	}
	f.AddAll(schema.Database{Tables: []schema.Table{described}}.Validate(), "Tables["+described.Name+"]", "Props.Table")
	if p.Name != "" && !physicalName.MatchString(p.Name) {
		f.Add("Props.Name", p.Name, "3 to 255 letters, digits, and _ - .",
			"change it, or leave it empty for a generated name")
	}
	checkProtection(&f, p.RemoveWithStack, p.DeletionProtection, p.OwnedKey, p.Key, region)
	if p.Existing != nil {
		checkExisting(&f, "Props.Existing", p.Existing, p.Table, region)
		if !reflect.ValueOf(p.Options).IsZero() {
			f.Add("Props.Options", "options", "none with Existing", "change the existing table where it is declared")
		}
	} else {
		p.Options.check(&f, "Props.Options", p.environment(region))
	}
	return f.Err()
}

func (p Props) environment(region string) environment {
	return environment{table: p.Table, customerKey: p.Key != nil, removed: p.RemoveWithStack, region: region}
}

// checkProtection checks what [Props] and [DatabaseProps] have in common.
func checkProtection(f *finding.List, removeWithStack, deletionProtection, ownedKey bool, of awskms.IKey,
	region string) {
	props.CheckRemoval(f, "Props.DeletionProtection", removeWithStack, deletionProtection)
	if ownedKey && of != nil {
		f.Add("Props.OwnedKey", true, "false with a Key", "choose: one key encrypts the table")
	}
	key.Check(f, "Props.Key", of, region)
}

// checkExisting adds a finding at path if the table lacks what the description
// needs, or is out of reach. It reports whether there is one.
func checkExisting(f *finding.List, path string, existing awsdynamodb.ITable, t schema.Table, region string) bool {
	if props.IsNil(existing) {
		f.Add(path, nil, "a table", "pass one, or leave it out to declare it")
		return false
	}
	props.CheckResource(f, path, existing, region)
	key.Check(f, path+".EncryptionKey", existing.EncryptionKey(), region)
	if t.Stream != schema.StreamNone && existing.TableStreamArn() == nil {
		f.Add(path, "a table without the ARN of a stream", "a table with a stream of "+string(t.Stream)+" for "+t.Name,
			"import it by TableV2_FromTableAttributes, with TableStreamArn")
	}
	return true
}

// Table is a DynamoDB table.
type Table struct {
	constructs.Construct
	props.Location
	// Resource is the table: an [awsdynamodb.TableV2], unless it exists already.
	Resource awsdynamodb.ITable
	// Schema is the table's description.
	Schema schema.Table
	// Key is the customer managed key that encrypts it, or nil.
	Key awskms.IKey
	// Replicated says that it has replicas in other regions. It is false for an existing table, whose replicas are not
	// known.
	Replicated bool

	// arn and name are read once: each reading is a call to the CDK's process.
	arn, name string
	readers   int
}

// New declares a table. It ends the program, by [props.Fatal], with the error of
// [Props.Validate] before it declares anything; the error then includes what depends on
// the stack's region.
func New(scope constructs.Construct, id string, p Props) *Table {
	return newTable(scope, id, props.Accept("table", scope, id, p.validate(props.Region(scope))), p)
}

// newTable declares the table of valid props.
func newTable(scope constructs.Construct, id string, location props.Location, p Props) *Table {
	if len(p.Options.Replicas) > 0 && p.Table.Stream != schema.StreamNone {
		p.Table.Stream = schema.StreamNewAndOldImages // replication needs them
	}
	t := &Table{Location: location, Schema: p.Table, Key: p.Key,
		Replicated: p.Existing == nil && len(p.Options.Replicas) > 0}
	constructs.NewConstruct_Override(t, scope, &id)
	if p.Existing != nil {
		t.Resource, t.Key = p.Existing, p.Existing.EncryptionKey()
		t.describe()
		t.addMetadata(nil)
		return t
	}
	declared, resource := declare(t, p)
	t.Resource = declared
	t.addMetadata(resource)
	return t
}

// Grant lets the grantee do exactly what the grants say: each action on the table, or on the one index that the grant
// names. It leaves out grants on other tables, so you can pass all grants of a function.
func (t *Table) Grant(grantee awsiam.IGrantable, grants ...schema.Grant) awsiam.Grant {
	added := t.grant(grantee, grants)
	if len(added) == 0 {
		return awsiam.Grant_Drop(grantee, jsii.String("no access pattern uses table "+t.Schema.Name))
	}
	all := added[0]
	for _, grant := range added[1:] {
		all = all.Combine(grant)
	}
	return all
}

// grant is [Table.Grant], and returns a grant for each statement.
func (t *Table) grant(grantee awsiam.IGrantable, grants []schema.Grant) []awsiam.Grant {
	actions := map[string][]string{}
	for _, g := range grants {
		if g.Table == t.Schema.Name {
			actions[g.Index] = append(actions[g.Index], "dynamodb:"+string(g.Action))
		}
	}
	var added []awsiam.Grant
	for _, index := range slices.Sorted(maps.Keys(actions)) {
		arn := t.tableARN()
		if index != "" {
			arn += "/index/" + index
		}
		sorted := slices.Compact(slices.Sorted(slices.Values(actions[index])))
		added = append(added, awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
			Grantee:      grantee,
			Actions:      jsii.Strings(sorted...),
			ResourceArns: jsii.Strings(arn),
		}))
	}
	if len(added) > 0 && t.Key != nil {
		added = append(added, key.Allow(t, grantee, t.Key, "dynamodb", useTable))
	}
	return added
}

func (t *Table) tableARN() string {
	if t.arn == "" {
		t.arn = *t.Resource.TableArn()
	}
	return t.arn
}

func (t *Table) tableName() string {
	if t.name == "" {
		t.name = *t.Resource.TableName()
	}
	return t.name
}

// The actions on a customer managed key that a user of its table, or of the table's
// stream, needs ("DynamoDB encryption at rest", authorizing use of a customer managed key).
var (
	useTable = []string{
		"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext",
		"kms:ReEncryptFrom", "kms:ReEncryptTo",
	}
	readStream = []string{"kms:Decrypt", "kms:DescribeKey"}
)

// maxReaders and maxReadersReplicated are how many functions may read a shard of a stream
// at once ("Using AWS Lambda with Amazon DynamoDB", simultaneous readers).
const maxReaders, maxReadersReplicated = 2, 1

// addReader counts a reader of the stream, and warns at the synth of the first that is one
// too many.
func (t *Table) addReader() {
	t.readers++
	most, which := maxReaders, ""
	if t.Replicated {
		most, which = maxReadersReplicated, ", which has replicas"
	}
	if t.readers != most+1 {
		return
	}
	awscdk.Annotations_Of(t).AddWarningV2(jsii.String("@onesynth/table:streamReaders"), jsii.String(fmt.Sprintf(
		"more than %d read the stream of the table %s%s: DynamoDB throttles them, and what is read too late is lost "+
			"after 24 hours; let one function pass changes on to others",
		most, t.Schema.Name, which)))
}

// GrantStream lets the grantee read the table's stream, and no other. Each call counts as a reader. A synth warns of
// more readers than a shard allows at once: two, or one if the table has replicas. It ends the program, by
// [props.Fatal], if the table has no stream.
func (t *Table) GrantStream(grantee awsiam.IGrantable) awsiam.Grant {
	stream := t.Resource.TableStreamArn()
	if stream == nil {
		props.Fatal(fmt.Errorf("table %s has no stream: set its Stream in the schema", t.Schema.Name))
	}
	t.addReader()
	// The CDK's own grant allows ListStreams on everything. These are what an event
	// source mapping needs, on what it needs them ("IAM policy to allow an AWS Lambda
	// function to access DynamoDB stream records").
	grant := awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee: grantee,
		Actions: jsii.Strings("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator",
			"dynamodb:ListStreams"),
		ResourceArns: jsii.Strings(*stream),
	})
	if t.Key != nil {
		grant = grant.Combine(key.Allow(t, grantee, t.Key, "dynamodb", readStream))
	}
	return grant
}
