package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// views are the addresses of all views, with the first of each kind of thing opened.
func views(t *testing.T, runner *run.Runner) []string {
	t.Helper()
	all := []string{
		"#/", "#/map", "#/map?stack=all", "#/try", "#/requests", "#/lines", "#/functions", "#/costs", "#/tables",
		"#/streams",
		"#/buses", "#/queues", "#/schedules", "#/push", "#/webhooks", "#/buckets", "#/lake", "#/user-pools",
		"#/parameters", "#/permissions", "#/faults",
	}
	tables := must.Get(runtest.Of(runner).Tables(t.Context()))(t)
	all = append(all, fmt.Sprintf("#/tables/%s?stack=%s", url.PathEscape(tables[0].Name),
		url.QueryEscape(tables[0].Stack)),
		"#/functions/"+url.PathEscape(runtest.Of(runner).Functions()[0].Name),
		"#/queues/"+url.PathEscape(runtest.Of(runner).Queues()[0]))
	if buckets := runtest.Of(runner).Buckets(); len(buckets) > 0 {
		all = append(all, "#/buckets/"+url.PathEscape(buckets[0])+"?prefix=")
	}
	quiet := quietTables(t, runner)[0]
	put(t, runner, quiet, item(quiet, "seen", map[string]string{"note": "for all views"}))
	all = append(all, itemView(t, quiet, "seen"), "#/nowhere")
	if last := newest(runner, ""); last.ID != "" {
		all = append(all, "#/requests/"+last.ID)
	}
	return all
}

// The first view leads to the pages of APIs.
func TestPagesAreLinked(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	var pages []string
	for _, api := range runtest.Of(runner).APIs() {
		for _, page := range api.Pages {
			pages = append(pages, page.Name+" "+page.URL)
		}
	}
	linked := browser.Evaluate[[]string](tab, `[...document.querySelectorAll('main .cards dt')].map((term) =>
		`+"`${term.textContent} ${term.nextSibling.querySelector('a')?.href}`"+`)`)
	for _, page := range pages {
		if !slices.Contains(linked, page) {
			t.Errorf("no link %s among %q", page, linked)
		}
	}
	for _, name := range []string{"page ", "operators "} {
		if !slices.ContainsFunc(pages, func(page string) bool { return strings.HasPrefix(page, name) }) {
			t.Errorf("no %sin %q", name, pages)
		}
	}
}

// Every view opens, has one heading, and fits a phone without scrolling to the side.
func TestViews(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	must.Get(call(t, "GET", openAPI(t, runner), "", ""))(t)
	for _, view := range views(t, runner) {
		goTo(tab, view)
		if problem := tab.Text(".problem"); problem != "" {
			t.Errorf("%s: %s", view, problem)
		}
		if headings := browser.Evaluate[int](tab, "document.querySelectorAll('h1').length"); headings != 1 {
			t.Errorf("%s: got %d headings", view, headings)
		}
		const bare = "document.querySelectorAll('pre[aria-label]:not([role])').length"
		if unnamed := browser.Evaluate[int](tab, bare); unnamed > 0 {
			t.Errorf("%s: %d texts have a name and no role that may have one", view, unnamed)
		}
		if focused := browser.Evaluate[string](tab, "document.activeElement?.tagName ?? ''"); focused != "H1" {
			t.Errorf("%s: the focus is on %s, want the heading", view, focused)
		}
	}
	tab.Resize(320, 740)
	// Right to left is how a browser shows a page that it has translated into some languages.
	for _, direction := range []string{"ltr", "rtl"} {
		browser.Evaluate[bool](tab, "(document.documentElement.dir = '"+direction+"', true)")
		checkWidth(t, tab, views(t, runner))
	}
}

// checkWidth checks that views fit the narrowest phone.
func checkWidth(t *testing.T, tab *browser.Tab, all []string) {
	t.Helper()
	for _, view := range all {
		goTo(tab, view)
		if width := browser.Evaluate[int](tab, "document.documentElement.scrollWidth"); width > 320 {
			t.Errorf("%s: is %d pixels wide on a phone; too wide are %v", view, width,
				browser.Evaluate[[]string](tab, `[...document.querySelectorAll('main *')]
				.filter((one) => (one.getBoundingClientRect().right > 321 || one.getBoundingClientRect().left < -1) && !one.closest('.scroll')).map((one) => one.outerHTML.slice(0, 120)).slice(0, 5)`))
		}
	}
}

