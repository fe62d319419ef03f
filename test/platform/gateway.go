package platform

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
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
// runs the environment, and serves the document at path.
func (s *Suite) CheckGatewayErrors(t *testing.T, healthy *Target, environment, path string) {
	t.Helper()
	described := healthy.document(t, path)
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
		described.isKept(t, r)
	}
	protected := s.Protected()
	for _, route := range s.Platform.Operations() {
		path := PathOf(route, "x")
		sent := 0
		if slices.Contains(protected, route.Method+" "+path) {
			check(c.MustSend(t, route.Method, path, nil, nil), http.StatusUnauthorized)
			sent++
		}
		if route.Method == http.MethodPost || route.Method == http.MethodPut || route.Method == http.MethodPatch {
			check(announce(t, target, route.Method, path, with, maxBody+1), http.StatusRequestEntityTooLarge)
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

// document is the OpenAPI document of a platform.
type document struct{ httpapitest.Document }

// document reads the platform's own OpenAPI document.
func (p *Target) document(t *testing.T, path string) document {
	t.Helper()
	r := NewClient(t, p).MustSend(t, http.MethodGet, path, nil, nil)
	if r.Status != http.StatusOK {
		t.Fatalf("got %v; want the document", r)
	}
	return document{httpapitest.Parse(t, r.Body)}
}

// isKept checks that the document describes a reply's status and form, and Retry-After if
// it has that.
func (d document) isKept(t *testing.T, r onesynthtest.Reply) {
	t.Helper()
	method, path := onesynthtest.Split(r.Request)
	answer := httptest.NewRecorder()
	for _, name := range []string{"Content-Type", "Retry-After"} {
		if value := r.Header.Get(name); value != "" {
			answer.Header().Set(name, value)
		}
	}
	answer.WriteHeader(r.Status)
	if _, err := answer.Write(r.Body); err != nil {
		t.Error(err)
	}
	d.IsKept(t, httptest.NewRequest(method, path, nil), answer)
}

// announce sends the head of a request with a body of that length, and no body: a gateway
// that takes no such body does not wait for it.
func announce(t *testing.T, target *Target, method, path string, header http.Header, length int) onesynthtest.Reply {
	t.Helper()
	address := must.Get(url.Parse(target.URL))(t)
	connection := must.Get(net.Dial("tcp", address.Host))(t)
	defer connection.Close()
	must.Get(fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n",
		method, path, address.Host, header.Get("Authorization"), length))(t)
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return onesynthtest.Reply{Request: method + " " + path, Status: response.StatusCode, Header: response.Header,
		Body: body}
}

// PastGateway invokes a function of a local run with a request that bypasses the gateway, and
// returns its answer.
func (p *Target) PastGateway(t testing.TB, function, method, path string) onesynthtest.Reply {
	t.Helper()
	p.LocalOnly(t, "it invokes the function past the gateway")
	request := fmt.Sprintf("%s %s", method, path)
	result, err := p.Run.Invoke(t.Context(), p.Function(t, function),
		fmt.Appendf(nil,
			`{"version":"2.0","routeKey":%q,"rawPath":%q,"rawQueryString":"","headers":{"authorization":"Bearer x"},
		"requestContext":{"http":{"method":%q,"path":%q,"sourceIp":"127.0.0.1"},"requestId":"r","stage":"$default"},"isBase64Encoded":false}`, request, path, method, path))
	if err != nil || result.FunctionError != "" {
		t.Fatalf("%s past the gateway: got %s, %v", request, result.Payload, err)
	}
	answer := struct {
		StatusCode int
		Headers    map[string]string
		Body       string
	}{}
	if err := json.Unmarshal(result.Payload, &answer); err != nil {
		t.Fatalf("%s past the gateway: got %s: %v", request, result.Payload, err)
	}
	r := onesynthtest.Reply{Request: request, Status: answer.StatusCode, Header: http.Header{},
		Body: []byte(answer.Body)}
	for name, value := range answer.Headers {
		r.Header.Set(name, value)
	}
	return r
}
