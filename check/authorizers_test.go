package check_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/check"
)

// part is a resource of an HTTP API.
type part struct {
	Type       string
	Properties map[string]any
}

// gated is an API with two routes that need a token and an open one, after changes.
func gated(t testing.TB, changes ...func(map[string]part)) *check.Template {
	t.Helper()
	api := map[string]any{"Ref": "API"}
	route := func(key string, more map[string]any) part {
		properties := map[string]any{"ApiId": api, "RouteKey": key,
			"Target": map[string]any{"Fn::Join": []any{"",
				[]any{"integrations/", map[string]any{"Ref": "Integration"}}}}}
		for name, value := range more {
			properties[name] = value
		}
		return part{"AWS::ApiGatewayV2::Route", properties}
	}
	token := map[string]any{"AuthorizationType": "JWT", "AuthorizerId": map[string]any{"Ref": "Authorizer"}}
	scoped := map[string]any{"AuthorizationType": "JWT", "AuthorizerId": map[string]any{"Ref": "Authorizer"},
		"AuthorizationScopes": []any{"orders"}}
	resources := map[string]part{
		"API": {"AWS::ApiGatewayV2::Api", map[string]any{"ProtocolType": "HTTP"}},
		"Authorizer": {"AWS::ApiGatewayV2::Authorizer",
			map[string]any{"ApiId": api, "AuthorizerType": "JWT",
				"JwtConfiguration": map[string]any{"Issuer": "https://a.example", "Audience": []any{"a"}}}},
		"Function": {"AWS::Lambda::Function", map[string]any{}},
		"Integration": {"AWS::ApiGatewayV2::Integration",
			map[string]any{"IntegrationUri": map[string]any{"Fn::GetAtt": []any{"Function", "Arn"}}}},
		"Read":   route("GET /orders/{id}", token),
		"Order":  route("POST /orders", scoped),
		"Prices": route("GET /prices", map[string]any{"AuthorizationType": "NONE"}),
	}
	for _, change := range changes {
		change(resources)
	}
	text, err := json.Marshal(map[string]any{"Resources": resources})
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(text))
}

func withProperty(id, name string, value any) func(map[string]part) {
	return func(resources map[string]part) {
		if resources[id].Properties[name] = value; value == nil {
			delete(resources[id].Properties, name)
		}
	}
}

func without(ids ...string) func(map[string]part) {
	return func(resources map[string]part) {
		for _, id := range ids {
			delete(resources, id)
		}
	}
}

// renamed gives a resource another logical id.
func renamed(id, other string) func(map[string]part) {
	return func(resources map[string]part) {
		resources[other] = resources[id]
		delete(resources, id)
	}
}

// open adds a route without an authorizer.
func open(key string) func(map[string]part) {
	return func(resources map[string]part) {
		resources["Open"] = part{"AWS::ApiGatewayV2::Route",
			map[string]any{"ApiId": map[string]any{"Ref": "API"}, "RouteKey": key,
				"Target": resources["Read"].Properties["Target"]}}
	}
}

