package askahuman

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func subscriptionAt(token, personHash string, createdAt time.Time) askahuman.Subscription {
	return askahuman.Subscription{
		ID:                 uuid.NewString(),
		Token:              token,
		Minutes:            30,
		LastNotifiedAt:     askahuman.Never,
		NextNotificationAt: askahuman.Never,
		Active:             askahuman.SubscriptionActive,
		PersonHash:         personHash,
		CreatedAt:          createdAt,
		UpdatedAt:          createdAt,
	}
}

func mustSubscribe(t *testing.T, s *platform, subscription askahuman.Subscription) askahuman.Subscription {
	t.Helper()
	return must.Get(storedSubscription(t.Context(), s.people, subscription))(t)
}

// due reads the subscriptions that may be notified at a moment, by id.
func due(t *testing.T, s *platform, now time.Time) map[string]askahuman.Subscription {
	t.Helper()
	list := must.Get(s.notifying.dueSubscriptions(t.Context(), now, 1000))(t)
	byID := map[string]askahuman.Subscription{}
	for _, subscription := range list {
		byID[subscription.ID] = subscription
	}
	return byID
}

func wantDue(t *testing.T, s *platform, now time.Time, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(due(t, s, now)))
	slices.Sort(want)
	wantEqual(t, "due subscriptions", got, want)
}

// claims reports whether a subscription that is due can be claimed for a question.
func claims(t *testing.T, s *platform, id, questionID string, now time.Time) bool {
	t.Helper()
	subscription, ok := due(t, s, now)[id]
	if !ok {
		t.Fatalf("subscription %s is not due", id)
	}
	return must.Get(s.notifying.claimSubscription(t.Context(), subscription, questionID, now))(t)
}

func mustClaim(t *testing.T, s *platform, id, questionID string, now time.Time) {
	t.Helper()
	if !claims(t, s, id, questionID, now) {
		t.Fatalf("subscription %s is not claimed", id)
	}
}

func wantRefused(t *testing.T, s *platform, id string, now time.Time) {
	t.Helper()
	if claims(t, s, id, uuid.NewString(), now) {
		t.Errorf("subscription %s is claimed", id)
	}
}

func TestSubscribeSameToken(t *testing.T) {
	s := newFew(t)
	first := mustSubscribe(t, s, subscriptionAt("token", "", ten))
	now := ten.Add(time.Minute)
	mustClaim(t, s, first.ID, uuid.NewString(), now)
	must.OK(t, s.notifying.deactivateSubscription(t.Context(), first, now))

	again := subscriptionAt("token", person(0), ten.Add(2*time.Minute))
	again.Minutes = 10
	stored := mustSubscribe(t, s, again)
	if stored.ID != first.ID || stored.Minutes != 10 || stored.PersonHash != person(0) || stored.Active == "" {
		t.Errorf("subscribed again = %+v; want subscription %s with the new interval and person, active", stored,
			first.ID)
	}
	// A request without a person leaves the subscription to the one it has.
	if stored := mustSubscribe(t, s, subscriptionAt("token", "", ten.Add(3*time.Minute))); stored.PersonHash != person(
		0) || stored.Minutes != 30 {
		t.Errorf("subscribed without a person = %+v; want the person from before, and the new interval", stored)
	}
	mustSubscribe(t, s, again)
	// Subscribing again does not make the next notification come earlier than the
	// person chose.
	wantDue(t, s, now.Add(10*time.Minute-time.Millisecond))
	wantDue(t, s, now.Add(10*time.Minute), first.ID)
}

