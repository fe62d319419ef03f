package table_test

import (
	"math"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskinesis"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

const (
	keyHere    = "arn:aws:kms:eu-central-1:111122223333:key/here"
	keyIreland = "arn:aws:kms:eu-west-1:111122223333:key/ireland"
)

// wide has an index whose keys are made of several attributes.
var wide = schema.Table{
	Name: "Wide", PhysicalName: "wide", Key: schema.Key{Partition: "id"},
	Attributes: []schema.Attribute{
		{Name: "id", Type: schema.String}, {Name: "tenant", Type: schema.String}, {Name: "shard", Type: schema.Number},
		{Name: "year", Type: schema.Number}, {Name: "place", Type: schema.String},
	},
	Indexes: []schema.Index{{
		Name: "ByTenant", Key: schema.Key{Partition: "tenant", Sort: "year"}, FurtherPartition: []string{"shard"},
		FurtherSort: []string{"place"},
	}},
}

func policy(action string) awsiam.PolicyDocument {
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings(action), Resources: jsii.Strings("*"),
			Principals: &[]awsiam.IPrincipal{awsiam.NewAccountPrincipal(jsii.String("444455556666"))},
		}),
	}})
}

func insights(mode awsdynamodb.ContributorInsightsMode) *awsdynamodb.ContributorInsightsSpecification {
	return &awsdynamodb.ContributorInsightsSpecification{Enabled: jsii.Bool(true), Mode: mode}
}

func warm(reads, writes int) *awsdynamodb.WarmThroughput {
	return &awsdynamodb.WarmThroughput{ReadUnitsPerSecond: props.Optional(float64(reads)),
		WriteUnitsPerSecond: props.Optional(float64(writes))}
}

func scaled(least, most int) awsdynamodb.Capacity {
	return awsdynamodb.Capacity_Autoscaled(&awsdynamodb.AutoscaledCapacityOptions{
		MinCapacity: jsii.Number(least), SeedCapacity: jsii.Number(least), MaxCapacity: jsii.Number(most)})
}

func role(stack awscdk.Stack, id string) awsiam.Role {
	return awsiam.NewRole(stack, &id, &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil)})
}

