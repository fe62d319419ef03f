package lingiblepage

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/test/browser"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Someone new sees examples, signs in without a mouse, translates, takes the quiz to its end, and deletes the account.
// The first translation takes three actions: a key, and two texts with the key that sends them.
func TestKeyboard(t *testing.T) {
	p := someone(t)
	run, tabs := suite.Start(t)
	tab := tabs.Open(t, run.URL("")+"/", browser.Options{})
	tab.Until("document.querySelector('[data-state=signIn]')")
	var shown []string
	for n := range 3 {
		tab.Until(fmt.Sprintf("(document.querySelectorAll('.choice input')[%d].click(), true)", n))
		shown = append(shown, tab.Text(".translated"))
	}
	if want := []string{"Honestly, that burger is delicious.", "He ignored me, so I'm resentful.",
		"No cap, I am knackered."}; !slices.Equal(shown, want) {
		t.Errorf("got the examples %q, want %q", shown, want)
	}
	tab.CheckRules()
	tab.Stop("(one) => one.textContent === 'Sign in'")
	tab.Press("\r")
	tab.Until("document.activeElement?.id === 'username'")
	tab.Press(p.Name + "\r")
	tab.Until("document.activeElement?.id === 'text'")
	tab.Press("No cap, that burger is bussin.\r")
	tab.Until("document.querySelector('.result .translated')?.textContent === 'Honestly, that burger is delicious.'")
	if got := tab.Texts(".result dt"); got != "no cap|bussin" {
		t.Errorf("got the meanings of %q", got)
	}
	if got := tab.Texts(".counts span"); got != "30 of 50 characters|1 of 10 today" {
		t.Errorf("got the counts %q", got)
	}

	tab.Stop("(one) => one.textContent === 'Quiz'")
	tab.Press("\r")
	tab.See("You have 10 questions left today.")
	tab.Stop("(one) => one.textContent === 'Begin'")
	for n := range 10 {
		tab.Press("\r")
		tab.Until("document.querySelectorAll('.options button').length === 4")
		if n == 0 {
			tab.CheckRules()
		}
		tab.Stop("(one) => one.closest('.options')")
		tab.Press("\r")
		tab.Until("document.activeElement?.closest('.actions') && document.querySelector('.options .right')")
		if n == 0 {
			tab.CheckRules()
		}
	}
	tab.Press("\r")
	tab.See("How it went")
	if got := tab.Text(".figures"); !strings.Contains(got, " of 10") {
		t.Errorf("got the figures %q", got)
	}
	tab.Press("\r")
	tab.See("That was it for today")

	tab.Stop("(one) => one.textContent === 'Account'")
	tab.Press("\r")
	tab.Stop("(one) => one.textContent === 'Delete my data'")
	tab.Press("\r")
	tab.Stop("(one) => one.textContent === 'Delete'")
	tab.Press("\r")
	tab.Until("document.querySelector('[data-state=signIn]')")
	p.Do(http.MethodGet, "/user/profile", nil, http.StatusForbidden)
	if kept := browser.Evaluate[[]string](tab, "[...Object.keys(sessionStorage), ...Object.keys(localStorage)]"); len(
		kept) > 0 {
		t.Errorf("the device keeps %q", kept)
	}
}

// Only Enter and the button translate, and a text is charged once. What cannot be sent says why.
func TestFree(t *testing.T) {
	const submit = "(document.querySelector('form [type=submit]').click(), true)"
	p := someone(t)
	tab := p.open(browser.Options{})
	tab.Press("no cap")
	tab.Until("document.querySelector('.counts').textContent.includes('6 of 50 characters')")
	tab.Press("\r")
	tab.Until("document.querySelector('.result .translated')")
	tab.Until(submit)
	tab.Write("text", "The committee adjourned.")
	tab.Until(submit)
	tab.See("It did not count.")
	tab.Write("text", strings.Repeat("no cap ", 8)+"\r")
	tab.See("The text may have 50 characters. See what premium has")
	tab.CheckRules()
	if got := p.used(); got != 1 {
		t.Errorf("%d translations are charged, want 1", got)
	}
	tab.Until("(document.querySelector('input[value=to_slang]').click(), true)")
	tab.Write("text", "I am exhausted.")
	tab.Until("(() => { const list = document.querySelector('.region select'); list.value = 'GB'; " +
		"list.dispatchEvent(new Event('change', {bubbles: true})); return true; })()")
	tab.Until(submit)
	tab.Until("document.querySelector('.result .translated')?.textContent === 'I am knackered.'")
	// A word that is trending is explained, and comes into the box by a click, which charges nothing.
	term := tab.Text(".trends button")
	tab.Click(term)
	tab.Until("document.activeElement.id === 'text' && document.activeElement.value === " +
		"document.querySelector('.trends button').textContent")
	if got := p.used(); got != 2 {
		t.Errorf("%d translations are charged, want 2", got)
	}
}

