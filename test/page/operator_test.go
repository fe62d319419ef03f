package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// report reports a question as someone new.
func report(t *testing.T, q question, comment string) {
	t.Helper()
	person := onesynthtest.NewClient(t, suite.Target(t))
	person.Header = http.Header{"X-Fingerprint": {onesynthtest.Unique("person-of-reports")}}
	if got := person.Try(t, http.MethodPost, "/human/reports",
		map[string]any{"question_id": q.id, "reason": "abuse", "comment": comment}); got.Status != http.StatusCreated {
		t.Fatalf("got %v", got)
	}
}

// signIn signs an operator in, by the keyboard alone.
func signIn(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	shows(tab, "signIn")
	tab.Stop("(one) => one.textContent === 'Sign in'")
	tab.Press("\r")
	tab.Until("document.activeElement?.id === 'username'")
	tab.Press(name)
	tab.Press("\r")
	tab.Until("location.pathname === '/operator' && document.querySelector('main h1')")
}

// operating opens the page for operators as one who has signed in.
func operating(t *testing.T, options browser.Options) *browser.Tab {
	t.Helper()
	tab := open(t, "/operator", options)
	signIn(t, tab, "olga@example.com")
	tab.Until("document.querySelector('.reports')")
	return tab
}

// Without a mouse an operator signs in, hides what was reported, blocks who asked, and signs out. The question is then
// closed, and the next one at the keyboard has to sign in.
func TestOperatorByKeyboard(t *testing.T) {
	q := ask(t, unique("Is this rude?"), 2)
	report(t, q, "It calls people names.")
	tab := operating(t, browser.Options{})
	tab.See("It calls people names.")
	tab.Stop("(one) => one.closest('[data-report=\"" + q.id + "\"]') && one.textContent === 'Hide the question'")
	tab.Press("\r")
	tab.Until("!document.querySelector('[data-report=\"" + q.id + "\"]')")
	if got := browser.Evaluate[string](tab, "document.activeElement.tagName"); got != "H1" && got != "H2" {
		t.Errorf("the focus is on %s", got)
	}
	if got := q.read(t); got.Status != "CLOSED" {
		t.Errorf("the agent reads %+v", got)
	}
	tab.Stop("(one) => one.textContent === 'Hidden'")
	tab.Press("\r")
	tab.Until("document.querySelector('[data-report=\"" + q.id + "\"]')")
	tab.See("decided by olga@example.com")
	// A token that has ended is replaced, and who reads on does not notice.
	browser.Evaluate[bool](tab, `(() => {
		const at = Object.keys(sessionStorage).find((key) => key.endsWith('.tokens')), kept = JSON.parse(sessionStorage[at]);
		sessionStorage[at] = JSON.stringify({...kept, access: 'ended', until: 0});
		return true;
	})()`)
	tab.Stop("(one) => one.closest('[data-report=\"" + q.id + "\"]') && one.textContent === 'Who asked'")
	tab.Press("\r")
	tab.See("It is not blocked.")
	tab.Stop("(one) => one.textContent === 'Block the agent'")
	tab.Press("\r")
	tab.See("It is blocked.")
	if got := q.agent.Try(t, http.MethodPost, "/agent/questions", map[string]any{"prompt": "And what about now?",
		"type": "text", "min_responses": 1, "audience": []string{"general"}}); got.Status != http.StatusForbidden {
		t.Errorf("a blocked agent asks: got %v", got)
	}
	tab.Stop("(one) => one.textContent === 'Sign out'")
	tab.Press("\r")
	tab.Until("location.pathname === '/operator' && document.querySelector('[data-state=signIn]')")
	if kept := browser.Evaluate[[]string](tab, "[...Object.keys(sessionStorage), ...Object.keys(localStorage)]"); len(
		kept) > 0 {
		t.Errorf("the browser keeps %q", kept)
	}
	tab.Click("Sign in")
	tab.Until("document.getElementById('username')?.value === ''")
}

