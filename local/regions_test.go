package local_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
)

// writeIn puts stacks of accounts and regions on disk, Items, Items2 and so on.
func writeIn(t *testing.T, environments []string, templates ...object) string {
	t.Helper()
	dir := write(t, templates...)
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Artifacts map[string]object `json:"artifacts"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"Items", "Items2"} {
		manifest.Artifacts[name]["environment"] = environments[i]
	}
	if text, err = json.Marshal(manifest); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

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
	for _, run := range []string{"first", "with kept data"} {
		r, err := local.Start(t.Context(), local.Options{
			Assembly: writeIn(t, environments, templates...), DynamoDB: enginetest.Engine(t).URL(), AccessKey: database, NoSchedules: true, Data: data,
		})
		if err != nil {
			t.Fatal(err)
		}
		for stack, region := range map[string]string{"Items": "eu-west-1", "Items2": "us-east-1"} {
			url := r.URL(stack)
			want(t, 200, `"region":"`+region+`"`)(call(t, "GET", url+"/environment", ""))
			if run == "first" {
				want(t, 200, "null")(call(t, "GET", url+"/items/1", ""))
				want(t, 200, "")(call(t, "PUT", url+"/items/1", region))
			}
		}
		if err := r.FlushStreams(t.Context()); err != nil {
			t.Fatal(err)
		}
		for stack, region := range map[string]string{"Items": "eu-west-1", "Items2": "us-east-1"} {
			want(t, 200, region)(call(t, "GET", r.URL(stack)+"/items/1", ""))
			want(t, 200, "INSERT 1")(call(t, "GET", r.URL(stack)+"/items/seen", ""))
		}
		tables, err := r.Tables(t.Context())
		if err != nil || len(tables) != 2 || tables[0].ARN != "arn:aws:dynamodb:eu-west-1:111122223333:table/items" || tables[1].ARN != "arn:aws:dynamodb:us-east-1:111122223333:table/items" {
			t.Errorf("got tables %+v, %v", tables, err)
		}
		if deliveries := r.Streams(); len(deliveries) != 2 {
			t.Errorf("got streams %+v", deliveries)
		}
		if _, err := r.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if refused := r.AWS().Refused(); len(refused) != 0 {
			t.Errorf("got refused %+v", refused)
		}
		r.Close()
	}
}

// What a run cannot tell apart it refuses, and says what to choose.
func TestSameNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		environments []string
		change       func(object)
		says         []string
	}{
		"functions of two regions": {[]string{"aws://111122223333/eu-west-1", "aws://111122223333/us-east-1"}, func(object) {},
			[]string{"stack Items2: AWS::Lambda::Function Function (Function) and, of stack Items, AWS::Lambda::Function Function (Function) have one name, worker", "--stack Items", "have one name, tick"}},
		"tables of one region": {[]string{"aws://111122223333/eu-west-1", "aws://111122223333/eu-west-1"}, func(changed object) {
			properties(changed, "Table")["TableName"] = "items"
		}, []string{"AWS::DynamoDB::Table Table (Table) have one name, items"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			templates := []object{template(), template()}
			for _, changed := range templates {
				test.change(changed)
			}
			r, err := local.Start(t.Context(), local.Options{
				Assembly: writeIn(t, test.environments, templates...), DynamoDB: enginetest.Engine(t).URL(), AccessKey: enginetest.AccessKey(), NoSchedules: true,
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
