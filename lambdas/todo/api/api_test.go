package api_test

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// request is one HTTP request: "METHOD path", headers as "Name: value".
type request struct {
	line    string
	user    string
	headers []string
	body    string
}

// as is a request of a user. A mutation has a key of its own.
func as(user, line, body string) request {
	r := request{line: line, user: user, body: body}
	if !strings.HasPrefix(line, "GET ") {
		r.headers = []string{"Idempotency-Key: " + rand.Text()}
	}
	return r
}

// with is the request with another header, in place of any of that name.
func (r request) with(header string) request {
	name, _, _ := strings.Cut(header, ": ")
	var headers []string
	for _, h := range r.headers {
		if !strings.HasPrefix(h, name+": ") {
			headers = append(headers, h)
		}
	}
	r.headers = append(headers, header)
	return r
}

func (r request) do(handler http.Handler) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(r.line, " ")
	hr := httptest.NewRequest(method, target, strings.NewReader(r.body))
	if r.body != "" {
		hr.Header.Set("Content-Type", "application/json")
	}
	for _, header := range r.headers {
		name, value, _ := strings.Cut(header, ": ")
		hr.Header.Set(name, value)
	}
	invocation := kit.Invocation{}
	if r.user != "" {
		invocation.Claims = map[string]string{"sub": r.user}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, hr.WithContext(kit.WithInvocation(hr.Context(), invocation)))
	return w
}

// invalidFields are the fields of a 422, sorted.
func invalidFields(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body api.InvalidResponse
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusUnprocessableEntity ||
		len(body.Detail) == 0 {
		t.Fatalf("got %d %s; want 422 with fields (%v)", w.Code, w.Body, err)
	}
	var fields []string
	for _, p := range body.Detail {
		if p.Message == "" || len(p.Message) > 400 {
			t.Errorf("the message of %s is %q", p.Field, p.Message)
		}
		fields = append(fields, p.Field)
	}
	slices.Sort(fields)
	return strings.Join(fields, " ")
}

// newWire is the API without a service.
func newWire(keys idempotency.Claims, log *slog.Logger) *kit.API {
	return (&api.API{Keys: keys, Clock: began, Log: log}).Handler()
}
