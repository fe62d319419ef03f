package platform_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// reports are a team's own function and route, with a request of its own to a table of the platform.
func reports(source gofunction.Source) platform.Own {
	source.Packages = []string{"lambdas/own/report"}
	return platform.Own{Build: gofunction.Start(context.Background(), source), Own: schema.Own{
		AccessPatterns: schema.UsedBy("report", schema.GetItem.Pattern("GetThing", "Things", "A thing")),
		Functions:      []schema.Function{{Name: "report", Description: "reports"}},
		Routes: []schema.Route{{Method: "GET", Path: "/reports/{id}", Function: "report", Caller: schema.CallerUser,
			Summary: "A report"}},
	}}
}

func declareJoined(app awscdk.App, build *gofunction.Build, source gofunction.Source) {
	platform.Declare(&others{}, awscdk.NewStack(app, jsii.String("joined"), nil), "Own", own(), platform.Declaration{
		Props: platform.Props{Build: build, Own: reports(source)},
	})
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
	if diff := cmp.Diff([]string{"dynamodb:GetItem OwnDatabaseThings.Arn"}, slices.Compact(allowed)); diff != "" {
		t.Errorf("the role may (-want +got):\n%s", diff)
	}
	var authorized []string
	for _, route := range joined.OfType("AWS::ApiGatewayV2::Route") {
		authorized = append(authorized, synthtest.At(route.Properties, "RouteKey").(string)+" "+
			synthtest.At(route.Properties, "AuthorizationType").(string))
	}
	slices.Sort(authorized)
	if diff := cmp.Diff([]string{"GET /hello JWT", "GET /reports/{id} JWT"}, authorized); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	joined.One(t, "AWS::CloudWatch::Alarm", "OwnReportAlarm")
}
