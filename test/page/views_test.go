package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// hostile are texts that strangers may ask with.
var hostile = []string{
	`<script>document.title = 'taken'</script><img src=x onerror="document.title = 'taken'"> and <b>bold</b>?`,
	`<a href="javascript:document.title='taken'">Win</a> at https://evil.example/?a=b, "><svg onload=alert(1)> or {{constructor.constructor('alert(1)')()}}`,
	"\u202eشكرا على سؤالك\u202c هل هذا صحيح؟ <bdo dir=rtl>abc</bdo>",
}

// All that strangers ask is shown as text: it runs no script, has no link, and does not turn its neighbours.
func TestStrangers(t *testing.T) {
	for _, text := range hostile {
		q := ask(t, unique(text), 2, text[:min(len(text), 150)], "javascript:alert(1)")
		for _, path := range []string{"/", "/q/" + q.id} {
			tab := open(t, path, browser.Options{Width: 320, Height: 640})
			tab.Until("document.querySelector('.foreign')")
			if found := browser.Evaluate[[]string](tab, `[...document.querySelectorAll('.foreign *, .foreign[href], main script, main img, main svg, main b, main [onerror], main [onload], a[href^="javascript:"], a[href*="evil"]')].map((one) => one.outerHTML.slice(0, 200))`); len(found) > 0 {
				t.Errorf("%s has elements of a stranger: %q", path, found)
			}
			if title := browser.Evaluate[string](tab, "document.title"); strings.Contains(title, "taken") {
				t.Errorf("%s ran a stranger's script", path)
			}
			if strings.HasPrefix(path, "/q/") {
				tab.See("javascript:alert(1)")
			}
		}
	}
}

// A prompt and options of the greatest length fit into the narrowest page, and every view does.
func TestNarrow(t *testing.T) {
	q := ask(t, strings.Repeat("w", 1900)+unique("?"), 2, strings.Repeat("x", 200), strings.Repeat("y z ", 49))
	for _, path := range []string{"/", "/q/" + q.id, "/me", "/leaderboard", "/settings"} {
		tab := open(t, path, browser.Options{Width: 320, Height: 640})
		if width := browser.Evaluate[int](tab, "document.documentElement.scrollWidth"); width > 320 {
			t.Errorf("%s is %d pixels wide", path, width)
		}
	}
}

// The rules of axe-core find nothing in any view, light and dark, on a laptop and a phone.
func TestAccessibility(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join("..", "console", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("axe-core is not there: run `npm ci` in test/console: %v", err)
	}
	choice, text := ask(t, unique("Which one is it?"), 2, "This", "That"), ask(t, unique("Why is it so?"), 2)
	for _, options := range []browser.Options{{}, {Dark: true}, {Width: 320, Height: 640}} {
		for _, path := range []string{"/", "/?audience=general", "/q/" + choice.id, "/q/" + text.id, "/q/none", "/me", "/leaderboard", "/settings"} {
			tab := visit(t, path, options)
			tab.Excuse("404")
			tab.Until("document.querySelector('main h1')")
			// It is the test that brings the rules, past the page's own policy.
			browser.Evaluate[bool](tab, string(rules)+"; true")
			for _, finding := range browser.Evaluate[[]string](tab, `axe.run(document, {resultTypes: ['violations']}).then((results) =>
				results.violations.flatMap((rule) => rule.nodes.map((node) => rule.id + ': ' + node.target.join(' ') + ': ' + (node.any[0] ?? node.all[0] ?? node.none[0])?.message)))`) {
				t.Errorf("%+v %s: %s", options, path, finding)
			}
		}
	}
}

// Someone without a mouse skips to the content, answers and sends.
func TestKeyboard(t *testing.T) {
	q := ask(t, unique("Do you have keys?"), 2)
	tab := open(t, "/q/"+q.id, browser.Options{})
	browser.Evaluate[bool](tab, "document.activeElement.blur(), true")
	tab.Press("\t")
	if got := browser.Evaluate[string](tab, "document.activeElement.id"); got != "skip" {
		t.Errorf("the first stop is %q", got)
	}
	tab.Press("\r")
	for range 10 {
		tab.Press("\t")
		if browser.Evaluate[bool](tab, "document.activeElement.id === 'answer'") {
			break
		}
	}
	tab.Press("By keyboard alone.")
	for range 12 {
		tab.Press("\t")
		if browser.Evaluate[bool](tab, "document.activeElement.type === 'submit'") {
			break
		}
	}
	tab.Press("\r")
	shows(tab, "thanks")
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Answer != "By keyboard alone." {
		t.Errorf("the agent reads %+v", got)
	}
}

// People choose their language, and become someone else.
func TestSettings(t *testing.T) {
	tab := open(t, "/settings", browser.Options{})
	before := browser.Evaluate[string](tab, "JSON.stringify(localStorage)")
	tab.Until("(() => { const list = document.querySelector('main select'); if (!list) return false; list.value = 'de'; list.dispatchEvent(new Event('change', {bubbles: true})); return true; })()")
	tab.Until("document.documentElement.lang === 'de'")
	tab.See("Einstellungen")
	if after := browser.Evaluate[string](tab, "JSON.stringify(localStorage)"); after == before {
		t.Error("the choice is not kept")
	}
}
