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
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
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

// sharded is a function that spreads its writes, and one with the same table that has nothing to do with it.
func sharded(variables string) string {
	return `{"Resources": {"A": {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {"ITEMS_TABLE": {"Ref": "T"}}}}},
		"F": {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {"ITEMS_TABLE": {"Ref": "T"}, "PEOPLE_TABLE": "people", ` + variables + `}}}}}}`
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

// platforms are the templates of stacks that the CDK has synthesised.
func platforms(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.template.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	templates := map[string]string{}
	for _, path := range paths {
		text := must.Get(os.ReadFile(path))(t)
		templates[filepath.Base(path)] = string(text)
	}
	return templates
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
			harmless := parse(t, mutate(t, hash.ReplaceAllString(text, strings.Repeat("0", 64)),
				func(resources map[string]map[string]any) {
					for id, resource := range resources {
						resource["Metadata"] = map[string]any{"aws:cdk:path": "Stack/" + id}
						if resource["Type"] == "AWS::Lambda::Function" {
							resource["Properties"].(map[string]any)["MemorySize"] = 2048
						}
					}
					resources["New"] = map[string]any{"Type": "AWS::DynamoDB::Table", "Properties": map[string]any{}}
				}))
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
			must.OK(t, json.Unmarshal([]byte(text), &all))
			for id, resource := range all.Resources {
				if resource.Type == "AWS::ApiGatewayV2::Authorizer" {
					continue // TestAuthorizersOfPlatform
				}
				refused, holds := holding[resource.Type]
				got := check.Compare(deployed, parse(t, mutate(t, text, func(resources map[string]map[string]any) {
					delete(resources, id)
				})), here)
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
				got = check.Compare(deployed, parse(t, mutate(t, text, func(resources map[string]map[string]any) {
					declared := resources[id]["Properties"].(map[string]any)
					declared["TableName"] = "other"
					replica := declared["Replicas"].([]any)[0].(map[string]any)
					delete(replica, "PointInTimeRecoverySpecification")
					declared["TimeToLiveSpecification"] = map[string]any{"AttributeName": "other", "Enabled": true}
				})), here)
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
