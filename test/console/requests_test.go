package console

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/internal/trace"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// newestRequest returns the id of the newest request of the run, or nothing if there was none.
func newestRequest(t *testing.T, run *local.Runner) string {
	t.Helper()
	response, err := http.Get(run.ConsoleURL() + "/requests?limit=1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var list struct{ Requests []struct{ ID string } }
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil || len(list.Requests) == 0 {
		return ""
	}
	return list.Requests[0].ID
}

// Requests are in the list as soon as they come, and a pause keeps it as it is. Each opens into what it did.
func TestRequestsLive(t *testing.T) {
	run, tab := open(t, "#/requests", browser.Options{})
	tab.Until("document.getElementById('live').classList.contains('on')")
	api := rooms.Of(run).APIs[0].URL
	mark := rand.Text()
	send := func(path string) {
		if _, err := call(t, http.MethodGet, api+path, "", ""); err != nil {
			t.Fatal(err)
		}
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
	tab.Fill("Search", "")
	tab.See(mark + "-three")

	// A request that a function answers.
	if _, err := call(t, http.MethodGet, openAPI(t, run), "", ""); err != nil {
		t.Fatal(err)
	}
	goTo(tab, "#/requests/"+newestRequest(t, run))
	tab.See("API Gateway")
	tab.Until("document.querySelector('.track i.function')")
	tab.See("A million such requests")
}

// What --watch does is in a banner, with the compiler's words.
func TestChangeBanner(t *testing.T) {
	run, tab := open(t, "", browser.Options{})
	tab.Until("document.getElementById('live').classList.contains('on')")
	rooms.Of(run).Trace.Changed(trace.Change{What: "build", State: "began", Functions: []string{"linksapi"}})
	tab.See("Building linksapi")
	rooms.Of(run).Trace.Changed(trace.Change{What: "build", State: "failed", Functions: []string{"linksapi"},
		Text: "api.go:12:3: undefined: <b>links</b>"})
	tab.See("api.go:12:3: undefined: <b>links</b>")
	rooms.Of(run).Trace.Changed(trace.Change{What: "build", State: "began", Functions: []string{"linksapi"}})
	rooms.Of(run).Trace.Changed(trace.Change{What: "build", State: "done", Functions: []string{"linksapi"},
		Milliseconds: 900})
	tab.See("New code of linksapi runs, built in 900 ms")
}

// The stack of a panic is readable: calls with their files, without those of Go's runtime.
func TestStack(t *testing.T) {
	run, tab := open(t, "", browser.Options{})
	stack := "goroutine 9 [running]:\nruntime/debug.Stack()\n\truntime/debug/stack.go:26 " +
		"+0x64\nexample.com/kit.recovered()\n\texample.com/kit/log.go:65 +0x1\npanic({0x1?, " +
		"0x2?})\n\truntime/panic.go:783 +0x132\n" +
		"example.com/links/api.(*API).list(0x1, {0x2, 0x3})\n\texample.com/links/api/list.go:41 +0x9c\n"
	line, err := json.Marshal(map[string]any{"level": "ERROR", "message": "panic",
		"error": "index out of range <b>[3]</b>", "stack": stack})
	if err != nil {
		t.Fatal(err)
	}
	mark := rand.Text()
	ctx, request := rooms.Of(run).Trace.Begin(t.Context(), "panicked-"+mark,
		trace.Origin{Kind: trace.HTTP, Method: "GET", Path: "/links", Route: "GET /links"})
	id := "panicked-" + mark
	function := rooms.Of(run).Trace.Invoke(ctx, id, "links", "linksapi", 256)
	function.Begin(true)
	rooms.Of(run).Trace.Line("links", "linksapi", id, string(line))
	function.End("Unhandled: the function has ended")
	request.End(500, "")
	goTo(tab, "#/requests/panicked-"+mark)
	tab.See("index out of range <b>[3]</b>")
	tab.See("Unhandled: the function has ended")
	if got := tab.Text(".lines pre"); got != "example.com/links/api.(*API).list\n    example.com/links/api/list.go:41" {
		t.Errorf("got %q", got)
	}
}
