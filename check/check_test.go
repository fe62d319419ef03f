package check_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/check"
)

var here = check.Environment{Stack: "shop", Region: "eu-west-1", Account: "111122223333"}

func parse(t rapid.TB, text string) *check.Template {
	t.Helper()
	template, err := check.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return template
}

// one is a template with the resource R.
func one(kind, rest string) string {
	return fmt.Sprintf(`{"Resources": {"R": {"Type": %q, %s}}}`, kind, rest)
}

func properties(kind, properties string) string { return one(kind, `"Properties": {`+properties+`}`) }

const (
	keys   = `"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]`
	global = "AWS::DynamoDB::GlobalTable"
	local  = "AWS::DynamoDB::Table"
	pool   = "AWS::Cognito::UserPool"
	secret = "AWS::SecretsManager::Secret"
	bucket = "AWS::S3::Bucket"
)

// replica is one Region's settings.
func replica(region, settings string) string {
	if settings != "" {
		settings = ", " + settings
	}
	return fmt.Sprintf(`{"Region": %q%s}`, region, settings)
}

// replicated is a global table in the Regions.
func replicated(rest string, replicas ...string) string {
	return properties(global, keys+rest+`, "Replicas": [`+strings.Join(replicas, ", ")+`]`)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const (
		on   = `"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}`
		off  = `"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": false}`
		week = `"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 7}`
		full = `"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": "true", "RecoveryPeriodInDays": "35"}`
	)
	ttl := func(attribute string, enabled bool) string {
		return replicated(fmt.Sprintf(`, "TimeToLiveSpecification": {"AttributeName": %q, "Enabled": %v}`, attribute,
			enabled), replica("eu-west-1", ""))
	}
	stream := func(view string, regions ...string) string {
		var replicas []string
		for _, region := range regions {
			replicas = append(replicas, replica(region, ""))
		}
		if view == "" {
			return replicated("", replicas...)
		}
		return replicated(`, "StreamSpecification": {"StreamViewType": "`+view+`"}`, replicas...)
	}
	const policy = `"ResourcePolicy": {"PolicyDocument": {"Statement": []}}`
	warm := func(reads, writes int) string {
		return fmt.Sprintf(`, "WarmThroughput": {"ReadUnitsPerSecond": %d, "WriteUnitsPerSecond": %d}`, reads, writes)
	}
	indexWarm := func(reads, writes int) string {
		return `, "GlobalSecondaryIndexes": [{"IndexName": "I", "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}` +
			warm(reads, writes) + `}]`
	}
	kinesis := func(stream string) string { return `"KinesisStreamSpecification": {"StreamArn": "` + stream + `"}` }
	kept := `"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain", "Properties": {` + keys + `}`
	schema := func(attributes string) string { return properties(pool, `"Schema": [`+attributes+`]`) }
	// former is a bucket that keeps former versions for that many days.
	former := func(versioned bool, days int) string {
		status := map[bool]string{true: "Enabled", false: "Suspended"}[versioned]
		return properties(bucket,
			fmt.Sprintf(
				`"VersioningConfiguration": {"Status": %q}, "LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "NoncurrentVersionExpiration": {"NoncurrentDays": %d}}]}`,
				status, days))
	}
	// tagged is one that does so for objects with a tag, and ruled adds a second rule.
	tagged := func(days int) string {
		return strings.Replace(former(true, days), `{"Status": "Enabled", "N`,
			`{"Status": "Enabled", "TagFilters": [{"Key": "a", "Value": "b"}], "N`, 1)
	}
	ruled := func(bucket string, days int) string {
		return strings.Replace(bucket, `"Rules": [`,
			fmt.Sprintf(`"Rules": [{"Status": "Enabled", "NoncurrentVersionExpiration": {"NoncurrentDays": %d}}, `,
				days), 1)
	}
	const empty = `{"Resources": {}}`
	refuse, warn := check.Refusal, check.Warning
	type finding struct {
		severity check.Severity
		id       string
		// says is part of what the finding says, and first begins its first step.
		says, first string
	}
	for name, test := range map[string]struct {
		deployed, proposed string
		want               []finding
	}{
		"TableDropped": {properties(local, keys), empty,
			[]finding{{refuse, "drop:R", "deletes it", "Put it back"}}},
		"RetainedTableDropped": {one(global, kept), empty,
			[]finding{{refuse, "drop:R", "leaves it behind", "Put it back"}}},
		"LogicalIDChanged": {properties(local, keys), strings.Replace(properties(local, keys), `"R"`, `"New"`, 1),
			[]finding{{refuse, "drop:R", "New is new",
				`Keep the logical id: leave the construct's id and its place in the tree as they were, or call OverrideLogicalId("R")`}}},
		"NamedLogicalIDChanged": {properties(local, keys+`, "TableName": "t"`),
			strings.Replace(properties(local, keys+`, "TableName": "t"`), `"R"`, `"New"`, 1),
			[]finding{{refuse, "drop:R", "there cannot be two with the name t", "Keep the logical id"}}},
		"AnotherTableInstead": {properties(local, keys),
			strings.NewReplacer(`"R"`, `"New"`, "pk", "id").Replace(properties(local, keys)),
			[]finding{{refuse, "drop:R", "no longer in the template", "Put it back"}}},
		"NamedByPrefix": {properties(local, keys), properties(local, keys+`, "TableName": "a-t"`),
			[]finding{{refuse, "rename:R", "from one that CloudFormation has given to a-t", "Leave the name"}}},
		"Renamed": {properties(local, keys+`, "TableName": "a"`),
			properties(local, keys+`, "TableName": "b"`),
			[]finding{{refuse, "rename:R", "from a to b", "Leave the name as it is deployed (a)"}}},
		"SameNameOtherwise": {properties(local, keys+`, "TableName": "shop-eu-west-1"`),
			properties(local,
				keys+`, "TableName": {"Fn::Join": ["-", [{"Ref": "AWS::StackName"}, {"Ref": "AWS::Region"}]]}`), nil},
		"SameNameBySub": {properties(local, keys+`, "TableName": "shop-eu-west-1"`),
			properties(local, keys+`, "TableName": {"Fn::Sub": "${AWS::StackName}-${AWS::Region}"}`), nil},
		"TypeChanged": {properties(local, keys), properties(global, keys),
			[]finding{{refuse, "type:R", "Update of resource type is not permitted", "To keep its content"}}},
		"KeysChanged": {properties(local, keys),
			properties(local, strings.Replace(keys, `"pk", "KeyType"`, `"sk", "KeyType"`, 1)),
			[]finding{{refuse, "replace:R", "from (pk S HASH) to (sk S HASH)", "Deploy 1: a second table"}}},
		"SortKeyAdded": {properties(local, keys),
			properties(local, strings.Replace(keys, `"HASH"}`, `"HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}`,
				1)), []finding{{refuse, "replace:R", "pk S HASH, sk S RANGE", "Deploy 1: a second table"}}},
		"KeyTypeChanged": {properties(local, keys),
			properties(local, strings.Replace(keys, `"pk", "AttributeType": "S"`, `"pk", "AttributeType": "N"`, 1)),
			[]finding{{refuse, "replace:R", "pk N HASH", "Deploy 1"}}},
		"NamedKeysChanged": {properties(local, keys+`, "TableName": "t"`),
			properties(local, strings.Replace(keys, `"pk", "KeyType"`, `"sk", "KeyType"`, 1)+`, "TableName": "t"`),
			[]finding{{refuse, "replace:R", "custom-named", "Deploy 1"}}},
		"AttributeAdded": {properties(local, keys),
			properties(local, strings.Replace(keys, `[{`, `[{"AttributeName": "x", "AttributeType": "N"}, {`, 1)), nil},
		"LocalIndexAdded": {properties(local, keys),
			properties(local,
				keys+`, "LocalSecondaryIndexes": [{"IndexName": "L", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]`),
			[]finding{{refuse, "replace:R", "local secondary indexes", "Deploy 1"}}},
		"ImportLeftOut": {properties(local, keys+`, "ImportSourceSpecification": {"InputFormat": "CSV"}`),
			properties(local, keys), []finding{{refuse, "replace:R", "ImportSourceSpecification",
				"Leave ImportSourceSpecification"}}},
		"TTLAttribute": {ttl("a", true), ttl("b", true),
			[]finding{{refuse, "ttl:R", "from a to b", "Write the new attribute b"}}},
		"TTLOff": {ttl("a", true), ttl("a", false),
			[]finding{{warn, "ttl-off:R", "no longer expire", "Make sure"}}},
		"TTLOn": {replicated("", replica("eu-west-1", "")), ttl("a", true),
			[]finding{{warn, "ttl-on:R", "by the attribute a", "Make sure"}}},
		"TTLStaysOff": {replicated("", replica("eu-west-1", "")), ttl("a", false), nil},
		"StreamView": {stream("NEW_IMAGE", "eu-west-1"), stream("NEW_AND_OLD_IMAGES", "eu-west-1"),
			[]finding{{refuse, "stream:R", "another ARN", "Stop the writers"}}},
		"StreamOff": {stream("NEW_IMAGE", "eu-west-1"), stream("", "eu-west-1"),
			[]finding{{refuse, "stream:R", "from NEW_IMAGE to none", "Stop the writers"}}},
		"StreamOn": {stream("", "eu-west-1"), stream("NEW_IMAGE", "eu-west-1"), nil},
		"StreamOfGlobalTable": {stream("NEW_AND_OLD_IMAGES", "eu-west-1", "us-east-1"),
			stream("", "eu-west-1", "us-east-1"),
			[]finding{{refuse, "stream:R", "while the table has one replica", "Leave the stream"}}},
		"StreamAndReplica": {stream("NEW_AND_OLD_IMAGES", "eu-west-1", "us-east-1"),
			stream("NEW_IMAGE", "eu-west-1"), []finding{
				{refuse, "stream:R", "another ARN",
					"Deploy 1: the deployed template, without the replica in us-east-1"}}},
		"RecoveryOff": {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", off)),
			[]finding{{refuse, "recovery:R", "switched off", "Leave it on"}}},
		"RecoveryLeftOut": {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", "")),
			[]finding{{refuse, "recovery:R", "switched off", "Leave it on"}}},
		"RecoveryOffRegional": {properties(local, keys+", "+on), properties(local, keys),
			[]finding{{refuse, "recovery:R", "switched off", "Leave it on"}}},
		"RecoveryShortened": {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", week)),
			[]finding{{refuse, "recovery-period:R", "from 35 to 7", "Leave it as deployed"}}},
		"RecoveryLonger": {replicated("", replica("eu-west-1", week)), replicated("", replica("eu-west-1", on)),
			nil},
		"RecoveryWritten": {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", full)),
			nil},
		"RecoveryOfOneReplica": {replicated("", replica("eu-west-1", on), replica("us-east-1", on)),
			replicated("", replica("eu-west-1", on), replica("us-east-1", off)),
			[]finding{{refuse, "recovery-us-east-1:R", "in us-east-1", "Leave it on"}}},
		"RegionWritten": {replicated("", `{"Region": {"Ref": "AWS::Region"}}`),
			replicated("", replica("eu-west-1", "")), nil},
		"ReplicaAlone": {replicated("", replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", ""), replica("us-east-1", "")), nil},
		"TwoReplicas": {replicated("", replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", ""), replica("us-east-1", ""), replica("us-west-2", "")),
			[]finding{{refuse, "replicas:R", "one replica in one update",
				"Deploy 1: the deployed template, and the replica in us-east-1"}}},
		"ReplicaAndStream": {stream("", "eu-west-1"), stream("NEW_AND_OLD_IMAGES", "eu-west-1", "us-east-1"), nil},
		"ReplicaAndTTL": {ttl("a", false),
			strings.Replace(ttl("a", true), `{"Region": "eu-west-1"}`,
				`{"Region": "eu-west-1"}, {"Region": "us-east-1"}`, 1),
			[]finding{{warn, "replicas:R", "half done", "Deploy the replica alone"},
				{warn, "ttl-on:R", "by the attribute a", "Make sure"}}},
		"ReplicaAndOther": {replicated("", replica("eu-west-1", off)),
			replicated("", replica("eu-west-1", on), replica("us-east-1", "")),
			[]finding{{warn, "replicas:R", "half done", "Deploy the replica alone"}}},
		"ReplicaWithPolicy": {replicated("", replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", ""), replica("us-east-1", policy)),
			[]finding{{refuse, "replicas:R", "that in us-east-1 has a policy",
				"Deploy 1: the deployed template, and the replica in us-east-1 without"}}},
		"ReplicaStreamPolicy": {replicated("", replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", ""),
				replica("us-east-1", `"ReplicaStreamSpecification": {`+policy+`}`)),
			[]finding{{refuse, "replicas:R", "that in us-east-1 has a policy", "Deploy 1"}}},
		"TwoReplicasWithPolicy": {replicated("", replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", ""), replica("us-east-1", policy), replica("us-west-2", "")),
			[]finding{{refuse, "replicas:R", "one replica in one update",
				"Deploy 1: the deployed template, and the replica in us-east-1, without its policies."}}},
		"PolicyOfReplica": {replicated("", replica("eu-west-1", ""), replica("us-east-1", "")),
			replicated("", replica("eu-west-1", policy), replica("us-east-1", policy)), nil},
		"StreamWithPolicy": {stream("", "eu-west-1"),
			replicated(`, "StreamSpecification": {"StreamViewType": "NEW_IMAGE"}`,
				replica("eu-west-1", `"ReplicaStreamSpecification": {`+policy+`}`)), nil},
		"OwnReplica": {replicated("", replica("eu-west-1", "")), replicated("", replica("us-east-1", "")),
			[]finding{{refuse, "replicas:R", "Region of the stack", "Keep the replica in eu-west-1"}}},
		"ProtectionOff": {replicated("", replica("eu-west-1", `"DeletionProtectionEnabled": true`)),
			replicated("", replica("eu-west-1", "")),
			[]finding{{warn, "protection:R", "deletion protection", "Leave it on"}}},
		"Key": {replicated("", replica("eu-west-1", `"SSESpecification": {"KMSMasterKeyId": "a"}`)),
			replicated("", replica("eu-west-1", `"SSESpecification": {"KMSMasterKeyId": "b"}`)),
			[]finding{{warn, "key:R", "from a to b", "Keep the old key"}}},
		"Encryption": {replicated(`, "SSESpecification": {"SSEEnabled": true}`, replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", "")),
			[]finding{{warn, "encryption:R", "DynamoDB owns", "Keep the old key"}}},
		"Warmer": {replicated(warm(4000, 1000)+indexWarm(10, 10), replica("eu-west-1", "")),
			replicated(warm(5000, 1000)+indexWarm(20, 10), replica("eu-west-1", "")), nil},
		"Cooler": {replicated(warm(5000, 1000), replica("eu-west-1", "")),
			replicated(warm(4000, 1000), replica("eu-west-1", "")),
			[]finding{{refuse, "warm:R", "of the table (WarmThroughput.ReadUnitsPerSecond) falls from 5000 to 4000",
				"Leave the values"}}},
		"CoolerRegional": {properties(local, keys+warm(5000, 1000)), properties(local, keys+warm(5000, 999)),
			[]finding{{refuse, "warm:R", "of the table (WarmThroughput.WriteUnitsPerSecond) falls from 1000 to 999",
				"Leave the values"}}},
		"CoolerIndex": {replicated(indexWarm(10, 10), replica("eu-west-1", "")),
			replicated(indexWarm(10, 9), replica("eu-west-1", "")),
			[]finding{{refuse, "warm:R", "of the index (GlobalSecondaryIndexes.I) falls from 10 to 9 " +
				"(WriteUnitsPerSecond)", "Leave the values"}}},
		"CoolerInNewIndex": {replicated(indexWarm(10, 10), replica("eu-west-1", "")),
			replicated(strings.Replace(indexWarm(10, 9), "ALL", "KEYS_ONLY", 1), replica("eu-west-1", "")),
			[]finding{{refuse, "indexes:R", "KEYS_ONLY", "For the commands"}}},
		"WarmthLeftOut": {replicated(warm(5000, 1000), replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", "")), nil},
		"IndexAttributeType": {replicated(indexWarm(1, 1), replica("eu-west-1", "")),
			strings.Replace(replicated(indexWarm(1, 1), replica("eu-west-1", "")), `"sk", "AttributeType": "S"`,
				`"sk", "AttributeType": "N"`, 1), []finding{
				{refuse, "indexes:R", "one type in all indexes", "Leave the type of sk as it is"}}},
		"IndexTypeRegional": {properties(local, keys+indexWarm(1, 1)),
			strings.Replace(properties(local, keys+indexWarm(1, 1)), `"sk", "AttributeType": "S"`,
				`"sk", "AttributeType": "N"`, 1), []finding{
				{refuse, "replace:R", "the type of the attribute sk changes from S to N",
					"Leave the type of sk as it is"}}},
		"KinesisStreamOn": {replicated("", replica("eu-west-1", "")),
			replicated("", replica("eu-west-1", kinesis("a"))), nil},
		"KinesisStreamChanged": {replicated("", replica("eu-west-1", kinesis("a"))),
			replicated("", replica("eu-west-1", kinesis("b"))),
			[]finding{{warn, "kinesis:R", "from a to b", "Make sure"}}},
		"KinesisStreamOff": {properties(local, keys+", "+kinesis("a")), properties(local, keys),
			[]finding{{warn, "kinesis:R", "from a to none", "Make sure"}}},
		"Billing": {properties(local, keys), properties(local, keys+`, "BillingMode": "PAY_PER_REQUEST"`),
			[]finding{{warn, "billing:R", "four times", "Make sure"}}},
		"TableClass": {properties(local, keys),
			properties(local, keys+`, "TableClass": "STANDARD_INFREQUENT_ACCESS"`),
			[]finding{{warn, "class:R", "twice in 30 days", "Make sure"}}},
		"NoLongerRetained": {one(global, kept), properties(global, keys),
			[]finding{{warn, "policy:R", "DeletionPolicy changes from Retain to Delete, UpdateReplacePolicy",
				"Leave"}}},
		"NowRetained": {properties(global, keys), one(global, kept), nil},
		"ConditionAdded": {properties(local, keys), one(local, `"Condition": "Prod", "Properties": {`+keys+`}`),
			[]finding{{refuse, "condition:R", "from none to Prod", "Make sure"}}},
		"BucketRenamed": {properties(bucket, `"BucketName": "a"`), properties(bucket, `"BucketName": "b"`),
			[]finding{{refuse, "rename:R", "from a to b", "Leave the name"}}},
		"BucketDropped": {properties(bucket, ""), empty,
			[]finding{{refuse, "drop:R", "objects", "Put it back"}}},
		"BucketExpiry": {properties(bucket, ""),
			properties(bucket, `"LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "ExpirationInDays": 1}]}`),
			[]finding{{warn, "expiry:R", "old enough", "Make sure"}}},
		"BucketUploadsExpire": {properties(bucket, ""),
			properties(bucket,
				`"LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}]}`), nil},
		"VersioningSuspended": {properties(bucket, `"VersioningConfiguration": {"Status": "Enabled"}`),
			properties(bucket, ""), []finding{{warn, "versioning:R", "suspended", "Leave it on"}}},
		"SecretDropped": {properties(secret, ""), empty,
			[]finding{{refuse, "drop:R", "recovery window", "Put it back"}}},
		"SecretRegenerated": {properties(secret, `"GenerateSecretString": {"PasswordLength": 64}`),
			properties(secret, `"GenerateSecretString": {"PasswordLength": 32}`),
			[]finding{{refuse, "secret-value:R", "a new value", "Leave it as it is deployed"}}},
		"SecretDescribed": {properties(secret, `"GenerateSecretString": {"PasswordLength": 64}`),
			properties(secret, `"Description": "d", "GenerateSecretString": {"PasswordLength": "64"}`), nil},
		"SecretRenamed": {properties(secret, `"Name": "a"`), properties(secret, ""),
			[]finding{{refuse, "rename:R", "from a to one that CloudFormation gives", "Leave the name"}}},
		"SignIn": {properties(pool, `"UsernameAttributes": ["email"]`),
			properties(pool, `"AliasAttributes": ["email"]`),
			[]finding{{refuse, "users:R", "does not change how users sign in", "Leave it"}}},
		"UserNameCase": {properties(pool, `"UsernameConfiguration": {"CaseSensitive": false}`),
			properties(pool, `"UsernameConfiguration": {"CaseSensitive": true}`),
			[]finding{{refuse, "users:R", "UsernameConfiguration", "Leave it"}}},
		"UserAttributeRemoved": {schema(`{"Name": "a"}`), schema(``),
			[]finding{{refuse, "users:R", "the attribute a", "Leave it"}}},
		"UserAttributeRequired": {schema(``), schema(`{"Name": "a", "Required": true}`),
			[]finding{{refuse, "users:R", "now required", "Leave it"}}},
		"UserAttributeAdded": {schema(``), schema(`{"Name": "a"}`), nil},
		"UsersUnprotected": {properties(pool, `"DeletionProtection": "ACTIVE"`), properties(pool, ""),
			[]finding{{warn, "protection:R", "deletion protection", "Leave it on"}}},
		"UserPoolDropped": {properties(pool, ""), empty,
			[]finding{{refuse, "drop:R", "sign up again", "Put it back"}}},
		"KeyDropped": {properties("AWS::KMS::Key", ""), empty,
			[]finding{{refuse, "drop:R", "backups included", "Put it back"}}},
		"MappingMoved": {properties("AWS::Lambda::EventSourceMapping", `"StartingPosition": "LATEST"`),
			properties("AWS::Lambda::EventSourceMapping", `"StartingPosition": "TRIM_HORIZON"`),
			[]finding{{warn, "replace:R", "its place in the stream", "Leave StartingPosition"}}},
		"KeyMultiRegion": {properties("AWS::KMS::Key", ""), properties("AWS::KMS::Key", `"MultiRegion": true`),
			[]finding{{refuse, "unsupported:R", "from false to true", "Leave MultiRegion"}}},
		"KeySingleRegion": {properties("AWS::KMS::Key", `"MultiRegion": true`), properties("AWS::KMS::Key", ""),
			[]finding{{refuse, "unsupported:R", "from true to false", "Leave MultiRegion"}}},
		"KeyRegionsWritten": {properties("AWS::KMS::Key", ""), properties("AWS::KMS::Key", `"MultiRegion": false`),
			nil},
		"DomainNameDropped": {properties("AWS::ApiGatewayV2::DomainName", `"DomainName": "a"`), empty,
			[]finding{{refuse, "drop:R", "clients", "Put it back"}}},
		"DomainNameChanged": {properties("AWS::ApiGatewayV2::DomainName", `"DomainName": "a"`),
			properties("AWS::ApiGatewayV2::DomainName", `"DomainName": "b"`),
			[]finding{{refuse, "rename:R", "from a to b", "Leave the name"}}},
		"FormerVersions": {former(true, 30), former(true, 7),
			[]finding{{refuse, "former:R", "kept 7 days, and were kept 30", "Leave it at 30"}}},
		"FormerVersionsNow": {properties(bucket, `"VersioningConfiguration": {"Status": "Enabled"}`),
			former(true, 7), []finding{{refuse, "former:R", "were kept for ever", "Leave the rule out"}}},
		"FormerVersionsLonger": {former(true, 7), former(true, 30), nil},
		"FormerVersionsNone":   {former(false, 30), former(false, 7), nil},
		"FormerVersionsOld": {former(true, 30),
			strings.Replace(former(true, 7), `"NoncurrentVersionExpiration": {"NoncurrentDays": 7}`,
				`"NoncurrentVersionExpirationInDays": "7"`, 1),
			[]finding{{refuse, "former:R", "kept 7 days, and were kept 30", "Leave it at 30"}}},
		"FormerVersionsOfMore": {strings.Replace(former(true, 7), `"Status": "Enabled", "`,
			`"Status": "Enabled", "Prefix": "a/", "`, 1), former(true, 7),
			[]finding{{refuse, "former:R", "were kept for ever", "Leave the rule out"}}},
		"FormerVersionsTagged": {tagged(7), tagged(7), nil},
		"FormerVersionsOfAll": {tagged(7), former(true, 7),
			[]finding{{refuse, "former:R", "were kept for ever", "Leave the rule out"}}},
		"FormerVersionsOfTwo": {ruled(former(true, 30), 7), former(true, 14), nil},
		"FormerVersionsOfLess": {former(true, 7),
			strings.Replace(former(true, 7), `"Status": "Enabled", "`, `"Status": "Enabled", "Prefix": "a/", "`, 1),
			nil},
		"QueueDropped": {properties("AWS::SQS::Queue", ""), empty,
			[]finding{{warn, "drop:R", "messages", "Put it back"}}},
		"LogsShorter": {properties("AWS::Logs::LogGroup", `"RetentionInDays": 30`),
			properties("AWS::Logs::LogGroup", `"RetentionInDays": 7`),
			[]finding{{warn, "retention:R", "from 30 to 7", "Export"}}},
		"LogsForEver": {properties("AWS::Logs::LogGroup", `"RetentionInDays": 30`),
			properties("AWS::Logs::LogGroup", ""), nil},
		"LogsNoLongerForEver": {properties("AWS::Logs::LogGroup", ""),
			properties("AWS::Logs::LogGroup", `"RetentionInDays": 30`),
			[]finding{{warn, "retention:R", "from no limit to 30", "Export"}}},
		"GroupDropped": {properties("AWS::Cognito::UserPoolGroup", `"UserPoolId": "p", "GroupName": "admin"`), empty,
			[]finding{{refuse, "drop:R", "its members lose the right", "Put it back"}}},
		"GroupRenamed": {properties("AWS::Cognito::UserPoolGroup", `"UserPoolId": "p", "GroupName": "admin"`),
			properties("AWS::Cognito::UserPoolGroup", `"UserPoolId": "p", "GroupName": "admins"`),
			[]finding{{refuse, "rename:R", "from admin to admins", "Leave the name"}}},
		"LogGroupRenamed": {properties("AWS::Logs::LogGroup", `"LogGroupName": "a"`),
			properties("AWS::Logs::LogGroup", `"LogGroupName": "b"`),
			[]finding{{refuse, "rename:R", "from a to b", "If you need the change: Export its events"}}},
		"DatabaseDropped": {properties("AWS::RDS::DBCluster", ""), empty,
			[]finding{{refuse, "drop:R", "database cluster", "Put it back"}}},
		"SnapshotTaken": {one("AWS::RDS::DBCluster", `"DeletionPolicy": "Snapshot"`), empty,
			[]finding{{refuse, "drop:R", "takes a snapshot", "Put it back"}}},
		"AnyTypeChanged": {properties("AWS::Lambda::Function", ""), properties("AWS::SQS::Queue", ""),
			[]finding{{refuse, "type:R", "to AWS::SQS::Queue", "Give the new resource"}}},
		"NestedStack": {properties("AWS::CloudFormation::Stack", `"TemplateURL": "a"`),
			properties("AWS::CloudFormation::Stack", `"TemplateURL": "b"`),
			[]finding{{warn, "nested:R", "not compare", "Compare it"}}},
		"APIReplaced": {properties("AWS::ApiGatewayV2::Api", `"ProtocolType": "HTTP"`),
			properties("AWS::ApiGatewayV2::Api", `"ProtocolType": "WEBSOCKET"`),
			[]finding{{warn, "replace:R", "address changes", "Leave ProtocolType"}}},
		"FunctionDropped": {properties("AWS::Lambda::Function", ""), empty, nil},
		"NoValue": {properties(secret, `"Name": {"Ref": "AWS::NoValue"}`), properties(secret, `"Name": null`),
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployed, proposed := parse(t, test.deployed), parse(t, test.proposed)
			got := check.Compare(deployed, proposed, here)
			if len(got) != len(test.want) {
				t.Fatalf("got %+v", got)
			}
			for i, want := range test.want {
				f := got[i]
				if f.Severity != want.severity || f.ID != want.id || !strings.Contains(f.Got+" "+f.Why, want.says) ||
					len(f.Steps) == 0 || !strings.HasPrefix(f.Steps[0], want.first) {
					t.Errorf("got %+v, want %+v", f, want)
				}
			}
			for _, template := range []*check.Template{deployed, proposed} {
				if got := check.Compare(template, template, here); len(got) != 0 {
					t.Errorf("a template and itself: got %+v", got)
				}
			}
		})
	}
}

// TestDropSteps: the steps about what goes say how to keep what it holds, or who has to know.
func TestDropSteps(t *testing.T) {
	t.Parallel()
	const physical = "$(aws cloudformation describe-stack-resource --stack-name shop --logical-resource-id "
	for kind, test := range map[string]struct{ properties, says string }{
		"AWS::SQS::Queue":              {`"QueueName": "q"`, "--queue-url " + physical + "R "},
		"AWS::Logs::LogGroup":          {`"LogGroupName": "g"`, "create-export-task --log-group-name g --from 0"},
		"AWS::ApiGatewayV2::Api":       {"", "tell clients its address"},
		"AWS::Cognito::UserPoolClient": {"", "give each app that has the id " + physical + "R "},
		"AWS::Cognito::UserPoolDomain": {`"Domain": "d"`, "Tell each app that has the address of d"},
		"AWS::Cognito::UserPoolGroup": {`"UserPoolId": {"Ref": "R"}, "GroupName": "admin"`,
			"list-users-in-group --user-pool-id " + physical + "R "},
	} {
		got := check.Compare(parse(t, properties(kind, test.properties)), parse(t, `{"Resources": {}}`), here)
		if len(got) != 1 || !strings.Contains(strings.Join(got[0].Steps, "\n"), test.says) {
			t.Errorf("%s: got %+v, want %q in the steps", kind, got, test.says)
		}
	}
}

// TestParameters: values are those that are deployed, or the defaults.
func TestParameters(t *testing.T) {
	t.Parallel()
	text := `{"Parameters": {"Name": {"Type": "String", "Default": "a"}, "Found": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "a"}}, "Resources": {"R": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Ref": "Name"}}}}}`
	byParameter, literal := parse(t, text), parse(t, properties(bucket, `"BucketName": "a"`))
	found := parse(t, strings.Replace(text, `{"Ref": "Name"}`, `{"Ref": "Found"}`, 1))
	if got := check.Compare(byParameter, literal, here); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	other := here
	other.Parameters = map[string]string{"Name": "b"}
	if got := check.Compare(byParameter, literal, other); len(got) != 1 || got[0].ID != "rename:R" {
		t.Errorf("got %+v", got)
	}
	// The default of the other type is the name of a parameter in Systems Manager.
	if got := check.Compare(found, literal, here); len(got) != 1 || got[0].ID != "rename:R" {
		t.Errorf("got %+v", got)
	}
}

// TestConditions: the content of a condition counts, not only its name.
func TestConditions(t *testing.T) {
	t.Parallel()
	text := `{"Conditions": {"C": {"Fn::Equals": ["a", "a"]}}, "Resources": {"R": {"Type": "AWS::S3::Bucket", "Condition": "C"}}}`
	deployed, proposed := parse(t, text), parse(t, strings.Replace(text, `"a"]`, `"b"]`, 1))
	if got := check.Compare(deployed, proposed, here); len(got) != 1 || got[0].ID != "condition:R" {
		t.Errorf("got %+v", got)
	}
}

func TestReplicaWithOthers(t *testing.T) {
	t.Parallel()
	add := func(template, memory string) string {
		return strings.Replace(template, `{"Resources": {`,
			`{"Resources": {"F": {"Type": "AWS::Lambda::Function", "Properties": {"MemorySize": `+memory+`}}, `, 1)
	}
	deployed := add(replicated("", replica("eu-west-1", ""), replica("us-east-1", "")), "128")
	proposed := add(replicated("", replica("eu-west-1", "")), "256")
	got := check.Compare(parse(t, deployed), parse(t, proposed), here)
	if len(got) != 1 || got[0].ID != "replicas:R" || got[0].Severity != check.Warning {
		t.Errorf("got %+v", got)
	}
}

// sharded is a function that spreads its writes, and one with the same table that has nothing to do with it.
func sharded(variables string) string {
	return `{"Resources": {"A": {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {"ITEMS_TABLE": {"Ref": "T"}}}}},
		"F": {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {"ITEMS_TABLE": {"Ref": "T"}, "PEOPLE_TABLE": "people", ` + variables + `}}}}}}`
}

func TestShards(t *testing.T) {
	t.Parallel()
	both := func(written, read string) string {
		return sharded(fmt.Sprintf(`"SHARDS": %q, "READ_SHARDS": %q`, written, read))
	}
	other := strings.NewReplacer(`"F"`, `"G"`, `"ITEMS_TABLE": {"Ref": "T"}, "PEOPLE_TABLE": "people"`,
		`"ITEMS_TABLE": {"Ref": "U"}`)
	// together has the function of one template, and as G that of the other.
	together := func(a, b string) string {
		return strings.TrimSuffix(a, "}}") + strings.Replace(b, `{"Resources": {"A"`, `, "B"`, 1)
	}
	for name, test := range map[string]struct {
		deployed, proposed string
		severity           check.Severity
		says               string
	}{
		"More": {both("8", "8"), both("64", "64"), check.Refusal,
			"SHARDS goes from 8 to 64, and deployed functions read 8"},
		"MoreAfterReading": {both("8", "64"), both("64", "64"), "", ""},
		"MoreRead":         {both("8", "8"), both("8", "64"), "", ""},
		"MoreByDefault": {sharded(`"SHARDS": 8`), sharded(`"SHARDS": 64`), check.Refusal,
			"deployed functions read 8"},
		"Fewer": {both("64", "64"), both("8", "8"), check.Refusal,
			"READ_SHARDS goes from 64 to 8, and deployed functions write 64"},
		"FewerWritten":      {both("64", "64"), both("8", "64"), "", ""},
		"FewerAfterwards":   {both("8", "64"), both("8", "8"), check.Warning, "READ_SHARDS goes from 64 to 8"},
		"Same":              {both("8", "64"), both("8", "64"), "", ""},
		"Under1":            {both("0", "0"), both("1", "1"), "", ""},
		"ReadsWhatItWrites": {both("8", "1"), both("8", "8"), "", ""},
		"AnotherTable": {both("8", "8"), strings.ReplaceAll(
			strings.Replace(both("64", "64"), `"people"`, `"them"`, 1), `"T"`, `"U"`), "", ""},
		"AnotherFunction": {both("8", "8"), strings.Replace(both("64", "64"), `"F"`, `"G"`, 1), check.Refusal,
			"deployed functions read 8"},
		"TwoPlatforms": {together(both("8", "8"), other.Replace(both("64", "64"))),
			together(both("8", "8"), other.Replace(both("64", "64"))), "", ""},
		"OneOfTwo": {together(both("8", "8"), other.Replace(both("64", "64"))),
			together(both("16", "16"), other.Replace(both("64", "64"))), check.Refusal, "SHARDS goes from 8 to 16"},
		"NotANumber":  {both("8", "8"), both("many", "64"), "", ""},
		"NotReadable": {both("8", "8"), both("64", "all"), "", ""},
		"NotAFunction": {strings.ReplaceAll(both("8", "8"), "Lambda::Function", "Lambda::Layer"),
			strings.ReplaceAll(both("64", "64"), "Lambda::Function", "Lambda::Layer"), "", ""},
		"NoTable": {strings.ReplaceAll(both("8", "8"), "_TABLE", ""),
			strings.ReplaceAll(both("64", "64"), "_TABLE", ""), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := slices.DeleteFunc(check.Compare(parse(t, test.deployed), parse(t, test.proposed), here),
				func(f check.Change) bool {
					return strings.HasPrefix(f.ID, "stops-variable:")
				})
			wantOne(t, got, "shards:", test.severity, test.says)
		})
	}
}

var shardStep = regexp.MustCompile(`^Deploy 1: this template, but with SHARDS (\d+) and READ_SHARDS (\d+): `)

// TestShardPlan follows the steps of any change of shards: at no moment do functions of two configurations that follow
// each other write what the other does not read, and nothing is refused on the way.
func TestShardPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(1, 256)
		type configuration struct{ written, read int }
		draw := func(label string) configuration {
			written := number.Draw(t, label)
			return configuration{written, rapid.IntRange(written, 256).Draw(t, label+" read")}
		}
		compare := func(a, b configuration) []check.Change {
			template := func(c configuration) *check.Template {
				return parse(t, sharded(fmt.Sprintf(`"SHARDS": %d, "READ_SHARDS": %d`, c.written, c.read)))
			}
			return check.Compare(template(a), template(b), here)
		}
		before, after := draw("before"), draw("after")
		blind := func(a, b configuration) bool { return a.written > b.read || b.written > a.read }
		got := compare(before, after)
		if refused := len(got) > 0 && got[0].Severity == check.Refusal; refused != blind(before, after) {
			t.Fatalf("%v to %v: got %+v", before, after, got)
		} else if !refused {
			return
		}
		var between configuration
		match := shardStep.FindStringSubmatch(got[0].Steps[0])
		if match == nil || !strings.HasPrefix(got[0].Steps[len(got[0].Steps)-1], "Deploy 2: this template. By: ") {
			t.Fatalf("got %q", got[0].Steps)
		}
		between.written, _ = strconv.Atoi(match[1])
		between.read, _ = strconv.Atoi(match[2])
		if got := compare(before, between); len(got) != 0 || blind(before, between) {
			t.Fatalf("%v to %v by %v: deployment 1: got %+v", before, after, between, got)
		}
		if got := compare(between, after); blind(between, after) || len(got) > 0 && got[0].Severity == check.Refusal {
			t.Fatalf("%v to %v by %v: deployment 2: got %+v", before, after, between, got)
		}
	})
}

// TestSteps makes the deployments that the steps of a refusal say: none is refused itself, unless its step says what to
// accept. [TestIndexPlan] and [TestShardPlan] do so for what has more ways than one.
func TestSteps(t *testing.T) {
	t.Parallel()
	const (
		policy = `"ResourcePolicy": {"PolicyDocument": {"Statement": []}}`
		stream = `, "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}`
		images = `, "StreamSpecification": {"StreamViewType": "NEW_IMAGE"}`
		expiry = `, "TimeToLiveSpecification": {"AttributeName": %q, "Enabled": %v}`
	)
	home, away, far := replica("eu-west-1", ""), replica("us-east-1", ""), replica("us-west-2", "")
	table := func(id, rest string) string {
		return strings.Replace(properties(local, keys+rest), `"R"`, fmt.Sprintf("%q", id), 1)
	}
	two := strings.Replace(table("R", ""), `{"Resources": {`,
		`{"Resources": {"New": {"Type": "AWS::DynamoDB::Table", "Properties": {`+
			strings.Replace(keys, `"pk"`, `"id"`, 2)+`}}, `, 1)
	for name, test := range map[string]struct {
		id, deployed string
		// deployments are what the steps say, in order; the template that is refused is the last, or the proposed one.
		deployments []string
		proposed    string
		// accepted has the ids that steps of that number tell to accept.
		accepted map[int]string
	}{
		"TTL": {id: "ttl:R", deployed: replicated(fmt.Sprintf(expiry, "a", true), home), deployments: []string{
			replicated(fmt.Sprintf(expiry, "a", false), home), replicated(fmt.Sprintf(expiry, "b", true), home),
		}},
		"StreamView": {id: "stream:R", deployed: replicated(stream, home), deployments: []string{
			replicated("", home), replicated(images, home),
		}, accepted: map[int]string{1: "stream:R"}},
		"StreamOff": {id: "stream:R", deployed: replicated(stream, home), deployments: []string{
			replicated("", home),
		}, accepted: map[int]string{1: "stream:R"}},
		"StreamViewAndReplicas": {id: "stream:R", deployed: replicated(stream, home, away, far), deployments: []string{
			replicated(stream, home, far), replicated(stream, home), replicated("", home), replicated(images, home),
		}, accepted: map[int]string{3: "stream:R"}},
		"Replicas": {id: "replicas:R", deployed: replicated(stream, home, replica("ap-south-1", "")),
			deployments: []string{
				replicated(stream, home, replica("ap-south-1", ""), away),
				replicated(stream, home, replica("ap-south-1", ""), away, far), replicated(stream, home, away, far),
				replicated(stream, replica("eu-west-1", policy), away, replica("us-west-2", policy)),
			}},
		"ReplicaPolicy": {id: "replicas:R", deployed: replicated(stream, home), deployments: []string{
			replicated(stream, home, away), replicated(stream, home, replica("us-east-1", policy)),
		}},
		"Keys": {id: "replace:R", deployed: table("R", ""), deployments: []string{
			two, two, two, strings.Replace(table("New", ""), `"pk"`, `"id"`, 2),
		}, proposed: strings.Replace(table("R", ""), `"pk"`, `"id"`, 2), accepted: map[int]string{4: "drop:R"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proposed := test.proposed
			if proposed == "" {
				proposed = test.deployments[len(test.deployments)-1]
			}
			var steps []string
			for _, finding := range check.Compare(parse(t, test.deployed), parse(t, proposed), here) {
				if finding.ID == test.id && finding.Severity == check.Refusal {
					steps = slices.DeleteFunc(slices.Clone(finding.Steps), func(step string) bool {
						return !deploys.MatchString(step)
					})
				}
			}
			if len(steps) != len(test.deployments) {
				t.Fatalf("got %d deployments: %q", len(steps), steps)
			}
			deployed := test.deployed
			for i, next := range test.deployments {
				if !strings.Contains(steps[i], " By: ") {
					t.Errorf("nothing makes %s", steps[i])
				}
				for _, finding := range check.Compare(parse(t, deployed), parse(t, next), here) {
					if finding.Severity == check.Refusal &&
						(finding.ID != test.accepted[i+1] || !strings.Contains(steps[i], "accept")) {
						t.Errorf("%s is refused: %+v", steps[i], finding)
					}
				}
				deployed = next
			}
		})
	}
}

// index is a global secondary index; the partition key tells two definitions apart.
type index struct{ name, key string }

func indexed(indexes []index) string {
	attributes, declared := map[string]bool{"pk": true}, []string{}
	for _, i := range indexes {
		attributes[i.key] = true
		declared = append(declared, fmt.Sprintf(
			`{"IndexName": %q, "KeySchema": [{"AttributeName": %q, "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["y", "x"]}}`,
			i.name, i.key))
	}
	var definitions []string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		definitions = append(definitions, fmt.Sprintf(`{"AttributeName": %q, "AttributeType": "S"}`, name))
	}
	return properties(global,
		fmt.Sprintf(
			`"AttributeDefinitions": [%s], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [%s], "Replicas": [{"Region": {"Ref": "AWS::Region"}}]`,
			strings.Join(definitions, ", "), strings.Join(declared, ", ")))
}

var (
	creates = regexp.MustCompile(
		`^Deploy (\d+): the deployed table, and the index (\S+) \((\S+) S HASH; INCLUDE x, y\)\. By: .+\.$`)
	deletes = regexp.MustCompile(`^Deploy (\d+): without the index (\S+)\. By: .+\.$`)
	deploys = regexp.MustCompile(`^Deploy (\d+): `)
)

// TestIndexPlan follows the steps of any change of indexes: each deployment makes one change, there are never more than
// 20 indexes, and the end is what the template wants, but for the names of changed indexes.
func TestIndexPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{4, 20}).Draw(t, "most")
		draw := func(label string) []index {
			names := rapid.SliceOfNDistinct(rapid.IntRange(1, 22), 0, most, rapid.ID).Draw(t, label)
			var indexes []index
			for _, n := range names {
				indexes = append(indexes, index{fmt.Sprintf("I%d", n),
					rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")})
			}
			return indexes
		}
		before, after := draw("before"), draw("after")
		have, want := map[string]string{}, map[string]string{}
		for _, i := range before {
			have[i.name] = i.key
		}
		for _, i := range after {
			want[i.name] = i.key
		}
		changes, replaced := 0, map[string]string{}
		for name, key := range want {
			switch was, ok := have[name]; {
			case !ok:
				changes++
			case was != key:
				changes += 2
				replaced[name] = key
			}
		}
		for name := range have {
			if _, ok := want[name]; !ok {
				changes++
			}
		}
		got := check.Compare(parse(t, indexed(before)), parse(t, indexed(after)), here)
		refused := len(got) == 1 && got[0].ID == "indexes:R" && got[0].Severity == check.Refusal
		if refused != (changes > 1) {
			t.Fatalf("%d changes: got %+v", changes, got)
		}
		if !refused {
			return
		}
		table := func() *check.Template {
			var indexes []index
			for _, name := range slices.Sorted(maps.Keys(have)) {
				indexes = append(indexes, index{name, have[name]})
			}
			return parse(t, indexed(indexes))
		}
		number, made := 0, 0
		deployed := table()
		for _, step := range got[0].Steps {
			if match := deploys.FindStringSubmatch(step); match != nil {
				if number++; match[1] != fmt.Sprint(number) {
					t.Fatalf("deployment %d is called %s", number, match[1])
				}
			}
			if match := creates.FindStringSubmatch(step); match != nil {
				if _, ok := have[match[2]]; ok {
					t.Fatalf("creates %s again: %v", match[2], got[0].Steps)
				}
				have[match[2]] = match[3]
				made++
			}
			if match := deletes.FindStringSubmatch(step); match != nil {
				if _, ok := have[match[2]]; !ok {
					t.Fatalf("deletes %s, which is not there: %v", match[2], got[0].Steps)
				}
				delete(have, match[2])
				made++
			}
			if len(have) > 20 {
				t.Fatalf("%d indexes: %v", len(have), got[0].Steps)
			}
			next := table()
			for _, finding := range check.Compare(deployed, next, here) {
				if finding.Severity == check.Refusal {
					t.Fatalf("%s is refused: %+v", step, finding)
				}
			}
			deployed = next
		}
		for name, key := range replaced {
			if _, sameName := have[name]; !sameName {
				if have[name+"-2"] != key {
					t.Fatalf("no successor of %s in %v: %v", name, have, got[0].Steps)
				}
				delete(have, name+"-2")
				have[name] = key
			}
		}
		if diff := cmp.Diff(want, have); diff != "" || made != changes {
			t.Fatalf("%d of %d changes; end (-want +got):\n%s%v", made, changes, diff, got[0].Steps)
		}
	})
}

