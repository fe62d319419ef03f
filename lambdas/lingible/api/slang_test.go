package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// request makes a request with a token of those claims.
func request(handler http.Handler, method, path, body string, claims map[string]string,
	header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(kit.WithInvocation(r.Context(),
		kit.Invocation{Claims: claims, SourceAddress: "203.0.113.7"})))
	return w
}

// The routes of administrators refuse every user outside the group, with any other claims, and do not
// read the submission. To administrators they say that there is none.
func TestAdministrators(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	handler := kit.NewHTTPHandler((&api.API{
		Service: w.Service, Keys: &httpapitest.Ledger{}, Limiter: httpapitest.Unlimited{},
		Log: slog.New(slog.DiscardHandler), Clock: w.Read,
	}).Handler())
	for _, decision := range []string{"approve", "reject"} {
		for name, test := range map[string]struct {
			claims map[string]any
			status int
			code   string
		}{
			"None":   {nil, 401, "AUTH_001"},
			"Groups": {map[string]any{"sub": "ann"}, 403, "AUTH_002"},
			"Custom": {map[string]any{"sub": "ann", "custom:groups": []string{"admin"}, "custom:role": "admin"},
				403, "AUTH_002"},
			"Roles": {map[string]any{"sub": "ann", "roles": []string{"admin"}, "role": "admin",
				"groups": []string{"admin"}}, 403, "AUTH_002"},
			"CognitoRoles": {map[string]any{"sub": "ann", "cognito:roles": []string{"admin"},
				"cognito:preferred_role": "admin"}, 403, "AUTH_002"},
			"Scope": {map[string]any{"sub": "ann", "scope": "admin aws.cognito.signin.user.admin"}, 403,
				"AUTH_002"},
			"Name": {map[string]any{"sub": "admin", "username": "admin", "cognito:username": "admin",
				"email": "admin"}, 403, "AUTH_002"},
			"Longer": {map[string]any{"sub": "ann", "cognito:groups": "administrators"}, 403, "AUTH_002"},
			"Plural": {map[string]any{"sub": "ann", "cognito:groups": []string{"staff", "admins"}}, 403, "AUTH_002"},
			"Case":   {map[string]any{"sub": "ann", "cognito:groups": []string{"Admin", "ADMIN"}}, 403, "AUTH_002"},
			"Commas": {map[string]any{"sub": "ann", "cognito:groups": []string{"staff,admin"}}, 403, "AUTH_002"},
			"Blank":  {map[string]any{"sub": "ann", "cognito:groups": []string{"site admin"}}, 403, "AUTH_002"},
			"Claim": {map[string]any{"sub": "ann", "Cognito:Groups": []string{"admin"},
				"cognito:groups": []string{}}, 403, "AUTH_002"},
			"Admin":     {map[string]any{"sub": "ann", "cognito:groups": []string{"admin"}}, 404, "RES_001"},
			"AlsoAdmin": {map[string]any{"sub": "ann", "cognito:groups": []string{"staff", "admin"}}, 404, "RES_001"},
		} {
			w.Tables.Recorder.Requests()
			var event events.APIGatewayV2HTTPRequest
			event.Version, event.RawPath, event.RequestContext.HTTP.Method = "2.0",
				"/slang/admin/"+decision+"/550e8400-e29b-41d4-a716-446655440000", http.MethodPost
			event.Headers = map[string]string{"host": "api.example.com"}
			if test.claims != nil {
				authorization, claims := httpapitest.Verified(test.claims)
				event.Headers["authorization"] = authorization
				event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
					JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims},
				}
			}
			payload, err := json.Marshal(event)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := handler.Invoke(t.Context(), payload)
			if err != nil {
				t.Fatal(err)
			}
			var response events.APIGatewayV2HTTPResponse
			if err := json.Unmarshal(answer, &response); err != nil {
				t.Fatal(err)
			}
			var body lingible.ErrorResponse
			if err := json.Unmarshal([]byte(response.Body), &body); err != nil {
				t.Fatal(err)
			}
			isRead := slices.ContainsFunc(w.Tables.Recorder.Requests(), func(r dynamotest.Request) bool {
				return r.Table == "Submissions"
			})
			if response.StatusCode != test.status || body.ErrorCode != test.code || isRead != (test.status == 404) {
				t.Errorf("%s %s: got %d %s, read the submission %v", decision, name, response.StatusCode,
					body.ErrorCode, isRead)
			}
		}
	}
}

// The document allows the terms that have a slug, among Unicode's first 256 characters.
func TestTermPattern(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Pattern string }
			}
		}
	}
	if err := json.Unmarshal(suite(t).Document, &document); err != nil {
		t.Fatal(err)
	}
	// Go writes characters otherwise than JSON Schema does.
	pattern := regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(
		document.Components.Schemas["Proposal"].Properties["slang_term"].Pattern, `\x{$1}`)
	allowed := regexp.MustCompile(pattern)
	for r := rune(0); r < 256; r++ {
		if got, want := allowed.MatchString(string(r)), lingible.Slug(string(r)) != ""; got != want {
			t.Errorf("the document allows %q: %t, want %t", r, got, want)
		}
	}
}
