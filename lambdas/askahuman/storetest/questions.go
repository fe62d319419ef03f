package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
)

func createQuestion(t *testing.T, s Store) {
	text := newQuestion("agent", start)
	text.Prompt = longText(2000)
	choice := newQuestion("agent", start.Add(time.Millisecond))
	choice.Type = askahuman.TypeMultipleChoice
	choice.Options = []string{awkward, "yes", "0"}
	choice.IdempotencyKey = awkward
	choice.ExpiresAt = text.ExpiresAt
	mustCreate(t, s, text, choice)
	wantEqual(t, "text question", mustRead(t, s, text.ID), text)
	wantEqual(t, "multiple choice question", mustRead(t, s, choice.ID), choice)
	second := text
	second.Prompt = longText(20)
	if err := s.CreateQuestion(t.Context(), second); err == nil {
		t.Error("a second question with the same id was stored")
	}
	wantEqual(t, "the first question", mustRead(t, s, text.ID), text)
}

func quotaExceeded(t *testing.T, s Store) {
	first := newQuestion("agent", start)
	mustCreate(t, s, first)
	for range Quota - 1 {
		mustCreate(t, s, newQuestion("agent", start))
	}
	surplus := newQuestion("agent", start)
	wantError(t, s.CreateQuestion(t.Context(), surplus), askahuman.ErrQuotaExceeded)
	mustCreate(t, s, newQuestion("another agent", start))

	if ended, err := s.EndQuestion(t.Context(), first, askahuman.StatusClosed, start); !ended || err != nil {
		t.Fatalf("EndQuestion = %v, %v", ended, err)
	}
	// The refused question has left nothing.
	mustCreate(t, s, surplus)
}

// quotaLostPlaces has questions end without a mark: the next asks get their places, each once,
// whenever the mark comes.
func quotaLostPlaces(t *testing.T, s Store) {
	const overdue = 3
	var ended []askahuman.Question
	for i := range Quota {
		q := newQuestion("agent", start)
		if i < overdue {
			q.Deadline = start.Add(time.Minute)
			q.ExpiresAt = q.Deadline.Add(askahuman.KeepExpired)
			ended = append(ended, q)
		}
		mustCreate(t, s, q)
	}
	wantError(t, s.CreateQuestion(t.Context(), newQuestion("agent", start.Add(time.Minute-time.Millisecond))), askahuman.ErrQuotaExceeded)
	now := start.Add(time.Minute)
	counts := tally(t, atOnce(4*overdue, func(int) error {
		return s.CreateQuestion(t.Context(), newQuestion("agent", now))
	}), askahuman.ErrQuotaExceeded)
	if counts[nil] != overdue {
		t.Errorf("%d questions were stored, want %d", counts[nil], overdue)
	}
	for _, q := range ended {
		if marked, err := s.EndQuestion(t.Context(), q, askahuman.StatusExpired, now); !marked || err != nil {
			t.Fatalf("EndQuestion = %v, %v", marked, err)
		}
	}
	wantError(t, s.CreateQuestion(t.Context(), newQuestion("agent", now)), askahuman.ErrQuotaExceeded)

	// All that is left of a day without marks and of the retention after it.
	later := start.Add(2 * (askahuman.MaxTimeout + askahuman.KeepExpired))
	mustCreate(t, s, newQuestion("agent", later), newQuestion("agent", later))
}

func quotaRace(t *testing.T, s Store) {
	const places = 5
	for range Quota - places {
		mustCreate(t, s, newQuestion("agent", start))
	}
	errs := atOnce(24, func(int) error {
		return s.CreateQuestion(t.Context(), newQuestion("agent", start))
	})
	counts := tally(t, errs, askahuman.ErrQuotaExceeded)
	if counts[nil] != places {
		t.Errorf("%d questions were stored, want %d", counts[nil], places)
	}
}

func questionNotFound(t *testing.T, s Store) {
	_, err := s.Question(t.Context(), uuid.NewString(), start)
	wantError(t, err, askahuman.ErrQuestionNotFound)

	q := newQuestion("agent", start)
	mustCreate(t, s, q)
	if _, err := s.Question(t.Context(), q.ID, q.ExpiresAt.Add(-time.Second)); err != nil {
		t.Errorf("within the retention: %v", err)
	}
	_, err = s.Question(t.Context(), q.ID, q.ExpiresAt)
	wantError(t, err, askahuman.ErrQuestionNotFound)
}

