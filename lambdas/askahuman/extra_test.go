package askahuman

import (
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Every change of a question, an answer, a person's points and a subscription keeps what a team has added to them, and
// an agent reads it with its question and the answers.
func TestWritesKeepExtra(t *testing.T) {
	t.Parallel()
	ctx, extended := t.Context(), dynamotest.Extended(askahuman.Platform())
	tables := dynamotest.Open(t, extended.Database)
	now := start
	m := &moderated{t, &Service{DB: tables.DB, Clock: func() time.Time { return now }}}
	q := m.ask("agent", 2)
	must.OK(m, m.answer("ann", q.ID, "An answer that is neither short nor long."))
	read := must.Get(m.Read(ctx, "agent", q.ID))(m)
	response := read.Responses[0].ID
	added := tables.KeepsExtra(t, extended, "Response", []string{q.ID, response}, func() error {
		return m.HideResponse(ctx, as("operator"), q.ID, response, true)
	})
	must.OK(m, m.HideResponse(ctx, as("operator"), q.ID, response, false))
	ofQuestion := tables.KeepsExtra(t, extended, "Question", []string{q.ID}, func() error {
		return m.answer("bob", q.ID, "Another answer that is neither short nor long.")
	})
	read = must.Get(m.Read(ctx, "agent", q.ID))(m)
	want := `{"added_question":"` + ofQuestion + `"}`
	if string(read.Extra) != want || read.Status != askahuman.StatusClosed {
		t.Errorf("the question is %+v, want it closed, with %s", read.Question, want)
	}
	for _, r := range read.Responses {
		want := ""
		if r.ID == response {
			want = `{"added_response":"` + added + `"}`
		}
		if string(r.Extra) != want {
			t.Errorf("the answer is %+v, want %q of what was added", r, want)
		}
	}

	again := m.ask("agent", 1)
	tables.KeepsExtra(t, extended, "Stats", []string{"ann"}, func() error {
		return m.answer("ann", again.ID, "An answer that is neither short nor long.")
	})
	closed := m.ask("agent", 1)
	tables.KeepsExtra(t, extended, "Question", []string{closed.ID}, func() error {
		return m.Close(ctx, "agent", closed.ID)
	})

	sub := must.Get(m.subscribe(ctx, subscriptionFor("token")))(m)
	now = now.Add(time.Minute)
	tables.KeepsExtra(t, extended, "Subscription", []string{sub.ID}, func() error {
		_, err := m.changeSubscription(ctx, sub.ID, "another token", 60, now)
		return err
	})
}
