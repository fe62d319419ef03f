package platform_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/finding"
	"github.com/onesynth-cdk/onesynth/schema"
)

var template, signUp, large, quiet, callers, exporting, models, queued, joined, told,
	refused, paged synthtest.Template

func TestMain(m *testing.M) {
	synthtest.Main(m, declare, func(folder string) (err error) {
		for stack, loaded := range map[string]*synthtest.Template{
			"own": &template, "signup": &signUp, "large": &large, "callers": &callers, "quiet": &quiet,
			"exporting": &exporting, "models": &models, "queued": &queued, "joined": &joined, "paged": &paged,
			"telling": &told, "refused": &refused,
		} {
			if *loaded, err = synthtest.Load(folder, stack); err != nil {
				return err
			}
		}
		return nil
	})
}

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
			JWTAudience: []string{"own"}},
	})
	o.API.Resource.AddRoutes(&awsapigatewayv2.AddRoutesOptions{
		Path: jsii.String("/added"), Authorizer: o.API.Authorizer,
		Integration: awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String("Added"),
			o.Functions["hello"].Resource, nil),
	})
	// The platform is a construct like any other.
	awscdk.Tags_Of(o).Add(jsii.String("team"), jsii.String("own"), nil)
	awssqs.NewQueue(o, jsii.String("Beside"), nil)
	declareSignUp(app, build)
	declareLarge(app, build)
	declareQuiet(app, build)
	declareCallers(app, build)
	declareExporting(app, build)
	declareModels(app, build)
	declareQueued(app, build)
	declareTelling(app, source)
	declareJoined(app, build, source)
	declareRefused(app, build)
	declarePaged(app, build)
}

// declareCallers declares a platform that users and programs call.
func declareCallers(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Lakes = nil
	program := schema.Caller{Name: "agent", Token: schema.TokenOfProgram, Header: "X-Agent-Id"}
	described.Routes = append(described.Routes,
		schema.Route{Method: "POST", Path: "/hello", Function: "hello", Caller: program, Summary: "Hello"},
		schema.Route{Method: "GET", Path: "/open", Function: "hello", Caller: schema.CallerAnyone, Summary: "Hello"})
	platform.Declare(&others{}, awscdk.NewStack(app, jsii.String("callers"), nil), "Callers", described,
		platform.Declaration{Props: platform.Props{Build: build}, Agents: []string{"one"}})
}

