// Package page checks the page of Ask-a-Human in a real browser, over a run of its assembly.
//
// Each file has one concern. Each tab is a person of its own. The tests share the run and the browser.
package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

var suite = browser.Suite{Options: run.Options{Stacks: []string{"*askahuman*"}, MaxInstances: 2},
	Construct: "AskAHuman"}

func TestMain(m *testing.M) { suite.Main(m) }

// visit opens an address of the page as someone new.
func visit(t *testing.T, path string, options browser.Options) *browser.Tab {
	t.Helper()
	runner, browser := suite.Start(t)
	return browser.Open(t, runner.URL("")+path, options)
}

// open is visit, and waits until a view is shown.
func open(t *testing.T, path string, options browser.Options) *browser.Tab {
	t.Helper()
	tab := visit(t, path, options)
	tab.Until("document.querySelector('main h1')")
	return tab
}

// question is a question, and the agent that asked it.
type question struct {
	id    string
	agent *onesynthtest.Client
}

// ask asks a question that wants so many answers; without options it wants a text.
func ask(t testing.TB, prompt string, answers int, options ...string) question {
	t.Helper()
	return askFor(t, "general", prompt, answers, options...)
}

// askFor is ask for an audience.
func askFor(t testing.TB, audience, prompt string, answers int, options ...string) question {
	t.Helper()
	q := question{agent: onesynthtest.NewClient(t, suite.Target(t))}
	q.agent.Header = http.Header{"X-Agent-Id": {onesynthtest.Unique("agent")}}
	body := map[string]any{"prompt": prompt, "type": "text", "min_responses": answers, "audience": []string{audience}}
	if len(options) > 0 {
		body["type"], body["options"] = "multiple_choice", options
	}
	r := q.agent.Try(t, http.MethodPost, "/agent/questions", body)
	if q.id = onesynthtest.Field(r.Body, "question_id"); q.id == "" {
		t.Fatalf("got %v; want a question", r)
	}
	return q
}

// answered is what the agent reads.
type answered struct {
	Status    string `json:"status"`
	Responses []struct {
		Answer     string `json:"answer"`
		Confidence int    `json:"confidence"`
	} `json:"responses"`
}

func (q question) read(t *testing.T) (a answered) {
	t.Helper()
	r := q.agent.Try(t, http.MethodGet, "/agent/questions/"+q.id, nil)
	if err := json.Unmarshal(r.Body, &a); err != nil || r.Status != http.StatusOK {
		t.Fatalf("got %v, %v", r, err)
	}
	return a
}

// write writes an answer, key by key.
func write(tab *browser.Tab, text string) {
	tab.Until("document.getElementById('answer') && (document.getElementById('answer').focus(), true)")
	tab.Press(text)
}

// send presses the button that sends, and waits for nothing that could be undone.
func send(tab *browser.Tab) {
	tab.Click("Send answer")
	leave(tab)
}

// leave tells the page, once it offers to take an answer back, that it is left: the answer goes at once.
func leave(tab *browser.Tab) {
	tab.Until("document.querySelector('.undoing') && (dispatchEvent(new Event('pagehide')), true)")
}

// thanked waits until the page says what an answer has earned: above the next question, or in a view of its own.
func thanked(tab *browser.Tab) {
	tab.Until("document.querySelector('main [data-state=thanks]') || " +
		"document.querySelector('.notice .did') && (document.querySelector('.notice .did').open = true)")
}

// shows waits for a state of the page.
func shows(tab *browser.Tab, state string) {
	tab.Until(fmt.Sprintf("document.querySelector('main [data-state=%q]')", state))
}

// unique is a prompt that no other question has.
func unique(prompt string) string {
	return strings.TrimSuffix(prompt, "?") + " (" + onesynthtest.Unique("no") + ")?"
}
