package kit

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// testAPI echoes what handlers see; /panic panics, /late panics after it began to
// answer, and /mine needs a token.
func testAPI(t testing.TB, out io.Writer) *API {
	t.Helper()
	log := must.Get(NewLogger(out, "", "f"))(t)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo/{id}", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the body that was read before: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": r.PathValue("id"), "body": string(body), "query": r.URL.RawQuery,
			"header": r.Header.Get("X-Test"), "invocation": InvocationFrom(r.Context()),
		})
	})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("the secret is 42") })
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("partly"))
		var missing *http.Request
		_ = missing.URL
	})
	mux.HandleFunc("DELETE /empty", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /mine/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	return &API{
		Routes: mux, Log: log, MaxBodyBytes: 100, Protected: []string{"POST /mine/{id}"},
		Error: func(_ context.Context, err error) (int, any) {
			if request, ok := errors.AsType[*validate.Error](err); ok {
				return request.Status, map[string]string{"field": request.Problems[0].Field}
			}
			return http.StatusInternalServerError, map[string]string{"field": "?"}
		},
	}
}

// event is an API Gateway request.
func event(method, path string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: path,
		Headers: map[string]string{"host": "api.example.com"}}
	e.RequestContext.HTTP.Method = method
	e.RequestContext.HTTP.Path = path
	e.RequestContext.HTTP.SourceIP = "203.0.113.7"
	return e
}

func invoke(t testing.TB, handler lambda.Handler, e any) events.APIGatewayV2HTTPResponse {
	t.Helper()
	payload := must.Get(json.Marshal(e))(t)
	answer, err := handler.Invoke(invoked("r"), payload)
	if err != nil {
		t.Fatalf("the invocation failed: %v", err)
	}
	var response events.APIGatewayV2HTTPResponse
	must.OK(t, json.Unmarshal(answer, &response))
	return response
}

// isData checks that no browser takes an answer for a page, and no cache keeps it for another caller.
func isData(t *testing.T, response events.APIGatewayV2HTTPResponse) {
	t.Helper()
	for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Content-Type": "application/json"} {
		if got := response.Headers[header]; got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
}

func TestHTTPHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	handler := NewHTTPHandler(testAPI(t, &out))
	e := event("POST", "/echo/a b")
	e.RawQueryString = "x=1&x=2"
	e.Headers["x-test"] = "yes"
	e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte("{\"ü\":1}")), true
	claiming("me")(&e)
	response := invoke(t, handler, e)
	if response.StatusCode != http.StatusCreated {
		t.Errorf("status is %d", response.StatusCode)
	}
	isData(t, response)
	want := `{"body":"{\"ü\":1}","header":"yes","id":"a b","invocation":{"RequestID":"r","ColdStart":true,"Route":"POST /echo/{id}","SourceAddress":"203.0.113.7","Claims":{"sub":"me"},"Groups":null,"Context":null,"Signer":{"Account":"","ARN":"","ID":""}},"query":"x=1\u0026x=2"}`
	if got := strings.TrimSpace(response.Body); got != want {
		t.Errorf("handlers see %s\nwant         %s", got, want)
	}
	if response := invoke(t, handler, event("DELETE", "/empty")); response.StatusCode != http.StatusNoContent ||
		response.Body != "" {
		t.Errorf("got %+v", response)
	}
	logged := lines(t, &out)
	if len(logged) != 2 {
		t.Fatalf("logged %v", logged)
	}
	for key, want := range map[string]any{"message": "request", "status": 201.0, "route": "POST /echo/{id}",
		"cold_start": true, "request_id": "r"} {
		if logged[0][key] != want {
			t.Errorf("%s is %v; want %v", key, logged[0][key], want)
		}
	}
	if _, cold := logged[1]["cold_start"]; cold {
		t.Error("the second invocation is a cold start as well")
	}
}

// A compressed body reaches API Gateway in Base64, and so does an error of the same API.
func TestBinary(t *testing.T) {
	t.Parallel()
	packed := "\x1f\x8b\x00\xff"
	api := testAPI(t, io.Discard)
	api.Binary = true
	api.Routes.HandleFunc("GET /packed", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(packed))
	})
	for path, want := range map[string]string{"/packed": packed, "/none": `{"field":"path"}` + "\n"} {
		response := invoke(t, NewHTTPHandler(api), event("GET", path))
		if got, err := base64.StdEncoding.DecodeString(response.Body); !response.IsBase64Encoded || err != nil ||
			string(got) != want {
			t.Errorf("%s: got %+v, %v", path, response, err)
		}
	}
}

