package claritypage

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// Someone new signs in without a mouse, chooses a scenario, answers, hands in, reads the scores and how they develop,
// and signs out. Beside the writing the attempt takes four actions: two keys, a name, and the key that hands in.
func TestKeyboard(t *testing.T) {
	p := someone(t)
	run, tabs := suite.Start(t)
	tab := tabs.Open(t, run.URL("")+"/", browser.Options{})
	tab.Until("document.querySelector('[data-state=signIn]')")
	tab.Stop("(one) => one.textContent === 'Sign in'")
	tab.Press("\r")
	tab.Until("document.activeElement?.id === 'username'")
	tab.Press(p.Name + "\r")
	tab.Until("document.querySelector('.scenarios .card')")
	if got := tab.Texts(".scenarios h2"); got != "For a start|Intermediate|Advanced" {
		t.Errorf("got the levels %q", got)
	}
	tab.Stop("(one) => one.textContent === 'Repair or Replace?'")
	tab.Press("\r")
	for at, text := range careful() {
		tab.Stop(fmt.Sprintf("(one) => one.id === 'q%d'", at+1))
		tab.Press(text)
	}
	tab.Until("document.querySelectorAll('.count')[2].textContent === '26 of about 60 words'")
	tab.CheckRules()
	tab.Stop("(one) => one.textContent === 'Hand in'")
	tab.Press("\r")
	tab.Until("document.querySelectorAll('.dimension').length === 8")
	done := p.attempts()
	if len(done) != 1 || done[0].Status != clarity.Completed || done[0].Answers[0].Text != careful()[0] {
		t.Fatalf("the server has %+v", done)
	}
	if got := tab.Text(".overall strong"); got != fmt.Sprint(done[0].Evaluation.OverallScore) {
		t.Errorf("got the score %q, want that of %+v", got, done[0].Evaluation)
	}
	if got := tab.Text(".improve"); !strings.HasPrefix(got, "To improve: ") || strings.Contains(got, "improve.") {
		t.Errorf("got %q", got)
	}
	// The first reason that quotes an answer leads to its mark there.
	tab.Stop("(one) => one.classList.contains('to')")
	tab.Press("\r")
	tab.Until("document.activeElement.id.startsWith('mark-') && document.querySelector('mark.meant')")
	marked := browser.Evaluate[string](tab, "[...document.querySelectorAll('mark.meant')].map((one) => "+
		"one.textContent).join('')")
	if !slices.ContainsFunc(careful(), func(text string) bool { return strings.Contains(text, marked) }) {
		t.Errorf("the mark %q is in no answer", marked)
	}
	suite.Target(t).Flush(t)
	tab.Stop("(one) => one.textContent === 'See your progress'")
	tab.Press("\r")
	tab.Until("document.querySelectorAll('svg.curve').length === 8")
	if got := tab.Texts(".progress .cards a[href^='/s/']"); got == "" {
		t.Error("no recommendation leads to a scenario")
	}
	tab.Stop("(one) => one.tagName === 'SUMMARY'")
	tab.Press("\r")
	tab.Until("document.querySelector('details[open] table')")
	if got := len(strings.Split(tab.Texts("tbody tr"), "|")); got != 8 {
		t.Errorf("the table has %d rows, want 8", got)
	}
	tab.Stop("(one) => one.textContent === 'Account'")
	tab.Press("\r")
	tab.Stop("(one) => one.textContent === 'Sign out'")
	tab.Press("\r")
	tab.Until("document.querySelector('[data-state=signIn]')")
	if kept := browser.Evaluate[[]string](tab, "[...Object.keys(sessionStorage), ...Object.keys(localStorage)]"); len(
		kept) > 0 {
		t.Errorf("the device keeps %q", kept)
	}
}

// What is written is saved as an attempt in progress, and is there when the person comes back, here or elsewhere.
func TestSaved(t *testing.T) {
	p := someone(t)
	tab := p.open(browser.Options{})
	tab.Show(place)
	tab.Write("q1", "One thing")
	saves(tab)
	// Whoever leaves at once loses nothing.
	tab.Write("q2", "Another thing")
	tab.Show("/")
	tab.See("in progress")
	tab.Show(place)
	if got := answers(tab); !slices.Equal(got, []string{"One thing", "Another thing", ""}) {
		t.Errorf("got the answers %q", got)
	}
	other := p.open(browser.Options{})
	other.Show(place)
	if got := answers(other); !slices.Equal(got, []string{"One thing", "Another thing", ""}) {
		t.Errorf("got the answers %q", got)
	}
	other.Until("(document.querySelector('[type=submit]').click(), true)")
	other.See("2 answers are missing")
	other.CheckRules()
	if got := p.attempts(); len(got) != 1 || got[0].Status != clarity.InProgress {
		t.Errorf("the server has %+v", got)
	}
}

