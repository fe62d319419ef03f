package httpapitest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Suite checks that the API of a function keeps the promises of all APIs of the kit, on every route
// that its OpenAPI document describes. It makes good requests from the document's examples, and bad
// ones from its limits. A [Script] checks the answers in detail.
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
		c := call{Operation: operation, method: route.Method, path: route.Path, subject: "caller",
			groups: []string{route.Caller.Group}, header: http.Header{}}
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
			c.form = d.resolved(form)
			c.body = asJSON(d.example(c.form))
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
	d.HasRoutes(t, s.Platform)
	calls := s.calls(t, d)
	for name, test := range map[string]func(*testing.T, *run, call){
		"Success": s.testSuccess, "Errors": s.testErrors, "Panic": s.testPanic, "Caller": s.testCaller,
		"Body": s.testBody, "Fields": s.testFields, "Query": s.testQuery, "Keys": s.testKeys, "IfMatch": s.testIfMatch,
		"Log": s.testLog,
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
		(api.begun != 1 || api.settled != 1 || api.last.Status != w.Code || string(api.last.Body) != w.Body.String()) {
		t.Errorf("%s: got %d %.300s after %d calls; kept %d times %d %.300s", c, w.Code, w.Body, api.calls, api.settled,
			api.last.Status, api.last.Body)
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
		case api.begun == 1 && test.Passing:
			released = 1
		case api.begun == 1:
			settled = 1
		}
		if api.settled != settled || api.released != released ||
			settled == 1 && string(api.last.Body) != w.Body.String() {
			t.Errorf("%s, %v: kept %d times %s, released %d times", c, test.Err, api.settled, api.last.Body,
				api.released)
		}
	}
}

// A panic is an error that is not revealed to the caller. Its claim stays until the lease ends,
// because the work may or may not be done.
func (s Suite) testPanic(t *testing.T, api *run, c call) {
	w := api.do(c, func() error { panic("a secret") })
	if api.calls > 0 && (w.Code != http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) ||
		strings.Contains(w.Body.String(), "secret") || api.settled+api.released > 0) {
		t.Errorf("%s: got %d %s, kept %d, released %d", c, w.Code, w.Body, api.settled, api.released)
	}
}

// Without a verified subject nothing is done where a token is needed, nor without the group where
// one is needed, also if more is wrong.
func (s Suite) testCaller(t *testing.T, api *run, c call) {
	_, needsToken := c.Responses["401"]
	bearer := slices.ContainsFunc(c.Security, func(by map[string][]string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(by)), func(name string) bool {
			scheme, _ := api.Components.SecuritySchemes[name].(map[string]any)
			return scheme["bearerFormat"] == "JWT"
		})
	})
	if bearer && !needsToken {
		t.Errorf("%s: 401 is not described", c)
	}
	if !bearer {
		return
	}
	for _, subject := range []string{"", strings.Repeat("s", 256)} {
		c.subject, c.body = subject, "{"
		api.refuses(t, c, "no token", "")
		if w := api.do(c, good); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: got %d %v", c, w.Code, w.Header())
		}
	}
	c.subject = "caller"
	group := c.groups[0]
	if group == "" {
		return
	}
	for _, other := range []string{"", "staff", group + "s", strings.ToUpper(group), "[" + group + "]",
		"staff " + group} {
		c.groups = []string{other}
		api.refuses(t, c, "the group "+other, "")
		if w := api.do(c, good); w.Code != http.StatusForbidden {
			t.Errorf("%s with the group %s: got %d", c, other, w.Code)
		}
	}
}

// A body that cannot be read is refused, and one that is too large.
func (s Suite) testBody(t *testing.T, api *run, c call) {
	if c.form == nil {
		return
	}
	for _, body := range []string{
		"", "{", c.body + "{}", "\xef\xbb\xbf" + c.body, "{\"x\":\"\xff\"}", "[]", "null", "7", `"x"`,
		c.body + strings.Repeat(" ", int(cmp.Or(api.MaxBodyBytes, problem.DefaultMaxBodyBytes))),
	} {
		api.refuses(t, c.sending(body), fmt.Sprintf("the body %.40q", body), "body")
	}
	for _, mediaType := range []string{"text/plain", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x"} {
		api.refuses(t, c.with("Content-Type", mediaType), mediaType, "Content-Type")
	}
	for _, mediaType := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		api.answers(t, c.with("Content-Type", mediaType), mediaType)
	}
}

