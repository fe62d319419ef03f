package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// tryView is the address of the form of a request.
func tryView(api, request string) string {
	return "#/try?" + url.Values{"api": {api}, "request": {request}}.Encode()
}

// choose opens the form of a request, with an id such as POST /api/v1/tasks, of the API whose stack has the word.
func choose(t *testing.T, runner *run.Runner, tab *browser.Tab, word, id string) {
	t.Helper()
	tab.Fill("API", clientOf(t, runner, word, "trying").URL)
	tab.Until("[...document.querySelectorAll('main select option')].some((one) => one.value === '" + id + "')")
	tab.Fill("Request", id)
}

// A request is made of the API's document, sent with a token, and shown with what it did.
func TestTry(t *testing.T) {
	runner, tab := open(t, "#/try", browser.Options{})
	choose(t, runner, tab, "todo", "POST /api/v1/users/me")
	tab.Fill("Subject", "trying")
	tab.Fill("email (required)", "trying@example.com")
	tab.Click("Send")
	tab.Until("document.querySelector('[aria-label=Answer] .badge')?.innerText === '201'")

	choose(t, runner, tab, "todo", "POST /api/v1/tasks")
	tab.Fill("Subject", "trying")
	title := "Oil the <b>chain</b> of Ann's bicycle"
	tab.Fill("title (required)", title)
	tab.Fill("priority", "high")
	tab.Click("Send")
	tab.Until("document.querySelector('[aria-label=Answer] .badge')?.innerText === '201'")
	tab.See(title)
	tab.See("All that the request did")
	if got := tab.Text("[aria-label=Trace] table"); !strings.Contains(got, "CreateTask") {
		t.Errorf("the trace lacks the access pattern:\n%s", got)
	}
	if browser.Evaluate[int](tab, "document.querySelectorAll('main pre b').length") > 0 {
		t.Error("a text of a body has become an element")
	}

	// The command sends the same request: its key has an answer already.
	tab.Click("The same with curl")
	command := browser.Evaluate[string](tab, "document.querySelector('[aria-label=Command]').textContent")
	output, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
	var again struct{ Title, Priority string }
	if err == nil {
		err = json.Unmarshal(output, &again)
	}
	if err != nil || again.Title != title || again.Priority != "high" {
		t.Errorf("got %s, %v of\n%s", output, err, command)
	}
	requests := runtest.Of(runner).Requests("POST /api/v1/tasks", 1)
	if len(requests) != 1 || requests[0].Method != http.MethodPost || requests[0].Status != http.StatusCreated ||
		requests[0].Writes > 1 {
		t.Errorf("got %+v", requests)
	}

	// What the API refuses is an answer, too.
	tab.Fill("Body", `{"title": 7, "prioritty": "high"}`)
	tab.Click("Send")
	tab.Until("/^4/.test(document.querySelector('[aria-label=Answer] .badge')?.innerText)")
	tab.See("prioritty")

	// Without a token.
	tab.Click("With a token")
	tab.Click("Send")
	tab.Until("document.querySelector('[aria-label=Answer] .badge')?.innerText === '401'")

	// An operator is a user of a group.
	choose(t, runner, tab, "ask", "GET /operator/reports")
	tab.Click("Send")
	tab.Until("document.querySelector('[aria-label=Answer] .badge')?.innerText === '403'")
	tab.Fill("Groups", "operators")
	tab.Click("Send")
	tab.Until("document.querySelector('[aria-label=Answer] .badge')?.innerText === '200'")

	// A request that the document does not have.
	tab.Fill("Request", "other")
	tab.Fill("Path", "/nowhere")
	tab.Click("Send")
	tab.Until("document.querySelector('[aria-label=Answer] .badge')?.innerText === '404'")
}
