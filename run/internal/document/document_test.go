package document_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/document"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda/lambdatest"
)

type stack struct {
	// mode is the function's variable MODE.
	mode string
	// routes are the keys of its API's routes.
	routes []string
}

// write writes an assembly of the stacks, by name. Each has an API whose routes need a token. The function of all is
// the bootstrap in the folder code.
func write(t *testing.T, code string, stacks map[string]stack) string {
	t.Helper()
	folder := t.TempDir()
	artifacts := ""
	file := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	for name, s := range stacks {
		artifacts += fmt.Sprintf(
			`, %q: {"type": "aws:cloudformation:stack", "properties": {"templateFile": "%s.template.json"}}`, name,
			name)
		resources := ""
		for i, route := range s.routes {
			resources += fmt.Sprintf(
				`, "Route%d": {"Type": "AWS::ApiGatewayV2::Route", "Properties": {"ApiId": {"Ref": "Api"}, "RouteKey": %q, "AuthorizationType": "JWT",
				"AuthorizerId": {"Ref": "Authorizer"}, "AuthorizationScopes": ["read"], "Target": {"Fn::Join": ["", ["integrations/", {"Ref": "Integration"}]]}}}`, i, route)
		}
		file(name+".template.json", fmt.Sprintf(`{"Resources": {
			"Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"SecretString": "known only here"}},
			"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "items", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}},
			"Role": {"Type": "AWS::IAM::Role", "Properties": {
				"AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}]},
				"Policies": [{"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": ["secretsmanager:GetSecretValue", "dynamodb:GetItem"], "Resource": "*"}]}}]}},
			"Function": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "%[1]s-api", "Runtime": "provided.al2023", "Handler": "bootstrap", "Timeout": 10,
				"Architectures": [%[2]q], "Code": {"S3Key": "code.zip"}, "Role": {"Fn::GetAtt": ["Role", "Arn"]},
				"Environment": {"Variables": {"MODE": %[3]q, "SECRET": {"Ref": "Secret"}}}}},
			"Permission": {"Type": "AWS::Lambda::Permission", "Properties": {"Action": "lambda:InvokeFunction", "FunctionName": {"Fn::GetAtt": ["Function", "Arn"]}, "Principal": "apigateway.amazonaws.com"}},
			"Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "%[1]s", "ProtocolType": "HTTP"}},
			"Stage": {"Type": "AWS::ApiGatewayV2::Stage", "Properties": {"ApiId": {"Ref": "Api"}, "StageName": "live", "DefaultRouteSettings": {"ThrottlingRateLimit": 1, "ThrottlingBurstLimit": 1}, "RouteSettings": {"GET /other": {"ThrottlingRateLimit": 1}}}},
			"Authorizer": {"Type": "AWS::ApiGatewayV2::Authorizer", "Properties": {"ApiId": {"Ref": "Api"}, "Name": "jwt", "AuthorizerType": "JWT", "IdentitySource": ["$request.header.Authorization"], "JwtConfiguration": {"Issuer": "https://issuer.example.com", "Audience": ["a"]}}},
			"Integration": {"Type": "AWS::ApiGatewayV2::Integration", "Properties": {"ApiId": {"Ref": "Api"}, "IntegrationType": "AWS_PROXY", "PayloadFormatVersion": "2.0", "IntegrationUri": {"Fn::GetAtt": ["Function", "Arn"]}}}%[4]s}}`,
			name, architecture, s.mode, resources))
	}
	file("assets.json",
		`{"files": {"code": {"source": {"path": "asset.code", "packaging": "zip"}, "destinations": {"d": {"objectKey": "code.zip"}}}}}`)
	file("manifest.json",
		`{"artifacts": {"assets": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}}`+artifacts+`}}`)
	if err := os.Mkdir(filepath.Join(folder, "asset.code"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(code, "bootstrap"), filepath.Join(folder, "asset.code", "bootstrap")); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestRead(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the toolchain: go test without -short does")
	}
	t.Parallel()
	code := t.TempDir()
	lambdatest.Build(t, "./testdata/function", code)
	served := []string{"GET /items", "POST /v1/openapi.json", "GET /v1/openapi.json", "GET /docs"}
	two := map[string]stack{"Links": {routes: served}, "Orders": {routes: []string{"GET /openapi.json"}}}
	for name, test := range map[string]struct {
		stacks  map[string]stack
		options document.Options
		// want is the key of the route that answers, or part of the error.
		want string
		err  error
	}{
		"OK": {map[string]stack{"Links": {routes: served}}, document.Options{}, "GET /v1/openapi.json", nil},
		"Path": {map[string]stack{"Links": {routes: served}}, document.Options{Path: "/docs"}, "GET /docs",
			nil},
		"Stack":     {two, document.Options{Stacks: []string{"Orders"}}, "GET /openapi.json", nil},
		"PathOfOne": {two, document.Options{Path: "/docs"}, "GET /docs", nil},
		"ErrSeveral": {two, document.Options{}, "Links /v1/openapi.json, Orders /openapi.json: choose",
			document.ErrAmbiguous},
		"ErrStack": {two, document.Options{Stacks: []string{"Order"}}, "the assembly has Links, Orders", nil},
		"ErrPath": {two, document.Options{Path: "/v2"}, "no route GET /v2: the routes that could serve one are " +
			"Links /items, Links /v1/openapi.json, Links /docs, Orders /openapi.json", document.ErrNotFound},
		"ErrNone": {map[string]stack{"Links": {routes: []string{"GET /items", "GET /{file}/openapi.json"}}},
			document.Options{}, "no route GET …/openapi.json: the routes that could serve one are Links /items",
			document.ErrNotFound},
		"ErrNoRoute": {map[string]stack{"Links": {}}, document.Options{},
			"no HTTP API of the assembly has a route GET without parameters", document.ErrNotFound},
		"ErrTables": {map[string]stack{"Links": {"tables", served}}, document.Options{},
			"must not need one to start", nil},
		"ErrMissing": {map[string]stack{"Links": {"missing", served}}, document.Options{},
			`stack Links: GET /v1/openapi.json of API Links: got status 404 {"message":"nothing here"}`, nil},
		"ErrFails": {map[string]stack{"Links": {"fail", served}}, document.Options{}, "no document today", nil},
		"ErrFailsLines": {map[string]stack{"Links": {"fail", served}}, document.Options{}, "the operation is confused",
			nil},
		"ErrText": {map[string]stack{"Links": {"text", served}}, document.Options{},
			`got "hello", which is no OpenAPI document`, nil},
		"ErrOld": {map[string]stack{"Links": {"old", served}}, document.Options{}, "which is no OpenAPI document", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := test.options
			options.Assembly = write(t, code, test.stacks)
			got, err := document.Read(t.Context(), options)
			if !strings.HasPrefix(name, "Err") {
				if want := fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":"%s known only here","version":"1"}}`,
					test.want); err != nil || string(got.Content) != want || "GET "+got.Path != test.want ||
					got.Stack != got.API {
					t.Errorf("got %+v %s, %v; want %s", got, got.Content, err, want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("got %v; want %q", err, test.want)
			}
		})
	}
	t.Run("Joined", func(t *testing.T) {
		t.Parallel()
		both := map[string]stack{"Links": {routes: []string{"GET /v1/openapi.json", "GET /v2/openapi.json"}}}
		got, err := document.Read(t.Context(), document.Options{Assembly: write(t, code, both)})
		if err != nil || got.Path != "/v1/openapi.json" || !strings.Contains(string(got.Content), `"paths":{}`) ||
			!strings.Contains(string(got.Content), `"title":"GET /v1/openapi.json known only here"`) {
			t.Errorf("got %+v %s, %v", got, got.Content, err)
		}
	})
	t.Run("ErrEnded", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := document.Read(ctx, document.Options{Assembly: write(t, code, two), Path: "/docs"}); !errors.Is(err,
			context.Canceled) {
			t.Errorf("got %v; want %v", err, context.Canceled)
		}
	})
}

func TestReadErrNoAssembly(t *testing.T) {
	t.Parallel()
	if _, err := document.Read(t.Context(), document.Options{Assembly: t.TempDir()}); !errors.Is(err,
		assembly.ErrNoAssembly) {
		t.Errorf("got %v; want %v", err, assembly.ErrNoAssembly)
	}
}