// A question with its options, an answer and its person: the operator hides the answer, and shows it again.
func TestOperatorHidesAnAnswer(t *testing.T) {
	q := ask(t, unique("Which is it?"), 2, "This", "That")
	tab := open(t, "/q/"+q.id, browser.Options{})
	tab.Until("(document.querySelector('input[name=option][value=\"1\"]')?.click(), " +
		"document.querySelector('input[name=option]:checked'))")
	send(tab)
	thanked(tab)
	var id string
	if got := q.agent.Try(t, http.MethodGet, "/agent/questions/"+q.id, nil); true {
		_, rest, _ := strings.Cut(string(got.Body), `"response_id":"`)
		id, _, _ = strings.Cut(rest, `"`)
	}
	if got := q.agent.Try(t, http.MethodPost, "/agent/reports", map[string]any{"question_id": q.id, "response_id": id,
		"reason": "spam"}); got.Status != http.StatusCreated {
		t.Fatalf("got %v", got)
	}
	tab = operating(t, browser.Options{})
	card := fmt.Sprintf("document.querySelector('[data-report=%q]')", id)
	tab.Until(card)
	if got := browser.Evaluate[string](tab, card+".querySelector('.said').textContent"); got != "That" {
		t.Errorf("the answer is %q", got)
	}
	button := func(label string) {
		tab.Until(fmt.Sprintf("[...(%s?.querySelectorAll('button') ?? [])].some((one) => one.textContent === %q && "+
			"(one.click(), true))", card, label))
	}
	tab.Until(card + ".querySelector('.person summary').click() === undefined")
	button("Block the person")
	tab.See("The person is blocked.")
	button("Lift the block")
	tab.See("The person is not blocked.")
	button("Hide the answer")
	tab.Until("!" + card)
	if got := q.read(t); len(got.Responses) != 0 {
		t.Errorf("the agent reads %+v", got)
	}
	tab.Click("Hidden")
	button("Show the answer again")
	tab.Until("!" + card)
	if got := q.read(t); len(got.Responses) != 1 {
		t.Errorf("the agent reads %+v", got)
	}
}

// A tab whose list is older decides about what another has hidden: it says who has decided what, and the report stays.
func TestOperatorDecidesLate(t *testing.T) {
	q := ask(t, unique("Who decides?"), 2)
	report(t, q, "Someone should look.")
	older, newer := operating(t, browser.Options{}), operating(t, browser.Options{})
	newer.Until(presses(q.id, "Hide the question"))
	newer.Until("!document.querySelector('[data-report=\"" + q.id + "\"]')")
	older.Excuse("409")
	older.Until(presses(q.id, "Nothing is wrong"))
	older.See("olga@example.com has decided meanwhile")
	older.See("it is hidden.")
	newer.Click("Hidden")
	newer.Until("document.querySelector('[data-report=\"" + q.id + "\"]')")
}

// presses is a condition: someone presses the button of a report's card.
func presses(id, label string) string {
	return fmt.Sprintf("[...(document.querySelector('[data-report=%q]')?.querySelectorAll('button') ?? [])]"+
		".some((one) => one.textContent === %q && (one.click(), true))", id, label)
}

