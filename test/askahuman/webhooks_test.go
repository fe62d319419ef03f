package askahuman

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

func (a agent) webhookSecrets(t testing.TB) []string {
	t.Helper()
	return onesynthtest.Call(t, a, askahuman.ReadWebhookSecrets, schema.None{}, schema.None{}).Value.Secrets
}

// on is a question whose webhook goes to a path of the run's own endpoint.
func withWebhook(p *platform.Target, path string, question askahuman.Ask) askahuman.Ask {
	question.CallbackURL = new(p.Run.WebhooksURL() + path)
	return question
}

// dueWebhooks lets the time until the next attempt at each webhook pass.
func dueWebhooks(t testing.TB, p *platform.Target) {
	t.Helper()
	runner := runtest.Of(p.Run)
	for _, queue := range runner.Queues() {
		if strings.Contains(queue, "Webhooks") {
			must.Get(runner.MakeDue(queue))(t)
		}
	}
}

// When a question closes, its agent's endpoint gets a webhook, which the official library verifies by each
// secret.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	target.LocalOnly(t, "an endpoint on this machine takes the webhooks")
	c := platform.NewClient(t, target)
	asker := newAgent(c)
	former := asker.webhookSecrets(t)
	both := onesynthtest.Call(t, asker, askahuman.RotateWebhookSecret, schema.None{}, schema.None{}).Value.Secrets
	if len(former) != 1 || len(both) != 2 || both[1] != former[0] {
		t.Fatalf("got %d secrets, and %d after a rotation", len(former), len(both))
	}
	path := onesynthtest.Unique("closed")
	answered := asker.ask(t, withWebhook(target, path, textQuestion(2)))
	for range 2 {
		answer(t, newPerson(c), textAnswer(answered.QuestionID))
	}
	var arrived []runtest.Webhook
	wait.Until(t, "the webhook arrives", func() (any, bool) {
		arrived = slices.DeleteFunc(runtest.Of(target.Run).Webhooks(), func(w runtest.Webhook) bool {
			return w.Path != "/"+path
		})
		return len(arrived), len(arrived) > 0
	}, wait.On(target))
	got := arrived[0]
	header := http.Header(got.Header)
	for _, secret := range both {
		verifier := must.Get(standardwebhooks.NewWebhook(secret))(t)
		if err := verifier.Verify([]byte(got.Body), header); err != nil {
			t.Error(err)
		}
	}
	wait.For(t, "the state of the webhook", "delivered", func() string {
		return delivery(asker.question(t, answered.QuestionID))
	}, wait.On(target))
	// The tests of package webhooks say what else it has.
	if !strings.HasPrefix(got.Body, `{"type":"question.closed"`) || !strings.Contains(got.Body, answered.QuestionID) {
		t.Errorf("got %s; want that the question %s is closed", got.Body, answered.QuestionID)
	}
	if strings.Contains(got.Body, "apologise") {
		t.Errorf("the webhook has the prompt: %s", got.Body)
	}
}

// On an emulator, the stream, the queue and the plan of retries are AWS's as others understand it. No webhook arrives
// there, since none may go to this machine.
func TestWebhookIsTriedOnAnEmulator(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	if !target.Emulated() {
		t.Skip("skipped: a local run takes webhooks itself, and on AWS this one would be tried for a day")
	}
	asker := newAgent(platform.NewClient(t, target))
	question := textQuestion(1)
	host := onesynthtest.Unique("endpoint") + ".invalid"
	question.CallbackURL = new("https://" + host + "/")
	platform.Call(t, asker, askahuman.CloseQuestion, askahuman.QuestionParams{ID: asker.ask(t, question).QuestionID})
	configuration := must.Get(config.LoadDefaultConfig(t.Context()))(t)
	logs := cloudwatchlogs.NewFromConfig(configuration)
	groups := must.Get(logs.DescribeLogGroups(t.Context(), &cloudwatchlogs.DescribeLogGroupsInput{}))(t)
	sender := slices.IndexFunc(groups.LogGroups, func(g types.LogGroup) bool {
		return strings.Contains(*g.LogGroupName, "WebhookSenderLogs")
	})
	if sender < 0 {
		t.Fatal("the sender of webhooks has no log group")
	}
	wait.Until(t, "the webhook is tried twice", func() (any, bool) {
		found := must.Get(logs.FilterLogEvents(t.Context(),
			&cloudwatchlogs.FilterLogEventsInput{LogGroupName: groups.LogGroups[sender].LogGroupName}))(t)
		attempts := map[float64]bool{}
		for _, event := range found.Events {
			var line struct {
				Attempt float64
				Error   string
			}
			if json.Unmarshal([]byte(*event.Message), &line) == nil && strings.Contains(line.Error, host) {
				attempts[line.Attempt] = true
			}
		}
		return attempts, attempts[1] && attempts[2]
	})
}

