package platform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// maxBody is API Gateway's largest body of a request, in bytes ("Quotas for configuring and running an HTTP API").
const maxBody = 10 << 20

var (
	throttlingRate  = regexp.MustCompile(`"ThrottlingRateLimit": [0-9.]+`)
	throttlingBurst = regexp.MustCompile(`"ThrottlingBurstLimit": [0-9]+`)
	tableVariable   = regexp.MustCompile(`"[A-Z_]+_TABLE":`)
)

// CheckGatewayErrors checks that what API Gateway answers itself has the form that the
// OpenAPI document describes: on every route 500, when its function cannot start, and
// 429; 401 without a token where one is needed; and 413 for too large a body. healthy
// runs the environment.
func (s *Suite) CheckGatewayErrors(t *testing.T, healthy *Target, environment string) {
	t.Helper()
	described := s.document(t, healthy)
	const most = 3 // requests of each route
	target := Local(s.Local(t, environment).EditedRun(t, run.Options{NoSchedules: true},
		func(template []byte) []byte {
			template = throttlingRate.ReplaceAll(template, []byte(`"ThrottlingRateLimit": 0.000001`))
			template = throttlingBurst.ReplaceAll(template, fmt.Appendf(nil, `"ThrottlingBurstLimit": %d`, most))
			// A sign-up that fails would refuse the token. The run gives other triggers no effect.
			template = bytes.ReplaceAll(template, []byte(`"PostConfirmation":`), []byte(`"PreSignUp":`))
			return tableVariable.ReplaceAll(template, []byte(`"NO_TABLE":`))
		}))
	c := NewClient(t, target)
	// A gateway that takes no such body does not wait for it, and the client sends none.
	c.HTTP.Transport.(*http.Transport).ExpectContinueTimeout = time.Minute
	with := http.Header{"Authorization": {"Bearer " +
		target.Token(t, map[string]any{"sub": onesynthtest.Unique("caller")})}}
	check := func(r onesynthtest.Reply, status int) {
		t.Helper()
		name := http.StatusText(status)
		if r.Status != status || string(r.Body) != `{"message":"`+name+`"}` ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got %v with Content-Type %q; want %d %s in the gateway's form", r, r.Header.Get("Content-Type"),
				status, name)
			return
		}
		isKept(t, described, r)
	}
	for _, route := range s.Platform.Operations() {
		path := PathOf(route, "x")
		sent := 0
		if protected(route) {
			check(c.MustSend(t, route.Method, path, nil, nil), http.StatusUnauthorized)
			sent++
		}
		if route.Method == http.MethodPost || route.Method == http.MethodPut || route.Method == http.MethodPatch {
			large := with.Clone()
			large.Set("Expect", "100-continue")
			check(c.MustSend(t, route.Method, path, large, make([]byte, maxBody+1)), http.StatusRequestEntityTooLarge)
			sent++
		}
		for ; sent < most; sent++ {
			check(c.MustSend(t, route.Method, path, with, nil), http.StatusInternalServerError)
		}
		check(c.MustSend(t, route.Method, path, with, nil), http.StatusTooManyRequests)
	}
	if r := c.MustSend(t, http.MethodGet, "/no/such/route", with, nil); r.Status != http.StatusNotFound ||
		string(r.Body) != `{"message":"Not Found"}` {
		t.Errorf("got %v; want 404 in the gateway's form", r)
	}
}

// document reads the platform's own OpenAPI document.
func (s *Suite) document(t *testing.T, from *Target) httpapitest.Document {
	t.Helper()
	return httpapitest.Parse(t, NewClient(t, from).Try(t, http.MethodGet, s.Document(), nil).Body)
}

// isKept checks that the document describes a reply's status and form, and Retry-After if it has that.
func isKept(t *testing.T, d httpapitest.Document, r onesynthtest.Reply) {
	t.Helper()
	method, path := onesynthtest.Split(r.Request)
	answer := httptest.NewRecorder()
	answer.Code, answer.Body = r.Status, bytes.NewBuffer(r.Body)
	for _, name := range []string{"Content-Type", "Retry-After"} {
		if r.Header.Get(name) != "" {
			answer.Header().Set(name, r.Header.Get(name))
		}
	}
	d.IsKept(t, httptest.NewRequest(method, path, nil), answer)
}

// PastGateway invokes a function of a local run with a request that bypasses the gateway, and
// returns its answer.
func (p *Target) PastGateway(t testing.TB, function, method, path string) onesynthtest.Reply {
	t.Helper()
	p.LocalOnly(t, "it invokes the function past the gateway")
	request := method + " " + path
	result, err := p.Run.Invoke(t.Context(), p.Function(t, function),
		fmt.Appendf(nil,
			`{"version":"2.0","routeKey":%q,"rawPath":%q,"rawQueryString":"","headers":{"authorization":"Bearer x"},
		"requestContext":{"http":{"method":%q,"path":%q,"sourceIp":"127.0.0.1"},"requestId":"r","stage":"$default"},"isBase64Encoded":false}`, request, path, method, path))
	if err != nil || result.FunctionError != "" {
		t.Fatalf("%s past the gateway: got %s, %v", request, result.Payload, err)
	}
	var answer events.APIGatewayV2HTTPResponse
	must.OK(t, json.Unmarshal(result.Payload, &answer))
	r := onesynthtest.Reply{Request: request, Status: answer.StatusCode, Header: http.Header{},
		Body: []byte(answer.Body)}
	for name, value := range answer.Headers {
		r.Header.Set(name, value)
	}
	return r
}
