package apigateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
)

// gated are two functions in this process: gate answers what the test says, and the other with the authorizer of its
// event.
type gated struct {
	answer string
	err    error
	asked  []string
}

func (g *gated) InvokeWithin(_ context.Context, _ time.Duration, function string, payload []byte) (lambda.Result,
	error) {
	if function == "gate" {
		g.asked = append(g.asked, string(payload))
		result := lambda.Result{Payload: []byte(g.answer)}
		if strings.HasPrefix(g.answer, "failed") {
			result.FunctionError = "Unhandled"
		}
		return result, g.err
	}
	var event struct {
		RequestContext struct{ Authorizer json.RawMessage }
		Body           string
	}
	err := json.Unmarshal(payload, &event)
	text, _ := json.Marshal(string(event.RequestContext.Authorizer) + event.Body)
	return lambda.Result{Payload: text}, err
}

// What a function answers decides, and its context reaches the function behind the route.
func TestFunctionAuthorizer(t *testing.T) {
	t.Parallel()
	const allow, other = "arn:aws:execute-api:us-east-1:000000000000:abc123/$default/GET/a/1",
		"arn:aws:execute-api:us-east-1:000000000000:abc123/*/GET/b/*"
	policy := func(effect, resource string) string {
		return fmt.Sprintf(`{"principalId":"p","policyDocument":{"Version":"2012-10-17","Statement":[
			{"Effect":%q,"Action":"execute-api:Invoke","Resource":%q}]},"context":{"n":1}}`, effect, resource)
	}
	for name, test := range map[string]struct {
		answer  string
		err     error
		simple  bool
		refused string
		status  int
		body    string
	}{
		"Simple": {answer: `{"isAuthorized":true,"context":{"sub":"ann","list":[1]}}`, simple: true, status: 200,
			body: `{"lambda":{"list":[1],"sub":"ann"}}`},
		"SimpleWithoutContext": {answer: `{"isAuthorized":true}`, simple: true, status: 200, body: `{"lambda":null}`},
		"SimpleNo":             {answer: `{"isAuthorized":false,"context":{"sub":"ann"}}`, simple: true, status: 403},
		"SimpleText":           {answer: `{"isAuthorized":"true"}`, simple: true, status: 500},
		"SimpleMissing":        {answer: policy("Allow", allow), simple: true, status: 500},
		"Policy":               {answer: policy("Allow", allow), status: 200, body: `{"lambda":{"n":1}}`},
		"PolicyWildcard": {answer: policy("Allow", "arn:aws:execute-api:*:*:abc123/*/GET/a/?"), status: 200,
			body: `{"lambda":{"n":1}}`},
		"PolicyOfOther": {answer: policy("Allow", other), status: 403},
		"PolicyDenies":  {answer: policy("Deny", allow), status: 403},
		"PolicyDenyWins": {answer: `{"principalId":"p","policyDocument":{"Statement":[
			{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"execute-api:*","Resource":"*/a/1"}]}}`,
			status: 403},
		"PolicyOfNothing":    {answer: `{"principalId":"p","policyDocument":{"Statement":[]}}`, status: 403},
		"PolicyMissing":      {answer: `{"isAuthorized":true}`, status: 500},
		"PolicyWithoutName":  {answer: strings.Replace(policy("Allow", allow), "principalId", "id", 1), status: 500},
		"PolicyNotDecidable": {answer: strings.Replace(policy("Allow", allow), "Allow", "Perhaps", 1), status: 500},
		"NoJSON":             {answer: `yes`, simple: true, status: 500},
		"Failed":             {answer: `failed`, simple: true, status: 500},
		"NotInvoked":         {err: lambda.ErrThrottled, simple: true, status: 500},
		"NoPermission":       {answer: `{"isAuthorized":true}`, simple: true, refused: "no permission", status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			functions := &gated{answer: test.answer, err: test.err}
			var line, logged string
			h := serve(t, apigateway.API{
				AccessLogFormat: "$context.authorizer.n $context.authorizer.principalId $context.authorizer.error",
				Routes: []apigateway.Route{{Key: "GET /a/{id}", Authorizer: &apigateway.FunctionAuthorizer{Name: "keys",
					Function: "gate", Simple: test.simple, Format: "2.0", Refused: test.refused}}},
			}, apigateway.Options{Invoker: functions, AccessLog: func(s string) { line = s },
				Log: func(s string) { logged = s }})
			w := do(h, request("GET", "/a/1", ""))
			want := map[int]string{200: test.body, 403: `{"message":"Forbidden"}`,
				500: `{"message":"Internal Server Error"}`}[test.status]
			if w.Code != test.status || w.Body.String() != want {
				t.Errorf("got %d %s; want %d %s", w.Code, w.Body, test.status, want)
			}
			const says = "authorizer keys: "
			if told := strings.Contains(line, says) && strings.Contains(logged, says); told != (test.status == 500) {
				t.Errorf("the access log has %s, the execution log %s", line, logged)
			}
			if test.body == `{"lambda":{"n":1}}` && line != "1 p -" {
				t.Errorf("the access log has %s", line)
			}
			if asked := len(functions.asked) == 0; asked != (test.refused != "") {
				t.Errorf("the function got %v", functions.asked)
			}
		})
	}
}

