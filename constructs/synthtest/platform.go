package synthtest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/schema"
)

var update = flag.Bool("update", false, "write the golden files")

// Platform is what the templates of a platform have to contain. The platform's test
// writes it out, so that a change of package schema shows.
type Platform struct {
	// Schema is the platform.
	Schema schema.Platform
	// ID is the construct's id in each stack.
	ID string
	// Variants are its templates, by stack name.
	Variants map[string]Variant
	// Golden names the variants whose logical ids are those of testdata/logical-ids.txt.
	Golden []string

	// Tables are the tables, each as [Template.Tables] says it.
	Tables map[string]map[string]string
	// Functions are the functions, by construct path below the platform without
	// slashes.
	Functions map[string]Function
	// Operations say which function serves each operation of the wire contract.
	Operations map[string]string
	// Callers are the operations, by what they contain, that need a token where the
	// variant is not open. Others need none.
	Callers func(operation string) bool
	// RequestHeaders and ResponseHeaders are those that CORS lets pages use.
	RequestHeaders, ResponseHeaders []any
	// RouteThrottles are the routes' own limits.
	RouteThrottles map[string]any
	// Secrets is how many secrets there are.
	Secrets int
	// Schedules are the schedules, by construct path.
	Schedules map[string]Schedule
	// Mappings are the mappings of the tables' streams, by construct path.
	Mappings map[string]Mapping
	// Queues are the queues, by construct path. The value says whether the queue
	// outlives its stack.
	Queues map[string]bool
	// Buckets are the buckets, by construct path. The value names the bucket that has
	// its access logs, where it outlives its stack; a bucket of access logs has none.
	Buckets map[string]string
	// Alarms are the alarms by construct path, each as "metric comparison threshold,
	// periods x seconds"; those of tables are not among them. A value may be
	// [ByVariant].
	Alarms map[string]any
	// Outputs are the outputs that there always are, and IssuerOutputs those that
	// the own issuer of tokens adds.
	Outputs, IssuerOutputs []string
	// LocalPort is the default port of a local run.
	LocalPort float64
}

// Function is what a function has to be.
type Function struct {
	// Name is its name in the schema. Empty: it uses no access pattern.
	Name string
	// Variables are the names of its environment variables.
	Variables []string
	// Allowed is what its role may do beside its access patterns, logs and traces, as
	// [Template.Allowed] says it.
	Allowed []string
	// Keys are the services through which it uses the customer managed key, if
	// there is one, beside AWS Lambda: "s3", "secretsmanager", "sqs", "stream" or
	// "table".
	Keys []string
	// Timeout is in seconds, Memory in MB. Default: 10 s and 256 MB.
	Timeout, Memory float64
}

// Schedule runs a function at intervals.
type Schedule struct {
	// Function is the construct path of the function.
	Function string
	// Expression is the schedule's expression.
	Expression ByVariant
}

// Mapping hands the stream of a table to a function.
type Mapping struct {
	// Function and Queue are construct paths: of the function that handles the records,
	// and of the queue that gets those that are given up.
	Function, Queue string
	// Table is the logical name of the table.
	Table string
	// Properties are the others; a value may be [ByVariant].
	Properties map[string]any
}

// ByVariant has the values of something that differs between variants, by the
// variant's name; "" has the value of the others.
type ByVariant map[string]any

func (b ByVariant) of(variant string) any {
	if v, ok := b[variant]; ok {
		return v
	}
	return b[""]
}

// Variant is a template, and what its props ask for.
type Variant struct {
	Template Template
	// RemoveWithStack, DeletionProtection, Tracing, NoAlarms and NoDashboard are those
	// of the props.
	RemoveWithStack, DeletionProtection, Tracing, NoAlarms, NoDashboard bool
	// AlarmTopic is the logical id of the topic of the alarms, AlarmTopicARN the ARN of one
	// that is there already, and AlarmEmail the address that a topic of the construct's own
	// writes to. Default: none, and a warning.
	AlarmTopic, AlarmTopicARN, AlarmEmail string
	// AlarmsOff are alarms that the props leave out. AlarmTopics are the ARNs of topics of
	// single alarms, and AlarmsChanged what descriptions say of what the props change, by
	// construct path.
	AlarmsOff                  []string
	AlarmTopics, AlarmsChanged map[string]string
	// Runbook and MetricNamespace are those of the props. Default: the library's page, and
	// "Onesynth".
	Runbook, MetricNamespace string
	// Open says that callers need no token.
	Open bool
	// Issuer issues the tokens, for the Audience. Default: a user pool of the
	// construct, for its clients.
	Issuer   string
	Audience []any
	// Prefix begins the physical names of tables. Default: they have none.
	Prefix string
	// Architecture, LogLevel and LogDays are those of all functions. Default: arm64,
	// INFO, 30.
	Architecture, LogLevel string
	LogDays                float64
	// Origin may call the API, Rate and Burst limit it. Default: *, 1000, 2000.
	Origin      string
	Rate, Burst float64
	// RouteThrottles are the routes' own limits. Default: the platform's.
	RouteThrottles map[string]any
	// Domain is the API's domain name, and Certificate its ARN. DefaultEndpoint says
	// that the API also has the generated one. Default: only that.
	Domain, Certificate string
	DefaultEndpoint     bool
	// Memory and Concurrency are those of functions, by construct path. Default: what
	// [Function] says, and no limit.
	Memory, Concurrency map[string]float64
	// Subnets are where in a VPC the functions run, and SecurityGroup is theirs.
	// Default: in none, and one for each.
	Subnets       []any
	SecurityGroup string
	// Key says that everything is encrypted with the key that the stack calls Key.
	Key bool
	// LocalPort is the port of a local run. Default: the platform's.
	LocalPort float64
	// MoreOutputs are outputs that only this variant has.
	MoreOutputs []string

	name string
}

