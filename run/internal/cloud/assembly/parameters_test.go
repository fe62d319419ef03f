package assembly_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
)

func TestParametersOfSystemsManager(t *testing.T) {
	t.Parallel()
	const shared = `{"Resources": {"Team": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/company/team", "Type": "String", "Value": {"Ref": "AWS::StackName"}}}}}`
	const template = `{"Parameters": {
		"Vpc": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/company/vpc"},
		"Subnets": {"Type": "AWS::SSM::Parameter::Value<List<String>>", "Default": "/company/subnets"},
		"BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/hnb659fds/version"}},
	  "Resources": {
		"Own": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/own", "Type": "String", "Value": {"Fn::GetAtt": ["Queue", "Arn"]}}},
		"Named": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "StringList", "Value": "a,b"}},
		"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "work", "Value": VALUE}}},
	  "Outputs": {"Out": {"Value": "{{resolve:ssm:/company/team}}"}}}`
	const arn = "arn:aws:sqs:us-east-1:000000000000:work"
	for name, test := range map[string]struct {
		value   string
		want    any
		problem string
	}{
		"reference":         {`{"Ref": "Own"}`, "/own", ""},
		"name that is made": {`{"Ref": "Named"}`, "Stack-Named", ""},
		"value":             {`{"Fn::GetAtt": ["Own", "Value"]}`, arn, ""},
		"type":              {`{"Fn::GetAtt": ["Named", "Type"]}`, "StringList", ""},
		"arn": {`{"Fn::GetAtt": ["Own", "Arn"]}`,
			"arn:aws:ssm:us-east-1:000000000000:parameter/own", ""},
		"dynamic": {`"{{resolve:ssm:/company/team}}"`, "Stack2", ""},
		"dynamic, with a version": {`"a {{resolve:ssm:/company/team:3}} b {{resolve:ssm:Stack-Named}}"`,
			"a Stack2 b a,b", ""},
		"dynamic, joined": {`{"a": [{"Fn::Join": ["", ["{{resolve:ssm:", {"Ref": "Own"}, "}}"]]}]}`,
			map[string]any{"a": []any{arn}}, ""},
		"template parameter":       {`{"Ref": "Vpc"}`, "vpc-1", ""},
		"template parameter, list": {`{"Ref": "Subnets"}`, []any{"subnet-1", "subnet-2"}, ""},
		"secrets stay":             {`"{{resolve:secretsmanager:x}}"`, "{{resolve:secretsmanager:x}}", ""},
		"unknown": {`"{{resolve:ssm:/company/none}}"`, nil, "got the parameter /company/none of " +
			"Systems Manager, which no stack of the assembly declares in aws://000000000000/us-east-1: give its " +
			"value with --ssm-parameter /company/none=VALUE, or in cdk.json"},
		"unknown, of the template": {`{"Ref": "BootstrapVersion"}`, nil,
			"--ssm-parameter /cdk-bootstrap/hnb659fds/version=VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := assembly.Load(write(t, strings.Replace(template, "VALUE", test.value, 1), shared),
				assembly.Options{
					Stacks: []string{"Stack"}, SSMParameters: map[string]string{"/company/vpc": "vpc-1",
						"/company/subnets": "subnet-1, subnet-2"},
				})
			var failure *assembly.ResolveError
			if test.problem != "" {
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want a ResolveError with %q", err, test.problem)
				}
				return
			}
			must.OK(t, err)
			if diff := cmp.Diff(test.want, loaded.Stacks[0].ByLogicalID("Queue").Properties["Value"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := loaded.Stacks[0].Outputs["Out"].Value; got != "Stack2" {
				t.Errorf("output: got %q", got)
			}
		})
	}
}

// A parameter whose value depends on itself is an error, and no endless loop.
func TestParameterOfItself(t *testing.T) {
	t.Parallel()
	for name, template := range map[string]string{
		"one": `{"Resources": {"A": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/a", "Value": "{{resolve:ssm:/a}}"}}}}`,
		"two": `{"Resources": {"A": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/a", "Value": "{{resolve:ssm:/b}}"}}, "B": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/b", "Value": "{{resolve:ssm:/a}}"}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := assembly.Load(write(t, template), assembly.Options{}); err == nil {
				t.Error("got no error")
			}
		})
	}
}

func TestVersionsAndAliases(t *testing.T) {
	t.Parallel()
	loaded := assemblytest.Load(t,
		`{"Function": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "worker"}},
		"Version": {"Type": "AWS::Lambda::Version", "Properties": {"FunctionName": {"Ref": "Function"}}},
		"Alias": {"Type": "AWS::Lambda::Alias", "Properties": {"Name": "live", "FunctionName": {"Fn::GetAtt": ["Function", "Arn"]}, "FunctionVersion": {"Fn::GetAtt": ["Version", "Version"]}}},
		"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"Alias": {"Ref": "Alias"}, "AliasArn": {"Fn::GetAtt": ["Alias", "AliasArn"]}, "Version": {"Ref": "Version"}, "Number": {"Fn::GetAtt": ["Version", "Version"]}}}}`)
	const arn = "arn:aws:lambda:us-east-1:000000000000:function:worker"
	want := map[string]any{"Alias": arn + ":live", "AliasArn": arn + ":live", "Version": arn + ":1", "Number": "1"}
	if diff := cmp.Diff(want, loaded.Stacks[0].ByLogicalID("Queue").Properties); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for id, found := range map[string]bool{
		"worker": true, "worker:live": true, arn: true, arn + ":live": true, arn + ":1": true, arn + ":$LATEST": true,
		"000000000000:function:worker": true,
		"other":                        false, "": false, "arn:aws:sqs:us-east-1:000000000000:worker": false,
	} {
		if got := loaded.Function(id); (got != nil) != found {
			t.Errorf("%q: got %v", id, got)
		}
	}
	for text, want := range map[string][2]string{"worker": {"worker", ""}, "worker:live": {"worker", "live"},
		arn + ":$LATEST": {"worker", ""}, arn + ":7": {"worker", "7"}} {
		if name, qualifier := assembly.SplitFunction(text); name != want[0] || qualifier != want[1] {
			t.Errorf("%s: got %q, %q", text, name, qualifier)
		}
	}
}
