package askahuman

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// The table of write units in docs/reference/costs/askahuman.md is what an ask, the answers to it and its notifications cost.
func TestUnits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	database := askahuman.Platform().Database
	tables := dynamotest.Open(t, database)
	store := &Service{DB: tables.DB}
	now := start
	clock := func() time.Time { now = now.Add(time.Second); return now }
	store.Clock = clock
	limiter := store.Limiter()
	count := func(name, caller string) {
		limit, _ := askahuman.Platform().RateLimit(name)
		must.Get(limiter.CountRequest(ctx, limit, caller, now))(t)
	}
	var question askahuman.Question
	ask := func() {
		limit, _ := askahuman.Platform().RateLimit("create")
		call := limiter.Along(limit, "agent", now)
		question = must.Get(store.Ask(ratelimit.WithCall(ctx, call), "agent",
			askahuman.Ask{Prompt: "Should an error message apologise?", Type: askahuman.TypeText,
				MinResponses: new(3)}))(t)
		must.Get(call.Count(ctx))(t)
	}
	answer := func(person int) func() {
		return func() {
			hash := fmt.Sprintf("%064d", person)
			count("answer", hash)
			must.Get(store.Answer(ctx, hash, nil, askahuman.Answer{QuestionID: question.ID,
				Text: new("Only when it is at fault.")}))(t)
		}
	}
	subscribe := func(person string) func() {
		return func() {
			must.Get(store.Subscribe(ctx, person, askahuman.NewSubscription{Token: "token-of-" + person}))(t)
		}
	}
	notifier := &Notifier{Service: store, Push: new(inbox).Send, Clock: clock}
	notify := func() {
		if report := must.Get(notifier.Run(ctx))(t); report.Notified != 1 {
			t.Errorf("got %+v; want one notification", report)
		}
	}
	var got strings.Builder
	for _, line := range []struct {
		what string
		do   func()
	}{
		{"ask", ask}, {"first answer to a question, also the person's first", answer(1)},
		{"further answer, the person's first", answer(2)}, {"last answer, the person's first", answer(3)},
		{"", ask}, {"first answer to a question", answer(1)}, {"further answer", answer(2)}, {"last answer", answer(3)},
		// The ledger is of writes one after the other: of one person for each question.
		{"", ask}, {"", subscribe("person")}, {"notification of a question to one person", notify},
		{"", ask}, {"", subscribe("")}, {"notification of a question to one unknown person", notify},
	} {
		ledger := tables.Writes(t, line.do)
		if line.what != "" {
			t.Logf("%s:\n%s", line.what, ledger)
			fmt.Fprintf(&got, "| %s | %v | %v |\n", line.what, ledger.Units(false), ledger.Units(true))
		}
	}
	page := must.Get(os.ReadFile("../../docs/reference/costs/askahuman.md"))(t)
	if !strings.Contains(string(page), got.String()) {
		t.Errorf("docs/reference/costs/askahuman.md does not have these lines:\n%s", got.String())
	}
}
