package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
)

func newSubscription(token, personHash string, createdAt time.Time) askahuman.Subscription {
	return askahuman.Subscription{
		ID:                 uuid.NewString(),
		Token:              token,
		Interval:           30 * time.Minute,
		NextNotificationAt: createdAt,
		Active:             true,
		PersonHash:         personHash,
		CreatedAt:          createdAt,
		UpdatedAt:          createdAt,
	}
}

func mustSubscribe(t *testing.T, s Store, subscription askahuman.Subscription) askahuman.Subscription {
	t.Helper()
	stored := Must(s.Subscribe(t.Context(), subscription))(t)
	return stored
}

// due reads the subscriptions that may be notified at a moment, by id.
func due(t *testing.T, s Store, now time.Time) map[string]askahuman.Subscription {
	t.Helper()
	list := Must(s.DueSubscriptions(t.Context(), now, 1000))(t)
	byID := map[string]askahuman.Subscription{}
	for _, subscription := range list {
		byID[subscription.ID] = subscription
	}
	return byID
}

func wantDue(t *testing.T, s Store, now time.Time, want ...string) {
	t.Helper()
	var got []string
	for id := range due(t, s, now) {
		got = append(got, id)
	}
	slices.Sort(got)
	slices.Sort(want)
	wantEqual(t, "due subscriptions", got, want)
}

func mustClaim(t *testing.T, s Store, id, questionID string, now time.Time) {
	t.Helper()
	subscription, ok := due(t, s, now)[id]
	if !ok {
		t.Fatalf("subscription %s is not due", id)
	}
	if claimed, err := s.ClaimSubscription(t.Context(), subscription, questionID, now); !claimed || err != nil {
		t.Fatalf("ClaimSubscription = %v, %v", claimed, err)
	}
}

// subscribe checks that a person who was never notified can be notified at once.
func subscribe(t *testing.T, s Store) {
	subscription := newSubscription("token", person(0), start)
	stored := mustSubscribe(t, s, subscription)
	if stored.ID != subscription.ID || !stored.Active {
		t.Errorf("stored id %s, active %v; want %s, true", stored.ID, stored.Active, subscription.ID)
	}
	got, ok := due(t, s, start)[subscription.ID]
	if !ok {
		t.Fatal("a new subscription is not due")
	}
	if got.Token != "token" || got.Interval != 30*time.Minute || got.PersonHash != person(0) || !got.LastNotifiedAt.IsZero() {
		t.Errorf("due subscription = %+v", got)
	}
}

func subscribeSameToken(t *testing.T, s Store) {
	first := mustSubscribe(t, s, newSubscription("token", "", start))
	now := start.Add(time.Minute)
	mustClaim(t, s, first.ID, uuid.NewString(), now)
	OK(t, s.DeactivateSubscription(t.Context(), first, now))

	again := newSubscription("token", person(0), start.Add(2*time.Minute))
	again.Interval = 10 * time.Minute
	stored := mustSubscribe(t, s, again)
	if stored.ID != first.ID || stored.Interval != 10*time.Minute || stored.PersonHash != person(0) || !stored.Active {
		t.Errorf("subscribed again = %+v; want subscription %s with the new interval and person, active", stored, first.ID)
	}
	// A request without a person leaves the subscription to the one it has.
	if stored := mustSubscribe(t, s, newSubscription("token", "", start.Add(3*time.Minute))); stored.PersonHash != person(0) || stored.Interval != 30*time.Minute {
		t.Errorf("subscribed without a person = %+v; want the person from before, and the new interval", stored)
	}
	mustSubscribe(t, s, again)
	// Subscribing again does not make the next notification come earlier than the
	// person chose.
	wantDue(t, s, now.Add(10*time.Minute-time.Millisecond))
	wantDue(t, s, now.Add(10*time.Minute), first.ID)
}