// Check runs the checks that every platform's templates pass.
func Check(t *testing.T, p Platform) {
	checks := map[string]func(*testing.T, Platform, Variant){
		"Tables": checkTables, "TableSafety": checkTableSafety, "NoWildcards": checkNoWildcards, "FunctionGrants": checkFunctionGrants,
		"Functions": checkFunctions, "Logs": checkLogs, "Secrets": checkSecrets, "Routes": checkRoutes, "Authorizer": checkAuthorizer, "API": checkAPI,
		"Queues": checkQueues, "Buckets": checkBuckets, "Alarms": checkAlarms, "Dashboard": checkDashboard, "AccessLogReference": checkAccessLogReference, "Outputs": checkOutputs, "LocalPort": checkLocalPort, "DataModel": checkModel,
		"Key": checkKey, "Mappings": checkMappings, "Schedules": checkSchedules, "Triggers": checkTriggers,
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, variant := range slices.Sorted(maps.Keys(p.Variants)) {
				t.Run(variant, func(t *testing.T) {
					t.Parallel()
					v := p.Variants[variant].withDefaults(p)
					v.name = variant
					checks[name](t, p, v)
				})
			}
		})
	}
	t.Run("LogicalIDs", func(t *testing.T) {
		t.Parallel()
		for _, variant := range p.Golden {
			t.Run(variant, func(t *testing.T) { checkLogicalIDs(t, p.Variants[variant].Template) })
		}
	})
}

func (v Variant) withDefaults(p Platform) Variant {
	or := func(value *string, otherwise string) {
		if *value == "" {
			*value = otherwise
		}
	}
	orNumber := func(value *float64, otherwise float64) {
		if *value == 0 {
			*value = otherwise
		}
	}
	if v.RouteThrottles == nil {
		v.RouteThrottles = p.RouteThrottles
	}
	or(&v.Architecture, "arm64")
	or(&v.LogLevel, "INFO")
	or(&v.Origin, "*")
	orNumber(&v.LogDays, 30)
	orNumber(&v.Rate, 1000)
	orNumber(&v.Burst, 2000)
	orNumber(&v.LocalPort, p.LocalPort)
	return v
}

// policy is the deletion policy of what holds data.
func (v Variant) policy() string {
	if v.RemoveWithStack {
		return "Delete"
	}
	return "Retain"
}

// tablePolicy is that of tables, which have names that the next attempt of a
// deployment needs.
func (v Variant) tablePolicy() string {
	if v.RemoveWithStack || v.DeletionProtection {
		return v.policy()
	}
	return "RetainExceptOnCreate"
}

// compare reports what differs; of each pair the first is got and the second
// wanted.
func compare(t *testing.T, what string, pairs map[string][2]any) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		if diff := cmp.Diff(pairs[name][1], pairs[name][0]); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", what, name, diff)
		}
	}
}

// Tables returns the keys of each table, and of each index its keys and what it
// projects, in the order of the key's parts, such as "status:S created_at:S ALL";
// beside them the TTL attribute and the stream's view, where there are any. The
// names are those of the construct path without the prefix.
func (t Template) Tables(prefix string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for id, r := range t.Named("AWS::DynamoDB::GlobalTable") {
		types := map[string]string{}
		for _, d := range List(r.Properties["AttributeDefinitions"]) {
			types[At(d, "AttributeName").(string)] = At(d, "AttributeType").(string)
		}
		one := map[string]string{"key": keysOf(r.Properties["KeySchema"], types)}
		if ttl, ok := At(r.Properties, "TimeToLiveSpecification", "AttributeName").(string); ok {
			one["ttl"] = ttl
			if At(r.Properties, "TimeToLiveSpecification", "Enabled") != true {
				one["ttl"] += " (off)"
			}
		}
		if view, ok := At(r.Properties, "StreamSpecification", "StreamViewType").(string); ok {
			one["stream"] = view
		}
		for _, index := range List(r.Properties["GlobalSecondaryIndexes"]) {
			line := keysOf(At(index, "KeySchema"), types) + " " + At(index, "Projection", "ProjectionType").(string)
			if included := List(At(index, "Projection", "NonKeyAttributes")); len(included) > 0 {
				var names []string
				for _, n := range included {
					names = append(names, n.(string))
				}
				line += " " + strings.Join(slices.Sorted(slices.Values(names)), ",")
			}
			one[At(index, "IndexName").(string)] = line
		}
		all[strings.TrimPrefix(id, prefix)] = one
	}
	return all
}

// keysOf writes a key schema as "name:S name:N", partition key first.
func keysOf(schema any, types map[string]string) string {
	var parts []string
	for i, k := range List(schema) {
		name := At(k, "AttributeName").(string)
		if want := []string{"HASH", "RANGE"}[i]; At(k, "KeyType") != want {
			name += "(" + fmt.Sprint(At(k, "KeyType")) + ")"
		}
		parts = append(parts, name+":"+types[name])
	}
	return strings.Join(parts, " ")
}