// declareOptions declares tables with options in a stack for any region.
func declareOptions(stack awscdk.Stack) {
	stream := awskinesis.Stream_FromStreamArn(stack, jsii.String("Changes"),
		jsii.String("arn:aws:kinesis:eu-central-1:111122223333:stream/changes"))
	key := awskms.Key_FromKeyArn(stack, jsii.String("ImportedKey"), jsii.String(keyHere))
	chosen := table.NewDatabase(stack, "Chosen", table.DatabaseProps{
		Database: database,
		Key:      key,
		Options: table.DatabaseOptions{
			All: table.Options{MaximumReadUnits: 1, CDK: awsdynamodb.TablePropsV2{
				ContributorInsightsSpecification: insights("ACCESSED_AND_THROTTLED_KEYS")}},
			Each: map[string]table.Options{"AllOfIt": {
				OnDemand: true, MaximumReadUnits: 500, MaximumWriteUnits: 100, RecoveryDays: 3,
				CDK: awsdynamodb.TablePropsV2{
					WarmThroughput: warm(13000, 5000),
					GlobalSecondaryIndexes: &[]*awsdynamodb.GlobalSecondaryIndexPropsV2{
						{IndexName: jsii.String("ByOwner"), WarmThroughput: warm(13000, 5000)},
						{IndexName: jsii.String("ByEnd"), WarmThroughput: warm(14000, 6000),
							MaxReadRequestUnits: jsii.Number(50), MaxWriteRequestUnits: jsii.Number(60)},
					},
					TableClass:                       awsdynamodb.TableClass_STANDARD_INFREQUENT_ACCESS,
					ContributorInsightsSpecification: insights("THROTTLED_KEYS"),
					ResourcePolicy:                   policy("dynamodb:GetItem"),
					StreamResourcePolicy:             policy("dynamodb:GetRecords"),
					KinesisStream:                    stream,
				},
			}},
		},
	})
	chosen.Table("AllOfIt").Grant(role(stack, "KeyUser"), schema.Grant{Action: schema.GetItem, Table: "AllOfIt"})
	chosen.Table("AllOfIt").GrantStream(role(stack, "StreamReader"))

	table.New(stack, "Scaled", table.Props{Table: database.Tables[1], Options: table.Options{
		Read: table.Scaling{Minimum: 2, Maximum: 9, TargetPercent: 50}, Write: table.Scaling{Minimum: 4},
		RecoveryDays: 7,
		CDK: awsdynamodb.TablePropsV2{
			WarmThroughput: warm(2, 0),
			GlobalSecondaryIndexes: &[]*awsdynamodb.GlobalSecondaryIndexPropsV2{
				{IndexName: jsii.String("ByOwner"), WarmThroughput: warm(2, 0)},
				{IndexName: jsii.String("ByEnd"), WarmThroughput: warm(2, 0), ReadCapacity: scaled(1, 3),
					WriteCapacity: scaled(6, 7)},
			},
		},
	}})
	table.New(stack, "Wide", table.Props{Table: wide})

	there := func(name string, more awsdynamodb.TableAttributesV2) awsdynamodb.ITable {
		more.TableArn = jsii.String("arn:aws:dynamodb:eu-central-1:111122223333:table/" + name)
		return awsdynamodb.TableV2_FromTableAttributes(stack, jsii.String("There-"+name), &more)
	}
	existing := table.NewDatabase(stack, "Existing",
		table.DatabaseProps{Database: database, Prefix: "unused", Options: table.DatabaseOptions{
			Existing: map[string]awsdynamodb.ITable{
				"AllOfIt": there("old-all", awsdynamodb.TableAttributesV2{
					EncryptionKey: key, TableStreamArn: jsii.String(
						"arn:aws:dynamodb:eu-central-1:111122223333:table/old-all/stream/1"),
				}),
			},
		}})
	existing.Grant(role(stack, "OldUser"), schema.Grant{Action: schema.Query, Table: "AllOfIt", Index: "ByOwner"})
	existing.Table("AllOfIt").GrantStream(role(stack, "OldStreamReader"))
	if name := existing.Environment()["ALL_OF_IT_TABLE"]; name != "old-all" {
		panic("got name " + name + ", want old-all")
	}
}

// declareRegional declares a replicated table in a stack of one region.
func declareRegional(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("regional"), &awscdk.StackProps{
		Env: &awscdk.Environment{Account: jsii.String("111122223333"), Region: jsii.String("eu-central-1")},
	})
	stream := awskinesis.Stream_FromStreamArn(stack, jsii.String("Changes"),
		jsii.String("arn:aws:kinesis:eu-west-1:111122223333:stream/changes"))
	table.New(stack, "Replicated", table.Props{
		Table: wide,
		Key:   awskms.Key_FromKeyArn(stack, jsii.String("Key"), jsii.String(keyHere)),
		Options: table.Options{
			RecoveryDays: 5, MaximumReadUnits: 10,
			Replicas: []table.Replica{{
				Region: "eu-west-1", KeyARN: keyIreland, DeletionProtection: true, RecoveryDays: 9,
				CDK: awsdynamodb.ReplicaTableProps{MaxReadRequestUnits: jsii.Number(20), KinesisStream: stream},
			}},
			CDK: awsdynamodb.TablePropsV2{ResourcePolicy: policy("dynamodb:GetItem"),
				StreamResourcePolicy: policy("dynamodb:GetRecords")},
		},
	})
	// Replication needs new and old images, which have the keys.
	keysOnly := wide
	keysOnly.Stream = schema.StreamKeysOnly
	table.New(stack, "KeysOnly",
		table.Props{Table: keysOnly, Options: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}}})
	table.New(stack, "ScaledEverywhere", table.Props{Table: wide, Options: table.Options{
		Read: table.Scaling{Minimum: 1}, Write: table.Scaling{Minimum: 1},
		Replicas: []table.Replica{{
			Region: "eu-west-1", CDK: awsdynamodb.ReplicaTableProps{
				ReadCapacity: scaled(3, 4), ResourcePolicy: policy("dynamodb:Query"),
				StreamResourcePolicy: policy("dynamodb:GetShardIterator"),
			},
		}},
	}})
}

