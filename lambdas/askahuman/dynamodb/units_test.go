package dynamodb_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// sending is a push service that takes all.
type sending struct{}

func (sending) Send(context.Context, askahuman.PushMessage) error { return nil }

// The table of write units in docs/COST.md is what an ask, the answers to it and its notifications cost.
func TestUnits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	database := schema.AskAHuman().Database
	tables := dynamotest.Open(t, database)
	store := dynamodb.New(tables.DB, dynamodb.Shards{})
	now := start
	clock := func() time.Time { now = now.Add(time.Second); return now }
	agents, people := &askahuman.Agents{Store: store, Now: clock}, &askahuman.People{Store: store, Now: clock}
	limiter := store.Limiter()
	count := func(name, caller string) {
		limit, _ := schema.AskAHuman().RateLimit(name)
		storetest.Must(limiter.CountRequest(ctx, limit, caller, now))(t)
	}
	var question askahuman.Question
	ask := func() {
		count("create", "agent")
		question = storetest.Must(agents.Ask(ctx, "agent", askahuman.Ask{Prompt: "Should an error message apologise?", Type: askahuman.TypeText, MinResponses: new(3)}))(t)
	}
	answer := func(person int) func() {
		return func() {
			hash := fmt.Sprintf("%064d", person)
			count("answer", hash)
			storetest.Must(people.Answer(ctx, hash, nil, askahuman.Answer{QuestionID: question.ID, Text: new("Only when it is at fault.")}))(t)
		}
	}
	subscribe := func(person string) func() {
		return func() {
			storetest.Must(people.Subscribe(ctx, person, askahuman.NewSubscription{Token: "token-of-" + person}))(t)
		}
	}
	notifier := &askahuman.Notifier{Store: store, Push: sending{}, Now: clock}
	notify := func() {
		if report := storetest.Must(notifier.Run(ctx))(t); report.Notified != 1 {
			t.Errorf("got %+v; want one notification", report)
		}
	}
	var got strings.Builder
	for _, line := range []struct {
		what string
		do   func()
	}{
		{"ask", ask}, {"first answer to a question, also the person's first", answer(1)}, {"further answer, the person's first", answer(2)}, {"last answer, the person's first", answer(3)},
		{"", ask}, {"first answer to a question", answer(1)}, {"further answer", answer(2)}, {"last answer", answer(3)},
		// The ledger is of writes one after the other: of one person for each question.
		{"", ask}, {"", subscribe("person")}, {"notification of a question to one person", notify},
		{"", ask}, {"", subscribe("")}, {"notification of a question to one unknown person", notify},
	} {
		ledger := tables.Writes(t, database, line.do)
		if line.what != "" {
			t.Logf("%s:\n%s", line.what, ledger)
			fmt.Fprintf(&got, "| %s | %v | %v |\n", line.what, ledger.Units(false), ledger.Units(true))
		}
	}
	page, err := os.ReadFile("../../../docs/COST.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), got.String()) {
		t.Errorf("docs/COST.md does not have these lines:\n%s", got.String())
	}
}
