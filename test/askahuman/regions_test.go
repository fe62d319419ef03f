package askahuman

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// endpoint takes the webhooks of an agent in both regions.
type endpoint struct {
	mutex sync.Mutex
	// taken are the paths of the webhooks that it took; down says that it takes none at /down.
	taken []string
	down  bool
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.down && r.URL.Path == "/down" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	e.taken = append(e.taken, r.URL.Path)
}

func (e *endpoint) times(path string) (n int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for _, one := range e.taken {
		if one == path {
			n++
		}
	}
	return n
}

// A second region takes over. Everyone is who they were, on the standby and after it. The standby sends nothing. What
// the first region had not sent is sent by the second, and what it had is not sent again.
func TestRegions(t *testing.T) {
	t.Parallel()
	receiver := &endpoint{down: true}
	at := httptest.NewServer(receiver)
	t.Cleanup(at.Close)
	data := t.TempDir()
	start := func(arguments ...string) (runner *run.Runner, first, second *platform.Target) {
		t.Helper()
		app := onesynthtest.Suite{Platform: suite.Platform, App: "regionsapp", Arguments: arguments}
		t.Cleanup(func() { app.Close() })
		standby := map[bool]string{false: "second", true: "first"}[len(arguments) > 0]
		template := string(must.Get(os.ReadFile(filepath.Join(app.Assembly(t), standby+".template.json")))(t))
		if strings.Contains(template, `"State": "ENABLED"`) || !strings.Contains(template, `"State": "DISABLED"`) {
			t.Errorf("the schedules of the standby %s are on", standby)
		}
		runner = must.Get(run.Start(context.WithoutCancel(t.Context()), run.Options{Assembly: app.Assembly(t),
			Data: data, NoSchedules: true, WebhookEndpoints: []string{at.URL}}))(t)
		t.Cleanup(runner.Close)
		of := func(construct string) *platform.Target {
			outputs := map[string]string{}
			for _, stack := range runner.Parts().Assembly.Stacks {
				for name, output := range stack.Outputs {
					outputs[name] = fmt.Sprint(output.Value)
				}
			}
			made := must.Get(onesynthtest.NewTarget(construct, outputs, runner.DynamoDB()))(t)
			made.Run = runner
			return &platform.Target{Target: made}
		}
		return runner, of("First"), of("Second")
	}

	runner, first, second := start()
	asker, answers := newKeyed(t, first), newPerson(platform.NewClient(t, first))
	id, key := asker.id, asker.key
	ask := func(path string) string {
		question := textQuestion(1)
		question.CallbackURL = new(at.URL + path)
		return asker.ask(t, question).QuestionID
	}
	state := func(id string) func() string { return func() string { return delivery(asker.question(t, id)) } }
	answered, closed := ask("/up"), ask("/down")
	answer(t, answers, textAnswer(answered))
	platform.Call(t, asker, askahuman.CloseQuestion, askahuman.QuestionParams{ID: closed})
	wait.For(t, "the state of the webhook", "delivered", state(answered), wait.On(first))
	wait.Until(t, "an attempt at the other webhook fails", func() (any, bool) {
		got := asker.question(t, closed).Webhook
		return got, got != nil && got.Attempts > 0
	}, wait.On(first))
	type known struct {
		Stats   string
		Secrets []string
	}
	who := func(on *platform.Target) known {
		t.Helper()
		visitor := platform.NewClient(t, on)
		there, someone := agentOf(visitor, id, key), *visitor
		someone.Header = answers.Header
		stats := someone.MustSend(t, http.MethodGet, "/human/stats", nil, nil)
		again, err := someone.Send(t.Context(), http.MethodPost, "/human/responses", nil, textAnswer(answered))
		if err != nil || again.Status < 400 {
			t.Errorf("the person answers a question again: %v, %v", again, err)
		}
		return known{string(stats.Body), there.webhookSecrets(t)}
	}
	before := who(first)
	if !strings.Contains(before.Stats, `"total_points":`) || strings.Contains(before.Stats, `"total_points":0`) {
		t.Errorf("the person has %s, want points", before.Stats)
	}
	same := func(what string, on *platform.Target) {
		t.Helper()
		if got := who(on); got.Stats != before.Stats || !slices.Equal(got.Secrets, before.Secrets) {
			t.Errorf("%s: the person and the agent are %v, want %v", what, got, before)
		}
	}
	same("on the standby", second)

	runner.Close()
	receiver.mutex.Lock()
	receiver.down = false
	receiver.mutex.Unlock()
	runner, _, second = start("second")
	same("after the fail-over", second)
	asker = agentOf(platform.NewClient(t, second), id, key)
	wait.For(t, "the state of the webhook that the first region had not sent", "delivered", state(closed),
		wait.On(second))
	wait.Until(t, "the webhook that the first region had sent is looked at", func() (any, bool) {
		text := runtest.Of(runner).Printed()
		return text, strings.Contains(text, "delivered is not sent again")
	}, wait.On(second))
	for _, path := range []string{"/up", "/down"} {
		if n := receiver.times(path); n != 1 {
			t.Errorf("the endpoint took %d webhooks at %s, want one", n, path)
		}
	}
	// What happens now is the second region's.
	platform.Call(t, asker, askahuman.CloseQuestion, askahuman.QuestionParams{ID: ask("/new")})
	wait.For(t, "webhooks of a new question", 1, func() int { return receiver.times("/new") }, wait.On(second))
}
