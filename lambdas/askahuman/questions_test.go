package askahuman

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

func TestCreateQuestion(t *testing.T) {
	s := newFew(t)
	text := questionAt("agent", ten)
	text.Prompt = longText(2000)
	choice := questionAt("agent", ten.Add(time.Millisecond))
	choice.Type = askahuman.TypeMultipleChoice
	choice.Options = []string{awkward, "yes", "0"}
	choice.IdempotencyKey = awkward
	choice.ExpiresAt = text.ExpiresAt
	mustCreate(t, s, text, choice)
	wantEqual(t, "text question", mustRead(t, s, text.ID), text)
	wantEqual(t, "multiple choice question", mustRead(t, s, choice.ID), choice)
	second := text
	second.Prompt = longText(20)
	if err := s.createQuestion(t.Context(), second); err == nil {
		t.Error("a second question with the same id was stored")
	}
	wantEqual(t, "the first question", mustRead(t, s, text.ID), text)
}

func TestCreateQuestionQuotaExceeded(t *testing.T) {
	s := newFew(t)
	first := questionAt("agent", ten)
	mustCreate(t, s, first)
	for range fewOpen - 1 {
		mustCreate(t, s, questionAt("agent", ten))
	}
	surplus := questionAt("agent", ten)
	wantError(t, s.createQuestion(t.Context(), surplus), askahuman.ErrQuotaExceeded)
	mustCreate(t, s, questionAt("another agent", ten))

	for range 2 {
		Must(s.notifying.endQuestion(t.Context(), first, ten))(t)
	}
	// The refused question has left nothing.
	mustCreate(t, s, surplus)
	// Ending it twice gave one place.
	wantError(t, s.createQuestion(t.Context(), questionAt("agent", ten)), askahuman.ErrQuotaExceeded)
}

// TestCreateQuestionLostPlaces has questions end without a mark: the next asks get their places, each once,
// whenever the mark comes.
func TestCreateQuestionLostPlaces(t *testing.T) {
	s := newFew(t)
	const overdue = 3
	var ended []askahuman.Question
	for i := range fewOpen {
		q := questionAt("agent", ten)
		if i < overdue {
			q.Deadline = wire.Time(ten.Add(time.Minute))
			q.ExpiresAt = time.Time(q.Deadline).Add(askahuman.KeepExpired)
			ended = append(ended, q)
		}
		mustCreate(t, s, q)
	}
	wantError(t, s.createQuestion(t.Context(), questionAt("agent", ten.Add(time.Minute-time.Millisecond))),
		askahuman.ErrQuotaExceeded)
	now := ten.Add(time.Minute)
	counts := tally(t, atOnce(4*overdue, func(int) error {
		return s.createQuestion(t.Context(), questionAt("agent", now))
	}), askahuman.ErrQuotaExceeded)
	if counts[nil] != overdue {
		t.Errorf("%d questions were stored, want %d", counts[nil], overdue)
	}
	for _, q := range ended {
		if marked, err := s.notifying.endQuestion(t.Context(), q, now); !marked || err != nil {
			t.Fatalf("EndQuestion = %v, %v", marked, err)
		}
	}
	wantError(t, s.createQuestion(t.Context(), questionAt("agent", now)), askahuman.ErrQuotaExceeded)

	// All that is left of a day without marks and of the retention after it.
	later := ten.Add(2 * (askahuman.MaxTimeout + askahuman.KeepExpired))
	mustCreate(t, s, questionAt("agent", later), questionAt("agent", later))
}

func TestQuestionNotFound(t *testing.T) {
	s := newFew(t)
	_, err := s.people.question(t.Context(), uuid.NewString(), ten)
	wantError(t, err, askahuman.ErrQuestionNotFound)

	q := questionAt("agent", ten)
	mustCreate(t, s, q)
	if _, err := s.people.question(t.Context(), q.ID, q.ExpiresAt.Add(-time.Second)); err != nil {
		t.Errorf("within the retention: %v", err)
	}
	_, err = s.people.question(t.Context(), q.ID, q.ExpiresAt)
	wantError(t, err, askahuman.ErrQuestionNotFound)
}

// agentPages reads all of an agent's questions page by page.
func agentPages(t *testing.T, s *Service, agentID string, status askahuman.Status, limit int, now time.Time) []string {
	t.Helper()
	var all []string
	for cursor, more := "", true; more; more = cursor != "" {
		var page []askahuman.Question
		var err error
		page, cursor, err = s.agentQuestions(t.Context(), agentID, status, limit, cursor, now)
		if err != nil {
			t.Fatalf("AgentQuestions: %v", err)
		}
		if len(page) > limit {
			t.Fatalf("a page has %d questions, want at most %d", len(page), limit)
		}
		all = append(all, idsOf(page)...)
		if len(all) > 10_000 {
			t.Fatal("the pages do not end")
		}
	}
	return all
}

