package console

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// newest is the newest request of the run whose route, path or id contains a text; zero if there is none. Schedules and
// streams make requests, too.
func newest(runner *run.Runner, text string) runtest.Request { return runtest.Of(runner).Newest(text) }

// Requests are in the list as soon as they come, and a pause keeps it as it is. Each opens into what it did.
func TestRequestsLive(t *testing.T) {
	runner, tab := open(t, "#/requests", browser.Options{})
	tab.Until("document.getElementById('live').classList.contains('on')")
	api := runtest.Of(runner).APIs()[0].URL
	mark := rand.Text()
	send := func(path string) {
		must.Get(call(t, http.MethodGet, api+path, "", ""))(t)
	}
	send("/" + mark + "-one")
	tab.See(mark + "-one")
	tab.Click("Pause")
	send("/" + mark + "-two")
	// Requests of other tests may come, too.
	tab.Until(`/\d+ newer requests? wait/.test(document.body.innerText)`)
	if strings.Contains(tab.Text("main"), mark+"-two") {
		t.Error("the list has changed although it pauses")
	}
	tab.Click("Pause")
	tab.See(mark + "-two")
	tab.Fill("Search", mark+"-one")
	tab.Until("document.querySelectorAll('main tbody tr').length === 1")
	send("/" + mark + "-three")
	send("/" + mark + "-one?again=1")
	tab.Until("document.querySelectorAll('main tbody tr').length === 2")
	// The list stands still while the pointer is on it.
	tab.Fill("Search", mark)
	tab.Until("document.querySelectorAll('main tbody tr').length === 4")
	tab.Point("main tbody tr")
	send("/" + mark + "-four")
	tab.See("1 newer request waits")
	if strings.Contains(tab.Text("main"), mark+"-four") {
		t.Error("the list has changed under the pointer")
	}
	tab.Point("h1")
	tab.See(mark + "-four")

	// Chips choose among these, what comes included.
	tab.Click("5xx")
	tab.See("No such request.")
	tab.Click("failed")
	tab.Until("document.querySelectorAll('main tbody tr').length === 5")
	send("/" + mark + "-five")
	tab.Until("document.querySelectorAll('main tbody tr').length === 6")
	tab.Click(runtest.Of(runner).APIs()[1].Stack)
	tab.See("No such request.")
	tab.Click(runtest.Of(runner).APIs()[0].Stack)
	tab.Until("document.querySelectorAll('main tbody tr').length === 6")
	send("/" + mark + "-six")
	tab.Until("document.querySelectorAll('main tbody tr').length === 7")
	if hash := browser.Evaluate[string](tab, "location.hash"); hash != "#/requests?search="+mark+"&only=failed&stack="+
		runtest.Of(runner).APIs()[0].Stack {
		t.Errorf("the address is %s", hash)
	}
	// The idempotency key finds requests, also those that come.
	keyed := func(path string) {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, api+path, nil))(t)
		request.Header.Set("Idempotency-Key", "key-of-"+mark)
		response := must.Get(http.DefaultClient.Do(request))(t)
		_ = response.Body.Close()
	}
	keyed("/one")
	tab.Fill("Search", "KEY-OF-"+mark)
	tab.Until("document.querySelectorAll('main tbody tr').length === 1")
	keyed("/two")
	tab.Until("document.querySelectorAll('main tbody tr').length === 2")
	// A status is nothing else: no path here has it.
	tab.Fill("Search", "404")
	tab.Until("document.querySelectorAll('main tbody tr').length >= 7")
	tab.See(mark + "-six")
	goTo(tab, "#/requests")

	// A request that a function answers.
	must.Get(call(t, http.MethodGet, openAPI(t, runner), "", ""))(t)
	goTo(tab, "#/requests/"+newest(runner, "openapi.json").ID)
	tab.See("API Gateway")
	tab.Until("document.querySelector('.track i.function')")
	tab.See("A million such requests")
}