// The rules of axe-core find nothing, in light and dark, on a laptop and a phone.
func TestAccessibility(t *testing.T) {
	for _, options := range []browser.Options{{}, {Dark: true}, {Width: 320, Height: 740}} {
		runner, tab := open(t, "", options)
		must.Get(call(t, "GET", openAPI(t, runner), "", ""))(t)
		runtest.Of(runner).KnowSecrets("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		must.OK(t, runtest.Of(runner).FailWebhooks("/down", true))
		must.OK(t, runtest.Of(runner).Publish("default", "test", "Tried", `{"a":1}`))
		must.Get(call(t, "POST", runner.WebhooksURL()+"me", "", `{"type":"question.closed"}`))(t)
		for _, view := range views(t, runner) {
			goTo(tab, view)
			tab.CheckRules()
		}
		if options.Width == 0 {
			continue
		}
		tab.Click("Menu")
		tab.CheckRules()
		// Someone who listens hears the name of a group with its views, and others see it.
		if unnamed := browser.Evaluate[[]string](tab, `[...document.querySelectorAll('nav a')].filter((one) =>
			!document.getElementById(one.closest('ul').getAttribute('aria-labelledby'))?.offsetHeight).map((one) => one.innerText)`); len(unnamed) > 0 {
			t.Errorf("%q stand in no group with a name", unnamed)
		}
	}
}

// Someone without a mouse reaches a view, a control and the way back, and no element keeps the focus.
func TestKeyboard(t *testing.T) {
	_, tab := open(t, "", browser.Options{})
	const tabKey, enter, space, escape = "\t", "\r", " ", "\u001b"
	focused := func() string {
		return browser.Evaluate[string](tab, "(document.activeElement?.innerText || "+
			"document.activeElement?.getAttribute('aria-label') || document.activeElement?.tagName || '').trim()")
	}
	tab.Press(tabKey)
	if got := focused(); got != "Skip to content" {
		t.Fatalf("the first stop is %q", got)
	}
	tab.Press(enter)
	if got := browser.Evaluate[string](tab, "document.activeElement.id"); got != "main" {
		t.Errorf("skipping leads to %q", got)
	}
	// From the top, along the views, to the faults.
	browser.Evaluate[bool](tab, "document.activeElement.blur(), true")
	tab.Press(tabKey)
	var stops []string
	for range 60 {
		tab.Press(tabKey)
		stops = append(stops, focused())
		if focused() == "Faults" {
			break
		}
	}
	if !slices.Contains(stops, "Requests") || stops[len(stops)-1] != "Faults" {
		t.Fatalf("got the stops %q", stops)
	}
	if outline := browser.Evaluate[string](tab,
		"getComputedStyle(document.activeElement).outlineStyle"); outline == "none" {
		t.Error("the focus is not seen")
	}
	tab.Press(enter)
	shown(tab, "#/faults")
	// The heading has the focus. The switches follow; space turns one.
	for range 20 {
		tab.Press(tabKey)
		if strings.HasPrefix(focused(), "Turn on") {
			break
		}
	}
	if browser.Evaluate[string](tab, "document.activeElement.getAttribute('role')") != "switch" {
		t.Fatalf("no switch has the focus, but %q", focused())
	}
	tab.Press(space)
	tab.Until("document.activeElement.getAttribute('aria-checked') === 'true'")
	tab.Press(space)
	tab.Until("document.activeElement.getAttribute('aria-checked') === 'false'")
	// A dialog keeps the focus until Escape, and gives it back.
	goTo(tab, "#/tables")
	tab.Until("document.querySelector('main tbody a')")
	browser.Evaluate[bool](tab, "document.querySelector('main tbody a').focus(), true")
	tab.Press(enter)
	tab.Until("[...document.querySelectorAll('button')].some((one) => one.innerText === 'Add an item')")
	browser.Evaluate[bool](tab, "[...document.querySelectorAll('button')].find((one) => one.innerText === 'Add an "+
		"item').focus(), true")
	tab.Press(enter)
	tab.Until("document.querySelector('dialog[open]')?.contains(document.activeElement)")
	for range 8 {
		tab.Press(tabKey)
		if outside := browser.Evaluate[bool](tab, "document.activeElement !== document.body && "+
			"!document.querySelector('dialog[open]').contains(document.activeElement)"); outside {
			t.Errorf("the focus left the dialog: %q", focused())
		}
	}
	tab.Press(escape)
	tab.Until("!document.querySelector('dialog')")
	if got := focused(); got != "Add an item" {
		t.Errorf("after the dialog the focus is on %q", got)
	}
}