// What an operator hides can be taken back for five seconds. It is hidden at once when the page is left, and comes back
// with the reason when it cannot be.
func TestOperatorTakesBack(t *testing.T) {
	kept, left, late := ask(t, unique("Is this fine?"), 2), ask(t, unique("Is this bad?"), 2),
		ask(t, unique("Is this late?"), 2)
	for _, q := range []question{kept, left, late} {
		report(t, q, "Please look.")
	}
	tab, other := operating(t, browser.Options{}), operating(t, browser.Options{})
	card := func(q question) string { return fmt.Sprintf("document.querySelector('[data-report=%q]')", q.id) }
	tab.Until(presses(kept.id, "Hide the question"))
	tab.Until(card(kept) + ".textContent === 'It is hidden.Undo'")
	tab.CheckRules()
	tab.Until(presses(kept.id, "Undo"))
	tab.Until(card(kept) + ".contains(document.activeElement) && " + card(kept) + ".querySelector('blockquote')")
	// It waits in any list with the report.
	tab.Until(presses(left.id, "Hide the question"))
	tab.Click("Most reported")
	tab.Until("location.search.includes('most') && " + card(left) + "?.textContent === 'It is hidden.Undo'")
	tab.Go("about:blank")
	wait.For(t, "the status of the question", "CLOSED", func() string { return left.read(t).Status },
		wait.On(suite.Target(t)))
	if got := kept.read(t); got.Status != "OPEN" {
		t.Errorf("the agent reads %+v", got)
	}
	// Another operator has decided.
	other.Excuse("409")
	tab = operating(t, browser.Options{})
	tab.Until(presses(late.id, "Nothing is wrong"))
	tab.Until("!" + card(late))
	other.Until(presses(late.id, "Hide the question"))
	other.Until(card(late) + ".textContent.includes('olga@example.com has decided meanwhile') && " + card(late) +
		".querySelector('blockquote')")
	if got := late.read(t); got.Status != "OPEN" {
		t.Errorf("the agent reads %+v", got)
	}
	// What waits when someone signs out is hidden.
	run, _ := suite.Start(t)
	tab.Go(run.URL("") + "/operator")
	tab.Until(presses(kept.id, "Hide the question"))
	tab.Click("Sign out")
	shows(tab, "signIn")
	if got := kept.read(t); got.Status != "CLOSED" {
		t.Errorf("the agent reads %+v", got)
	}
}

// The keys j and k lead from report to report, and the menu counts those that are open.
func TestOperatorKeys(t *testing.T) {
	for n := range 3 {
		report(t, ask(t, unique(fmt.Sprintf("Is this number %d?", n)), 2), "One of several.")
	}
	tab := operating(t, browser.Options{})
	// at waits until the focus is in the card of this number.
	at := func(want int) {
		t.Helper()
		tab.Until(fmt.Sprintf("[...document.querySelectorAll('main .card')].findIndex((one) => "+
			"one.contains(document.activeElement)) === %d", want))
	}
	at(-1)
	for _, step := range []struct {
		key string
		to  int
	}{{"j", 0}, {"j", 1}, {"j", 2}, {"k", 1}, {"\t", 1}, {"k", 0}, {"k", 0}, {"j", 1}} {
		tab.Press(step.key)
		at(step.to)
		if got := browser.Evaluate[string](tab, "document.activeElement.tagName"); (got == "H2") != (step.key != "\t") {
			t.Errorf("after %q the focus is on %s", step.key, got)
		}
	}
	counted := func() bool {
		t.Helper()
		return browser.Evaluate[bool](tab, "document.querySelector('#nav .reports .tally span').textContent === "+
			"String(document.querySelectorAll('main .card').length)")
	}
	if !counted() {
		t.Errorf("the menu says %q", tab.Text("#nav"))
	}
	tab.Until("document.activeElement.closest('.card').dataset.chosen = 'true'")
	tab.Stop("(one) => one.closest('[data-chosen]') && one.textContent === 'Nothing is wrong'")
	tab.Press("\r")
	tab.Until("!document.querySelector('[data-chosen]')")
	at(1)
	if !counted() {
		t.Errorf("the menu says %q", tab.Text("#nav"))
	}
	// In a field they are letters.
	tab.Click("Agents")
	tab.Until("document.getElementById('agent') && (document.getElementById('agent').focus(), true)")
	tab.Press("jk")
	tab.Until("document.activeElement.value === 'jk' && document.querySelector('#nav .tally span')")
}