// A request that lacks an identity source costs no invocation, and one with the same values as another has its answer,
// on all routes, until it is too old. What failed is not kept.
func TestIdentitySources(t *testing.T) {
	t.Parallel()
	functions := &gated{answer: `{"isAuthorized":true}`}
	now := clock
	authorizer := &apigateway.FunctionAuthorizer{Name: "keys", Function: "gate", Simple: true, Format: "2.0",
		CacheFor: time.Minute, Identity: []string{"$request.header.X-Key", "$request.querystring.k"}}
	perRoute := &apigateway.FunctionAuthorizer{Name: "routes", Function: "gate", Simple: true, Format: "2.0",
		CacheFor: time.Minute, Identity: []string{"$request.header.X-Key", "$context.routeKey"}}
	h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "GET /a", Authorizer: authorizer},
		{Key: "GET /b", Authorizer: authorizer}, {Key: "GET /c", Authorizer: perRoute},
		{Key: "GET /d", Authorizer: perRoute},
	}}, apigateway.Options{Invoker: functions, Now: func() time.Time { return now }})
	for _, step := range []struct {
		name, target, key string
		later             time.Duration
		answer            string
		status, asked     int
	}{
		{name: "NoHeader", target: "/a?k=1", status: 401},
		{name: "NoQuery", target: "/a", key: "x", status: 401},
		{name: "EmptyQuery", target: "/a?k=", key: "x", status: 401},
		{name: "First", target: "/a?k=1", key: "x", status: 200, asked: 1},
		{name: "Again", target: "/a?k=1&other=2", key: "x", status: 200, asked: 1},
		{name: "OtherRoute", target: "/b?k=1", key: "x", status: 200, asked: 1},
		{name: "OtherQuery", target: "/a?k=2", key: "x", status: 200, asked: 2},
		{name: "OtherHeader", target: "/a?k=1", key: "y", status: 200, asked: 3},
		{name: "AlmostTooOld", target: "/a?k=1", key: "x", later: 59 * time.Second, status: 200, asked: 3},
		{name: "TooOld", target: "/a?k=1", key: "x", later: time.Second, status: 200, asked: 4},
		{name: "Failed", target: "/a?k=3", key: "x", answer: "failed", status: 500, asked: 5},
		{name: "FailedAgain", target: "/a?k=3", key: "x", answer: "failed", status: 500, asked: 6},
		{name: "Refused", target: "/a?k=4", key: "x", answer: `{"isAuthorized":false}`, status: 403, asked: 7},
		{name: "RefusedIsKept", target: "/b?k=4", key: "x", status: 403, asked: 7},
		{name: "ByRoute", target: "/c", key: "x", status: 200, asked: 8},
		{name: "ByRouteAgain", target: "/c", key: "x", status: 200, asked: 8},
		{name: "ByOtherRoute", target: "/d", key: "x", status: 200, asked: 9},
	} {
		now = now.Add(step.later)
		functions.answer = step.answer
		if step.answer == "" {
			functions.answer = `{"isAuthorized":true}`
		}
		r := request("GET", step.target, "")
		if step.key != "" {
			r.Header.Set("X-Key", step.key)
		}
		if w := do(h, r); w.Code != step.status || w.Code == 401 && w.Body.String() != `{"message":"Unauthorized"}` ||
			len(functions.asked) != step.asked {
			t.Errorf("%s: got %d %s after %d questions; want %d after %d", step.name, w.Code, w.Body,
				len(functions.asked), step.status, step.asked)
		}
	}
}

