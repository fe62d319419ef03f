package page

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// A question is found, answered by two people to its end, and closed for a third. Who answered sees what that earned.
func TestAnswerToItsEnd(t *testing.T) {
	prompt := unique("Should error messages apologise?")
	ask(t, unique("What comes next?"), 5)
	q := ask(t, prompt, 2)
	first := open(t, "/", browser.Options{})
	third := open(t, "/q/"+q.id, browser.Options{})
	fourth := open(t, "/q/"+q.id, browser.Options{Before: `globalThis.fetch = ((send) => (address, options) =>
		send(address, options?.body ? {...options, body: options.body.replace(/,"handed":"[^"]*"/, '')} : options))(fetch)`})
	third.See(prompt)
	first.See(prompt)
	first.Until("[...document.querySelectorAll('main li a')].some((one) => one.innerText.includes(" +
		fmt.Sprintf("%q", prompt) + ") && (one.click(), true))")
	write(first, "Only if it is our fault.")
	first.Until("(document.querySelector('input[name=confidence][value=\"4\"]').click(), " +
		"document.querySelector('input[name=confidence]:checked').value === '4')")
	send(first)
	thanked(first)
	first.See("+17 points")
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

	// Who writes when it ends was handed it before, and has the points. Who has no proof of that keeps what they wrote.
	for _, tab := range []*browser.Tab{third, fourth} {
		tab.Excuse("410")
		write(tab, "I am late.")
	}
	second := open(t, "/q/"+q.id, browser.Options{Width: 320, Height: 640})
	write(second, "Never.")
	send(second)
	thanked(second)
	for _, tab := range []*browser.Tab{third, fourth} {
		tab.Click("Send answer")
		browser.Evaluate[bool](tab, "dispatchEvent(new Event('pagehide'))")
	}
	second.See("Your answer was the last one it needed")
	first.Click("My points")
	first.Click("My answers")
	first.See(prompt)
	first.See("Only if it is our fault.")
	first.See("Has all its answers")

	third.See("The question had closed, so the agent does not get your answer. It earned 10 points.")
	third.Click("My points")
	third.Until("document.querySelector('.me dd')?.textContent === '10'")
	fourth.See("Your answer came too late, the question was closed: ")
	fourth.Show("/q/" + q.id)
	shows(fourth, "closed")
	fourth.See("What you wrote")
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

// An answer takes three actions, and the next question is there when it is sent, before the server has said anything.
func TestNextQuestionAtOnce(t *testing.T) {
	const answers = 5
	for i := range answers + 1 {
		askFor(t, "technical", unique(fmt.Sprint("Which build is broken? ", i)), 2, "This", "That")
	}
	tab := open(t, "/?audience=technical", browser.Options{Before: `globalThis.fetch = ((send) => async (...request) => {
		await globalThis.held;
		return send(...request);
	})(fetch)`})
	actions := 0
	act := func(expression string) {
		actions++
		tab.Until(expression)
	}
	act("(document.querySelector('.card a').click(), true)")
	for range answers {
		act("(document.querySelector('input[name=option]')?.click(), " +
			"document.querySelector('input[name=option]:checked'))")
		act("(document.querySelector('input[name=confidence][value=\"4\"]').click(), true)")
		actions++
		if before, after := browser.Evaluate[string](tab, "document.querySelector('.question').dataset.question"),
			browser.Evaluate[string](tab, `(async () => {
				globalThis.held = new Promise((done) => { globalThis.release = done; });
				document.querySelector('button[type=submit]').click();
				await new Promise((done) => setTimeout(done));
				const next = document.querySelector('.question')?.dataset.question;
				const offered = document.querySelector('.notice .undoing button')?.textContent;
				globalThis.release();
				return offered + ' ' + next;
			})()`); !strings.HasPrefix(after, "Undo ") || strings.HasSuffix(after, "undefined") ||
			strings.HasSuffix(after, before) {
			t.Fatalf("after %s came %q", before, after)
		}
	}
	if actions != 1+3*answers {
		t.Errorf("%d answers took %d actions", answers, actions)
	}
	leave(tab)
	tab.Show("/answers")
	tab.Until(fmt.Sprintf("document.querySelectorAll('.own-answers .card').length === %d", answers))
}

// What has become of an answer is said where Undo was, and moves nothing that one is about to press.
func TestNothingMoves(t *testing.T) {
	for i := range 2 {
		askFor(t, "technical", unique(fmt.Sprint("Which test is slow? ", i)), 5, "This", "That")
	}
	for _, language := range []string{"", inGerman} {
		tab := open(t, "/?audience=technical", browser.Options{Before: language, Width: 360, Height: 740})
		tab.Until("(document.querySelector('.card a').click(), true)")
		tab.Until("(document.querySelector('input[name=option]')?.click(), " +
			"document.querySelector('input[name=option]:checked'))")
		tab.Until("(document.querySelector('button[type=submit]').click(), true)")
		tab.Until("document.querySelector('.undoing') && document.querySelector('.question') && " +
			"!document.querySelector('input[name=option]:checked')")
		const top = "document.querySelector('.question').getBoundingClientRect().top + scrollY"
		before := browser.Evaluate[float64](tab, top)
		leave(tab)
		tab.Until("document.querySelector('.notice .did')")
		if after := browser.Evaluate[float64](tab, top); math.Abs(after-before) > 1 {
			t.Errorf("%q: the question has moved from %v to %v", language, before, after)
		}
	}
}

// Who writes while a question closes is told within 15 seconds, and sends what they have for its points.
func TestToldOfTheEnd(t *testing.T) {
	q := ask(t, unique("Is anyone quicker?"), 1)
	// What the page plans for the next 15 seconds it does at once, but for the end of an undo.
	tab := open(t, "/q/"+q.id, browser.Options{Before: `globalThis.setTimeout = ((wait) => (call, ms, ...more) =>
		wait(call, ms > 5000 && ms <= 15000 ? 100 : ms, ...more))(setTimeout)`})
	tab.Excuse("410")
	write(tab, "I am")
	rival := onesynthtest.NewClient(t, suite.Target(t))
	rival.Header = http.Header{"X-Fingerprint": {onesynthtest.Unique("person")}}
	if r := rival.Try(t, http.MethodPost, "/human/responses",
		map[string]any{"question_id": q.id, "answer": "I was."}); r.Status != http.StatusCreated {
		t.Fatal(r)
	}
	write(tab, " writing")
	tab.See("This question has just closed.")
	tab.CheckRules()
	tab.Until("document.getElementById('answer').value === 'I am writing'")
	tab.Click("Send answer")
	tab.See("The question had closed, so the agent does not get your answer. It earned 10 points.")
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Answer != "I was." {
		t.Errorf("the agent reads %+v", got)
	}
}

// Two people race for the last place: one gets it, the other is told, and nothing is stored twice.
func TestRaceForTheLastPlace(t *testing.T) {
	for range 3 {
		q := ask(t, unique("Who is first?"), 1, "I", "You")
		tab := open(t, "/q/"+q.id, browser.Options{})
		tab.Until("(document.querySelector('input[name=option][value=\"1\"]')?.click(), " +
			"document.querySelector('input[name=option]:checked'))")
		other, rival := make(chan int), onesynthtest.NewClient(t, suite.Target(t))
		rival.Header = http.Header{"X-Fingerprint": {onesynthtest.Unique("person")}}
		go func() {
			r, _ := rival.Send(t.Context(), http.MethodPost, "/human/responses", nil,
				map[string]any{"question_id": q.id, "selected_option": 0})
			other <- r.Status
		}()
		send(tab)
		thanked(tab)
		won := browser.Evaluate[bool](tab, "!document.body.innerText.includes('The question had closed')")
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
	thanked(tab)
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
	must.OK(t, runtest.Of(runner).SetFaults(runtest.Faults{Throttle: 1, Seed: 1}))
	send(tab)
	tab.Until("document.querySelector('[data-notice=standing]')")
	for _, function := range runtest.Of(runner).Functions() {
		if strings.Contains(function.Name, "HumanAPI") {
			if _, err := runner.Kill(function.Name); err != nil {
				t.Error(err)
			}
		}
	}
	must.OK(t, runtest.Of(runner).SetFaults(runtest.Faults{}))
	tab.Show("/q/" + q.id)
	tab.Until("(document.querySelector('main [data-state] button.primary:not([disabled])')?.click(), " +
		"document.querySelector('main [data-state=thanks], main [data-state=answered]'))")
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Answer != "It does." {
		t.Errorf("the agent reads %+v", got)
	}
}