// agentPages reads all of an agent's questions page by page.
func agentPages(t *testing.T, s Store, agentID string, status askahuman.Status, limit int, now time.Time) []string {
	t.Helper()
	var all []string
	for after, more := (askahuman.Position{}), true; more; {
		var page []askahuman.Question
		var err error
		page, after, more, err = s.AgentQuestions(t.Context(), agentID, status, limit, after, now)
		if err != nil {
			t.Fatalf("AgentQuestions: %v", err)
		}
		if len(page) > limit {
			t.Fatalf("a page has %d questions, want at most %d", len(page), limit)
		}
		all = append(all, ids(page)...)
		if len(all) > 10_000 {
			t.Fatal("the pages do not end")
		}
	}
	return all
}

func agentQuestions(t *testing.T, s Store) {
	var want []string
	for i := range 7 {
		q := newQuestion("agent", start.Add(time.Duration(i)*time.Minute))
		mustCreate(t, s, q, newQuestion("another agent", q.CreatedAt))
		want = slices.Insert(want, 0, q.ID)
	}
	for limit := 1; limit <= 8; limit++ {
		wantEqual(t, fmt.Sprintf("pages of %d", limit), agentPages(t, s, "agent", "", limit, start), want)
	}
	wantEqual(t, "pages of an agent without questions", agentPages(t, s, "agen", "", 3, start), nil)
	wantEqual(t, "pages after the retention", agentPages(t, s, "agent", "", 3, start.Add(48*time.Hour)), nil)
}

func agentQuestionsByStatus(t *testing.T, s Store) {
	open, partial, closed, overdue, expired := newQuestion("agent", start), newQuestion("agent", start), newQuestion("agent", start), newQuestion("agent", start), newQuestion("agent", start)
	overdue.Deadline, expired.Deadline = start.Add(time.Minute), start.Add(time.Minute)
	mustCreate(t, s, open, partial, closed, overdue, expired)
	mustSubmit(t, s, partial.ID, person(0), start)
	now := start.Add(time.Minute)
	for q, status := range map[string]askahuman.Status{closed.ID: askahuman.StatusClosed, expired.ID: askahuman.StatusExpired} {
		if ended, err := s.EndQuestion(t.Context(), mustRead(t, s, q), status, now); !ended || err != nil {
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
			got := agentPages(t, s, "agent", status, limit, now)
			slices.Sort(got)
			slices.Sort(want)
			wantEqual(t, fmt.Sprintf("status %q in pages of %d", status, limit), got, want)
		}
	}
}

func agentQuestionsOfOneMoment(t *testing.T, s Store) {
	var want []string
	for range 9 {
		q := newQuestion("agent", start)
		mustCreate(t, s, q)
		want = append(want, q.ID)
	}
	got := agentPages(t, s, "agent", "", 2, start)
	slices.Sort(got)
	slices.Sort(want)
	wantEqual(t, "questions of one moment, each once", got, want)
}

func endQuestion(t *testing.T, s Store) {
	t.Run("Closed", func(t *testing.T) {
		q := newQuestion("agent", start)
		mustCreate(t, s, q)
		now := start.Add(10 * time.Minute)
		if ended, err := s.EndQuestion(t.Context(), q, askahuman.StatusClosed, now); !ended || err != nil {
			t.Fatalf("EndQuestion = %v, %v", ended, err)
		}
		want := q
		want.Status, want.ClosedAt, want.ExpiresAt, want.DueAt = askahuman.StatusClosed, now, now.Add(askahuman.KeepClosed), time.Time{}
		wantEqual(t, "question", mustRead(t, s, q.ID), want)
		if ended, err := s.EndQuestion(t.Context(), q, askahuman.StatusClosed, now.Add(time.Minute)); ended || err != nil {
			t.Errorf("a second EndQuestion = %v, %v; want false and no error", ended, err)
		}
		wantEqual(t, "question after a second end", mustRead(t, s, q.ID), want)
	})
	t.Run("Expired", func(t *testing.T) {
		q := newQuestion("agent", start)
		mustCreate(t, s, q)
		if ended, err := s.EndQuestion(t.Context(), q, askahuman.StatusExpired, q.Deadline.Add(5*time.Minute)); !ended || err != nil {
			t.Fatalf("EndQuestion = %v, %v", ended, err)
		}
		want := q
		want.Status, want.ExpiresAt, want.DueAt = askahuman.StatusExpired, q.Deadline.Add(askahuman.KeepExpired), time.Time{}
		wantEqual(t, "question", mustRead(t, s, q.ID), want)
	})
	t.Run("NotOverdue", func(t *testing.T) {
		q := newQuestion("agent", start)
		mustCreate(t, s, q)
		if ended, err := s.EndQuestion(t.Context(), q, askahuman.StatusExpired, q.Deadline.Add(-time.Millisecond)); ended || err != nil {
			t.Errorf("EndQuestion before the deadline = %v, %v; want false and no error", ended, err)
		}
		wantEqual(t, "question", mustRead(t, s, q.ID), q)
	})
}

