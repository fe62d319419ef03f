package apigateway_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// invoker is a function in this process.
type invoker func(ctx context.Context, function string, payload []byte) (lambda.Result, error)

func (i invoker) InvokeWithin(ctx context.Context, limit time.Duration, function string, payload []byte) (
	lambda.Result, error) {
	if limit > 0 {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	return i(ctx, function, payload)
}

// answering ignores the event and answers with the payload.
func answering(payload string) invoker {
	return func(context.Context, string, []byte) (lambda.Result, error) {
		return lambda.Result{Payload: []byte(payload)}, nil
	}
}

// naming answers with the function's name and the event's path parameters.
func naming(_ context.Context, function string, payload []byte) (lambda.Result, error) {
	var event struct {
		PathParameters map[string]string
		RouteKey       string
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return lambda.Result{}, err
	}
	body, err := json.Marshal(fmt.Sprintf("%s %v", event.RouteKey, event.PathParameters))
	return lambda.Result{Payload: body}, err
}

var clock = time.Date(2026, 3, 9, 10, 11, 12, 345e6, time.UTC)

func serve(t testing.TB, api apigateway.API, options apigateway.Options) http.Handler {
	t.Helper()
	if api.ID == "" {
		api.ID, api.Name, api.Region, api.Account = "abc123", "test", "us-east-1", "000000000000"
	}
	if options.Now == nil {
		options.Now = func() time.Time { return clock }
	}
	return must.Get(apigateway.New(api, options))(t)
}

func request(method, target string, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func do(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRoutePriority(t *testing.T) {
	t.Parallel()
	var routes []apigateway.Route
	for _, key := range []string{
		"$default", "ANY /{proxy+}", "GET /pets/{proxy+}", "GET /pets/dog/{id}", "GET /pets/dog/1",
		"GET /pets/{kind}/food",
		"ANY /pets/dog/{id}", "POST /pets/dog/1", "GET /", "GET /a b/ü",
	} {
		routes = append(routes, apigateway.Route{Key: key, Function: "f"})
	}
	h := serve(t, apigateway.API{Routes: routes}, apigateway.Options{Invoker: invoker(naming)})
	for _, test := range []struct{ method, path, want string }{
		{"GET", "/pets/dog/1", "GET /pets/dog/1 map[]"},
		{"GET", "/pets/dog/2", "GET /pets/dog/{id} map[id:2]"},
		{"PUT", "/pets/dog/1", "ANY /pets/dog/{id} map[id:1]"},
		{"POST", "/pets/dog/1", "POST /pets/dog/1 map[]"},
		{"GET", "/pets/cat/food", "GET /pets/{kind}/food map[kind:cat]"},
		{"GET", "/pets/cat/1", "GET /pets/{proxy+} map[proxy:cat/1]"},
		{"GET", "/pets/dog/food", "GET /pets/dog/{id} map[id:food]"},
		{"POST", "/x/y/z", "ANY /{proxy+} map[proxy:x/y/z]"},
		{"GET", "/", "GET / map[]"},
		{"POST", "/", "$default map[]"},
		{"GET", "/pets/dog/a%2Fb", "GET /pets/{proxy+} map[proxy:dog/a/b]"},
		{"GET", "/a%20b/%C3%BC", "GET /a b/ü map[]"},
		{"GET", "/pets/dog/", "GET /pets/{proxy+} map[proxy:dog/]"},
	} {
		t.Run(test.method+test.path, func(t *testing.T) {
			t.Parallel()
			if got := do(h, request(test.method, test.path, "")).Body.String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestRoutesRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys []string
		want string
	}{
		"NoPath":       {[]string{"GET"}, "METHOD /path"},
		"BadMethod":    {[]string{"FETCH /"}, "METHOD /path"},
		"Open":         {[]string{"GET /{a"}, "path variable"},
		"GreedyInside": {[]string{"GET /{a+}/b"}, "path variable"},
		"Twice":        {[]string{"GET /a", "GET /a"}, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var routes []apigateway.Route
			for _, key := range test.keys {
				routes = append(routes, apigateway.Route{Key: key})
			}
			if _, err := apigateway.New(apigateway.API{Routes: routes}, apigateway.Options{}); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	if _, err := apigateway.New(apigateway.API{RouteThrottles: map[string]apigateway.Throttle{"GET /x": {}}},
		apigateway.Options{}); err == nil {
		t.Error("settings of a route that does not exist were accepted")
	}
}

// sameEvent checks an event by a file that has it, with the names of what differs from run to run.
func sameEvent(t *testing.T, file string, got []byte) {
	t.Helper()
	var event map[string]any
	must.OK(t, json.Unmarshal(got, &event))
	for within, name := range map[string]string{"requestContext": "requestId", "headers": "x-amzn-trace-id"} {
		if values := event[within].(map[string]any); values[name] != nil {
			values[name] = "<" + name + ">"
		}
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	lines.SetIndent("", "  ")
	must.OK(t, lines.Encode(event))
	goldentest.Check(t, file, text.Bytes())
}

func TestPayload(t *testing.T) {
	t.Parallel()
	var event []byte
	h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "POST /things/{id}", Function: "f"}}},
		apigateway.Options{
			Invoker: invoker(func(_ context.Context, _ string, payload []byte) (lambda.Result, error) {
				event = payload
				return lambda.Result{Payload: []byte(`{"statusCode":204}`)}, nil
			}),
		})
	r := request("POST", "/things/a%20b?x=1&x=2&y=%C3%BC+z&flag&bad=%zz", `{"a":"<ü>"}`,
		"Content-Type", "application/json", "X-Many", "1", "X-Many", "2", "Cookie", "a=1; b=2", "X-Forwarded-For",
		"6.6.6.6", "User-Agent", "test/1")
	r.RemoteAddr, r.Host = "127.0.0.1:5555", "localhost:8080"
	if w := do(h, r); w.Code != 204 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	sameEvent(t, "testdata/event.json", event)
	if !bytes.Contains(event, []byte(`<ü>`)) {
		t.Error("the body was escaped for HTML")
	}
}

func TestBodyEncoding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		contentType, body string
		base64            bool
	}{
		{"application/json", `{}`, false},
		{"application/json; charset=utf-8", `{}`, false},
		{"APPLICATION/JSON", `{}`, false},
		{"text/plain", "x", false},
		{"application/problem+json", "{}", false},
		{"application/xml", "<a/>", false},
		{"application/x-www-form-urlencoded", "a=b", true},
		{"application/octet-stream", "\x00\x01", true},
		{"", "x", true},
		{"text/plain", "\xff\xfe", true},
		{"application/json; =", "{}", false},
		{"no type at all", "{}", true},
	} {
		t.Run(test.contentType+test.body, func(t *testing.T) {
			t.Parallel()
			var event struct {
				Body            string
				IsBase64Encoded bool
			}
			h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "$default"}}}, apigateway.Options{
				Invoker: invoker(func(_ context.Context, _ string, payload []byte) (lambda.Result, error) {
					return lambda.Result{Payload: []byte(`"ok"`)}, json.Unmarshal(payload, &event)
				}),
			})
			r := request("POST", "/", test.body)
			r.Header["Content-Type"] = []string{test.contentType}
			do(h, r)
			want := test.body
			if test.base64 {
				want = base64.StdEncoding.EncodeToString([]byte(test.body))
			}
			if event.Body != want || event.IsBase64Encoded != test.base64 {
				t.Errorf("got %q, %v", event.Body, event.IsBase64Encoded)
			}
		})
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	const internal = `{"message":"Internal Server Error"}`
	for name, test := range map[string]struct {
		payload string
		status  int
		body    string
		header  http.Header
	}{
		"Full": {
			`{"statusCode":201,"headers":{"x-a":"b","Content-Type":"text/csv"},"cookies":["a=1","b=2"],"body":"x"}`,
			201, "x", http.Header{"X-A": {"b"}, "Content-Type": {"text/csv"}, "Set-Cookie": {"a=1", "b=2"}}},
		"Base64":       {`{"statusCode":200,"body":"AAE=","isBase64Encoded":true}`, 200, "\x00\x01", nil},
		"InferredText": {`"Hello"`, 200, "Hello", http.Header{"Content-Type": {"application/json"}}},
		"InferredObject": {`{"message":"Hello"}`, 200, `{"message":"Hello"}`,
			http.Header{"Content-Type": {"application/json"}}},
		"InferredNull":    {`null`, 200, `null`, nil},
		"NoBody":          {`{"statusCode":204}`, 204, "", nil},
		"NumberHeader":    {`{"statusCode":200,"headers":{"x-n":3}}`, 200, "", http.Header{"X-N": {"3"}}},
		"StatusText":      {`{"statusCode":"200","body":"x"}`, 200, "x", nil},
		"ErrStatus":       {`{"statusCode":99}`, 500, internal, nil},
		"ErrStatusType":   {`{"statusCode":{}}`, 500, internal, nil},
		"ErrNoJSON":       {`<html>`, 500, internal, nil},
		"ErrEmpty":        {``, 500, internal, nil},
		"ErrBase64":       {`{"statusCode":200,"body":"§","isBase64Encoded":true}`, 500, internal, nil},
		"ErrHeaderObject": {`{"statusCode":200,"headers":{"a":{}}}`, 500, internal, nil},
		"ErrHeaderSplit":  {`{"statusCode":200,"headers":{"a":"b\r\nc: d"}}`, 500, internal, nil},
		"ErrHeaderName":   {`{"statusCode":200,"headers":{"a b":"c"}}`, 500, internal, nil},
		"ErrBodyType":     {`{"statusCode":200,"body":{}}`, 500, internal, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "$default"}}},
				apigateway.Options{Invoker: answering(test.payload)})
			w := do(h, request("GET", "/", ""))
			if w.Code != test.status || w.Body.String() != test.body {
				t.Errorf("got %d %q", w.Code, w.Body)
			}
			for name, values := range test.header {
				if diff := cmp.Diff(values, w.Result().Header.Values(name)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			if w.Header().Get("Apigw-Requestid") == "" {
				t.Error("no request id")
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	failing := func(err error) invoker {
		return func(ctx context.Context, _ string, _ []byte) (lambda.Result, error) { return lambda.Result{}, err }
	}
	slow := invoker(func(ctx context.Context, _ string, _ []byte) (lambda.Result, error) {
		<-ctx.Done()
		return lambda.Result{}, ctx.Err()
	})
	for name, test := range map[string]struct {
		route   apigateway.Route
		invoker apigateway.Invoker
		request *http.Request
		status  int
		message string
	}{
		"NotFound": {apigateway.Route{Key: "GET /a"}, nil, request("GET", "/b", ""), 404, "Not Found"},
		"Method":   {apigateway.Route{Key: "GET /a"}, nil, request("POST", "/a", ""), 404, "Not Found"},
		"FunctionError": {apigateway.Route{Key: "$default"},
			invoker(func(context.Context, string, []byte) (lambda.Result, error) {
				return lambda.Result{FunctionError: "Unhandled", Payload: []byte(`{"errorMessage":"secret"}`)}, nil
			}), request("GET", "/", ""), 500, "Internal Server Error"},
		"Throttled": {apigateway.Route{Key: "$default"}, failing(lambda.ErrThrottled), request("GET", "/", ""), 503,
			"Service Unavailable"},
		"Timeout": {apigateway.Route{Key: "$default", Timeout: time.Millisecond}, slow, request("GET", "/", ""),
			503, "Service Unavailable"},
		"BodyTooLarge": {apigateway.Route{Key: "$default"}, nil,
			request("POST", "/", strings.Repeat("x", apigateway.MaxBody+1)), 413, "Request Entity Too Large"},
		"EventTooLarge": {apigateway.Route{Key: "$default"}, nil,
			request("POST", "/", strings.Repeat("x", lambda.MaxPayload)), 413, "Request Entity Too Large"},
		"Headers": {apigateway.Route{Key: "$default"}, nil,
			request("GET", "/", "", "X-Long", strings.Repeat("x", apigateway.MaxHeaders)), 431,
			"Request Header Fields Too Large"},
		"NoPermission": {apigateway.Route{Key: "$default", Refused: "no AWS::Lambda::Permission"}, nil,
			request("GET", "/", ""), 500, "Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := serve(t, apigateway.API{Routes: []apigateway.Route{test.route}},
				apigateway.Options{Invoker: test.invoker})
			w := do(h, test.request)
			if w.Code != test.status || w.Body.String() != `{"message":"`+test.message+`"}` {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
	t.Run("ChunkedBodyTooLarge", func(t *testing.T) {
		t.Parallel()
		h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "$default"}}}, apigateway.Options{})
		r := httptest.NewRequest("POST", "/", io.LimitReader(zeros{}, apigateway.MaxBody+1))
		r.ContentLength = -1
		if w := do(h, r); w.Code != 413 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// The trace of a request has what was sent and answered, also if the API refuses the request before it needs the body.
func TestTraceHasTheExchange(t *testing.T) {
	t.Parallel()
	recorder := trace.New(trace.Options{})
	server := httptest.NewServer(serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "POST /a", Function: "f"}}},
		apigateway.Options{Trace: recorder,
			Invoker: answering(`{"statusCode":422,"headers":{"x-a":"b"},"body":"{\"code\":\"BAD\"}"}`)}))
	t.Cleanup(server.Close)
	sized := func() io.Reader { return strings.NewReader(`{"b":1}`) }
	for path, want := range map[string]struct {
		body               io.Reader
		sent, answer, code string
		bytes              int
	}{
		"/a":    {sized(), `{"b":1}`, `{"code":"BAD"}`, "BAD", 14},
		"/none": {sized(), `{"b":1}`, `{"message":"Not Found"}`, "", 23},
		// What the API does not read is not whole.
		"/chunked": {io.MultiReader(sized()), "", `{"message":"Not Found"}`, "", 23},
	} {
		response := must.Get(http.Post(server.URL+path, "application/json", want.body))(t)
		_ = response.Body.Close()
		// The end is noted right after the answer.
		var details trace.Details
		wait.Until(t, "the request ends", func() (any, bool) {
			details, _ = recorder.Request(response.Header.Get("Apigw-Requestid"))
			return details, !details.Running
		})
		if details.Sent.Body != want.sent || details.Sent.Cut != (want.sent == "") ||
			details.Sent.Headers.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: got %+v", path, details.Sent)
		}
		if details.Answer.Body != want.answer || details.Answer.Bytes != want.bytes ||
			details.Failure.Code != want.code || path == "/a" && details.Answer.Headers.Get("X-A") != "b" {
			t.Errorf("%s: got %+v %+v", path, details.Answer, details.Failure)
		}
	}
}

