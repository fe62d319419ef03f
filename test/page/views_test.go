package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// All that strangers ask is shown as text: it runs no script, has no link, and does not turn its neighbours.
func TestStrangers(t *testing.T) {
	for _, text := range browser.Hostile() {
		q := ask(t, unique(text), 2, text[:min(len(text), 150)], "javascript:alert(1)")
		for _, path := range []string{"/", "/q/" + q.id} {
			tab := open(t, path, browser.Options{Width: 320, Height: 640})
			tab.Until("document.querySelector('.foreign')")
			tab.CheckStrangers()
			if strings.HasPrefix(path, "/q/") {
				tab.See("javascript:alert(1)")
			}
		}
	}
}

// Texts of any length and script keep their own direction, and fit into the narrowest page with all that surrounds
// them.
func TestNarrow(t *testing.T) {
	// A prompt may have 2,000 characters, and an option 200.
	long := func(text string, characters int) string {
		return string([]rune(strings.Repeat(text, characters))[:characters])
	}
	type shown struct{ prompt, option, direction string }
	texts := map[string]shown{}
	for _, one := range []shown{
		{long("Is this sentence one of many that say the same? ", 1999) + "?", long("y z ", 199) + "!", "ltr"},
		{long("w", 2000), long("x", 200), "ltr"},
		{long("هل هذه الجملة (https://example.com/1) واحدة من كثير؟ ", 1999) + "؟", "نعم، 100%", "rtl"},
		{"האם זה נכון? C++ and 1 < 2", "כן", "rtl"},
		{"👩🏽‍👩🏽‍👧🏽‍👦🏽 " + long("🏳️‍🌈👩🏽‍🚀", 1900) + " 🇩🇪?", long("🧑🏿‍🤝‍🧑🏻", 196) + "!", "ltr"},
		{"Z" + long("̶̣́͜", 1000) + " é?", "a" + long("̲̈", 199), "ltr"},
		{long("漢字かな交じり文", 1999) + "？", long("한국어", 200), "ltr"},
	} {
		texts["/q/"+ask(t, one.prompt, 2, one.option, "No").id] = one
	}
	tab := open(t, "/", browser.Options{Width: 320, Height: 640})
	tab.CheckFits()
	type found struct{ Text, Direction, Facts string }
	for id, want := range texts {
		got := browser.Evaluate[found](tab, `(() => {
			const card = document.querySelector('[data-question="`+strings.TrimPrefix(id, "/q/")+`"]'), prompt = card.querySelector('.foreign');
			return {text: prompt.textContent, direction: getComputedStyle(prompt).direction, facts: getComputedStyle(card.querySelector('.facts')).direction};
		})()`)
		if got != (found{want.prompt, want.direction, "ltr"}) {
			t.Errorf("the list has %+v, want %s, %s", got, want.direction, want.prompt)
		}
	}
	german := open(t, "/q/example", browser.Options{Width: 360, Height: 640, Before: inGerman})
	german.See("Ganz sicher")
	for _, view := range []string{"/", "/q/example", "/me", "/answers", "/leaderboard", "/settings"} {
		german.Show(view)
		german.CheckFits()
	}
	for _, view := range append(slices.Collect(maps.Keys(texts)), "/q/example", "/me", "/answers", "/leaderboard",
		"/settings") {
		tab.Show(view)
		tab.CheckFits()
		want, ok := texts[view]
		if !ok {
			continue
		}
		got := browser.Evaluate[[]string](tab, "[...document.querySelectorAll('.foreign')].slice(0, 2).flatMap((one) "+
			"=> [one.textContent, getComputedStyle(one).direction])")
		if !slices.Equal(got, []string{want.prompt, want.direction, want.option, want.direction}) {
			t.Errorf("the question has %q, want %+v", got, want)
		}
	}
}

// inGerman is a script for a tab whose person has chosen German.
const inGerman = `localStorage.setItem('ask-a-human.language', '"de"')`

