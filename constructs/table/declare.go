package table

import (
	"cmp"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// declare declares the table of valid props, and returns its resource, too.
func declare(scope constructs.Construct, p Props) (awsdynamodb.TableV2, awsdynamodb.CfnGlobalTable) {
	o := p.Options
	partition, sort := primaryKey(p.Table, p.Table.Key)
	description := o.CDK
	description.PartitionKey, description.SortKey = partition, sort
	description.GlobalSecondaryIndexes = indexes(p.Table, o)
	description.Billing = billing(p.Table, o)
	description.DynamoStream = awsdynamodb.StreamViewType(p.Table.Stream)
	description.Encryption = awsdynamodb.TableEncryptionV2_AwsManagedKey()
	description.DeletionProtection = &p.DeletionProtection
	description.RemovalPolicy = removal(p)
	description.PointInTimeRecoverySpecification = recovery(cmp.Or(o.RecoveryDays, longestRecovery))
	description.Replicas = replicas(o)
	description.TableName = props.Optional(p.Name)
	description.TimeToLiveAttribute = props.Optional(p.Table.TimeToLive)
	// Encryption with a customer managed key names the key in each replica, which the
	// CDK does only for stacks with a region.
	agnostic := props.IsToken(props.Region(scope))
	switch {
	case p.OwnedKey:
		description.Encryption = awsdynamodb.TableEncryptionV2_DynamoOwnedKey()
	case p.Key != nil && !agnostic:
		keys := map[string]*string{}
		for _, r := range o.Replicas {
			keys[r.Region] = &r.KeyARN
		}
		description.Encryption = awsdynamodb.TableEncryptionV2_CustomerManagedKey(p.Key, &keys)
	}
	if o.CDK.ResourcePolicy != nil {
		// Otherwise a replica without a policy of its own has the table's, in an app without this feature flag.
		scope.Node().SetContext(jsii.String("@aws-cdk/aws-dynamodb:resourcePolicyPerReplica"), true)
	}
	table := awsdynamodb.NewTableV2(scope, jsii.String("Resource"), &description)
	resource := table.Node().DefaultChild().(awsdynamodb.CfnGlobalTable)
	if p.Key != nil && agnostic {
		// Such a stack has no replica but the table itself.
		resource.AddPropertyOverride(jsii.String("Replicas.0.SSESpecification.KMSMasterKeyId"), p.Key.KeyArn())
	}
	return table, resource
}

// removal keeps every table that has been in use. One that a deployment made which then
// failed is new and empty, and would only keep its name from the next attempt
// ("DeletionPolicy attribute", CloudFormation user guide: RetainExceptOnCreate). A
// protected table stays, since DynamoDB refuses to delete it: an attempt would end the
// rollback halfway.
func removal(p Props) awscdk.RemovalPolicy {
	protected := p.DeletionProtection || slices.ContainsFunc(p.Options.Replicas, func(r Replica) bool {
		return r.DeletionProtection
	})
	if p.RemoveWithStack || protected {
		return props.RemovalPolicy(p.RemoveWithStack)
	}
	return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
}

// primaryKey returns the attributes of a key; the second is nil without a sort key.
func primaryKey(t schema.Table, k schema.Key) (partition, sort *awsdynamodb.Attribute) {
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

func attributes(t schema.Table, names []string) *[]*awsdynamodb.Attribute {
	return props.OptionalList(
		props.Map(names, func(name string) *awsdynamodb.Attribute { return attribute(t, name) }))
}

func indexes(t schema.Table, o Options) *[]*awsdynamodb.GlobalSecondaryIndexPropsV2 {
	var list []*awsdynamodb.GlobalSecondaryIndexPropsV2
	for _, i := range t.Indexes {
		index := awsdynamodb.GlobalSecondaryIndexPropsV2{IndexName: &i.Name}
		for _, given := range o.givenIndexes() {
			if *given.IndexName == i.Name {
				index = given
			}
		}
		index.PartitionKeys = attributes(t, i.PartitionAttributes())
		index.SortKeys = attributes(t, i.SortAttributes())
		index.ProjectionType = awsdynamodb.ProjectionType_ALL
		index.MaxReadRequestUnits = cmp.Or(index.MaxReadRequestUnits, units(o.MaximumReadUnits))
		index.MaxWriteRequestUnits = cmp.Or(index.MaxWriteRequestUnits, units(o.MaximumWriteUnits))
		switch i.Projection {
		case schema.ProjectKeysOnly:
			index.ProjectionType = awsdynamodb.ProjectionType_KEYS_ONLY
		case schema.ProjectInclude:
			index.ProjectionType = awsdynamodb.ProjectionType_INCLUDE
			index.NonKeyAttributes = jsii.Strings(i.Include...)
		}
		list = append(list, &index)
	}
	return props.OptionalList(list)
}

// billing returns nothing for on-demand without a maximum, which is the CDK's
// default. Provisioned capacity has to scale: a global table takes no fixed write
// capacity ("AWS::DynamoDB::GlobalTable", CloudFormation reference).
func billing(t schema.Table, o Options) awsdynamodb.Billing {
	read, write := o.scaling(t)
	switch {
	case read != Scaling{}:
		return awsdynamodb.Billing_Provisioned(
			&awsdynamodb.ThroughputProps{ReadCapacity: read.capacity(), WriteCapacity: write.capacity()})
	case o.MaximumReadUnits > 0 || o.MaximumWriteUnits > 0:
		return awsdynamodb.Billing_OnDemand(&awsdynamodb.MaxThroughputProps{
			MaxReadRequestUnits: units(o.MaximumReadUnits), MaxWriteRequestUnits: units(o.MaximumWriteUnits),
		})
	}
	return nil
}

// capacity is nil for the zero value. AWS CloudFormation switches a table between
// provisioned and on-demand only if each capacity says what it begins with
// ("AWS::DynamoDB::GlobalTable CapacityAutoScalingSettings", SeedCapacity).
func (s Scaling) capacity() awsdynamodb.Capacity {
	if s == (Scaling{}) {
		return nil
	}
	return awsdynamodb.Capacity_Autoscaled(&awsdynamodb.AutoscaledCapacityOptions{
		MinCapacity:              jsii.Number(s.Minimum),
		MaxCapacity:              jsii.Number(cmp.Or(s.Maximum, s.Minimum*growth)),
		SeedCapacity:             jsii.Number(s.Minimum),
		TargetUtilizationPercent: jsii.Number(cmp.Or(s.TargetPercent, defaultTarget)),
	})
}

// units is nil for 0.
func units(number int) *float64 { return props.Optional(float64(number)) }

func recovery(days int) *awsdynamodb.PointInTimeRecoverySpecification {
	return &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true),
		RecoveryPeriodInDays: jsii.Number(days)}
}

// replicas leaves out settings that a replica inherits from its table.
func replicas(o Options) *[]*awsdynamodb.ReplicaTableProps {
	var list []*awsdynamodb.ReplicaTableProps
	for _, r := range o.Replicas {
		replica := r.CDK
		replica.Region = &r.Region
		replica.DeletionProtection = props.Optional(r.DeletionProtection)
		if r.RecoveryDays != 0 {
			replica.PointInTimeRecoverySpecification = recovery(r.RecoveryDays)
		}
		list = append(list, &replica)
	}
	return props.OptionalList(list)
}
