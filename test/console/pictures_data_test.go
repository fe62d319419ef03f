package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// fillForPictures uses the run as people do, and returns what docs/guide/console.md shows of it.
func fillForPictures(t *testing.T, runner *run.Runner) []shot {
	t.Helper()
	items, trace, drawn := useForPictures(t, runner)
	see := func(text string) func(*browser.Tab) { return func(tab *browser.Tab) { tab.See(text) } }
	click := func(name string) func(*browser.Tab) { return func(tab *browser.Tab) { tab.Click(name) } }
	top := func(tab *browser.Tab) {
		browser.Evaluate[bool](tab, "document.activeElement?.blur(), scrollTo(0, 0), true")
	}
	return []shot{
		{
			name:  "try",
			view:  tryView(clientOf(t, runner, "todo", "alice").URL, "GET /api/v1/tasks/stats"),
			steps: []func(*browser.Tab){click("Send"), see("All that the request did"), top},
		},
		{name: "trace", view: trace, steps: []func(*browser.Tab){see("API Gateway")}},
		{name: "items", view: items},
		{name: "map", view: drawn},
	}
}

// client calls the API of a stack as a user.
type client struct {
	*onesynthtest.Client
	t *testing.T
}

// clientOf is a client of the stack whose name has the word.
func clientOf(t *testing.T, runner *run.Runner, word, subject string) client {
	t.Helper()
	for _, api := range runtest.Of(runner).APIs() {
		if !strings.Contains(api.Stack, word) {
			continue
		}
		made := client{&onesynthtest.Client{URL: api.URL, HTTP: http.DefaultClient}, t}
		if len(api.Issuers) == 0 {
			return made
		}
		token := must.Get(runner.Token(t.Context(), run.TokenRequest{Subject: subject, Stack: api.Stack}))(t)
		made.Header = http.Header{"Authorization": {"Bearer " + token}}
		return made
	}
	t.Fatalf("no stack %s", word)
	return client{}
}

// send sends a request, and returns what the answer has.
func (c client) send(method, path string, body any, headers ...string) map[string]any {
	c.t.Helper()
	header := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	var answer map[string]any
	_ = json.Unmarshal(c.MustSend(c.t, method, path, header, body).Body, &answer) // a refusal may have none
	return answer
}
