package askahuman

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	http_helper "github.com/gruntwork-io/terratest/modules/http-helper"

	"github.com/onesynth-cdk/onesynth/internal/aws"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/internal/services/fcm"
	"github.com/onesynth-cdk/onesynth/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// pushed is a notification as Firebase Cloud Messaging got it.
type pushed struct {
	Token        string
	Notification struct{ Title, Body string }
	Data         map[string]string
}

// pushes are all notifications that the run's push inbox took, as its console shows
// them.
func (p *target) pushes(t testing.TB) []pushed {
	t.Helper()
	status, body := http_helper.HTTPGetContext(t, t.Context(), p.Run.ConsoleURL()+"/push", nil)
	var messages []struct{ Message pushed }
	if err := json.Unmarshal([]byte(body), &messages); status != http.StatusOK || err != nil {
		t.Fatalf("got push inbox %d %.300s: %v", status, body, err)
	}
	all := make([]pushed, len(messages))
	for i, message := range messages {
		all[i] = message.Message
	}
	return all
}

// subscribers subscribes people, each with a device of its own. Subscribing is
// limited by address, so each has that, too.
func subscribers(t testing.TB, target *target, n int) (people []person, tokens []string) {
	t.Helper()
	for range n {
		one, token := newClient(t, target).newPerson(), onesynthtest.Unique("token")
		one.subscribe(t, subscribe{Token: token, Interval: 5})
		people, tokens = append(people, one), append(tokens, token)
	}
	return people, tokens
}

// A new question notifies three times as many people as it needs answers, at once, with title, text
// and link. A person who answers at once earns more.
func TestNotifications(t *testing.T) {
	t.Parallel()
	target := ownRun(t, local.Options{})
	people, tokens := subscribers(t, target, 8)
	asker := newClient(t, target).newAgent()
	question := textQuestion(2)
	question.Prompt = "Is a prompt of more than one hundred and twenty characters cut where it has to be, or " +
		strings.Repeat("does it go on and on ", 20) + "?"
	asked := asker.ask(t, question)
	target.runNotifier(t)

	got := target.pushes(t)
	if len(got) != 6 {
		t.Fatalf("got %d notifications; want 6, three for each answer", len(got))
	}
	notified := map[string]bool{}
	for _, one := range got {
		if notified[one.Token] || !slices.Contains(tokens, one.Token) {
			t.Errorf("got a notification for %s, who had one or does not exist", one.Token)
		}
		notified[one.Token] = true
		if one.Notification.Title == "" || !strings.HasPrefix(one.Notification.Body, "Is a prompt of more") ||
			len([]rune(one.Notification.Body)) > 120 {
			t.Errorf("got %+v; want a title and the beginning of the prompt", one.Notification)
		}
		link := "/q/" + asked.QuestionID
		if want := map[string]string{"link": link, "url": link, "question_id": asked.QuestionID,
			"type": "text"}; !maps.Equal(one.Data, want) {
			t.Errorf("got data %v; want %v", one.Data, want)
		}
	}

	// No person is notified of another question before their interval has passed.
	asker.ask(t, textQuestion(5))
	target.runNotifier(t)
	if all := target.pushes(t); len(all) != len(tokens) {
		t.Errorf("got %d notifications after the second question; want %d, one for each person", len(all), len(tokens))
	}

	// 10 for a text, 5 for a question with under half of its answers, and 3 for a person
	// who was notified, which no one else can claim.
	for i, one := range people {
		if !notified[tokens[i]] {
			continue
		}
		if earned := one.answer(t, textAnswer(asked.QuestionID)); earned.PointsEarned != 18 {
			t.Errorf("got %d points for an answer after a notification; want 18", earned.PointsEarned)
		}
		break
	}
	for i, one := range people {
		if notified[tokens[i]] {
			continue
		}
		if earned := one.answer(t, textAnswer(asked.QuestionID)); earned.PointsEarned != 10 {
			t.Errorf("got %d points for an answer without a notification; want 10", earned.PointsEarned)
		}
		break
	}
}