func TestFindSubscription(t *testing.T) {
	s := newFew(t)
	find := func(token, personHash, want string) {
		t.Helper()
		var tokens []string
		if token != "" {
			tokens = []string{"a token of no one", token}
		}
		id, has, err := s.people.findSubscription(t.Context(), personHash, tokens...)
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
	unknown := mustSubscribe(t, s, subscriptionAt("unknown's", "", ten))
	first := mustSubscribe(t, s, subscriptionAt("first", person(0), ten))
	second := mustSubscribe(t, s, subscriptionAt("second", person(0), ten.Add(time.Minute)))
	find("unknown's", "", unknown.ID)
	find("first", "", first.ID)
	find("", person(0), second.ID)
	find("", person(1), "")

	// A token that has moved on names nothing, the person names the same.
	must.Get(s.people.changeSubscription(t.Context(), second.ID, "third", 0, ten))(t)
	find("second", "", "")
	find("third", "", second.ID)
	find("", person(0), second.ID)
	// The device becomes another person's.
	mustSubscribe(t, s, subscriptionAt("third", person(1), ten))
	find("", person(0), "")
	find("", person(1), second.ID)
	// A new subscription is the person's last one, also after another one ends.
	mustSubscribe(t, s, subscriptionAt("first", person(0), ten))
	other := mustSubscribe(t, s, subscriptionAt("fourth", person(0), ten))
	mustSubscribe(t, s, subscriptionAt("first", person(0), ten))
	must.OK(t, s.people.Unsubscribe(t.Context(), other.ID))
	find("", person(0), first.ID)
	must.OK(t, s.people.Unsubscribe(t.Context(), first.ID))
	find("", person(0), "")
	find("first", "", "")

	// A token that moves between a person's subscriptions ends one of them, and the
	// other one is the last.
	kept := mustSubscribe(t, s, subscriptionAt("kept", person(2), ten))
	mustSubscribe(t, s, subscriptionAt("moved", person(2), ten))
	must.Get(s.people.changeSubscription(t.Context(), kept.ID, "moved", 0, ten.Add(time.Minute)))(t)
	find("", person(2), kept.ID)
	// One that moves to another person's ends the first person's last.
	taker := mustSubscribe(t, s, subscriptionAt("taker", person(3), ten))
	must.Get(s.people.changeSubscription(t.Context(), taker.ID, "moved", 0, ten.Add(2*time.Minute)))(t)
	find("", person(2), "")
	find("", person(3), taker.ID)
}

// TestRenewSubscription renews a subscription on what was read of it, which is mostly still so.
func TestRenewSubscription(t *testing.T) {
	s := newFew(t)
	subscription := mustSubscribe(t, s, subscriptionAt("token", person(0), ten))
	now := ten.Add(time.Minute)
	mustClaim(t, s, subscription.ID, uuid.NewString(), now)
	must.OK(t, s.notifying.deactivateSubscription(t.Context(), subscription, now))
	taken := mustSubscribe(t, s, subscriptionAt("taken", person(1), ten))
	wait := 30
	for _, test := range []struct {
		from, to string
		minutes  int
	}{
		{"token", "second", 0},
		{"second", "third", 30},
		{"third", "third", 0},
		// It has another interval, and then another token than it had.
		{"third", "fourth", 10},
		{"token", "fifth", 0},
		{"token", "fifth", 20},
		// Another subscription has the token, and ends.
		{"fifth", "taken", 0},
	} {
		must.OK(t, s.people.renewSubscription(t.Context(), subscription.ID, test.from, test.to, test.minutes, now))
		if test.minutes > 0 {
			wait = test.minutes
		}
		from := now.Add(time.Duration(wait) * time.Minute)
		if _, early := due(t, s, from.Add(-time.Millisecond))[subscription.ID]; early {
			t.Errorf("%+v: due before the interval has passed", test)
		}
		if got := due(t, s, from)[subscription.ID]; got.Token != test.to || got.Minutes != wait ||
			got.PersonHash != person(0) {
			t.Errorf("%+v: due %+v", test, got)
		}
		if id, _, err := s.people.findSubscription(t.Context(), "", test.to); id != subscription.ID || err != nil {
			t.Errorf("%+v: the token is of %s, %v", test, id, err)
		}
		if test.from != test.to {
			_, _, err := s.people.findSubscription(t.Context(), "", test.from)
			wantError(t, err, askahuman.ErrSubscriptionNotFound)
		}
	}
	wantError(t, s.people.Unsubscribe(t.Context(), taken.ID), askahuman.ErrSubscriptionNotFound)
	must.OK(t, s.people.Unsubscribe(t.Context(), subscription.ID))
	wantError(t, s.people.renewSubscription(t.Context(), subscription.ID, "taken", "token", 0, now),
		askahuman.ErrSubscriptionNotFound)
}

func TestChangeSubscription(t *testing.T) {
	s := newFew(t)
	subscription := mustSubscribe(t, s, subscriptionAt("token", person(0), ten))
	now := ten.Add(time.Minute)
	mustClaim(t, s, subscription.ID, uuid.NewString(), now)

	changed, err := s.people.changeSubscription(t.Context(), subscription.ID, "", 5, now)
	if err != nil || changed.Token != "token" || changed.Minutes != 5 {
		t.Errorf("new interval: %+v, %v", changed, err)
	}
	wantDue(t, s, now.Add(5*time.Minute-time.Millisecond))
	wantDue(t, s, now.Add(5*time.Minute), subscription.ID)

	changed, err = s.people.changeSubscription(t.Context(), subscription.ID, "new token", 0, now)
	if err != nil || changed.Token != "new token" || changed.Minutes != 5 {
		t.Errorf("new token: %+v, %v", changed, err)
	}
	if got := due(t, s, now.Add(time.Hour))[subscription.ID].Token; got != "new token" {
		t.Errorf("token = %q, want the new one", got)
	}
	// The old token is free, the new one is not.
	if other := mustSubscribe(t, s, subscriptionAt("token", "", now)); other.ID == subscription.ID {
		t.Error("the old token still belongs to the subscription")
	}
	if same := mustSubscribe(t, s, subscriptionAt("new token", "", now)); same.ID != subscription.ID {
		t.Error("the new token does not belong to the subscription")
	}

	must.OK(t, s.notifying.deactivateSubscription(t.Context(), changed, now))
	changed, err = s.people.changeSubscription(t.Context(), subscription.ID, "", 0, now)
	if err != nil || changed.Active == "" {
		t.Errorf("changing makes active: %+v, %v", changed, err)
	}

	_, err = s.people.changeSubscription(t.Context(), uuid.NewString(), "token", 0, now)
	wantError(t, err, askahuman.ErrSubscriptionNotFound)
}

// TestChangeSubscriptionRace lets several devices take one token at once: one ends up with it.
func TestChangeSubscriptionRace(t *testing.T) {
	s := newFew(t)
	const devices = 4
	var subscriptions []askahuman.Subscription
	for i := range devices {
		subscriptions = append(subscriptions, mustSubscribe(t, s, subscriptionAt(person(i), "", ten)))
	}
	errs := atOnce(devices, func(i int) error {
		_, err := s.people.changeSubscription(t.Context(), subscriptions[i].ID, "wanted by all", 0, ten)
		return err
	})
	refused := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	other := func(err error) bool { return !errors.Is(err, askahuman.ErrSubscriptionNotFound) }
	if len(refused) == devices || slices.ContainsFunc(refused, other) {
		t.Errorf("%d of %d got the token, the others %v", devices-len(refused), devices, refused)
	}
	holders := 0
	for _, subscription := range due(t, s, ten) {
		if subscription.Token == "wanted by all" {
			holders++
		}
	}
	if holders != 1 {
		t.Errorf("%d subscriptions have the token, want 1", holders)
	}
}

func dueQuestionIDs(t *testing.T, s *platform, now time.Time, most int) []string {
	t.Helper()
	due := reading(s.notifying.dueQuestions(t.Context(), now))
	defer due.stop()
	return must.Get(due.take(most))(t)
}

func TestDueQuestions(t *testing.T) {
	s := newFew(t)
	first, second, later, closed := questionAt("agent", ten), questionAt("agent", ten.Add(time.Second)),
		questionAt("agent", ten.Add(time.Minute)), questionAt("agent", ten)
	mustCreate(t, s, second, first, later, closed)
	must.Get(s.notifying.endQuestion(t.Context(), closed, ten))(t)
	now := ten.Add(30 * time.Second)
	wantEqual(t, "due", dueQuestionIDs(t, s, now, 100), []string{first.ID, second.ID})
	wantEqual(t, "the first due", dueQuestionIDs(t, s, now, 1), []string{first.ID})

	next := ten.Add(15 * time.Minute)
	if claimed, err := s.notifying.claimQuestion(t.Context(), first, now, next); !claimed || err != nil {
		t.Fatalf("ClaimQuestion = %v, %v", claimed, err)
	}
	wantEqual(t, "due after a claim", dueQuestionIDs(t, s, now, 100), []string{second.ID})
	want := first
	want.NotifiedAt, want.DueAt = now, next
	wantEqual(t, "claimed question", mustRead(t, s, first.ID), want)
	if claimed, err := s.notifying.claimQuestion(t.Context(), first, now, next.Add(time.Minute)); claimed ||
		err != nil {
		t.Errorf("a claim on an older read = %v, %v; want false and no error", claimed, err)
	}
	// Given back by the run that claimed it, as it was.
	if claimed, err := s.notifying.claimQuestion(t.Context(), want, first.NotifiedAt, first.DueAt); !claimed ||
		err != nil {
		t.Errorf("ClaimQuestion back = %v, %v", claimed, err)
	}
	wantEqual(t, "question given back", mustRead(t, s, first.ID), first)
	wantEqual(t, "due after it was given back", dueQuestionIDs(t, s, now, 100), []string{first.ID, second.ID})

	if claimed, err := s.notifying.claimQuestion(t.Context(), closed, now, next); claimed || err != nil {
		t.Errorf("a claim on a closed question = %v, %v; want false and no error", claimed, err)
	}
}

func TestDueSubscriptions(t *testing.T) {
	s := newFew(t)
	var subscriptions []askahuman.Subscription
	for i := range 5 {
		subscriptions = append(subscriptions, mustSubscribe(t, s, subscriptionAt(person(i), "", ten)))
	}
	question := uuid.NewString()
	for i, subscription := range subscriptions[:4] {
		mustClaim(t, s, subscription.ID, question, ten.Add(time.Duration(4-i)*time.Minute))
	}
	wantDue(t, s, ten.Add(20*time.Minute), subscriptions[4].ID)
	list := must.Get(s.notifying.dueSubscriptions(t.Context(), ten.Add(33*time.Minute), 3))(t)
	var got []string
	for _, subscription := range list {
		got = append(got, subscription.ID)
	}
	wantEqual(t, "due, longest ago first", got, []string{subscriptions[4].ID, subscriptions[3].ID, subscriptions[2].ID})
}

func TestClaimSubscription(t *testing.T) {
	s := newFew(t)
	subscription := mustSubscribe(t, s, subscriptionAt("token", person(0), ten))
	anonymous := mustSubscribe(t, s, subscriptionAt("another token", "", ten))
	question := asked(t, s)
	now := ten.Add(time.Minute)
	before := due(t, s, now)[subscription.ID]
	mustClaim(t, s, subscription.ID, question, now)
	mustClaim(t, s, anonymous.ID, question, now)
	wantDue(t, s, now.Add(30*time.Minute-time.Millisecond))
	wantDue(t, s, now.Add(30*time.Minute), subscription.ID, anonymous.ID)
	if got := due(t, s, now.Add(30*time.Minute))[subscription.ID].LastNotifiedAt; !got.Equal(now) {
		t.Errorf("last notified at %v, want %v", got, now)
	}
	if claimed, err := s.notifying.claimSubscription(t.Context(), before, question, now); claimed || err != nil {
		t.Errorf("a claim on an older read = %v, %v; want false and no error", claimed, err)
	}
	// A claim is no notification.
	wantNotified(t, s, question, person(0), time.Time{})

	// A subscription that has changed since it was read is not claimed, and its person need not wait.
	later := now.Add(time.Hour)
	before = due(t, s, later)[subscription.ID]
	other := mustSubscribe(t, s, subscriptionAt("another device", person(0), later))
	must.Get(s.people.changeSubscription(t.Context(), subscription.ID, "a new token", 0, later))(t)
	if claimed, err := s.notifying.claimSubscription(t.Context(), before, question, later); claimed || err != nil {
		t.Errorf("a claim on an older token = %v, %v; want false and no error", claimed, err)
	}
	mustClaim(t, s, other.ID, question, later)
}

func wantNotified(t *testing.T, s *platform, questionID, personHash string, want time.Time) {
	t.Helper()
	if got, err := s.people.answerState(t.Context(), questionID, personHash, ten); err != nil ||
		!got.notifiedAt.Equal(want) {
		t.Errorf("notified at %v, %v; want %v", got.notifiedAt, err, want)
	}
}

// asked is the id of a new question.
func asked(t *testing.T, s *platform) string {
	t.Helper()
	q := questionAt("agent", ten)
	mustCreate(t, s, q)
	return q.ID
}

func TestMarkNotified(t *testing.T) {
	s := newFew(t)
	subscription := mustSubscribe(t, s, subscriptionAt("token", person(0), ten))
	first, second := asked(t, s), asked(t, s)
	mustClaim(t, s, subscription.ID, first, ten)
	must.OK(t, s.notifying.markNotified(t.Context(), person(0), first, ten))
	wantNotified(t, s, first, person(0), ten)
	wantNotified(t, s, first, person(1), time.Time{})
	wantNotified(t, s, second, person(0), time.Time{})

	// A later question does not count before its notification is sent; then it is the last one.
	later := ten.Add(30 * time.Minute)
	mustClaim(t, s, subscription.ID, second, later)
	wantNotified(t, s, first, person(0), ten)
	wantNotified(t, s, second, person(0), time.Time{})
	must.OK(t, s.notifying.markNotified(t.Context(), person(0), second, later))
	wantNotified(t, s, first, person(0), time.Time{})
	wantNotified(t, s, second, person(0), later)
}

// TestClaimSubscriptionPerson has a person with two devices of different intervals: a notification on one counts
// for the other.
func TestClaimSubscriptionPerson(t *testing.T) {
	s := newFew(t)
	often, seldom := subscriptionAt("often", person(0), ten), subscriptionAt("seldom", person(0), ten)
	often.Minutes, seldom.Minutes = 5, 60
	mustSubscribe(t, s, often)
	mustSubscribe(t, s, seldom)
	other := mustSubscribe(t, s, subscriptionAt("another person's", person(1), ten))
	question := uuid.NewString()

	// While the first notification is under way, the other device waits, but no longer: the
	// notification may never be sent.
	mustClaim(t, s, seldom.ID, question, ten)
	wantRefused(t, s, often.ID, ten)
	wantRefused(t, s, often.ID, ten.Add(5*time.Minute-time.Millisecond))
	wantDue(t, s, ten, often.ID, other.ID)
	// Once it is sent, it counts.
	must.OK(t, s.notifying.markNotified(t.Context(), person(0), question, ten))
	wantRefused(t, s, often.ID, ten)
	wantDue(t, s, ten.Add(5*time.Minute-time.Millisecond), other.ID)
	if got := due(t, s, ten.Add(5*time.Minute))[often.ID].LastNotifiedAt; !got.Equal(ten) {
		t.Errorf("last notified at %v, want %v: it is the person's", got, ten)
	}
	mustClaim(t, s, other.ID, question, ten)

	// The shortest interval is the person's, each device keeps its own.
	second := ten.Add(5 * time.Minute)
	mustClaim(t, s, often.ID, question, second)
	must.OK(t, s.notifying.markNotified(t.Context(), person(0), question, second))
	wantRefused(t, s, seldom.ID, ten.Add(time.Hour))
	wantDue(t, s, second.Add(time.Hour-time.Millisecond), often.ID, other.ID)

	// An undone claim restores the state before it, also when it is unknown whether that
	// notification arrived.
	third := second.Add(time.Hour)
	mustClaim(t, s, seldom.ID, question, third)
	fourth := third.Add(5 * time.Minute)
	before := due(t, s, fourth)[often.ID]
	mustClaim(t, s, often.ID, question, fourth)
	must.OK(t, s.notifying.releaseSubscription(t.Context(), before, fourth))

	// A device that joins, or comes back, is still the same person's.
	joined := mustSubscribe(t, s, subscriptionAt("joined", person(0), fourth))
	wantRefused(t, s, joined.ID, third.Add(30*time.Minute-time.Millisecond))
	mustClaim(t, s, joined.ID, question, third.Add(30*time.Minute))
}

// TestClaimSubscriptionPersonRace has several runs take several devices of one person at once.
func TestClaimSubscriptionPersonRace(t *testing.T) {
	s := newFew(t)
	const devices = 4
	for i := range devices {
		mustSubscribe(t, s, subscriptionAt(person(i), person(0), ten))
	}
	var subscriptions []askahuman.Subscription
	for _, subscription := range due(t, s, ten) {
		subscriptions = append(subscriptions, subscription)
	}
	claimed := atOnce(3*devices, func(i int) bool {
		claimed, err := s.notifying.claimSubscription(t.Context(), subscriptions[i%devices], uuid.NewString(), ten)
		if err != nil {
			t.Errorf("claim: %v", err)
		}
		return claimed
	})
	if n := len(slices.DeleteFunc(claimed, func(claimed bool) bool { return !claimed })); n != 1 {
		t.Errorf("%d runs succeeded with their claim, want 1", n)
	}
}

// TestClaimSubscriptionAnswered checks that a person is not notified of a question that
// they have answered, and can still be notified of another.
func TestClaimSubscriptionAnswered(t *testing.T) {
	s := newFew(t)
	subscription := mustSubscribe(t, s, subscriptionAt("token", person(0), ten))
	q := questionAt("agent", ten)
	mustCreate(t, s, q)
	mustSubmit(t, s, q.ID, person(0), ten)
	if claimed, err := s.notifying.claimSubscription(t.Context(), due(t, s, ten)[subscription.ID], q.ID,
		ten); claimed || !errors.Is(err, errAnswered) {
		t.Errorf("ClaimSubscription = %v, %v; want false and %v", claimed, err, errAnswered)
	}
	mustClaim(t, s, subscription.ID, uuid.NewString(), ten)
}

// TestReleaseSubscription checks that an unsent notification makes no device wait, and that earlier
// notifications count as before.
func TestReleaseSubscription(t *testing.T) {
	s := newFew(t)
	subscription := mustSubscribe(t, s, subscriptionAt("token", person(0), ten))
	other := mustSubscribe(t, s, subscriptionAt("another device", person(0), ten))
	sent := asked(t, s)
	for _, at := range []time.Time{ten, ten.Add(31 * time.Minute)} {
		before := due(t, s, at)[subscription.ID]
		mustClaim(t, s, subscription.ID, uuid.NewString(), at)
		must.OK(t, s.notifying.releaseSubscription(t.Context(), before, at))
		after := due(t, s, at)[subscription.ID]
		if !after.NextNotificationAt.Equal(before.NextNotificationAt) ||
			!after.LastNotifiedAt.Equal(before.LastNotifiedAt) {
			t.Errorf("released: last %v, next %v; want %v and %v", after.LastNotifiedAt, after.NextNotificationAt,
				before.LastNotifiedAt, before.NextNotificationAt)
		}
		mustClaim(t, s, other.ID, sent, at)
		// A release does not undo the claim of another moment.
		must.OK(t, s.notifying.releaseSubscription(t.Context(), before, at.Add(-time.Minute)))
		wantRefused(t, s, subscription.ID, at)
		must.OK(t, s.notifying.markNotified(t.Context(), person(0), sent, at))
		wantRefused(t, s, subscription.ID, at)
		wantDue(t, s, at.Add(29*time.Minute))
	}
	// A subscription that ended meanwhile keeps no one waiting.
	at := ten.Add(2 * time.Hour)
	before := due(t, s, at)[subscription.ID]
	mustClaim(t, s, subscription.ID, uuid.NewString(), at)
	must.OK(t, s.people.Unsubscribe(t.Context(), subscription.ID))
	wantRefused(t, s, other.ID, at)
	must.OK(t, s.notifying.releaseSubscription(t.Context(), before, at))
	wantNotified(t, s, sent, person(0), ten.Add(31*time.Minute))
	mustClaim(t, s, other.ID, uuid.NewString(), at)
}

func TestDeactivateSubscription(t *testing.T) {
	s := newFew(t)
	subscription := mustSubscribe(t, s, subscriptionAt("token", person(0), ten))
	stale := subscription
	stale.Token = "an older token"
	must.OK(t, s.notifying.deactivateSubscription(t.Context(), stale, ten))
	wantDue(t, s, ten, subscription.ID)
	must.OK(t, s.notifying.deactivateSubscription(t.Context(), subscription, ten))
	wantDue(t, s, ten)
	if claimed, err := s.notifying.claimSubscription(t.Context(), subscription, uuid.NewString(), ten); claimed ||
		err != nil {
		t.Errorf("a claim on an inactive subscription = %v, %v; want false and no error", claimed, err)
	}
	missing := subscriptionAt("token of nobody", "", ten)
	if err := s.notifying.deactivateSubscription(t.Context(), missing, ten); err != nil {
		t.Errorf("DeactivateSubscription of none: %v", err)
	}
	wantDue(t, s, ten)
}
