package askahuman

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

func TestCreateQuestion(t *testing.T) {
	s := newFew(t)
	text := questionAt("agent", ten)
	text.Prompt = strings.Repeat("é", 2000)
	choice := questionAt("agent", ten.Add(time.Millisecond))
	choice.Type = askahuman.TypeMultipleChoice
	choice.Options = []string{awkward, "yes", "0"}
	choice.IdempotencyKey = awkward
	choice.ExpiresAt = text.ExpiresAt
	mustCreate(t, s, text, choice)
	wantEqual(t, "text question", mustRead(t, s, text.ID), text)
	wantEqual(t, "multiple choice question", mustRead(t, s, choice.ID), choice)
	second := text
	second.Prompt = strings.Repeat("é", 20)
	if err := s.createQuestion(t.Context(), second); err == nil {
		t.Error("a second question with the same id was stored")
	}
	wantEqual(t, "the first question", mustRead(t, s, text.ID), text)
}

// delivery: what is noted last counts, but nothing after a delivery, and a question's alone.
func TestDelivery(t *testing.T) {
	s := newFew(t)
	ctx := t.Context()
	noted := func(id string) askahuman.Delivery {
		return *must.Get(s.delivery(ctx, askahuman.Question{ID: id, CallbackURL: "https://agent.example.com/",
			Status: askahuman.StatusClosed}))(t)
	}
	waiting := askahuman.Delivery{State: askahuman.DeliveryWaiting, Attempts: 1, AttemptedAt: wire.Time(ten),
		NextAttemptAt: wire.Time(ten.Add(time.Minute))}
	done := askahuman.Delivery{State: askahuman.DeliveryDone, Attempts: 1, AttemptedAt: wire.Time(ten.Add(time.Hour))}
	givenUp := askahuman.Delivery{State: askahuman.DeliveryGivenUp, Attempts: 8,
		AttemptedAt: wire.Time(ten.Add(time.Minute))}
	isWaiting := `{"state":"waiting","attempts":1,"attempted_at":"2026-03-04T10:00:00.000Z",` +
		`"next_attempt_at":"2026-03-04T10:01:00.000Z"}`
	isGivenUp := `{"state":"given_up","attempts":8,"attempted_at":"2026-03-04T10:01:00.000Z"}`
	isDone := `{"state":"delivered","attempts":1,"attempted_at":"2026-03-04T11:00:00.000Z"}`
	for _, step := range []struct {
		note askahuman.Delivery
		want string // as the agent sees it
	}{{waiting, isWaiting}, {givenUp, isGivenUp}, {waiting, isWaiting}, {done, isDone}, {givenUp, isDone},
		{waiting, isDone}} {
		must.OK(t, s.sending.NoteDelivery(ctx, "a", step.note))
		if got := string(must.Get(json.Marshal(noted("a")))(t)); got != step.want {
			t.Errorf("after %+v: got %s; want %s", step.note, got, step.want)
		}
	}
	if other := noted("b"); other != (askahuman.Delivery{State: askahuman.DeliveryWaiting}) {
		t.Errorf("another question has %+v", other)
	}
}