// A policy that is kept decides for each route by itself.
func TestKeptPolicy(t *testing.T) {
	t.Parallel()
	functions := &gated{answer: `{"principalId":"p","policyDocument":{"Statement":{"Effect":"Allow",
		"Action":"execute-api:Invoke","Resource":"arn:aws:execute-api:us-east-1:000000000000:abc123/$default/GET/a"}}}`}
	authorizer := &apigateway.FunctionAuthorizer{Name: "keys", Function: "gate", Format: "2.0", CacheFor: time.Minute,
		Identity: []string{"$request.header.X-Key"}}
	h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "GET /a", Authorizer: authorizer},
		{Key: "PUT /a", Authorizer: authorizer}}}, apigateway.Options{Invoker: functions})
	for method, want := range map[string]int{"GET": 200, "PUT": 403} {
		if w := do(h, request(method, "/a", "", "X-Key", "x")); w.Code != want {
			t.Errorf("%s: got %d %s; want %d", method, w.Code, w.Body, want)
		}
	}
	if len(functions.asked) != 1 {
		t.Errorf("the function was asked %d times", len(functions.asked))
	}
}

// The event of an authorizer is API Gateway's, in both formats.
func TestAuthorizerEvent(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"1.0", "2.0"} {
		functions := &gated{answer: `{"isAuthorized":true}`}
		h := serve(t, apigateway.API{Stage: "dev", Routes: []apigateway.Route{{Key: "POST /a/{id}",
			Authorizer: &apigateway.FunctionAuthorizer{Function: "gate", Simple: true, Format: format,
				Identity: []string{"$request.header.X-Key"}}}}}, apigateway.Options{Invoker: functions})
		do(h, request("POST", "/dev/a/1?q=1&q=2", "body", "X-Key", "x", "Cookie", "c=d"))
		sameEvent(t, "testdata/authorizer-"+format+".json", []byte(functions.asked[0]))
	}
}

