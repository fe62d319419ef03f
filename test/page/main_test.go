// Package page checks the page of Ask-a-Human in a real browser, over a run of its assembly.
//
// main_test.go has the run and the browser; each other file has one concern. Each tab is a person of its own. The tests share
// the run, and come one after the other: some of them inject faults.
package page

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// suite is what all tests share.
var suite struct {
	app onesynthtest.Suite

	starting sync.Once
	run      *local.Runner
	url      string
	browser  *browser.Browser
	err      error
}

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	suite.browser.Close()
	if suite.run != nil {
		suite.run.Close()
	}
	if err := suite.app.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// start starts the run and the browser. It skips the test where there is none.
func start(t *testing.T) {
	t.Helper()
	if platform.OnAWS() {
		t.Skip("skipped on AWS: its rate limits would end the tests")
	}
	path := browser.Require(t)
	suite.starting.Do(func() {
		architecture := "arm64"
		if runtime.GOARCH == "amd64" {
			architecture = "x86_64"
		}
		suite.app.App, suite.app.Arguments = platform.Root(t), []string{"-c", "env=dev", "-c", "arch=" + architecture}
		if folder := os.Getenv("ONESYNTH_TEST_ASSEMBLIES"); folder != "" {
			suite.app.Synthesised = filepath.Join(folder, "dev")
		}
		suite.run, suite.err = local.Start(t.Context(), local.Options{Assembly: suite.app.Assembly(t), Stacks: []string{"*askahuman*"}, NoSchedules: true, MaxInstances: 2})
		if suite.err == nil {
			suite.url = suite.run.URL("")
			suite.browser, suite.err = browser.Start(path)
		}
	})
	if suite.err != nil {
		t.Fatal(suite.err)
	}
}

// open opens an address of the page as someone new, and waits until a view is shown.
func open(t *testing.T, path string, options browser.Options) *browser.Tab {
	t.Helper()
	start(t)
	tab := suite.browser.Open(t, suite.url+path, options)
	tab.Until("document.querySelector('main h1')")
	return tab
}

// call makes a request of the API from outside the page, and decodes what it answers.
func call(ctx context.Context, method, path string, header map[string]string, body, into any) (int, error) {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return 0, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, suite.url+path, &content)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if into != nil {
		return response.StatusCode, json.NewDecoder(response.Body).Decode(into)
	}
	return response.StatusCode, nil
}

// question is a question, and the agent that asked it.
type question struct{ id, agent string }

// ask asks a question that wants so many answers; without options it wants a text.
func ask(t *testing.T, prompt string, answers int, options ...string) question {
	t.Helper()
	start(t)
	q := question{agent: onesynthtest.Unique("agent")}
	body := map[string]any{"prompt": prompt, "type": "text", "min_responses": answers}
	if len(options) > 0 {
		body["type"], body["options"] = "multiple_choice", options
	}
	var asked struct {
		ID string `json:"question_id"`
	}
	if status, err := call(t.Context(), http.MethodPost, "/agent/questions", map[string]string{"X-Agent-Id": q.agent}, body, &asked); err != nil || status != http.StatusCreated {
		t.Fatalf("got %d, %v", status, err)
	}
	q.id = asked.ID
	return q
}

// answered is what the agent reads.
type answered struct {
	Status    string `json:"status"`
	Responses []struct {
		Answer     string `json:"answer"`
		Option     *int   `json:"selected_option"`
		Confidence int    `json:"confidence"`
	} `json:"responses"`
}

func (q question) read(t *testing.T) (a answered) {
	t.Helper()
	if status, err := call(t.Context(), http.MethodGet, "/agent/questions/"+q.id, map[string]string{"X-Agent-Id": q.agent}, nil, &a); err != nil || status != http.StatusOK {
		t.Fatalf("got %d, %v", status, err)
	}
	return a
}

// write writes an answer, key by key.
func write(tab *browser.Tab, text string) {
	tab.Until("document.getElementById('answer') && (document.getElementById('answer').focus(), true)")
	tab.Press(text)
}

// send presses the button that sends.
func send(tab *browser.Tab) { tab.Click("Send answer") }

// shows waits for a state of the page.
func shows(tab *browser.Tab, state string) {
	tab.Until(fmt.Sprintf("document.querySelector('main [data-state=%q]')", state))
}

// unique is a prompt that no other question has.
func unique(prompt string) string {
	return strings.TrimSuffix(prompt, "?") + " (" + onesynthtest.Unique("no") + ")?"
}
