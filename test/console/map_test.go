package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The map draws what calls what. Its figures follow requests without a new drawing. It leads to views and to requests,
// by pointer and by keyboard, and small windows have its tables alone.
func TestMap(t *testing.T) {
	runner, tab := open(t, "#/map", browser.Options{})
	stack := ""
	for _, api := range runtest.Of(runner).APIs() {
		if strings.Contains(api.Stack, "todo") {
			stack = api.Stack
		}
	}
	tab.Fill("Platform", stack)
	tab.Until("location.hash === '#/map?stack=" + stack + "' && document.querySelector('[data-part*=TodoAPI]')")
	// part is the script that finds a part by its kind and a part of its name.
	part := func(kind, name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('.map .part.%s')].find((one) => `+
			`one.querySelector('title').textContent.includes(%q))`, kind, name)
	}
	for kind, name := range map[string]string{"routes": "To-Do", "function": "TodoAPI", "table": "AppData",
		"stream": "AppData", "queue": "DeadLetters", "schedule": "LakeSchedule", "bucket": "lake", "lake": "todo"} {
		if !browser.Evaluate[bool](tab, "Boolean("+part(kind, name)+")") {
			t.Errorf("no %s %s is drawn", kind, name)
		}
	}
	if names := browser.Evaluate[[]string](tab,
		"[...document.querySelectorAll('.map .function .name')].map((one) => one.textContent)"); len(names) == 0 ||
		slices.Contains(names, "humanapi") {
		t.Errorf("got the functions %q", names)
	}

	arrow := func(words string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('.map .way')].find((one) => `+
			`one.querySelector('title').textContent.startsWith(%q))`, words)
	}
	figures := func(words string) (all, failed int) {
		said := browser.Evaluate[string](tab, arrow(words)+".querySelector('title').textContent")
		if _, err := fmt.Sscanf(said[strings.LastIndex(said, ": ")+2:], "%d, %d failed", &all, &failed); err != nil {
			t.Fatalf("got %q: %v", said, err)
		}
		return all, failed
	}
	if wide := browser.Evaluate[[]string](tab, `[...document.querySelectorAll('.map .part')].flatMap((part) => {
		const right = part.querySelector('rect').getBoundingClientRect().right;
		return [...part.querySelectorAll('text')].filter((text) => text.getBoundingClientRect().right > right - 4);
	}).map((text) => text.textContent)`); len(wide) > 0 {
		t.Errorf("%q leave their boxes", wide)
	}
	drawn := func() string { return browser.Evaluate[string](tab, "document.querySelector('.map').outerHTML") }
	requests, calls := "/api … → todoapi, requests", "todoapi → DatabaseAppData, calls: reads, writes"
	beforeAll, beforeFailed := figures(requests)
	beforeCalls, _ := figures(calls)
	browser.Evaluate[bool](tab, "(window.drawn = document.querySelector('.map'), true)")
	before := drawn()
	alice := clientOf(t, runner, "todo", "alice-of-the-map")
	alice.Try(t, http.MethodPost, "/api/v1/users/me", map[string]string{"email": "alice@example.com", "name": "Alice"})
	alice.Try(t, http.MethodPost, "/api/v1/tasks", map[string]string{"title": "Draw", "category": "work",
		"priority": "high"})
	if r := alice.Try(t, http.MethodGet, "/api/v1/tasks/none", nil); r.Status < 400 {
		t.Fatalf("got %v", r)
	}
	tab.Until(fmt.Sprintf("%s.querySelector('title').textContent.endsWith(': %d, %d failed')", arrow(requests),
		beforeAll+3, beforeFailed+1))
	if all, _ := figures(calls); all < beforeCalls+2 {
		t.Errorf("todoapi called the table %d times, %d before", all, beforeCalls)
	}
	if label := browser.Evaluate[string](tab, arrow(requests)+".querySelector('text').textContent"); label !=
		fmt.Sprintf("%d ✗%d", beforeAll+3, beforeFailed+1) {
		t.Errorf("the arrow says %q", label)
	}
	if before == drawn() || !browser.Evaluate[bool](tab, "window.drawn.isConnected") {
		t.Error("the figures did not change in the drawing that was there")
	}
	tab.See("What calls what")

	// By keyboard routes open, a route leads to its requests, and a part to its view.
	const enter = "\r"
	browser.Evaluate[bool](tab, "("+part("routes", "To-Do")+".focus(), true)")
	tab.Press(enter)
	tab.Until("document.activeElement.getAttribute('aria-expanded') === 'true'")
	tab.Press("\t")
	key := browser.Evaluate[string](tab, "document.activeElement.querySelector('title').textContent")
	if !strings.Contains(key, "/api/v1/") {
		t.Fatalf("the focus is on %q", key)
	}
	tab.Press(enter)
	tab.Until("location.hash.startsWith('#/requests?search=') && " +
		"new URLSearchParams(location.hash.split('?')[1]).get('search') === " + fmt.Sprintf("%q", key))
	goTo(tab, "#/map?stack="+stack)
	browser.Evaluate[bool](tab, "("+part("table", "AppData")+".focus(), true)")
	if shown := browser.Evaluate[int](tab, "document.querySelectorAll('.map .way:not(.off)').length"); shown < 2 ||
		shown == browser.Evaluate[int](tab, "document.querySelectorAll('.map .way').length") {
		t.Errorf("%d arrows stand out", shown)
	}
	browser.Evaluate[bool](tab, "(document.activeElement.blur(), true)")
	tab.Until("!document.querySelector('.map .off')")
	browser.Evaluate[bool](tab, "("+part("table", "AppData")+".focus(), true)")
	tab.Press(enter)
	tab.Until("location.hash.startsWith('#/tables/') && document.querySelector('h1').innerText.includes('AppData')")

	// A click on an arrow leads to the requests that went its way, and the table has the same link.
	goTo(tab, "#/map?stack="+stack)
	browser.Evaluate[bool](tab, arrow(requests)+".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
	tab.Until("location.hash === '#/requests?search=todoapi'")
	tab.See("/api/v1/tasks/none")
	goTo(tab, "#/map?stack="+stack)
	tab.Resize(690, 800)
	if browser.Evaluate[bool](tab, "document.querySelector('.drawing').getClientRects().length > 0") {
		t.Error("a small window has the drawing")
	}
	browser.Evaluate[bool](tab, "([...document.querySelectorAll('main table tr')].find((one) => "+
		"/^14 routes[^]*todoapi/.test(one.innerText)).querySelector('td.number a').click(), true)")
	tab.Until("location.hash === '#/requests?search=todoapi'")
}