// A route with IAM admits a caller whose signature is recent and fits the request, and who may invoke the route.
func TestSigned(t *testing.T) {
	t.Parallel()
	ann := aws.Credentials{AccessKeyID: "ann", SecretAccessKey: "secret", SessionToken: "session"}
	var asked string
	h := serve(t, apigateway.API{AccessLogFormat: "$context.identity.userArn",
		Routes: []apigateway.Route{{Key: "POST /a/{id}", Authorizer: apigateway.Signed{}}}},
		apigateway.Options{Invoker: &gated{}, Principal: func(key string) (apigateway.Principal, error) {
			if key == "nobody" {
				return apigateway.Principal{}, errors.New("no such key")
			}
			return apigateway.Principal{Secret: "secret", Account: "1", ARN: "arn:" + key, ID: "id of " + key,
				Allows: func(action, resource string) error {
					if asked = action + " " + resource; strings.HasSuffix(resource, "/denied") {
						return errors.New("denied")
					}
					return nil
				}}, nil
		}})
	type signing struct {
		by              aws.Credentials
		service, region string
		at              time.Time
		change          func(*http.Request)
		target          string
		body            string
	}
	// sent changes the request after it was signed.
	sent := func(change func(*http.Request)) func(*signing) { return func(s *signing) { s.change = change } }
	header := func(name, value string) func(*signing) {
		return sent(func(r *http.Request) { r.Header.Set(name, value) })
	}
	for name, test := range map[string]struct {
		change func(*signing)
		status int
	}{
		"OK":                {func(*signing) {}, 200},
		"Empty":             {func(s *signing) { s.body = "" }, 200},
		"Escaped":           {func(s *signing) { s.target = "/a/x%20y?q=%C3%BC&p=a%2Fb&p=" }, 200},
		"SignedContentType": {func(s *signing) { s.body = `{"a":1}` }, 200},
		"NotSignedLater":    {header("X-Further", "yes"), 200},
		"NotSigned":         {sent(func(r *http.Request) { r.Header.Del("Authorization") }), 403},
		"Bearer":            {header("Authorization", "Bearer x"), 403},
		"NoDate":            {sent(func(r *http.Request) { r.Header.Del("X-Amz-Date") }), 403},
		"OtherBody": {sent(func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader("ydob"))
		}), 403},
		"OtherQuery":   {sent(func(r *http.Request) { r.URL.RawQuery = "q=2" }), 403},
		"OtherHeader":  {header("X-Signed", "no"), 403},
		"OtherHost":    {sent(func(r *http.Request) { r.Host = "other.example" }), 403},
		"OtherToken":   {header("X-Amz-Security-Token", "x"), 403},
		"OtherSecret":  {func(s *signing) { s.by.SecretAccessKey = "guess" }, 403},
		"UnknownKey":   {func(s *signing) { s.by.AccessKeyID = "nobody" }, 403},
		"OtherService": {func(s *signing) { s.service = "lambda" }, 403},
		"OtherRegion":  {func(s *signing) { s.region = "eu-west-1" }, 403},
		"Early":        {func(s *signing) { s.at = clock.Add(5*time.Minute + 2*time.Second) }, 403},
		"Late":         {func(s *signing) { s.at = clock.Add(-5*time.Minute - 2*time.Second) }, 403},
		"AlmostLate":   {func(s *signing) { s.at = clock.Add(-5*time.Minute + 2*time.Second) }, 200},
		"Denied":       {func(s *signing) { s.target = "/a/denied" }, 403},
	} {
		s := signing{ann, "execute-api", "us-east-1", clock, func(*http.Request) {}, "/a/1?q=1", "body"}
		test.change(&s)
		r := request("POST", s.target, s.body, "X-Signed", "yes", "X-Signed", "twice", "Content-Type",
			"application/json")
		sum := sha256.Sum256([]byte(s.body))
		must.OK(t, v4.NewSigner().SignHTTP(t.Context(), s.by, r, hex.EncodeToString(sum[:]), s.service, s.region,
			s.at))
		s.change(r)
		w := do(h, r)
		want := `{"message":"Forbidden"}`
		if test.status == 200 {
			want = `{"iam":{"accessKey":"ann","accountId":"1","callerId":"id of ann","cognitoIdentity":null,` +
				`"principalOrgId":null,"userArn":"arn:ann","userId":"id of ann"}}` + s.body
		}
		if w.Code != test.status || w.Body.String() != want {
			t.Errorf("%s: got %d %s; want %d %s", name, w.Code, w.Body, test.status, want)
		}
	}
	if !strings.HasPrefix(asked,
		"execute-api:Invoke arn:aws:execute-api:us-east-1:000000000000:abc123/$default/POST/a/") {
		t.Errorf("asked for %s", asked)
	}
	if w := do(h, request("POST", "/a/1", string(bytes.Repeat([]byte("x"), apigateway.MaxBody+1)))); w.Code != 413 {
		t.Errorf("got %d of a body that is too large", w.Code)
	}
}

// guarded is an API with two routes that an authorizer guards.
//
//go:embed testdata/authorized.json
var guarded string

// authorized returns the resources of guarded with a kind of authorization, an authorizer and the source of its
// permission.
func authorized(authorization, authorizer, permission string) string {
	return strings.NewReplacer("KIND", authorization, `"AUTHORIZER"`, authorizer, "SOURCE", permission).Replace(guarded)
}

// Base paths are read of the mappings of the API's stage. Without its default endpoint, an API has no other address.
func TestReadMappings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		disabled string
		keys     []string
		want     string
	}{
		"None":      {"true", nil, "[] false"},
		"Whole":     {"true", []string{``}, "[] false"},
		"BasePath":  {"true", []string{`, "ApiMappingKey": "team"`}, "[team] true"},
		"Both":      {"true", []string{`, "ApiMappingKey": "team"`, ``}, "[team] false"},
		"Reachable": {"false", []string{`, "ApiMappingKey": "team/v1"`}, "[team/v1] false"},
	} {
		template := strings.Replace(authorized("CUSTOM", `{}`, ""), `"ProtocolType": "HTTP"`,
			`"ProtocolType": "HTTP", "DisableExecuteApiEndpoint": `+test.disabled, 1)
		for i, key := range test.keys {
			template = strings.Replace(template, `"Integration": {`, fmt.Sprintf(`"Mapping%d": {"Type":
				"AWS::ApiGatewayV2::ApiMapping", "Properties": {"ApiId": {"Ref": "API"},
				"DomainName": "api.example.com",
				"Stage": {"Ref": "Stage"}%s}}, "Integration": {`, i, key), 1)
		}
		loaded := assemblytest.Load(t, template)
		api, _ := apigateway.Read(loaded, loaded.APIs()[0], nil)
		if got := fmt.Sprint(api.BasePaths, api.OnlyMapped); got != test.want {
			t.Errorf("%s: got %s; want %s", name, got, test.want)
		}
	}
}

