// Package table makes DynamoDB tables of the tables that package schema
// describes.
package table

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// defaultRecoveryDays is the longest that point-in-time recovery reaches back
// ("Point-in-time recovery", DynamoDB developer guide).
const defaultRecoveryDays = 35

// growth is how far above its declared units provisioned capacity may scale.
const growth = 10

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
}

// physicalName is what DynamoDB takes ("Naming rules", DynamoDB developer guide).
var physicalName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// Validate returns a [*props.Error] with all invalid props, or nil. What is wrong
// with the description itself, such as a Boolean as a key, is among them.
func (p Props) Validate() error {
	var f props.Findings
	described := p.Table
	if described.PhysicalName == "" {
		// Only a database that gives its tables names needs it.
		described.PhysicalName = "unnamed"
	}
	var wrong schema.Findings
	if errors.As(schema.Database{Tables: []schema.Table{described}}.Validate(), &wrong) {
		for _, finding := range wrong {
			_, path, _ := strings.Cut(finding.Path, "]")
			f.Append(props.Finding{Path: "Props.Table" + path, Got: finding.Got, Allowed: "what DynamoDB takes", Remedy: finding.Remedy})
		}
	}
	if p.Name != "" && !physicalName.MatchString(p.Name) {
		f.Add("Props.Name", p.Name, "3 to 255 letters, digits, and _ - .", "change it, or leave it empty for a generated name")
	}
	if p.RemoveWithStack && p.DeletionProtection {
		f.Add("Props.DeletionProtection", true, "false with RemoveWithStack", "a protected table cannot be removed with its stack: set one of the two")
	}
	return f.Err()
}

// Table is a DynamoDB table.
type Table struct {
	constructs.Construct
	// Resource is the table.
	Resource awsdynamodb.TableV2
	// Schema is what it was made of.
	Schema schema.Table
}

// New declares a table. It panics with the error of [Props.Validate] before it
// declares anything.
func New(scope constructs.Construct, id string, p Props) *Table {
	if err := p.Validate(); err != nil {
		panic(fmt.Errorf("table %s: %w", id, err))
	}
	t := &Table{Schema: p.Table}
	constructs.NewConstruct_Override(t, scope, &id)
	partition, sort := key(p.Table, p.Table.Key)
	recovery := p.Table.RecoveryDays
	if recovery == 0 {
		recovery = defaultRecoveryDays
	}
	description := &awsdynamodb.TablePropsV2{
		PartitionKey:           partition,
		SortKey:                sort,
		GlobalSecondaryIndexes: indexes(p.Table),
		Billing:                billing(p.Table.Capacity),
		DynamoStream:           awsdynamodb.StreamViewType(p.Table.Stream),
		Encryption:             awsdynamodb.TableEncryptionV2_AwsManagedKey(),
		DeletionProtection:     &p.DeletionProtection,
		RemovalPolicy:          awscdk.RemovalPolicy_RETAIN,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
			RecoveryPeriodInDays:       jsii.Number(recovery),
		},
	}
	if p.OwnedKey {
		description.Encryption = awsdynamodb.TableEncryptionV2_DynamoOwnedKey()
	}
	if p.RemoveWithStack {
		description.RemovalPolicy = awscdk.RemovalPolicy_DESTROY
	}
	if p.Name != "" {
		description.TableName = &p.Name
	}
	if p.Table.TimeToLive != "" {
		description.TimeToLiveAttribute = &p.Table.TimeToLive
	}
	t.Resource = awsdynamodb.NewTableV2(t, jsii.String("Resource"), description)
	return t
}

// key returns the attributes of a key; the second is nil without a sort key.
func key(t schema.Table, k schema.Key) (partition, sort *awsdynamodb.Attribute) {
	partition = attribute(t, k.Partition)
	if k.Sort != "" {
		sort = attribute(t, k.Sort)
	}
	return partition, sort
}

func attribute(t schema.Table, name string) *awsdynamodb.Attribute {
	a, _ := t.Attribute(name)
	kind := awsdynamodb.AttributeType_STRING
	switch a.Type {
	case schema.Number:
		kind = awsdynamodb.AttributeType_NUMBER
	case schema.Binary:
		kind = awsdynamodb.AttributeType_BINARY
	}
	return &awsdynamodb.Attribute{Name: &name, Type: kind}
}

func indexes(t schema.Table) *[]*awsdynamodb.GlobalSecondaryIndexPropsV2 {
	if len(t.Indexes) == 0 {
		return nil
	}
	var list []*awsdynamodb.GlobalSecondaryIndexPropsV2
	for _, i := range t.Indexes {
		partition, sort := key(t, i.Key)
		index := &awsdynamodb.GlobalSecondaryIndexPropsV2{
			IndexName:      &i.Name,
			PartitionKey:   partition,
			SortKey:        sort,
			ProjectionType: awsdynamodb.ProjectionType_ALL,
		}
		switch i.Projection {
		case schema.ProjectKeysOnly:
			index.ProjectionType = awsdynamodb.ProjectionType_KEYS_ONLY
		case schema.ProjectInclude:
			index.ProjectionType = awsdynamodb.ProjectionType_INCLUDE
			index.NonKeyAttributes = jsii.Strings(i.Include...)
		}
		list = append(list, index)
	}
	return &list
}

// billing returns nothing for on-demand, which is the CDK's default. Provisioned
// capacity has to scale: a global table takes no fixed write capacity
// ("AWS::DynamoDB::GlobalTable", CloudFormation reference).
func billing(c schema.Capacity) awsdynamodb.Billing {
	if c.OnDemand() {
		return nil
	}
	scaled := func(units int) awsdynamodb.Capacity {
		return awsdynamodb.Capacity_Autoscaled(&awsdynamodb.AutoscaledCapacityOptions{
			MinCapacity: jsii.Number(units),
			MaxCapacity: jsii.Number(units * growth),
		})
	}
	return awsdynamodb.Billing_Provisioned(&awsdynamodb.ThroughputProps{
		ReadCapacity:  scaled(c.ReadUnits),
		WriteCapacity: scaled(c.WriteUnits),
	})
}

// Grant lets the grantee do exactly what the grants say: each action on the
// table, or on the one index that the grant names. Grants on other tables are
// left out, so that all grants of a function can be passed.
func (t *Table) Grant(grantee awsiam.IGrantable, grants ...schema.Grant) awsiam.Grant {
	actions := map[string][]string{}
	for _, g := range grants {
		if g.Table == t.Schema.Name {
			actions[g.Index] = append(actions[g.Index], "dynamodb:"+string(g.Operation))
		}
	}
	var all awsiam.Grant
	for _, index := range slices.Sorted(maps.Keys(actions)) {
		arn := *t.Resource.TableArn()
		if index != "" {
			arn += "/index/" + index
		}
		sorted := slices.Compact(slices.Sorted(slices.Values(actions[index])))
		grant := awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
			Grantee:      grantee,
			Actions:      jsii.Strings(sorted...),
			ResourceArns: jsii.Strings(arn),
		})
		if all == nil {
			all = grant
		} else {
			all = all.Combine(grant)
		}
	}
	if all == nil {
		return awsiam.Grant_Drop(grantee, jsii.String("no access pattern uses table "+t.Schema.Name))
	}
	return all
}
