package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
)

// TestVisibility: a queue that hides messages for less than its function's time-out, or than six times that.
func TestVisibility(t *testing.T) {
	t.Parallel()
	mapped := func(visibility, timeout int, more string) string {
		return fmt.Sprintf(`{"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": %d}},
			"F": {"Type": "AWS::Lambda::Function", "Properties": {"Timeout": %d}}%s}}`, visibility, timeout, more)
	}
	const mapping = `, "M": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "F"},
		"EventSourceArn": {"Fn::GetAtt": ["Q", "Arn"]}}}`
	for name, test := range map[string]struct {
		deployed, proposed string
		severity           check.Severity
	}{
		"New":            {mapped(30, 60, ""), mapped(30, 60, mapping), check.Refusal},
		"NewShort":       {mapped(60, 60, ""), mapped(60, 60, mapping), check.Warning},
		"NewEnough":      {mapped(360, 60, ""), mapped(360, 60, mapping), ""},
		"Below":          {mapped(360, 60, mapping), mapped(30, 60, mapping), check.Warning},
		"BelowFromShort": {mapped(30, 10, mapping), mapped(30, 60, mapping), check.Warning},
		"StaysBelow":     {mapped(30, 60, mapping), mapped(20, 60, mapping), ""},
		"Better":         {mapped(30, 60, mapping), mapped(60, 60, mapping), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOne(t, check.Compare(parse(t, test.deployed), parse(t, test.proposed), here), "stops-visibility:Q",
				test.severity, "messages are hidden for")
		})
	}
}

// TestGuardedFunctions: what a function that decides who calls, and one whose routes ask for a caller, may lose.
func TestGuardedFunctions(t *testing.T) {
	t.Parallel()
	const permission = `, "P": {"Type": "AWS::Lambda::Permission", "Properties": {"FunctionName": {"Ref": "Gate"},
		"Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com",
		"SourceArn": {"Fn::Sub": "arn:aws:execute-api:eu-west-1:1:${API}/authorizers/${A}"}}}`
	route := func(id, key, asks string) string {
		return fmt.Sprintf(`, %q: {"Type": "AWS::ApiGatewayV2::Route", "Properties": {"ApiId": {"Ref": "API"},
			"RouteKey": %q, "AuthorizationType": %q, "Target": {"Fn::Sub": "integrations/${I}"}}}`, id, key, asks)
	}
	api := func(more ...string) string {
		return `{"Resources": {"API": {"Type": "AWS::ApiGatewayV2::Api"}, "F": {"Type": "AWS::Lambda::Function"},
			"Gate": {"Type": "AWS::Lambda::Function"},
			"I": {"Type": "AWS::ApiGatewayV2::Integration", "Properties": {"IntegrationUri": {"Fn::GetAtt": ["F", "Arn"]}}},
			"A": {"Type": "AWS::ApiGatewayV2::Authorizer", "Properties": {"ApiId": {"Ref": "API"}, "Name": "gate",
				"AuthorizerUri": {"Fn::Sub": "arn:aws:apigateway:${Gate.Arn}/invocations"}}}` + strings.Join(more, "") + `}}`
	}
	asks, open := route("Read", "GET /a", "CUSTOM"), route("Document", "GET /openapi.json", "NONE")
	also, page := route("Write", "POST /a", "CUSTOM"), route("New", "GET /b", "NONE")
	for name, test := range map[string]struct {
		deployed, proposed, id string
		severity               check.Severity
	}{
		"GatePermission": {api(permission), api(), "permissions:Gate", check.Refusal},
		"OpenRoute":      {api(asks, also, open), api(asks, also, open, page), "opens-route:New", check.Warning},
		"OpenPages":      {api(open), api(open, page), "", ""},
		"AskingRoute":    {api(asks), api(asks, also), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := check.Compare(parse(t, test.deployed), parse(t, test.proposed), here)
			wantOne(t, got, test.id, test.severity, "")
		})
	}
}