// Authorizers are read as templates have them, those of the CDK's own constructs, too. API Gateway asks a function that
// it may invoke.
func TestReadAuthorizers(t *testing.T) {
	t.Parallel()
	const uri = `"AuthorizerUri": {"Fn::Join": ["", ["arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/", {"Fn::GetAtt": ["Gate", "Arn"]}, "/invocations"]]}`
	// As HttpLambdaAuthorizer has it, by default and with simple responses.
	policies := `{"ApiId": {"Ref": "API"}, "AuthorizerType": "REQUEST", "AuthorizerPayloadFormatVersion": "1.0",
		"AuthorizerResultTtlInSeconds": 300, "IdentitySource": ["$request.header.Authorization"], "Name": "keys", ` + uri + `}`
	simple := `{"ApiId": {"Ref": "API"}, "AuthorizerType": "REQUEST", "AuthorizerPayloadFormatVersion": "2.0",
		"EnableSimpleResponses": true, "Name": "keys", ` + uri + `}`
	byRole := strings.Replace(simple, `"ApiId"`, `"AuthorizerCredentialsArn": {"Fn::GetAtt": ["Role", "Arn"]}, "ApiId"`, 1)
	const byPolicies, bySimple = "keys gate [$request.header.Authorization] 5m0s 1.0 false", "keys gate [] 0s 2.0 true"
	for name, test := range map[string]struct{ authorization, authorizer, permission, want, refused, err string }{
		"Policies": {"CUSTOM", policies, "/authorizers/", byPolicies, "", ""},
		"Simple":   {"CUSTOM", simple, "/authorizers/", bySimple, "", ""},
		"ByRole":   {"CUSTOM", byRole, "/other/", bySimple, "", ""},
		"NoPermission": {"CUSTOM", simple, "/other/", bySimple,
			"invoke gate from arn:aws:execute-api:us-east-1:000000000000:", ""},
		"ErrNoIdentity": {"CUSTOM", strings.Replace(policies, `["$request.header.Authorization"]`, "[]", 1), "/authorizers/",
			"", "", "got AuthorizerResultTtlInSeconds 300 without an IdentitySource"},
		"ErrNoFunction": {"CUSTOM", strings.Replace(simple, uri, `"AuthorizerUri": "arn:aws:lambda:::function:other"`, 1),
			"/authorizers/", "", "", `"arn:aws:lambda:::function:other" is not a function`},
		"ErrAuthorization": {"API_KEY", simple, "/authorizers/", "", "", `authorization "API_KEY": an HTTP API has`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded := assemblytest.Load(t, authorized(test.authorization, test.authorizer, test.permission))
			api, err := apigateway.Read(loaded, loaded.APIs()[0], nil)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v; want %s", err, test.err)
				}
				return
			}
			must.OK(t, err)
			got := api.Routes[0].Authorizer.(*apigateway.FunctionAuthorizer)
			if api.Routes[1].Authorizer != api.Routes[0].Authorizer {
				t.Error("the routes have an authorizer each; want one, which remembers for both")
			}
			if (got.Refused == "") != (test.refused == "") || !strings.Contains(got.Refused, test.refused) {
				t.Errorf("refused: got %q; want %q", got.Refused, test.refused)
			}
			if got := fmt.Sprintf("%s %s %s %s %s %t", got.Name, got.Function, got.Identity, got.CacheFor, got.Format,
				got.Simple); got != test.want {
				t.Errorf("got %s; want %s", got, test.want)
			}
		})
	}
	loaded := assemblytest.Load(t, authorized("AWS_IAM", simple, "/authorizers/"))
	api, err := apigateway.Read(loaded, loaded.APIs()[0], nil)
	if err != nil || len(api.Routes) != 2 || api.Routes[0].Authorizer != (apigateway.Signed{}) {
		t.Errorf("got %+v, %v", api.Routes, err)
	}
	if got := apigateway.RoutesTo(loaded); !cmp.Equal(got, map[string][]string{"gate": {"GET /one", "GET /two"}}) {
		t.Errorf("got routes to %v", got)
	}
}
