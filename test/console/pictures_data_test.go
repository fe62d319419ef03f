package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
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

// clientOf is a client of the stack whose name has the word, as a user.
func clientOf(t *testing.T, runner *run.Runner, word, subject string) *onesynthtest.Client {
	t.Helper()
	for _, api := range runtest.Of(runner).APIs() {
		if !strings.Contains(api.Stack, word) {
			continue
		}
		made := &onesynthtest.Client{URL: api.URL, HTTP: http.DefaultClient, IdempotencyKeys: true}
		if len(api.Issuers) > 0 {
			token := must.Get(runner.Token(t.Context(), run.TokenRequest{Subject: subject, Stack: api.Stack}))(t)
			made.Header = http.Header{"Authorization": {"Bearer " + token}}
		}
		return made
	}
	t.Fatalf("no stack %s", word)
	return nil
}