// A trace has what was sent and answered, as texts and without secrets. It is sent again, and copied as a command. Calls
// that were repeated are one row.
func TestExchange(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	api := runtest.Of(runner).APIs()[0]
	secret := rand.Text()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL+"/nowhere/"+secret[:6],
		strings.NewReader(`{"text": "<b>it's</b>"}`)))(t)
	request.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"},
		"Idempotency-Key": {"first-key"}}
	response := must.Get(http.DefaultClient.Do(request))(t)
	_ = response.Body.Close()
	id := response.Header.Get("Apigw-Requestid")
	goTo(tab, "#/requests/"+url.PathEscape(id))
	tab.See(`"text": "<b>it's</b>"`)
	tab.See(`"message": "Not Found"`)
	tab.See("$TOKEN")
	page := browser.Evaluate[string](tab, "document.querySelector('main').textContent")
	if strings.Contains(page, secret) || !strings.Contains(page, "Authorization: Bearer "+secret[:6]+"…") ||
		browser.Evaluate[int](tab, "document.querySelectorAll('main pre b').length") > 0 {
		t.Errorf("the page has\n%s", page)
	}

	browser.Evaluate[bool](tab, "navigator.clipboard.writeText = async (text) => { window.copied = text; }, true")
	tab.Click("Copy as curl")
	tab.Until("window.copied")
	command := exec.CommandContext(t.Context(), "sh", "-c", browser.Evaluate[string](tab, "window.copied"))
	command.Env = append(os.Environ(), "TOKEN="+secret)
	if output, err := command.Output(); err != nil || string(output) != `{"message":"Not Found"}` {
		t.Errorf("got %s, %v of %s", output, err, command)
	}
	sentAgain := func(key string) {
		t.Helper()
		last := newest(runner, "/nowhere/"+secret[:6]).ID
		if last == id {
			t.Fatal("nothing was sent")
		}
		got, body := runtest.Of(runner).Sent(last)
		if got.Get("Authorization") != "Bearer "+secret || string(body) != `{"text": "<b>it's</b>"}` ||
			(got.Get("Idempotency-Key") == "first-key") != (key == "first-key") || got.Get("Idempotency-Key") == "" {
			t.Errorf("got %v, %s", got, body)
		}
	}
	sentAgain("first-key")
	for _, again := range []struct{ button, key string }{{"Send again with the same key", "first-key"},
		{"Send again with a new key", ""}} {
		goTo(tab, "#/requests/"+url.PathEscape(id))
		tab.Click(again.button)
		tab.Until("decodeURIComponent(document.getElementById('main').dataset.shown) !== '#/requests/" + id + "'")
		sentAgain(again.key)
	}

	var calls []runtest.Call
	for n := range 13 {
		call := runtest.Call{Service: "dynamodb", Operation: "PutItem", WriteUnits: 0.5, Status: 400,
			Error: "ThrottlingException: slow down"}
		switch n {
		case 2, 5:
			// Another call comes between two tries.
			call = runtest.Call{Service: "s3", Operation: "GetObject"}
		case 12:
			call.Status, call.Error = 200, ""
		}
		// A function that tries again by itself writes another time.
		call.Body = fmt.Appendf(nil, `{"ExpressionAttributeValues": {":now": {"N": "%d"}}}`, n)
		calls = append(calls, call)
	}
	runtest.Of(runner).Make(runtest.Made{Request: runtest.Request{ID: "repeats-" + secret, Path: "/", Status: 200},
		Function: "links", Label: "linksapi", Invocation: "00000001-0000-4000-8000-00000000abcd", Calls: calls})
	goTo(tab, "#/requests/repeats-"+secret)
	tab.See("× 11, 10 throttled")
	tab.See("5.5 W")
	if rows := browser.Evaluate[int](tab, "document.querySelectorAll('.depth2').length"); rows != 3 {
		t.Errorf("got %d calls", rows)
	}
}

// All lines are in one view, which follows, and stands still under the pointer.
func TestLines(t *testing.T) {
	runner, tab := open(t, "#/lines", browser.Options{})
	tab.Until("document.getElementById('live').classList.contains('on')")
	mark := rand.Text()
	write := func(level, text string) {
		runtest.Of(runner).Log("links", "linksapi", `{"level":"`+level+`","message":"`+mark+" "+text+`"}`)
	}
	write("INFO", "<b>one</b>")
	tab.See(mark + " <b>one</b>")
	tab.Fill("Search", mark)
	tab.Until("document.querySelectorAll('main .lines li').length === 1")
	tab.Fill("Level", "warn")
	tab.See("No line yet.")
	write("INFO", "two")
	write("ERROR", "three")
	tab.See(mark + " three")
	if got := tab.Text(".lines"); strings.Contains(got, "two") {
		t.Errorf("got %s", got)
	}
	tab.Point(".lines li")
	write("WARN", "four")
	tab.See("1 newer line waits")
	tab.Point("h1")
	tab.See(mark + " four")
	goTo(tab, "#/lines?search="+mark+"&level=error")
	tab.Until("document.querySelectorAll('main .lines li').length === 1")
}

// What --watch does is in a banner, with the compiler's words.
func TestChangeBanner(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	tab.Until("document.getElementById('live').classList.contains('on')")
	runtest.Of(runner).Build("began", "", 0, "linksapi")
	tab.See("Building linksapi")
	runtest.Of(runner).Build("failed", "api.go:12:3: undefined: <b>links</b>", 0, "linksapi")
	tab.See("api.go:12:3: undefined: <b>links</b>")
	runtest.Of(runner).Build("began", "", 0, "linksapi")
	runtest.Of(runner).Build("done", "", 900*time.Millisecond, "linksapi")
	tab.See("New code of linksapi runs, built in 900 ms")
}

// The stack of a panic is readable: calls with their files, without those of Go's runtime.
func TestStack(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	stack := "goroutine 9 [running]:\nruntime/debug.Stack()\n\truntime/debug/stack.go:26 " +
		"+0x64\nexample.com/kit.recovered()\n\texample.com/kit/log.go:65 +0x1\npanic({0x1?, " +
		"0x2?})\n\truntime/panic.go:783 +0x132\n" +
		"example.com/links/api.(*API).list(0x1, {0x2, 0x3})\n\texample.com/links/api/list.go:41 +0x9c\n"
	line := must.Get(json.Marshal(map[string]any{"level": "ERROR", "message": "panic",
		"error": "index out of range <b>[3]</b>", "stack": stack}))(t)
	mark := rand.Text()
	runtest.Of(runner).Make(runtest.Made{
		Request: runtest.Request{ID: "panicked-" + mark, Method: "GET", Path: "/links", Route: "GET /links",
			Status: 500},
		Function: "links", Label: "linksapi", Lines: []string{string(line)},
		Failed: "Unhandled: the function has ended",
	})
	goTo(tab, "#/requests/panicked-"+mark)
	tab.See("index out of range <b>[3]</b>")
	tab.See("Unhandled: the function has ended")
	if got := tab.Text(".lines pre"); got != "example.com/links/api.(*API).list\n    example.com/links/api/list.go:41" {
		t.Errorf("got %q", got)
	}
}
