package platform_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// stacks are those with golden files.
var stacks = []string{"own", "quiet", "exporting", "joined", "telling", "models"}

func TestMain(m *testing.M) { synthtest.Main(m, declare) }

// others is the struct of an importer. It has no methods of its own.
type others struct {
	constructs.Construct
	platform.Platform
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
		Routes: []schema.Route{{Method: "GET", Path: "/hello", Function: "hello", Caller: schema.CallerUser,
			Summary: "Hello"}},
		Lakes: []schema.Lake{{Name: "own", Table: "Things",
			Entities: []schema.Entity{{Name: "thing", Description: "A thing."}}}},
	}
}

// declare declares, in the stack own, a platform of another module: its functions are in that module, and those of its
// two lakes in this one.
func declare(app awscdk.App) {
	source := platform.Handlers("", own(), gofunction.X86_64)
	source.Directory, source.Packages = "testdata/handlers", append(source.Packages, "lambdas/own/report")
	build := gofunction.Start(context.Background(), source)
	stack := awscdk.NewStack(app, jsii.String("own"), nil)
	o := &others{}
	described := own()
	second := described.Database.Tables[0]
	second.Name, second.PhysicalName = "Clicks", "clicks"
	described.Database.Tables = append(described.Database.Tables, second)
	described.Lakes = append(described.Lakes,
		schema.Lake{Name: "click_events", Table: "Clicks",
			Entities: []schema.Entity{{Name: "click", Description: "A click."}}})
	platform.Declare(o, stack, "Own", described, platform.Declaration{
		Props: platform.Props{Build: build, Prefix: "acme-own", JWTIssuer: "https://login.example.com",
			JWTAudience: []string{"own"}, NoDashboard: true},
	})
	// A route that is added takes the same tokens as those of the platform.
	o.API.Resource.AddRoutes(&awsapigatewayv2.AddRoutesOptions{
		Path: jsii.String("/added"), Authorizer: o.API.Authorizer,
		Integration: awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String("Added"),
			o.Functions["hello"].Resource, nil),
	})
	declareLarge(app, build)
	declareQuiet(app, build)
	declareExporting(app, build)
	declareModels(app, build)
	declareTelling(app, source)
	declareJoined(app, build, source)
	declareRefused(app, build)
}

// The golden files have what no platform of this module has: several lakes, a route beside the declared ones, a
// schedule of a time zone and no API, uploads that invoke a function, targets of events, what a team adds to a platform,
// and models of every kind.
func TestGolden(t *testing.T) {
	t.Parallel()
	synthtest.Golden(t, "testdata/golden", "own", synthtest.Stacks(t, stacks...))
}

// AWS CloudFormation refuses a stack whose resources need each other. Such a stack is found.
func TestDeclareNoCycle(t *testing.T) {
	t.Parallel()
	for name, template := range synthtest.Stacks(t, stacks...) {
		if cycle := template.Cycle(); cycle != nil {
			t.Errorf("%s: %v need each other", name, cycle)
		}
	}
	for _, need := range []any{map[string]any{"Ref": "Pool"}, map[string]any{"Fn::Sub": "${Pool.Arn}"}} {
		needing := synthtest.Template{Resources: map[string]synthtest.Resource{
			"Function": {Properties: map[string]any{"Description": need}},
			"Pool":     {Properties: map[string]any{"Handler": map[string]any{"Fn::GetAtt": []any{"Function", "Arn"}}}},
		}}
		if cycle := needing.Cycle(); len(cycle) != 2 {
			t.Errorf("the function needs the pool by %v: got %v, want both", need, cycle)
		}
	}
}

// page is a page on which users sign in.
var page = schema.Route{Method: "GET", Path: "/page", Function: "hello", Caller: schema.CallerAnyone, OutsideAPI: true,
	Summary: "Read the page"}

