package httpapitest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Suite checks that the API of a function carries out a good request, and answers each error as its OpenAPI document
// describes, on every route. It makes the requests from the document's examples. A [Script] checks the answers in
// detail. Package httpapi tests what it refuses itself, for every API.
type Suite struct {
	// Platform has the routes.
	Platform schema.Platform
	// Function is the function whose routes are called. Empty: all.
	Function string
	// Document is the OpenAPI document, as JSON.
	Document []byte
	// API returns the API with those idempotency keys. An API without such keys ignores them.
	API func(keys idempotency.Claims, log *slog.Logger) *kit.API
	// CarriedOut makes the suite run the operations themselves, because they refuse more than their forms do. What each
	// needs, such as its tables, then calls [Work] and returns its error. Default: the suite answers in their place,
	// with an error or with the example of the form of success.
	CarriedOut bool
	// Adapt changes the body of a good request, for a service that knows only its own items and would answer 404 to the
	// longest id. Nil: bodies stay as they are.
	Adapt func(body string) string
	// Errors are errors that the service may return: those of [KitErrors], each with values of its own, and each whose
	// answer is not kept.
	Errors []ServiceError
}

// ServiceError is an error that an operation may return.
type ServiceError struct {
	Err error
	// Status is the status of the answer.
	Status int
	// Passing says that the idempotency key of the request does not keep the answer.
	Passing bool
}

// KitErrors returns errors of the kit that the operations of every service may return, with the statuses of
// [httpapi.Errors], and one that stands for all that a platform declares by [problem.New].
func KitErrors() []ServiceError {
	return []ServiceError{
		{Err: problem.New(http.StatusGone, "GONE", "it is gone"), Status: http.StatusGone},
		{Err: idempotency.ErrClaimLost, Status: http.StatusConflict, Passing: true},
		{Err: retry.ErrBusy, Status: http.StatusServiceUnavailable, Passing: true},
		{Err: retry.ErrUnanswered, Status: http.StatusServiceUnavailable, Passing: true},
		{Err: retry.ErrStale, Status: http.StatusServiceUnavailable, Passing: true},
		{Err: context.DeadlineExceeded, Status: http.StatusServiceUnavailable, Passing: true},
	}
}

// calls are good requests of every operation.
func (s Suite) calls(t testing.TB, d Document) (calls []call) {
	t.Helper()
	for _, route := range s.Platform.Operations() {
		if s.Function != "" && route.Function != s.Function {
			continue
		}
		operation, ok := d.Paths[route.Path][strings.ToLower(route.Method)]
		if !ok {
			t.Fatalf("the document has no %s", route.Key())
		}
		c := call{Operation: operation, method: route.Method, path: route.Path,
			group: route.Caller.Group, header: http.Header{}}
		for _, p := range operation.Parameters {
			example := fmt.Sprint(d.example(p.Schema))
			if p.Example != nil {
				example = fmt.Sprint(p.Example)
			}
			switch {
			case p.In == "path":
				c.path = strings.ReplaceAll(c.path, "{"+p.Name+"}", url.PathEscape(example))
			case p.In == "query" && p.Required:
				c.query = url.Values{p.Name: {example}}
			case p.In == "header" && p.Name == schema.KeyHeader:
				c.header.Set(p.Name, rand.Text())
			case p.In == "header" && p.Required:
				c.header.Set(p.Name, example)
			}
		}
		content, hasBody := operation.RequestBody.Content["application/json"]
		if !hasBody {
			calls = append(calls, c)
			continue
		}
		c.header.Set("Content-Type", "application/json")
		variants := asList(content.Schema["oneOf"])
		if len(variants) == 0 {
			variants = []any{content.Schema}
		}
		for _, variant := range variants {
			form, _ := variant.(map[string]any)
			c.body = asJSON(d.example(form))
			if s.Adapt != nil {
				c.body = s.Adapt(c.body)
			}
			calls = append(calls, c)
		}
	}
	return calls
}

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	t.Parallel()
	d := Parse(t, s.Document)
	calls := s.calls(t, d)
	for name, test := range map[string]func(*testing.T, *run, call){
		"Success": s.testSuccess, "Errors": s.testErrors, "Panic": s.testPanic, "Log": s.testLog,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := s.serve(d)
			for _, c := range calls {
				test(t, api, c)
			}
		})
	}
}