// The question is the headline, and the title of the tab; fenced lines are code. How sure one is has no choice at
// first, and a choice can be taken back. Only sending is filled.
func TestQuestion(t *testing.T) {
	prompt := unique("Is this loop right?")
	q := ask(t, prompt+"\n```go\nfor i := range 3 {}\n```\nIt should run three times.", 2)
	tab := open(t, "/q/"+q.id, browser.Options{})
	tab.Until("document.querySelector('h1')")
	type shown struct {
		Headline, Title, Code, Rest, Facts string
		Chosen, Filled                     int
	}
	got := browser.Evaluate[shown](tab, `({
		headline: document.querySelector('h1').textContent, title: document.title,
		code: document.querySelector('.prompt pre code').textContent, rest: document.querySelector('.prompt p').textContent,
		facts: document.querySelector('.facts').textContent,
		chosen: document.querySelectorAll('input:checked').length,
		filled: [...document.querySelectorAll('main button, main .level span')].filter((one) =>
			getComputedStyle(one).backgroundColor === getComputedStyle(document.querySelector('button.primary')).backgroundColor).length,
	})`)
	if !strings.Contains(got.Facts, "up to +22") {
		t.Errorf("the facts are %q, want what an answer earns", got.Facts)
	}
	got.Facts = ""
	if want := (shown{Headline: prompt, Title: prompt + " – Ask-a-Human", Code: "for i := range 3 {}",
		Rest: "It should run three times.", Filled: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	write(tab, "It is.")
	tab.Until("(document.querySelector('input[name=confidence][value=\"5\"]').click(), true)")
	tab.Click("Prefer not to say")
	tab.Until("!document.querySelector('input[name=confidence]:checked')")
	send(tab)
	thanked(tab)
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Confidence != 0 {
		t.Errorf("the agent reads %+v", got)
	}
}

// A question that is not for someone, or that they report, leaves their feed for good, unless they take that back. What was
// wrong with an answer is said until it is mended.
func TestLeavesTheFeed(t *testing.T) {
	passed, reported := unique("Is this for you?"), unique("Is this advertising?")
	first, second := askFor(t, "ethics", passed, 2), askFor(t, "ethics", reported, 2)
	tab := open(t, "/q/"+first.id, browser.Options{})
	tab.Until("document.getElementById('answer')")
	tab.Click("Send answer")
	tab.Until("!document.getElementById('problem').hidden")
	write(tab, "Perhaps.")
	tab.Until("document.getElementById('problem').hidden && !document.querySelector('[aria-invalid]')")
	tab.Click("Not for me")
	shows(tab, "passed")
	tab.Click("Undo")
	tab.Until("document.getElementById('answer')?.value === 'Perhaps.'")
	tab.Click("Not for me")
	shows(tab, "passed")
	loaded := func(path string) {
		browser.Evaluate[bool](tab, "delete document.getElementById('main').dataset.shown, "+
			"setTimeout(() => location.assign('"+path+"')), true")
		tab.Until("document.getElementById('main')?.dataset.shown === '" + path + "'")
	}
	loaded("/q/" + second.id)
	tab.Click("Report this question")
	tab.Until("document.querySelector('.reporting')")
	tab.Click("Send report")
	tab.See("Someone will look at it")
	tab.See("Next question")
	for range 2 {
		loaded("/?audience=ethics")
		for _, prompt := range []string{passed, reported} {
			if strings.Contains(tab.Text("main"), prompt) {
				t.Errorf("the feed still has %q", prompt)
			}
		}
	}
	open(t, "/?audience=ethics", browser.Options{}).See(passed)
}

// What a lost network kept from view comes when there is one again.
func TestConnectionComesBack(t *testing.T) {
	prompt := unique("Are you back?")
	q := ask(t, prompt, 2)
	tab := open(t, "/settings", browser.Options{})
	tab.Excuse("ERR_INTERNET_DISCONNECTED")
	tab.Offline(true)
	browser.Evaluate[bool](tab, "history.pushState(null, '', '/q/"+q.id+
		"'), dispatchEvent(new PopStateEvent('popstate'))")
	shows(tab, "offline")
	tab.Offline(false)
	tab.See(prompt)
}

// The rules of axe-core find nothing in any view, light and dark, on a laptop and a phone.
func TestAccessibility(t *testing.T) {
	choice, text := ask(t, unique("Which one is it?"), 2, "This", "That"), ask(t, unique("Why is it so?"), 2)
	for _, options := range []browser.Options{{}, {Dark: true}, {Width: 320, Height: 640}} {
		for _, path := range []string{"/", "/?audience=general", "/q/" + choice.id, "/q/" + text.id, "/q/none",
			"/q/example", "/me", "/answers", "/leaderboard", "/settings"} {
			tab := visit(t, path, options)
			tab.Excuse("404")
			tab.Until("document.querySelector('main h1')")
			tab.CheckRules()
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
	leave(tab)
	thanked(tab)
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Answer != "By keyboard alone." {
		t.Errorf("the agent reads %+v", got)
	}
}

// People choose their language, and become someone else, without what they had begun to write.
func TestSettings(t *testing.T) {
	q := ask(t, unique("Who are you?"), 2)
	tab := open(t, "/q/"+q.id, browser.Options{})
	write(tab, "I am")
	tab.Click("Settings")
	tab.Until("(() => { const list = document.querySelector('main select'); if (!list) return false; list.value = " +
		"'de'; list.dispatchEvent(new Event('change', {bubbles: true})); return true; })()")
	tab.Until("document.documentElement.lang === 'de'")
	tab.See("Einstellungen")
	before := tab.Text("#person")
	tab.Click("Neu anfangen")
	tab.Until("document.querySelector('dialog[open]')")
	tab.Click("Neu anfangen")
	tab.Until("document.getElementById('person') && document.getElementById('person').innerText !== '" + before + "'")
	if kept := browser.Evaluate[[]string](tab, "Object.keys(localStorage).sort()"); len(before) != 36 ||
		!slices.Equal(kept, []string{"ask-a-human.language", "ask-a-human.person"}) {
		t.Errorf("%q has become someone else, and the device keeps %q", before, kept)
	}
}

// A question for few people is found behind more questions for others than one page of the feed looks at.
func TestRareAudience(t *testing.T) {
	prompt := unique("Is it right to say so?")
	askFor(t, "ethics", prompt, 1)
	for i := range 125 {
		askFor(t, "creative", fmt.Sprint("Which colour is better? ", i), 1)
	}
	tab := open(t, "/?audience=ethics", browser.Options{})
	tab.See(prompt)
}