// A body has to match the described form, field by field, in characters.
func (s Suite) testFields(t *testing.T, api *run, c call) {
	if c.form == nil {
		return
	}
	var good map[string]any
	if err := json.Unmarshal([]byte(c.body), &good); err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	change := func(name string, value any) call {
		changed := maps.Clone(good)
		changed[name] = value
		return c.sending(asJSON(changed))
	}
	properties, _ := c.form["properties"].(map[string]any)
	for name, property := range properties {
		bad, most := api.bad(property.(map[string]any))
		for _, value := range bad {
			other := change(name, value)
			if api.isOfAnotherVariant(t, c, property.(map[string]any), other.body) {
				continue
			}
			api.refuses(t, other, fmt.Sprintf("%s %.40q", name, fmt.Sprint(value)), name)
		}
		if most != "" && (s.Adapt == nil || api.finds(change(name, most))) {
			api.answers(t, change(name, most), "the longest "+name)
		}
		if slices.Contains(asList(c.form["required"]), any(name)) {
			less := maps.Clone(good)
			delete(less, name)
			api.refuses(t, c.sending(asJSON(less)), "no "+name, name)
		}
		if c.form["additionalProperties"] == false {
			api.refuses(t, change(strings.ToUpper(name), property), "another case of "+name, strings.ToUpper(name))
			api.refuses(t, c.sending(fmt.Sprintf(`{%q:1,%q:2}`, name, name)), name+" twice", name)
		}
	}
	if strings.Contains(c.RequestBody.Description, "refused") {
		api.refuses(t, change("colour", "blue"), "an unknown field", "colour")
	} else if len(properties) > 0 && strings.Contains(c.RequestBody.Description, "ignored") {
		api.answers(t, change("colour", "blue"), "an unknown field")
	} else if len(properties) > 0 {
		t.Errorf("%s: the description does not say what happens to unknown fields", c)
	}
}

// isOfAnotherVariant reports whether a body with a field that this variant lacks is valid as
// another variant.
func (d Document) isOfAnotherVariant(t *testing.T, c call, property map[string]any, body string) bool {
	var value any
	return property["type"] == "null" && json.Unmarshal([]byte(body), &value) == nil &&
		d.compiled(t, c.RequestBody.Content["application/json"].Schema).Validate(value) == nil
}

// A query has to match the described parameters; one that cannot be read is refused.
func (s Suite) testQuery(t *testing.T, api *run, c call) {
	query := func(name string, values ...string) call {
		other := c
		other.query = url.Values{name: values}
		return other
	}
	for _, p := range c.Parameters {
		if p.In != "query" || typeOf(p.Schema) == "array" {
			continue
		}
		bad, _ := api.bad(p.Schema)
		for _, value := range bad {
			text, isText := value.(string)
			if !isText && typeOf(p.Schema) != "integer" || text == "" && isText || value == nil {
				continue // A text reads all of these.
			}
			api.refuses(t, query(p.Name, fmt.Sprint(value)), fmt.Sprintf("%s %.40q", p.Name, fmt.Sprint(value)), p.Name)
		}
		if api.isStrict() {
			good := fmt.Sprint(api.example(p.Schema))
			api.refuses(t, query(p.Name, ""), "an empty "+p.Name, p.Name)
			api.refuses(t, query(p.Name, good, good), p.Name+" twice", p.Name)
			api.refuses(t, query(p.Name, "\xff"), p.Name+" that is no text", p.Name)
		}
	}
	if api.isStrict() {
		api.refuses(t, query("colour", "blue"), "an unknown parameter", "colour")
	}
	unreadable := c
	unreadable.path += "?x=%zz"
	api.refuses(t, unreadable, "a query that cannot be read", "query")
}

// isStrict reports whether the API refuses what it does not declare.
func (d Document) isStrict() bool {
	for _, operations := range d.Paths {
		for _, operation := range operations {
			if form := d.resolved(
				operation.RequestBody.Content["application/json"].Schema); form["additionalProperties"] == false {
				return true
			}
		}
	}
	return false
}

