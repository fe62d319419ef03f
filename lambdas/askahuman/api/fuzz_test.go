package api_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

// FuzzAgentAPI: an agent's routes answer every event that API Gateway might send
// with success or an error of the wire format, and never with 500.
func FuzzAgentAPI(f *testing.F) {
	for _, r := range operations() {
		addEvent(f, r)
	}
	f.Add("POST", "/agent/questions", "", "x-idempotency-key", "k", "agent", `{"prompt":"Which is it to be?","type":"multiple_choice","options":["a","b"],"min_responses":1,"idempotency_key":"k"}`, false)
	f.Add("GET", "/agent/questions", "limit=1&status=OPEN&cursor=AQ", "accept", "text/html", "agent", "", false)
	f.Add("POST", "/agent/questions", "", "content-type", "multipart/form-data; boundary=x", "agent", "--x--", false)
	// Tables take longer to make than anything else here: all inputs share them.
	keys := newKeys(f)
	f.Fuzz(func(t *testing.T, method, path, query, header, value, caller, body string, encoded bool) {
		p := newPlatform(t)
		p.agentAPI.Keys = keys
		p.agents = p.agentAPI.Handler()
		invokeEvent(t, p.agents, method, path, query, header, value, caller, body, encoded)
	})
}

// FuzzHumanAPI is [FuzzAgentAPI] for people's routes.
func FuzzHumanAPI(f *testing.F) {
	for _, r := range operations() {
		addEvent(f, r)
	}
	f.Add("GET", "/human/questions", "audience=technical,ethics&audience=x&limit=50", "x-timezone", "Europe/Berlin", "ann", "", false)
	f.Add("GET", "/human/stats", "", "x-timezone", "../zone", "ann", "", false)
	f.Add("POST", "/human/responses", "", "x-timezone", "Asia/Tokyo", "ann", `{"question_id":"x","selected_option":0,"confidence":5,"response_time_ms":9007199254740993}`, false)
	f.Fuzz(func(t *testing.T, method, path, query, header, value, caller, body string, encoded bool) {
		invokeEvent(t, newPlatform(t).people, method, path, query, header, value, caller, body, encoded)
	})
}

func addEvent(f *testing.F, r request) {
	method, path := r.line, ""
	for i := range r.line {
		if r.line[i] == ' ' {
			method, path = r.line[:i], r.line[i+1:]
			break
		}
	}
	f.Add(method, path, "", "content-type", "application/json", "caller", r.body, false)
}

// codes are the status of every code of the wire format.
func codes() map[string]int {
	return map[string]int{
		"VALIDATION_ERROR": 400, "AGENT_QUOTA_EXCEEDED": 403, "QUESTION_NOT_FOUND": 404, "SUBSCRIPTION_NOT_FOUND": 404,
		"NOT_FOUND": 404, "METHOD_NOT_ALLOWED": 405, "ALREADY_ANSWERED": 409, "REQUEST_IN_PROGRESS": 409, "QUESTION_CLOSED": 410, "RATE_LIMITED": 429,
	}
}

func invokeEvent(t *testing.T, api *kit.API, method, path, query, header, value, caller, body string, encoded bool) {
	t.Helper()
	event := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: path, RawQueryString: query, Body: body, IsBase64Encoded: encoded,
		Headers: map[string]string{"host": "api.example.com", "x-agent-id": caller, "x-fingerprint": caller, header: value},
	}
	event.RequestContext.HTTP.Method = method
	event.RequestContext.HTTP.SourceIP = "203.0.113.7"
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := kit.NewHTTPHandler(api).Invoke(context.Background(), payload)
	if err != nil {
		t.Fatalf("the invocation failed: %v", err)
	}
	var response events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		t.Fatal(err)
	}
	switch {
	case response.StatusCode == 204 && response.Body == "":
	case response.StatusCode == 200 || response.StatusCode == 201:
		if !json.Valid([]byte(response.Body)) {
			t.Errorf("got %+v", response)
		}
	default:
		var failed struct {
			Error struct {
				Code, Message string
				Details       struct {
					Field, Constraint string
					Problems          []struct{ Field, Constraint, Message string }
				}
			}
		}
		if err := json.Unmarshal([]byte(response.Body), &failed); err != nil {
			t.Fatalf("%v: %+v", err, response)
		}
		if codes()[failed.Error.Code] != response.StatusCode || failed.Error.Message == "" {
			t.Errorf("got %+v", response)
		}
		if response.StatusCode == 400 && (len(failed.Error.Details.Problems) == 0 || failed.Error.Details.Problems[0].Field != failed.Error.Details.Field || failed.Error.Details.Constraint == "") {
			t.Errorf("got no details: %+v", response)
		}
		if response.Headers["Content-Type"] != "application/json" {
			t.Errorf("got %+v", response)
		}
	}
}
