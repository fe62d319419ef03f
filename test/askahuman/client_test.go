package askahuman

import (
	"cmp"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// as is the visitor who says by a header who they are.
func as(c *onesynthtest.Client, header, value string) *onesynthtest.Client {
	own := *c
	own.Header = http.Header{header: {value}}
	return &own
}

// agent is an AI agent. It shows its key where agents have keys.
type agent struct {
	*onesynthtest.Client
	id, key string
}

func agentOf(c *onesynthtest.Client, id, key string) agent {
	return agent{as(c, askahuman.AgentHeader, cmp.Or(key, id)), id, key}
}

func newAgent(c *onesynthtest.Client) agent { return agentOf(c, onesynthtest.Unique("agent"), "") }

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
	return platform.Call(t, a, askahuman.ReadQuestionAtOnce, askahuman.QuestionParams{ID: id})
}

// delivery is how far the webhook of a question is.
func delivery(of askahuman.QuestionWithResponses) string {
	return string(askahuman.Or(of.Webhook, askahuman.Delivery{}).State)
}

// newPerson returns someone who answers.
func newPerson(c *onesynthtest.Client) *onesynthtest.Client {
	return as(c, askahuman.FingerprintHeader, onesynthtest.Unique("person"))
}

func textAnswer(questionID string) askahuman.Answer {
	return askahuman.Answer{QuestionID: questionID, Text: new("Only if it is our fault.")}
}

func answer(t testing.TB, by *onesynthtest.Client, a askahuman.Answer) askahuman.Receipt {
	t.Helper()
	return onesynthtest.Call(t, by, askahuman.AnswerQuestion, askahuman.ZoneParams{}, a).Value
}

// subscribe returns the id of the subscription of a device, which may be notified every five minutes.
func subscribe(t testing.TB, by *onesynthtest.Client, token string) string {
	t.Helper()
	return platform.Post(t, by, askahuman.Subscribe,
		askahuman.NewSubscription{Token: token, Interval: new(5)}).SubscriptionID
}