func endingGivesPlaceBack(t *testing.T, s Store) {
	var last askahuman.Question
	for range Quota {
		last = newQuestion("agent", start)
		mustCreate(t, s, last)
	}
	for range 2 {
		Must(s.EndQuestion(t.Context(), last, askahuman.StatusClosed, start))(t)
	}
	mustCreate(t, s, newQuestion("agent", start))
	// Ending it twice gave one place.
	wantError(t, s.CreateQuestion(t.Context(), newQuestion("agent", start)), askahuman.ErrQuotaExceeded)
}

func endRace(t *testing.T, s Store) {
	q := newQuestion("agent", start)
	mustCreate(t, s, q)
	claimOnce(t, 16, func(int) (bool, error) { return s.EndQuestion(t.Context(), q, askahuman.StatusClosed, start) })
}

// openPages reads all open questions page by page.
func openPages(t *testing.T, s Store, limit int, now time.Time) []string {
	t.Helper()
	var all []string
	for after, more := (askahuman.Position{}), true; more; {
		var page []askahuman.Question
		var err error
		page, more, err = s.OpenQuestions(t.Context(), limit, after, now)
		if err != nil {
			t.Fatalf("OpenQuestions: %v", err)
		}
		if len(page) > limit || more && len(page) == 0 {
			t.Fatalf("a page of %d has %d questions, and more is %v", limit, len(page), more)
		}
		for _, q := range page {
			all = append(all, q.ID)
			after = askahuman.Position{CreatedAt: q.CreatedAt, ID: q.ID}
		}
	}
	return all
}

// openQuestions checks that open and partial questions are one list: nearly answered ones do not
// wait behind new ones.
func openQuestions(t *testing.T, s Store) {
	var want []string
	for i := range 9 {
		q := newQuestion("agent", start.Add(time.Duration(i)*time.Second))
		q.Deadline = start.Add(time.Hour)
		mustCreate(t, s, q)
		switch i % 3 {
		case 1:
			mustSubmit(t, s, q.ID, person(i), start.Add(time.Minute))
		case 2:
			if i == 2 {
				Must(s.EndQuestion(t.Context(), q, askahuman.StatusClosed, start))(t)
				continue
			}
		}
		want = slices.Insert(want, 0, q.ID)
	}
	overdue := newQuestion("agent", start)
	overdue.Deadline = start.Add(time.Minute)
	mustCreate(t, s, overdue)
	for limit := 1; limit <= 10; limit++ {
		wantEqual(t, fmt.Sprintf("pages of %d", limit), openPages(t, s, limit, start.Add(time.Minute)), want)
	}
	wantEqual(t, "when all deadlines have passed", openPages(t, s, 3, start.Add(time.Hour)), nil)
}

func openQuestionsOfOneMoment(t *testing.T, s Store) {
	var want []string
	for i := range 9 {
		q := newQuestion("agent", start)
		mustCreate(t, s, q)
		if i%2 == 0 {
			mustSubmit(t, s, q.ID, person(i), start)
		}
		want = append(want, q.ID)
	}
	slices.Sort(want)
	slices.Reverse(want)
	for limit := 1; limit <= 4; limit++ {
		wantEqual(t, fmt.Sprintf("questions of one moment in pages of %d, by id", limit), openPages(t, s, limit, start), want)
	}
}

// delivery: what is noted last counts, but nothing after a delivery, and a question's alone.
func delivery(t *testing.T, s Store) {
	ctx := t.Context()
	waiting := askahuman.Delivery{State: askahuman.DeliveryWaiting, Attempts: 1, AttemptedAt: start, NextAttemptAt: start.Add(time.Minute)}
	done := askahuman.Delivery{State: askahuman.DeliveryDone, Attempts: 1, AttemptedAt: start.Add(time.Hour)}
	givenUp := askahuman.Delivery{State: askahuman.DeliveryGivenUp, Attempts: 8, AttemptedAt: start.Add(time.Minute)}
	for _, step := range []struct{ note, want askahuman.Delivery }{{waiting, waiting}, {givenUp, givenUp}, {waiting, waiting}, {done, done}, {givenUp, done}, {waiting, done}} {
		OK(t, s.NoteDelivery(ctx, "a", step.note))
		if diff := cmp.Diff(step.want, Must(s.Delivery(ctx, "a"))(t)); diff != "" {
			t.Errorf("after %+v (-want +got):\n%s", step.note, diff)
		}
	}
	if other := Must(s.Delivery(ctx, "b"))(t); other != (askahuman.Delivery{}) {
		t.Errorf("another question has %+v", other)
	}
}
