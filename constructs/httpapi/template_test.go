package httpapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestMain(m *testing.M) { synthtest.Main(m, declare) }

// routesOf are how many routes the functions under test have.
var routesOf = map[string]int{"Some": 2, "Many": 60}

func declare(app awscdk.App) {
	build := gofunction.Start(context.Background(),
		gofunction.Source{Directory: "../todo/testdata/handlers", Packages: []string{"todoapi"}})
	stack := awscdk.NewStack(app, jsii.String("stack"), nil)
	p := httpapi.Props{Name: "API", Functions: map[string]*gofunction.Function{}}
	for _, id := range []string{"Some", "Many"} {
		p.Functions[id] = gofunction.New(stack, id, gofunction.Props{Build: build, Name: "todoapi"})
		for i := range routesOf[id] {
			p.Routes = append(p.Routes, schema.Route{Method: "GET", Path: fmt.Sprintf("/%s/%d", id, i), Function: id,
				Caller: schema.CallerAnyone, Summary: "Get"})
		}
	}
	httpapi.New(stack, "API", p)
	stack = awscdk.NewStack(app, jsii.String("sharing"), nil)
	p.Routes = p.Routes[:1]
	p.Functions = map[string]*gofunction.Function{
		p.Routes[0].Function: gofunction.New(stack, "Function", gofunction.Props{Build: build, Name: "todoapi"})}
	p.Domain = httpapi.Domain{Name: "api.example.com", BasePath: "team",
		CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1a-2b",
		TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem",
			OwnershipCertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/owned"}}
	first := httpapi.New(stack, "First", p)
	p.Domain = httpapi.Domain{Shared: first.Domain, BasePath: "other/v1"}
	second := httpapi.New(stack, "Second", p)
	for id, url := range map[string]string{"FirstURL": first.URL(), "SecondURL": second.URL()} {
		awscdk.NewCfnOutput(stack, &id, &awscdk.CfnOutputProps{Value: &url})
	}
}

// The golden file has APIs that share a domain name: a mapping each, with their base paths, and no other address.
func TestSharedDomain(t *testing.T) {
	t.Parallel()
	synthtest.Golden(t, "testdata/golden", "", synthtest.Stacks(t, "sharing"))
}

// Each function has one permission, for all routes of its API and for no other API.
func TestPermissions(t *testing.T) {
	t.Parallel()
	template := synthtest.Stack(t, "stack")
	api, _ := template.One(t, "AWS::ApiGatewayV2::Api", "API")
	for id := range routesOf {
		function, _ := template.One(t, "AWS::Lambda::Function", id)
		var sources []string
		for _, p := range template.OfType("AWS::Lambda::Permission") {
			if strings.Contains(synthtest.Text(p.Properties["FunctionName"]), function) {
				sources = append(sources, synthtest.Text(p.Properties["SourceArn"]))
			}
		}
		if len(sources) != 1 || !strings.HasSuffix(sources[0], ":"+api+"/*") {
			t.Errorf("%s: got the sources %q, want all routes of %s", id, sources, api)
		}
	}
}
