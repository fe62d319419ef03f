package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

const roleARN = "arn:aws:iam::000000000000:role/Stack-Role"

// role reads a role with the statements attached to it.
func role(t testing.TB, statements string) (*policy.Role, error) {
	t.Helper()
	return policy.ForRole(assemblytest.Load(t,
		`{"Role": {"Type": "AWS::IAM::Role"}, "Policy": {"Type": "AWS::IAM::Policy",
		"Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": `+statements+`}}}}`), roleARN)
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const table = "arn:aws:dynamodb:us-east-1:000000000000:table/questions"
	for name, test := range map[string]struct {
		statements string
		request    policy.Request
		want       policy.Decision
	}{
		"exact": {`{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "` + table + `"}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.Allowed},
		"action in other case": {`{"Effect": "Allow", "Action": "DynamoDB:getitem", "Resource": "` + table + `"}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.Allowed},
		"resource in other case": {`{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "` +
			strings.ToUpper(table) + `"}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.NotAllowed},
		"other action": {`{"Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": "*"}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.NotAllowed},
		"table does not cover index": {`{"Effect": "Allow", "Action": "dynamodb:Query", "Resource": "` + table + `"}`,
			policy.Request{Action: "dynamodb:Query", Resource: table + "/index/by-time"}, policy.NotAllowed},
		"star reaches over slashes": {`{"Effect": "Allow", "Action": "dynamodb:Query", "Resource": "` + table + `*"}`,
			policy.Request{Action: "dynamodb:Query", Resource: table + "/index/by-time"}, policy.Allowed},
		"star in action": {`{"Effect": "Allow", "Action": "dynamodb:*Item", "Resource": "*"}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.Allowed},
		"star in action, no match": {`{"Effect": "Allow", "Action": "dynamodb:*Item", "Resource": "*"}`,
			policy.Request{Action: "dynamodb:Query", Resource: table}, policy.NotAllowed},
		"question mark": {`{"Effect": "Allow", "Action": ["dynamodb:?etItem"], "Resource": ["*"]}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.Allowed},
		"question mark is one": {`{"Effect": "Allow", "Action": "dynamodb:?GetItem", "Resource": "*"}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.NotAllowed},
		"deny wins": {
			`[{"Effect": "Allow", "Action": "*", "Resource": "*"}, {"Effect": "Deny", "Action": "dynamodb:Scan", "Resource": "*"}]`,
			policy.Request{Action: "dynamodb:Scan", Resource: table}, policy.ExplicitlyDenied},
		"deny first": {
			`[{"Effect": "Deny", "Action": "*", "Resource": "*"}, {"Effect": "Allow", "Action": "*", "Resource": "*"}]`,
			policy.Request{Action: "a:b", Resource: table}, policy.ExplicitlyDenied},
		"not action": {
			`{"Effect": "Allow", "NotAction": ["iam:*", "dynamodb:Scan"], "Resource": "*"}`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.Allowed},
		"not action, excepted": {
			`{"Effect": "Allow", "NotAction": ["iam:*", "DynamoDB:scan"], "Resource": "*"}`,
			policy.Request{Action: "dynamodb:Scan", Resource: table}, policy.NotAllowed},
		"deny all but": {
			`[{"Effect": "Allow", "Action": "*", "Resource": "*"}, {"Effect": "Deny", "NotAction": "dynamodb:*", "Resource": "*"}]`,
			policy.Request{Action: "s3:GetObject", Resource: "x"}, policy.ExplicitlyDenied},
		"deny all but, excepted": {
			`[{"Effect": "Allow", "Action": "*", "Resource": "*"}, {"Effect": "Deny", "NotAction": "dynamodb:*", "Resource": "*"}]`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table}, policy.Allowed},
		"not resource": {
			`[{"Effect": "Allow", "Action": "*", "Resource": "*"}, {"Effect": "Deny", "Action": "dynamodb:*", "NotResource": ["` +
				table + `", "` + table + `/index/*"]}]`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table + "2"}, policy.ExplicitlyDenied},
		"not resource, excepted": {
			`[{"Effect": "Allow", "Action": "*", "Resource": "*"}, {"Effect": "Deny", "Action": "dynamodb:*", "NotResource": "` +
				table + `*"}]`,
			policy.Request{Action: "dynamodb:GetItem", Resource: table + "2"}, policy.Allowed},
		"undecidable of other services": {
			`[{"Effect": "Allow", "Action": "a:b", "Resource": "*"}, {"Effect": "Deny", "Action": ["iam:CreateRole", "sts:*"], "Resource": "*", "Condition": {"StringNotEquals": {"iam:PermissionsBoundary": "x"}}}]`,
			policy.Request{Action: "a:b", Resource: table}, policy.Allowed},
		"nothing": {`[]`, policy.Request{Action: "a:b", Resource: table}, policy.NotAllowed},
		"condition met": {
			`{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"StringEquals": {"aws:SourceAccount": ["1", "2"]}}}`,
			policy.Request{Action: "a:b", Context: map[string]string{policy.SourceAccount: "2"}}, policy.Allowed},
		"condition not met": {
			`{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"StringEquals": {"aws:SourceAccount": "1"}}}`,
			policy.Request{Action: "a:b", Context: map[string]string{policy.SourceAccount: "2"}}, policy.NotAllowed},
		"key absent": {
			`{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"StringEquals": {"aws:SourceAccount": "1"}}}`,
			policy.Request{Action: "a:b"}, policy.NotAllowed},
		"key absent, if exists": {
			`{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"StringEqualsIfExists": {"AWS:sourceaccount": "1"}}}`,
			policy.Request{Action: "a:b"}, policy.Allowed},
		"deny without TLS": {
			`[{"Effect": "Allow", "Action": "a:b", "Resource": "*"}, {"Effect": "Deny", "Action": "a:*", "Resource": "*", "Condition": {"Bool": {"aws:SecureTransport": false}}}]`,
			policy.Request{Action: "a:b", Context: map[string]string{policy.SecureTransport: "false"}},
			policy.ExplicitlyDenied},
		"prefix of a listing": {
			`{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*", "Condition": {"StringLike": {"s3:prefix": ["events/*", "events"]}}}`,
			policy.Request{Action: "s3:ListBucket", Context: map[string]string{policy.S3Prefix: "events/entity=task/"}},
			policy.Allowed},
		"other prefix": {
			`{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*", "Condition": {"StringLike": {"s3:prefix": "events/*"}}}`,
			policy.Request{Action: "s3:ListBucket", Context: map[string]string{policy.S3Prefix: ""}},
			policy.NotAllowed},
		"not equals": {
			`{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"StringNotEquals": {"aws:SourceAccount": ["1", "2"]}}}`,
			policy.Request{Action: "a:b", Context: map[string]string{policy.SourceAccount: "2"}}, policy.NotAllowed},
		"arn like": {
			`{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:scheduler:*:*:schedule/default/*"}}}`,
			policy.Request{Action: "a:b", Context: map[string]string{
				policy.SourceARN: "arn:aws:scheduler:us-east-1:1:schedule/default/x"}}, policy.Allowed},
		"key of another service": {
			`{"Effect": "Allow", "Action": "kms:Decrypt", "Resource": "*", "Condition": {"StringEquals": {"kms:ViaService": "dynamodb.us-east-1.amazonaws.com"}}}`,
			policy.Request{Action: "kms:Decrypt"}, policy.NotAllowed},
		"denied to code of functions": {
			`[{"Effect": "Allow", "Action": "ec2:a", "Resource": "*"}, {"Effect": "Deny", "Action": "ec2:a", "Resource": "*", "Condition": {"ArnLike": {"lambda:SourceFunctionArn": "arn:aws:lambda:us-east-1:1:function:*"}}}]`,
			policy.Request{Action: "ec2:a", Context: map[string]string{
				policy.SourceFunctionARN: "arn:aws:lambda:us-east-1:1:function:f"}}, policy.ExplicitlyDenied},
		"key through DynamoDB": {
			`{"Effect": "Allow", "Action": "kms:Decrypt", "Resource": "*", "Condition": {"StringEquals": {"kms:ViaService": "dynamodb.us-east-1.amazonaws.com"}}}`,
			policy.Request{Action: "kms:Decrypt",
				Context: map[string]string{policy.KMSViaService: "dynamodb.us-east-1.amazonaws.com"}}, policy.Allowed},
		"arn like stays in part": {
			`{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:*:1:schedule/x"}}}`,
			policy.Request{Action: "a:b", Context: map[string]string{
				policy.SourceARN: "arn:aws:scheduler:us-east-1:1:schedule/x"}}, policy.NotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := must.Get(role(t, test.statements))(t)
			if got := read.Decide(test.request); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A request needs the role's policies and its boundary, and a Deny of either ends it.
func TestBoundary(t *testing.T) {
	t.Parallel()
	const allow, deny = `{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}`,
		`{"Effect": "Deny", "Action": "dynamodb:PutItem", "Resource": "*"}`
	for name, test := range map[string]struct {
		policy, boundary string
		want             policy.Decision
	}{
		"both": {allow, allow, policy.Allowed},
		"policy alone": {allow, `{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}`,
			policy.OutsideBoundary},
		"boundary alone": {`{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}`, allow,
			policy.NotAllowed},
		"neither":                      {`[]`, `[]`, policy.NotAllowed},
		"empty boundary":               {allow, `[]`, policy.OutsideBoundary},
		"denied by the policy":         {`[` + allow + `, ` + deny + `]`, allow, policy.ExplicitlyDenied},
		"denied by the boundary":       {allow, `[` + allow + `, ` + deny + `]`, policy.DeniedByBoundary},
		"denied by the boundary alone": {`[]`, `[` + allow + `, ` + deny + `]`, policy.DeniedByBoundary},
		"denied by both":               {`[` + allow + `, ` + deny + `]`, deny, policy.ExplicitlyDenied},
		"other resource": {allow,
			`{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "arn:aws:dynamodb:*:*:table/other"}`,
			policy.OutsideBoundary},
		"all but another service": {allow, `{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}`,
			policy.Allowed},
		"condition of the boundary": {allow,
			`{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"StringEquals": {"aws:RequestedRegion": "eu-west-1"}}}`,
			policy.Allowed},
		"region that is not allowed": {allow,
			`[` + allow +
				`, {"Effect": "Deny", "NotAction": "iam:*", "Resource": "*", "Condition": {"StringNotEquals": {"aws:RequestedRegion": "us-east-1"}}}]`,
			policy.DeniedByBoundary},
		"rules about boundaries do not": {allow,
			`[` + allow +
				`, {"Effect": "Deny", "Action": "iam:*Role*", "Resource": "*", "Condition": {"StringNotEquals": {"iam:PermissionsBoundary": "x"}}}]`,
			policy.Allowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := must.Get(policy.ForRole(assemblytest.Load(t,
				`{"Role": {"Type": "AWS::IAM::Role", "Properties": {"PermissionsBoundary": {"Ref": "Boundary"}}},
				"Boundary": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": `+test.boundary+`}}},
				"Policy": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": `+test.policy+`}}}}`), roleARN))(t)
			request := policy.Request{Action: "dynamodb:PutItem",
				Resource: "arn:aws:dynamodb:us-east-1:000000000000:table/t",
				Context:  map[string]string{policy.RequestedRegion: "eu-west-1"}}
			if got := read.Decide(request); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if read.UnknownBoundary != "" {
				t.Errorf("boundary %s is not known", read.UnknownBoundary)
			}
			for _, grant := range read.Grants() {
				if reduced := read.Without(grant); grant.Effect == "Allow" && grant.Action == "dynamodb:*" &&
					reduced.Decide(request) == policy.Allowed {
					t.Errorf("without %s it is still allowed", grant)
				}
			}
		})
	}
}

// Two accounts may have a role of one name, and each has its own statements.
func TestRolesOfAccounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stack := func(name, account string) string {
		return `"` + name + `": {"type": "aws:cloudformation:stack", "environment": "aws://` + account +
			`/eu-west-1", "properties": {"templateFile": "` + name + `.json"}}`
	}
	template := func(action string) string {
		return `{"Resources": {"Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "writer"}}, "Policy": {"Type": "AWS::IAM::Policy",
			"Properties": {"PolicyName": "p", "Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "` + action + `", "Resource": "*"}}}}}}`
	}
	for name, text := range map[string]string{
		"manifest.json": `{"artifacts": {` + stack("Dev", "111122223333") + `, ` + stack("Prod", "444455556666") + `}}`,
		"Dev.json":      template("dynamodb:Scan"), "Prod.json": template("dynamodb:GetItem"),
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	loaded := must.Get(assembly.Load(dir, assembly.Options{}))(t)
	for account, allowed := range map[string]string{"111122223333": "dynamodb:Scan",
		"444455556666": "dynamodb:GetItem"} {
		read := must.Get(policy.ForRole(loaded, "arn:aws:iam::"+account+":role/writer"))(t)
		for _, action := range []string{"dynamodb:Scan", "dynamodb:GetItem"} {
			if got := read.Allows(action, "arn:aws:dynamodb:eu-west-1:"+account+
				":table/t"); got != (action == allowed) {
				t.Errorf("account %s, %s: got %v", account, action, got)
			}
		}
	}
}

func TestUnknownBoundary(t *testing.T) {
	t.Parallel()
	const boundary = "arn:aws:iam::000000000000:policy/company"
	read := must.Get(policy.ForRole(assemblytest.Load(t,
		`{"Role": {"Type": "AWS::IAM::Role", "Properties": {"PermissionsBoundary": "`+boundary+`",
		"Policies": [{"PolicyName": "p", "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "a:b", "Resource": "*"}}}]}}}`), roleARN))(t)
	if read.UnknownBoundary != boundary || !read.Allows("a:b", "*") {
		t.Errorf("got boundary %q, allowed %v", read.UnknownBoundary, read.Allows("a:b", "*"))
	}
}

func TestRefusedElements(t *testing.T) {
	t.Parallel()
	for statements, want := range map[string]string{
		`{"Effect": "Allow", "Principal": "*", "Action": "dynamodb:Query", "Resource": "*"}`:                                                                    "Principal",
		`{"Effect": "Allow", "Action": "dynamodb:Query", "Resource": "*", "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "x"}}}`:           "condition ForAllValues:StringEquals",
		`{"Effect": "Allow", "Action": "dynamodb:Query", "Resource": "*", "Condition": {"StringEquals": {"dynamodb:Select": "x"}}}`:                             "condition StringEquals on dynamodb:Select",
		`{"Effect": "Allow", "Action": "dynamodb:Query", "Resource": "arn:aws:s3:::b/${aws:username}"}`:                                                         "policy variable",
		`{"Effect": "Allow", "Action": "dynamodb:Query", "Resource": "*", "Condition": {"StringEquals": {"aws:SourceAccount": "${aws:PrincipalTag/account}"}}}`: "policy variable",
		`{"Effect": "Allow", "Action": ["iam:PassRole", "*:Query"], "Resource": "*", "Condition": {"StringEquals": {"aws:PrincipalTag/team": "x"}}}`:            "condition StringEquals on aws:PrincipalTag/team",
		`{"Effect": "Deny", "NotAction": "iam:*", "Resource": "*", "Condition": {"StringEquals": {"aws:PrincipalTag/team": "x"}}}`:                              "condition StringEquals on aws:PrincipalTag/team",
	} {
		_, err := role(t, statements)
		var unsupported *policy.UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an UnsupportedError naming %s", statements, err, want)
		}
	}
}

func TestSourcesOfPolicies(t *testing.T) {
	t.Parallel()
	source := assemblytest.Load(t, `{
		"Role": {"Type": "AWS::IAM::Role", "Properties": {
			"AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}},
				{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": ["scheduler.amazonaws.com"]},
				 "Condition": {"StringEquals": {"aws:SourceAccount": "000000000000"}}}]},
			"ManagedPolicyArns": [{"Ref": "Managed"}, {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]]}],
			"Policies": [{"PolicyName": "inline", "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "in:line", "Resource": "*"}}}]}},
		"Managed": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "man:aged", "Resource": "*"}}}},
		"ManagedByRoles": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "by:roles", "Resource": "*"}}}},
		"Attached": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": ["at:tached", "at:tached2"], "Resource": ["a", "b"]}}}},
		"Foreign": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": ["other"], "PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "for:eign", "Resource": "*"}}}}}`)
	read := must.Get(policy.ForRole(source, roleARN))(t)
	for action, want := range map[string]bool{"in:line": true, "man:aged": true, "by:roles": true, "at:tached": true,
		"for:eign": false, "logs:PutLogEvents": true} {
		if got := read.Allows(action, "a"); got != want {
			t.Errorf("%s: got %v, want %v", action, got, want)
		}
	}
	if !read.Trusts(policy.Lambda, nil) {
		t.Error("Lambda may not assume the role")
	}
	if read.Trusts(policy.Scheduler, nil) ||
		!read.Trusts(policy.Scheduler, map[string]string{policy.SourceAccount: "000000000000"}) {
		t.Error("the scheduler's condition is not kept")
	}
	if read.Trusts("ec2.amazonaws.com", nil) {
		t.Error("a service that is not named may assume the role")
	}
	if got := len(read.Grants()); got != 1+1+1+4+3 {
		t.Errorf("got %d grants: %v", got, read.Grants())
	}
	for _, grant := range read.Grants() {
		if reduced := read.Without(grant); reduced.Allows(grant.Action, grant.Resource) {
			t.Errorf("without %v it is still allowed", grant)
		} else if len(reduced.Grants()) != len(read.Grants())-1 {
			t.Errorf("without %v other grants went too", grant)
		}
	}
}

func TestForRoleErrors(t *testing.T) {
	t.Parallel()
	if _, err := policy.ForRole(assemblytest.Load(t, `{"Role": {"Type": "AWS::SQS::Queue"}}`), roleARN); !errors.Is(err,
		policy.ErrNoRole) {
		t.Errorf("got %v", err)
	}
	for _, properties := range []string{
		`{"ManagedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]}`,
	} {
		_, err := policy.ForRole(assemblytest.Load(t,
			`{"Role": {"Type": "AWS::IAM::Role", "Properties": `+properties+`}}`), roleARN)
		var unsupported *policy.UnsupportedError
		if !errors.As(err, &unsupported) {
			t.Errorf("%s: got %v", properties, err)
		}
	}
	var none *policy.Role
	if none.Allows("a:b", "*") || new(policy.Role).Allows("a:b", "*") {
		t.Error("no role allows something")
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("*****", "")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		grant := policy.Grant{Action: "*", Resource: pattern}
		if !strings.ContainsAny(pattern, "*?") && grant.Matches("a", text) != (pattern == text) {
			t.Errorf("%q on %q", pattern, text)
		}
		if !(policy.Grant{Action: "*", Resource: "*" + text + "*"}).Matches("a", text) {
			t.Errorf("*%q* does not match itself", text)
		}
	})
}

func TestDecideBy(t *testing.T) {
	t.Parallel()
	read := must.Get(role(t,
		`[{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/events/*"}, {"Effect": "Allow", "Action": "s3:*", "Resource": "*"},
		{"Effect": "Deny", "Action": "s3:*", "Resource": "arn:aws:s3:::b/secret/*"}]`))(t)
	for resource, want := range map[string]struct {
		decision  policy.Decision
		statement int
	}{
		"arn:aws:s3:::b/events/1": {policy.Allowed, 0},
		"arn:aws:s3:::b/other":    {policy.Allowed, 1},
		"arn:aws:s3:::b/secret/1": {policy.ExplicitlyDenied, 2},
	} {
		decision, by := read.DecideBy(policy.Request{Action: "s3:GetObject", Resource: resource})
		if decision != want.decision || by != read.Grants()[want.statement] {
			t.Errorf("%s: got %v by %s", resource, decision, by)
		}
	}
	if decision, by := read.DecideBy(policy.Request{Action: "a:b"}); decision != policy.NotAllowed ||
		by != (policy.Grant{}) {
		t.Errorf("got %v by %s", decision, by)
	}
}
