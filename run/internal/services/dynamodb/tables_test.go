package dynamodb_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	tables "github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
)

func TestDataIsKeptInAFolder(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), enginetest.AccessKey()
	source := assemblytest.Load(t,
		`{"Table": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "kept", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}}}`)
	run := func(do func(client *dynamodb.Client)) {
		t.Helper()
		started := must.Get(engine.Start(t.Context(), engine.Options{Dir: dir}))(t)
		client := started.Client(key)
		must.OK(t, tables.CreateTables(t.Context(), client, source))
		do(client)
		if err := started.Close(); err != nil {
			t.Error(err)
		}
		if err := started.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-started.Exited():
		default:
			t.Error("the engine runs on after Close")
		}
	}
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	run(func(client *dynamodb.Client) {
		must.Get(client.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("kept"), Item: item}))(t)
	})
	run(func(client *dynamodb.Client) {
		got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("kept"), Key: item})
		if err != nil || len(got.Item) == 0 {
			t.Errorf("got %v %v", got, err)
		}
		other := assemblytest.Load(t,
			`{"Table": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "kept", "BillingMode": "PAY_PER_REQUEST",
			"KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "other", "AttributeType": "S"}]}}}`)
		if err := tables.CreateTables(t.Context(), client, other); !errors.Is(err, tables.ErrTableDiffers) {
			t.Errorf("a table with other keys: got %v", err)
		}
	})
}

func TestExistingTables(t *testing.T) {
	t.Parallel()
	const description = `{"Arn": "arn:aws:dynamodb:eu-west-1:123456789012:table/shared", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
		"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "owner", "AttributeType": "S"}],
		"GlobalSecondaryIndexes": [{"IndexName": "by-owner", "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}],
		"TimeToLiveSpecification": {"AttributeName": "end", "Enabled": true}}`
	source := assemblytest.LoadExisting(t, description)
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"},
		"end": &types.AttributeValueMemberN{Value: "1700000000"}}

	t.Run("Made", func(t *testing.T) {
		t.Parallel()
		client := enginetest.Client(t)
		for range 2 { // the second time it exists
			must.OK(t, tables.CreateTables(t.Context(), client, source))
		}
		got := must.Get(tables.DescribeTables(t.Context(), client, source))(t)
		id, owner := tables.Key{Attribute: "id", Type: "S", Role: "HASH"},
			tables.Key{Attribute: "owner", Type: "S", Role: "HASH"}
		want := []tables.Table{{Status: "ACTIVE", Design: tables.Design{Name: "shared",
			ARN: "arn:aws:dynamodb:eu-west-1:123456789012:table/shared", Stack: "Stack", Keys: []tables.Key{id},
			Indexes: []tables.Index{{Name: "by-owner", Keys: []tables.Key{owner}, Projection: "KEYS_ONLY",
				Status: "ACTIVE"}}, Billing: "PAY_PER_REQUEST", TimeToLive: "end"}}}
		if difference := cmp.Diff(want, got); difference != "" {
			t.Error(difference)
		}
	})
	t.Run("Used", func(t *testing.T) {
		t.Parallel()
		client := enginetest.Client(t)
		index := func(name string, projection types.ProjectionType) types.GlobalSecondaryIndex {
			return types.GlobalSecondaryIndex{IndexName: aws.String(name),
				Projection: &types.Projection{ProjectionType: projection},
				KeySchema: []types.KeySchemaElement{
					{AttributeName: aws.String(strings.TrimPrefix(name, "by-")), KeyType: types.KeyTypeHash}}}
		}
		defined := func(name string) types.AttributeDefinition {
			return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
		}
		if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("shared"), BillingMode: types.BillingModePayPerRequest,
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{defined("id"), defined("owner"), defined("place")},
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{index("by-place", types.ProjectionTypeAll),
				index("by-owner", types.ProjectionTypeKeysOnly)},
			StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true),
				StreamViewType: types.StreamViewTypeNewImage},
		}); err != nil {
			t.Fatal(err)
		}
		must.Get(client.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("shared"), Item: item}))(t)
		streamed := assemblytest.LoadExisting(t,
			strings.Replace(description, `"TimeToLiveSpecification"`,
				`"StreamSpecification": {"StreamViewType": "NEW_IMAGE"}, "TimeToLiveSpecification"`, 1))
		for _, fitting := range []*assembly.Assembly{source, streamed} {
			must.OK(t, tables.CreateTables(t.Context(), client, fitting))
		}
		for name, replacement := range map[string][2]string{
			"another key": {`"id", "KeyType": "HASH"}`,
				`"id", "KeyType": "HASH"}, {"AttributeName": "owner", "KeyType": "RANGE"}`},
			"another type":       {`"owner", "AttributeType": "S"`, `"owner", "AttributeType": "N"`},
			"a missing index":    {"by-owner", "by-nobody"},
			"another projection": {"KEYS_ONLY", "ALL"},
			"another view": {`"TimeToLiveSpecification"`,
				`"StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}, "TimeToLiveSpecification"`},
		} {
			other := assemblytest.LoadExisting(t, strings.Replace(description, replacement[0], replacement[1], 1))
			if err := tables.CreateTables(t.Context(), client, other); !errors.Is(err, tables.ErrTableDiffers) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		sweeper := must.Get(tables.NewSweeper(client, source,
			tables.SweeperOptions{Now: func() time.Time { return time.Unix(1700000001, 0) }}))(t)
		if deleted, err := sweeper.Sweep(t.Context()); err != nil || deleted != 1 {
			t.Errorf("expired items: got %d deleted, %v, want one", deleted, err)
		}
	})
}