func TestIndexDropped(t *testing.T) {
	t.Parallel()
	got := check.Compare(parse(t, indexed([]index{{"A", "a"}})), parse(t, indexed(nil)), here)
	if len(got) != 1 || got[0].ID != "index-drop:R" || got[0].Severity != check.Warning {
		t.Errorf("got %+v", got)
	}
}

// platforms are the templates of stacks that the CDK has synthesised.
func platforms(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.template.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	templates := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		templates[filepath.Base(path)] = string(text)
	}
	return templates
}

// edit returns the template after a change of its resources.
func edit(t testing.TB, text string, change func(resources map[string]map[string]any)) *check.Template {
	t.Helper()
	var template map[string]any
	if err := json.Unmarshal([]byte(text), &template); err != nil {
		t.Fatal(err)
	}
	resources := map[string]map[string]any{}
	for id, resource := range template["Resources"].(map[string]any) {
		resources[id] = resource.(map[string]any)
	}
	change(resources)
	template["Resources"] = resources
	edited, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(edited))
}

// TestPlatforms: a change of every deployment is no finding, and a store of data cannot go unseen.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	hash := regexp.MustCompile(`[0-9a-f]{64}`)
	for name, text := range platforms(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployed := parse(t, text)
			if !hash.MatchString(text) {
				t.Fatal("no asset in the template")
			}
			harmless := edit(t, hash.ReplaceAllString(text, strings.Repeat("0", 64)),
				func(resources map[string]map[string]any) {
					for id, resource := range resources {
						resource["Metadata"] = map[string]any{"aws:cdk:path": "Stack/" + id}
						if resource["Type"] == "AWS::Lambda::Function" {
							resource["Properties"].(map[string]any)["MemorySize"] = 2048
						}
					}
					resources["New"] = map[string]any{"Type": "AWS::DynamoDB::Table", "Properties": map[string]any{}}
				})
			for what, proposed := range map[string]*check.Template{"itself": deployed, "new hashes": harmless} {
				if got := check.Compare(deployed, proposed, here); len(got) != 0 {
					t.Errorf("%s: got %+v", what, got)
				}
			}
			holding := map[string]bool{global: true, bucket: true, secret: true, pool: true, "AWS::SQS::Queue": false,
				"AWS::Logs::LogGroup": false, "AWS::ApiGatewayV2::Api": false, "AWS::Lambda::EventSourceMapping": false,
				"AWS::Cognito::UserPoolClient": false,
				"AWS::Glue::Database":          true, "AWS::Glue::Table": true, "AWS::Athena::WorkGroup": true,
				"AWS::Cognito::UserPoolGroup": true, "AWS::Cognito::UserPoolDomain": false,
				"AWS::Scheduler::Schedule": false, "AWS::Lambda::EventInvokeConfig": false,
				"AWS::CloudWatch::Alarm": false}
			var all struct {
				Resources map[string]struct{ Type string }
			}
			if err := json.Unmarshal([]byte(text), &all); err != nil {
				t.Fatal(err)
			}
			for id, resource := range all.Resources {
				if resource.Type == "AWS::ApiGatewayV2::Authorizer" {
					continue // TestAuthorizersOfPlatform
				}
				refused, holds := holding[resource.Type]
				got := check.Compare(deployed, edit(t, text, func(resources map[string]map[string]any) {
					delete(resources, id)
				}), here)
				switch {
				case resource.Type == "AWS::IAM::Policy" && len(got) == 1 && strings.HasPrefix(got[0].ID, "grants:") &&
					got[0].Severity == check.Refusal:
				case resource.Type == "AWS::Lambda::Permission" && len(got) == 1 &&
					strings.HasPrefix(got[0].ID, "permissions:") && got[0].Severity == check.Refusal:
				case strings.HasSuffix(resource.Type, "Policy") && len(got) > 0 &&
					!slices.ContainsFunc(got, func(f check.Change) bool {
						return f.Severity != check.Warning ||
							!strings.HasPrefix(f.ID, "opens-policy:") && !strings.HasPrefix(f.ID, "stops-policy:")
					}):
				case !holds && resource.Type != "AWS::IAM::Policy" && len(got) == 0:
				case holds && len(got) == 1 && got[0].ID == "drop:"+id && (got[0].Severity == check.Refusal) == refused:
				default:
					t.Errorf("without %s %s: got %+v", resource.Type, id, got)
				}
				if resource.Type != global {
					continue
				}
				got = check.Compare(deployed, edit(t, text, func(resources map[string]map[string]any) {
					declared := resources[id]["Properties"].(map[string]any)
					declared["TableName"] = "other"
					replica := declared["Replicas"].([]any)[0].(map[string]any)
					delete(replica, "PointInTimeRecoverySpecification")
					declared["TimeToLiveSpecification"] = map[string]any{"AttributeName": "other", "Enabled": true}
				}), here)
				ids := []string{}
				for _, finding := range got {
					ids = append(ids, strings.TrimSuffix(finding.ID, ":"+id))
				}
				if !slices.Contains(ids, "rename") || !slices.Contains(ids, "recovery") ||
					!slices.Contains(ids, "ttl") && !slices.Contains(ids, "ttl-on") || len(ids) != 3 {
					t.Errorf("changed %s: got %v", id, ids)
				}
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, says string }{
		"YAML":         {"Resources:\n  R: {}\n", "JSON"},
		"Nothing":      {"", "JSON"},
		"Cut":          {`{"Resources": {`, "JSON"},
		"Two":          {`{} {}`, "follows"},
		"List":         {`{"Resources": []}`, "Resources: got array"},
		"ResourceList": {`{"Resources": {"Fn::ForEach::R": []}}`, "resource Fn::ForEach::R"},
		"NoType":       {`{"Resources": {"R": {}}}`, "resource R: got no Type"},
		"TypeNumber":   {`{"Resources": {"R": {"Type": 1}}}`, "Type: got number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := check.Parse([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := check.Parse([]byte("a: b")); !errors.Is(err, check.ErrNotJSON) {
		t.Errorf("got %v", err)
	}
}

// FuzzCompare: no template makes it panic, and none has a finding beside itself.
func FuzzCompare(f *testing.F) {
	f.Add(indexed([]index{{"A", "a"}}), indexed([]index{{"A", "b"}, {"B", "a"}}))
	f.Add(properties(local, keys),
		`{"Parameters": {"P": {"Type": "String", "Default": 1}}, "Conditions": {"C": true}, "Resources": {}}`)
	f.Add(replicated(`, "TimeToLiveSpecification": 1, "StreamSpecification": []`, replica("eu-west-1", "")),
		properties(global,
			`"Replicas": [1, {}], "KeySchema": {"a": 1}, "GlobalSecondaryIndexes": [[], {"Projection": {"NonKeyAttributes": [1, {}]}}]`))
	f.Add(properties(pool, `"Schema": [1, {"Name": {"Ref": {"Ref": 1}}}]`),
		properties(bucket,
			`"BucketName": {"Fn::Join": [1, {"Fn::Sub": "${a"}]}, "LifecycleConfiguration": {"Rules": ["a"]}`))
	f.Add(sharded(`"SHARDS": 8, "READ_SHARDS": "64"`),
		strings.Replace(sharded(`"SHARDS": 8`),
			`"A": {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {`,
			`"A": {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {"SHARDS": 1, `, 1))
	f.Add(properties("AWS::ApiGatewayV2::Route",
		`"ApiId": {"Ref": "A"}, "RouteKey": ["GET /{"], "AuthorizationType": "JWT", "AuthorizationScopes": "a"`),
		properties("AWS::ApiGatewayV2::Authorizer",
			`"ApiId": {"Ref": "A"}, "JwtConfiguration": {"Issuer": {"Ref": 1}}`))
	f.Add(properties(pool, `"Schema": [{"Name": "a"}, {"Name": "a", "Required": true}]`),
		indexed([]index{{"A", "a"}, {"A", "b"}}))
	f.Add(replicated(
		`, "WarmThroughput": {"ReadUnitsPerSecond": -1}`,
		`{"Region": "a", "KinesisStreamSpecification": {"StreamArn": {"a": 1}}, "ResourcePolicy": []}`, `"b"`),
		one(global, `"Properties": {"Ref": "AWS::Region"}`))
	f.Add(`{"Metadata": {"onesynth:a": {"table": "t", "resource": "R", "attributes": {"a": "String"}, "catalog": "R", "lake": "l", "tables": {"t": {}}, "role": "R", "function": "f"}}, "Resources": {"R": {"Type": "AWS::Glue::Table", "Properties": {"TableInput": {"Name": "t", "StorageDescriptor": {"Columns": [1, {"Name": "a"}]}}}}}}`,
		`{"Metadata": {"onesynth:a": [], "onesynth:b": {"attributes": []}}, "Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyDocument": {"Statement": {"Effect": "Allow", "Action": {"a": 1}, "Resource": ["*", {"Fn::GetAtt": []}]}}}]}}}}`)
	f.Add(`{"Resources": {"P": {"Type": "AWS::Lambda::Permission", "Properties": {"FunctionName": {"Ref": "F"}, "SourceArn": ["/"], "Principal": {"a": 1}}}, "R": {"Type": "AWS::ApiGatewayV2::Route", "Properties": {"Target": [{"Ref": "I"}]}}, "I": {"Type": "I", "Properties": {"IntegrationUri": {"Ref": "F"}}}, "F": {"Type": "F"}}}`,
		`{"Resources": {"F": {"Type": "F"}, "Role": {"Type": "AWS::IAM::Role", "Properties": {"ManagedPolicyArns": [{"Ref": "F"}, 1]}}}}`)
	f.Add(properties("AWS::ApiGatewayV2::Route", `"ApiId": {"Ref": 1}, "RouteKey": "{{a}{+"`),
		one("AWS::Glue::Database", `"Properties": {"CatalogId": [], "DatabaseInput": []}`))
	f.Fuzz(func(t *testing.T, a, b string) {
		deployed, errA := check.Parse([]byte(a))
		proposed, errB := check.Parse([]byte(b))
		for _, template := range []*check.Template{deployed, proposed} {
			if template == nil {
				continue
			}
			if got := check.Compare(template, template, here); len(got) != 0 {
				t.Errorf("got %+v", got)
			}
		}
		if errA == nil && errB == nil {
			check.Compare(deployed, proposed, check.Environment{})
			check.Compare(proposed, deployed, here)
		}
	})
}

// wantOne checks that there is one finding, with steps, whose id begins with prefix and
// whose Got has the text; none without a severity.
func wantOne(t *testing.T, got []check.Change, prefix string, severity check.Severity, says string) {
	t.Helper()
	if severity == "" {
		if len(got) != 0 {
			t.Errorf("got %+v", got)
		}
		return
	}
	if len(got) != 1 || !strings.HasPrefix(got[0].ID, prefix) || got[0].Severity != severity ||
		!strings.Contains(got[0].Got, says) || len(got[0].Steps) == 0 {
		t.Errorf("got %+v", got)
	}
}