func TestNamedStage(t *testing.T) {
	t.Parallel()
	h := serve(t, apigateway.API{Stage: "dev", Routes: []apigateway.Route{{Key: "GET /a"}, {Key: "GET /"}}},
		apigateway.Options{Invoker: invoker(naming)})
	for path, want := range map[string]string{"/dev/a": "GET /a map[]", "/dev": "GET / map[]",
		"/a": `{"message":"Not Found"}`, "/devil": `{"message":"Not Found"}`} {
		if got := do(h, request("GET", path, "")).Body.String(); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// A base path of a domain name leads to the routes, the longest that matches, and is not in the event. Where the
// default endpoint is off, no other address does.
func TestBasePaths(t *testing.T) {
	t.Parallel()
	paths := invoker(func(_ context.Context, _ string, payload []byte) (lambda.Result, error) {
		var event struct {
			RouteKey, RawPath string
			RequestContext    struct {
				Stage string
				HTTP  struct{ Path string }
			}
		}
		if err := json.Unmarshal(payload, &event); err != nil {
			return lambda.Result{}, err
		}
		body, err := json.Marshal(fmt.Sprint(event.RouteKey, " ", event.RawPath, " ", event.RequestContext.HTTP.Path))
		return lambda.Result{Payload: body}, err
	})
	const none = `{"message":"Not Found"}`
	for _, test := range []struct {
		stage, path, want string
		onlyMapped        bool
		// traced is the path that the console sends again, to an address that ends with a base path.
		traced string
	}{
		{"$default", "/team/a/x", "GET /a/{b} /a/x /a/x", true, "/a/x"},
		{"$default", "/team/v1/a/x", "GET /a/{b} /a/x /a/x", true, "/a/x"},
		{"$default", "/team", "GET / / /", true, "/"},
		{"$default", "/team/", "GET / / /", true, "/"},
		{"$default", "/teams/a/x", none, true, "/teams/a/x"},
		{"$default", "/a/x", none, true, "/a/x"},
		{"$default", "/team%3F/a/x", none, true, "/team%3F/a/x"},
		{"$default", "/a/x", "GET /a/{b} /a/x /a/x", false, "/a/x"},
		{"$default", "/team/a/%3F%2541", "GET /a/{b} /a/?%41 /a/?%41", false, "/a/%3F%2541"},
		{"dev", "/team/a/x", "GET /a/{b} /dev/a/x /dev/a/x", true, "/a/x"},
		{"dev", "/dev/a/x", none, true, "/dev/a/x"},
		{"dev", "/dev/a/x", "GET /a/{b} /dev/a/x /dev/a/x", false, "/a/x"},
		{"dev", "/a/x", none, false, "/a/x"},
	} {
		api := apigateway.API{ID: "abc123", Name: "test", Stage: test.stage, BasePaths: []string{"team", "team/v1"},
			OnlyMapped: test.onlyMapped, Routes: []apigateway.Route{{Key: "GET /a/{b}"}, {Key: "GET /"}}}
		recorder := trace.New(trace.Options{})
		h := serve(t, api, apigateway.Options{Invoker: paths, Trace: recorder})
		if got := do(h, request("GET", test.path, "")).Body.String(); got != test.want {
			t.Errorf("%+v: got %s", test, got)
		}
		if traced, _ := recorder.Requests(trace.Search{}); len(traced) != 1 || traced[0].Path != test.traced {
			t.Errorf("%+v: traced %+v", test, traced)
		}
	}
}

func TestThrottle(t *testing.T) {
	t.Parallel()
	now := clock
	h := serve(t, apigateway.API{
		Routes:          []apigateway.Route{{Key: "GET /a"}, {Key: "GET /b"}, {Key: "GET /c"}},
		DefaultThrottle: apigateway.Throttle{Rate: 1, Burst: 2},
		RouteThrottles:  map[string]apigateway.Throttle{"GET /b": {Rate: 1, Burst: 5}},
	}, apigateway.Options{Invoker: answering(`"ok"`), Now: func() time.Time { return now }})
	count := func(path string) (passed int) {
		for range 10 {
			switch w := do(h, request("GET", path, "")); w.Code {
			case 200:
				passed++
			case 429:
				if w.Body.String() != `{"message":"Too Many Requests"}` {
					t.Errorf("got %s", w.Body)
				}
			default:
				t.Errorf("got %d", w.Code)
			}
		}
		return passed
	}
	if a, b, c := count("/a"), count("/b"), count("/c"); a != 2 || b != 5 || c != 2 {
		t.Errorf("passed %d, %d, %d", a, b, c)
	}
	now = now.Add(time.Second)
	if a := count("/a"); a != 1 {
		t.Errorf("after a second %d passed", a)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	api := apigateway.API{
		Routes: []apigateway.Route{{Key: "GET /a"}},
		CORS: &apigateway.CORS{AllowOrigins: []string{"https://app.example", "http://*"},
			AllowMethods: []string{"GET", "PUT"}, AllowHeaders: []string{"X-A", "X-B"}, ExposeHeaders: []string{"X-C"},
			MaxAge: 60, AllowCredentials: true},
	}
	h := serve(t, api, apigateway.Options{Invoker: answering(
		`{"statusCode":200,"headers":{"Access-Control-Allow-Origin":"https://evil.example"},"body":""}`)})
	t.Run("Preflight", func(t *testing.T) {
		w := do(h, request("OPTIONS", "/anything", "", "Origin", "https://app.example", "Access-Control-Request-Method",
			"PUT"))
		want := map[string]string{
			"Access-Control-Allow-Origin": "https://app.example", "Access-Control-Allow-Methods": "GET,PUT",
			"Access-Control-Allow-Headers": "x-a,x-b",
			"Access-Control-Max-Age":       "60", "Access-Control-Allow-Credentials": "true",
		}
		for name, value := range want {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s: got %q, want %q", name, got, value)
			}
		}
		if w.Code != 204 {
			t.Errorf("got %d", w.Code)
		}
	})
	for name, origin := range map[string]string{"Foreign": "https://evil.example",
		"Suffix": "https://app.example.evil"} {
		t.Run("Preflight"+name, func(t *testing.T) {
			w := do(h, request("OPTIONS", "/a", "", "Origin", origin, "Access-Control-Request-Method", "GET"))
			if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("got %d %v", w.Code, w.Header())
			}
		})
	}
	t.Run("Actual", func(t *testing.T) {
		w := do(h, request("GET", "/a", "", "Origin", "http://localhost:3000"))
		if w.Header().Get("Access-Control-Allow-Origin") != "http://localhost:3000" ||
			w.Header().Get("Access-Control-Expose-Headers") != "X-C" {
			t.Errorf("got %v", w.Header())
		}
	})
	t.Run("ActualForeign", func(t *testing.T) {
		w := do(h, request("GET", "/a", "", "Origin", "https://evil.example"))
		if got := w.Header().Values("Access-Control-Allow-Origin"); w.Code != 200 || len(got) != 0 {
			t.Errorf("got %d %v", w.Code, got)
		}
	})
	t.Run("ErrorsToo", func(t *testing.T) {
		w := do(h, request("GET", "/none", "", "Origin", "https://app.example"))
		if w.Code != 404 || w.Header().Get("Access-Control-Allow-Origin") != "https://app.example" {
			t.Errorf("got %d %v", w.Code, w.Header())
		}
	})
	// A route that takes OPTIONS gets preflights as well, with its authorizer.
	t.Run("PreflightOfRoute", func(t *testing.T) {
		for key, want := range map[string]int{"$default": 405, "ANY /a": 405, "OPTIONS /{proxy+}": 405, "GET /a": 204,
			"ANY /b": 204} {
			for _, guarded := range []bool{false, true} {
				api := apigateway.API{CORS: api.CORS, Routes: []apigateway.Route{{Key: key}}}
				want := want
				if guarded {
					api.Routes[0].Authorizer = &apigateway.Authorizer{}
					if want == 405 {
						want = 401
					}
				}
				h := serve(t, api, apigateway.Options{
					Invoker: answering(
						`{"statusCode":405,"headers":{"Access-Control-Allow-Origin":"https://evil.example"},"body":""}`)})
				w := do(h, request("OPTIONS", "/a", "", "Origin", "https://app.example",
					"Access-Control-Request-Method", "GET"))
				if origin := w.Header().Get("Access-Control-Allow-Origin"); w.Code != want ||
					origin != "https://app.example" {
					t.Errorf("%s, guarded %v: got %d for %q, want %d", key, guarded, w.Code, origin, want)
				}
			}
		}
	})
	t.Run("NoConfiguration", func(t *testing.T) {
		h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "GET /a"}}},
			apigateway.Options{Invoker: answering(`{"statusCode":200,"headers":{"Access-Control-Allow-Origin":"*"}}`)})
		if w := do(h, request("GET", "/a", "", "Origin", "https://x.example")); w.Header().Get(
			"Access-Control-Allow-Origin") != "*" {
			t.Errorf("got %v", w.Header())
		}
		if w := do(h, request("OPTIONS", "/a", "", "Origin", "https://x.example", "Access-Control-Request-Method",
			"GET")); w.Code != 404 {
			t.Errorf("got %d", w.Code)
		}
	})
}

