package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
)

// TestNotes: a change about which there is no finding is a note, and no other is.
func TestNotes(t *testing.T) {
	t.Parallel()
	const fn = "AWS::Lambda::Function"
	digest := strings.Repeat("0123456789abcdef", 4)
	for name, test := range map[string]struct{ kind, before, after, want string }{
		"Property":    {fn, `"MemorySize": 256`, `"MemorySize": 512`, "MemorySize 256 512"},
		"New":         {fn, ``, `"MemorySize": 512`, "MemorySize none 512"},
		"Within":      {fn, `"Environment": {"Variables": {"A": "a", "B": "b"}}`, `"Environment": {"Variables": {"A": "a", "B": "c"}}`, "Environment.Variables.B b c"},
		"Better":      {fn, `"Timeout": 10`, `"Timeout": 15`, "Timeout 10 15"},
		"Worse":       {fn, `"Timeout": 15`, `"Timeout": 10`, ""},
		"Element":     {"AWS::WAFv2::WebACL", `"Rules": [{"Name": "a", "Priority": 1}]`, `"Rules": [{"Name": "a", "Priority": 2}]`, "Rules.a.Priority 1 2"},
		"Texts":       {"AWS::Cognito::UserPoolClient", `"ReadAttributes": ["a", "b"]`, `"ReadAttributes": ["a"]`, "ReadAttributes a, b a"},
		"Expression":  {fn, `"KmsKeyArn": {"Ref": "A"}`, `"KmsKeyArn": {"Ref": "B"}`, "KmsKeyArn A B"},
		"SameText":    {fn, `"Handler": {"Fn::Join": ["", ["a", {"Ref": "B"}]]}`, `"Handler": {"Fn::Sub": "a${B}"}`, ""},
		"Code":        {fn, `"Code": {"S3Key": "a"}`, `"Code": {"S3Key": "b"}`, ""},
		"Asset":       {"AWS::SSM::Parameter", `"Value": "` + digest + `.zip"`, `"Value": "` + strings.Replace(digest, "0", "1", 1) + `.zip"`, ""},
		"Description": {fn, `"Description": "a"`, `"Description": "b"`, ""},
		"Tags":        {"AWS::Cognito::UserPool", `"UserPoolTags": {"a": "b"}`, `"UserPoolTags": {"a": "c"}`, ""},
		"Policy":      {"AWS::IAM::Policy", `"PolicyDocument": {"Statement": []}`, `"PolicyDocument": {"Statement": [{"Sid": "a"}]}`, ""},
		"Replaced":    {"AWS::RDS::DBInstance", `"MasterUsername": "a"`, `"MasterUsername": "b"`, ""},
		"Long":        {fn, ``, `"Handler": "` + strings.Repeat("x", 200) + `"`, "Handler none " + strings.Repeat("x", 100) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			_, notes := check.CompareWithNotes(parse(t, properties(test.kind, test.before)),
				parse(t, properties(test.kind, test.after)), here)
			for _, n := range notes {
				got = append(got, fmt.Sprint(n.Property, " ", n.Before, " ", n.After))
				if n.Type != test.kind || n.Path != "R" {
					t.Errorf("got %+v", n)
				}
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestRulesOfImporters: what opens or stops before and behind an API has a finding, and its reverse has none.
func TestRulesOfImporters(t *testing.T) {
	t.Parallel()
	const (
		acl    = "AWS::WAFv2::WebACL"
		edge   = "AWS::CloudFront::Distribution"
		decide = "AWS::ApiGatewayV2::Authorizer"
		behind = "AWS::ApiGatewayV2::Integration"
		pool   = "AWS::Cognito::UserPool"
	)
	config := func(text string) string { return `"DistributionConfig": {` + text + `}` }
	for name, test := range map[string]struct {
		kind, before, after, id string
		reverse                 bool // also has a finding
	}{
		"Target": {"AWS::Events::Rule", `"Targets": []`,
			`"Targets": [{"Id": "a", "Arn": "arn:aws:events:eu-west-1:999999999999:event-bus/x"}]`, "opens-account", false},
		"Layer": {"AWS::Lambda::Function", "", `"Layers": ["arn:aws:lambda:eu-west-1:999999999999:layer:x:1"]`,
			"opens-account", false},
		"FirewallRule":  {acl, `"Rules": [{"Name": "a"}, {"Name": "b"}]`, `"Rules": [{"Name": "b"}]`, "opens-firewall", false},
		"FirewallCount": {acl, `"Rules": [{"Name": "a", "Action": {"Block": {}}}]`, `"Rules": [{"Name": "a", "Action": {"Count": {}}}]`, "opens-firewall", false},
		"FirewallScope": {acl, `"Scope": "CLOUDFRONT"`, `"Scope": "REGIONAL"`, "stops-firewall", true},
		"Cache":         {edge, config(`"DefaultCacheBehavior": {"CachePolicyId": "a"}`), config(`"DefaultCacheBehavior": {"CachePolicyId": "b"}`), "opens-edge", true},
		"Origin":        {edge, config(`"Origins": [{"Id": "a", "DomainName": "a"}]`), config(`"Origins": [{"Id": "a", "DomainName": "b"}]`), "stops-edge", true},
		"Alias":         {edge, config(`"Aliases": ["a", "b"]`), config(`"Aliases": ["a"]`), "stops-edge", false},
		"OldTLS":        {edge, config(`"ViewerCertificate": {"MinimumProtocolVersion": "TLSv1.2_2021"}`), config(`"ViewerCertificate": {}`), "opens-edge", false},
		"Answers":       {decide, `"AuthorizerResultTtlInSeconds": 60`, `"AuthorizerResultTtlInSeconds": 3600`, "opens-authorizer", false},
		"Identity":      {decide, `"IdentitySource": ["a"]`, `"IdentitySource": ["b"]`, "opens-authorizer", true},
		"Decider":       {decide, `"AuthorizerUri": "a"`, `"AuthorizerUri": "b"`, "opens-authorizer", true},
		"Integration":   {behind, `"IntegrationUri": "a"`, `"IntegrationUri": "b"`, "stops-integration", true},
		"RouteTarget": {"AWS::ApiGatewayV2::Route", `"Target": "integrations/a"`, `"Target": "integrations/b"`,
			"stops-integration", true},
		"Payload": {behind, `"PayloadFormatVersion": "2.0"`, `"PayloadFormatVersion": "1.0"`, "stops-integration", true},
		"TrustStore": {"AWS::ApiGatewayV2::DomainName", `"MutualTlsAuthentication": {"TruststoreUri": "a"}`,
			`"MutualTlsAuthentication": {"TruststoreUri": "b"}`, "opens-endpoint", true},
		"Header": {"AWS::ApiGatewayV2::Api", `"CorsConfiguration": {"AllowHeaders": ["a", "b"]}`,
			`"CorsConfiguration": {"AllowHeaders": ["a"]}`, "stops-origins", false},
		"Rotation":   {"AWS::KMS::Key", `"EnableKeyRotation": true`, `"EnableKeyRotation": false`, "opens-encryption", false},
		"Variables":  {"AWS::Lambda::Function", `"KmsKeyArn": "a"`, "", "opens-encryption", false},
		"Apps":       {pool, `"EnabledMfas": ["SOFTWARE_TOKEN_MFA"]`, `"EnabledMfas": []`, "stops-sign-in", false},
		"Redrive":    {"AWS::SQS::Queue", `"RedrivePolicy": {"maxReceiveCount": 3}`, `"RedrivePolicy": {}`, "stops-failures", false},
		"Throttle":   {"AWS::ApiGatewayV2::Stage", `"DefaultRouteSettings": {"ThrottlingRateLimit": 1000}`, `"DefaultRouteSettings": {"ThrottlingRateLimit": 1}`, "tenfold", true},
		"Interval":   {"AWS::Scheduler::Schedule", `"ScheduleExpression": "rate(1 minute)"`, `"ScheduleExpression": "rate(1 day)"`, "tenfold", true},
		"Threshold":  {"AWS::CloudWatch::Alarm", `"Threshold": 5`, `"Threshold": 1000000`, "tenfold", true},
		"Delay":      {"AWS::SQS::Queue", "", `"DelaySeconds": 900`, "tenfold", true},
		"DelayShort": {"AWS::SQS::Queue", `"DelaySeconds": 30`, `"DelaySeconds": 60`, "", false},
		"Record":     {"AWS::Route53::RecordSet", `"ResourceRecords": ["a"]`, `"ResourceRecords": ["b"]`, "stops-dns", true},
		"Bus":        {"AWS::Events::EventBus", `"Name": "a"`, `"Name": "b"`, "rename", true},
		"RestAPI": {"AWS::ApiGateway::RestApi",
			`"Policy": {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "execute-api:Invoke", "Condition": {"a": "b"}}]}`,
			`"Policy": {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "execute-api:Invoke"}]}`, "opens-policy", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids := func(before, after string) []string {
				var ids []string
				for _, f := range check.Compare(parse(t, properties(test.kind, before)),
					parse(t, properties(test.kind, after)), here) {
					ids = append(ids, strings.TrimSuffix(f.ID, ":R"))
				}
				return ids
			}
			if got := ids(test.before, test.after); !slices.Equal(got, slices.DeleteFunc([]string{test.id},
				func(id string) bool { return id == "" })) {
				t.Errorf("got %q, want %q", got, test.id)
			}
			if got := slices.Contains(ids(test.after, test.before), test.id); got != test.reverse {
				t.Errorf("the reverse: got %v, want %v", got, test.reverse)
			}
		})
	}
}
