package browser

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// CheckBundle checks that the files app.js and page.css of a page's folder are what go generate makes of its modules. A
// browser loads modules and styles as one file each.
func CheckBundle(t *testing.T, folder string) {
	t.Helper()
	made := api.Build(api.BuildOptions{
		EntryPoints: []string{folder + "/modules/app.js", folder + "/modules/page.css"}, Outdir: folder + "/files",
		Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Banner: map[string]string{"js": "// Made of ../modules by go generate.",
			"css": "/* Made of ../modules by go generate. */"},
	})
	if len(made.Errors) > 0 || len(made.OutputFiles) != 2 {
		t.Fatalf("got %d files and the errors %v", len(made.OutputFiles), made.Errors)
	}
	for _, file := range made.OutputFiles {
		to := folder + "/files/" + path.Base(file.Path)
		if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, file.Contents) {
			t.Errorf("%s is not what its modules make (%v): run go generate in %s", to, err, folder)
		}
	}
}

// Hostile are texts that strangers may write.
func Hostile() []string {
	return []string{
		`<script>taken = 1</script><img src=x onerror="taken = 1"> and <b>bold</b>?`,
		`<a href="javascript:taken=1">Win</a> at https://evil.example/?a=b, "><svg onload=alert(1)> or {{constructor.constructor('alert(1)')()}}`,
		"\u202eشكرا على سؤالك\u202c هل هذا صحيح؟ <bdo dir=rtl>abc</bdo>",
	}
}

// CheckStrangers checks that what strangers wrote is text alone: it ran no script, and has no element and no link.
func (tab *Tab) CheckStrangers() {
	tab.t.Helper()
	if found := Evaluate[[]string](tab,
		`[...document.querySelectorAll('.foreign *, .foreign[href], main script, main img, main svg:not(.curve), main b, main [onerror], main [onload], a[href^="javascript:"], a[href*="evil"]')].map((one) => one.outerHTML.slice(0, 200))`); len(
		found) > 0 {
		tab.t.Errorf("%s has elements of a stranger: %q", tab.address(), found)
	}
	if Evaluate[bool](tab, "'taken' in globalThis") {
		tab.t.Errorf("%s ran a stranger's script", tab.address())
	}
}

// CheckFits checks that nothing is wider than the page, written in both directions, and on a phone what CheckWords
// checks.
func (tab *Tab) CheckFits() {
	tab.t.Helper()
	if Evaluate[int64](tab, "innerWidth") < phones[len(phones)-1] {
		tab.CheckWords()
	}
	for _, direction := range []string{"rtl", "ltr"} {
		if wide := Evaluate[[]string](tab, `(document.documentElement.dir = '`+direction+`',
			[document.documentElement, ...document.querySelectorAll('main *, footer *, #notices *')].filter((one) => {
			const {left, right} = one.getBoundingClientRect();
			return left < -1 || right > innerWidth + 1 || one.tagName !== 'INPUT' && one.scrollWidth > innerWidth;
		}).map((one) => one.outerHTML.slice(0, 120)))`); len(wide) > 0 {
			tab.t.Errorf("%s from %s is wider than the page: %q", tab.address(), direction, wide)
		}
	}
}

// phones are widths of phones in px, the narrowest first.
var phones = []int64{320, 360, 390, 430}

// CheckWords checks at the widths of phones that no word of the page breaks inside, and that the two ends of a scale
// stand on one line. What strangers wrote may break.
func (tab *Tab) CheckWords() {
	tab.t.Helper()
	size := Evaluate[[]int64](tab, "[innerWidth, innerHeight]")
	defer tab.Resize(size[0], size[1])
	for _, width := range phones {
		tab.Resize(width, size[1])
		if broken := Evaluate[[]string](tab, `(() => {
			const wrong = [], range = document.createRange();
			const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			const lines = (rects) => new Set([...rects].filter((one) => one.width > 0).map((one) => Math.round(one.top))).size;
			for (let text; (text = texts.nextNode());) {
				if (text.parentElement.closest('[dir=auto], .hidden, code, script, option') || !text.parentElement.checkVisibility()) continue;
				for (const found of text.data.matchAll(/[^\s\u00ad-]+/g)) {
					range.setStart(text, found.index);
					range.setEnd(text, found.index + found[0].length);
					if (!found[0].includes('@') && lines(range.getClientRects()) > 1) wrong.push(found[0]);
				}
			}
			for (const ends of document.querySelectorAll('.ends')) {
				const rects = [...ends.children].flatMap((one) => (range.selectNodeContents(one), [...range.getClientRects()]));
				if (lines(rects) > 1) wrong.push(ends.textContent);
			}
			return wrong;
		})()`); len(broken) > 0 {
			tab.t.Errorf("%s breaks within %q", tab.address(), broken)
		}
	}
}

// CheckRules checks that the rules of axe-core for accessible pages find nothing.
func (tab *Tab) CheckRules() {
	tab.t.Helper()
	rules := must.Get(os.ReadFile(filepath.Join(platform.Modules(tab.t, "console"), "axe-core", "axe.min.js")))(tab.t)
	if !Evaluate[bool](tab, "'axe' in globalThis") {
		// It is the test that brings the rules, past the page's own policy.
		Evaluate[bool](tab, string(rules)+"; true")
	}
	for _, finding := range Evaluate[[]string](tab,
		`axe.run(document, {resultTypes: ['violations']}).then((results) =>
		results.violations.flatMap((rule) => rule.nodes.map((node) => rule.id + ': ' + node.target.join(' ') + ': ' + (node.any[0] ?? node.all[0] ?? node.none[0])?.message)))`) {
		tab.t.Errorf("%s: %s", tab.address(), finding)
	}
}

// Show goes to a view of the page as its history does, and waits until it is shown.
func (tab *Tab) Show(view string) {
	tab.t.Helper()
	Evaluate[bool](tab, "history.pushState(null, '', "+quote(view)+"), dispatchEvent(new PopStateEvent('popstate'))")
	tab.Until("document.getElementById('main').dataset.shown === " + quote(view))
}

// Stop presses the tabulator until the element that has the focus fits, which is a JavaScript function.
func (tab *Tab) Stop(fits string) {
	tab.t.Helper()
	for range 80 {
		tab.Press("\t")
		if Evaluate[bool](tab, "Boolean(("+fits+")(document.activeElement))") {
			return
		}
	}
	tab.t.Fatalf("the keyboard reaches nothing with %s", fits)
}

func (tab *Tab) address() string {
	tab.t.Helper()
	return Evaluate[string](tab, "`${location.pathname}${location.search}${location.hash} (${innerWidth} px)`")
}