// Without CORS, functions decide by the routes that take OPTIONS. An origin that the browser does not tell needs that
// all are allowed.
func TestAllows(t *testing.T) {
	t.Parallel()
	one, all := &apigateway.CORS{AllowOrigins: []string{"https://app.example"}},
		&apigateway.CORS{AllowOrigins: []string{"*"}}
	for name, test := range map[string]struct {
		cors        *apigateway.CORS
		key, origin string
		want        bool
	}{
		"Allowed":      {one, "GET /a", "https://app.example", true},
		"Foreign":      {one, "GET /a", "https://evil.example", false},
		"ForeignTaken": {one, "ANY /a", "https://evil.example", false},
		"Opaque":       {one, "GET /a", "null", false},
		"Untold":       {one, "GET /a", "", false},
		"All":          {all, "GET /a", "https://evil.example", true},
		"AllUntold":    {all, "GET /a", "", true},
		"NoCORS":       {nil, "GET /a", "https://app.example", false},
		"OtherRoute":   {nil, "OPTIONS /b", "https://app.example", false},
		"OwnRoute":     {nil, "OPTIONS /{proxy+}", "https://app.example", true},
		"Any":          {nil, "ANY /a", "", true},
		"Default":      {nil, "$default", "https://app.example", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := must.Get(apigateway.New(apigateway.API{CORS: test.cors, Routes: []apigateway.Route{{Key: test.key}}},
				apigateway.Options{}))(t)
			if got := g.Allows(request("GET", "/a", ""), test.origin); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	var line string
	h := serve(t, apigateway.API{Routes: []apigateway.Route{{Key: "GET /a"}},
		AccessLogFormat: `{"ip":"$context.identity.sourceIp","t":"$context.requestTime","m":"$context.httpMethod $context.path","r":"$context.routeKey","s":$context.status,"l":$context.responseLength,"ua":"$context.identity.userAgent","x":"$context.unknown","sub":"$context.authorizer.claims.sub"}`},
		apigateway.Options{Invoker: answering(`"four"`), AccessLog: func(s string) { line = s }})
	do(h, request("GET", "/a", "", "User-Agent", `x"y`))
	want := `{"ip":"192.0.2.1","t":"09/Mar/2026:10:11:12 +0000","m":"GET /a","r":"GET /a","s":200,"l":4,"ua":"x\"y","x":"-","sub":"-"}`
	if line != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
	do(h, request("GET", "/none", ""))
	if !strings.Contains(line, `"r":"-","s":404`) {
		t.Errorf("got %s", line)
	}
}

func TestSourceARN(t *testing.T) {
	t.Parallel()
	api := apigateway.API{ID: "id", Region: "r", Account: "a"}
	for key, want := range map[string]string{
		"GET /x/{id}": "arn:aws:execute-api:r:a:id/$default/GET/x/{id}",
		"$default":    "arn:aws:execute-api:r:a:id/$default/$default",
	} {
		if got := api.SourceARN(key); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

func TestAuthorizer(t *testing.T) {
	t.Parallel()
	const issuer = "https://issuer.example"
	minter := apigateway.NewIssuer("")
	stranger := apigateway.NewIssuer("")
	now := time.Now()
	var authorizer json.RawMessage
	authorised := &apigateway.Authorizer{Issuer: issuer, AlsoIssuer: apigateway.RunIssuer, Audience: []string{"api"},
		Keys: minter}
	h := serve(t, apigateway.API{Routes: []apigateway.Route{
		{Key: "GET /a", Authorizer: authorised},
		{Key: "GET /scoped", Authorizer: authorised, Scopes: []string{"ask", "poll"}},
		{Key: "GET /query", Authorizer: &apigateway.Authorizer{Issuer: issuer, Audience: []string{"api"}, Keys: minter,
			IdentitySource: "$request.querystring.token"}},
	}}, apigateway.Options{Now: time.Now, Invoker: invoker(
		func(_ context.Context, _ string, payload []byte) (lambda.Result, error) {
			var event struct {
				RequestContext struct{ Authorizer json.RawMessage }
			}
			err := json.Unmarshal(payload, &event)
			authorizer = event.RequestContext.Authorizer
			return lambda.Result{Payload: []byte(`"in"`)}, err
		})})
	mint := func(i *apigateway.Issuer, change func(*apigateway.Request)) string {
		r := apigateway.Request{Issuer: issuer, Subject: "alice", Audience: []string{"api"}}
		if change != nil {
			change(&r)
		}
		return must.Get(i.Mint(r))(t)
	}
	good := mint(minter, nil)
	parts := strings.Split(good, ".")
	var header map[string]any
	decoded := must.Get(base64.RawURLEncoding.DecodeString(parts[0]))(t)
	must.OK(t, json.Unmarshal(decoded, &header))
	keys := must.Get(minter.JWKS())(t)
	publicKey := must.Get(minter.PublicKey(issuer, header["kid"].(string)))(t)
	claims := jwt.MapClaims{"iss": issuer, "sub": "alice", "aud": "api", "exp": now.Add(time.Hour).Unix()}
	sign := func(method jwt.SigningMethod, key any, kid any) string {
		token := jwt.NewWithClaims(method, claims)
		if kid != nil {
			token.Header["kid"] = kid
		}
		return must.Get(token.SignedString(key))(t)
	}
	other := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	tampered := base64.RawURLEncoding.EncodeToString(
		bytes.Replace(must.Get(base64.RawURLEncoding.DecodeString(parts[1]))(t), []byte("alice"), []byte("mallory"), 1))

	for name, test := range map[string]struct {
		path, token string
		status      int
	}{
		"OK":            {"/a", "Bearer " + good, 200},
		"OKBare":        {"/a", good, 200},
		"OKLowerBearer": {"/a", "bearer " + good, 200},
		"OKClientID": {"/a", mint(minter, func(r *apigateway.Request) {
			r.Audience = nil
			r.Claims = map[string]any{"client_id": "api"}
		}), 200},
		"OKManyAud": {"/a", mint(minter, func(r *apigateway.Request) {
			r.Claims = map[string]any{"aud": []string{"x", "api"}}
		}), 200},
		"OKScope": {"/scoped", mint(minter, func(r *apigateway.Request) { r.Scope = "other poll" }), 200},
		"OKScp": {"/scoped", mint(minter, func(r *apigateway.Request) {
			r.Claims = map[string]any{"scp": []string{"ask"}}
		}), 200},
		"NoToken":  {"/a", "", 401},
		"Garbage":  {"/a", "Bearer x.y.z", 401},
		"Expired":  {"/a", mint(minter, func(r *apigateway.Request) { r.Lifetime = -time.Minute }), 401},
		"NoExpiry": {"/a", mint(minter, func(r *apigateway.Request) { r.Claims = map[string]any{"exp": nil} }), 401},
		"NotBefore": {"/a", mint(minter, func(r *apigateway.Request) {
			r.Claims = map[string]any{"nbf": now.Add(time.Hour).Unix()}
		}), 401},
		"IssuedLater": {"/a", mint(minter, func(r *apigateway.Request) {
			r.Claims = map[string]any{"iat": now.Add(time.Hour).Unix()}
		}), 401},
		"Audience":   {"/a", mint(minter, func(r *apigateway.Request) { r.Audience = []string{"other"} }), 401},
		"NoAudience": {"/a", mint(minter, func(r *apigateway.Request) { r.Audience = nil }), 401},
		"AudBeatsID": {"/a", mint(minter, func(r *apigateway.Request) {
			r.Audience = []string{"other"}
			r.Claims = map[string]any{"client_id": "api"}
		}), 401},
		"OKRunIssuer": {"/a", mint(minter, func(r *apigateway.Request) {
			r.Issuer, r.Audience = apigateway.RunIssuer, []string{"other", "api"}
		}), 200},
		"RunIssuerNotTaken": {"/query?token=" +
			mint(minter, func(r *apigateway.Request) { r.Issuer = apigateway.RunIssuer }), "", 401},
		"NoIssuer":     {"/a", mint(minter, func(r *apigateway.Request) { r.Issuer = "" }), 401},
		"Issuer":       {"/a", mint(minter, func(r *apigateway.Request) { r.Issuer = issuer + "/" }), 401},
		"OtherKey":     {"/a", mint(stranger, nil), 401},
		"OtherKeyID":   {"/a", sign(jwt.SigningMethodRS256, other, "kid"), 401},
		"StolenKeyID":  {"/a", sign(jwt.SigningMethodRS256, other, header["kid"]), 401},
		"NoKeyID":      {"/a", sign(jwt.SigningMethodRS256, other, nil), 401},
		"None":         {"/a", sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header["kid"]), 401},
		"HMACOfPublic": {"/a", sign(jwt.SigningMethodHS256, []byte(fmt.Sprint(publicKey, keys)), header["kid"]), 401},
		"Unsigned":     {"/a", parts[0] + "." + parts[1] + ".", 401},
		"Tampered":     {"/a", parts[0] + "." + tampered + "." + parts[2], 401},
		"NoScope":      {"/scoped", good, 403},
		"WrongScope":   {"/scoped", mint(minter, func(r *apigateway.Request) { r.Scope = "asks" }), 403},
	} {
		t.Run(name, func(t *testing.T) {
			r := request("GET", test.path, "")
			if test.token != "" {
				r.Header.Set("Authorization", test.token)
			}
			w := do(h, r)
			if w.Code != test.status {
				t.Errorf("got %d %s %s", w.Code, w.Body, w.Header().Get("Www-Authenticate"))
			}
			if want := map[int]string{401: `{"message":"Unauthorized"}`, 403: `{"message":"Forbidden"}`,
				200: "in"}[test.status]; w.Body.String() != want {
				t.Errorf("got %s", w.Body)
			}
			if test.status != 200 && w.Header().Get("Www-Authenticate") == "" {
				t.Error("no challenge")
			}
		})
	}
	if w := do(h, request("GET", "/query?token="+good, "")); w.Code != 200 {
		t.Errorf("token in query: got %d", w.Code)
	}
	t.Run("Claims", func(t *testing.T) {
		r := request("GET", "/scoped", "", "Authorization", mint(minter, func(r *apigateway.Request) {
			r.Claims = map[string]any{
				"exp": int64(1999999999), "iat": 1, "jti": "j", "scope": "ask", "groups": []string{"a", "b"},
				"ok": true, "none": nil,
				"nested": map[string]any{"b": []any{1, "c d"}, "a": 1.5}, "texts": "[x] y",
			}
		}))
		do(h, r)
		want := `{"jwt":{"claims":{"aud":"api","exp":"1999999999","groups":"[a b]","iat":"1","iss":"https://issuer.example","jti":"j","nested":"map[a:1.5 b:[1 c d]]","ok":"true","scope":"ask","sub":"alice","texts":"[x] y"},"scopes":["ask"]}}`
		if string(authorizer) != want {
			t.Errorf("got %s", authorizer)
		}
	})
}

func TestIssuerKeepsItsKey(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := must.Get(apigateway.NewIssuer(folder).JWKS())(t)
	second := must.Get(apigateway.NewIssuer(folder).JWKS())(t)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

// FuzzServe checks that no request makes the gateway fail: it answers with its own status or the function's.
func FuzzServe(f *testing.F) {
	f.Add("GET", "/a/b", "x=1", "application/json", "{}", "a=b")
	f.Add("POST", "//", "%zz&=&", "text/ü", "\xff", ";;")
	f.Add("OPTIONS", "/{id}", "", "", "", "")
	h := serve(f, apigateway.API{Routes: []apigateway.Route{{Key: "ANY /a/{id}"}, {Key: "POST /{proxy+}"}},
		CORS: &apigateway.CORS{AllowOrigins: []string{"*"}}}, apigateway.Options{
		Invoker: invoker(func(_ context.Context, _ string, payload []byte) (lambda.Result, error) {
			if !json.Valid(payload) {
				f.Errorf("event is not JSON: %q", payload)
			}
			return lambda.Result{Payload: []byte(`{"statusCode":200,"body":"ok"}`)}, nil
		}),
	})
	f.Fuzz(func(t *testing.T, method, path, query, contentType, body, cookie string) {
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method, r.URL.Path, r.URL.RawQuery = method, path, query
		r.Header["Content-Type"], r.Header["Cookie"], r.Header["Origin"] = []string{contentType}, []string{cookie},
			[]string{"https://x.example"}
		if w := do(h, r); w.Code >= 500 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

func BenchmarkGateway(b *testing.B) {
	h := serve(b, apigateway.API{Routes: []apigateway.Route{{Key: "GET /a/{id}"}}},
		apigateway.Options{
			Invoker: answering(`{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`)})
	b.ReportAllocs()
	for b.Loop() {
		do(h, request("GET", "/a/1?x=1", "", "X-A", "b"))
	}
}