func findSubscription(t *testing.T, s Store) {
	find := func(token, personHash, want string) {
		t.Helper()
		var tokens []string
		if token != "" {
			tokens = []string{"a token of no one", token}
		}
		id, has, err := s.FindSubscription(t.Context(), personHash, tokens...)
		if token != "" && err == nil && has != token {
			t.Errorf("FindSubscription(%q): it has the token %q", token, has)
		}
		if want == "" {
			wantError(t, err, askahuman.ErrSubscriptionNotFound)
		} else if id != want || err != nil {
			t.Errorf("FindSubscription(%q, %q) = %s, %v; want %s", token, personHash, id, err, want)
		}
	}
	find("token", "", "")
	find("", person(0), "")
	unknown := mustSubscribe(t, s, newSubscription("unknown's", "", start))
	first := mustSubscribe(t, s, newSubscription("first", person(0), start))
	second := mustSubscribe(t, s, newSubscription("second", person(0), start.Add(time.Minute)))
	find("unknown's", "", unknown.ID)
	find("first", "", first.ID)
	find("", person(0), second.ID)
	find("", person(1), "")

	// A token that has moved on names nothing, the person names the same.
	Must(s.ChangeSubscription(t.Context(), second.ID, "third", 0, start))(t)
	find("second", "", "")
	find("third", "", second.ID)
	find("", person(0), second.ID)
	// The device becomes another person's.
	mustSubscribe(t, s, newSubscription("third", person(1), start))
	find("", person(0), "")
	find("", person(1), second.ID)
	// A new subscription is the person's last one, also after another one ends.
	mustSubscribe(t, s, newSubscription("first", person(0), start))
	other := mustSubscribe(t, s, newSubscription("fourth", person(0), start))
	mustSubscribe(t, s, newSubscription("first", person(0), start))
	OK(t, s.Unsubscribe(t.Context(), other.ID))
	find("", person(0), first.ID)
	OK(t, s.Unsubscribe(t.Context(), first.ID))
	find("", person(0), "")
	find("first", "", "")

	// A token that moves between a person's subscriptions ends one of them, and the
	// other one is the last.
	kept := mustSubscribe(t, s, newSubscription("kept", person(2), start))
	mustSubscribe(t, s, newSubscription("moved", person(2), start))
	Must(s.ChangeSubscription(t.Context(), kept.ID, "moved", 0, start.Add(time.Minute)))(t)
	find("", person(2), kept.ID)
	// One that moves to another person's ends the first person's last.
	taker := mustSubscribe(t, s, newSubscription("taker", person(3), start))
	Must(s.ChangeSubscription(t.Context(), taker.ID, "moved", 0, start.Add(2*time.Minute)))(t)
	find("", person(2), "")
	find("", person(3), taker.ID)
}

// renewSubscription renews a subscription on what was read of it, which is mostly still so.
func renewSubscription(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	now := start.Add(time.Minute)
	mustClaim(t, s, subscription.ID, uuid.NewString(), now)
	OK(t, s.DeactivateSubscription(t.Context(), subscription, now))
	taken := mustSubscribe(t, s, newSubscription("taken", person(1), start))
	wait := 30 * time.Minute
	for _, test := range []struct {
		from, to string
		interval time.Duration
	}{
		{"token", "second", 0},
		{"second", "third", 30 * time.Minute},
		{"third", "third", 0},
		// It has another interval, and then another token than it had.
		{"third", "fourth", 10 * time.Minute},
		{"token", "fifth", 0},
		{"token", "fifth", 20 * time.Minute},
		// Another subscription has the token, and ends.
		{"fifth", "taken", 0},
	} {
		OK(t, s.RenewSubscription(t.Context(), subscription.ID, test.from, test.to, test.interval, now))
		if test.interval > 0 {
			wait = test.interval
		}
		if _, early := due(t, s, now.Add(wait-time.Millisecond))[subscription.ID]; early {
			t.Errorf("%+v: due before the interval has passed", test)
		}
		if got := due(t, s, now.Add(wait))[subscription.ID]; got.Token != test.to || got.Interval != wait || got.PersonHash != person(0) {
			t.Errorf("%+v: due %+v", test, got)
		}
		if id, _, err := s.FindSubscription(t.Context(), "", test.to); id != subscription.ID || err != nil {
			t.Errorf("%+v: the token is of %s, %v", test, id, err)
		}
		if test.from != test.to {
			_, _, err := s.FindSubscription(t.Context(), "", test.from)
			wantError(t, err, askahuman.ErrSubscriptionNotFound)
		}
	}
	wantError(t, s.Unsubscribe(t.Context(), taken.ID), askahuman.ErrSubscriptionNotFound)
	OK(t, s.Unsubscribe(t.Context(), subscription.ID))
	wantError(t, s.RenewSubscription(t.Context(), subscription.ID, "taken", "token", 0, now), askahuman.ErrSubscriptionNotFound)
}

