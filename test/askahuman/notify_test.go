package askahuman

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// pushed is a notification as Firebase Cloud Messaging got it.
type pushed struct {
	Token        string
	Notification struct{ Title, Body string }
	Data         map[string]string
}

// pushes are all notifications that the run's push inbox took.
func pushes(t testing.TB, p *platform.Target) []pushed {
	t.Helper()
	messages := runtest.Of(p.Run).Pushes()
	all := make([]pushed, len(messages))
	for i, message := range messages {
		must.OK(t, json.Unmarshal(message.Message, &all[i]))
	}
	return all
}

// The schedule sends a question to people's devices, with title, text and link. Whose token the service no longer knows
// gets nothing more until there is a new one.
func TestNotifications(t *testing.T) {
	t.Parallel()
	target := suite.OwnRun(t, run.Options{})
	one := newPerson(platform.NewClient(t, target))
	dead := subscribe(t, one, onesynthtest.Unique("unregistered"))
	// Subscribing is limited by address, so each device has one of its own.
	other, known := newPerson(platform.NewClient(t, target)), onesynthtest.Unique("token")
	subscribe(t, other, known)
	asker := newAgent(platform.NewClient(t, target))
	asked := asker.ask(t, textQuestion(2))
	runNotifier(t, target)
	got := pushes(t, target)
	if len(got) != 1 || got[0].Token != known || got[0].Notification.Title == "" ||
		got[0].Notification.Body != textQuestion(2).Prompt {
		t.Fatalf("got %+v; want one with the prompt, for %s", got, known)
	}
	link := "/q/" + asked.QuestionID
	if want := map[string]string{"link": link, "url": link, "question_id": asked.QuestionID,
		"type": "text"}; !maps.Equal(got[0].Data, want) {
		t.Errorf("got data %v; want %v", got[0].Data, want)
	}
	// 10 for a text, 5 for a question with under half of its answers, and 3 for a person who was notified.
	if earned := answer(t, other, textAnswer(asked.QuestionID)); earned.PointsEarned != 18 {
		t.Errorf("got %d points for an answer after a notification; want 18", earned.PointsEarned)
	}
	if item := target.Item(t, "Subscriptions", "subscription_id", dead); item == nil ||
		item["active"] != nil {
		t.Errorf("got %v; want a subscription that is not active", item)
	}
	token := onesynthtest.Unique("token")
	onesynthtest.Call(t, one, askahuman.ChangeSubscription, askahuman.SubscriptionParams{ID: dead},
		askahuman.SubscriptionChange{Token: &token})
	asker.ask(t, textQuestion(3))
	runNotifier(t, target)
	if got := pushes(t, target); len(got) != 2 || got[1].Token != token {
		t.Errorf("got %+v; want one for the new token", got)
	}
}
