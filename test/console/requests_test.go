package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/trace"
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
	api := run.APIs()[0].URL
	send := func(path string) {
		if _, err := call(t, http.MethodGet, api+path, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	send("/live-one")
	tab.See("/live-one")
	tab.Click("Pause")
	send("/live-two")
	tab.See("1 newer request wait")
	if strings.Contains(tab.Text("main"), "/live-two") {
		t.Error("the list has changed although it pauses")
	}
	tab.Click("Pause")
	tab.See("/live-two")
	tab.Fill("Search", "live-one")
	tab.Until("document.querySelectorAll('main tbody tr').length === 1")
	send("/live-three")
	send("/live-one?again=1")
	tab.Until("document.querySelectorAll('main tbody tr').length === 2")
	tab.Fill("Search", "")
	tab.See("/live-three")

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
	run.Trace().Changed(trace.Change{What: "build", State: "began", Functions: []string{"linksapi"}})
	tab.See("Building linksapi")
	run.Trace().Changed(trace.Change{What: "build", State: "failed", Functions: []string{"linksapi"}, Text: "api.go:12:3: undefined: <b>links</b>"})
	tab.See("api.go:12:3: undefined: <b>links</b>")
	run.Trace().Changed(trace.Change{What: "build", State: "began", Functions: []string{"linksapi"}})
	run.Trace().Changed(trace.Change{What: "build", State: "done", Functions: []string{"linksapi"}, Milliseconds: 900})
	tab.See("New code of linksapi runs, built in 900 ms")
}