// Users and programs have a user pool each, and each route takes the tokens of one.
func TestCallers(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, route := range callers.Named("AWS::ApiGatewayV2::Route") {
		key := synthtest.Text(route.Properties["RouteKey"])
		if id, ok := synthtest.At(route.Properties, "AuthorizerId", "Ref").(string); ok {
			got[key] = synthtest.Stable(synthtest.Text(
				synthtest.At(callers.Resources[id].Properties, "JwtConfiguration", "Audience")))
		} else {
			got[key] = synthtest.Text(route.Properties["AuthorizationType"])
		}
	}
	want := map[string]string{"GET /hello": `[{"Ref":"CallersUsersClient"}]`,
		"POST /hello": `[{"Ref":"CallersAgentsClientone"}]`, "GET /open": "NONE"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The functions of another module's platform are in that module, and its lake's functions in this
// one, both for the same processor.
func TestLakeOfAnotherModule(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"OwnHello", "OwnLakeWriter", "OwnLakeCompactor"} {
		_, function := template.One(t, "AWS::Lambda::Function", id)
		if got := synthtest.Text(synthtest.At(function.Properties, "Architectures")); got != `["x86_64"]` {
			t.Errorf("%s: got the architectures %s, want x86_64", id, got)
		}
	}
}

// Each lake has its own bucket, catalog and functions, which reach nothing of the other.
func TestLakes(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for id, database := range template.Named("AWS::Glue::Database") {
		got["catalogs"] = append(got["catalogs"],
			id+": "+synthtest.Text(synthtest.At(database.Properties, "DatabaseInput", "Name")))
	}
	for id, mapping := range template.Named("AWS::Lambda::EventSourceMapping") {
		target := synthtest.Stable(synthtest.Text(mapping.Properties["FunctionName"]))
		function, _ := template.One(t, "AWS::Lambda::Function", target)
		variables := synthtest.At(template.Resources[function].Properties, "Environment", "Variables")
		definition, err := schema.ParseLakeDefinition(synthtest.Text(synthtest.At(variables, "LAKE_DEFINITION")))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		got["writers"] = append(got["writers"], strings.Join([]string{
			synthtest.Stable(synthtest.Text(mapping.Properties["EventSourceArn"])), target,
			synthtest.Stable(synthtest.Text(synthtest.At(variables, "LAKE_BUCKET"))), definition.Entities[0].Name,
		}, " "))
	}
	for _, s := range template.Statements() {
		for _, r := range s.Resources {
			if s.Effect == "Allow" && strings.Contains(r, "*") {
				got["wildcards"] = append(got["wildcards"], synthtest.Stable(s.Owner)+": "+synthtest.Stable(r))
			}
		}
	}
	for kind, ids := range map[string][]string{
		"outputs": slices.Collect(maps.Keys(template.Outputs)),
		"alarms":  slices.Collect(maps.Keys(template.Named("AWS::CloudWatch::Alarm"))),
	} {
		for _, id := range ids {
			if rest, ok := strings.CutPrefix(id, "OwnLakeClickEvents"); ok {
				got[kind] = append(got[kind], rest)
			}
		}
	}
	for kind := range got {
		slices.Sort(got[kind])
		got[kind] = slices.Compact(got[kind])
	}
	want := map[string][]string{
		"catalogs": {"OwnLakeCatalog: acme_own", "OwnLakeClickEventsCatalog: acme_own_click_events"},
		"writers": {
			"OwnDatabaseClicks.StreamArn OwnLakeClickEventsWriter OwnLakeClickEventsBucket click",
			"OwnDatabaseThings.StreamArn OwnLakeWriter OwnLakeBucket thing",
		},
		"wildcards": {
			"OwnLakeAccessLogsPolicy: OwnLakeAccessLogs.Arn/lake/*",
			"OwnLakeClickEventsAccessLogsPolicy: OwnLakeClickEventsAccessLogs.Arn/lake/*",
			"OwnLakeClickEventsCompactorRoleDefaultPolicy: OwnLakeClickEventsBucket.Arn/events/*",
			"OwnLakeClickEventsWriterRoleDefaultPolicy: OwnLakeClickEventsBucket.Arn/events/*",
			"OwnLakeCompactorRoleDefaultPolicy: OwnLakeBucket.Arn/events/*",
			"OwnLakeWriterRoleDefaultPolicy: OwnLakeBucket.Arn/events/*",
		},
		"outputs": {"BucketName", "DatabaseName", "DeadLetterQueueUrl", "FailureQueueUrl", "WorkGroupName"},
		"alarms": {"AgeAlarm", "CompactionAlarm", "CompactorAlarm", "CompactorNotRunAlarm", "FailuresAlarm",
			"WriteAlarm", "WriterAlarm"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, kind := range []string{"AWS::Glue::Database", "AWS::S3::Bucket", "AWS::Lambda::EventSourceMapping"} {
		if found := quiet.OfType(kind); len(found) > 0 {
			t.Errorf("a platform without lakes: got %d of %s", len(found), kind)
		}
	}
}

// A route that is added to a platform's API takes the same tokens as its own.
func TestAddedRoute(t *testing.T) {
	t.Parallel()
	_, authorizer := template.One(t, "AWS::ApiGatewayV2::Authorizer", "")
	if got := synthtest.Text(synthtest.At(authorizer.Properties, "JwtConfiguration",
		"Issuer")); got != "https://login.example.com" {
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
	for name, want := range map[string][]string{"hello": nil, "writer": nil, "compactor": nil,
		"nobody": {`Props.MemoryMegabytes["nobody"]`}} {
		var f finding.List
		platform.Props{MemoryMegabytes: map[string]int{name: 512}}.Check(&f, "Props", "", own())
		if diff := cmp.Diff(want, synthtest.Paths(t, f.Err())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// declareSignUp declares a platform whose function reads a secret, and is invoked by sign-ups.
func declareSignUp(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Lakes = nil
	described.Secrets = []schema.Secret{{Name: "Pepper", Variable: "PEPPER_SECRET_ARN",
		Description: "What is hashed along"}}
	described.Routes = append(described.Routes, schema.Route{
		Method: "GET", Path: "/admin", Function: "hello",
		Caller: schema.Caller{Name: "admin", Token: schema.TokenOfUser, Group: "admin"}, Summary: "Say hello to all",
	})
	hello := &described.Functions[0]
	hello.Trigger, hello.Secrets, hello.Timeout, hello.MemoryMegabytes = schema.OnSignUp{}, []string{"Pepper"},
		5*time.Second, 512
	platform.Declare(&others{}, awscdk.NewStack(app, jsii.String("signup"), nil), "Own", described,
		platform.Declaration{
			Props: platform.Props{Build: build}, Environment: map[string]map[string]string{"hello": {"GREETING": "Hi"}},
		})
}

// The struct of an importer is the construct: it is tagged, and others are below it.
func TestDeclareConstruct(t *testing.T) {
	t.Parallel()
	_, queue := template.One(t, "AWS::SQS::Queue", "OwnBeside")
	if got := synthtest.Text(queue.Properties["Tags"]); !strings.Contains(got, "team") {
		t.Errorf("tags of the queue: got %s, want the platform's", got)
	}
}

// The schema describes a function completely.
func TestDeclareFunction(t *testing.T) {
	t.Parallel()
	_, function := signUp.One(t, "AWS::Lambda::Function", "OwnHello")
	variables := synthtest.At(function.Properties, "Environment", "Variables")
	secret, _ := signUp.One(t, "AWS::SecretsManager::Secret", "OwnPepper")
	_, resource := signUp.One(t, "AWS::Cognito::UserPool", "OwnUsers")
	got := map[string]any{
		"greeting": synthtest.At(variables, "GREETING"), "secret": synthtest.At(variables, "PEPPER_SECRET_ARN", "Ref"),
		"timeout": function.Properties["Timeout"], "memory": function.Properties["MemorySize"],
		"signed up": synthtest.Stable(synthtest.Text(
			synthtest.At(resource.Properties, "LambdaConfig", "PostConfirmation"))),
		"may be invoked": "", "may read": nil,
	}
	for _, permission := range signUp.OfType("AWS::Lambda::Permission") {
		if permission.Properties["Principal"] == "cognito-idp.amazonaws.com" {
			for _, name := range []string{"Action", "FunctionName", "SourceArn"} {
				got["may be invoked"] = fmt.Sprint(got["may be invoked"],
					synthtest.Stable(synthtest.Text(permission.Properties[name])), " ")
			}
		}
	}
	for _, allowed := range signUp.Allowed(t, "OwnHelloRole") {
		if strings.HasPrefix(allowed, "secretsmanager:") {
			got["may read"] = allowed
		}
	}
	want := map[string]any{
		"greeting": "Hi", "secret": secret, "timeout": 5.0, "memory": 512.0, "signed up": "OwnHello.Arn",
		"may be invoked": "lambda:InvokeFunction OwnHello.Arn OwnUsers.Arn ",
		"may read":       "secretsmanager:GetSecretValue OwnPepper",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("function (-want +got):\n%s", diff)
	}
	if got := slices.Sorted(maps.Keys(signUp.Outputs)); !slices.Equal(got,
		[]string{"OwnApiUrl", "OwnThingsTableName", "OwnTokenIssuer", "OwnUserPoolClientId", "OwnUserPoolId"}) {
		t.Errorf("got the outputs %v", got)
	}
}

// The pool needs the function, and the API needs both: a function that needed the pool would make the stack impossible
// to deploy.
func TestDeclareNoCycle(t *testing.T) {
	t.Parallel()
	for name, template := range map[string]synthtest.Template{"own": template, "signup": signUp,
		"exporting": exporting, "paged": paged} {
		if cycle := template.Cycle(); cycle != nil {
			t.Errorf("%s: %v need each other", name, cycle)
		}
	}
	id, function := signUp.One(t, "AWS::Lambda::Function", "OwnHello")
	pool, _ := signUp.One(t, "AWS::Cognito::UserPool", "OwnUsers")
	for _, need := range []any{map[string]any{"Ref": pool}, map[string]any{"Fn::Sub": "${" + pool + ".Arn}"}} {
		changed := function
		changed.Properties = maps.Clone(function.Properties)
		changed.Properties["Description"] = need
		needing := synthtest.Template{Resources: maps.Clone(signUp.Resources)}
		needing.Resources[id] = changed
		if cycle := needing.Cycle(); len(cycle) != 2 || !slices.Contains(cycle, id) || !slices.Contains(cycle, pool) {
			t.Errorf("the function needs the pool by %v: got %v, want both", need, cycle)
		}
	}
}

// Users of a group show the token of a user. The platform's own pool has the group.
func TestDeclareGroup(t *testing.T) {
	t.Parallel()
	pool, _ := signUp.One(t, "AWS::Cognito::UserPool", "OwnUsers")
	_, group := signUp.One(t, "AWS::Cognito::UserPoolGroup", "OwnUsersGroupadmin")
	if diff := cmp.Diff(map[string]any{"GroupName": "admin", "UserPoolId": map[string]any{"Ref": pool}},
		group.Properties); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
	for id, route := range signUp.OfType("AWS::ApiGatewayV2::Route") {
		if route.Properties["AuthorizationType"] != "JWT" || route.Properties["AuthorizationScopes"] != nil {
			t.Errorf("%s: got %v, want that it takes a token of any scope", id, route.Properties)
		}
	}
}

// A route for programs accepts only a token with its scope, and an agent may request the scopes
// that the platform gives it.
func TestDeclareScopes(t *testing.T) {
	t.Parallel()
	_, route := exporting.One(t, "AWS::ApiGatewayV2::Route", "OwnAPIGETexport")
	if got := synthtest.Text(route.Properties["AuthorizationScopes"]); got != `["own/export"]` {
		t.Errorf("the route takes the scopes %s, want own/export", got)
	}
	server, resource := exporting.One(t, "AWS::Cognito::UserPoolResourceServer", "OwnAgentsResourceServer")
	got := map[string]any{}
	for _, scope := range synthtest.List(resource.Properties["Scopes"]) {
		got[synthtest.Text(synthtest.At(scope, "ScopeName"))] = synthtest.At(scope, "ScopeDescription")
	}
	if diff := cmp.Diff(map[string]any{"call": "Call the API", "export": "Call the API for: export"}, got); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
	for client, want := range map[string]string{"exporter": "/call /export", "reader": "/call"} {
		_, resource := exporting.One(t, "AWS::Cognito::UserPoolClient", "OwnAgentsClient"+client)
		text := synthtest.Text(resource.Properties["AllowedOAuthScopes"])
		var got []string
		for _, scope := range []string{"/call", "/export"} {
			if strings.Contains(text, scope+`"`) && strings.Contains(text, server) {
				got = append(got, scope)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s may ask for %s, want %s", client, text, want)
		}
	}
}

// A platform with another issuer's users gets no sign-ups.
func TestSignUpsOfOthers(t *testing.T) {
	t.Parallel()
	described := own()
	described.Functions[0].Trigger = schema.OnSignUp{}
	for path, check := range map[string]func(f *finding.List){
		"Props.JWTIssuer": func(f *finding.List) {
			platform.UserProps{}.Check(f, "Props", "https://a.example", described)
		},
		"Props.UserPool": func(f *finding.List) {
			platform.UserProps{UserPool: struct{ awscognito.IUserPool }{},
				UserPoolClients: []awscognito.IUserPoolClient{struct{ awscognito.IUserPoolClient }{}}}.Check(f, "Props",
				"", described)
		},
		"Props.UserPoolTriggers.PostConfirmation": func(f *finding.List) {
			platform.UserProps{UserPoolTriggers: awscognito.UserPoolTriggers{
				PostConfirmation: struct{ awslambda.IFunction }{}}}.Check(f, "Props", "", described)
		},
	} {
		var f finding.List
		check(&f)
		if diff := cmp.Diff([]string{path}, synthtest.Paths(t, f.Err())); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	}
}

// declarePaged declares a platform with a page on which users sign in.
func declarePaged(app awscdk.App, build *gofunction.Build) {
	platform.Declare(&others{}, awscdk.NewStack(app, jsii.String("paged"), nil), "Own", withPage(),
		platform.Declaration{Props: platform.Props{Build: build}})
}

func withPage() schema.Platform {
	described := own()
	described.Lakes = nil
	described.Functions[0].SignsInAt = "/page"
	described.Routes = append(described.Routes, schema.Route{Method: "GET", Path: "/page", Function: "hello",
		Caller: schema.CallerAnyone, OutsideAPI: true, Summary: "Read the page"})
	return described
}

// A page has an app client of its own, for which people come back to the page alone, and whose tokens the API takes.
// Its function knows what the page needs.
func TestDeclareSignInPage(t *testing.T) {
	t.Parallel()
	client, resource := paged.One(t, "AWS::Cognito::UserPoolClient", "OwnUsersPageClient")
	app, _ := paged.One(t, "AWS::Cognito::UserPoolClient", "OwnUsersClient")
	_, function := paged.One(t, "AWS::Lambda::Function", "OwnHello")
	_, authorizer := paged.One(t, "AWS::ApiGatewayV2::Authorizer", "")
	variables := synthtest.At(function.Properties, "Environment", "Variables")
	page := synthtest.Text(synthtest.At(variables, schema.SignInPageVariable))
	pages := func(property any) (texts []string) {
		for _, one := range synthtest.List(property) {
			texts = append(texts, synthtest.Text(one))
		}
		return texts
	}
	got := map[string]any{
		"audience":  synthtest.At(authorizer.Properties, "JwtConfiguration", "Audience"),
		"callbacks": pages(resource.Properties["CallbackURLs"]),
		"logouts":   pages(resource.Properties["LogoutURLs"]),
		"client":    synthtest.At(variables, schema.SignInClientVariable, "Ref"),
		"flows":     resource.Properties["AllowedOAuthFlows"], "secret": resource.Properties["GenerateSecret"],
		"revoked":  resource.Properties["EnableTokenRevocation"],
		"rotated":  synthtest.At(resource.Properties, "RefreshTokenRotation", "Feature"),
		"explicit": resource.Properties["ExplicitAuthFlows"],
		"tokens":   synthtest.At(resource.Properties, "AccessTokenValidity"),
		"stays":    synthtest.At(resource.Properties, "RefreshTokenValidity"),
	}
	want := map[string]any{
		"audience": []any{map[string]any{"Ref": app}, map[string]any{"Ref": client}}, "callbacks": []string{page},
		"logouts": []string{page}, "client": client, "flows": []any{"code"}, "secret": false, "revoked": true,
		"rotated": "ENABLED", "explicit": []any{"ALLOW_USER_SRP_AUTH"}, "tokens": 15.0, "stays": 720.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sign-in (-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(page, ".ApiEndpoint/page") {
		t.Errorf("the page is at %s", page)
	}
	if address := synthtest.Text(synthtest.At(variables, schema.SignInURLVariable)); !strings.Contains(address,
		"amazoncognito.com") || address != synthtest.Text(paged.Outputs["OwnSignInUrl"].Value) {
		t.Errorf("people sign in at %s", address)
	}
}

// Pages sign people in at the construct's own user pool alone.
func TestSignInPagesOfOthers(t *testing.T) {
	t.Parallel()
	for path, check := range map[string]func(f *finding.List){
		"Props.JWTIssuer": func(f *finding.List) {
			platform.UserProps{}.Check(f, "Props", "https://a.example", withPage())
		},
		"Props.UserPool": func(f *finding.List) {
			platform.UserProps{UserPool: struct{ awscognito.IUserPool }{},
				UserPoolClients: []awscognito.IUserPoolClient{struct{ awscognito.IUserPoolClient }{}}}.Check(f, "Props",
				"", withPage())
		},
	} {
		var f finding.List
		check(&f)
		if diff := cmp.Diff([]string{path}, synthtest.Paths(t, f.Err())); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
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
