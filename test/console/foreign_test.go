package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// ownScript returns the path of the console's own script.
func ownScript(t *testing.T, console string) string {
	t.Helper()
	response := must.Get(http.Get(console + "/page/index.html"))(t)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	path := regexp.MustCompile(`/page/[0-9a-f]+/app\.js`).FindString(string(page))
	if err != nil || path == "" {
		t.Fatalf("the page names no script: %v\n%s", err, page)
	}
	return path
}

// A page of another origin of this machine reads nothing and changes nothing, neither by scripts nor by forms, frames
// or images.
func TestForeignOrigin(t *testing.T) {
	runner, driven := suite.Start(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>another</title><iframe name="hidden"></iframe>
			<form method="post" action="` + runner.ConsoleURL() + `/faults" enctype="text/plain" target="hidden"><input name='{"throttle":1,"seed' value='":1}'></form>`))
	}))
	defer other.Close()
	tab := driven.Open(t, other.URL, browser.Options{})
	// The browser tells of what it refused.
	for _, text := range []string{"CORS", "403", "Failed to load resource", "ERR_FAILED", "ERR_BLOCKED", "frame",
		"Fetch API"} {
		tab.Excuse(text)
	}
	outcomes := browser.Evaluate[[]string](tab, `(async () => {
		const console = '`+runner.ConsoleURL()+`';
		const attempt = (name, work) => work().then((value) => name + ': ' + value, (error) => name + ': refused');
		return Promise.all([
			attempt('read', async () => (await fetch(console + '/tables')).status),
			attempt('read opaquely', async () => (await fetch(console + '/tables', {mode: 'no-cors'})).type),
			attempt('simple post', async () => (await fetch(console + '/faults', {method: 'POST', mode: 'no-cors', body: '{"throttle":1}'})).type),
			attempt('post', async () => (await fetch(console + '/faults', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"throttle":1}'})).status),
			attempt('script', () => new Promise((done, fail) => { const one = document.createElement('script'); one.src = console + '`+ownScript(t, runner.ConsoleURL())+`'; one.onload = () => done('ran'); one.onerror = fail; document.body.append(one); })),
			attempt('events', () => new Promise((done, fail) => { const source = new EventSource(console + '/events'); source.onopen = () => done('open'); source.onerror = fail; })),
		]);
	})()`)
	for _, outcome := range outcomes {
		// What is opaque has no content. The run says below that nothing has changed.
		if !strings.HasSuffix(outcome, "refused") && !strings.HasSuffix(outcome, "opaque") {
			t.Errorf("got %s", outcome)
		}
	}
	browser.Evaluate[bool](tab,
		`new Promise((done) => { document.querySelector('iframe').onload = () => done(true); document.querySelector('form').submit(); })`)
	browser.Evaluate[bool](tab,
		`new Promise((done) => { const frame = document.createElement('iframe'); frame.onload = () => done(true); frame.src = '`+
			runner.ConsoleURL()+`/'; document.body.append(frame); })`)
	if faults := runtest.Of(runner).Faults(); faults.Throttle != 0 {
		t.Errorf("another page has set faults: %+v", faults)
	}
	// By another name of this machine, as when a foreign DNS answer points here.
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, runner.ConsoleURL()+"/", nil))(t)
	request.Host = "rebound.example"
	response := must.Get(http.DefaultClient.Do(request))(t)
	if _ = response.Body.Close(); response.StatusCode != http.StatusForbidden {
		t.Errorf("got %s for another host", response.Status)
	}
}
