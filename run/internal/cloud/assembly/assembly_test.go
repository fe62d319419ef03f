package assembly_test

import (
	"archive/zip"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
)

// write makes an assembly of one stack per template, named Stack, Stack2 and so on.
func write(t testing.TB, templates ...string) string {
	t.Helper()
	stacks := map[string]string{}
	for i, template := range templates {
		stacks[[]string{"Stack", "Stack2", "Stack3", "Stack4"}[i]] = template
	}
	return assemblytest.Write(t, assemblytest.Anywhere, stacks)
}

func writeManifest(t testing.TB, dir string, artifacts map[string]any) {
	t.Helper()
	text := must.Get(json.Marshal(map[string]any{"version": "54.0.0", "artifacts": artifacts}))(t)
	must.OK(t, os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600))
}

// surroundings are a stack, with resources to which the value of one may refer: "VALUE" stands for it.
//
//go:embed testdata/surroundings.json
var surroundings string

// prefix is an expression for the text before the first hyphen.
func prefix(expression string) string {
	return `{"Fn::Select": [0, {"Fn::Split": ["-", ` + expression + `]}]}`
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const account = "us-east-1:000000000000"
	for name, test := range map[string]struct {
		value string
		want  any
	}{
		"literal":            {`"x"`, "x"},
		"number stays exact": {`12345678901234567890`, json.Number("12345678901234567890")},
		"nested literal":     {`{"a": [true, null, "b"]}`, map[string]any{"a": []any{true, nil, "b"}}},
		"region":             {`{"Ref": "AWS::Region"}`, "us-east-1"},
		"account":            {`{"Ref": "AWS::AccountId"}`, "000000000000"},
		"partition":          {`{"Ref": "AWS::Partition"}`, "aws"},
		"suffix":             {`{"Ref": "AWS::URLSuffix"}`, "amazonaws.com"},
		"stack":              {`{"Ref": "AWS::StackName"}`, "Stack"},
		"no value in object": {`{"a": {"Ref": "AWS::NoValue"}, "b": 1}`, map[string]any{"b": json.Number("1")}},
		"no value in list":   {`["a", {"Ref": "AWS::NoValue"}]`, []any{"a"}},
		"parameter":          {`{"Ref": "Stage"}`, "dev"},
		"list parameter":     {`{"Ref": "Zones"}`, []any{"a", "b"}},
		"table":              {`{"Ref": "Table"}`, "Stack-Table"},
		"named table":        {`{"Ref": "Named"}`, "aah-dev"},
		"table arn":          {`{"Fn::GetAtt": ["Named", "Arn"]}`, "arn:aws:dynamodb:" + account + ":table/aah-dev"},
		"dotted attribute":   {`{"Fn::GetAtt": "Named.Arn"}`, "arn:aws:dynamodb:" + account + ":table/aah-dev"},
		"stream": {`{"Fn::GetAtt": ["Table", "StreamArn"]}`,
			"arn:aws:dynamodb:" + account + ":table/Stack-Table/stream/1970-01-01T00:00:00.000"},
		"queue":         {`{"Ref": "Queue"}`, "https://sqs.us-east-1.amazonaws.com/000000000000/Stack-Queue"},
		"queue arn":     {`{"Fn::GetAtt": ["Queue", "Arn"]}`, "arn:aws:sqs:" + account + ":Stack-Queue"},
		"bus":           {`{"Ref": "Bus"}`, "own"},
		"bus arn":       {`{"Fn::GetAtt": ["Bus", "Arn"]}`, "arn:aws:events:" + account + ":event-bus/own"},
		"rule":          {`{"Ref": "Rule"}`, "nightly"},
		"rule arn":      {`{"Fn::GetAtt": ["Rule", "Arn"]}`, "arn:aws:events:" + account + ":rule/nightly"},
		"rule of a bus": {`{"Ref": "BusRule"}`, "own|asked"},
		"its arn":       {`{"Fn::GetAtt": ["BusRule", "Arn"]}`, "arn:aws:events:" + account + ":rule/own/asked"},
		"log group arn": {`{"Fn::GetAtt": ["Logs", "Arn"]}`,
			"arn:aws:logs:" + account + ":log-group:Stack-Logs:*"},
		"role arn": {`{"Fn::GetAtt": ["Role", "Arn"]}`,
			"arn:aws:iam::000000000000:role/service/Stack-Role"},
		"domain of an API": {`{"Ref": "Domain"}`, "api.example.com"},
		"target of a domain": {`{"Fn::GetAtt": ["Domain", "RegionalDomainName"]}`,
			"d-api.example.com.execute-api.us-east-1.amazonaws.com"},
		"zones":               {`{"Fn::GetAZs": ""}`, []any{"us-east-1a", "us-east-1b", "us-east-1c"}},
		"zones of a region":   {`{"Fn::GetAZs": "eu-west-1"}`, []any{"eu-west-1a", "eu-west-1b", "eu-west-1c"}},
		"network":             {prefix(`{"Ref": "Network"}`), "vpc"},
		"network's own group": {prefix(`{"Fn::GetAtt": ["Network", "DefaultSecurityGroup"]}`), "sg"},
		"block of a network":  {`{"Fn::GetAtt": ["Network", "CidrBlock"]}`, "10.0.0.0/16"},
		"blocks of a network": {prefix(`{"Fn::Select": [0, {"Fn::GetAtt": ["Network", "CidrBlockAssociations"]}]}`),
			"vpc"},
		"IPv6 of a network": {
			`{"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::Select": [0, {"Fn::Cidr": [{"Fn::Select": [0, {"Fn::GetAtt": ["Network", "Ipv6CidrBlocks"]}]}, 3, 64]}]}]}]}`, "64"},
		"blocks": {`{"Fn::Cidr": ["10.0.0.0/16", 3, 12]}`,
			[]any{"10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"}},
		"blocks of 32": {`{"Fn::Cidr": ["192.168.0.7/24", "2", "5"]}`,
			[]any{"192.168.0.0/27", "192.168.0.32/27"}},
		"all blocks": {`{"Fn::Cidr": ["10.0.0.0/16", 4, 14]}`,
			[]any{"10.0.0.0/18", "10.0.64.0/18", "10.0.128.0/18", "10.0.192.0/18"}},
		"blocks of IPv6": {`{"Fn::Cidr": ["2001:db8:12:3400::/56", 2, 64]}`,
			[]any{"2001:db8:12:3400::/64", "2001:db8:12:3401::/64"}},
		"subnet":               {prefix(`{"Ref": "Subnet"}`), "subnet"},
		"zone of a subnet":     {`{"Fn::GetAtt": ["Subnet", "AvailabilityZone"]}`, "us-east-1b"},
		"block of a subnet":    {`{"Fn::Sub": "${Subnet.CidrBlock}"}`, "10.0.0.0/18"},
		"routes":               {prefix(`{"Fn::GetAtt": ["Routes", "RouteTableId"]}`), "rtb"},
		"route":                {`{"Fn::Select": [1, {"Fn::Split": ["|", {"Ref": "Way"}]}]}`, "0.0.0.0/0"},
		"route of IPv6":        {`{"Fn::GetAtt": ["Way6", "CidrBlock"]}`, "::/0"},
		"gateway":              {`{"Fn::GetAtt": ["Attached", "AttachmentType"]}`, "IGW"},
		"private gateway":      {prefix(`{"Ref": "Private"}`), "VGW|vpc"},
		"address":              {`{"Fn::Select": [2, {"Fn::Split": [".", {"Ref": "Address"}]}]}`, "113"},
		"address's allocation": {prefix(`{"Fn::GetAtt": ["Address", "AllocationId"]}`), "eipalloc"},
		"endpoint":             {prefix(`{"Ref": "Endpoint"}`), "vpce"},
		"names of an endpoint": {
			`{"Fn::Select": [1, {"Fn::Split": [".", {"Fn::Select": [0, {"Fn::GetAtt": ["Endpoint", "DnsEntries"]}]}]}]}`,
			"secretsmanager"},
		"parts of an endpoint": {prefix(`{"Fn::Select": [0, {"Fn::GetAtt": ["Endpoint", "NetworkInterfaceIds"]}]}`),
			"eni"},
		"endpoint of routes": {`{"Fn::GetAtt": ["Direct", "DnsEntries"]}`, []any{}},
		"security group":     {prefix(`{"Fn::GetAtt": ["Group", "GroupId"]}`), "sg"},
		"network of a group": {prefix(`{"Fn::GetAtt": ["Group", "VpcId"]}`), "vpc"},
		"bucket":             {`{"Ref": "Bucket"}`, "stack-bucket"},
		"bucket arn":         {`{"Fn::GetAtt": ["Bucket", "Arn"]}`, "arn:aws:s3:::stack-bucket"},
		"bucket domain": {`{"Fn::GetAtt": ["Bucket", "RegionalDomainName"]}`,
			"stack-bucket.s3.us-east-1.amazonaws.com"},
		"catalog":            {`{"Ref": "Catalog"}`, "lake_dev"},
		"table of a catalog": {`{"Ref": "Changes"}`, "task_changes"},
		"workgroup":          {`{"Ref": "Queries"}`, "queries"},
		"engine of workgroup": {
			`{"Fn::GetAtt": ["Queries", "WorkGroupConfiguration.EngineVersion.EffectiveEngineVersion"]}`,
			"Athena engine version 3"},
		"join":           {`{"Fn::Join": ["", ["a", {"Ref": "Stage"}, 1]]}`, "adev1"},
		"join of split":  {`{"Fn::Join": ["+", {"Fn::Split": [",", "a,b,"]}]}`, "a+b+"},
		"select":         {`{"Fn::Select": [1, {"Fn::Split": ["-", "a-b"]}]}`, "b"},
		"select by text": {`{"Fn::Select": ["0", {"Ref": "Zones"}]}`, "a"},
		"sub": {`{"Fn::Sub": "${Stage}/${Named.Arn}/${!Literal}/${AWS::Region}"}`,
			"dev/arn:aws:dynamodb:" + account + ":table/aah-dev/${Literal}/us-east-1"},
		"sub with variables": {`{"Fn::Sub": ["${a}${Stage}", {"a": {"Ref": "Named"}}]}`, "aah-devdev"},
		"if":                 {`{"Fn::If": ["IsDev", "yes", {"Ref": "Gone"}]}`, "yes"},
		"if with and, or":    {`{"Fn::If": ["Both", "yes", "no"]}`, "yes"},
		"if no value":        {`{"a": {"Fn::If": ["IsProd", 1, {"Ref": "AWS::NoValue"}]}}`, map[string]any{}},
		"find in map":        {`{"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "memory"]}`, json.Number("128")},
		"dynamic reference": {`"{{resolve:secretsmanager:x:SecretString}}"`,
			"{{resolve:secretsmanager:x:SecretString}}"},
		"iam condition object": {`{"Condition": {"StringEquals": {"a": "b"}}}`,
			map[string]any{"Condition": map[string]any{"StringEquals": map[string]any{"a": "b"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded := must.Get(assembly.Load(write(t, strings.Replace(surroundings, `"VALUE"`, test.value, 1)),
				assembly.Options{}))(t)
			got := loaded.Stacks[0].ByLogicalID("Subject").Properties["Value"]
			if difference := cmp.Diff(test.want, got); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ value, want string }{
		"unknown function": {`{"Fn::Length": []}`,
			"Resources.Subject.Properties.Value.Fn::Length: unknown intrinsic function Fn::Length"},
		"unknown list": {`{"Fn::GetAtt": ["Network", "Blocks"]}`,
			"a local run knows CidrBlock, CidrBlockAssociations, DefaultNetworkAcl"},
		"blocks of no range":  {`{"Fn::Cidr": ["10.0.0.0", 2, 8]}`, "got 10.0.0.0, 2, 8: "},
		"blocks without size": {`{"Fn::Cidr": ["10.0.0.0/16", 2]}`, "write [range, 1 to 256 blocks, bits of a block]"},
		"too many blocks": {`{"Fn::Cidr": ["10.0.0.0/16", 257, 4]}`,
			"write [range, 1 to 256 blocks, bits of a block]"},
		"blocks of no size": {`{"Fn::Cidr": ["10.0.0.0/16", 2, 0]}`,
			"write [range, 1 to 256 blocks, bits of a block]"},
		"blocks too large": {`{"Fn::Cidr": ["10.0.0.0/16", 1, 17]}`,
			"write [range, 1 to 256 blocks, bits of a block]"},
		"blocks that are many": {`{"Fn::Cidr": ["10.0.0.0/16", 5, 14]}`, "the range holds 4 such blocks"},
		"list as text":         {`{"Fn::Sub": "${Endpoint.DnsEntries}"}`, "got a list of 1: a text is needed here"},
		"unknown reference":    {`{"Ref": "Nobody"}`, `Properties.Value.Ref: got "Nobody"`},
		"unknown attribute":    {`{"Fn::GetAtt": ["Named", "Size"]}`, "a local run knows Arn, StreamArn, TableId"},
		"stream without view":  {`{"Fn::GetAtt": ["Named", "StreamArn"]}`, "no StreamSpecification"},
		"resource left out":    {`{"Ref": "Gone"}`, "condition IsProd of the resource is false"},
		"unknown condition":    {`{"Fn::If": ["Never", 1, 2]}`, `got "Never"`},
		"function beside keys": {`{"Fn::Join": ["", []], "x": 1}`, "stands alone"},
		"select out of range":  {`{"Fn::Select": [7, ["a"]]}`, `got index "7" of 1 elements`},
		"join of an object":    {`{"Fn::Join": ["", [{"a": 1}]]}`, "got an object"},
		"unclosed sub":         {`{"Fn::Sub": "${Stage"}`, "without a closing brace"},
		"missing export":       {`{"Fn::ImportValue": "x"}`, `no stack of the assembly exports "x"`},
		"ssm parameter":        {`{"Ref": "BootstrapVersion"}`, "Systems Manager"},
		"deep":                 {`{"a": [{"b": {"Ref": "Nobody"}}]}`, "Properties.Value.a[0].b.Ref"},
		"ref of a number":      {`{"Ref": 1}`, "write a logical id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := assembly.Load(write(t, strings.Replace(surroundings, `"VALUE"`, test.value, 1)), assembly.Options{})
			var failure *assembly.ResolveError
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a ResolveError with %q", err, test.want)
			}
		})
	}
}

func TestAllProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	_, err := assembly.Load(
		write(t,
			`{"Resources": {"A": {"Type": "AWS::SQS::Queue", "Properties": {"X": {"Ref": "Q"}, "Y": {"Fn::Length": []}}},
		"B": {"Type": "AWS::SQS::Queue", "DependsOn": ["C"]}}}`), assembly.Options{})
	for _, want := range []string{"Properties.X", "Properties.Y", `got "C"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestCircles(t *testing.T) {
	t.Parallel()
	for name, templates := range map[string][]string{
		"names": {`{"Resources": {"A": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Ref": "B"}}},
			"B": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Ref": "A"}}}}}`},
		"conditions": {
			`{"Conditions": {"A": {"Condition": "B"}, "B": {"Condition": "A"}}, "Resources": {"A": {"Type": "AWS::SQS::Queue", "Condition": "A"}}}`},
		"exports": {`{"Outputs": {"A": {"Value": {"Fn::ImportValue": "b"}, "Export": {"Name": "a"}}}}`,
			`{"Outputs": {"B": {"Value": {"Fn::ImportValue": "a"}, "Export": {"Name": "b"}}}}`},
		"outputs": {`{"Outputs": {"A": {"Value": {"Fn::GetStackOutput": {"StackName": "Stack2", "OutputName": "B"}}}}}`,
			`{"Outputs": {"B": {"Value": {"Fn::GetStackOutput": {"StackName": "Stack", "OutputName": "A"}}}}}`},
		"export names": {`{"Outputs": {"A": {"Value": "x", "Export": {"Name": {"Fn::ImportValue": "b"}}}}}`,
			`{"Outputs": {"B": {"Value": "y", "Export": {"Name": {"Fn::ImportValue": "a"}}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := assembly.Load(write(t, templates...), assembly.Options{})
			if err == nil || !strings.Contains(err.Error(), "depends on itself") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStacksShareExports(t *testing.T) {
	t.Parallel()
	loaded := must.Get(assembly.Load(write(t,
		`{"Outputs": {"Name": {"Value": {"Fn::ImportValue": "Stack2:Table"}}}}`,
		`{"Resources": {"Table": {"Type": "AWS::DynamoDB::Table"}},
		  "Outputs": {"Table": {"Value": {"Ref": "Table"}, "Export": {"Name": {"Fn::Sub": "${AWS::StackName}:Table"}}}}}`,
	), assembly.Options{}))(t)
	if got := loaded.Stacks[0].Outputs["Name"].Value; got != "Stack2-Table" {
		t.Errorf("got %q", got)
	}
}

func TestOutputsOfOtherStacks(t *testing.T) {
	t.Parallel()
	const producer = `{"Conditions": {"Never": {"Fn::Equals": ["a", "b"]}}, "Resources": {"Table": {"Type": "AWS::DynamoDB::Table"}},
		"Outputs": {"Table": {"Value": {"Ref": "Table"}}, "Gone": {"Value": "x", "Condition": "Never"}}}`
	for name, test := range map[string]struct{ argument, want, problem string }{
		"output": {`{"StackName": "Stack2", "OutputName": "Table"}`, "Stack2-Table", ""},
		"region": {
			`{"StackName": {"Fn::Sub": "Stack${Two}"}, "OutputName": "Table", "Region": {"Ref": "AWS::Region"}}`,
			"Stack2-Table", ""},
		"other region": {`{"StackName": "Stack2", "OutputName": "Table", "Region": "eu-north-1"}`, "",
			"no stack Stack2 in eu-north-1; it has Stack in us-east-1, Stack2 in us-east-1"},
		"unknown stack": {`{"StackName": "Stack3", "OutputName": "Table"}`, "", "no stack Stack3 in us-east-1"},
		"unknown output": {`{"StackName": "Stack2", "OutputName": "Queue"}`, "",
			"the outputs of stack Stack2 are Gone, Table"},
		"left out":  {`{"StackName": "Stack2", "OutputName": "Gone"}`, "", "is false"},
		"no output": {`{"StackName": "Stack2"}`, "", "Fn::GetStackOutput.OutputName"},
		"no object": {`"Stack2"`, "", "Fn::GetStackOutput.StackName"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			consumer := `{"Parameters": {"Two": {"Type": "String", "Default": "2"}}, "Outputs": {"Name": {"Value": {"Fn::GetStackOutput": ` +
				test.argument + `}}}}`
			loaded, err := assembly.Load(write(t, consumer, producer), assembly.Options{})
			if test.problem != "" {
				var failure *assembly.ResolveError
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want a ResolveError with %q", err, test.problem)
				}
				return
			}
			must.OK(t, err)
			if got := loaded.Stacks[0].Outputs["Name"].Value; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAddressesComeFromTheRunner(t *testing.T) {
	t.Parallel()
	loaded := must.Get(assembly.Load(
		write(t, `{"Resources": {"Api": {"Type": "AWS::ApiGatewayV2::Api"}, "Queue": {"Type": "AWS::SQS::Queue"},
		"Table": {"Type": "AWS::DynamoDB::Table"}},
		"Outputs": {"Url": {"Value": {"Fn::GetAtt": ["Api", "ApiEndpoint"]}}, "Queue": {"Value": {"Ref": "Queue"}}}}`),
		assembly.Options{URL: func(r *assembly.Resource) string { return "http://127.0.0.1:1/" + r.LogicalID }}))(t)
	outputs := loaded.Stacks[0].Outputs
	if got := outputs["Url"].Value; got != "http://127.0.0.1:1/Api" {
		t.Errorf("got API %q", got)
	}
	if got := outputs["Queue"].Value; got != "http://127.0.0.1:1/Queue/000000000000/Stack-Queue" {
		t.Errorf("got queue %q", got)
	}
}

// Addresses are asked for in the order of the ports that stacks ask for, even where a stack refers to the API of a
// later one.
func TestOrderOfAPIs(t *testing.T) {
	t.Parallel()
	template := func(metadata, description string) string {
		return `{"Metadata": ` + metadata +
			`, "Resources": {"Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Description": ` + description +
			`}}},
			"Outputs": {"Url": {"Value": {"Fn::GetAtt": ["Api", "ApiEndpoint"]}, "Export": {"Name": {"Fn::Sub": "${AWS::StackName}-url"}}}}}`
	}
	var asked []string
	a := must.Get(assembly.Load(write(t,
		template(`{}`, `{"Fn::ImportValue": "Stack2-url"}`),
		template(`{"onesynth": {"localPort": 8082}}`, `"b"`),
		template(`{"onesynth": {"localPort": 8081}}`, `{"Fn::ImportValue": "Stack-url"}`),
		template(`{"onesynth": {"localPort": 0}}`, `"d"`),
	), assembly.Options{URL: func(resource *assembly.Resource) string {
		asked = append(asked, resource.Stack.Name)
		return ""
	}}))(t)
	var listed []string
	for _, api := range a.APIs() {
		listed = append(listed, api.Stack.Name)
	}
	want := []string{"Stack3", "Stack2", "Stack", "Stack4"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked for addresses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	dir := write(t, `{}`)
	inner := filepath.Join(dir, "inner")
	must.OK(t, os.Mkdir(inner, 0o700))
	writeManifest(t, inner, map[string]any{"B": map[string]any{
		"type": "aws:cloudformation:stack", "environment": "aws://111122223333/eu-west-1", "displayName": "Stage/B",
		"properties": map[string]any{"templateFile": "b.json", "stackName": "named",
			"parameters": map[string]string{"p": "v"}},
	}})
	writeManifest(t, dir, map[string]any{
		"A": map[string]any{"type": "aws:cloudformation:stack", "environment": "aws://unknown-account/unknown-region",
			"properties": map[string]any{"templateFile": "a.json"}},
		"Z": map[string]any{"type": "cdk:cloud-assembly", "properties": map[string]any{"directoryName": "inner"}},
	})
	got, err := assembly.Templates(dir)
	want := []assembly.Template{
		{Stack: "A", DisplayID: "A", Path: filepath.Join(dir, "a.json")},
		{Stack: "named", DisplayID: "Stage/B", Account: "111122223333", Region: "eu-west-1",
			Path: filepath.Join(inner, "b.json"), Parameters: map[string]string{"p": "v"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := assembly.Templates(t.TempDir()); !errors.Is(err, assembly.ErrNoAssembly) ||
		!strings.Contains(err.Error(), "make synth") {
		t.Errorf("empty folder: got %v", err)
	}
	writeManifest(t, dir, map[string]any{"A": map[string]any{"type": "aws:cloudformation:stack",
		"properties": map[string]any{"templateFile": "../a.json"}}})
	if _, err := assembly.Templates(dir); err == nil || !strings.Contains(err.Error(), "within the assembly") {
		t.Errorf("path outside: got %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if _, err := assembly.Load(empty, assembly.Options{}); !errors.Is(err, assembly.ErrNoAssembly) ||
		!strings.Contains(err.Error(), "make synth") {
		t.Errorf("empty folder: got %v", err)
	}
	if _, err := assembly.Load(filepath.Join(empty, "none"), assembly.Options{}); !errors.Is(err,
		assembly.ErrNoAssembly) {
		t.Errorf("no folder: got %v", err)
	}
	broken := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(broken, "manifest.json"), []byte("{"), 0o600))
	if _, err := assembly.Load(broken, assembly.Options{}); err == nil ||
		!strings.Contains(err.Error(), "synthesise again") {
		t.Errorf("broken manifest: got %v", err)
	}
	outside := t.TempDir()
	writeManifest(t, outside, map[string]any{
		"S": map[string]any{"type": "aws:cloudformation:stack", "properties": map[string]any{"templateFile": "../x"}}})
	if _, err := assembly.Load(outside, assembly.Options{}); err == nil ||
		!strings.Contains(err.Error(), "within the assembly") {
		t.Errorf("path out of the assembly: got %v", err)
	}
	none := t.TempDir()
	writeManifest(t, none, map[string]any{})
	if _, err := assembly.Load(none, assembly.Options{}); err == nil || !strings.Contains(err.Error(), "no stack") {
		t.Errorf("no stack: got %v", err)
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	loaded := must.Get(assembly.Load(
		write(t,
			`{"Resources": {"Cluster": {"Type": "AWS::EKS::Cluster", "Metadata": {"aws:cdk:path": "Stack/Cluster"}},
		"Alarm": {"Type": "AWS::CloudWatch::Alarm"}, "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"Tag": {"Fn::GetAtt": ["Cluster", "Arn"]}}}}}`), assembly.Options{}))(t)
	if got := loaded.Unsupported(); len(got) != 1 || got[0].String() != "AWS::EKS::Cluster Cluster (Stack/Cluster)" {
		t.Errorf("got unsupported %v", got)
	}
	if got := loaded.Accepted(); len(got) != 1 || got[0].LogicalID != "Alarm" {
		t.Errorf("got accepted %v", got)
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	dir := assemblytest.Write(t, assemblytest.Anywhere, map[string]string{"Stack": "{}"}, "one")
	must.OK(t, os.WriteFile(filepath.Join(dir, "asset.one", "bootstrap"), []byte("binary"), 0o700))
	writeZip(t, filepath.Join(dir, "asset.two.zip"), "bootstrap")
	writeZip(t, filepath.Join(dir, "asset.bad.zip"), "../bootstrap")
	manifest := `{"files": {"one": {"source": {"path": "asset.one", "packaging": "zip"}, "destinations": {"d": {"objectKey": "one.zip"}}},
		"two": {"source": {"path": "asset.two.zip", "packaging": "file"}, "destinations": {"d": {"objectKey": "two.zip"}}},
		"bad": {"source": {"path": "asset.bad.zip", "packaging": "file"}, "destinations": {"d": {"objectKey": "bad.zip"}}},
		"lost": {"source": {"path": "asset.lost", "packaging": "zip"}, "destinations": {"d": {"objectKey": "lost.zip"}}}}}`
	must.OK(t, os.WriteFile(filepath.Join(dir, "assets.json"), []byte(manifest), 0o600))
	loaded := must.Get(assembly.Load(dir, assembly.Options{}))(t)
	for _, key := range []string{"one.zip", "two.zip"} {
		asset := must.Get(loaded.Asset(key))(t)
		targets := []string{t.TempDir()}
		// Hard links do not reach another file system.
		if elsewhere, err := os.MkdirTemp("/dev/shm", "asset-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(elsewhere) })
			targets = append(targets, elsewhere)
		}
		var folders []string
		for _, target := range targets {
			folder := must.Get(asset.Folder(target))(t)
			folders = append(folders, folder)
		}
		must.OK(t, os.RemoveAll(asset.Path))
		for _, folder := range folders {
			information, err := os.Stat(filepath.Join(folder, "bootstrap"))
			if err != nil || information.Mode()&0o100 == 0 {
				t.Errorf("%s: got %v %v, want an executable file without the assembly", key, information, err)
			}
		}
	}
	bad := must.Get(loaded.Asset("bad.zip"))(t)
	if _, err := bad.Folder(t.TempDir()); err == nil {
		t.Error("a zip file with a path out of the folder was unpacked")
	}
	for _, key := range []string{"lost.zip", "unknown.zip"} {
		if _, err := loaded.Asset(key); err == nil || !strings.Contains(err.Error(), "synthesise again") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

func writeZip(t *testing.T, path, name string) {
	t.Helper()
	file := must.Get(os.Create(path))(t)
	defer func() { _ = file.Close() }()
	archive := zip.NewWriter(file)
	header := &zip.FileHeader{Name: name}
	header.SetMode(0o755)
	entry := must.Get(archive.CreateHeader(header))(t)
	must.Get(entry.Write([]byte("binary")))(t)
	must.OK(t, archive.Close())
}

func FuzzResolve(f *testing.F) {
	for _, seed := range []string{
		`{"Ref": "Table"}`, `{"Fn::Sub": ["${a}", {"a": [1]}]}`, `{"Fn::Join": ["", {"Ref": "Zones"}]}`,
		`[{"Fn::If": ["IsDev", {"Ref": "AWS::NoValue"}, 1]}]`,
		`{"Fn::Select": [-1, []]}`, `{"Fn::GetAtt": "."}`, `{"Fn::Split": ["", ""]}`, `{"Fn::FindInMap": [1]}`, `null`,
		`{"Ref": null}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) {
			t.Skip()
		}
		loaded, err := assembly.Load(write(t, strings.Replace(surroundings, `"VALUE"`, value, 1)), assembly.Options{})
		if err != nil {
			return
		}
		refuseIntrinsics(t, loaded.Stacks[0].ByLogicalID("Subject").Properties["Value"])
	})
}

// refuseIntrinsics fails when a resolved value still has an intrinsic function.
func refuseIntrinsics(t *testing.T, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, part := range value {
			if strings.HasPrefix(key, "Fn::") || key == "Ref" && len(value) == 1 {
				t.Errorf("%s is left in %v", key, value)
			}
			refuseIntrinsics(t, part)
		}
	case []any:
		for _, part := range value {
			refuseIntrinsics(t, part)
		}
	case string, bool, nil, json.Number:
	default:
		t.Errorf("got a %T in a resolved value", value)
	}
}