// A person asks an operator for what is kept of them: the operator saves it, blocks the person, and deletes it.
func TestOperatorPerson(t *testing.T) {
	q := ask(t, unique("What is kept of you?"), 3)
	id := onesynthtest.Unique("asks-for-data")
	person := onesynthtest.NewClient(t, suite.Target(t))
	person.Header = http.Header{"X-Fingerprint": {id}}
	if got := person.Try(t, http.MethodPost, "/human/responses", map[string]any{"question_id": q.id,
		"answer": "This is kept of me."}); got.Status != http.StatusCreated {
		t.Fatalf("got %v", got)
	}
	tab := operating(t, browser.Options{Before: browser.Saves})
	tab.Click("People")
	look := func(id string) {
		t.Helper()
		tab.Write("person", id)
		tab.Press("\r")
	}
	look("naïve ✓")
	tab.See("No id has these characters.")
	look("nobody at all")
	tab.See("Nothing is kept of this person.")
	look(id)
	tab.See("1 answer")
	tab.CheckRules()
	if got := browser.Evaluate[string](tab, "location.href"); strings.Contains(got, id) {
		t.Errorf("the address has the id: %s", got)
	}
	tab.Click("Save a copy")
	tab.Until("globalThis.saved?.includes('This is kept of me.')")
	other := ask(t, unique("And this?"), 3)
	answers := func(want int) {
		t.Helper()
		if got := person.Try(t, http.MethodPost, "/human/responses", map[string]any{"question_id": other.id,
			"answer": "One more answer."}); got.Status != want {
			t.Errorf("got %v; want %d", got, want)
		}
	}
	tab.Click("Block the person")
	tab.See("The person is blocked.")
	answers(http.StatusForbidden)
	tab.Click("Lift the block")
	tab.Until("document.getElementById('said').textContent.startsWith('The person is not blocked.')")
	tab.Click("Delete it")
	tab.Until("document.querySelector('dialog[open]')")
	tab.CheckRules()
	tab.Until("(document.querySelector('dialog[open] .danger').click(), true)")
	tab.See("Nothing is kept of this person.")
	var stats struct {
		TotalAnswers int `json:"total_answers"`
	}
	if got := person.Try(t, http.MethodGet, "/human/stats", nil); json.Unmarshal(got.Body, &stats) != nil ||
		stats.TotalAnswers != 0 {
		t.Errorf("got %v", got)
	}
}

// An operator takes a name away, and lets the person choose again.
func TestOperatorNames(t *testing.T) {
	q := ask(t, unique("Who are you?"), 2)
	person := onesynthtest.NewClient(t, suite.Target(t))
	person.Header = http.Header{"X-Fingerprint": {onesynthtest.Unique("named")}}
	choose := func(want int) {
		t.Helper()
		if got := person.Try(t, http.MethodPut, "/human/handle", map[string]any{"handle": "Rather Rude"}); got.Status !=
			want {
			t.Fatalf("choosing a name: got %v; want %d", got, want)
		}
	}
	if got := person.Try(t, http.MethodPost, "/human/responses", map[string]any{"question_id": q.id,
		"answer": "One with a rude name."}); got.Status != http.StatusCreated {
		t.Fatalf("got %v", got)
	}
	choose(http.StatusOK)
	tab := operating(t, browser.Options{})
	tab.Click("Names")
	// Tests beside this one take other names away.
	const rude = "[...document.querySelectorAll('[data-person]')].find((one) => " +
		"one.querySelector('h2').textContent === 'Rather Rude')"
	tab.Until(rude)
	named := browser.Evaluate[string](tab, rude+".dataset.person")
	press := func(label string) {
		tab.Until(fmt.Sprintf("[...document.querySelectorAll('[data-person]')].some((one) => "+
			"one.dataset.person === %q && "+
			"[...one.querySelectorAll('button')].some((each) => each.textContent === %q && (each.click(), true)))",
			named, label))
	}
	press("Take the name away")
	tab.See("The name is taken away.")
	choose(http.StatusForbidden)
	press("Let them choose again")
	tab.Until("document.getElementById('said').textContent.startsWith('The person may choose again.')")
	choose(http.StatusOK)
}

