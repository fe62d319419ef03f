package askahuman

import (
	"cmp"
	"context"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// visitor reaches the platform from one address.
type visitor struct {
	*onesynthtest.Client
	target *target
}

func newClient(t testing.TB, target *target) *visitor {
	t.Helper()
	return &visitor{platform.NewClient(t, target.Target), target}
}

// as is the visitor who says by a header who they are.
func (c *visitor) as(header, value string) *visitor {
	own := *c.Client
	own.Header = http.Header{header: {value}}
	return &visitor{&own, c.target}
}

// agent is an AI agent. It shows its key where agents have keys.
type agent struct {
	*visitor
	id, key string
}

func (c *visitor) newAgent() agent { return c.agent(onesynthtest.Unique("agent"), "") }

func (c *visitor) agent(id, key string) agent {
	return agent{c.as(askahuman.AgentHeader, cmp.Or(key, id)), id, key}
}

// shows returns what the agent sends as X-Agent-Id.
func (a agent) shows() string { return cmp.Or(a.key, a.id) }

// newOperator signs someone in who moderates, with a token that the local run makes.
func (c *visitor) newOperator(t testing.TB) *visitor {
	t.Helper()
	token := c.target.Token(t, map[string]any{"sub": onesynthtest.Unique("operator"),
		"claims": onesynthtest.Groups("operators")})
	return c.as("Authorization", "Bearer "+token)
}

// textQuestion is a question that needs so many texts.
func textQuestion(answers int) askahuman.Ask {
	return askahuman.Ask{Prompt: "Should error messages apologise to people?", Type: askahuman.TypeText,
		MinResponses: &answers}
}

// ask asks a question; with a key, if the client makes requests again.
func (a agent) ask(t testing.TB, question askahuman.Ask) askahuman.Submission {
	t.Helper()
	if len(a.Retry) > 0 && question.IdempotencyKey == nil {
		question.IdempotencyKey = new(onesynthtest.Unique("key"))
	}
	return onesynthtest.Call(t, a, askahuman.AskQuestion, askahuman.AskParams{}, question).Value
}

func (a agent) question(t testing.TB, id string) askahuman.QuestionWithResponses {
	t.Helper()
	return onesynthtest.Call(t, a, askahuman.ReadQuestionAtOnce, askahuman.QuestionParams{ID: id}, schema.None{}).Value
}

// webhook returns how far the webhook of a question is.
func (a agent) webhook(t testing.TB, id string) string {
	t.Helper()
	return string(askahuman.Or(a.question(t, id).Webhook, askahuman.Delivery{}).State)
}

func (a agent) list(t testing.TB) askahuman.AgentQuestionList {
	t.Helper()
	return onesynthtest.Call(t, a, askahuman.ListQuestions, askahuman.AgentListParams{}, schema.None{}).Value
}

func (a agent) close(t testing.TB, id string) {
	t.Helper()
	onesynthtest.Call(t, a, askahuman.CloseQuestion, askahuman.QuestionParams{ID: id}, schema.None{})
}

// person is someone who answers.
type person struct {
	*visitor
	fingerprint string
}

func (c *visitor) newPerson() person { return c.person(onesynthtest.Unique("person")) }

func (c *visitor) person(fingerprint string) person {
	return person{c.as(askahuman.FingerprintHeader, fingerprint), fingerprint}
}

func (c *visitor) newPeople(n int) []person {
	people := make([]person, n)
	for i := range people {
		people[i] = c.newPerson()
	}
	return people
}

func textAnswer(questionID string) askahuman.Answer {
	return askahuman.Answer{QuestionID: questionID, Text: new("Only if it is our fault.")}
}

// tryAnswer is an attempt to answer that may fail; it can be made by any goroutine.
func (p person) tryAnswer(ctx context.Context, a askahuman.Answer) (onesynthtest.Reply, error) {
	return p.Send(ctx, http.MethodPost, "/human/responses", nil, a)
}

func (p person) answer(t testing.TB, a askahuman.Answer) askahuman.Receipt {
	t.Helper()
	return onesynthtest.Call(t, p, askahuman.AnswerQuestion, askahuman.ZoneParams{}, a).Value
}

func (p person) question(t testing.TB, id string) askahuman.AnswerableQuestion {
	t.Helper()
	return onesynthtest.Call(t, p, askahuman.ReadOpenQuestion, askahuman.QuestionParams{ID: id}, schema.None{}).Value
}

func (p person) stats(t testing.TB) askahuman.Standing {
	t.Helper()
	return onesynthtest.Call(t, p, askahuman.ReadStats, askahuman.ZoneParams{}, schema.None{}).Value
}

// subscribe returns the id of the subscription of a device, which may be notified every five minutes.
func (p person) subscribe(t testing.TB, token string) string {
	t.Helper()
	return onesynthtest.Call(t, p, askahuman.Subscribe, schema.None{},
		askahuman.NewSubscription{Token: token, Interval: new(5)}).Value.SubscriptionID
}