func checkTables(t *testing.T, p Platform, v Variant) {
	if diff := cmp.Diff(p.Tables, v.Template.Tables(p.ID+"Database")); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func checkTableSafety(t *testing.T, p Platform, v Variant) {
	names, want := map[string]bool{}, map[string]bool{}
	for id, r := range v.Template.OfType("AWS::DynamoDB::GlobalTable") {
		compare(t, id, map[string][2]any{
			"deletion policy":     {r.DeletionPolicy, v.tablePolicy()},
			"replacement policy":  {r.UpdateReplacePolicy, v.policy()},
			"billing":             {r.Properties["BillingMode"], "PAY_PER_REQUEST"},
			"encryption":          {At(r.Properties, "SSESpecification"), map[string]any{"SSEEnabled": true, "SSEType": "KMS"}},
			"key":                 {Stable(Text(At(r.Properties, "Replicas", 0, "SSESpecification", "KMSMasterKeyId"))), v.keyed("Key.Arn", "null")},
			"replicas":            {len(List(r.Properties["Replicas"])), 1},
			"recovery":            {At(r.Properties, "Replicas", 0, "PointInTimeRecoverySpecification"), map[string]any{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35.0}},
			"deletion protection": {At(r.Properties, "Replicas", 0, "DeletionProtectionEnabled"), v.DeletionProtection},
		})
		if physical, ok := r.Properties["TableName"].(string); ok {
			names[physical] = true
		}
	}
	for _, table := range p.Schema.Database.Tables {
		if v.Prefix != "" {
			want[v.Prefix+"-"+table.PhysicalName] = true
		}
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("physical names (-want +got):\n%s", diff)
	}
}

// objects is the narrowest that Amazon S3 has for objects that are yet to be: all
// whose keys begin so.
var objects = regexp.MustCompile(`^[A-Za-z0-9]+\.Arn/[a-z]+/\*$`)

// networkActions are what AWS Lambda needs to put a function into a VPC.
var networkActions = []string{
	"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
	"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
}

func checkNoWildcards(t *testing.T, _ Platform, v Variant) {
	seen := 0
	for _, s := range v.Template.Statements() {
		seen++
		// X-Ray's actions take no resource: Props.Tracing says so.
		if v.Tracing && slices.Equal(s.Actions, []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}) {
			continue
		}
		if s.Effect != "Allow" {
			continue
		}
		// AWS Lambda wants these on everything: gofunction.Props.Network says so.
		if v.Subnets != nil && slices.Equal(s.Actions, networkActions) {
			continue
		}
		toObjects := !slices.ContainsFunc(s.Actions, func(a string) bool { return !strings.HasPrefix(a, "s3:") })
		for _, a := range s.Actions {
			if strings.Contains(a, "*") {
				t.Errorf("%s allows %v: want no wildcard", s.Owner, s.Actions)
			}
		}
		for _, r := range s.Resources {
			if strings.Contains(r, "*") && !(toObjects && objects.MatchString(r)) {
				t.Errorf("%s allows %v on %v: want no wildcard", s.Owner, s.Actions, s.Resources)
			}
		}
		// A role that may list a whole bucket knows more than the objects that it may read.
		if slices.Contains(s.Actions, "s3:ListBucket") && At(s.Condition, "StringLike", "s3:prefix") == nil {
			t.Errorf("%s allows %v with the condition %v: want one on s3:prefix", s.Owner, s.Actions, s.Condition)
		}
	}
	if seen < 10 {
		t.Errorf("statements: got %d, want all of the template", seen)
	}
	for id, r := range v.Template.OfType("AWS::IAM::Role") {
		if managed := r.Properties["ManagedPolicyArns"]; managed != nil {
			t.Errorf("%s has managed policies %v: want none", id, managed)
		}
	}
}