// A question that still needs answers notifies again after a quarter of an hour, people whose
// interval has passed. A person with two devices is one person, and the shorter of their intervals
// counts.
func TestNotifiedAgain(t *testing.T) {
	t.Parallel()
	target := ownRun(t, local.Options{})
	_, tokens := subscribers(t, target, 2)
	two, often, seldom := newClient(t, target).newPerson(), onesynthtest.Unique("token"), onesynthtest.Unique("token")
	two.subscribe(t, subscribe{Token: often, Interval: 5})
	two.subscribe(t, subscribe{Token: seldom, Interval: 60})
	people := len(tokens) + 1
	asked := newClient(t, target).newAgent().ask(t, textQuestion(2))
	target.runNotifier(t)
	target.runNotifier(t)
	if got := target.pushes(t); len(got) != people {
		t.Fatalf("got %d notifications after two runs; want %d", len(got), people)
	}
	// Another question, while the person of two devices waits.
	newClient(t, target).newAgent().ask(t, textQuestion(2))
	target.runNotifier(t)
	if got := target.pushes(t); len(got) != people {
		t.Fatalf("got %d notifications after another question; want %d", len(got), people)
	}
	// Only time has to pass: it passes in the tables.
	target.turnBack(t, "Questions", "question_id", asked.QuestionID, "due_at", 16*time.Minute)
	for _, item := range target.Items(t, "Subscriptions") {
		if item["next_notification_at"] != nil && item["fcm_token"] != seldom {
			target.turnBack(t, "Subscriptions", "subscription_id", item["subscription_id"].(string),
				"next_notification_at", 16*time.Minute)
		}
	}
	for _, item := range target.Items(t, "Guards") {
		if key := item["guard_key"].(string); strings.HasPrefix(key, "NOTIFIED#") {
			target.turnBack(t, "Guards", "guard_key", key, "claimed_at", 16*time.Minute)
			target.turnBack(t, "Guards", "guard_key", key, "notified_at", 16*time.Minute)
		}
	}
	target.runNotifier(t)
	got := target.pushes(t)
	if len(got) != 2*people {
		t.Errorf("got %d notifications a quarter of an hour later; want %d", len(got), 2*people)
	}
	for _, one := range got[people:] {
		if one.Token == seldom {
			t.Error("the device of an hour got a notification after a quarter of one")
		}
	}
}

// turnBack sets a moment of an item to so long before now.
func (p *target) turnBack(t testing.TB, table, key, value, attribute string, by time.Duration) {
	t.Helper()
	p.Set(t, table, key, value, map[string]any{attribute: time.Now().Add(-by).UTC().Format("2006-01-02T15:04:05.000Z")})
}

// A dead token ends the notifications of its subscription alone. It earns no points for a quick
// answer, and its person need not wait for the interval.
func TestDeadTokenIsDeactivated(t *testing.T) {
	t.Parallel()
	target := ownRun(t, local.Options{})
	one := newClient(t, target).newPerson()
	dead := one.subscribe(t, subscribe{Token: onesynthtest.Unique("unregistered"), Interval: 5})
	_, tokens := subscribers(t, target, 1)
	asker := newClient(t, target).newAgent()
	asked := asker.ask(t, textQuestion(3))
	target.runNotifier(t)
	if got := target.pushes(t); len(got) != 1 || got[0].Token != tokens[0] {
		t.Errorf("got %+v; want one for %s", got, tokens[0])
	}
	if item := target.Item(t, "Subscriptions", "subscription_id", dead.SubscriptionID); item == nil ||
		item["active"] != nil {
		t.Errorf("got %v; want a subscription that is not active", item)
	}
	// 10 for a text, 5 for a question with under half of its answers.
	if earned := one.answer(t, textAnswer(asked.QuestionID)); earned.PointsEarned != 15 {
		t.Errorf("got %d points for an answer after a notification that was not delivered; want 15",
			earned.PointsEarned)
	}
	// A new token makes it active again, at once.
	token := onesynthtest.Unique("token")
	onesynthtest.Read[subscription](t, one.try(t, http.MethodPut, "/human/push/subscribe/"+dead.SubscriptionID,
		subscribe{Token: token}), http.StatusOK)
	asker.ask(t, textQuestion(3))
	target.runNotifier(t)
	if got := target.pushes(t); !slices.ContainsFunc(got, func(p pushed) bool { return p.Token == token }) {
		t.Errorf("got %+v; want one for the new token", got)
	}
}