// A change that opens a route is refused, in every form.
func TestAuthorizers(t *testing.T) {
	t.Parallel()
	opened := withProperty("Read", "AuthorizationType", "NONE")
	elsewhere := withProperty("Open", "Target", "integrations/a")
	jwt := func(issuer any) any {
		return map[string]any{"Issuer": issuer, "Audience": []any{"a"}}
	}
	pooled := map[string]any{"Fn::Join": []any{"",
		[]any{"https://cognito-idp.", map[string]any{"Ref": "AWS::Region"}, ".",
			map[string]any{"Ref": "AWS::URLSuffix"}, "/", map[string]any{"Ref": "Pool"}}}}
	ofAPI := func(name string) func(map[string]part) {
		return func(resources map[string]part) {
			for _, r := range resources {
				if r.Properties["ApiId"] != nil {
					r.Properties["ApiId"] = map[string]any{"Ref": name}
				}
			}
		}
	}
	other := func(resources map[string]part) {
		resources["Another"] = part{"AWS::ApiGatewayV2::Route",
			map[string]any{"ApiId": map[string]any{"Ref": "Another"}, "RouteKey": "GET /orders/{id}"}}
	}
	for name, test := range map[string]struct {
		deployed, proposed []func(map[string]part)
		// want has the ids of refusals, and says what they say in that order.
		want, says []string
	}{
		"Route": {nil, []func(map[string]part){opened}, []string{"open:Read"},
			[]string{"the route GET /orders/{id} has no authorizer"}},
		"RouteByDefault": {nil, []func(map[string]part){withProperty("Read", "AuthorizationType", nil)},
			[]string{"open:Read"}, []string{"lets everyone call it"}},
		"RouteRenamed": {nil, []func(map[string]part){opened,
			withProperty("Read", "RouteKey", "GET /orders/{order}"), renamed("Read", "Other")}, []string{"open:Other"},
			[]string{"GET /orders/{order}"}},
		"APIRenamed": {nil, []func(map[string]part){opened, renamed("API", "New"), ofAPI("New")},
			[]string{"open:Read"}, []string{"has no authorizer"}},
		"TwoNewAPIs": {nil, []func(map[string]part){opened, renamed("API", "New"), ofAPI("New"), other}, nil, nil},
		"ImportedAPI": {[]func(map[string]part){without("API"), ofAPI("x")},
			[]func(map[string]part){without("API"), ofAPI("x"), opened}, []string{"open:Read"},
			[]string{"has no authorizer"}},
		"IAM": {[]func(map[string]part){withProperty("Prices", "AuthorizationType", "AWS_IAM")}, nil,
			[]string{"open:Prices"}, []string{"GET /prices"}},
		"Scopes": {nil, []func(map[string]part){withProperty("Order", "AuthorizationScopes", []any{})},
			[]string{"scopes:Order"}, []string{"asks for none of the scopes"}},
		"OtherScopes": {nil, []func(map[string]part){withProperty("Order", "AuthorizationScopes", []any{"others"})},
			nil, nil},
		"NoIssuer": {nil, []func(map[string]part){without("Authorizer"), opened,
			withProperty("Order", "AuthorizationType", "NONE")}, []string{"issuer:Authorizer"},
			[]string{"lets everyone call GET /orders/{id}, POST /orders"}},
		"AuthorizerGone": {nil, []func(map[string]part){without("Authorizer")}, []string{"issuer:Authorizer"},
			[]string{"the API loses its issuer of tokens, https://a.example"}},
		"OtherIssuer": {nil, []func(map[string]part){
			withProperty("Authorizer", "JwtConfiguration", jwt("https://b.example"))}, []string{"issuer:Authorizer"},
			[]string{"no more tokens of https://a.example, but of https://b.example"}},
		"IssuerByName": {[]func(map[string]part){withProperty("Authorizer", "JwtConfiguration", jwt(pooled))},
			[]func(map[string]part){withProperty("Authorizer", "JwtConfiguration", jwt("https://b.example"))},
			[]string{"issuer:Authorizer"}, []string{
				"no more tokens of https://cognito-idp.eu-west-1.amazonaws.com/Pool, but of https://b.example"}},
		"OtherIssuerOpen": {nil, []func(map[string]part){
			withProperty("Authorizer", "JwtConfiguration", jwt("https://b.example")), opened},
			[]string{"issuer:Authorizer", "open:Read"}, []string{"no more tokens", "has no authorizer"}},
		"AuthorizerMoved": {nil, []func(map[string]part){renamed("Authorizer", "New")}, nil, nil},
		"RouteGone":       {nil, []func(map[string]part){without("Read")}, nil, nil},
		"Guarded":         {[]func(map[string]part){opened}, nil, nil, nil},
		"NewRouteOpen":    {[]func(map[string]part){without("Prices")}, nil, nil, nil},
		"IssuerAdded": {[]func(map[string]part){without("Authorizer"), opened,
			withProperty("Order", "AuthorizationType", "NONE")}, nil, nil, nil},
		"AnyMethod": {nil, []func(map[string]part){open("ANY /orders/{order}"), without("Read")},
			[]string{"open:Read"}, []string{"the route GET /orders/{id} goes, and ANY /orders/{order}, which gets " +
				"its requests, has no authorizer"}},
		"GreedyVariable": {nil, []func(map[string]part){open("ANY /orders/{proxy+}"), without("Read", "Order")},
			[]string{"open:Read"}, []string{"ANY /orders/{proxy+}"}},
		"AnyPath": {nil, []func(map[string]part){open("$default"), without("Read", "Order")},
			[]string{"open:Order", "open:Read"}, []string{"POST /orders goes", "GET /orders/{id} goes"}},
		"OpenBefore": {[]func(map[string]part){open("$default")},
			[]func(map[string]part){open("$default"), without("Read")}, []string{"open:Read"}, []string{"$default"}},
		"ScopesOfMore": {nil, []func(map[string]part){open("$default"),
			withProperty("Open", "AuthorizationType", "JWT"), without("Order")}, []string{"scopes:Order"},
			[]string{"POST /orders goes"}},
		"OtherFunction": {nil, []func(map[string]part){open("$default"), elsewhere, without("Read")}, nil, nil},
		"OtherPath":     {nil, []func(map[string]part){open("GET /orders/{id}/{proxy+}"), without("Read")}, nil, nil},
		"MoreSpecific":  {nil, []func(map[string]part){open("$default")}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused, said []string
			for _, f := range check.Compare(gated(t, test.deployed...), gated(t, test.proposed...), here) {
				if f.Severity != check.Refusal || strings.HasPrefix(f.ID, "conflict:") {
					continue // TestConflicts has the conflicts.
				}
				refused, said = append(refused, f.ID), append(said, f.Got+". "+f.Why)
				if len(f.Steps) < 2 || !slices.ContainsFunc(f.Steps, func(step string) bool {
					return strings.Contains(step, "accept this finding")
				}) {
					t.Errorf("%s: got the steps %q, want how to keep it and how to go on", f.ID, f.Steps)
				}
			}
			if diff := cmp.Diff(test.want, refused); diff != "" {
				t.Fatalf("refusals (-want +got):\n%s\n%s", diff, strings.Join(said, "\n"))
			}
			for i, says := range test.says {
				if !strings.Contains(said[i], says) {
					t.Errorf("got %q, want %q in it", said[i], says)
				}
			}
		})
	}
}