func TestAgentQuestionsStatus(t *testing.T) {
	s := newFew(t)
	open, partial, closed, overdue, expired := questionAt("agent", ten), questionAt("agent", ten),
		questionAt("agent", ten), questionAt("agent", ten), questionAt("agent", ten)
	overdue.Deadline, expired.Deadline = wire.Time(ten.Add(time.Minute)), wire.Time(ten.Add(time.Minute))
	mustCreate(t, s, open, partial, closed, overdue, expired)
	mustSubmit(t, s, partial.ID, person(0), ten)
	now := ten.Add(time.Minute)
	for q, status := range map[string]askahuman.Status{closed.ID: askahuman.StatusClosed,
		expired.ID: askahuman.StatusExpired} {
		if ended, err := s.notifying.endQuestion(t.Context(), mustRead(t, s, q), now); !ended || err != nil {
			t.Fatalf("EndQuestion(%s) = %v, %v", status, ended, err)
		}
	}
	for status, want := range map[askahuman.Status][]string{
		askahuman.StatusOpen:    {open.ID},
		askahuman.StatusPartial: {partial.ID},
		askahuman.StatusClosed:  {closed.ID},
		askahuman.StatusExpired: {overdue.ID, expired.ID},
		"":                      {open.ID, partial.ID, closed.ID, overdue.ID, expired.ID},
	} {
		for _, limit := range []int{1, 10} {
			got := agentPages(t, s.Service, "agent", status, limit, now)
			slices.Sort(got)
			slices.Sort(want)
			wantEqual(t, fmt.Sprintf("status %q in pages of %d", status, limit), got, want)
		}
	}
	wantEqual(t, "after the retention", agentPages(t, s.Service, "agent", "", 3, ten.Add(8*24*time.Hour)), nil)
}

func TestEndQuestion(t *testing.T) {
	s := newFew(t)
	t.Run("Closed", func(t *testing.T) {
		q := questionAt("agent", ten)
		mustCreate(t, s, q)
		now := ten.Add(10 * time.Minute)
		if ended, err := s.notifying.endQuestion(t.Context(), q, now); !ended || err != nil {
			t.Fatalf("EndQuestion = %v, %v", ended, err)
		}
		want := q
		want.Status, want.ClosedAt, want.ExpiresAt, want.DueAt = askahuman.StatusClosed, wire.Time(now),
			now.Add(askahuman.KeepClosed), time.Time{}
		wantEqual(t, "question", mustRead(t, s, q.ID), want)
		if ended, err := s.notifying.endQuestion(t.Context(), q, now.Add(time.Minute)); ended || err != nil {
			t.Errorf("a second EndQuestion = %v, %v; want false and no error", ended, err)
		}
		wantEqual(t, "question after a second end", mustRead(t, s, q.ID), want)
	})
	t.Run("Expired", func(t *testing.T) {
		q := questionAt("agent", ten)
		mustCreate(t, s, q)
		if ended, err := s.notifying.endQuestion(t.Context(), q,
			time.Time(q.Deadline).Add(5*time.Minute)); !ended || err != nil {
			t.Fatalf("EndQuestion = %v, %v", ended, err)
		}
		want := q
		want.Status, want.DueAt = askahuman.StatusExpired, time.Time{}
		want.ExpiresAt = time.Time(q.Deadline).Add(askahuman.KeepExpired)
		wantEqual(t, "question", mustRead(t, s, q.ID), want)
	})
}

// openPages reads all open questions page by page.
func openPages(t *testing.T, s *Service, limit int, now time.Time) []string {
	t.Helper()
	var all []string
	for after, more := (position{}), true; more; {
		var page []askahuman.Question
		var err error
		page, more, err = s.openQuestions(t.Context(), limit, after, now)
		if err != nil {
			t.Fatalf("OpenQuestions: %v", err)
		}
		if len(page) > limit || more && len(page) == 0 {
			t.Fatalf("a page of %d has %d questions, and more is %v", limit, len(page), more)
		}
		for _, q := range page {
			all = append(all, q.ID)
			after = position{CreatedAt: time.Time(q.CreatedAt), ID: q.ID}
		}
	}
	return all
}

// delivery: what is noted last counts, but nothing after a delivery, and a question's alone.
func TestDelivery(t *testing.T) {
	s := newFew(t)
	ctx := t.Context()
	noted := func(id string) askahuman.Delivery {
		return *Must(s.delivery(ctx, askahuman.Question{ID: id, CallbackURL: "https://agent.example.com/",
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
		OK(t, s.sending.NoteDelivery(ctx, "a", step.note))
		if got := string(Must(json.Marshal(noted("a")))(t)); got != step.want {
			t.Errorf("after %+v: got %s; want %s", step.note, got, step.want)
		}
	}
	if other := noted("b"); other != (askahuman.Delivery{State: askahuman.DeliveryWaiting}) {
		t.Errorf("another question has %+v", other)
	}
}
