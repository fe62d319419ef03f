package dynamodb_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// slow is an engine that needs a second for each request, and has one item in some tables.
type slow struct {
	awsdynamodb.HTTPClient
	items map[string]string // by table
}

func (s slow) Do(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Second)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	response, err := s.HTTPClient.Do(r)
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	answer := ""
	var batch []string
	for table, item := range s.items {
		switch {
		case operation == "GetItem" && strings.Contains(string(body), `"TableName":"`+table+`"`):
			answer = `{"Item":` + item + `}`
		case operation == "BatchGetItem":
			batch = append(batch, fmt.Sprintf("%q:[%s]", table, item))
			answer = `{"Responses":{` + strings.Join(batch, ",") + `}}`
		}
	}
	if err == nil && answer != "" {
		response.Body, response.ContentLength = io.NopCloser(strings.NewReader(answer)), int64(len(answer))
	}
	return response, err
}

// No route of questions, answers and people needs more than two requests to DynamoDB one after the other, the count
// towards its rate limit included.
func TestStages(t *testing.T) {
	t.Parallel()
	const ask, answer = `{"prompt":"Is anybody out there?","type":"text"}`, `{"question_id":"019c1db0-05a8-72b7-a84e-105f0b112a65","answer":"I am."}`
	for _, test := range []struct {
		method, path, body, key string
		status, stages          int
	}{
		{"POST", "/agent/questions", ask, "", 201, 2},
		{"POST", "/agent/questions", ask, "key", 201, 2},
		{"GET", "/agent/questions", "", "", 200, 1},
		{"GET", "/agent/questions/019c1db0-05a8-72b7-a84e-105f0b112a65", "", "", 200, 1},
		{"DELETE", "/agent/questions/019c1db0-05a8-72b7-a84e-105f0b112a65", "", "", 204, 2},
		{"GET", "/human/questions", "", "", 200, 1},
		{"GET", "/human/questions/019c1db0-05a8-72b7-a84e-105f0b112a65", "", "", 200, 1},
		{"POST", "/human/responses", answer, "", 201, 2},
		{"GET", "/human/stats", "", "", 200, 1},
		{"GET", "/human/leaderboard", "", "", 200, 1},
		{"POST", "/human/push/subscribe", `{"fcm_token":"token"}`, "", 201, 2},
		{"POST", "/human/push/subscribe", `{"fcm_token":"token"}`, "unsubscribed", 201, 2},
		{"PUT", "/human/push/subscribe", `{"fcm_token":"new","old_fcm_token":"token"}`, "", 200, 2},
		{"PUT", "/human/push/subscribe/019c1db0-05a8-72b7-a84e-105f0b112a65", `{"min_interval_minutes":60}`, "", 200, 2},
		{"PUT", "/human/push/subscribe/019c1db0-05a8-72b7-a84e-105f0b112a65", `{"fcm_token":"new"}`, "", 200, 2},
		{"DELETE", "/human/push/subscribe/019c1db0-05a8-72b7-a84e-105f0b112a65", "", "", 204, 2},
	} {
		t.Run(test.method+test.path+test.body+test.key, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db, wire := dynamotest.Refused(t, schema.AskAHuman().Database, func(string) dynamotest.Answer { return dynamotest.Answer{} })
				now := time.Now()
				wire.Engine = slow{wire.Engine, map[string]string{
					"Questions": fmt.Sprintf(`{"question_id":{"S":"019c1db0-05a8-72b7-a84e-105f0b112a65"},"agent_id":{"S":"me"},"status":{"S":"OPEN"},"type":{"S":"text"},"required_responses":{"N":"3"},"current_responses":{"N":"0"},"created_at":{"S":%q},"deadline":{"S":%q},"expires_at":{"N":"%d"}}`,
						askahuman.FormatTime(now), askahuman.FormatTime(now.Add(time.Hour)), now.Add(24*time.Hour).Unix()),
					"Subscriptions": fmt.Sprintf(`{"subscription_id":{"S":"019c1db0-05a8-72b7-a84e-105f0b112a65"},"fcm_token":{"S":"token"},"token_owner":{"S":"019c1db0-05a8-72b7-a84e-105f0b112a65"},"fingerprint_hash":{"S":"p"},"min_interval_minutes":{"N":"30"},"created_at":{"S":%[1]q},"updated_at":{"S":%[1]q},"last_notified_at":{"S":%[1]q}}`,
						askahuman.FormatTime(now)),
					"UserStats": `{"fingerprint_hash":{"S":"p"},"total_points":{"N":"5"},"total_answers":{"N":"1"},"version":{"N":"1"}}`,
				}}
				if test.key == "unsubscribed" {
					delete(wire.Engine.(slow).items, "Subscriptions")
				}
				store := dynamodb.New(db, dynamodb.Shards{})
				options := api.Options{RateLimiter: store.Limiter(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
				handler := (&api.AgentAPI{Service: &askahuman.Agents{Store: store}, Keys: store.Keys(), OpenAgents: true, Options: options}).Handler()
				if strings.HasPrefix(test.path, "/human") {
					hasher := httpapi.Hasher{Secret: func(context.Context) (string, error) { return "secret", nil }}
					handler = (&api.HumanAPI{Service: &askahuman.People{Store: store}, Hasher: hasher, Options: options}).Handler()
				}
				r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
				for name, value := range map[string]string{"X-Agent-Id": "me", "X-Fingerprint": "f", "X-Idempotency-Key": test.key, "Content-Type": "application/json"} {
					r.Header.Set(name, value)
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r.WithContext(kit.WithInvocation(t.Context(), kit.Invocation{SourceAddress: "203.0.113.7"})))
				if took := time.Since(now); w.Code != test.status || took != time.Duration(test.stages)*time.Second {
					t.Errorf("got %d after %v: %s; want %d after %d requests one after the other", w.Code, took, w.Body, test.status, test.stages)
				}
			})
		})
	}
}
