package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// canned is an engine of tables that stay as they are: some have one item, which answers each read of one.
type canned struct {
	items map[string]string // by table
	takes time.Duration     // for each request
	board bool              // whether the leaderboards have the person
}

func (c canned) answer(_ context.Context, operation, body string) (string, error) {
	time.Sleep(c.takes)
	answer := "{}"
	if strings.Contains(body, choiceID) {
		c.items = maps.Clone(c.items)
		c.items["Questions"] = strings.NewReplacer(questionID, choiceID, `"text"`,
			`"multiple_choice"},"options":{"L":[{"S":"yes"},{"S":"no"}]`).Replace(c.items["Questions"])
	}
	var batch []string
	for table, item := range c.items {
		named := strings.Contains(body, `"TableName":"`+table+`"`)
		switch {
		case operation == "GetItem" && named:
			answer = `{"Item":` + item + `}`
		case operation == "Query" && named && (!strings.Contains(body, `"IndexName"`) || c.board && table == "UserStats"):
			answer = `{"Items":[` + item + `]}`
		case operation == "BatchGetItem" && strings.Contains(body, `"`+table+`":`) && table != "Responses":
			batch = append(batch, fmt.Sprintf("%q:[%s]", table, item))
			answer = `{"Responses":{` + strings.Join(batch, ",") + `}}`
		}
	}
	return answer, nil
}

// The canned question, and what it is under another id.
const questionID, choiceID = "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3b"

// oneOfEach are the items of a question of an agent, which takes answers at a moment, of its one answer, of the person
// who gave that, and of their device.
func oneOfEach(agent string, now time.Time) map[string]string {
	return map[string]string{
		"Questions": fmt.Sprintf(
			`{"question_id":{"S":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"},"agent_id":{"S":%q},"status":{"S":"OPEN"},"type":{"S":"text"},"audience":{"L":[]},"required_responses":{"N":"3"},"current_responses":{"N":"1"},"created_at":{"S":%q},"deadline":{"S":%q},"expires_at":{"N":"%d"}}`,
			agent, dynamo.FormatTime(now), dynamo.FormatTime(now.Add(time.Hour)), now.Add(24*time.Hour).Unix()),
		"Responses": fmt.Sprintf(
			`{"question_id":{"S":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"},"response_id":{"S":"0b7d2f0e-52a1-8a0d-b6f5-0d9a4c2f7e11"},"answer":{"S":"I am."},"created_at":{"S":%q}}`,
			dynamo.FormatTime(now)),
		"Subscriptions": fmt.Sprintf(
			`{"subscription_id":{"S":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"},"fcm_token":{"S":"token"},"token_owner":{"S":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"},"fingerprint_hash":{"S":"p"},"min_interval_minutes":{"N":"30"},"created_at":{"S":%[1]q},"updated_at":{"S":%[1]q},"last_notified_at":{"S":%[1]q}}`,
			dynamo.FormatTime(now)),
		"UserStats": `{"fingerprint_hash":{"S":"p"},"handle":{"S":"Quiet Otter 482"},"total_points":{"N":"5"},"total_answers":{"N":"1"},"version":{"N":"1"}}`,
	}
}

// No route of questions, answers and people needs more than two requests to DynamoDB one after the other, the count
// towards its rate limit included.
func TestStages(t *testing.T) {
	t.Parallel()
	const ask, answer = `{"prompt":"Is anybody out there?","type":"text"}`,
		`{"question_id":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a","answer":"I am."}`
	for _, test := range []struct {
		method, path, body, key string
		status, stages          int
	}{
		{"POST", "/agent/questions", ask, "", 201, 2},
		{"POST", "/agent/questions", ask, "key", 201, 2},
		{"GET", "/agent/questions", "", "", 200, 1},
		{"GET", "/agent/questions/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", "", "", 200, 1},
		{"DELETE", "/agent/questions/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", "", "", 204, 2},
		{"GET", "/human/questions", "", "", 200, 1},
		{"GET", "/human/questions/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", "", "", 200, 1},
		{"POST", "/human/responses", answer, "", 201, 2},
		{"GET", "/human/stats", "", "", 200, 1},
		{"GET", "/human/leaderboard", "", "", 200, 1},
		{"POST", "/human/push/subscribe", `{"fcm_token":"token"}`, "", 201, 2},
		{"POST", "/human/push/subscribe", `{"fcm_token":"token"}`, "unsubscribed", 201, 2},
		{"PUT", "/human/push/subscribe", `{"fcm_token":"new","old_fcm_token":"token"}`, "", 200, 2},
		{"PUT", "/human/push/subscribe/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", `{"min_interval_minutes":60}`, "", 200,
			2},
		{"PUT", "/human/push/subscribe/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", `{"fcm_token":"new"}`, "", 200, 2},
		{"DELETE", "/human/push/subscribe/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", "", "", 204, 2},
	} {
		t.Run(test.method+test.path+test.body+test.key, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				items := oneOfEach("me", now)
				if test.key == "unsubscribed" {
					delete(items, "Subscriptions")
				}
				tables := dynamotest.Over(t, askahuman.Platform().Database,
					dynamotest.Engine(canned{items: items, takes: time.Second}.answer))
				real := &service.Service{DB: tables.DB}
				options := api.Options{RateLimiter: real.Limiter(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
				handler := (&api.AgentAPI{Service: real, Keys: real.Keys(), OpenAgents: true,
					Options: options}).Handler()
				if strings.HasPrefix(test.path, "/human") {
					hasher := api.Hasher{Secret: func(context.Context) (string, error) { return "secret", nil }}
					handler = (&api.HumanAPI{Service: real, Hasher: hasher, Options: options}).Handler()
				}
				r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
				for name, value := range map[string]string{"X-Agent-Id": "me", "X-Fingerprint": "f",
					"X-Idempotency-Key": test.key, "Content-Type": "application/json"} {
					if value != "" {
						r.Header.Set(name, value)
					}
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r.WithContext(kit.WithInvocation(t.Context(),
					kit.Invocation{SourceAddress: "203.0.113.7"})))
				if took := time.Since(now); w.Code != test.status || took != time.Duration(test.stages)*time.Second {
					t.Errorf("got %d after %v: %s; want %d after %d requests one after the other", w.Code, took, w.Body,
						test.status, test.stages)
				}
			})
		})
	}
}
