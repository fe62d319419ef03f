package run_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	tables "github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
)

// One platform in two regions has tables of one name, and each region its own items.
func TestRegions(t *testing.T) {
	t.Parallel()
	environments := []string{"aws://111122223333/eu-west-1", "aws://111122223333/us-east-1"}
	templates := []object{template(), template()}
	for i, changed := range templates {
		properties(changed, "Table")["TableName"] = "items"
		properties(changed, "Function")["FunctionName"] = "worker" + []string{"West", "East"}[i]
		properties(changed, "Schedule")["Name"] = "tick" + []string{"West", "East"}[i]
	}
	data, database := t.TempDir(), enginetest.AccessKey()
	for _, which := range []string{"first", "with kept data"} {
		r := must.Get(run.Start(t.Context(), run.Options{
			Assembly: writeIn(t, environments, templates...), DynamoDB: enginetest.Engine(t).URL(), AccessKey: database,
			NoSchedules: true, Data: data,
		}))(t)
		for stack, region := range map[string]string{"Items": "eu-west-1", "Items2": "us-east-1"} {
			url := r.URL(stack)
			want(t, 200, `"region":"`+region+`"`)(call(t, "GET", url+"/environment", ""))
			if which == "first" {
				want(t, 200, "null")(call(t, "GET", url+"/items/1", ""))
				want(t, 200, "")(call(t, "PUT", url+"/items/1", region))
			}
		}
		must.OK(t, r.FlushStreams(t.Context()))
		for stack, region := range map[string]string{"Items": "eu-west-1", "Items2": "us-east-1"} {
			want(t, 200, region)(call(t, "GET", r.URL(stack)+"/items/1", ""))
			want(t, 200, "INSERT 1")(call(t, "GET", r.URL(stack)+"/items/seen", ""))
		}
		tables, err := r.Parts().Databases.Tables(t.Context())
		if err != nil || len(tables) != 2 || tables[0].ARN != "arn:aws:dynamodb:eu-west-1:111122223333:table/items" ||
			tables[1].ARN != "arn:aws:dynamodb:us-east-1:111122223333:table/items" {
			t.Errorf("got tables %+v, %v", tables, err)
		}
		if deliveries := r.Parts().Mappings.Streams(); len(deliveries) != 2 {
			t.Errorf("got streams %+v", deliveries)
		}
		if _, err := r.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if refused := r.Parts().AWS.Refused(); len(refused) != 0 {
			t.Errorf("got refused %+v", refused)
		}
		r.Close()
	}
}

// A run refuses resources that it cannot tell apart, and says what to choose.
func TestSameNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		environments []string
		change       string
		says         []string
	}{
		"functions of two regions": {[]string{"aws://111122223333/eu-west-1", "aws://111122223333/us-east-1"},
			"{}",
			[]string{"stack Items2: AWS::Lambda::Function Function (Function) has the same name as " +
				"AWS::Lambda::Function Function (Function) of stack Items, worker", "--stack Items",
				"of stack Items, tick"}},
		"tables of one region": {[]string{"aws://111122223333/eu-west-1", "aws://111122223333/eu-west-1"},
			`{"Table": {"Properties": {"TableName": "items"}}}`,
			[]string{"AWS::DynamoDB::Table Table (Table) of stack Items, items"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			templates := []object{template(test.change), template(test.change)}
			r, err := run.Start(t.Context(), run.Options{
				Assembly: writeIn(t, test.environments, templates...), DynamoDB: enginetest.Engine(t).URL(),
				AccessKey: enginetest.AccessKey(), NoSchedules: true,
			})
			if err == nil {
				r.Close()
				t.Fatal("it runs")
			}
			for _, want := range test.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
			}
		})
	}
}

// Kept data stays with its account and region: when a stack gets an Env, when a region is added, when some are chosen,
// and when one is removed. Programs beside the run learn the access key of each.
func TestDataOfEnvironments(t *testing.T) {
	t.Parallel()
	const unset, west, east = "aws://unknown-account/unknown-region", "aws://111122223333/eu-west-1",
		"aws://111122223333/us-east-1"
	data, database := t.TempDir(), enginetest.AccessKey()
	for _, step := range []struct {
		name         string
		environments []string
		stacks       []string
		// items are, by region, the text of the item before the run; it writes its region.
		items map[string]string
	}{
		{"no Env", []string{unset}, nil, map[string]string{"us-east-1": "null"}},
		{"Env", []string{west}, nil, map[string]string{"eu-west-1": "us-east-1"}},
		{"another region first", []string{east, west}, nil,
			map[string]string{"us-east-1": "null", "eu-west-1": "eu-west-1"}},
		{"only the new one", []string{east, west}, []string{"Items"}, map[string]string{"us-east-1": `"us-east-1"`}},
		{"without the former", []string{east}, nil, map[string]string{"us-east-1": `"us-east-1"`}},
	} {
		templates := []object{}
		for i := range step.environments {
			changed := template()
			properties(changed, "Table")["TableName"] = "items"
			properties(changed, "Function")["FunctionName"] = "worker" + string(rune('A'+i))
			properties(changed, "Schedule")["Name"] = "tick" + string(rune('A'+i))
			templates = append(templates, changed)
		}
		r, err := run.Start(t.Context(), run.Options{
			Assembly: writeIn(t, step.environments, templates...), Stacks: step.stacks,
			DynamoDB: enginetest.Engine(t).URL(), AccessKey: database, NoSchedules: true, Data: data,
		})
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		var reach console.Database
		_, text := call(t, "GET", r.ConsoleURL()+"/dynamodb", "")
		if err := json.Unmarshal([]byte(text), &reach); err != nil || len(reach.Environments) != len(step.items) {
			t.Fatalf("%s: got %+v, %v", step.name, reach, err)
		}
		for i, stack := range []string{"Items", "Items2"}[:len(step.items)] {
			region := reach.Environments[i].Region
			want(t, 200, step.items[region])(call(t, "GET", r.URL(stack)+"/items/1", ""))
			want(t, 200, "")(call(t, "PUT", r.URL(stack)+"/items/1", region))
			read, err := enginetest.Engine(t).Client(reach.Environments[i].AccessKey).GetItem(t.Context(),
				&dynamodb.GetItemInput{
					TableName: aws.String("items"), Key: map[string]types.AttributeValue{
						"id": &types.AttributeValueMemberS{Value: "1"}},
				})
			if value, ok := read.Item["value"].(*types.AttributeValueMemberS); err != nil || !ok ||
				value.Value != region {
				t.Errorf("%s: by the key of %s, got %v, %v", step.name, region, read, err)
			}
		}
		r.Close()
	}
}

// A run does not change the tables of an engine that it did not start.
func TestEngineOfOthers(t *testing.T) {
	t.Parallel()
	options := run.Options{DynamoDB: enginetest.Engine(t).URL(), AccessKey: enginetest.AccessKey(), NoSchedules: true}
	theirs := template()
	properties(theirs, "Table")["TableName"] = "items"
	options.Assembly = write(t, theirs)
	r := must.Get(run.Start(t.Context(), options))(t)
	r.Close()
	properties(theirs, "Table")["StreamSpecification"] = object{"StreamViewType": "KEYS_ONLY"}
	options.Assembly = write(t, theirs)
	if r, err := run.Start(t.Context(), options); !errors.Is(err, tables.ErrTableDiffers) {
		t.Errorf("got %v", err)
		if err == nil {
			r.Close()
		}
	}
}