// plainTable is an existing table as far as props look at it.
type plainTable struct {
	awsdynamodb.ITable
	stream *string
	key    awskms.IKey
}

func (p plainTable) TableStreamArn() *string { return p.stream }

func (p plainTable) EncryptionKey() awskms.IKey { return p.key }

func (p plainTable) TableName() *string { return jsii.String("plain") }

func TestOptionsCheck(t *testing.T) {
	t.Parallel()
	type (
		options = table.Options
		cdk     = awsdynamodb.TablePropsV2
		index   = awsdynamodb.GlobalSecondaryIndexPropsV2
	)
	one := func(o options) table.Props { return table.Props{Table: database.Tables[1], Options: o} }
	onDemand := func(o options) table.Props { return table.Props{Table: wide, Options: o} }
	replica := func(r ...table.Replica) table.Props { return onDemand(options{Replicas: r}) }
	keyed := func(r table.Replica) table.Props { p := replica(r); p.Key = struct{ awskms.IKey }{}; return p }
	synthtest.Validate(t, map[string]synthtest.Case[table.Props]{
		"Zero":     {one(options{}), nil},
		"Fuse":     {onDemand(options{MaximumReadUnits: 1, MaximumWriteUnits: 1}), nil},
		"OnDemand": {one(options{OnDemand: true, MaximumReadUnits: 1}), nil},
		"Replicas": {replica(table.Replica{Region: "eu-west-1"}, table.Replica{Region: "us-gov-west-1"}), nil},
		"Keyed":    {keyed(table.Replica{Region: "eu-west-1", KeyARN: keyIreland}), nil},
		"KeyToken": {keyed(table.Replica{Region: "eu-west-1", KeyARN: "${Token[TOKEN.1]}"}), nil},
		"Existing": {table.Props{Table: database.Tables[1], Existing: plainTable{stream: jsii.String("arn")}},
			nil},
		"ErrExisting": {table.Props{Table: database.Tables[1], Existing: plainTable{},
			Options: options{OnDemand: true}}, []string{"Props.Existing", "Props.Options"}},
		"ErrTwoKeys": {table.Props{Table: wide, OwnedKey: true, Key: struct{ awskms.IKey }{}},
			[]string{"Props.OwnedKey"}},
		"ErrMaximum": {onDemand(options{MaximumReadUnits: -1, MaximumWriteUnits: -1}),
			[]string{"Props.Options.MaximumReadUnits", "Props.Options.MaximumWriteUnits"}},
		"ErrMaximumOfScale": {one(options{MaximumReadUnits: 1, MaximumWriteUnits: 1}),
			[]string{"Props.Options.MaximumReadUnits", "Props.Options.MaximumWriteUnits"}},
		"ErrOnDemandScaled": {one(options{OnDemand: true, Read: table.Scaling{Minimum: 1},
			Write: table.Scaling{Minimum: 1}}), []string{"Props.Options.OnDemand"}},
		"ErrReadAlone": {onDemand(options{Read: table.Scaling{Minimum: 1}}), []string{"Props.Options.Write.Minimum"}},
		"ErrScaling": {onDemand(options{Read: table.Scaling{Minimum: 5, Maximum: 4},
			Write: table.Scaling{Minimum: 1, TargetPercent: 91}}),
			[]string{"Props.Options.Read.Maximum", "Props.Options.Write.TargetPercent"}},
		"ErrLowTarget": {onDemand(options{Read: table.Scaling{Minimum: 1, TargetPercent: 19},
			Write: table.Scaling{Minimum: 1}}), []string{"Props.Options.Read.TargetPercent"}},
		"ErrIndex": {onDemand(options{CDK: cdk{GlobalSecondaryIndexes: &[]*index{
			{IndexName: jsii.String("ByTenant"), WarmThroughput: warm(13000, 0)}, {IndexName: jsii.String("ByNothing")},
			{ProjectionType: "ALL"}, nil}}}),
			[]string{"Props.Options.CDK.GlobalSecondaryIndexes[1].IndexName",
				"Props.Options.CDK.GlobalSecondaryIndexes[2].ProjectionType",
				"Props.Options.CDK.GlobalSecondaryIndexes[2].IndexName",
				"Props.Options.CDK.GlobalSecondaryIndexes[3].IndexName"}},
		"ErrDecided": {onDemand(options{
			CDK: cdk{TableName: jsii.String("a"), TableClass: "STANDARD", WitnessRegion: jsii.String("eu-west-3"),
				PointInTimeRecovery: jsii.Bool(false)},
			Replicas: []table.Replica{{Region: "eu-west-1",
				CDK: awsdynamodb.ReplicaTableProps{DeletionProtection: jsii.Bool(true)}}}}),
			[]string{"Props.Options.CDK.PointInTimeRecovery", "Props.Options.CDK.TableName",
				"Props.Options.CDK.WitnessRegion", "Props.Options.Replicas[0].CDK.DeletionProtection"}},
		"ErrHuge": {onDemand(options{MaximumReadUnits: math.MaxInt32 + 1}), []string{"Props.Options.MaximumReadUnits"}},
		"ErrHugeScaling": {onDemand(options{Read: table.Scaling{Minimum: math.MaxInt},
			Write: table.Scaling{Minimum: 1, Maximum: math.MaxInt}}),
			[]string{"Props.Options.Read.Minimum", "Props.Options.Write.Maximum"}},
		"ErrRecoveryDays":  {one(options{RecoveryDays: 36}), []string{"Props.Options.RecoveryDays"}},
		"ErrReplicaRegion": {replica(table.Replica{Region: "Ireland"}), []string{"Props.Options.Replicas[0].Region"}},
		"ErrReplicaTwice": {replica(table.Replica{Region: "eu-west-1"}, table.Replica{Region: "eu-west-1"}),
			[]string{"Props.Options.Replicas[1].Region"}},
		"ErrReplicaNoKey": {keyed(table.Replica{Region: "eu-west-1"}), []string{"Props.Options.Replicas[0].KeyARN"}},
		"ErrReplicaKey": {replica(table.Replica{Region: "eu-west-1", KeyARN: keyIreland}),
			[]string{"Props.Options.Replicas[0].KeyARN"}},
		"ErrKeyElsewhere": {keyed(table.Replica{Region: "eu-west-1", KeyARN: keyHere}),
			[]string{"Props.Options.Replicas[0].KeyARN"}},
		"ErrReplicaDays": {replica(table.Replica{Region: "eu-west-1", RecoveryDays: -1}),
			[]string{"Props.Options.Replicas[0].RecoveryDays"}},
		"ErrReplicaStays": {table.Props{Table: wide, RemoveWithStack: true,
			Options: options{Replicas: []table.Replica{{Region: "eu-west-1", DeletionProtection: true}}}},
			[]string{"Props.Options.Replicas[0].DeletionProtection"}},
	})
}