func TestTablesAreDescribedAsDeclared(t *testing.T) {
	t.Parallel()
	source := assemblytest.Load(t, `{
	  "Global": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {
	    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}, {"AttributeName": "status", "AttributeType": "S"}],
	    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
	    "BillingMode": "PAY_PER_REQUEST", "SSESpecification": {"SSEEnabled": true}, "Replicas": [{"Region": "us-east-1", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}}],
	    "GlobalSecondaryIndexes": [
	      {"IndexName": "by-status", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
	       "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title", "body"]}},
	      {"IndexName": "all", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}],
	    "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
	    "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": true}}},
	  "Old": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "old",
	    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "B"}], "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
	    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}}},
	  "Scaled": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "scaled", "BillingMode": "PROVISIONED",
	    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
	    "WriteProvisionedThroughputSettings": {"WriteCapacityAutoScalingSettings": {"MinCapacity": 3, "MaxCapacity": 9}},
	    "Replicas": [{"Region": "eu-west-1", "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": 7}},
	      {"Region": "us-east-1", "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": 4}}]}},
	  "Wide": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "wide", "BillingMode": "PAY_PER_REQUEST",
	    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "year", "AttributeType": "N"}, {"AttributeName": "place", "AttributeType": "S"}, {"AttributeName": "tenant", "AttributeType": "S"}],
	    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
	    "GlobalSecondaryIndexes": [{"IndexName": "by-tenant", "Projection": {"ProjectionType": "ALL"}, "WriteOnDemandThroughputSettings": {"MaxWriteRequestUnits": 100},
	      "WarmThroughput": {"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000}, "KeySchema": [{"AttributeName": "tenant", "KeyType": "HASH"}, {"AttributeName": "place", "KeyType": "HASH"},
	        {"AttributeName": "year", "KeyType": "RANGE"}, {"AttributeName": "id", "KeyType": "RANGE"}]}],
	    "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}, "WriteOnDemandThroughputSettings": {"MaxWriteRequestUnits": 100},
	    "WarmThroughput": {"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000},
	    "Replicas": [
	      {"Region": "eu-west-1", "TableClass": "STANDARD_INFREQUENT_ACCESS", "SSESpecification": {"KMSMasterKeyId": "arn:aws:kms:eu-west-1:000000000000:key/a"}},
	      {"Region": "us-east-1", "ContributorInsightsSpecification": {"Enabled": true, "Mode": "THROTTLED_KEYS"}, "DeletionProtectionEnabled": true,
	       "KinesisStreamSpecification": {"StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/changes"}, "ReadOnDemandThroughputSettings": {"MaxReadRequestUnits": 500},
	       "ResourcePolicy": {"PolicyDocument": {"Version": "2012-10-17", "Statement": []}}}]}}}`)
	client := enginetest.Client(t)
	for range 2 { // the second time they exist
		must.OK(t, tables.CreateTables(t.Context(), client, source))
	}
	got := must.Get(tables.DescribeTables(t.Context(), client, source))(t)
	status := tables.Key{Attribute: "status", Type: "S", Role: "HASH"}
	number := tables.Key{Attribute: "sk", Type: "N", Role: "RANGE"}
	want := []tables.Design{
		{Name: "Stack-Global", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/Stack-Global", LogicalID: "Global",
			Stack: "Stack",
			Keys:  []tables.Key{{Attribute: "pk", Type: "S", Role: "HASH"}, number},
			Indexes: []tables.Index{
				{Name: "all", Keys: []tables.Key{status}, Projection: "ALL", Status: "ACTIVE"},
				{Name: "by-status", Keys: []tables.Key{status, number}, Projection: "INCLUDE",
					Attributes: []string{"body", "title"}, Status: "ACTIVE"},
			},
			Billing: "PAY_PER_REQUEST", Stream: "NEW_AND_OLD_IMAGES", TimeToLive: "expires"},
		{Name: "old", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/old", LogicalID: "Old", Stack: "Stack",
			Keys: []tables.Key{{Attribute: "id", Type: "B", Role: "HASH"}}, Indexes: []tables.Index{},
			Billing: "PROVISIONED"},
		{Name: "scaled", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/scaled", LogicalID: "Scaled",
			Stack: "Stack",
			Keys:  []tables.Key{{Attribute: "id", Type: "S", Role: "HASH"}}, Indexes: []tables.Index{},
			Billing: "PROVISIONED"},
		{Name: "wide", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/wide", LogicalID: "Wide", Stack: "Stack",
			Keys: []tables.Key{{Attribute: "id", Type: "S", Role: "HASH"}},
			Indexes: []tables.Index{{Name: "by-tenant", Projection: "ALL", Status: "ACTIVE", Keys: []tables.Key{
				{Attribute: "tenant", Type: "S", Role: "HASH"}, {Attribute: "place", Type: "S", Role: "HASH"},
				{Attribute: "year", Type: "N", Role: "RANGE"}, {Attribute: "id", Type: "S", Role: "RANGE"},
			}}},
			Billing: "PAY_PER_REQUEST", Stream: "NEW_AND_OLD_IMAGES"},
	}
	var designs []tables.Design
	for _, table := range got {
		if table.Status != "ACTIVE" {
			t.Errorf("%s is %s", table.Name, table.Status)
		}
		designs = append(designs, table.Design)
	}
	if difference := cmp.Diff(want, designs); difference != "" {
		t.Error(difference)
	}
	described := must.Get(client.DescribeTable(t.Context(),
		&dynamodb.DescribeTableInput{TableName: aws.String("scaled")}))(t)
	if units := described.Table.ProvisionedThroughput; aws.ToInt64(units.ReadCapacityUnits) != 4 ||
		aws.ToInt64(units.WriteCapacityUnits) != 3 {
		t.Errorf("got capacity %+v", units)
	}
}