// A good request is carried out once, and answered as described; the answer to a mutation
// is kept as it is given. The document is served as it is.
func (s Suite) testSuccess(t *testing.T, api *run, c call) {
	w := api.do(c, good)
	if w.Code >= 300 || api.calls > 1 || c.isOnce() &&
		(api.Begun != 1 || api.Settled != 1 || api.Last.Status != w.Code || string(api.Last.Body) != w.Body.String()) {
		t.Errorf("%s: got %d %.300s after %d calls; kept %d times %+v", c, w.Code, w.Body, api.calls, api.Settled,
			api.Last)
	}
	api.IsKept(t, c.request(), w)
	if strings.HasSuffix(c.path, "/openapi.json") && !bytes.Equal(w.Body.Bytes(), s.Document) {
		t.Errorf("%s: got %d %.300s; want the document", c, w.Code, w.Body)
	}
}

// Every error has its status, on every route. An error that a retry would meet again is kept; an
// error that may pass is not. An unforeseen error is not kept either, nor revealed to the caller.
func (s Suite) testErrors(t *testing.T, api *run, c call) {
	errs := append([]ServiceError{{Err: errors.New("a secret"), Status: http.StatusInternalServerError, Passing: true}},
		s.Errors...)
	for _, test := range errs {
		// A request waits for a read that the one before it began and left, where an instance has one read for both.
		api := s.serve(api.Document)
		w := api.do(c, func() error { return fmt.Errorf("doing it: %w", test.Err) })
		if api.calls == 0 {
			continue // The operation needs no service.
		}
		if w.Code != test.Status || !json.Valid(w.Body.Bytes()) || strings.Contains(w.Body.String(), "secret") ||
			strings.Contains(w.Body.String(), "doing it") {
			t.Errorf("%s, %v: got %d %s; want %d", c, test.Err, w.Code, w.Body, test.Status)
		}
		if logged := strings.Contains(api.log.String(), "doing it: "); logged != (w.Code >= 500) {
			t.Errorf("%s, %v: logged %s", c, test.Err, &api.log)
		}
		if retry := w.Header().Get("Retry-After"); retry == "" && w.Code == http.StatusServiceUnavailable ||
			retry == "0" {
			t.Errorf("%s, %v: Retry-After is %q", c, test.Err, retry)
		}
		if w.Header().Get("ETag")+w.Header().Get("Location") != "" {
			t.Errorf("%s, %v: an error has the headers %v", c, test.Err, w.Header())
		}
		settled, released := 0, 0
		switch {
		case api.Begun == 1 && test.Passing:
			released = 1
		case api.Begun == 1:
			settled = 1
		}
		if api.Settled != settled || api.Released != released ||
			settled == 1 && string(api.Last.Body) != w.Body.String() {
			t.Errorf("%s, %v: kept %d times %+v, released %d times", c, test.Err, api.Settled, api.Last, api.Released)
		}
	}
}

// A panic is an error that is not revealed to the caller. Its claim stays until the lease ends,
// because the work may or may not be done.
func (s Suite) testPanic(t *testing.T, api *run, c call) {
	w := api.do(c, func() error { panic("a secret") })
	if api.calls > 0 && (w.Code != http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) ||
		strings.Contains(w.Body.String(), "secret") || api.Settled+api.Released > 0) {
		t.Errorf("%s: got %d %s, kept %d, released %d", c, w.Code, w.Body, api.Settled, api.Released)
	}
}