func subscribeRace(t *testing.T, s Store) {
	type result struct {
		id  string
		err error
	}
	results := atOnce(16, func(int) result {
		stored, err := s.Subscribe(t.Context(), newSubscription("token", person(0), start))
		return result{stored.ID, err}
	})
	for _, r := range results {
		if r.err != nil {
			t.Fatalf("Subscribe: %v", r.err)
		}
		if r.id != results[0].id {
			t.Errorf("one token has the subscriptions %s and %s", r.id, results[0].id)
		}
	}
	wantDue(t, s, start, results[0].id)
}

func changeSubscription(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	now := start.Add(time.Minute)
	mustClaim(t, s, subscription.ID, uuid.NewString(), now)

	changed, err := s.ChangeSubscription(t.Context(), subscription.ID, "", 5*time.Minute, now)
	if err != nil || changed.Token != "token" || changed.Interval != 5*time.Minute {
		t.Errorf("new interval: %+v, %v", changed, err)
	}
	wantDue(t, s, now.Add(5*time.Minute-time.Millisecond))
	wantDue(t, s, now.Add(5*time.Minute), subscription.ID)

	changed, err = s.ChangeSubscription(t.Context(), subscription.ID, "new token", 0, now)
	if err != nil || changed.Token != "new token" || changed.Interval != 5*time.Minute {
		t.Errorf("new token: %+v, %v", changed, err)
	}
	if got := due(t, s, now.Add(time.Hour))[subscription.ID].Token; got != "new token" {
		t.Errorf("token = %q, want the new one", got)
	}
	// The old token is free, the new one is not.
	if other := mustSubscribe(t, s, newSubscription("token", "", now)); other.ID == subscription.ID {
		t.Error("the old token still belongs to the subscription")
	}
	if same := mustSubscribe(t, s, newSubscription("new token", "", now)); same.ID != subscription.ID {
		t.Error("the new token does not belong to the subscription")
	}

	OK(t, s.DeactivateSubscription(t.Context(), changed, now))
	changed, err = s.ChangeSubscription(t.Context(), subscription.ID, "", 0, now)
	if err != nil || !changed.Active {
		t.Errorf("changing makes active: %+v, %v", changed, err)
	}

	_, err = s.ChangeSubscription(t.Context(), uuid.NewString(), "token", 0, now)
	wantError(t, err, askahuman.ErrSubscriptionNotFound)
}

func tokenMoves(t *testing.T, s Store) {
	first := mustSubscribe(t, s, newSubscription("first", person(0), start))
	second := mustSubscribe(t, s, newSubscription("second", person(1), start))
	changed, err := s.ChangeSubscription(t.Context(), second.ID, "first", 0, start)
	if err != nil || changed.ID != second.ID || changed.Token != "first" {
		t.Fatalf("ChangeSubscription = %+v, %v", changed, err)
	}
	wantDue(t, s, start, second.ID)
	_, err = s.ChangeSubscription(t.Context(), first.ID, "", time.Hour, start)
	wantError(t, err, askahuman.ErrSubscriptionNotFound)
	if free := mustSubscribe(t, s, newSubscription("second", "", start)); free.ID == second.ID {
		t.Error("the old token still belongs to the subscription")
	}
}

