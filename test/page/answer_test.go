package page

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// A question is found, answered by two people to its end, and closed for a third. Who answered sees what that earned.
func TestAnswerToItsEnd(t *testing.T) {
	prompt := unique("Should error messages apologise?")
	q := ask(t, prompt, 2)
	first := open(t, "/", browser.Options{})
	third := open(t, "/q/"+q.id, browser.Options{})
	third.See(prompt)
	first.See(prompt)
	first.Until("[...document.querySelectorAll('main li a')].some((one) => one.innerText.includes(" +
		fmt.Sprintf("%q", prompt) + ") && (one.click(), true))")
	write(first, "Only if it is our fault.")
	first.Until("(document.querySelector('input[name=confidence][value=\"4\"]').click(), " +
		"document.querySelector('input[name=confidence]:checked').value === '4')")
	send(first)
	shows(first, "thanks")
	first.See("points")
	first.See("First Steps")
	first.See("No one else has answered yet.")
	first.See("Your next badge")
	first.Click("Questions")
	first.Until("location.pathname === '/' && document.querySelector('.feed') && " +
		"!document.querySelector('main').innerText.includes(" + fmt.Sprintf("%q", prompt) + ")")
	first.Click("My points")
	first.See("First Steps")
	first.See("Next badges")
	first.Click("Leaderboard")
	first.Until("document.querySelector('main table, main ol')")

	second := open(t, "/q/"+q.id, browser.Options{Width: 320, Height: 640})
	write(second, "Never.")
	send(second)
	shows(second, "thanks")
	second.See("Your answer was the last one it needed")
	first.Click("My points")
	first.Click("My answers")
	first.See(prompt)
	first.See("Only if it is our fault.")
	first.See("Has all its answers")

	third.Excuse("410")
	write(third, "I am late.")
	send(third)
	shows(third, "closed")
	third.Until("document.querySelector('main').innerText.includes('wrote') || document.querySelector('.written')")
	got := q.read(t)
	if got.Status != "CLOSED" || len(got.Responses) != 2 || got.Responses[0].Answer != "Only if it is our fault." ||
		got.Responses[0].Confidence != 4 {
		t.Errorf("the agent reads %+v", got)
	}
	// The addresses of what has ended, is answered or never was are states, too.
	for _, tab := range []struct {
		path, state, status string
	}{{"/q/" + q.id, "closed", "410"}, {"/q/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", "gone", "404"}} {
		page := visit(t, tab.path, browser.Options{})
		page.Excuse(tab.status)
		shows(page, tab.state)
	}
}

// Two people race for the last place: one gets it, the other is told, and nothing is stored twice.
func TestRaceForTheLastPlace(t *testing.T) {
	for range 3 {
		q := ask(t, unique("Who is first?"), 1, "I", "You")
		tab := open(t, "/q/"+q.id, browser.Options{})
		tab.Excuse("410")
		tab.Until("(document.querySelector('input[name=option][value=\"1\"]')?.click(), " +
			"document.querySelector('input[name=option]:checked'))")
		other, rival := make(chan int), onesynthtest.NewClient(t, target(t))
		rival.Header = http.Header{"X-Fingerprint": {onesynthtest.Unique("person")}}
		go func() {
			r, _ := rival.Send(t.Context(), http.MethodPost, "/human/responses", nil,
				map[string]any{"question_id": q.id, "selected_option": 0})
			other <- r.Status
		}()
		send(tab)
		tab.Until("document.querySelector('main [data-state=thanks], main [data-state=closed]')")
		won := browser.Evaluate[bool](tab, "Boolean(document.querySelector('main [data-state=thanks]'))")
		if status := <-other; won != (status == http.StatusGone) {
			t.Errorf("the page won: %v, the other got %d", won, status)
		}
		if got := q.read(t); got.Status != "CLOSED" || len(got.Responses) != 1 {
			t.Errorf("the agent reads %+v", got)
		}
	}
}

// What one writes survives a reload, also without a network; an answer that is sent then waits, goes out by itself, and
// once.
func TestOfflineAndBack(t *testing.T) {
	q := ask(t, unique("Are you there?"), 3)
	tab := open(t, "/q/"+q.id, browser.Options{})
	tab.Excuse("ERR_INTERNET_DISCONNECTED")
	tab.Until("navigator.serviceWorker.ready.then(() => true)")
	tab.Until("navigator.serviceWorker.controller")
	write(tab, "I was in a tunnel.")
	tab.Offline(true)
	browser.Evaluate[bool](tab, "setTimeout(() => location.reload()), true")
	tab.Until("document.getElementById('answer')?.value === 'I was in a tunnel.'")
	// The browser takes the network from a new document a moment after it has begun.
	tab.Excuse("404")
	tab.Until("fetch('/no-network', {method: 'POST', keepalive: true}).then(() => false, () => true)")
	send(tab)
	shows(tab, "kept")
	if got := q.read(t); len(got.Responses) != 0 {
		t.Errorf("the agent reads %+v", got)
	}
	// What the worker keeps is the page, and no answer of the API.
	for _, path := range browser.Evaluate[[]string](tab, "(async () => (await Promise.all((await "+
		"caches.keys()).map(async (name) => (await caches.open(name)).keys()))).flat().map(({url}) => new "+
		"URL(url).pathname))()") {
		if path != "/" && !strings.HasPrefix(path, "/assets/") {
			t.Errorf("the service worker keeps %s", path)
		}
	}
	tab.Offline(false)
	shows(tab, "thanks")
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Answer != "I was in a tunnel." {
		t.Errorf("the agent reads %+v", got)
	}
}

// While the tables refuse every request, and while functions die, an answer waits; it arrives once.
func TestFaults(t *testing.T) {
	q := ask(t, unique("Does it hold?"), 3)
	tab := open(t, "/q/"+q.id, browser.Options{})
	runner, _ := suite.Start(t)
	for _, status := range []string{"429", "500", "502", "503", "504", "409"} {
		tab.Excuse(status)
	}
	write(tab, "It does.")
	if err := runtest.Of(runner).SetFaults(runtest.Faults{Throttle: 1, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	send(tab)
	tab.Until("document.querySelector('main [data-state=kept], main [data-state=limited]')")
	for _, function := range runtest.Of(runner).Functions() {
		if strings.Contains(function.Name, "HumanAPI") {
			if _, err := runner.Kill(function.Name); err != nil {
				t.Error(err)
			}
		}
	}
	if err := runtest.Of(runner).SetFaults(runtest.Faults{}); err != nil {
		t.Fatal(err)
	}
	tab.Until("(document.querySelector('main [data-state] button.primary:not([disabled])')?.click(), " +
		"document.querySelector('main [data-state=thanks], main [data-state=answered]'))")
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Answer != "It does." {
		t.Errorf("the agent reads %+v", got)
	}
}
