package kit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// names are texts that a path variable may have. test/todo has a task for each in a run.
var names = []string{"plain", "two words", "a+b", "ü", "日本語", "😀", "100%", "%41", "%2541", "%2F", "%", "%zz", "50%25",
	"a%20b", "a?b", "a#b", "a&b=c", "a;b,c", "..", `"quoted"\`, "~user@example.com:!$'()*", ".", "a/b", "a//b/../c"}

// A variable is what the event has in pathParameters, whatever stands in rawPath: API Gateway has decoded both, and may
// have put the name of the stage or a base path before the route's path.
func TestPathVariables(t *testing.T) {
	t.Parallel()
	handler := NewHTTPHandler(testAPI(t, io.Discard))
	for _, name := range names {
		for _, before := range []string{"", "/prod", "/base/path"} {
			e := event("POST", before+"/echo/"+name)
			e.RouteKey, e.PathParameters = "POST /echo/{another}", map[string]string{"another": name}
			e.RequestContext.RouteKey, e.RequestContext.Stage = e.RouteKey, "prod"
			var got struct{ ID string }
			if response := invoke(t, handler, e); json.Unmarshal([]byte(response.Body), &got) != nil || got.ID != name {
				t.Errorf("%q behind %q: got %d %s", name, before, response.StatusCode, response.Body)
			}
		}
	}
}

// Events as AWS sends them, member by member as in the example of "Create AWS Lambda proxy integrations for HTTP APIs"
// (API Gateway developer guide), of a route with a Lambda integration in payload format 2.0: handlers see the query as
// it was sent, each header and all cookies, and the path of the route.
func TestEventsOfAWS(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /", "GET /{$}", "GET /things/{id}", "GET /files/{path...}",
		"PUT /things/{id}"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			sent, notParsed := url.ParseRequestURI(r.RequestURI)
			if err != nil || notParsed != nil || sent.Path != r.URL.Path || sent.RawQuery != r.URL.RawQuery {
				t.Errorf("%s: got the body %s, %v, and the URI %s, %v", r.URL, body, err, r.RequestURI, notParsed)
			}
			cookies := []string{}
			for _, c := range r.Cookies() {
				cookies = append(cookies, c.Name+"="+c.Value)
			}
			fmt.Fprint(w, strings.Join([]string{pattern, r.URL.Path, r.PathValue("id") + r.PathValue("path"), r.Host,
				r.Header.Get("X-Test"), strings.Join(cookies, " "), r.URL.RawQuery, string(body)}, "\n"))
		})
	}
	api := testAPI(t, io.Discard)
	api.Routes = mux
	event := must.Get(os.ReadFile("testdata/event.json"))(t)
	for name, test := range map[string]struct {
		method, route, rawPath, variables, stage string
		// pattern, path and variable are what the handler sees.
		pattern, path, variable string
	}{
		"Variable": {"GET", "GET /things/{id}", "/things/a b?c#d%41", `{"id":"a b?c#d%41"}`, "$default",
			"GET /things/{id}", "/things/a b?c#d%41", "a b?c#d%41"},
		"Stage": {"GET", "GET /things/{id}", "/prod/things/1", `{"id":"1"}`, "prod",
			"GET /things/{id}", "/things/1", "1"},
		"BasePath": {"GET", "GET /things/{id}", "/team/v1/things/1", `{"id":"1"}`, "$default",
			"GET /things/{id}", "/things/1", "1"},
		"Any": {"PUT", "ANY /things/{id}", "/things/1", `{"id":"1"}`, "$default",
			"PUT /things/{id}", "/things/1", "1"},
		"Greedy": {"GET", "GET /files/{path+}", "/prod/files/a/b %2F/c?", `{"path":"a/b %2F/c?"}`, "prod",
			"GET /files/{path...}", "/files/a/b %2F/c?", "a/b %2F/c?"},
		"GreedyAll": {"GET", "ANY /{proxy+}", "/base/things/1", `{"proxy":"things/1"}`, "$default",
			"GET /things/{id}", "/things/1", "1"},
		"Literal": {"GET", "GET /", "/prod/", `null`, "prod", "GET /{$}", "/", ""},
		"Default": {"GET", "$default", "/things/100%", `null`, "$default",
			"GET /things/{id}", "/things/100%", "100%"},
		"OfStage":   {"GET", "$default", "/prod/things/?", `null`, "prod", "GET /things/{id}", "/things/?", "?"},
		"LikeStage": {"GET", "$default", "/production/x", `null`, "prod", "GET /", "/production/x", ""},
		"StageRoot": {"GET", "$default", "/prod", `null`, "prod", "GET /{$}", "/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frozen := strings.NewReplacer("ROUTE_KEY", test.route, "RAW_PATH", test.rawPath, `"PATH_PARAMETERS"`,
				test.variables, "METHOD", test.method, "STAGE", test.stage).Replace(string(event))
			answer := must.Get(NewHTTPHandler(api).Invoke(invoked("r"), []byte(frozen)))(t)
			var response events.APIGatewayV2HTTPResponse
			must.OK(t, json.Unmarshal(answer, &response))
			want := strings.Join([]string{test.pattern, test.path, test.variable, "api.example.com",
				"first,second %41", "session=a%20b theme=dark",
				"repeat=one&repeat=two&to=https%3A%2F%2Fexample.com%2Fa&plus=a+b&encoded=a%2Bb%26&empty=",
				`{"a":"λ"}`}, "\n")
			if difference := cmp.Diff(want, response.Body); difference != "" {
				t.Errorf("%d (-want +got):\n%s", response.StatusCode, difference)
			}
		})
	}
}

// An answer is that of the server of net/http, also where a handler leaves something out, or does what it must not.
// That server alone finds out the type of a body after a status.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler         http.HandlerFunc
		status          int
		body, mediaType string
	}{
		"Nothing": {func(http.ResponseWriter, *http.Request) {}, 200, "", ""},
		"Body": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "a", "b") }, 200, "ab",
			"text/plain; charset=utf-8"},
		"HeaderIsLate": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			w.Header().Set("Content-Type", "text/late")
			w.WriteHeader(200)
			fmt.Fprint(w, "none")
		}, 404, "none", ""},
		"Informational": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(103)
			w.Header().Set("Content-Type", "text/x")
			w.WriteHeader(201)
		}, 201, "", "text/x"},
		"NoContent": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			if _, err := fmt.Fprint(w, "body"); !errors.Is(err, http.ErrBodyNotAllowed) {
				t.Errorf("writing a body of a 204: %v", err)
			}
		}, 204, "", ""},
		"NoStatus": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(20) }, 500,
			"{\"field\":\"?\"}\n", "application/json"},
	} {
		api := testAPI(t, io.Discard)
		api.Routes.HandleFunc("GET /answer", test.handler)
		response := invoke(t, NewHTTPHandler(api), event("GET", "/answer"))
		if response.StatusCode != test.status || response.Body != test.body ||
			response.Headers["Content-Type"] != test.mediaType {
			t.Errorf("%s: got %+v", name, response)
		}
		server := httptest.NewServer(api)
		served := must.Get(server.Client().Get(server.URL + "/answer"))(t)
		body, err := io.ReadAll(served.Body)
		server.Close()
		mediaType := served.Header.Get("Content-Type")
		if err != nil || served.StatusCode != test.status || string(body) != test.body ||
			name != "HeaderIsLate" && mediaType != test.mediaType {
			t.Errorf("%s: net/http answers %d %q %q, %v", name, served.StatusCode, body, mediaType, err)
		}
	}
}

// An answer has each cookie of its own, and other headers of one name in one.
func TestAnswerHeaders(t *testing.T) {
	t.Parallel()
	api := testAPI(t, io.Discard)
	api.Routes.HandleFunc("GET /headers", func(w http.ResponseWriter, _ *http.Request) {
		for _, value := range []string{"a=1", "b=2"} {
			w.Header().Add("Set-Cookie", value)
			w.Header().Add("Vary", value)
		}
	})
	response := invoke(t, NewHTTPHandler(api), event("GET", "/headers"))
	if difference := cmp.Diff([]string{"a=1", "b=2"}, response.Cookies); difference != "" ||
		response.Headers["Vary"] != "a=1,b=2" || response.Headers["Set-Cookie"] != "" {
		t.Errorf("got %+v", response)
	}
}