// Whoever writes what was changed or handed in elsewhere chooses, and loses nothing unasked.
func TestChangedElsewhere(t *testing.T) {
	p := someone(t)
	tab := p.open(browser.Options{})
	tab.Excuse("412")
	tab.Excuse("409")
	elsewhere := func(body map[string]any) {
		t.Helper()
		p.do(http.MethodPut, "/attempts/"+p.attempts()[0].ID, body, http.StatusOK)
	}
	theirs := func() []map[string]string {
		var given []map[string]string
		for at := range 3 {
			given = append(given, map[string]string{"questionId": fmt.Sprintf("q%d", at+1),
				"answer": "Written elsewhere"})
		}
		return given
	}
	tab.Show(place)
	tab.Write("q1", "Written here")
	saves(tab)
	elsewhere(map[string]any{"answers": theirs()})
	tab.Write("q1", "Written here again")
	tab.Click("Take what is here")
	saves(tab)
	if got := p.attempts()[0].Answers[0].Text; got != "Written here again" {
		t.Errorf("the server has %q", got)
	}
	elsewhere(map[string]any{"answers": theirs()})
	tab.Write("q1", "Written here once more")
	tab.Click("Take what is there")
	tab.Until("document.getElementById('q1')?.value === 'Written elsewhere'")
	elsewhere(map[string]any{"status": "completed"})
	tab.Write("q1", "Written too late")
	tab.Click("Begin another one with this text")
	saves(tab)
	if got := p.attempts(); len(got) != 2 || !slices.ContainsFunc(got, func(one clarity.Attempt) bool {
		return one.Status == clarity.InProgress && one.Answers[0].Text == "Written too late"
	}) {
		t.Errorf("the server has %+v", got)
	}
}

// Without a network people write on, also after the page was loaded again; a lost answer makes no second attempt and no
// conflict.
func TestNetworks(t *testing.T) {
	p := someone(t)
	tab := p.open(browser.Options{Before: `(() => {
		const send = globalThis.fetch, lost = new Set();
		globalThis.fetch = async (address, options) => {
			const answer = await send(address, options);
			if (!['POST', 'PUT'].includes(options?.method) || lost.has(options.method)) return answer;
			if (!String(address).includes('/attempts')) return answer;
			lost.add(options.method);
			throw new TypeError('lost');
		};
	})()`})
	tab.Excuse("ERR_INTERNET_DISCONNECTED")
	tab.Excuse("412")
	tab.Until("navigator.serviceWorker.ready.then(() => true)")
	tab.Show(place)
	tab.Write("q1", "It is lost twice")
	for range 2 {
		tab.See("Not saved: there is no connection. This device keeps it.")
		tab.Until("(dispatchEvent(new Event('online')), " +
			"!document.querySelector('.saved').textContent.startsWith('Not'))")
	}
	saves(tab)
	if got := p.attempts(); len(got) != 1 || got[0].Answers[0].Text != "It is lost twice" {
		t.Errorf("the server has %+v", got)
	}
	tab.Offline(true)
	tab.Write("q2", "Written without a network")
	tab.See("This device keeps it.")
	browser.Evaluate[bool](tab, "delete document.getElementById('main').dataset.shown, "+
		"setTimeout(() => location.reload()), true")
	tab.Until("document.querySelector('[data-state=offline]')")
	tab.Offline(false)
	if got := answers(tab); got[1] != "Written without a network" {
		t.Errorf("got the answers %q", got)
	}
	saves(tab)
	if got := p.attempts(); len(got) != 1 || got[0].Answers[1].Text != "Written without a network" {
		t.Errorf("the server has %+v", got)
	}
	slow := p.open(browser.Options{Slow: true})
	slow.Show(place)
	if got := answers(slow); got[0] != "It is lost twice" {
		t.Errorf("got the answers %q", got)
	}
}

// Texts of anyone stay texts and fit into any page in both directions, and axe-core finds nothing in any view.
func TestAnyText(t *testing.T) {
	p := someone(t)
	var id string
	for _, text := range browser.Long(1000) {
		id = p.hands(text, careful()[1]+" "+text, text)
	}
	p.do(http.MethodPost, "/attempts", map[string]any{"scenarioId": scenario, "status": "in-progress",
		"answers": []map[string]string{{"questionId": "q1", "answer": browser.Hostile()[0]}}}, http.StatusCreated)
	browser.CheckViews(t, p.open, "/account", "/", place, "/a/"+id, "/progress", "/account")
}

// The copy has the answers, and what is deleted is gone.
func TestOwnData(t *testing.T) {
	p := someone(t)
	p.hands(careful()...)
	tab := p.open(browser.Options{Before: browser.Saves})
	tab.Show("/account")
	tab.Click("Save a copy")
	tab.Until("globalThis.saved")
	got := browser.Evaluate[string](tab, "saved")
	for _, want := range append(careful(), "overallScore", "recentOverallScores") {
		if !strings.Contains(got, want) {
			t.Errorf("the copy lacks %q: %s", want, got)
		}
	}
	tab.Click("Delete my data")
	tab.Click("Delete")
	tab.Until("document.querySelector('[data-state=signIn]')")
	suite.Target(t).Flush(t)
	if left := p.attempts(); len(left) > 0 {
		t.Errorf("the server has %+v", left)
	}
}