// A premium user sees the translation when they pause, has a copy of what is kept, and proposes a word, for which others
// vote.
func TestPremium(t *testing.T) {
	p, voter := someone(t), someone(t)
	tab := p.open(browser.Options{Before: browser.Saves})
	tab.Show("/words")
	tab.Click("See what premium has")
	tab.Click("Become premium")
	tab.Until("document.querySelector('main h2 + .figures dd')?.textContent === '100'")
	tab.Show("/")
	tab.Press("\t")
	tab.Write("text", "He is salty.")
	tab.Until("document.querySelector('.result .translated')?.textContent === 'He is resentful.'")

	tab.Show("/words")
	term := word()
	tab.Write("slang_term", term)
	tab.Write("meaning", "bad weather")
	tab.Show("/")
	tab.Show("/words")
	tab.Write("example_usage", "What a lovely "+term+" we have")
	tab.CheckRules()
	tab.Click("Propose")
	tab.Until("document.querySelector('main [class=\"card word\"]') && " +
		"document.getElementById('slang_term').value === ''")
	if got := sections(tab)["Yours"]; !strings.Contains(got, term) {
		t.Errorf("got %q", got)
	}
	suite.Target(t).Flush(t)
	shows := func(state string) {
		t.Helper()
		tab.Show("/")
		tab.Show("/words")
		if got := sections(tab)["Yours"]; !strings.Contains(got, term) || !strings.Contains(got, state) {
			t.Errorf("got %q; want %q", got, state)
		}
	}
	shows("open to votes")
	// The run may judge a term before the page reads the list, so the test sets the state before.
	setStatus(t, term, lingible.Pending)
	shows("is looked at")
	setStatus(t, term, lingible.Validated)
	tab.Show("/account")
	tab.Click("Save a copy")
	tab.Until("globalThis.saved")
	for _, want := range []string{term, "He is resentful.", "premium"} {
		if got := browser.Evaluate[string](tab, "saved"); !strings.Contains(got, want) {
			t.Errorf("the copy lacks %q: %s", want, got)
		}
	}

	other := voter.open(browser.Options{})
	other.Show("/words")
	card := "[...document.querySelectorAll('.word')].find((one) => one.textContent.includes('" + term + "'))"
	other.Until("(" + card + "?.querySelector('button').click(), Boolean(" + card + "))")
	other.Until(card + "?.innerText.includes('1 vote')")
	other.Show("/")
	other.Show("/words")
	other.Until(card + "?.querySelector('button').disabled")
	if got := browser.Evaluate[string](other, card+".innerText"); !strings.Contains(got, "Voted") ||
		!strings.Contains(got, "1 vote") {
		t.Errorf("got %q", got)
	}
}

// Without a network the page opens, and says so; what was written stays. A lost answer charges nothing twice.
func TestNetworks(t *testing.T) {
	p := someone(t)
	tab := p.open(browser.Options{Before: `(() => {
		const send = globalThis.fetch;
		let lost = false;
		globalThis.fetch = async (address, options) => {
			const answer = await send(address, options);
			if (!String(address).endsWith('/translate') || lost) return answer;
			lost = true;
			throw new TypeError('lost');
		};
	})()`})
	tab.Excuse("ERR_INTERNET_DISCONNECTED")
	tab.Until("navigator.serviceWorker.ready.then(() => true)")
	tab.Press("no cap\r")
	tab.See("There is no connection. Try again.")
	tab.Press("\r")
	tab.Until("document.querySelector('.result .translated')")
	if got := p.used(); got != 1 {
		t.Errorf("%d translations are charged, want 1", got)
	}
	tab.Write("text", "He is salty.")
	tab.Offline(true)
	browser.Evaluate[bool](tab, "delete document.getElementById('main').dataset.shown, "+
		"setTimeout(() => location.reload()), true")
	tab.Until("document.querySelector('[data-state=offline]')")
	tab.Offline(false)
	tab.Until("document.getElementById('text')?.value === 'He is salty.'")

	slow := p.open(browser.Options{Slow: true})
	slow.Press("no cap\r")
	slow.Until("document.querySelector('.result .translated')")
}

// setStatus gives the submissions of a term a status, past the platform.
func setStatus(t *testing.T, term string, status lingible.SubmissionStatus) {
	t.Helper()
	target := platform.Local(suite.Target(t))
	for _, item := range target.Items(t, "Submissions") {
		if item["slang_term"] == term {
			item["status"] = string(status)
			target.Put(t, "Submissions", item)
		}
	}
}

// Texts of anyone stay texts and fit into any page in both directions, and axe-core finds nothing in any view.
func TestAnyText(t *testing.T) {
	p := premium(t)
	for _, text := range browser.Long(100) {
		p.API.Try(t, http.MethodPost, "/slang/submit", map[string]string{"slang_term": text, "meaning": strings.Repeat(
			text, 4), "example_usage": strings.Repeat(text, 4)})
	}
	p.proposes(word(), "bad weather", "What a lovely day <b>we</b> have")
	browser.CheckViews(t, func(options browser.Options) *browser.Tab {
		tab := p.open(options)
		tab.Press("<script>taken = 1</script> no cap\r")
		tab.Until("document.querySelector('.result .translated')")
		tab.CheckStrangers()
		tab.CheckFits()
		tab.CheckRules()
		return tab
	}, "/account", "/", "/words", "/play", "/account")
}
