package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The view Cost has routes with their units and dollars. Its tables sort by each column, and stay sorted.
func TestCost(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	for n := range 3 {
		var made []runtest.Made
		for i := range n + 1 {
			id := fmt.Sprintf("%08x-0000-4000-8000-c05%09x", n*10+i, 1)
			made = append(made, runtest.Made{
				Request: runtest.Request{ID: fmt.Sprint("cost-", n, "-", i), Method: "GET", Path: "/cost/1",
					Route: fmt.Sprintf("GET /cost-%d/{id}", n), Status: 200},
				Function: "cost", Label: "costly", Invocation: id, Calls: []runtest.Call{{Service: "dynamodb",
					Operation: "PutItem", WriteUnits: float64(10 * (3 - n)), Status: 200}},
			})
		}
		runtest.Of(runner).Make(made...)
	}
	goTo(tab, "#/costs?stack=cost")
	order := func() (names []string) {
		return browser.Evaluate[[]string](tab,
			"[...document.querySelector('main table tbody').rows].map((row) => "+
				"row.cells[0].innerText.match(/cost-./)[0])")
	}
	if got := order(); !slices.Equal(got, []string{"cost-0", "cost-1", "cost-2"}) {
		t.Errorf("got %q, want the dearest first", got)
	}
	if got := tab.Text("main table"); !strings.Contains(got, "$18.75") {
		t.Errorf("30 units of a million cost $18.75: got %s", got)
	}
	sort := func(column string) string {
		return browser.Evaluate[string](tab, fmt.Sprintf(`(() => {
			const heading = [...document.querySelectorAll('main thead th')].find((one) => one.textContent === %q);
			heading.querySelector('button').click();
			return heading.ariaSort ?? '';
		})()`, column))
	}
	for _, step := range []struct{ column, direction, first string }{
		{"Requests", "descending", "cost-2"}, {"Requests", "ascending", "cost-0"}, {"Requests", "", "cost-0"},
		{"Cause", "ascending", "cost-0"}, {"Cause", "descending", "cost-2"},
	} {
		if direction := sort(step.column); direction != step.direction || order()[0] != step.first {
			t.Errorf("by %s: it is %q with %q", step.column, direction, order())
		}
	}
	tab.Fill("Figures", "sum")
	tab.Until("location.hash.includes('figure=sum') && " +
		"document.querySelector('main thead').innerText.includes('Together')")
	goTo(tab, "#/functions")
	goTo(tab, "#/costs?stack=cost")
	if got := order(); got[0] != "cost-2" {
		t.Errorf("after another view the order is %q", got)
	}
}

// The batch of a stream has its records and who wrote them, and a request leads to the batch.
func TestBatch(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	alice := clientOf(t, runner, "todo", "batch")
	alice.Try(t, "POST", "/api/v1/users/me", map[string]string{"email": "batch@example.com", "name": "Batch"})
	made := alice.MustSend(t, "POST", "/api/v1/tasks", http.Header{"Idempotency-Key": {"batch-1"}},
		map[string]string{"title": "Find the batch", "category": "work", "priority": "high"})
	task := onesynthtest.Field(made.Body, "task_id")
	writer := newest(runner, "/api/v1/tasks").ID
	must.OK(t, runner.FlushStreams(t.Context()))
	goTo(tab, "#/requests/"+url.PathEscape(writer))
	tab.See("What it led to")
	tab.See("stream")
	goTo(tab, browser.Evaluate[string](tab, "[...document.querySelectorAll('main ul a')].find((one) => "+
		"one.textContent.startsWith('stream')).getAttribute('href')"))
	if found := browser.Evaluate[bool](tab, fmt.Sprintf("[...document.querySelectorAll('main tr')].some((row) => "+
		"row.textContent.includes(%q) && decodeURIComponent(row.querySelector('a')?.getAttribute('href')) === %q)",
		task, "#/requests/"+writer)); !found {
		t.Errorf("the batch does not say that %s wrote %s: %s", writer, task, tab.Text("main"))
	}
	// Headers and bodies are found with a prefix.
	for _, search := range []string{"body:find the batch", "header:idempotency-key: batch-1"} {
		goTo(tab, "#/requests?search="+strings.ReplaceAll(search, " ", "+"))
		tab.Until("document.querySelectorAll('main tbody tr').length === 1")
		if got := tab.Text("main tbody"); !strings.Contains(got, "/api/v1/tasks") {
			t.Errorf("%s: got %q", search, got)
		}
	}
}

// The keys "/", "j" and "k" go to the search and along the rows.
func TestKeys(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	for n := range 3 {
		runtest.Of(runner).Make(runtest.Made{Request: runtest.Request{ID: fmt.Sprint("keys-", n), Method: "GET",
			Path: fmt.Sprint("/keys/", n), Status: 200}})
	}
	goTo(tab, "#/requests?search=%2Fkeys%2F")
	focused := func() string {
		return browser.Evaluate[string](tab,
			"document.activeElement.getAttribute('href') ?? document.activeElement.type")
	}
	for _, step := range []struct{ key, want string }{{"j", "#/requests/keys-2"}, {"j", "#/requests/keys-1"},
		{"k", "#/requests/keys-2"}, {"k", "#/requests/keys-2"}, {"/", "search"}, {"j", "search"}} {
		tab.Press(step.key)
		if got := focused(); got != step.want {
			t.Errorf("after %s the focus is on %q, want %q", step.key, got, step.want)
		}
	}
}
