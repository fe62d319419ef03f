package askahuman

import (
	"math/rand/v2"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) { suite.Fuzz(f, language) }

// The OpenAPI document says of each route what it takes and what it answers.
func TestDocument(t *testing.T) {
	t.Parallel()
	suite.CheckAnswers(t)
}

// language is what agents and people usually ask.
func language(t testing.TB, on *platform.Target) platform.Language {
	c := newClient(t, &target{on})
	olga := c.newOperator(t)
	asker := c.newAgent()
	var questions []string
	for range 4 {
		questions = append(questions, asker.ask(t, textQuestion(50)).QuestionID,
			asker.ask(t, choiceQuestion(50)).QuestionID)
	}
	reported := c.newPerson().answer(t, textAnswer(questions[0])).ResponseID
	subscribed := c.newPerson().subscribe(t, onesynthtest.Unique("token"))
	return platform.Language{
		Headers: func() map[string]string {
			return map[string]string{
				"X-Agent-Id": onesynthtest.Unique("agent"), "X-Fingerprint": onesynthtest.Unique("person"),
				"Content-Type":  "application/json",
				"Authorization": "Bearer " + olga.token, "X-Timezone": "Europe/Berlin",
				"X-Idempotency-Key": onesynthtest.Unique("key"),
			}
		},
		Queries:     []string{"limit", "cursor", "status", "audience", "period", "state"},
		QueryValues: []string{"OPEN", "weekly", "general"},
		Parameters: map[string][]string{"question_id": questions, "subscription_id": {subscribed},
			"report_id": {questions[0], reported}, "response_id": {reported}},
		Body: func(random *rand.Rand, route schema.Route) map[string]any {
			switch route.Path {
			case "/agent/questions":
				return map[string]any{"type": "multiple_choice", "options": []any{"Submit", "Send"},
					"audience":      []any{"product"},
					"min_responses": 3, "timeout_seconds": 600}
			case "/human/responses":
				given := map[string]any{"confidence": 3, "response_time_ms": 9000}
				if random.IntN(2) == 0 {
					given["selected_option"] = 1
				}
				return given
			case "/human/reports":
				return map[string]any{"comment": "ä"}
			case "/agent/reports":
				return map[string]any{"question_id": questions[0]}
			case "/agent/webhook-tests":
				return map[string]any{"callback_url": "https://agent.invalid/"}
			case "/operator/blocks":
				return map[string]any{"agent_id": onesynthtest.Unique("agent")}
			case "/human/push/subscribe", "/human/push/subscribe/{subscription_id}":
				return map[string]any{"fcm_token": onesynthtest.Unique("token"), "min_interval_minutes": 30}
			}
			return nil
		},
		Bodies: []string{
			`{"prompt":"\ud800 alone and more","type":"text"}`, `{"prompt":1e400}`, `{"min_responses":1e-400}`,
			`{"type":"text","type":"text","type":null}`,
			`{"prompt":"\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000","type":"text"}`,
			`{"question_id":{"$ne":null}}`,
		},
		Texts: []string{"TOKEN#x", "RATE#create#x", "OPEN"},
	}
}
