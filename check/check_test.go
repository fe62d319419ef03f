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
		return replicated(fmt.Sprintf(`, "TimeToLiveSpecification": {"AttributeName": %q, "Enabled": %v}`, attribute, enabled), replica("eu-west-1", ""))
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
	strong := func(regions ...string) string {
		var replicas []string
		for _, region := range regions {
			replicas = append(replicas, replica(region, ""))
		}
		return replicated(`, "MultiRegionConsistency": "STRONG"`, replicas...)
	}
	kept := `"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain", "Properties": {` + keys + `}`
	schema := func(attributes string) string { return properties(pool, `"Schema": [`+attributes+`]`) }
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
		"TableDropped":          {properties(local, keys), empty, []finding{{refuse, "drop:R", "deletes it", "Put it back"}}},
		"RetainedTableDropped":  {one(global, kept), empty, []finding{{refuse, "drop:R", "leaves it behind", "Put it back"}}},
		"LogicalIDChanged":      {properties(local, keys), strings.Replace(properties(local, keys), `"R"`, `"New"`, 1), []finding{{refuse, "drop:R", "New is new", `Keep the logical id: leave the construct's id and its place in the tree as they were, or call OverrideLogicalId("R")`}}},
		"NamedLogicalIDChanged": {properties(local, keys+`, "TableName": "t"`), strings.Replace(properties(local, keys+`, "TableName": "t"`), `"R"`, `"New"`, 1), []finding{{refuse, "drop:R", "there cannot be two with the name t", "Keep the logical id"}}},
		"AnotherTableInstead":   {properties(local, keys), strings.NewReplacer(`"R"`, `"New"`, "pk", "id").Replace(properties(local, keys)), []finding{{refuse, "drop:R", "no longer in the template", "Put it back"}}},
		"NamedByPrefix":         {properties(local, keys), properties(local, keys+`, "TableName": "a-t"`), []finding{{refuse, "rename:R", "from one that CloudFormation has given to a-t", "Leave the name"}}},
		"Renamed":               {properties(local, keys+`, "TableName": "a"`), properties(local, keys+`, "TableName": "b"`), []finding{{refuse, "rename:R", "from a to b", "Leave the name as it is deployed (a)"}}},
		"SameNameOtherwise":     {properties(local, keys+`, "TableName": "shop-eu-west-1"`), properties(local, keys+`, "TableName": {"Fn::Join": ["-", [{"Ref": "AWS::StackName"}, {"Ref": "AWS::Region"}]]}`), nil},
		"SameNameBySub":         {properties(local, keys+`, "TableName": "shop-eu-west-1"`), properties(local, keys+`, "TableName": {"Fn::Sub": "${AWS::StackName}-${AWS::Region}"}`), nil},
		"TypeChanged":           {properties(local, keys), properties(global, keys), []finding{{refuse, "type:R", "Update of resource type is not permitted", "To keep what it holds"}}},
		"KeysChanged":           {properties(local, keys), properties(local, strings.Replace(keys, `"pk", "KeyType"`, `"sk", "KeyType"`, 1)), []finding{{refuse, "replace:R", "from (pk S HASH) to (sk S HASH)", "Deploy 1: a second table"}}},
		"SortKeyAdded":          {properties(local, keys), properties(local, strings.Replace(keys, `"HASH"}`, `"HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}`, 1)), []finding{{refuse, "replace:R", "pk S HASH, sk S RANGE", "Deploy 1: a second table"}}},
		"KeyTypeChanged":        {properties(local, keys), properties(local, strings.Replace(keys, `"pk", "AttributeType": "S"`, `"pk", "AttributeType": "N"`, 1)), []finding{{refuse, "replace:R", "pk N HASH", "Deploy 1"}}},
		"NamedKeysChanged":      {properties(local, keys+`, "TableName": "t"`), properties(local, strings.Replace(keys, `"pk", "KeyType"`, `"sk", "KeyType"`, 1)+`, "TableName": "t"`), []finding{{refuse, "replace:R", "custom-named", "Deploy 1"}}},
		"AttributeAdded":        {properties(local, keys), properties(local, strings.Replace(keys, `[{`, `[{"AttributeName": "x", "AttributeType": "N"}, {`, 1)), nil},
		"LocalIndexAdded":       {properties(local, keys), properties(local, keys+`, "LocalSecondaryIndexes": [{"IndexName": "L", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]`), []finding{{refuse, "replace:R", "local secondary indexes", "Deploy 1"}}},
		"ImportLeftOut":         {properties(local, keys+`, "ImportSourceSpecification": {"InputFormat": "CSV"}`), properties(local, keys), []finding{{refuse, "replace:R", "ImportSourceSpecification", "Leave ImportSourceSpecification"}}},
		"TTLAttribute":          {ttl("a", true), ttl("b", true), []finding{{refuse, "ttl:R", "from a to b", "Write the new attribute b"}}},
		"TTLOff":                {ttl("a", true), ttl("a", false), []finding{{warn, "ttl-off:R", "no longer expire", "Make sure"}}},
		"TTLOn":                 {replicated("", replica("eu-west-1", "")), ttl("a", true), []finding{{warn, "ttl-on:R", "by the attribute a", "Make sure"}}},
		"TTLStaysOff":           {replicated("", replica("eu-west-1", "")), ttl("a", false), nil},
		"StreamView":            {stream("NEW_IMAGE", "eu-west-1"), stream("NEW_AND_OLD_IMAGES", "eu-west-1"), []finding{{refuse, "stream:R", "another ARN", "Stop the writers"}}},
		"StreamOff":             {stream("NEW_IMAGE", "eu-west-1"), stream("", "eu-west-1"), []finding{{refuse, "stream:R", "from NEW_IMAGE to none", "Stop the writers"}}},
		"StreamOn":              {stream("", "eu-west-1"), stream("NEW_IMAGE", "eu-west-1"), nil},
		"StreamOfGlobalTable":   {stream("NEW_IMAGE", "eu-west-1", "us-east-1"), stream("NEW_AND_OLD_IMAGES", "eu-west-1", "us-east-1"), []finding{{refuse, "stream:R", "while it has one replica", "Deploy 1: without the replica in us-east-1"}}},
		"RecoveryOff":           {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", off)), []finding{{refuse, "recovery:R", "switched off", "Leave it on"}}},
		"RecoveryLeftOut":       {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", "")), []finding{{refuse, "recovery:R", "switched off", "Leave it on"}}},
		"RecoveryOffRegional":   {properties(local, keys+", "+on), properties(local, keys), []finding{{refuse, "recovery:R", "switched off", "Leave it on"}}},
		"RecoveryShortened":     {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", week)), []finding{{refuse, "recovery-period:R", "from 35 to 7", "Leave it at 35"}}},
		"RecoveryLonger":        {replicated("", replica("eu-west-1", week)), replicated("", replica("eu-west-1", on)), nil},
		"RecoveryWritten":       {replicated("", replica("eu-west-1", on)), replicated("", replica("eu-west-1", full)), nil},
		"RecoveryOfOneReplica":  {replicated("", replica("eu-west-1", on), replica("us-east-1", on)), replicated("", replica("eu-west-1", on), replica("us-east-1", off)), []finding{{refuse, "recovery-us-east-1:R", "in us-east-1", "Leave it on"}}},
		"RegionWritten":         {replicated("", `{"Region": {"Ref": "AWS::Region"}}`), replicated("", replica("eu-west-1", "")), nil},
		"ReplicaAlone":          {replicated("", replica("eu-west-1", "")), replicated("", replica("eu-west-1", ""), replica("us-east-1", "")), nil},
		"TwoReplicas":           {replicated("", replica("eu-west-1", "")), replicated("", replica("eu-west-1", ""), replica("us-east-1", ""), replica("us-west-2", "")), []finding{{refuse, "replicas:R", "one replica in one update", "Deploy 1: the deployed template, and the replica in us-east-1"}}},
		"StrongReplicas":        {strong("a", "b", "c"), strong("a", "d", "e"), nil},
		"StrongStream":          {strong("a", "b", "c"), strings.Replace(strong("a", "b", "c"), `"Multi`, `"StreamSpecification": {"StreamViewType": "NEW_IMAGE"}, "Multi`, 1), nil},
		"StrongOnceGlobal":      {replicated("", replica("a", ""), replica("b", ""), replica("c", "")), strong("a", "b", "c"), []finding{{refuse, "consistency:R", "from EVENTUAL to STRONG", "Leave it"}}},
		"StrongWhenGlobal":      {replicated("", replica("a", "")), strong("a", "b", "c"), []finding{{refuse, "consistency:R", "empty table only", "If it is empty"}}},
		"OwnReplica":            {replicated("", replica("eu-west-1", "")), replicated("", replica("us-east-1", "")), []finding{{refuse, "replicas:R", "Region of the stack", "Keep the replica in eu-west-1"}}},
		"ProtectionOff":         {replicated("", replica("eu-west-1", `"DeletionProtectionEnabled": true`)), replicated("", replica("eu-west-1", "")), []finding{{warn, "protection:R", "deletion protection", "Leave it on"}}},
		"Key":                   {replicated("", replica("eu-west-1", `"SSESpecification": {"KMSMasterKeyId": "a"}`)), replicated("", replica("eu-west-1", `"SSESpecification": {"KMSMasterKeyId": "b"}`)), []finding{{warn, "key:R", "from a to b", "Keep the old key"}}},
		"Encryption":            {replicated(`, "SSESpecification": {"SSEEnabled": true}`, replica("eu-west-1", "")), replicated("", replica("eu-west-1", "")), []finding{{warn, "encryption:R", "DynamoDB owns", "Keep the old key"}}},
		"Billing":               {properties(local, keys), properties(local, keys+`, "BillingMode": "PAY_PER_REQUEST"`), []finding{{warn, "billing:R", "four times", "Make sure"}}},
		"TableClass":            {properties(local, keys), properties(local, keys+`, "TableClass": "STANDARD_INFREQUENT_ACCESS"`), []finding{{warn, "class:R", "twice in 30 days", "Make sure"}}},
		"NoLongerRetained":      {one(global, kept), properties(global, keys), []finding{{warn, "policy:R", "DeletionPolicy changes from Retain to Delete, UpdateReplacePolicy", "Leave"}}},
		"NowRetained":           {properties(global, keys), one(global, kept), nil},
		"ConditionAdded":        {properties(local, keys), one(local, `"Condition": "Prod", "Properties": {`+keys+`}`), []finding{{refuse, "condition:R", "from none to Prod", "Make sure"}}},
		"BucketRenamed":         {properties(bucket, `"BucketName": "a"`), properties(bucket, `"BucketName": "b"`), []finding{{refuse, "rename:R", "from a to b", "Leave the name"}}},
		"BucketDropped":         {properties(bucket, ""), empty, []finding{{refuse, "drop:R", "objects", "Put it back"}}},
		"BucketExpiry":          {properties(bucket, ""), properties(bucket, `"LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "ExpirationInDays": 1}]}`), []finding{{warn, "expiry:R", "old enough already", "Make sure"}}},
		"BucketUploadsExpire":   {properties(bucket, ""), properties(bucket, `"LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}]}`), nil},
		"VersioningSuspended":   {properties(bucket, `"VersioningConfiguration": {"Status": "Enabled"}`), properties(bucket, ""), []finding{{warn, "versioning:R", "suspended", "Leave it on"}}},
		"SecretDropped":         {properties(secret, ""), empty, []finding{{refuse, "drop:R", "recovery window", "Put it back"}}},
		"SecretRegenerated":     {properties(secret, `"GenerateSecretString": {"PasswordLength": 64}`), properties(secret, `"GenerateSecretString": {"PasswordLength": 32}`), []finding{{refuse, "secret-value:R", "a new value", "Leave GenerateSecretString"}}},
		"SecretDescribed":       {properties(secret, `"GenerateSecretString": {"PasswordLength": 64}`), properties(secret, `"Description": "d", "GenerateSecretString": {"PasswordLength": "64"}`), nil},
		"SecretRenamed":         {properties(secret, `"Name": "a"`), properties(secret, ""), []finding{{refuse, "rename:R", "from a to one that CloudFormation gives", "Leave the name"}}},
		"SignIn":                {properties(pool, `"UsernameAttributes": ["email"]`), properties(pool, `"AliasAttributes": ["email"]`), []finding{{refuse, "users:R", "does not change how users sign in", "Leave it"}}},
		"UserNameCase":          {properties(pool, `"UsernameConfiguration": {"CaseSensitive": false}`), properties(pool, `"UsernameConfiguration": {"CaseSensitive": true}`), []finding{{refuse, "users:R", "UsernameConfiguration", "Leave it"}}},
		"UserAttributeRemoved":  {schema(`{"Name": "a"}`), schema(``), []finding{{refuse, "users:R", "the attribute a", "Leave it"}}},
		"UserAttributeRequired": {schema(``), schema(`{"Name": "a", "Required": true}`), []finding{{refuse, "users:R", "now required", "Leave it"}}},
		"UserAttributeAdded":    {schema(``), schema(`{"Name": "a"}`), nil},
		"UsersUnprotected":      {properties(pool, `"DeletionProtection": "ACTIVE"`), properties(pool, ""), []finding{{warn, "protection:R", "deletion protection", "Leave it on"}}},
		"UserPoolDropped":       {properties(pool, ""), empty, []finding{{refuse, "drop:R", "sign up again", "Put it back"}}},
		"KeyDropped":            {properties("AWS::KMS::Key", ""), empty, []finding{{refuse, "drop:R", "backups included", "Put it back"}}},
		"MappingMoved":          {properties("AWS::Lambda::EventSourceMapping", `"StartingPosition": "LATEST"`), properties("AWS::Lambda::EventSourceMapping", `"StartingPosition": "TRIM_HORIZON"`), []finding{{warn, "replace:R", "its place in the stream", "Leave StartingPosition"}}},
		"QueueDropped":          {properties("AWS::SQS::Queue", ""), empty, []finding{{warn, "drop:R", "messages", "Put it back"}}},
		"LogsShorter":           {properties("AWS::Logs::LogGroup", `"RetentionInDays": 30`), properties("AWS::Logs::LogGroup", `"RetentionInDays": 7`), []finding{{warn, "retention:R", "7 days, and were kept 30", "Export"}}},
		"LogsForEver":           {properties("AWS::Logs::LogGroup", `"RetentionInDays": 30`), properties("AWS::Logs::LogGroup", ""), nil},
		"LogsNoLongerForEver":   {properties("AWS::Logs::LogGroup", ""), properties("AWS::Logs::LogGroup", `"RetentionInDays": 30`), []finding{{warn, "retention:R", "for ever", "Export"}}},
		"DatabaseDropped":       {properties("AWS::RDS::DBCluster", ""), empty, []finding{{refuse, "drop:R", "database cluster", "Put it back"}}},
		"SnapshotTaken":         {one("AWS::RDS::DBCluster", `"DeletionPolicy": "Snapshot"`), empty, []finding{{refuse, "drop:R", "takes a snapshot", "Put it back"}}},
		"AnyTypeChanged":        {properties("AWS::Lambda::Function", ""), properties("AWS::SQS::Queue", ""), []finding{{refuse, "type:R", "to AWS::SQS::Queue", "Give the new resource"}}},
		"NestedStack":           {properties("AWS::CloudFormation::Stack", `"TemplateURL": "a"`), properties("AWS::CloudFormation::Stack", `"TemplateURL": "b"`), []finding{{warn, "nested:R", "not compared", "Compare it"}}},
		"APIReplaced":           {properties("AWS::ApiGatewayV2::Api", `"ProtocolType": "HTTP"`), properties("AWS::ApiGatewayV2::Api", `"ProtocolType": "WEBSOCKET"`), []finding{{warn, "replace:R", "address changes", "Leave ProtocolType"}}},
		"FunctionDropped":       {properties("AWS::Lambda::Function", ""), empty, nil},
		"NoValue":               {properties(secret, `"Name": {"Ref": "AWS::NoValue"}`), properties(secret, `"Name": null`), nil},
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
				if f.Severity != want.severity || f.ID != want.id || !strings.Contains(f.Got+" "+f.Why, want.says) || len(f.Steps) == 0 || !strings.HasPrefix(f.Steps[0], want.first) {
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

// TestConditions: what a condition says counts, not only its name.
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
		return strings.Replace(template, `{"Resources": {`, `{"Resources": {"F": {"Type": "AWS::Lambda::Function", "Properties": {"MemorySize": `+memory+`}}, `, 1)
	}
	deployed := add(replicated("", replica("eu-west-1", ""), replica("us-east-1", "")), "128")
	proposed := add(replicated("", replica("eu-west-1", "")), "256")
	got := check.Compare(parse(t, deployed), parse(t, proposed), here)
	if len(got) != 1 || got[0].ID != "replicas:R" || got[0].Severity != check.Warning {
		t.Errorf("got %+v", got)
	}
}

// index is a global secondary index; the partition key tells two definitions apart.
type index struct{ name, key string }

func indexed(indexes []index) string {
	attributes, declared := map[string]bool{"pk": true}, []string{}
	for _, i := range indexes {
		attributes[i.key] = true
		declared = append(declared, fmt.Sprintf(`{"IndexName": %q, "KeySchema": [{"AttributeName": %q, "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["y", "x"]}}`, i.name, i.key))
	}
	var definitions []string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		definitions = append(definitions, fmt.Sprintf(`{"AttributeName": %q, "AttributeType": "S"}`, name))
	}
	return properties(global, fmt.Sprintf(`"AttributeDefinitions": [%s], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [%s], "Replicas": [{"Region": {"Ref": "AWS::Region"}}]`,
		strings.Join(definitions, ", "), strings.Join(declared, ", ")))
}

var (
	creates = regexp.MustCompile(`^Deploy (\d+): the deployed table, and the index (\S+) \((\S+) S HASH; INCLUDE x, y\)\.$`)
	deletes = regexp.MustCompile(`^Deploy (\d+): without the index (\S+)\.$`)
	deploys = regexp.MustCompile(`^Deploy (\d+): `)
)

// TestIndexPlan follows the steps of any change of indexes: each deployment makes one change, there are never more than 20
// indexes, and the end is what the template wants, but for the names of changed indexes.
func TestIndexPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{4, 20}).Draw(t, "most")
		draw := func(label string) []index {
			names := rapid.SliceOfNDistinct(rapid.IntRange(1, 22), 0, most, rapid.ID).Draw(t, label)
			var indexes []index
			for _, n := range names {
				indexes = append(indexes, index{fmt.Sprintf("I%d", n), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")})
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

// TestPlatforms: what changes with every deployment is no finding, and what holds data cannot go unseen.
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
			harmless := edit(t, hash.ReplaceAllString(text, strings.Repeat("0", 64)), func(resources map[string]map[string]any) {
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
			holding := map[string]bool{global: true, bucket: true, secret: true, pool: true, "AWS::SQS::Queue": false, "AWS::Logs::LogGroup": false, "AWS::ApiGatewayV2::Api": false, "AWS::Lambda::EventSourceMapping": false, "AWS::Cognito::UserPoolClient": false}
			var all struct {
				Resources map[string]struct{ Type string }
			}
			if err := json.Unmarshal([]byte(text), &all); err != nil {
				t.Fatal(err)
			}
			for id, resource := range all.Resources {
				refused, holds := holding[resource.Type]
				got := check.Compare(deployed, edit(t, text, func(resources map[string]map[string]any) { delete(resources, id) }), here)
				switch {
				case !holds && len(got) == 0:
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
				if !slices.Contains(ids, "rename") || !slices.Contains(ids, "recovery") || !slices.Contains(ids, "ttl") && !slices.Contains(ids, "ttl-on") || len(ids) != 3 {
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
	f.Add(properties(local, keys), `{"Parameters": {"P": {"Type": "String", "Default": 1}}, "Conditions": {"C": true}, "Resources": {}}`)
	f.Add(replicated(`, "TimeToLiveSpecification": 1, "StreamSpecification": []`, replica("eu-west-1", "")), properties(global, `"Replicas": [1, {}], "KeySchema": {"a": 1}, "GlobalSecondaryIndexes": [[], {"Projection": {"NonKeyAttributes": [1, {}]}}]`))
	f.Add(properties(pool, `"Schema": [1, {"Name": {"Ref": {"Ref": 1}}}]`), properties(bucket, `"BucketName": {"Fn::Join": [1, {"Fn::Sub": "${a"}]}, "LifecycleConfiguration": {"Rules": ["a"]}`))
	f.Fuzz(func(t *testing.T, a, b string) {
		deployed, errA := check.Parse([]byte(a))
		proposed, errB := check.Parse([]byte(b))
		if errA == nil {
			if got := check.Compare(deployed, deployed, here); len(got) != 0 {
				t.Errorf("got %+v", got)
			}
		}
		if errA == nil && errB == nil {
			check.Compare(deployed, proposed, check.Environment{})
			check.Compare(proposed, deployed, here)
		}
	})
}