// tokenMoveRace lets several devices take one token at once: one ends up with it.
func tokenMoveRace(t *testing.T, s Store) {
	const devices = 4
	var subscriptions []askahuman.Subscription
	for i := range devices {
		subscriptions = append(subscriptions, mustSubscribe(t, s, newSubscription(person(i), "", start)))
	}
	errs := atOnce(devices, func(i int) error {
		_, err := s.ChangeSubscription(t.Context(), subscriptions[i].ID, "wanted by all", 0, start)
		return err
	})
	counts := tally(t, errs, askahuman.ErrSubscriptionNotFound)
	if counts[nil] == 0 {
		t.Error("no subscription got the token")
	}
	holders := 0
	for _, subscription := range due(t, s, start) {
		if subscription.Token == "wanted by all" {
			holders++
		}
	}
	if holders != 1 {
		t.Errorf("%d subscriptions have the token, want 1", holders)
	}
}

func unsubscribe(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	OK(t, s.Unsubscribe(t.Context(), subscription.ID))
	wantDue(t, s, start)
	wantError(t, s.Unsubscribe(t.Context(), subscription.ID), askahuman.ErrSubscriptionNotFound)
	again := newSubscription("token", person(0), start)
	if stored := mustSubscribe(t, s, again); stored.ID != again.ID {
		t.Error("the token still belongs to the ended subscription")
	}
}

func dueQuestionIDs(t *testing.T, s Store, now time.Time, most int) []string {
	t.Helper()
	var list []string
	err := s.DueQuestions(t.Context(), now, func(q askahuman.Question) bool {
		list = append(list, q.ID)
		return len(list) < most
	})
	if err != nil {
		t.Fatalf("DueQuestions: %v", err)
	}
	return list
}

func dueQuestions(t *testing.T, s Store) {
	first, second, later, closed := newQuestion("agent", start), newQuestion("agent", start.Add(time.Second)), newQuestion("agent", start.Add(time.Minute)), newQuestion("agent", start)
	mustCreate(t, s, second, first, later, closed)
	Must(s.EndQuestion(t.Context(), closed, askahuman.StatusClosed, start))(t)
	now := start.Add(30 * time.Second)
	wantEqual(t, "due", dueQuestionIDs(t, s, now, 100), []string{first.ID, second.ID})
	wantEqual(t, "the first due", dueQuestionIDs(t, s, now, 1), []string{first.ID})

	next := start.Add(15 * time.Minute)
	if claimed, err := s.ClaimQuestion(t.Context(), first, now, next); !claimed || err != nil {
		t.Fatalf("ClaimQuestion = %v, %v", claimed, err)
	}
	wantEqual(t, "due after a claim", dueQuestionIDs(t, s, now, 100), []string{second.ID})
	want := first
	want.NotifiedAt, want.DueAt = now, next
	wantEqual(t, "claimed question", mustRead(t, s, first.ID), want)
	if claimed, err := s.ClaimQuestion(t.Context(), first, now, next.Add(time.Minute)); claimed || err != nil {
		t.Errorf("a claim on an older read = %v, %v; want false and no error", claimed, err)
	}
	// Given back by the run that claimed it, as it was.
	if claimed, err := s.ClaimQuestion(t.Context(), want, first.NotifiedAt, first.DueAt); !claimed || err != nil {
		t.Errorf("ClaimQuestion back = %v, %v", claimed, err)
	}
	wantEqual(t, "question given back", mustRead(t, s, first.ID), first)
	wantEqual(t, "due after it was given back", dueQuestionIDs(t, s, now, 100), []string{first.ID, second.ID})

	if claimed, err := s.ClaimQuestion(t.Context(), closed, now, next); claimed || err != nil {
		t.Errorf("a claim on a closed question = %v, %v; want false and no error", claimed, err)
	}
}

func claimQuestionRace(t *testing.T, s Store) {
	q := newQuestion("agent", start)
	mustCreate(t, s, q)
	claimOnce(t, 16, func(int) (bool, error) {
		return s.ClaimQuestion(t.Context(), q, start, start.Add(15*time.Minute))
	})
}