// Another kind of callers is a warning: those of before are refused.
func TestOtherCallers(t *testing.T) {
	t.Parallel()
	as := func(kind string) []func(map[string]part) {
		return []func(map[string]part){withProperty("Read", "AuthorizationType", kind)}
	}
	for name, test := range map[string]struct{ deployed, proposed, want string }{
		"IAM":      {"JWT", "AWS_IAM", "the route GET /orders/{id} asks IAM who calls, and asked an issuer of tokens"},
		"Function": {"AWS_IAM", "CUSTOM", "the route GET /orders/{id} asks a function who calls, and asked IAM"},
		"Same":     {"CUSTOM", "CUSTOM", ""},
	} {
		var got string
		for _, f := range check.Compare(gated(t, as(test.deployed)...), gated(t, as(test.proposed)...), here) {
			if strings.HasPrefix(f.ID, "stops-callers:") && f.Severity == check.Warning {
				got += f.Got
			}
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// Each route of To-Do that needs a token is missed, and so is the issuer of all.
func TestAuthorizersOfPlatform(t *testing.T) {
	t.Parallel()
	text := platforms(t)["todo.template.json"]
	deployed := parse(t, text)
	opened := func(all bool, only string) []string {
		var ids []string
		for _, f := range check.Compare(deployed, edit(t, text, func(resources map[string]map[string]any) {
			for id, r := range resources {
				if r["Type"] == "AWS::ApiGatewayV2::Route" && (all || id == only) {
					r["Properties"].(map[string]any)["AuthorizationType"] = "NONE"
				}
				if r["Type"] == "AWS::ApiGatewayV2::Authorizer" && all {
					delete(resources, id)
				}
			}
		}), here) {
			ids = append(ids, fmt.Sprint(f.Severity, " ", f.ID))
		}
		return ids
	}
	if got := opened(true, ""); len(got) != 1 || !strings.HasPrefix(got[0], "refusal issuer:TodoAPIAuthorizer") {
		t.Errorf("without an issuer: got %q", got)
	}
	var template struct {
		Resources map[string]part
	}
	if err := json.Unmarshal([]byte(text), &template); err != nil {
		t.Fatal(err)
	}
	guarded := 0
	for id, r := range template.Resources {
		if r.Properties["AuthorizationType"] != "JWT" {
			continue
		}
		guarded++
		if got := opened(false, id); !slices.Equal(got, []string{"refusal open:" + id}) {
			t.Errorf("%s: got %q", id, got)
		}
	}
	if guarded < 10 {
		t.Errorf("got %d routes that need a token, want those of users", guarded)
	}
}