func TestHTTPHandlerRefuses(t *testing.T) {
	t.Parallel()
	with := func(e events.APIGatewayV2HTTPRequest,
		change func(*events.APIGatewayV2HTTPRequest)) events.APIGatewayV2HTTPRequest {
		e.Headers = maps.Clone(e.Headers)
		change(&e)
		return e
	}
	for _, test := range []struct {
		name   string
		event  any
		status int
		field  string
		allow  string
		// challenge is the header WWW-Authenticate.
		challenge string
	}{
		{name: "NoRoute", event: event("GET", "/nowhere"), status: 404, field: "path"},
		{name: "EmptyPath", event: event("GET", ""), status: 404, field: "path"},
		{name: "DotSegments", event: event("DELETE", "/echo/../empty"), status: 404, field: "path"},
		{name: "DoubleSlash", event: event("DELETE", "//empty"), status: 404, field: "path"},
		{name: "TrailingSlash", event: event("DELETE", "/empty/"), status: 404, field: "path"},
		{name: "HostInPath", event: event("GET", "//evil.example.com/panic"), status: 404, field: "path"},
		{name: "Method", event: event("PUT", "/empty"), status: 405, field: "method", allow: "DELETE"},
		{name: "HeadIsNotGet", event: event("HEAD", "/panic"), status: 405, field: "method", allow: "GET"},
		{name: "Connect", event: event("CONNECT", "/empty"), status: 405, field: "method", allow: "DELETE"},
		{name: "LowerCaseMethod", event: event("delete", "/empty"), status: 405, field: "method", allow: "DELETE"},
		{name: "NoMethodIsGet", event: event("", "/empty"), status: 405, field: "method", allow: "DELETE"},
		{name: "MethodWithNewline", event: event("GET\n", "/empty"), status: 400, field: "request"},
		{name: "HeadersOfAnotherForm", event: map[string]any{"version": "2.0", "headers": 3}, status: 400,
			field: "request"},
		{name: "BadBase64", event: with(event("POST", "/echo/1"), func(e *events.APIGatewayV2HTTPRequest) {
			e.Body, e.IsBase64Encoded = "?!", true
		}), status: 400, field: "body"},
		{name: "BodyTooLarge", event: with(event("POST", "/echo/1"), func(e *events.APIGatewayV2HTTPRequest) {
			e.Body = strings.Repeat("x", 101)
		}), status: 413, field: "body"},
		{name: "NoToken", event: event("POST", "/mine/1"), status: 401, field: "token", challenge: "Bearer"},
		{name: "NoTokenAndBodyTooLarge", event: with(event("POST", "/mine/1"), func(e *events.APIGatewayV2HTTPRequest) {
			e.Body = strings.Repeat("x", 101)
		}), status: 401, field: "token", challenge: "Bearer"},
		{name: "TokenWithoutSubject", event: with(event("POST", "/mine/1"), claiming("")), status: 401, field: "token",
			challenge: "Bearer"},
		{name: "SubjectTooLong", event: with(event("POST", "/mine/1"), claiming(strings.Repeat("s", 256))), status: 401,
			field: "token", challenge: "Bearer"},
		{name: "Panic", event: event("GET", "/panic"), status: 500, field: "?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			response := invoke(t, NewHTTPHandler(testAPI(t, &out)), test.event)
			if response.StatusCode != test.status {
				t.Errorf("status is %d; want %d: %s", response.StatusCode, test.status, response.Body)
			}
			if want := `{"field":"` + test.field + `"}`; strings.TrimSpace(response.Body) != want {
				t.Errorf("body is %s; want %s", response.Body, want)
			}
			isData(t, response)
			if response.Headers["Content-Type"] != "application/json" || response.Headers["Allow"] != test.allow ||
				response.Headers["Www-Authenticate"] != test.challenge {
				t.Errorf("headers are %v", response.Headers)
			}
			logged := lines(t, &out)
			if access := logged[len(logged)-1]; access["message"] != "request" ||
				access["status"] != float64(test.status) {
				t.Errorf("the access line is %v", access)
			}
			if test.name == "Panic" && (strings.Contains(out.String(), "the secret is 42") ||
				!strings.Contains(logged[0]["stack"].(string), "http_test.go")) {
				t.Errorf("the log says what it panicked with, or not where: %s", &out)
			}
		})
	}
}

// claiming makes a request with a verified token of the subject.
func claiming(subject string) func(*events.APIGatewayV2HTTPRequest) {
	return func(e *events.APIGatewayV2HTTPRequest) {
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{
				Claims: map[string]string{"sub": subject}},
		}
	}
}