// claimOnce makes claims at once; exactly one must succeed.
func claimOnce(t *testing.T, runs int, claim func(i int) (bool, error)) {
	t.Helper()
	claims := 0
	for _, claimed := range atOnce(runs, func(i int) bool {
		claimed, err := claim(i)
		if err != nil {
			t.Errorf("claim: %v", err)
		}
		return claimed
	}) {
		if claimed {
			claims++
		}
	}
	if claims != 1 {
		t.Errorf("%d runs succeeded with their claim, want 1", claims)
	}
}

func dueSubscriptions(t *testing.T, s Store) {
	var subscriptions []askahuman.Subscription
	for i := range 5 {
		subscriptions = append(subscriptions, mustSubscribe(t, s, newSubscription(person(i), "", start)))
	}
	question := uuid.NewString()
	for i, subscription := range subscriptions[:4] {
		mustClaim(t, s, subscription.ID, question, start.Add(time.Duration(4-i)*time.Minute))
	}
	wantDue(t, s, start.Add(20*time.Minute), subscriptions[4].ID)
	list := Must(s.DueSubscriptions(t.Context(), start.Add(33*time.Minute), 3))(t)
	var got []string
	for _, subscription := range list {
		got = append(got, subscription.ID)
	}
	wantEqual(t, "due, longest ago first", got, []string{subscriptions[4].ID, subscriptions[3].ID, subscriptions[2].ID})
}

func claimSubscription(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	anonymous := mustSubscribe(t, s, newSubscription("another token", "", start))
	question := asked(t, s)
	now := start.Add(time.Minute)
	before := due(t, s, now)[subscription.ID]
	mustClaim(t, s, subscription.ID, question, now)
	mustClaim(t, s, anonymous.ID, question, now)
	wantDue(t, s, now.Add(30*time.Minute-time.Millisecond))
	wantDue(t, s, now.Add(30*time.Minute), subscription.ID, anonymous.ID)
	if got := due(t, s, now.Add(30*time.Minute))[subscription.ID].LastNotifiedAt; !got.Equal(now) {
		t.Errorf("last notified at %v, want %v", got, now)
	}
	if claimed, err := s.ClaimSubscription(t.Context(), before, question, now); claimed || err != nil {
		t.Errorf("a claim on an older read = %v, %v; want false and no error", claimed, err)
	}
	// A claim is no notification.
	wantNotified(t, s, question, person(0), time.Time{})

	// A subscription that has changed since it was read is not claimed, and its person need not wait.
	later := now.Add(time.Hour)
	before = due(t, s, later)[subscription.ID]
	other := mustSubscribe(t, s, newSubscription("another device", person(0), later))
	Must(s.ChangeSubscription(t.Context(), subscription.ID, "a new token", 0, later))(t)
	if claimed, err := s.ClaimSubscription(t.Context(), before, question, later); claimed || err != nil {
		t.Errorf("a claim on an older token = %v, %v; want false and no error", claimed, err)
	}
	mustClaim(t, s, other.ID, question, later)
}

func wantNotified(t *testing.T, s Store, questionID, personHash string, want time.Time) {
	t.Helper()
	if got, err := s.AnswerState(t.Context(), questionID, personHash, start); err != nil || !got.NotifiedAt.Equal(want) {
		t.Errorf("notified at %v, %v; want %v", got.NotifiedAt, err, want)
	}
}

// asked is the id of a new question.
func asked(t *testing.T, s Store) string {
	t.Helper()
	q := newQuestion("agent", start)
	mustCreate(t, s, q)
	return q.ID
}

func mustMark(t *testing.T, s Store, personHash, questionID string, claimedAt time.Time) {
	t.Helper()
	OK(t, s.MarkNotified(t.Context(), personHash, questionID, claimedAt))
}