// Notifications that failed while the push service was down are sent once it is up.
func TestOutageIsRetried(t *testing.T) {
	t.Parallel()
	for _, fault := range []fcm.Fault{fcm.Unavailable, fcm.QuotaExceeded, fcm.Internal} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			target := ownRun(t, local.Options{})
			_, tokens := subscribers(t, target, 3)
			for _, token := range tokens {
				if err := rooms.Of(target.Run).Inbox.Fail(token, fault); err != nil {
					t.Fatal(err)
				}
			}
			newClient(t, target).newAgent().ask(t, textQuestion(1))
			target.runNotifier(t)
			if got := target.pushes(t); len(got) != 0 {
				t.Fatalf("got %+v during the outage", got)
			}
			for _, token := range tokens {
				if err := rooms.Of(target.Run).Inbox.Fail(token, ""); err != nil {
					t.Fatal(err)
				}
			}
			target.runNotifier(t)
			if got := target.pushes(t); len(got) != len(tokens) {
				t.Errorf("got %d notifications after the outage; want %d", len(got), len(tokens))
			}
		})
	}
}

// Overlapping runs notify no person twice, and for no question more people than it needs, also when
// runs fail. The test does not run beside others: on an overloaded machine a request to DynamoDB
// gets no answer, and a run then notifies one person too few.
func TestOverlappingRunsNotifyOnce(t *testing.T) {
	tests := map[string]struct {
		faults aws.Faults
		kills  bool
	}{
		"Undisturbed": {},
		"WithFaults":  {faults: aws.Faults{Throttle: 0.05, TransactionConflict: 0.05, DropResponse: 0.03, Seed: 3}},
		"WithKills":   {kills: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := ownRun(t, local.Options{})
			const runs, questions, people = 4, 20, 64
			overlapping := func() error {
				return onesynthtest.Together(runs, func(int) error {
					return target.Run.RunSchedule(t.Context(), target.Schedule(t, ""))
				})
			}
			// Runs that have to start first would come one after the other.
			if err := overlapping(); err != nil {
				t.Fatal(err)
			}
			persons, tokens := subscribers(t, target, people)
			personOf := map[string]int{}
			for i, token := range tokens {
				personOf[token] = i
			}
			// Every fourth person has a second device.
			for i := 0; i < people; i += 4 {
				token := onesynthtest.Unique("token")
				persons[i].subscribe(t, subscribe{Token: token, Interval: 5})
				personOf[token] = i
			}
			asker := newClient(t, target).newAgent()
			for range questions {
				asker.ask(t, textQuestion(1))
			}
			if err := rooms.Of(target.Run).AWS.SetFaults(test.faults); err != nil {
				t.Fatal(err)
			}
			if test.kills {
				// Each run dies once some people have been notified; the next ones do the rest.
				died := 0
				for killed := 0; killed < runs; killed++ {
					ended := make(chan error, 1)
					before := len(target.pushes(t))
					go func() { ended <- overlapping() }()
					onesynthtest.SettledSoon(t, "a person is notified, or no one is left", func() bool {
						return len(target.pushes(t)) > before || len(ended) > 0
					})
					if _, err := target.Run.Kill(target.Function(t, "Notifier")); err != nil &&
						!errors.Is(err, lambda.ErrNotRunning) {
						t.Fatal(err)
					}
					if <-ended != nil {
						died++
					}
				}
				if died == 0 {
					t.Error("no run has died: the test has shown nothing")
				}
			}
			// A run ends with its time. On a busy machine it leaves people to the next one.
			for sent := -1; sent < len(target.pushes(t)); {
				sent = len(target.pushes(t))
				if err := overlapping(); err != nil {
					t.Fatal(err)
				}
			}

			perPerson, perQuestion := map[int]int{}, map[string]int{}
			for _, one := range target.pushes(t) {
				person, known := personOf[one.Token]
				if !known {
					t.Errorf("got a notification for %s, who is no one", one.Token)
				}
				perPerson[person]++
				perQuestion[one.Data["link"]]++
			}
			for person, n := range perPerson {
				if n > 1 {
					t.Errorf("person %d: got %d notifications; want at most 1", person, n)
				}
			}
			for link, n := range perQuestion {
				// A notification that died with a run, or was lost, is not sent again: too few are
				// better than too many.
				if n > 3 || n < 3 && name == "Undisturbed" {
					t.Errorf("%s: got %d notifications; want 3", link, n)
				}
			}
			if len(perQuestion) != questions && name == "Undisturbed" || len(perQuestion) < questions/2 {
				t.Errorf("got notifications of %d questions; want %d", len(perQuestion), questions)
			}
		})
	}
}