// A caller with a token is admitted, and a body of exactly the limit is read.
func TestHTTPHandlerAdmits(t *testing.T) {
	t.Parallel()
	mine, largest := event("POST", "/mine/1"), event("POST", "/echo/1")
	claiming("me")(&mine)
	largest.Body = strings.Repeat("x", 100)
	for _, e := range []events.APIGatewayV2HTTPRequest{mine, largest} {
		if response := invoke(t, NewHTTPHandler(testAPI(t, io.Discard)), e); response.StatusCode >= 300 {
			t.Errorf("%s: got %+v", e.RawPath, response)
		}
	}
	// A request of a local server has no invocation.
	w := httptest.NewRecorder()
	if testAPI(t, io.Discard).ServeHTTP(w, httptest.NewRequest("DELETE", "/empty", nil)); w.Code >= 300 {
		t.Errorf("without an invocation: got %d %s", w.Code, w.Body)
	}
}

// A handler learns what an authorizer of another kind has found out, as API Gateway says it.
func TestAuthorizers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		authorizer, subject string
		want                Invocation
	}{
		{`null`, "", Invocation{}},
		{`{"lambda":null}`, "", Invocation{}},
		{`{"lambda":{"sub":"ann","tier":"gold","cognito:groups":["admin","staff",3]}}`, "ann", Invocation{
			Groups:  []string{"admin", "staff"},
			Context: map[string]any{"sub": "ann", "tier": "gold", "cognito:groups": []any{"admin", "staff", 3.0}}}},
		{`{"lambda":{"sub":3,"cognito:groups":"site admin"}}`, "", Invocation{Groups: []string{"site admin"},
			Context: map[string]any{"sub": 3.0, "cognito:groups": "site admin"}}},
		{`{"iam":{"accessKey":"k","accountId":"1","callerId":"AROA:x","cognitoIdentity":null,"principalOrgId":null,` +
			`"userArn":"arn:aws:sts::1:assumed-role/r/x","userId":"AROA:x"}}`, "AROA:x",
			Invocation{Signer: Signer{Account: "1", ARN: "arn:aws:sts::1:assumed-role/r/x", ID: "AROA:x"}}},
	} {
		e := event("POST", "/echo/1")
		must.OK(t, json.Unmarshal([]byte(test.authorizer), &e.RequestContext.Authorizer))
		got := seen(t, e)
		if got.Subject() != test.subject {
			t.Errorf("%s: got the subject %q; want %q", test.authorizer, got.Subject(), test.subject)
		}
		if got = (Invocation{Groups: got.Groups, Context: got.Context, Signer: got.Signer,
			Claims: got.Claims}); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v; want %+v", test.authorizer, got, test.want)
		}
	}
}

// grouped is a request with a verified token whose claim of groups is the JSON.
func grouped(groups string) (events.APIGatewayV2HTTPRequest, error) {
	e := event("POST", "/echo/1")
	var claim any
	if err := json.Unmarshal([]byte(groups), &claim); err != nil {
		return e, err
	}
	claiming("me")(&e)
	e.RequestContext.Authorizer.JWT.Claims["cognito:groups"] = fmt.Sprint(claim)
	e.Headers["authorization"] = "Bearer e30." +
		base64.RawURLEncoding.EncodeToString([]byte(`{"cognito:groups":`+groups+`}`)) + ".c2ln"
	return e, nil
}

// seen is the invocation that a handler sees.
func seen(t testing.TB, e events.APIGatewayV2HTTPRequest) Invocation {
	t.Helper()
	var body struct{ Invocation Invocation }
	must.OK(t, json.Unmarshal([]byte(invoke(t, NewHTTPHandler(testAPI(t, io.Discard)), e).Body), &body))
	return body.Invocation
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		groups string
		change func(*events.APIGatewayV2HTTPRequest)
		want   []string
	}{
		{groups: `["admin"]`, want: []string{"admin"}},
		{groups: `["site admin","admin"]`, want: []string{"site admin", "admin"}},
		{groups: `["[admin","admin]","[admin]"]`, want: []string{"[admin", "admin]", "[admin]"}},
		{groups: `["x","y admin"]`, want: []string{"x", "y admin"}},
		{groups: `"guest admin"`, want: []string{"guest admin"}},
		{groups: `"admin"`, want: []string{"admin"}},
		{groups: `[]`, want: []string{}},
		{groups: `["x",["admin"],"y"]`},
		{groups: `{"x":" admin "}`},
		{groups: `["admin",null]`},
		// API Gateway need not keep the order.
		{groups: `["b","a"]`, change: func(e *events.APIGatewayV2HTTPRequest) {
			e.RequestContext.Authorizer.JWT.Claims["cognito:groups"] = "[a b]"
		}, want: []string{"b", "a"}},
		{groups: `["admin"]`, change: func(e *events.APIGatewayV2HTTPRequest) {
			e.Headers["authorization"] = strings.TrimPrefix(e.Headers["authorization"], "Bearer ")
		}, want: []string{"admin"}},
		{groups: `["admin"]`, change: func(e *events.APIGatewayV2HTTPRequest) { delete(e.Headers, "authorization") }},
		{groups: `["admin"]`, change: func(e *events.APIGatewayV2HTTPRequest) {
			e.Headers["authorization"] = "Bearer a.b"
		}},
		{groups: `["admin"]`, change: func(e *events.APIGatewayV2HTTPRequest) {
			e.Headers["authorization"] += "," + e.Headers["authorization"]
		}},
		// Another token than the one that was verified.
		{groups: `["admin"]`, change: func(e *events.APIGatewayV2HTTPRequest) {
			e.RequestContext.Authorizer.JWT.Claims["cognito:groups"] = "[staff]"
		}},
		// What other claims say is no group.
		{groups: `["admin"]`, change: func(e *events.APIGatewayV2HTTPRequest) {
			delete(e.RequestContext.Authorizer.JWT.Claims, "cognito:groups")
			for _, name := range []string{"groups", "Cognito:Groups", "custom:groups", "cognito:roles", "roles",
				"scope"} {
				e.RequestContext.Authorizer.JWT.Claims[name] = "[admin]"
			}
		}},
	} {
		e := must.Get(grouped(test.groups))(t)
		if test.change != nil {
			test.change(&e)
		}
		if got := seen(t, e).Groups; !slices.Equal(got, test.want) {
			t.Errorf("%s with the header %s: got %q, want %q", test.groups, e.Headers["authorization"], got, test.want)
		}
	}
}