// wantRefused tries a claim on a subscription that is due, and checks that it is refused.
func wantRefused(t *testing.T, s Store, id string, now time.Time) {
	t.Helper()
	subscription, ok := due(t, s, now)[id]
	if !ok {
		t.Fatalf("subscription %s is not due", id)
	}
	if claimed, err := s.ClaimSubscription(t.Context(), subscription, uuid.NewString(), now); claimed || err != nil {
		t.Errorf("ClaimSubscription = %v, %v; want false and no error", claimed, err)
	}
}

func markNotified(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	first, second := asked(t, s), asked(t, s)
	mustClaim(t, s, subscription.ID, first, start)
	mustMark(t, s, person(0), first, start)
	wantNotified(t, s, first, person(0), start)
	wantNotified(t, s, first, person(1), time.Time{})
	wantNotified(t, s, second, person(0), time.Time{})

	// A later question does not count before its notification is sent; then it is the last one.
	later := start.Add(30 * time.Minute)
	mustClaim(t, s, subscription.ID, second, later)
	wantNotified(t, s, first, person(0), start)
	wantNotified(t, s, second, person(0), time.Time{})
	mustMark(t, s, person(0), second, later)
	wantNotified(t, s, first, person(0), time.Time{})
	wantNotified(t, s, second, person(0), later)
}

// claimPerson has a person with two devices of different intervals: a notification on one counts
// for the other.
func claimPerson(t *testing.T, s Store) {
	often, seldom := newSubscription("often", person(0), start), newSubscription("seldom", person(0), start)
	often.Interval, seldom.Interval = 5*time.Minute, time.Hour
	mustSubscribe(t, s, often)
	mustSubscribe(t, s, seldom)
	other := mustSubscribe(t, s, newSubscription("another person's", person(1), start))
	question := uuid.NewString()

	// While the first notification is under way, the other device waits, but no longer: the
	// notification may never be sent.
	mustClaim(t, s, seldom.ID, question, start)
	wantRefused(t, s, often.ID, start)
	wantRefused(t, s, often.ID, start.Add(5*time.Minute-time.Millisecond))
	wantDue(t, s, start, often.ID, other.ID)
	// Once it is sent, it counts.
	mustMark(t, s, person(0), question, start)
	wantRefused(t, s, often.ID, start)
	wantDue(t, s, start.Add(5*time.Minute-time.Millisecond), other.ID)
	if got := due(t, s, start.Add(5*time.Minute))[often.ID].LastNotifiedAt; !got.Equal(start) {
		t.Errorf("last notified at %v, want %v: it is the person's", got, start)
	}
	mustClaim(t, s, other.ID, question, start)

	// The shortest interval is the person's, each device keeps its own.
	second := start.Add(5 * time.Minute)
	mustClaim(t, s, often.ID, question, second)
	mustMark(t, s, person(0), question, second)
	wantRefused(t, s, seldom.ID, start.Add(time.Hour))
	wantDue(t, s, second.Add(time.Hour-time.Millisecond), often.ID, other.ID)

	// An undone claim restores the state before it, also when it is unknown whether that
	// notification arrived.
	third := second.Add(time.Hour)
	mustClaim(t, s, seldom.ID, question, third)
	fourth := third.Add(5 * time.Minute)
	before := due(t, s, fourth)[often.ID]
	mustClaim(t, s, often.ID, question, fourth)
	OK(t, s.ReleaseSubscription(t.Context(), before, fourth))

	// A device that joins, or comes back, is still the same person's.
	joined := mustSubscribe(t, s, newSubscription("joined", person(0), fourth))
	wantRefused(t, s, joined.ID, third.Add(30*time.Minute-time.Millisecond))
	mustClaim(t, s, joined.ID, question, third.Add(30*time.Minute))
}

// claimPersonRace has several runs take several devices of one person at once.
func claimPersonRace(t *testing.T, s Store) {
	const devices = 4
	for i := range devices {
		mustSubscribe(t, s, newSubscription(person(i), person(0), start))
	}
	var subscriptions []askahuman.Subscription
	for _, subscription := range due(t, s, start) {
		subscriptions = append(subscriptions, subscription)
	}
	claimOnce(t, 3*devices, func(i int) (bool, error) {
		return s.ClaimSubscription(t.Context(), subscriptions[i%devices], uuid.NewString(), start)
	})
}