// declareExporting declares a platform whose function is invoked by uploads to a bucket, reads them and puts exports,
// all encrypted with a key of the app. A route takes the tokens of those programs alone that have its scope. People
// sign in on a page, another function learns of their sign-ups, and a route is for those of a group.
func declareExporting(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Lakes = nil
	described.Routes = []schema.Route{{
		Method: "GET", Path: "/export", Function: "hello",
		Caller: schema.Caller{Name: "exporter", Token: schema.TokenOfProgram, Scope: "own/export"}, Summary: "Export",
	}, {
		Method: "GET", Path: "/admin", Function: "hello",
		Caller: schema.Caller{Name: "admin", Token: schema.TokenOfUser, Group: "admin"}, Summary: "Say hello to all",
	}, page}
	described.Secrets = []schema.Secret{{Name: "Pepper", Variable: "PEPPER_SECRET_ARN",
		Description: "What is hashed along"}}
	described.Functions = append(described.Functions, schema.Function{Name: "report", Description: "reports",
		Trigger: schema.OnSignUp{}, Timeout: 5 * time.Second})
	described.Buckets = []schema.Bucket{{Name: "Exports", Description: "exports", Variable: "EXPORTS_BUCKET",
		RetentionDays: 30, Retention: map[string]int{"uploads/": 2}, Pages: true}}
	uploads := schema.Objects{Bucket: "Exports", Prefix: "uploads/"}
	hello := &described.Functions[0]
	hello.Trigger, hello.Gets, hello.Puts = schema.OnObjects{Objects: uploads}, []schema.Objects{uploads},
		[]schema.Objects{{Bucket: "Exports", Prefix: "lexicon/"}}
	hello.Secrets, hello.SignsInAt = []string{"Pepper"}, page.Path
	stack := awscdk.NewStack(app, jsii.String("exporting"), nil)
	platform.Declare(&others{}, stack, "Own", described, platform.Declaration{
		Props: platform.Props{Build: build, Key: awskms.NewKey(stack, jsii.String("Key"), nil),
			NoDashboard: true, MemoryMegabytes: map[string]int{"report": 512},
			AllowedOrigins: []string{"https://app.example.com"}},
		Environment: map[string]map[string]string{"hello": {"GREETING": "Hi"}},
		Agents:      []string{"exporter", "reader"}, AgentScopes: map[string][]string{"reader": {}},
	})
}

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
		platform.Declaration{Props: platform.Props{Build: build, Own: reports(source), Extra: labels("label"),
			NoDashboard: true}})
}

// labels add an attribute to things, with an index over it.
func labels(name string) []schema.Extra {
	return []schema.Extra{{Record: "Thing", Attributes: []schema.ExtraAttribute{{
		Attribute: schema.Attribute{Name: name, Type: schema.String, Description: "Label"}, MaxLength: 20,
		Writers: []string{"report"},
	}}, Indexes: []schema.Index{{Name: "ByLabel", Key: schema.Key{Partition: name}}}}}
}

// The lake's functions have sizes like the platform's own, from either build. A platform without events cannot publish
// any.
func TestPropsCheckOwn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		props platform.Props
		paths []string
	}{
		"Sizes": {platform.Props{MemoryMegabytes: map[string]int{"hello": 512, "writer": 512, "compactor": 512}}, nil},
		"ErrSizes": {platform.Props{MemoryMegabytes: map[string]int{"nobody": 512}},
			[]string{`Props.MemoryMegabytes["nobody"]`}},
		"ErrEvents": {platform.Props{Events: true}, []string{"Props.Events"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synthtest.Findings(t, test.paths, func(f *finding.List) { test.props.Check(f, "Props", "", own()) })
		})
	}
}

// A platform with another issuer's users gets no sign-ups, and its pages cannot sign them in.
func TestUsersOfOthers(t *testing.T) {
	t.Parallel()
	signUps, withPage := own(), own()
	signUps.Functions[0].Trigger = schema.OnSignUp{}
	withPage.Functions[0].SignsInAt, withPage.Routes = page.Path, append(withPage.Routes, page)
	const issuer = "https://a.example"
	otherPool := platform.UserProps{UserPool: struct{ awscognito.IUserPool }{},
		UserPoolClients: []awscognito.IUserPoolClient{struct{ awscognito.IUserPoolClient }{}}}
	otherTrigger := platform.UserProps{UserPoolTriggers: awscognito.UserPoolTriggers{
		PostConfirmation: struct{ awslambda.IFunction }{}}}
	for name, test := range map[string]struct {
		described schema.Platform
		props     platform.UserProps
		issuer    string
		path      string
	}{
		"SignUpsOfIssuer":  {signUps, platform.UserProps{}, issuer, "Props.JWTIssuer"},
		"SignUpsOfPool":    {signUps, otherPool, "", "Props.UserPool"},
		"SignUpsOfTrigger": {signUps, otherTrigger, "", "Props.UserPoolTriggers.PostConfirmation"},
		"PageOfIssuer":     {withPage, platform.UserProps{}, issuer, "Props.JWTIssuer"},
		"PageOfPool":       {withPage, otherPool, "", "Props.UserPool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synthtest.Findings(t, []string{test.path}, func(f *finding.List) {
				test.props.Check(f, "Props", test.issuer, test.described)
			})
		})
	}
}

// A misspelt pattern would be a missing permission.
func TestNewErrSchema(t *testing.T) {
	t.Parallel()
	wrong := own()
	wrong = wrong.Join(schema.Own{AccessPatterns: schema.UsedBy("hello", schema.Existing("GetThing"))})
	err := synthtest.PanicOf(func() { platform.Declare(&others{}, nil, "Own", wrong, platform.Declaration{}) })
	if _, ok := errors.AsType[finding.List](err); !ok ||
		!strings.Contains(err.Error(), "AccessPatterns[GetThing]") {
		t.Errorf("got %v, want a finding about the access pattern", err)
	}
	var pointing struct {
		constructs.Construct
		*platform.Platform
	}
	if err := synthtest.PanicOf(func() {
		platform.Declare(&pointing, nil, "Own", own(), platform.Declaration{})
	}); err == nil || !strings.Contains(err.Error(), "embed the struct itself") {
		t.Errorf("a nil *platform.Platform: got %v, want that it is refused", err)
	}
}