// Who is in no group of operators sees nothing, and is told why.
func TestOnlyOperators(t *testing.T) {
	tab := open(t, "/operator", browser.Options{})
	tab.Excuse("403")
	tab.Click("Sign in")
	tab.Until(`(() => {
		const form = document.forms[0];
		if (!form?.group) return false;
		form.username.value = 'eve';
		form.group.checked = false;
		setTimeout(() => form.requestSubmit());
		return true;
	})()`)
	shows(tab, "forbidden")
	tab.See("eve@example.com")
	tab.Click("Sign out")
	shows(tab, "signIn")
}

// The page takes no code that it has not asked for, as a stranger's link may have one, and says so.
func TestForeignSignIn(t *testing.T) {
	for path, state := range map[string]string{
		"/operator?code=a&state=b":             "notBegun",
		"/operator?error=access_denied&state=": "notBegun",
		"/operator?show=hidden":                "signIn",
	} {
		tab := open(t, path, browser.Options{})
		shows(tab, state)
		if got := browser.Evaluate[string](tab, "location.search"); strings.Contains(got, "code") {
			t.Errorf("%s: the address is %s", path, got)
		}
	}
	run, tabs := suite.Start(t)
	// Who keeps tokens that the API does not take is nobody: neither the view nor what surrounds it says otherwise.
	for _, tokens := range []string{`{"access":"broken","until":4102444800000,"name":"olga"}`, `{"until":0}`} {
		tab := open(t, "/q/example", browser.Options{})
		tab.Excuse("401")
		browser.Evaluate[bool](tab,
			"(sessionStorage.setItem('ask-a-human.operator.sign-in.tokens', '"+tokens+"'), true)")
		tab.Go(run.URL("") + "/operator")
		shows(tab, "signIn")
		around := browser.Evaluate[int](tab, "document.querySelectorAll('#nav li, #foot:not([hidden])').length")
		if around > 0 || strings.Contains(tab.Printed(), "Signed in") {
			t.Errorf("who is not signed in sees %s", tab.Printed())
		}
	}
	// One that the tab has begun, with the answer to another one.
	tab := open(t, "/operator", browser.Options{})
	tab.Click("Sign in")
	tab.Until("document.getElementById('username')")
	tab.Go(run.URL("") + "/operator?code=a&state=b")
	shows(tab, "notBegun")
	// Another name of this machine leads to the page's own.
	tab = tabs.Open(t, strings.Replace(run.URL(""), "127.0.0.1", "localhost", 1)+"/operator", browser.Options{})
	tab.Until("location.hostname === '127.0.0.1' && document.querySelector('[data-state=signIn]')")
}

// All that strangers wrote is shown to operators as text, and fits into any page; axe-core finds nothing in any view.
func TestOperatorViews(t *testing.T) {
	var agent string
	for _, text := range append(browser.Hostile(), strings.Repeat("w", 1900)+"?",
		"Z"+strings.Repeat("̶̣́͜", 400)+" é?") {
		q := ask(t, unique(text), 2, string([]rune(text)[:min(len([]rune(text)), 150)]), "javascript:alert(1)")
		report(t, q, string([]rune(strings.Repeat(text, 3))[:min(3*len([]rune(text)), 500)]))
		agent = q.agent.Header.Get("X-Agent-Id")
	}
	views := []string{"/operator/person", "/operator", "/operator?show=open&order=most", "/operator?show=dismissed",
		"/operator/names", "/operator/agent",
		"/operator/agent?" + url.Values{"id": {agent}}.Encode(),
		"/operator/agent?" + url.Values{"id": {browser.Hostile()[0][:60]}}.Encode()}
	browser.CheckViews(t, func(options browser.Options) *browser.Tab { return operating(t, options) }, "", views...)
}