// claimSubscriptionAnswered checks that a person is not notified of a question that
// they have answered, and can still be notified of another.
func claimSubscriptionAnswered(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	q := newQuestion("agent", start)
	mustCreate(t, s, q)
	mustSubmit(t, s, q.ID, person(0), start)
	if claimed, err := s.ClaimSubscription(t.Context(), due(t, s, start)[subscription.ID], q.ID, start); claimed || err != nil {
		t.Errorf("ClaimSubscription = %v, %v; want false and no error", claimed, err)
	}
	mustClaim(t, s, subscription.ID, uuid.NewString(), start)
}

func claimSubscriptionRace(t *testing.T, s Store) {
	id := mustSubscribe(t, s, newSubscription("token", person(0), start)).ID
	subscription := due(t, s, start)[id]
	claimOnce(t, 16, func(int) (bool, error) {
		return s.ClaimSubscription(t.Context(), subscription, uuid.NewString(), start)
	})
}

// releaseSubscription checks that an unsent notification makes no device wait, and that earlier
// notifications count as before.
func releaseSubscription(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	other := mustSubscribe(t, s, newSubscription("another device", person(0), start))
	sent := asked(t, s)
	for _, at := range []time.Time{start, start.Add(31 * time.Minute)} {
		before := due(t, s, at)[subscription.ID]
		mustClaim(t, s, subscription.ID, uuid.NewString(), at)
		OK(t, s.ReleaseSubscription(t.Context(), before, at))
		after := due(t, s, at)[subscription.ID]
		if !after.NextNotificationAt.Equal(before.NextNotificationAt) || !after.LastNotifiedAt.Equal(before.LastNotifiedAt) {
			t.Errorf("released: last %v, next %v; want %v and %v", after.LastNotifiedAt, after.NextNotificationAt, before.LastNotifiedAt, before.NextNotificationAt)
		}
		mustClaim(t, s, other.ID, sent, at)
		// A release does not undo the claim of another moment.
		OK(t, s.ReleaseSubscription(t.Context(), before, at.Add(-time.Minute)))
		wantRefused(t, s, subscription.ID, at)
		mustMark(t, s, person(0), sent, at)
		wantRefused(t, s, subscription.ID, at)
		wantDue(t, s, at.Add(29*time.Minute))
	}
	// A subscription that ended meanwhile keeps no one waiting.
	at := start.Add(2 * time.Hour)
	before := due(t, s, at)[subscription.ID]
	mustClaim(t, s, subscription.ID, uuid.NewString(), at)
	OK(t, s.Unsubscribe(t.Context(), subscription.ID))
	wantRefused(t, s, other.ID, at)
	OK(t, s.ReleaseSubscription(t.Context(), before, at))
	wantNotified(t, s, sent, person(0), start.Add(31*time.Minute))
	mustClaim(t, s, other.ID, uuid.NewString(), at)
}

func deactivateSubscription(t *testing.T, s Store) {
	subscription := mustSubscribe(t, s, newSubscription("token", person(0), start))
	stale := subscription
	stale.Token = "an older token"
	OK(t, s.DeactivateSubscription(t.Context(), stale, start))
	wantDue(t, s, start, subscription.ID)
	OK(t, s.DeactivateSubscription(t.Context(), subscription, start))
	wantDue(t, s, start)
	if claimed, err := s.ClaimSubscription(t.Context(), subscription, uuid.NewString(), start); claimed || err != nil {
		t.Errorf("a claim on an inactive subscription = %v, %v; want false and no error", claimed, err)
	}
	missing := newSubscription("token of nobody", "", start)
	if err := s.DeactivateSubscription(t.Context(), missing, start); err != nil {
		t.Errorf("DeactivateSubscription of none: %v", err)
	}
	wantDue(t, s, start)
}