// Who has a group by its exact name is in it, and no one else, whatever the claim is.
func FuzzGroups(f *testing.F) {
	for _, groups := range []string{
		`["admin"]`, `["[admin"]`, `["admin]"]`, `["site admin"]`, `["x","y admin"]`, `"guest admin"`, `"[admin]"`,
		`[["admin"]]`,
		`["x", ["admin", "y"]]`, `{"admin":"x"}`, `["a\u0020admin"]`, `["staff","admin"]`, `[" admin"]`, `null`,
		`[1,"admin"]`,
	} {
		f.Add(groups)
	}
	f.Fuzz(func(t *testing.T, groups string) {
		e, err := grouped(groups)
		if err != nil {
			return
		}
		var list []*string
		want := json.Unmarshal([]byte(groups), &list) == nil && !slices.Contains(list, nil) &&
			slices.ContainsFunc(list, func(name *string) bool { return *name == "admin" })
		var one string
		want = want || json.Unmarshal([]byte(groups), &one) == nil && one == "admin"
		if got := slices.Contains(seen(t, e).Groups, "admin"); got != want {
			t.Errorf("%s, which API Gateway hands on as %s: in the group is %t", groups,
				e.RequestContext.Authorizer.JWT.Claims["cognito:groups"], got)
		}
	})
}

// A panic after the first byte cannot be answered any more, but is logged.
func TestLatePanic(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	response := invoke(t, NewHTTPHandler(testAPI(t, &out)), event("GET", "/late"))
	if response.StatusCode != http.StatusOK || response.Body != "partly" {
		t.Errorf("got %+v", response)
	}
	if logged := lines(t, &out); len(logged) != 2 || logged[0]["message"] != "panic" ||
		!strings.Contains(logged[0]["error"].(string), "nil pointer") {
		t.Errorf("logged %v", logged)
	}
}

func TestHTTPHandlerFailsOtherEvents(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`{`, `3`, `null`, `{}`, `{"version":"1.0","httpMethod":"GET"}`, `{"version":2}`} {
		if answer, err := NewHTTPHandler(testAPI(t, io.Discard)).Invoke(invoked("r"), []byte(payload)); err == nil ||
			!strings.Contains(err.Error(), "payload format") {
			t.Errorf("%s: got %s, %v", payload, answer, err)
		}
	}
}

// FuzzHTTPHandler: for every event that API Gateway might send, the invocation
// succeeds with a response in the platform's form.
func FuzzHTTPHandler(f *testing.F) {
	f.Add("POST", "/echo/1", "a=1", "x-test", "v", "body", false)
	f.Add("GET", "/%zz", "%", "host", "a b", "?!", true)
	f.Add("G\x00T", "//a/..//b", ";", "\xff", "\n", "\xff", true)
	f.Fuzz(func(t *testing.T, method, path, query, header, value, body string, encoded bool) {
		e := event(method, path)
		e.RawQueryString, e.Body, e.IsBase64Encoded = query, body, encoded
		e.Headers[header] = value
		response := invoke(t, NewHTTPHandler(testAPI(t, io.Discard)), e)
		if strings.Contains(path, "panic") || strings.Contains(path, "late") {
			return
		}
		if response.StatusCode < 200 || response.StatusCode >= 500 {
			t.Errorf("got %+v", response)
		}
	})
}
