package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

// FuzzAPI: every event that API Gateway might send is answered with success or
// an error of the wire format, never with 500, and what is refused for itself
// claims no key.
func FuzzAPI(f *testing.F) {
	for _, r := range operations() {
		method, path, _ := strings.Cut(r.line, " ")
		f.Add(method, path, "", "key", "content-type", "application/json", r.body, false)
	}
	f.Add("GET", "/api/v1/tasks", "status=pending&limit=1&due_from=2026-02-01&due_to=2026-02-02&overdue=true&q=%F0%9F%AA%B4&cursor=AQ", "", "x-timezone", "Europe/Berlin", "", false)
	f.Add("GET", "/api/v1/tasks", "limit=99999999999999999999&status=&x=1&x=2&%zz", "", "x-timezone", "../zone", "", false)
	f.Add("PATCH", "/api/v1/tasks/x", "", "key", "if-match", `W/"1", "2",, "a,b"`, `{"title":"x","due_date":null,"priority":""}`, false)
	f.Add("DELETE", "/api/v1/tasks/%00", "", "clé", "if-match", `"`, "", false)
	f.Add("PUT", "/api/v1/tasks/x", "", strings.Repeat("k", 256), "accept", "text/html", `{"title":"x","Title":"y","status":{"a":1,"a":2}}`, false)
	f.Add("POST", "/api/v1/tasks", "", "key", "content-type", "multipart/form-data; boundary=x", "--x--", false)
	f.Add("POST", "/api/v1/tasks/bulk", "", "key", "host", "", "eyJhY3Rpb24iOiJzZXRfc3RhdHVzIn0=", true)
	f.Add("POST", "/api/v1/tasks", "=x", "key", "x", "", `{"":0}`, false)
	f.Fuzz(func(t *testing.T, method, path, query, key, header, value, body string, encoded bool) {
		w := newWire()
		event := events.APIGatewayV2HTTPRequest{
			Version: "2.0", RawPath: path, RawQueryString: query, Body: body, IsBase64Encoded: encoded,
			Headers: map[string]string{"host": "api.example.com", "idempotency-key": key, header: value},
		}
		event.RequestContext.HTTP.Method = method
		event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "ann"}},
		}
		payload, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := kit.NewHTTPHandler(w.API).Invoke(context.Background(), payload)
		if err != nil {
			t.Fatalf("the invocation failed: %v", err)
		}
		var response events.APIGatewayV2HTTPResponse
		if err := json.Unmarshal(answer, &response); err != nil {
			t.Fatal(err)
		}
		if (response.StatusCode == 400 || response.StatusCode == 422) && w.keys.begun+w.service.calls != 0 {
			t.Errorf("%d claims and %d calls for %+v", w.keys.begun, w.service.calls, response)
		}
		switch status := response.StatusCode; {
		case status == 204 && response.Body == "":
		case status == 200 || status == 201 || status == 202:
			if !json.Valid([]byte(response.Body)) {
				t.Errorf("got %+v", response)
			}
		case status == 400 || status == 404 || status == 405 || status == 412 || status == 413 || status == 415:
			var failed struct{ Detail string }
			if err := json.Unmarshal([]byte(response.Body), &failed); err != nil || failed.Detail == "" {
				t.Errorf("got %+v: %v", response, err)
			}
		case status == 422:
			var failed struct {
				Detail []struct{ Field, Message string }
			}
			if err := json.Unmarshal([]byte(response.Body), &failed); err != nil || len(failed.Detail) == 0 {
				t.Errorf("got %+v: %v", response, err)
			}
			for _, problem := range failed.Detail {
				if problem.Field == "" || problem.Message == "" {
					t.Errorf("got %+v", response)
				}
			}
		default:
			t.Errorf("got %+v", response)
		}
	})
}
