package assembly_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
)

// using is a stack with the ARN of an existing table, and what else describes that, in JSON.
type using struct{ template, arn string }

// writeUsing makes an assembly of those stacks, named Stack1 and so on. Their metadata may be apart.
func writeUsing(t *testing.T, apart bool, stacks ...using) string {
	t.Helper()
	written := map[string]assemblytest.Stack{}
	for i, stack := range stacks {
		of := assemblytest.Stack{Environment: "aws://111122223333/eu-west-1", Template: stack.template, Apart: apart}
		if stack.arn != "" {
			of.Existing = `{"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "Arn": ` + stack.arn + `}`
		}
		written[fmt.Sprint("Stack", i+1)] = of
	}
	return assemblytest.WriteStacks(t, written)
}

const (
	tasksARN  = "arn:aws:dynamodb:eu-west-1:111122223333:table/tasks"
	declaring = `{"Resources": {"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "tasks"}}},
		"Outputs": {"Arn": {"Value": {"Fn::GetAtt": ["Table", "Arn"]}, "Export": {"Name": "tasks"}}}}`
	parametrised = `{"Parameters": {"Name": {"Type": "String", "Default": "tasks"}, "Unknown": {"Type": "String"}}}`
)

func TestExistingTables(t *testing.T) {
	t.Parallel()
	quoted := `"` + tasksARN + `"`
	imported := `{"Fn::ImportValue": "tasks"}`
	foreign := `"arn:aws:dynamodb:eu-central-1:123456789012:table/tasks"`
	for name, test := range map[string]struct {
		stacks []using
		keep   []string
		// want are the tables, as stack, ARN and properties.
		want []string
	}{
		"None": {[]using{{declaring, ""}}, nil, []string{"Stack1 " + tasksARN + " declared"}},
		"Literal": {[]using{{`{}`, foreign}}, nil,
			[]string{"Stack1 arn:aws:dynamodb:eu-central-1:123456789012:table/tasks existing"}},
		"Parameter": {
			[]using{
				{parametrised,
					`{"Fn::Sub": "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${Name}"}`}},
			nil, []string{"Stack1 " + tasksARN + " existing"}},
		"Shared":   {[]using{{`{}`, quoted}, {`{}`, quoted}}, nil, []string{"Stack1 " + tasksARN + " existing"}},
		"Declared": {[]using{{`{}`, imported}, {declaring, ""}}, nil, []string{"Stack2 " + tasksARN + " declared"}},
		"Left out": {[]using{{`{}`, imported}, {declaring, ""}}, []string{"Stack1"},
			[]string{"Stack1 " + tasksARN + " existing"}},
		"Not used": {[]using{{`{}`, `{"Fn::GetAtt": ["Table", "Arn"]}`}, {declaring, ""}}, nil,
			[]string{"Stack2 " + tasksARN + " declared"}},
		"Not kept": {[]using{{`{}`, quoted}, {declaring, ""}}, []string{"Stack2"},
			[]string{"Stack2 " + tasksARN + " declared"}},
	} {
		for _, apart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", apart), func(t *testing.T) {
				t.Parallel()
				loaded := must.Get(assembly.Load(writeUsing(t, apart, test.stacks...),
					assembly.Options{Stacks: test.keep}))(t)
				var got []string
				for _, table := range loaded.Tables() {
					kind := "declared"
					if table.Existing {
						kind = "existing"
						if _, ok := table.Properties["Arn"]; ok || len(table.Properties) != 1 ||
							table.String() != "existing table tasks ("+table.Stack.Name+"/Table)" {
							t.Errorf("got %s with %v", table, table.Properties)
						}
					}
					if table.Name != "tasks" || loaded.ByARN(table.ARN) != table {
						t.Errorf("got name %q, and %v of its ARN", table.Name, loaded.ByARN(table.ARN))
					}
					got = append(got, table.Stack.Name+" "+table.ARN+" "+kind)
				}
				if difference := cmp.Diff(test.want, got); difference != "" {
					t.Error(difference)
				}
			})
		}
	}
}