// The key is checked before the body, and a request that the keys refuse is not begun.
func (s Suite) testKeys(t *testing.T, api *run, c call) {
	if !c.isOnce() {
		return
	}
	refused := map[string]string{
		"an empty key": "", "a long key": strings.Repeat("k", 256), "a key of other letters": "clé",
		"a key that is no text":          "a\xff",
		"a key with a control character": "a\x01b", "a key with a tab": "a\tb",
	}
	without := c
	without.header = c.header.Clone()
	without.header.Del(schema.KeyHeader)
	if slices.ContainsFunc(c.Parameters, func(p Parameter) bool { return p.Name == schema.KeyHeader && p.Required }) {
		api.refuses(t, without, "no key", schema.KeyHeader)
	} else {
		api.Refusal = errors.New("there is no key")
		api.answers(t, without, "no key")
		api.Refusal = nil
	}
	c.body += " "
	for name, key := range refused {
		other := c.with(schema.KeyHeader, key)
		api.refuses(t, other, name, schema.KeyHeader)
		other.body = "{"
		api.refuses(t, other, name+" and a bad body", schema.KeyHeader)
	}
	for _, key := range []string{"k", "a key with blanks~", strings.Repeat("k", 255)} {
		api.answers(t, c.with(schema.KeyHeader, key), "the key "+key)
	}
	for _, refusal := range []error{&idempotency.RunningError{Until: time.Now()}, idempotency.ErrOtherRequest,
		errors.New("a secret")} {
		api.Refusal = refusal
		w := api.do(c, good)
		if w.Code < 400 || api.calls > 0 || strings.Contains(w.Body.String(), "secret") ||
			(w.Code == http.StatusConflict) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("%s, %v: got %d %v %s after %d calls", c, refusal, w.Code, w.Header(), w.Body, api.calls)
		}
		api.IsKept(t, c.request(), w)
	}
	api.Refusal = nil
}

// The document describes each precondition and its failure, and the precondition is checked before
// a key is claimed.
func (s Suite) testIfMatch(t *testing.T, api *run, c call) {
	_, described := c.Responses["412"]
	has := slices.ContainsFunc(c.Parameters, func(p Parameter) bool { return p.Name == "If-Match" })
	if has != described {
		t.Errorf("%s: If-Match described is %v, 412 is %v", c, has, described)
	}
	if !has {
		return
	}
	for _, header := range []string{``, ` `, `3`, `"3`, `3"`, `"3" "2"`, `"3";"2"`, `w/"3"`, `W/3`,
		`W/ "3"`, `*, "3"`, `"3", *`, `" 3"`, `,`, `'3'`} {
		api.refuses(t, c.with("If-Match", header), "If-Match "+header, "If-Match")
	}
}

// The log has a line for each request, and quotes nothing of what was sent.
func (s Suite) testLog(t *testing.T, api *run, c call) {
	const secret = "xyzzy"
	requests := []call{c, c, c.with("If-Match", secret),
		c.with("If-Match", `"`+secret+`"`).with(schema.KeyHeader, secret)}
	requests[0].query, requests[1].path = url.Values{secret: {secret}, "q": {secret}}, c.path+"?x=%zz"+secret
	if c.form != nil {
		for _, body := range []string{"{" + secret, `{"` + secret + `":"` + secret + `"}`,
			strings.ReplaceAll(c.body, `"`, secret+`"`)} {
			requests = append(requests, c.sending(body))
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
		authorization, claims := Verified(map[string]any{"sub": "caller", "cognito:groups": groups})
		event := events.APIGatewayV2HTTPRequest{
			Version: "2.0", RawPath: path, RawQueryString: query, Body: body, IsBase64Encoded: encoded,
			Headers: maps.Clone(needed),
		}
		event.Headers["authorization"] = authorization
		event.Headers[strings.ToLower(schema.KeyHeader)], event.Headers[header] = key, value
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.SourceIP = method, "203.0.113.7"
		event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims},
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
		if (response.StatusCode == 400 || response.StatusCode == 422) && api.begun+api.calls != 0 {
			t.Errorf("%d claims and %d calls for %+v", api.begun, api.calls, response)
		}
		w := httptest.NewRecorder()
		w.Code = response.StatusCode
		w.Body.WriteString(response.Body)
		d.IsKept(t, &http.Request{Method: method, URL: address}, w)
	})
}
