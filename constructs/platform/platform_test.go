package platform_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

var template, large, quiet, refused synthtest.Template

func TestMain(m *testing.M) {
	synthtest.Main(m, declare, func(folder string) (err error) {
		if template, err = synthtest.Load(folder, "own"); err != nil {
			return err
		}
		if large, err = synthtest.Load(folder, "large"); err != nil {
			return err
		}
		if quiet, err = synthtest.Load(folder, "quiet"); err != nil {
			return err
		}
		refused, err = synthtest.Load(folder, "refused")
		return err
	})
}

// own is a platform that is not of this module.
func own() schema.Platform {
	return schema.Platform{
		Name: "own", Title: "Own",
		Database: schema.Database{Tables: []schema.Table{{
			Name: "Things", PhysicalName: "things", Description: "Things.", Stream: schema.StreamNewAndOldImages,
			Key:        schema.Key{Partition: "id"},
			Attributes: []schema.Attribute{{Name: "id", Type: schema.String, Description: "Which"}},
		}}},
		Functions: []schema.Function{{Name: "hello", Description: "says hello"}},
		Routes:    []schema.Route{{Method: "GET", Path: "/hello", Function: "hello", Caller: schema.CallerUser, Summary: "Hello"}},
		Lake: schema.Lake{Name: "own", Table: "Things", Entities: []schema.Entity{{
			Name: "thing", Description: "A thing.", Columns: []schema.Column{{Name: "id", Type: schema.ColumnText, Description: "Which"}},
		}}},
	}
}

func declare(app awscdk.App) {
	source := platform.Handlers(own(), gofunction.X86_64)
	source.Directory = "testdata/handlers"
	build := gofunction.Start(context.Background(), source)
	stack := awscdk.NewStack(app, jsii.String("own"), nil)
	parts := platform.New(constructs.NewConstruct(stack, jsii.String("Own")), own(), platform.Props{
		Build: build, JWTIssuer: "https://login.example.com", JWTAudience: []string{"own"},
	})
	hello := parts.Function("Hello", "hello", 0, nil)
	api := parts.API(httpapi.Props{Functions: map[string]*gofunction.Function{"hello": hello}})
	api.Resource.AddRoutes(&awsapigatewayv2.AddRoutesOptions{
		Path: jsii.String("/added"), Authorizer: api.Authorizer,
		Integration: awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String("Added"), hello.Resource, nil),
	})
	parts.Lake(platform.LakeProps{})
	declareLarge(app, build)
	declareQuiet(app, build)
	declareRefused(app, build)
}

// The functions of a platform of another module are in that, and those of its lake
// in this one: for the same processor.
func TestLakeOfAnotherModule(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"OwnHello", "OwnLakeWriter", "OwnLakeCompactor"} {
		_, function := template.One(t, "AWS::Lambda::Function", id)
		if got := synthtest.Text(synthtest.At(function.Properties, "Architectures")); got != `["x86_64"]` {
			t.Errorf("%s: got the architectures %s, want x86_64", id, got)
		}
	}
}

// A route that is added to a platform's API takes the same tokens as its own.
func TestAddedRoute(t *testing.T) {
	t.Parallel()
	_, authorizer := template.One(t, "AWS::ApiGatewayV2::Authorizer", "")
	if got := synthtest.Text(synthtest.At(authorizer.Properties, "JwtConfiguration", "Issuer")); got != "https://login.example.com" {
		t.Errorf("got the issuer %s, want https://login.example.com", got)
	}
	authorizers := map[string]string{}
	for _, route := range template.OfType("AWS::ApiGatewayV2::Route") {
		authorizers[synthtest.Text(route.Properties["RouteKey"])] = synthtest.Text(route.Properties["AuthorizerId"])
	}
	if own := authorizers["GET /hello"]; own == "" || len(authorizers) != 2 || authorizers["ANY /added"] != own {
		t.Errorf("got the authorizers %v, want the same for both routes", authorizers)
	}
}

// The lake's functions have sizes like the platform's own, from either build.
func TestPropsCheckSizesOfLake(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{"hello": nil, "writer": nil, "compactor": nil, "nobody": {`Props.MemoryMegabytes["nobody"]`}} {
		var f props.Findings
		platform.Props{MemoryMegabytes: map[string]int{name: 512}}.Check(&f, "Props", "", own())
		if diff := cmp.Diff(want, synthtest.Paths(t, f.Err())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A pattern that is misspelt would be a permission that is missing.
func TestNewErrSchema(t *testing.T) {
	t.Parallel()
	wrong := own()
	wrong.Functions[0].AccessPatterns = []string{"GetThing"}
	err := synthtest.PanicOf(func() { platform.New(nil, wrong, platform.Props{}) })
	if _, ok := errors.AsType[schema.Findings](err); !ok || !strings.Contains(err.Error(), "Functions[hello].AccessPatterns[0]") {
		t.Errorf("got %v, want a finding about the access pattern", err)
	}
}