// Every function may do exactly what its access patterns need, and what is
// written out beside them.
func checkFunctionGrants(t *testing.T, p Platform, v Variant) {
	for id, f := range p.Functions {
		want := slices.Clone(f.Allowed)
		logs := p.ID + id + "Logs.Arn"
		want = append(want, "logs:CreateLogStream "+logs, "logs:PutLogEvents "+logs)
		if v.Tracing {
			want = append(want, "xray:PutTelemetryRecords *", "xray:PutTraceSegments *")
		}
		if v.Subnets != nil {
			for _, a := range networkActions {
				want = append(want, a+" *")
			}
		}
		if f.Name != "" {
			declared, ok := p.Schema.Function(f.Name)
			if !ok || len(p.Schema.Grants(declared)) == 0 {
				t.Fatalf("schema: function %s has no grants", f.Name)
			}
			for _, g := range p.Schema.Grants(declared) {
				line := "dynamodb:" + string(g.Operation) + " " + p.ID + "Database" + g.Table + ".Arn"
				if g.Index != "" {
					line += "/index/" + g.Index
				}
				want = append(want, line)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, v.Template.allowedButKey(t, p.ID+id+"Role")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func checkFunctions(t *testing.T, p Platform, v Variant) {
	found := v.Template.Named("AWS::Lambda::Function")
	for id, want := range p.Functions {
		f, ok := found[p.ID+id]
		if !ok {
			t.Errorf("there is no function %s", id)
			continue
		}
		if want.Timeout == 0 {
			want.Timeout = 10
		}
		if want.Memory == 0 {
			want.Memory = 256
		}
		if own, ok := v.Memory[id]; ok {
			want.Memory = own
		}
		var concurrency any
		if limit, ok := v.Concurrency[id]; ok {
			concurrency = limit
		}
		var tracing any
		if v.Tracing {
			tracing = map[string]any{"Mode": "Active"}
		}
		logs, _ := v.Template.One(t, "AWS::Logs::LogGroup", p.ID+id+"Logs")
		environment, _ := At(f.Properties, "Environment", "Variables").(map[string]any)
		if v.MetricNamespace != "" {
			want.Variables = append(slices.Clone(want.Variables), schema.MetricNamespaceVariable)
			if got := environment[schema.MetricNamespaceVariable]; got != v.MetricNamespace {
				t.Errorf("%s: got the namespace %v, want %s", id, got, v.MetricNamespace)
			}
		}
		compare(t, id, map[string][2]any{
			"architecture": {f.Properties["Architectures"], []any{v.Architecture}},
			"runtime":      {f.Properties["Runtime"], "provided.al2023"},
			"handler":      {f.Properties["Handler"], "bootstrap"},
			"timeout":      {f.Properties["Timeout"], want.Timeout},
			"memory":       {f.Properties["MemorySize"], want.Memory},
			"concurrency":  {f.Properties["ReservedConcurrentExecutions"], concurrency},
			"recursion":    {f.Properties["RecursiveLoop"], "Terminate"},
			"network":      {f.Properties["VpcConfig"], v.network(t, p.ID+id)},
			"tracing":      {f.Properties["TracingConfig"], tracing},
			"key":          {Stable(Text(f.Properties["KmsKeyArn"])), v.keyed("Key.Arn", "null")},
			"logging":      {f.Properties["LoggingConfig"], map[string]any{"LogFormat": "JSON", "ApplicationLogLevel": v.LogLevel, "LogGroup": map[string]any{"Ref": logs}}},
			"variables":    {slices.Sorted(maps.Keys(environment)), slices.Sorted(slices.Values(want.Variables))},
		})
		if size := environmentSize(environment); size > 4096 {
			t.Errorf("%s: environment: got %d bytes, want at most 4,096", id, size)
		}
	}
	if len(found) != len(p.Functions) {
		t.Errorf("functions: got %v, want %v and none of the CDK's own", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(p.Functions)))
	}
}

// network is the VPC configuration of a function. The function's own code is denied the
// actions that its role allows for the network.
func (v Variant) network(t *testing.T, function string) any {
	t.Helper()
	denied := 0
	for _, s := range v.Template.Statements() {
		if Stable(s.Owner) != function+"RoleDefaultPolicy" || s.Effect != "Deny" {
			continue
		}
		arn := Text(At(s.Condition, "ArnLike", "lambda:SourceFunctionArn"))
		if slices.Equal(s.Actions, networkActions) && arn == "arn:AWS::Partition:lambda:AWS::Region:AWS::AccountId:function:*" {
			denied++
		}
	}
	if want := map[bool]int{true: 1}[v.Subnets != nil]; denied != want {
		t.Errorf("%s: statements that deny its code to change the network: got %d, want %d", function, denied, want)
	}
	if v.Subnets == nil {
		return nil
	}
	var group any = v.SecurityGroup
	if v.SecurityGroup == "" {
		id, _ := v.Template.One(t, "AWS::EC2::SecurityGroup", function+"SecurityGroup")
		group = map[string]any{"Fn::GetAtt": []any{id, "GroupId"}}
	}
	return map[string]any{"SubnetIds": v.Subnets, "SecurityGroupIds": []any{group}}
}

// environmentSize is how much of AWS Lambda's 4 KB the variables take, where what
// is known at deployment only counts with 100 bytes.
func environmentSize(variables map[string]any) int {
	size := 0
	for name, value := range variables {
		text, ok := value.(string)
		if !ok {
			text = strings.Repeat("x", 100)
		}
		size += len(name) + len(text)
	}
	return size
}

func checkLogs(t *testing.T, p Platform, v Variant) {
	groups := v.Template.OfType("AWS::Logs::LogGroup")
	if want := len(p.Functions) + 1; len(groups) != want {
		t.Errorf("log groups: got %d, want %d: one for each function and one for the API", len(groups), want)
	}
	for id, r := range groups {
		if got := r.Properties["RetentionInDays"]; got != v.LogDays {
			t.Errorf("%s: retention: got %v days, want %v", id, got, v.LogDays)
		}
		if got, want := Stable(Text(r.Properties["KmsKeyId"])), v.keyed("Key.Arn", "null"); got != want {
			t.Errorf("%s: key: got %v, want %v", id, got, want)
		}
	}
}

func checkSecrets(t *testing.T, p Platform, v Variant) {
	secrets := v.Template.OfType("AWS::SecretsManager::Secret")
	if len(secrets) != p.Secrets {
		t.Errorf("secrets: got %d, want %d", len(secrets), p.Secrets)
	}
	for id, r := range secrets {
		if r.Properties["SecretString"] != nil {
			t.Errorf("%s: the template has the secret's value", id)
		}
		if r.DeletionPolicy != v.policy() {
			t.Errorf("%s: deletion policy: got %s, want %s", id, r.DeletionPolicy, v.policy())
		}
		if got, want := Stable(Text(r.Properties["KmsKeyId"])), v.keyed("Key.Arn", "null"); got != want {
			t.Errorf("%s: key: got %v, want %v", id, got, want)
		}
	}
	// These would put a secret's value, not its name, into a resource.
	for _, reference := range []string{"{{resolve:", "ClientSecret"} {
		if strings.Contains(v.Template.Source, reference) {
			t.Errorf("the template has %q", reference)
		}
	}
}

func checkRoutes(t *testing.T, p Platform, v Variant) {
	got, served := map[string]string{}, map[string]bool{}
	for id, r := range v.Template.OfType("AWS::ApiGatewayV2::Route") {
		operation := r.Properties["RouteKey"].(string)
		integration := v.Template.Resources[strings.TrimPrefix(Text(r.Properties["Target"]), "integrations/")]
		function := strings.TrimSuffix(strings.TrimPrefix(Stable(Text(integration.Properties["IntegrationUri"])), p.ID), ".Arn")
		got[operation], served[function] = function, true
		if payload := integration.Properties["PayloadFormatVersion"]; payload != "2.0" {
			t.Errorf("%s: payload: got %v, want 2.0", id, payload)
		}
		want := "NONE"
		if !v.Open && p.Callers(operation) {
			want = "JWT"
		}
		if authorization := r.Properties["AuthorizationType"]; authorization != want {
			t.Errorf("%s: authorization: got %v, want %s", operation, authorization, want)
		}
		if (want == "JWT") != (r.Properties["AuthorizerId"] != nil) {
			t.Errorf("%s: authorizer: got %v with authorization %s", operation, r.Properties["AuthorizerId"], want)
		}
	}
	if diff := cmp.Diff(p.Operations, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	if n := len(v.Template.OfType("AWS::ApiGatewayV2::Integration")); n != len(served) {
		t.Errorf("integrations: got %d, want one for each of the %d functions that serve routes", n, len(served))
	}
	operations := slices.Collect(maps.Keys(p.Operations))
	for id, r := range v.Template.OfType("AWS::Lambda::Permission") {
		arn := Text(r.Properties["SourceArn"])
		if _, path, _ := strings.Cut(arn, "/*/*"); !slices.ContainsFunc(operations, func(o string) bool { return strings.HasSuffix(o, " "+path) }) {
			t.Errorf("%s: got permission for %s, want that of a route's path", id, arn)
		}
	}
}

func checkAuthorizer(t *testing.T, _ Platform, v Variant) {
	authorizers, pools := v.Template.OfType("AWS::ApiGatewayV2::Authorizer"), v.Template.OfType("AWS::Cognito::UserPool")
	if v.Open {
		if len(authorizers) != 0 || len(pools) != 0 {
			t.Errorf("open: got %d authorizers and %d pools, want none", len(authorizers), len(pools))
		}
		return
	}
	_, authorizer := v.Template.One(t, "AWS::ApiGatewayV2::Authorizer", "")
	issuer := Text(At(authorizer.Properties, "JwtConfiguration", "Issuer"))
	if v.Issuer != "" {
		audience := At(authorizer.Properties, "JwtConfiguration", "Audience")
		if issuer != v.Issuer || len(pools) != 0 || !cmp.Equal(audience, any(v.Audience)) {
			t.Errorf("issuer: got %s for %v and %d pools, want %s for %v and none", issuer, audience, len(pools), v.Issuer, v.Audience)
		}
		return
	}
	pool, r := v.Template.One(t, "AWS::Cognito::UserPool", "")
	protection := "INACTIVE"
	if v.DeletionProtection {
		protection = "ACTIVE"
	}
	compare(t, pool, map[string][2]any{
		"issuer":              {issuer, "https://cognito-idp.AWS::Region.AWS::URLSuffix/" + pool},
		"deletion policy":     {r.DeletionPolicy, v.policy()},
		"deletion protection": {r.Properties["DeletionProtection"], protection},
	})
	clients := v.Template.OfType("AWS::Cognito::UserPoolClient")
	var audience []string
	for _, a := range List(At(authorizer.Properties, "JwtConfiguration", "Audience")) {
		audience = append(audience, Text(a))
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(clients)), slices.Sorted(slices.Values(audience))); diff != "" {
		t.Errorf("audience (-want +got):\n%s", diff)
	}
}

func checkAPI(t *testing.T, p Platform, v Variant) {
	_, api := v.Template.One(t, "AWS::ApiGatewayV2::Api", "")
	methods := map[string]bool{"OPTIONS": true}
	for o := range p.Operations {
		method, _, _ := strings.Cut(o, " ")
		methods[method] = true
	}
	var sorted []any
	for _, m := range slices.Sorted(maps.Keys(methods)) {
		sorted = append(sorted, m)
	}
	cors := map[string]any{
		"AllowOrigins": []any{v.Origin}, "AllowMethods": sorted, "AllowHeaders": p.RequestHeaders, "ExposeHeaders": p.ResponseHeaders, "MaxAge": 3600.0,
	}
	if diff := cmp.Diff(cors, api.Properties["CorsConfiguration"]); diff != "" {
		t.Errorf("CORS (-want +got):\n%s", diff)
	}
	checkDomain(t, p, v, api)
	_, stage := v.Template.One(t, "AWS::ApiGatewayV2::Stage", "")
	settings, _ := stage.Properties["RouteSettings"].(map[string]any)
	logs, accessLogs := v.Template.One(t, "AWS::Logs::LogGroup", p.ID+"APIAccessLogs")
	compare(t, "stage", map[string][2]any{
		"name":       {stage.Properties["StageName"], "$default"},
		"deployment": {stage.Properties["AutoDeploy"], true},
		"throttle":   {stage.Properties["DefaultRouteSettings"], map[string]any{"ThrottlingRateLimit": v.Rate, "ThrottlingBurstLimit": v.Burst}},
		"throttles":  {settings, v.RouteThrottles},
		"log name":   {Text(accessLogs.Properties["LogGroupName"]), "/aws/vendedlogs/AWS::StackName/" + logs},
		"log group":  {Stable(Text(At(stage.Properties, "AccessLogSettings", "DestinationArn"))), p.ID + "APIAccessLogs.Arn"},
	})
	var format map[string]string
	if err := json.Unmarshal([]byte(At(stage.Properties, "AccessLogSettings", "Format").(string)), &format); err != nil {
		t.Fatalf("access log format is not JSON: %v", err)
	}
	// A path may hold a capability, and callers choose the other fields. What has quotes
	// of its own would break the line.
	for field, logged := range format {
		if strings.Contains(logged, "messageString") {
			t.Errorf("access log: %s is %s, which has quotes of its own", field, logged)
		}
		for _, kept := range []string{"$context.path", "$context.authorizer.claims", "$context.identity.userAgent", "$request"} {
			if strings.Contains(logged, kept) {
				t.Errorf("access log: %s is %s, want nothing of a request but its route", field, logged)
			}
		}
	}
	for field, want := range map[string]string{"requestId": "$context.requestId", "routeKey": "$context.routeKey", "status": "$context.status", "sourceIp": "$context.identity.sourceIp"} {
		if format[field] != want {
			t.Errorf("access log: %s: got %q, want %q", field, format[field], want)
		}
	}
}

func checkDomain(t *testing.T, p Platform, v Variant, api Resource) {
	domains, mappings := v.Template.OfType("AWS::ApiGatewayV2::DomainName"), v.Template.OfType("AWS::ApiGatewayV2::ApiMapping")
	if v.Domain == "" {
		if len(domains) != 0 || len(mappings) != 0 || api.Properties["DisableExecuteApiEndpoint"] != nil {
			t.Errorf("domain: got %v, %v and the default endpoint disabled: %v, want none", domains, mappings, api.Properties["DisableExecuteApiEndpoint"])
		}
		return
	}
	var disabled any
	if !v.DefaultEndpoint {
		disabled = true
	}
	_, domain := v.Template.One(t, "AWS::ApiGatewayV2::DomainName", "")
	_, mapping := v.Template.One(t, "AWS::ApiGatewayV2::ApiMapping", "")
	compare(t, "domain", map[string][2]any{
		"name": {domain.Properties["DomainName"], v.Domain},
		"configuration": {domain.Properties["DomainNameConfigurations"], []any{
			map[string]any{"CertificateArn": v.Certificate, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2"},
		}},
		"mapped domain":    {Stable(Text(mapping.Properties["DomainName"])), p.ID + "APIDomain"},
		"mapped API":       {Stable(Text(mapping.Properties["ApiId"])), p.ID + "API"},
		"mapped stage":     {mapping.Properties["Stage"], "$default"},
		"after the stage":  {slices.ContainsFunc(List(mapping.DependsOn), func(d any) bool { return Stable(d.(string)) == p.ID+"APIStage" }), true},
		"default endpoint": {api.Properties["DisableExecuteApiEndpoint"], disabled},
		"URL":              {v.Template.Outputs[p.ID+"ApiUrl"].Value, "https://" + v.Domain},
	})
}

// allowedButKey is [Template.Allowed] without the uses of a key: checkKey has
// them.
func (t Template) allowedButKey(tb testing.TB, role string) []string {
	tb.Helper()
	return slices.DeleteFunc(t.Allowed(tb, role), func(line string) bool { return strings.HasPrefix(line, "kms:") })
}

// keyed is one of two texts, by whether there is a customer managed key.
func (v Variant) keyed(with, without string) string {
	if v.Key {
		return with
	}
	return without
}

// Every role may use a customer managed key only through the services whose
// data it reads or writes, Amazon CloudWatch Logs for log groups, and alarms for a
// topic that it encrypts.
func checkKey(t *testing.T, p Platform, v Variant) {
	uses := map[string]string{
		"lambda": "lambda kms:Decrypt", "secretsmanager": "secretsmanager kms:Decrypt", "s3": "s3 kms:Decrypt kms:GenerateDataKey", "sqs": "sqs kms:Decrypt kms:GenerateDataKey",
		"stream": "dynamodb kms:Decrypt kms:DescribeKey",
		"table":  "dynamodb kms:Decrypt kms:DescribeKey kms:Encrypt kms:GenerateDataKey kms:GenerateDataKeyWithoutPlaintext kms:ReEncryptFrom kms:ReEncryptTo",
	}
	want := map[string][]string{}
	if v.Key {
		for id, f := range p.Functions {
			for _, service := range append([]string{"lambda"}, f.Keys...) {
				want[p.ID+id+"RoleDefaultPolicy"] = append(want[p.ID+id+"RoleDefaultPolicy"], uses[service])
			}
		}
		for id := range p.Schedules {
			want[p.ID+id+"RoleDefaultPolicy"] = []string{uses["sqs"]}
		}
	}
	got := map[string][]string{}
	for _, s := range v.Template.Statements() {
		if !strings.HasPrefix(s.Actions[0], "kms:") || !strings.HasPrefix(s.Owner, p.ID) {
			continue
		}
		service, _, _ := strings.Cut(Text(At(s.Condition, "StringEquals", "kms:ViaService")), ".AWS::Region.amazonaws.com")
		got[Stable(s.Owner)] = append(got[Stable(s.Owner)], service+" "+strings.Join(slices.Sorted(slices.Values(s.Actions)), " "))
		if len(s.Resources) != 1 || Stable(s.Resources[0]) != "Key.Arn" {
			t.Errorf("%s allows %v on %v, want the key alone", s.Owner, s.Actions, s.Resources)
		}
	}
	for _, lines := range []map[string][]string{want, got} {
		for owner := range lines {
			slices.Sort(lines[owner])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("uses of the key (-want +got):\n%s", diff)
	}
	if !v.Key {
		return
	}
	_, key := v.Template.One(t, "AWS::KMS::Key", "Key")
	services := map[string]any{
		"logs.AWS::Region.amazonaws.com": []any{
			"Allow",
			[]any{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"},
			map[string]any{"kms:EncryptionContext:aws:logs:arn": "arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:*"},
		},
	}
	if v.AlarmTopic != "" {
		services["cloudwatch.amazonaws.com"] = []any{
			"Allow", []any{"kms:Decrypt", "kms:GenerateDataKey"},
			map[string]any{"aws:SourceArn": "arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:*"},
		}
	}
	allowed := map[string]any{}
	for _, s := range List(At(key.Properties, "KeyPolicy", "Statement")) {
		principal := At(s, "Principal", "Service")
		if principal == nil {
			continue
		}
		if allowed[Text(principal)] != nil {
			t.Errorf("the key's policy allows %s twice", Text(principal))
		}
		conditions := map[string]any{}
		arns, _ := At(s, "Condition", "ArnLike").(map[string]any)
		for name, arn := range arns {
			conditions[name] = Text(arn)
		}
		allowed[Text(principal)] = []any{At(s, "Effect"), At(s, "Action"), conditions}
	}
	if diff := cmp.Diff(services, allowed); diff != "" {
		t.Errorf("services that the key's policy allows (-want +got):\n%s", diff)
	}
}

// overTLS are the deletion policies of the policies that refuse requests without
// TLS, by the stable logical id of their resource.
func (t Template) overTLS(policies, about string) map[string]string {
	refused := map[string]string{}
	for _, r := range t.OfType(policies) {
		for _, s := range List(At(r.Properties, "PolicyDocument", "Statement")) {
			if At(s, "Effect") == "Deny" && cmp.Equal(At(s, "Condition"), map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}) {
				for _, of := range List(r.Properties[about]) {
					refused[Stable(Text(of))] = orDelete(r.DeletionPolicy)
				}
			}
		}
	}
	return refused
}

// orDelete is a deletion policy; a resource without one is deleted.
func orDelete(policy string) string {
	if policy == "" {
		return "Delete"
	}
	return policy
}

func checkQueues(t *testing.T, p Platform, v Variant) {
	got := map[string]bool{}
	refused := v.Template.overTLS("AWS::SQS::QueuePolicy", "Queues")
	for id, q := range v.Template.Named("AWS::SQS::Queue") {
		got[strings.TrimPrefix(id, p.ID)] = true
		policy := "Delete"
		if p.Queues[strings.TrimPrefix(id, p.ID)] {
			policy = v.policy()
		}
		compare(t, id, map[string][2]any{
			"encryption": {q.Properties["SqsManagedSseEnabled"], map[bool]any{false: true}[v.Key]},
			"key":        {Stable(Text(q.Properties["KmsMasterKeyId"])), v.keyed("Key.Arn", "null")},
			"kept":       {q.Properties["MessageRetentionPeriod"], 1209600.0},
			"policy":     {q.DeletionPolicy, policy},
			"TLS":        {refused[id], policy},
		})
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(p.Queues)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
}

func checkBuckets(t *testing.T, p Platform, v Variant) {
	var got, want []string
	logged := map[string]any{}
	for id, logs := range p.Buckets {
		if !v.RemoveWithStack || !slices.Contains(slices.Collect(maps.Values(p.Buckets)), id) {
			want = append(want, id)
		}
		if !v.RemoveWithStack && logs != "" {
			logged[p.ID+id] = map[string]any{"DestinationBucketName": p.ID + logs, "LogFilePrefix": "lake/"}
		}
	}
	slices.Sort(want)
	refused := v.Template.overTLS("AWS::S3::BucketPolicy", "Bucket")
	for id, b := range v.Template.Named("AWS::S3::Bucket") {
		got = append(got, strings.TrimPrefix(id, p.ID))
		// Access logs are delivered only to buckets whose key is Amazon S3's.
		keyed := v.Key && p.Buckets[strings.TrimPrefix(id, p.ID)] != ""
		var versioning any
		if !v.RemoveWithStack {
			versioning = map[string]any{"Status": "Enabled"}
		}
		var logging any
		if b.Properties["LoggingConfiguration"] != nil {
			logging = map[string]any{
				"DestinationBucketName": Stable(Text(At(b.Properties, "LoggingConfiguration", "DestinationBucketName"))),
				"LogFilePrefix":         At(b.Properties, "LoggingConfiguration", "LogFilePrefix"),
			}
		}
		compare(t, id, map[string][2]any{
			"encryption": {At(b.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm"), map[bool]any{false: "AES256", true: "aws:kms"}[keyed]},
			"key":        {Stable(Text(At(b.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "KMSMasterKeyID"))), map[bool]any{false: "null", true: "Key.Arn"}[keyed]},
			"public": {b.Properties["PublicAccessBlockConfiguration"], map[string]any{
				"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true,
			}},
			"ownership":  {At(b.Properties, "OwnershipControls", "Rules", 0, "ObjectOwnership"), "BucketOwnerEnforced"},
			"versioning": {b.Properties["VersioningConfiguration"], versioning},
			"policy":     {b.DeletionPolicy, v.policy()},
			"replaced":   {b.UpdateReplacePolicy, v.policy()},
			"TLS":        {refused[id], v.policy()},
			"logging":    {logging, logged[id]},
		})
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
}

func checkMappings(t *testing.T, p Platform, v Variant) {
	found := v.Template.Named("AWS::Lambda::EventSourceMapping")
	for id, want := range p.Mappings {
		m := maps.Clone(found[p.ID+id].Properties)
		properties := map[string]any{
			"FunctionName":      p.ID + want.Function,
			"EventSourceArn":    p.ID + "Database" + want.Table + ".StreamArn",
			"DestinationConfig": map[string]any{"OnFailure": map[string]any{"Destination": p.ID + want.Queue + ".Arn"}},
			"StartingPosition":  "TRIM_HORIZON",
		}
		for name, value := range want.Properties {
			if by, ok := value.(ByVariant); ok {
				value = by.of(v.name)
			}
			properties[name] = value
		}
		for _, name := range []string{"FunctionName", "EventSourceArn"} {
			m[name] = Stable(Text(m[name]))
		}
		m["DestinationConfig"] = map[string]any{"OnFailure": map[string]any{"Destination": Stable(Text(At(m, "DestinationConfig", "OnFailure", "Destination")))}}
		if diff := cmp.Diff(properties, m); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
		role := p.ID + want.Function + "Role"
		var after []string
		for _, d := range List(found[p.ID+id].DependsOn) {
			after = append(after, Stable(d.(string)))
		}
		if !slices.Contains(after, role+"DefaultPolicy") {
			t.Errorf("%s: depends on %v, want that the policy of %s is there first", id, after, role)
		}
	}
	if len(found) != len(p.Mappings) {
		t.Errorf("mappings: got %v, want %v", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(p.Mappings)))
	}
}

func checkSchedules(t *testing.T, p Platform, v Variant) {
	template := v.Template
	found := template.Named("AWS::Scheduler::Schedule")
	for id, want := range p.Schedules {
		s := found[p.ID+id]
		function, queue, role := p.ID+want.Function, p.ID+id+"DeadLetters", p.ID+id+"Role"
		failures := template.Named("AWS::Lambda::EventInvokeConfig")[p.ID+id+"Failures"].Properties
		compare(t, id, map[string][2]any{
			"expression":  {s.Properties["ScheduleExpression"], want.Expression.of(v.name)},
			"window":      {s.Properties["FlexibleTimeWindow"], map[string]any{"Mode": "OFF"}},
			"state":       {s.Properties["State"], "ENABLED"},
			"target":      {Stable(Text(At(s.Properties, "Target", "Arn"))), function + ".Arn"},
			"role":        {Stable(Text(At(s.Properties, "Target", "RoleArn"))), role + ".Arn"},
			"retries":     {At(s.Properties, "Target", "RetryPolicy"), map[string]any{"MaximumEventAgeInSeconds": 300.0, "MaximumRetryAttempts": 3.0}},
			"undelivered": {Stable(Text(At(s.Properties, "Target", "DeadLetterConfig", "Arn"))), queue + ".Arn"},
			"permissions": {template.allowedButKey(t, role), []string{"lambda:InvokeFunction " + function + ".Arn", "sqs:SendMessage " + queue + ".Arn"}},
			"failed":      {Stable(Text(At(failures, "DestinationConfig", "OnFailure", "Destination"))), queue + ".Arn"},
			"failed of":   {Stable(Text(At(failures, "FunctionName"))), function},
		})
	}
	if len(found) != len(p.Schedules) {
		t.Errorf("schedules: got %v, want %v", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(p.Schedules)))
	}
}

// checkTriggers compares each function's trigger in the schema with the resources that
// invoke the function.
func checkTriggers(t *testing.T, p Platform, v Variant) {
	found := map[string]string{}
	for _, s := range v.Template.OfType("AWS::Scheduler::Schedule") {
		found[strings.TrimSuffix(Stable(Text(At(s.Properties, "Target", "Arn"))), ".Arn")] = "schema.OnSchedule"
	}
	for _, m := range v.Template.OfType("AWS::Lambda::EventSourceMapping") {
		found[Stable(Text(m.Properties["FunctionName"]))] = "schema.OnStream"
	}
	for _, pool := range v.Template.OfType("AWS::Cognito::UserPool") {
		if handler := At(pool.Properties, "LambdaConfig", "PostConfirmation"); handler != nil {
			found[strings.TrimSuffix(Stable(Text(handler)), ".Arn")] = "schema.OnSignUp"
		}
	}
	for id, f := range p.Functions {
		declared, ok := p.Schema.Function(f.Name)
		if !ok {
			continue
		}
		want := ""
		if declared.Trigger != nil {
			want = fmt.Sprintf("%T", declared.Trigger)
		}
		if want != found[p.ID+id] {
			t.Errorf("%s: the schema says that it is invoked by %q, and it is by %q", id, want, found[p.ID+id])
		}
	}
}

func checkOutputs(t *testing.T, p Platform, v Variant) {
	var want []string
	for _, o := range slices.Concat(p.Outputs, v.MoreOutputs) {
		want = append(want, p.ID+o)
	}
	if !v.Open && v.Issuer == "" {
		for _, o := range p.IssuerOutputs {
			want = append(want, p.ID+o)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(v.Template.Outputs))); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

// mostMetadata is how many bytes the metadata of a template may have: AWS CloudFormation takes templates of 1 MB.
const mostMetadata = 16 << 10

func checkModel(t *testing.T, p Platform, v Variant) {
	for _, table := range p.Schema.Database.Tables {
		model := v.Template.Metadata["onesynth:"+p.ID+"/Database/"+table.Name]
		attributes, _ := At(model, "attributes").(map[string]any)
		if At(model, "table") != table.Name || len(attributes) != len(table.Attributes) {
			t.Errorf("data model of %s: got %v", table.Name, model)
		}
	}
	text, err := json.Marshal(v.Template.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > mostMetadata {
		t.Errorf("got %d bytes of metadata, and %d are allowed", len(text), mostMetadata)
	}
}

func checkLocalPort(t *testing.T, _ Platform, v Variant) {
	if got := At(v.Template.Metadata, "onesynth", "localPort"); got != v.LocalPort {
		t.Errorf("local port: got %v, want %v", got, v.LocalPort)
	}
}

// A logical id that changes replaces the resource, and a table's data with it. Some ids have to stay: see [Gone].
func checkLogicalIDs(t *testing.T, template Template) {
	var lines []string
	for id, r := range template.Resources {
		lines = append(lines, r.Type+" "+id)
	}
	got := strings.Join(slices.Sorted(slices.Values(lines)), "\n") + "\n"
	file := filepath.Join("testdata", "logical-ids.txt")
	want, err := os.ReadFile(file)
	if err != nil && !(*update && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	if lost := Gone(string(want), got); len(lost) > 0 {
		t.Fatalf("logical ids that docs/VERSIONS.md promises to keep are gone: leave the constructs where they were, or override the ids of their resources:\n%s", strings.Join(lost, "\n"))
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		want = []byte(got)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("logical ids (-want +got); if the change is meant, run the test with -update:\n%s", diff)
	}
}

// Gone returns the lines of a golden file that are no longer there and whose logical ids never change: those of what
// holds data, and of what CloudFormation cannot replace ([check.UniqueTypes]). No -update takes them away.
func Gone(golden, got string) []string {
	kept := append(check.UniqueTypes(), "AWS::DynamoDB::GlobalTable", "AWS::SecretsManager::Secret", "AWS::Cognito::UserPool", "AWS::S3::Bucket")
	lines := strings.Split(got, "\n")
	var lost []string
	for line := range strings.Lines(golden) {
		line = strings.TrimSpace(line)
		if kind, _, _ := strings.Cut(line, " "); slices.Contains(kept, kind) && !slices.Contains(lines, line) {
			lost = append(lost, line)
		}
	}
	return lost
}