// All that is wrong with a data model and with the props is in one message.
func TestDatabasePropsValidate(t *testing.T) {
	t.Parallel()
	wrong := schema.Database{
		Tables: []schema.Table{
			{Name: "Flags", PhysicalName: "flags", Key: schema.Key{Partition: "on"}, TimeToLive: "end",
				Attributes: []schema.Attribute{{Name: "on", Type: schema.Boolean}}},
			{Name: "Flags", PhysicalName: "f", Key: schema.Key{Partition: "id"},
				Attributes: []schema.Attribute{{Name: "id", Type: schema.String}}},
		},
		AccessPatterns: []schema.AccessPattern{{Name: "ReadAll", Action: "Scan", Table: "Flags"}},
	}
	p := table.DatabaseProps{
		Database: wrong, Prefix: "Über", RemoveWithStack: true, DeletionProtection: true, OwnedKey: true,
		Key:     struct{ awskms.IAlias }{},
		Options: table.DatabaseOptions{Each: map[string]table.Options{"Nowhere": {}}},
	}
	want := []string{
		"Props.Database.Tables[1]", "Props.Database.Tables[Flags].Key.Partition",
		"Props.Database.Tables[Flags].TimeToLive", "Props.Database.Tables[Flags].PhysicalName",
		"Props.Database.AccessPatterns[ReadAll].Action", "Props.Prefix", "Props.DeletionProtection",
		"Props.OwnedKey", "Props.Key", `Props.Options.Each["Nowhere"]`,
	}
	if diff := cmp.Diff(want, synthtest.Paths(t, p.Validate())); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestDatabasePropsValidateErrZero(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"Props.Database.Tables"},
		synthtest.Paths(t, table.DatabaseProps{}.Validate())); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestDatabasePropsCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options table.DatabaseOptions
		region  string
		paths   []string
	}{
		"Zero": {table.DatabaseOptions{}, "", nil},
		"Replicas": {table.DatabaseOptions{All: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}}},
			"eu-central-1", nil},
		"Existing": {table.DatabaseOptions{Existing: map[string]awsdynamodb.ITable{"Plain": plainTable{}}}, "", nil},
		"ErrAll": {table.DatabaseOptions{All: table.Options{RecoveryDays: -1}}, "",
			[]string{"Tables.All.RecoveryDays"}},
		"ErrEach": {table.DatabaseOptions{Each: map[string]table.Options{"Plain": {RecoveryDays: -1}}}, "",
			[]string{`Tables.Each["Plain"].RecoveryDays`}},
		"ErrOwnRegion": {table.DatabaseOptions{
			Each: map[string]table.Options{"Plain": {Replicas: []table.Replica{{Region: "eu-west-1"}}}}}, "eu-west-1",
			[]string{`Tables.Each["Plain"].Replicas[0].Region`}},
		"ErrNames": {table.DatabaseOptions{Each: map[string]table.Options{"A": {}},
			Existing: map[string]awsdynamodb.ITable{"B": plainTable{}}}, "",
			[]string{`Tables.Each["A"]`, `Tables.Existing["B"]`}},
		"ErrExistingAlias": {table.DatabaseOptions{
			Existing: map[string]awsdynamodb.ITable{"Plain": plainTable{key: struct{ awskms.IAlias }{}}}}, "",
			[]string{`Tables.Existing["Plain"].EncryptionKey`}},
		"ErrExistingTwice": {table.DatabaseOptions{
			Existing: map[string]awsdynamodb.ITable{"Plain": plainTable{},
				"AllOfIt": plainTable{stream: jsii.String("arn")}}}, "",
			[]string{`Tables.Existing["Plain"]`}},
		"ErrExisting": {table.DatabaseOptions{
			Each:     map[string]table.Options{"AllOfIt": {}},
			Existing: map[string]awsdynamodb.ITable{"AllOfIt": plainTable{}, "Plain": nil},
		}, "", []string{`Tables.Each["AllOfIt"]`, `Tables.Existing["AllOfIt"]`, `Tables.Existing["Plain"]`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synthtest.Findings(t, test.paths, func(f *finding.List) {
				table.DatabaseProps{Database: database, Options: test.options}.Check(f, "Tables", test.region)
			})
		})
	}
}
