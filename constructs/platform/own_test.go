package platform_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// reports are a team's own function and routes, with a request of its own to a table of the platform. A function lets
// in who calls one of the routes, and IAM who calls one of the platform's.
func reports(source gofunction.Source) platform.Own {
	source.Packages = []string{"lambdas/own/report", "lambdas/own/gate"}
	return platform.Own{Build: gofunction.Start(context.Background(), source), Own: schema.Own{
		AccessPatterns: schema.UsedBy("report", schema.GetItem.Pattern("GetThing", "Things", "A thing"),
			schema.UpdateItem.Pattern("LabelThing", "Things", "Labels a thing")),
		Functions: []schema.Function{{Name: "report", Description: "reports"}, {Name: "gate",
			Description: "lets partners in", Trigger: schema.OnAuthorize{CacheFor: time.Minute,
				Identity: []string{"$request.header.X-Partner-Key"}}}},
		Routes: []schema.Route{{Method: "GET", Path: "/reports/{id}", Function: "report", Caller: schema.CallerUser,
			Summary: "A report"}, {Method: "GET", Path: "/partners", Function: "report",
			Caller: schema.Caller{Name: "partner", Authorizer: "gate"}, Summary: "All reports"}},
		Callers: map[string]schema.Caller{"GET /hello": {Name: "service", IAM: true}},
	}}
}

func declareJoined(app awscdk.App, build *gofunction.Build, source gofunction.Source) {
	described := own()
	described.Records = []schema.Record{{Name: "Thing", Table: "Things", Entity: "thing"}}
	platform.Declare(&others{}, awscdk.NewStack(app, jsii.String("joined"), nil), "Own", described,
		platform.Declaration{Props: platform.Props{Build: build, Own: reports(source), Extra: labels("label")}})
}

// labels add an attribute to things, with an index over it.
func labels(name string) []schema.Extra {
	return []schema.Extra{{Record: "Thing", Attributes: []schema.ExtraAttribute{{
		Attribute: schema.Attribute{Name: name, Type: schema.String, Description: "Label"}, MaxLength: 20,
		Writers: []string{"report"},
	}}, Indexes: []schema.Index{{Name: "ByLabel", Key: schema.Key{Partition: name}}}}}
}

// A function of a team's own has what the platform's have: its own grants and no more, a route behind the platform's
// tokens, and alarms.
func TestDeclareOwn(t *testing.T) {
	t.Parallel()
	joined.One(t, "AWS::Lambda::Function", "OwnReport")
	var allowed []string
	for _, line := range joined.Allowed(t, "OwnReportRole") {
		if !strings.HasPrefix(line, "logs:") {
			allowed = append(allowed, line)
		}
	}
	want := []string{"dynamodb:GetItem OwnDatabaseThings.Arn", "dynamodb:UpdateItem OwnDatabaseThings.Arn"}
	if diff := cmp.Diff(want, slices.Compact(allowed)); diff != "" {
		t.Errorf("the role may (-want +got):\n%s", diff)
	}
	var authorized []string
	for _, route := range joined.OfType("AWS::ApiGatewayV2::Route") {
		authorized = append(authorized, synthtest.At(route.Properties, "RouteKey").(string)+" "+
			synthtest.At(route.Properties, "AuthorizationType").(string))
	}
	slices.Sort(authorized)
	if diff := cmp.Diff([]string{"GET /hello AWS_IAM", "GET /partners CUSTOM", "GET /reports/{id} JWT"},
		authorized); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	joined.One(t, "AWS::CloudWatch::Alarm", "OwnReportAlarm")
}

// A function that lets callers in is an authorizer of payload format 2.0, which alone may invoke it.
func TestDeclareAuthorizer(t *testing.T) {
	t.Parallel()
	function, _ := joined.One(t, "AWS::Lambda::Function", "OwnGate")
	id, authorizer := joined.One(t, "AWS::ApiGatewayV2::Authorizer", "OwnAPIAuthorizergate")
	got := map[string]any{}
	for _, name := range []string{"AuthorizerType", "AuthorizerPayloadFormatVersion", "AuthorizerResultTtlInSeconds",
		"EnableSimpleResponses", "IdentitySource", "Name"} {
		got[name] = authorizer.Properties[name]
	}
	if diff := cmp.Diff(map[string]any{"AuthorizerType": "REQUEST", "AuthorizerPayloadFormatVersion": "2.0",
		"AuthorizerResultTtlInSeconds": 60.0, "EnableSimpleResponses": true, "Name": "gate",
		"IdentitySource": []any{"$request.header.X-Partner-Key"}}, got); diff != "" {
		t.Errorf("authorizer (-want +got):\n%s", diff)
	}
	if uri := synthtest.Text(authorizer.Properties["AuthorizerUri"]); !strings.Contains(uri, function) ||
		!strings.Contains(uri, ":lambda:path/2015-03-31/functions/") {
		t.Errorf("got the URI %s", uri)
	}
	_, api := joined.One(t, "AWS::ApiGatewayV2::Api", "OwnAPI")
	if diff := cmp.Diff([]any{"X-Partner-Key"}, synthtest.At(api.Properties, "CorsConfiguration",
		"AllowHeaders")); diff != "" {
		t.Errorf("headers of pages (-want +got):\n%s", diff)
	}
	var sources []string
	for _, p := range joined.OfType("AWS::Lambda::Permission") {
		if strings.Contains(synthtest.Text(p.Properties["FunctionName"]), function) {
			sources = append(sources, synthtest.Text(p.Properties["SourceArn"]))
		}
	}
	if len(sources) != 1 || !strings.Contains(sources[0], "/authorizers/") || !strings.Contains(sources[0], id) ||
		strings.Contains(sources[0], "*") {
		t.Errorf("the function may be invoked from %v", sources)
	}
}

// What a team adds to a record is in the table, in the functions that use it, and in the lake.
func TestDeclareExtra(t *testing.T) {
	t.Parallel()
	_, things := joined.One(t, "AWS::DynamoDB::GlobalTable", "OwnDatabaseThings")
	indexes := synthtest.At(things.Properties, "GlobalSecondaryIndexes")
	if got := synthtest.At(indexes, 0, "IndexName"); got != "ByLabel" {
		t.Errorf("the table has the indexes %v", indexes)
	}
	variable := func(function, name string) string {
		_, f := joined.One(t, "AWS::Lambda::Function", function)
		return synthtest.Text(synthtest.At(f.Properties, "Environment", "Variables", name))
	}
	for name, got := range map[string]string{
		"the team's function": variable("OwnReport", schema.ExtraVariable),
		"the lake's writer":   variable("OwnLakeWriter", "LAKE_DEFINITION"),
	} {
		if !strings.Contains(got, `"Name":"label"`) {
			t.Errorf("%s finds %q, want the attribute in it", name, got)
		}
	}
}