func TestExistingTableErrors(t *testing.T) {
	t.Parallel()
	quoted := `"` + tasksARN + `"`
	for name, test := range map[string]struct {
		stacks []using
		want   []string
	}{
		"Unknown parameter": {[]using{{parametrised, `{"Ref": "Unknown"}`}},
			[]string{"Metadata[/Stack1/Table].Arn.Ref", "parameter Unknown has no default"}},
		"Unknown export": {[]using{{`{}`, `{"Fn::ImportValue": "tasks"}`}},
			[]string{"Metadata[/Stack1/Table].Arn", `no stack of the assembly exports "tasks"`}},
		"Index": {[]using{{`{}`, `"` + tasksARN + `/index/a"`}},
			[]string{"Metadata[/Stack1/Table].Arn", "/index/a", "table/NAME"}},
		"No text": {[]using{{`{}`, `{"a": 1}`}}, []string{"Metadata[/Stack1/Table].Arn", "an object", "table/NAME"}},
		"Other table of the name": {
			[]using{{`{}`, `"arn:aws:dynamodb:us-east-1:111122223333:table/tasks"`}, {declaring, ""}},
			[]string{"Stack1", "arn:aws:dynamodb:us-east-1:111122223333:table/tasks", tasksARN,
				"AWS::DynamoDB::Table Table", "account and region"},
		},
		"Described differently": {
			[]using{{`{}`, quoted}, {`{}`, quoted + `, "BillingMode": "PROVISIONED"`}},
			[]string{"existing table tasks (Stack2/Table)", "Stack1/Table"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := assembly.Load(writeUsing(t, true, test.stacks...), assembly.Options{})
			if err == nil {
				t.Fatal("it was loaded")
			}
			for _, text := range test.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("got %v, want %q in it", err, text)
				}
			}
		})
	}
	t.Run("Declared in another region", func(t *testing.T) {
		t.Parallel()
		dir := assemblytest.WriteStacks(t, map[string]assemblytest.Stack{
			"Stack1": {Template: `{}`, Existing: `{"KeySchema": [], "Arn": ` + quoted + `}`},
			"Stack2": {Template: declaring, Environment: "aws://111122223333/eu-west-1"},
		})
		if _, err := assembly.Load(dir, assembly.Options{}); err == nil ||
			!strings.Contains(err.Error(), "stack Stack1, of aws://") ||
			!strings.Contains(err.Error(), "of stack Stack2 of aws://111122223333/eu-west-1: give both stacks one "+
				"account and region") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("File outside", func(t *testing.T) {
		t.Parallel()
		dir := writeUsing(t, true, using{`{}`, quoted})
		writeManifest(t, dir, map[string]any{"Stack1": map[string]any{
			"type": "aws:cloudformation:stack", "properties": map[string]any{"templateFile": "Stack1.template.json"},
			"additionalMetadataFile": "../metadata.json",
		}})
		if _, err := assembly.Load(dir, assembly.Options{}); err == nil ||
			!strings.Contains(err.Error(), "within the assembly") {
			t.Errorf("got %v", err)
		}
	})
}

func TestKeptStacks(t *testing.T) {
	t.Parallel()
	dir := writeUsing(t, true, using{declaring, ""},
		using{`{"Outputs": {"Table": {"Value": {"Fn::ImportValue": "tasks"}}}}`, ""})
	loaded := must.Get(assembly.Load(dir, assembly.Options{Stacks: []string{"Stack2"}}))(t)
	if len(loaded.Stacks) != 1 || loaded.Stacks[0].Outputs["Table"].Value != tasksARN {
		t.Errorf("got %+v", loaded.Stacks)
	}
	if _, err := assembly.Load(dir, assembly.Options{Stacks: []string{"Stack3"}}); err == nil ||
		!strings.Contains(err.Error(), "Stack1, Stack2") {
		t.Errorf("a stack that is not there: got %v", err)
	}
}