// The log has a line for each request, and quotes nothing of what was sent.
func (s Suite) testLog(t *testing.T, api *run, c call) {
	const secret = "xyzzy"
	requests := []call{c, c, c, c}
	requests[0].query, requests[1].path = url.Values{secret: {secret}, "q": {secret}}, c.path+"?x=%zz"+secret
	for i, ifMatch := range []string{secret, `"` + secret + `"`} {
		requests[2+i].header = c.header.Clone()
		requests[2+i].header.Set("If-Match", ifMatch)
	}
	requests[3].header.Set(schema.KeyHeader, secret)
	for _, body := range []string{"{" + secret, `{"` + secret + `":"` + secret + `"}`,
		strings.ReplaceAll(c.body, `"`, secret+`"`)} {
		if c.body != "" {
			c.body = body
			requests = append(requests, c)
		}
	}
	for _, request := range requests {
		for _, err := range append([]ServiceError{{}, {Err: errors.New("no table")}}, s.Errors...) {
			api.do(request, func() error { return err.Err })
			if got := api.log.String(); !strings.Contains(got, `"request"`) || strings.Contains(got, secret) {
				t.Errorf("%s, %v: logged %s", request, err.Err, got)
			}
		}
	}
}

// Fuzz checks that the API answers every event that API Gateway might send as described, never with 500, and that an
// invalid request claims no key. Each event has the headers that operations need. more are seeds beside the good
// requests.
func (s Suite) Fuzz(f *testing.F, more ...string) {
	d := Parse(f, s.Document)
	needed := map[string]string{"host": "api.example.com"}
	for _, c := range s.calls(f, d) {
		for name := range c.header {
			needed[strings.ToLower(name)] = c.header.Get(name)
		}
		f.Add(c.method, c.path, "", "key", "content-type", "application/json", c.body, false)
		f.Add(c.method, c.path, "limit=99999999999999999999&status=&x=1&x=2&%zz", "clé", "if-match",
			`W/"1", "2",, "a,b"`, c.body, true)
		f.Add(c.method, c.path, "cursor=AQ&q=%F0%9F%AA%B4&audience=a&audience=b", strings.Repeat("k", 256),
			"x-timezone", "../zone", `{"":0,"a":{"b":1,"b":2}}`, false)
		f.Add(c.method, c.path, "", "key", "content-type", "text/plain", c.body, false)
	}
	for _, body := range more {
		f.Add("POST", s.Platform.Routes[0].Path, "", "key", "host", "", body, false)
	}
	f.Fuzz(func(t *testing.T, method, path, query, key, header, value, body string, encoded bool) {
		api := s.serve(d)
		api.work = good
		var groups []any
		for _, route := range s.Platform.Routes {
			groups = append(groups, route.Caller.Group)
		}
		claims := map[string]any{"sub": "caller", "cognito:groups": groups}
		event := events.APIGatewayV2HTTPRequest{
			Version: "2.0", RawPath: path, RawQueryString: query, Body: body, IsBase64Encoded: encoded,
			Headers: maps.Clone(needed),
		}
		token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(asJSON(claims))) + "."
		event.Headers["authorization"] = "Bearer " + token
		event.Headers[strings.ToLower(schema.KeyHeader)], event.Headers[header] = key, value
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.SourceIP = method, "203.0.113.7"
		event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{
				"sub": "caller", "cognito:groups": fmt.Sprint(groups)}},
		}
		address := &url.URL{Path: path}
		invocation := api.standIn(&http.Request{Method: method, URL: address})
		answer, err := kit.NewHTTPHandler(api.API).Invoke(invocation, []byte(asJSON(event)))
		if err != nil {
			t.Fatalf("the invocation failed: %v", err)
		}
		var response events.APIGatewayV2HTTPResponse
		must.OK(t, json.Unmarshal(answer, &response))
		if response.StatusCode >= 500 || response.StatusCode != http.StatusNoContent &&
			!json.Valid([]byte(response.Body)) {
			t.Errorf("got %+v", response)
		}
		if (response.StatusCode == 400 || response.StatusCode == 422) && api.Begun+api.calls != 0 {
			t.Errorf("%d claims and %d calls for %+v", api.Begun, api.calls, response)
		}
		w := httptest.NewRecorder()
		w.Code = response.StatusCode
		w.Body.WriteString(response.Body)
		d.IsKept(t, &http.Request{Method: method, URL: address}, w)
	})
}