// A webhook that failed comes again, with the same id, until its endpoint takes it. Kills of the functions on the way
// lose none. What no endpoint takes is in the queue of failures, from which it can be sent again.
func TestWebhooksComeAgain(t *testing.T) {
	t.Parallel()
	target := suite.OwnRun(t, run.Options{})
	c := platform.NewClient(t, target)
	asker := newAgent(c)
	must.OK(t, runtest.Of(target.Run).FailWebhooks("/down", true))
	const questions = 6
	var asked []string
	for range questions {
		asked = append(asked, asker.ask(t, withWebhook(target, "down", textQuestion(1))).QuestionID)
		platform.Call(t, asker, askahuman.CloseQuestion, askahuman.QuestionParams{ID: asked[len(asked)-1]})
		for _, name := range []string{"WebhookQueuer", "WebhookSender"} {
			_, _ = target.Run.Kill(target.Function(t, name))
		}
	}
	ids := func(of []runtest.Webhook) map[string]bool {
		all := map[string]bool{}
		for _, one := range of {
			all[http.Header(one.Header).Get("Webhook-Id")] = true
		}
		return all
	}
	wait.Until(t, "each webhook is tried twice", func() (any, bool) {
		dueWebhooks(t, target)
		got := slices.DeleteFunc(runtest.Of(target.Run).Webhooks(), func(w runtest.Webhook) bool {
			return w.Path != "/down"
		})
		return len(got), len(ids(got)) == questions && len(got) >= 2*questions
	}, wait.On(target))
	seen := func(state string) {
		t.Helper()
		wait.Until(t, "all webhooks are "+state+" for the agent", func() (any, bool) {
			states := map[string]int{}
			for _, id := range asked {
				states[delivery(asker.question(t, id))]++
			}
			return states, states[state] == len(asked)
		}, wait.On(target))
	}
	seen("waiting")
	attempted := ids(runtest.Of(target.Run).Webhooks())
	// A kill may leave a webhook in the queue twice, with one id.
	waiting := func(part string) map[string]bool {
		all := map[string]bool{}
		for queue, messages := range runtest.Of(target.Run).AllMessages() {
			for _, message := range messages {
				if strings.Contains(queue, part) {
					all[onesynthtest.Field([]byte(message.Body), "id")] = true
				}
			}
		}
		return all
	}
	wait.Until(t, "the webhooks are given up", func() (any, bool) {
		dueWebhooks(t, target)
		dead := waiting("WebhookDeadLetters")
		return len(dead), maps.Equal(dead, attempted) && len(waiting("")) == questions &&
			len(waiting("Webhooks")) == 0
	})
	seen("given_up")
	must.OK(t, runtest.Of(target.Run).FailWebhooks("/down", false))
	runtest.Of(target.Run).ClearWebhooks()
	for queue, messages := range runtest.Of(target.Run).AllMessages() {
		if !strings.Contains(queue, "WebhookDeadLetters") {
			continue
		}
		for _, message := range messages {
			toConsole := platform.NewClient(t, target)
			toConsole.URL = target.Run.ConsoleURL()
			path := "/queues/" + queue + "/messages/" + message.ID + "/again"
			if r := toConsole.MustSend(t, http.MethodPost, path, http.Header{run.ConsoleHeader: {"test"}},
				[]byte("{}")); r.Status != http.StatusOK {
				t.Errorf("again: got %v", r)
			}
		}
	}
	wait.Until(t, "each arrives", func() (any, bool) {
		arrived := ids(runtest.Of(target.Run).Webhooks())
		return len(arrived), maps.Equal(arrived, attempted)
	}, wait.On(target))
	seen("delivered")
	wait.For(t, "the messages in the queues", 0, func() int { return len(waiting("")) }, wait.On(target))
}
