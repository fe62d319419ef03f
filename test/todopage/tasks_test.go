package todopage

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// Someone new signs in without a mouse, says who they are, adds a task, completes it, takes that back, and signs out. No
// request fails, and this device then knows nothing of them.
func TestKeyboard(t *testing.T) {
	p := someone(t)
	run, tabs := suite.Start(t)
	tab := tabs.Open(t, run.URL("")+"/", browser.Options{Answers: true})
	tab.Until("document.querySelector('[data-state=signIn]')")
	tab.Stop("(one) => one.textContent === 'Sign in'")
	tab.Press("\r")
	tab.Until("document.activeElement?.id === 'username'")
	tab.Press(p.Name + "\r")
	tab.Until("document.querySelector('[data-state=welcome]')")
	tab.Stop("(one) => one.id === 'email'")
	tab.Press("\r")
	tab.Until("document.querySelector('.list')")
	tab.Stop("(one) => one.id === 'add'")
	tab.Press("Water the plants today #home !high\r")
	titled(tab, "Water the plants")
	tab.Until("document.querySelector('[data-task]')?.dataset.task.startsWith('new-') === false")
	id := titled(tab, "Water the plants")
	if got := p.reads(id); got.Category != "home" || got.Priority != "high" || got.Due != day(0) {
		t.Errorf("got %+v", got)
	}
	tab.Stop("(one) => one.type === 'checkbox'")
	tab.Press(" ")
	tab.Until(row(id) + ".classList.contains('leaves')")
	tab.Stop("(one) => one.textContent === 'Undo'")
	tab.Press("\r")
	tab.Until("!" + row(id) + ".classList.contains('leaves') && document.activeElement.type === 'checkbox'")
	if got := p.reads(id); got.Status != "pending" || got.Version != 1 {
		t.Errorf("what was taken back was sent: %+v", got)
	}
	tab.Press(" ")
	// Nobody has a hand on it: after a moment it is sent.
	tab.Until("!" + row(id))
	if got := p.reads(id); got.Status != "completed" {
		t.Errorf("got %+v", got)
	}
	tab.Stop("(one) => one.textContent === 'Account'")
	tab.Press("\r")
	tab.See(p.Name + "@example.com")
	tab.Stop("(one) => one.textContent === 'Sign out'")
	tab.Press("\r")
	tab.Until("document.querySelector('[data-state=signIn]')")
	if kept := browser.Evaluate[[]string](tab, "[...Object.keys(sessionStorage), ...Object.keys(localStorage)]"+
		".filter((key) => ![null, '[]', '{}'].includes(localStorage[key] ?? null) || key in sessionStorage)"); len(
		kept) > 0 {
		t.Errorf("the device keeps %q", kept)
	}
	answers := tab.Answers()
	for _, answer := range answers {
		if answer.Status >= 400 {
			t.Errorf("%s: got %d", answer.URL, answer.Status)
		}
	}
	if len(answers) < 10 {
		t.Errorf("got %d answers", len(answers))
	}
}

// The page takes no token whose nonce is not the one that it sent.
func TestOtherNonce(t *testing.T) {
	p := user(t)
	run, tabs := suite.Start(t)
	tab := tabs.Open(t, run.URL("")+"/", browser.Options{})
	tab.Until("document.querySelector('[data-state=signIn]')")
	tab.Until("(() => { const { setItem } = Storage.prototype; Storage.prototype.setItem = function (key, text) { " +
		"setItem.call(this, key, text.replace(/\"nonce\":\"[^\"]*/, '\"nonce\":\"of another')); }; return true; })()")
	tab.Click("Sign in")
	tab.Until("document.activeElement?.id === 'username'")
	tab.Press(p.Name + "\r")
	tab.Until("document.querySelector('[data-state=notBegun]')")
	if kept := browser.Evaluate[int](tab, "sessionStorage.length"); kept != 0 {
		t.Errorf("the tab keeps %d values of the refused sign-in", kept)
	}
}

// What is due stands in its view, the overdue first; search finds also what is done.
func TestViews(t *testing.T) {
	p := user(t)
	late, now := p.has("Pay the rent", "due_date", day(-3)), p.has("Call Bob", "due_date", day(0))
	soon, later := p.has("Buy a ticket", "due_date", day(2)), p.has("Renew the passport", "due_date", day(40))
	some, done := p.has("Read a book"), p.has("Paint the fence", "status", "completed", "description", "In green")
	cancelled := p.has("Buy a boat", "due_date", day(0), "status", "cancelled")
	tab := p.open(browser.Options{})
	for _, view := range []struct {
		path string
		want []task
	}{
		{"/", []task{late, now}}, {"/upcoming", []task{soon, later}}, {"/all", []task{late, now, soon, later, some}},
		{"/done", []task{done}}, {"/all?q=buy", []task{cancelled, soon}}, {"/all?q=GREEN", []task{done}},
		{"/all?q=nothing", nil},
	} {
		tab.Show(view.path)
		var want []string
		for _, one := range view.want {
			want = append(want, one.Title)
		}
		if got := tab.Texts(".task .cover"); got != strings.Join(want, "|") {
			t.Errorf("%s: got %q, want %q", view.path, got, want)
		}
	}
	tab.Show("/")
	if got := tab.Texts("main h2"); got != "Overdue|Today" {
		t.Errorf("got the parts %q", got)
	}
	tab.Show("/all")
	tab.Write("q", "rent\r")
	tab.Until("location.search === '?q=rent'")
	titled(tab, "Pay the rent")
}

// The end of the line says more than the title, in the language of the page.
func TestLine(t *testing.T) {
	p := user(t)
	tab := p.open(browser.Options{})
	tab.Show("/all")
	add := func(line string) {
		tab.Write("add", line+"\r")
		tab.Until("document.getElementById('add').value === ''")
	}
	add("Book a table #Zürich tomorrow !URGENT")
	add("#5 is alive")
	add("Answer 2027-02-30")
	add("Answer  again 2027-02-28")
	tab.German("/account")
	tab.Show("/all")
	add("Gießen morgen !hoch")
	add("Lesen tomorrow")
	tab.Until("document.querySelectorAll('.task:not([data-task^=new])').length === 6")
	got := map[string]task{}
	for _, one := range p.tasks() {
		got[one.Title] = task{Due: one.Due, Priority: one.Priority, Category: one.Category}
	}
	for title, want := range map[string]task{
		"Book a table":      {Due: day(1), Priority: "urgent", Category: "Zürich"},
		"#5 is alive":       {},
		"Answer 2027-02-30": {},
		"Answer again":      {Due: "2027-02-28"},
		"Gießen":            {Due: day(1), Priority: "high"},
		"Lesen tomorrow":    {},
	} {
		if one, ok := got[title]; !ok || one != want {
			t.Errorf("%s: got %+v, %v, want %+v", title, one, ok, want)
		}
	}
	tab.Write("add", strings.Repeat("x", 201)+"\r")
	tab.Until("!document.getElementById('problem').hidden")
}

// What of a line is understood shows while one types, and can be taken back. A list of days invents none: it offers its
// day to a task without one.
func TestUnderstood(t *testing.T) {
	p := user(t)
	tab := p.open(browser.Options{})
	tab.Write("add", "Buy milk tomorrow #food")
	tab.Until("document.querySelectorAll('.line .chip').length === 2")
	if got := tab.Texts(".line .chip"); got != "Due: tomorrow|Category: food" {
		t.Errorf("got the chips %q", got)
	}
	tab.CheckRules()
	tab.Click("Due: tomorrow. Leave “tomorrow” as text")
	tab.Until("document.querySelectorAll('.line .chip').length === 2 && " +
		"document.querySelector('.line .offered')?.textContent === 'Due: today'")
	tab.CheckRules()
	tab.Press("\r")
	tab.See("It has no day")
	tab.Write("add", "Read chapter 5")
	tab.Click("Due: today. Set it")
	tab.Until("document.activeElement.id === 'add'")
	tab.Press("\r")
	titled(tab, "Read chapter 5")
	tab.Until("document.querySelector('.task:not([data-task^=new])')")
	got := map[string]task{}
	for _, one := range p.tasks() {
		got[one.Title] = task{Due: one.Due, Category: one.Category}
	}
	if got["Buy milk tomorrow"] != (task{Category: "food"}) || got["Read chapter 5"] != (task{Due: day(0)}) {
		t.Errorf("the server has %+v", got)
	}
}

// A task is edited, and deleted, which can be taken back for a moment.
func TestEdit(t *testing.T) {
	p := user(t)
	one := p.has("Write a letter", "due_date", day(0), "category", "post")
	tab := p.open(browser.Options{})
	tab.Click("Write a letter")
	tab.Write("title", "Write two letters")
	tab.Until("document.querySelector('form.edit').requestSubmit() === undefined")
	tab.Until("location.pathname === '/'")
	titled(tab, "Write two letters")
	wait.For(t, "the version of the edited task", 2, func() int { return p.reads(one.ID).Version })
	if got := p.reads(one.ID); got.Title != "Write two letters" || got.Category != "post" || got.Due != day(0) {
		t.Errorf("got %+v", got)
	}
	tab.Click("Write two letters")
	tab.Click("Delete")
	tab.Click("Undo")
	tab.Until("!" + row(one.ID) + ".classList.contains('leaves')")
	p.reads(one.ID)
	tab.Click("Write two letters")
	tab.Click("Delete")
	tab.Until("document.querySelector('.list') && !" + row(one.ID))
	p.Do(http.MethodGet, "/api/v1/tasks/"+one.ID, nil, 404)
}

// Without a network tasks are added, completed and edited, also after the page was loaded again. All is sent when there is
// a network, once, in its order.
func TestOffline(t *testing.T) {
	p := user(t)
	first, second := p.has("Sweep", "due_date", day(0)), p.has("Cook", "due_date", day(0))
	tab := p.open(browser.Options{})
	tab.Excuse("ERR_INTERNET_DISCONNECTED")
	tab.Until("navigator.serviceWorker.ready.then(() => true)")
	titled(tab, "Cook")
	tab.Offline(true)
	tab.Write("add", "Wash up today\r")
	titled(tab, "Wash up")
	tab.Click("Wash up")
	tab.Write("title", "Wash up well")
	tab.Until("document.querySelector('form.edit').requestSubmit() === undefined")
	titled(tab, "Wash up well")
	tab.Click("Complete: Sweep")
	tab.Click("Cook")
	tab.Write("title", "Cook rice")
	tab.Until("document.querySelector('form.edit').requestSubmit() === undefined")
	titled(tab, "Cook rice")
	tab.Click("Cook rice")
	tab.Write("category", "kitchen")
	tab.Until("document.querySelector('form.edit').requestSubmit() === undefined")
	tab.Until("document.querySelector('.list')")
	tab.See("wait to be sent")
	browser.Evaluate[bool](tab, "delete document.getElementById('main').dataset.shown, "+
		"setTimeout(() => location.reload()), true")
	tab.Until("document.getElementById('main')?.dataset.shown === '/'")
	titled(tab, "Cook rice")
	titled(tab, "Wash up well")
	if got := p.tasks(); len(got) != 2 || got[0].Version+got[1].Version != 2 {
		t.Errorf("the server has %+v", got)
	}
	tab.Offline(false)
	tab.Until("document.querySelectorAll('.task').length === 2 && !document.querySelector('.waits')")
	all := p.tasks()
	got := map[string]task{}
	for _, one := range all {
		one.ID = ""
		got[one.Title] = one
	}
	for _, want := range []task{
		{Title: "Wash up well", Status: "pending", Due: day(0), Version: 2},
		{Title: "Sweep", Status: "completed", Due: day(0), Version: 2},
		{Title: "Cook rice", Status: "pending", Due: day(0), Category: "kitchen", Version: 3},
	} {
		if got[want.Title] != want {
			t.Errorf("got %+v, want %+v", got[want.Title], want)
		}
	}
	if len(all) != 3 || p.reads(first.ID).Status != "completed" || p.reads(second.ID).Title != "Cook rice" {
		t.Errorf("the server has %+v", all)
	}
}

// What was added without a network is in its list, also in one that this device never had. Such a list does not say
// that it is empty, and follows the server when there is a network.
func TestOfflineElsewhere(t *testing.T) {
	p := user(t)
	p.has("Known", "due_date", day(0), "category", "home")
	p.has("Unknown", "due_date", day(3), "category", "home")
	tab := p.open(browser.Options{})
	tab.Excuse("ERR_INTERNET_DISCONNECTED")
	tab.Until("navigator.serviceWorker.ready.then(() => true)")
	titled(tab, "Known")
	tab.Offline(true)
	tab.Write("add", "Bake tomorrow #home\r")
	for _, view := range []struct{ path, want string }{
		{"/upcoming", "Bake"}, {"/all", "Known|Bake"}, {"/all?category=home", "Known|Bake"}, {"/all?q=bak", "Bake"},
		{"/done", ""}, {"/upcoming", "Bake"},
	} {
		tab.Show(view.path)
		if got := tab.Texts(".task .cover"); got != view.want {
			t.Errorf("%s: got %q, want %q", view.path, got, view.want)
		}
		tab.See("These are the tasks that this device knows.")
		if got := tab.Texts(".empty"); got != "" {
			t.Errorf("%s says without an answer: %s", view.path, got)
		}
	}
	browser.Evaluate[bool](tab, "delete document.getElementById('main').dataset.shown, "+
		"setTimeout(() => location.reload()), true")
	tab.Until("document.getElementById('main')?.dataset.shown === '/upcoming'")
	titled(tab, "Bake")
	tab.CheckRules()
	tab.Offline(false)
	titled(tab, "Unknown")
	tab.Until("!document.querySelector('.waits') && !document.body.innerText.includes('this device knows')")
	if got := tab.Texts(".task .cover"); got != "Bake|Unknown" {
		t.Errorf("got %q", got)
	}
}

// An answer that is lost loses no task and makes none twice: what is sent again has the same key.
func TestLostAnswer(t *testing.T) {
	p := user(t)
	tab := p.open(browser.Options{Before: `(() => {
		const send = globalThis.fetch;
		let lost = false;
		globalThis.fetch = async (address, options) => {
			const answer = await send(address, options);
			if (options?.method !== 'POST' || !String(address).endsWith('/tasks') || lost) return answer;
			lost = true;
			throw new TypeError('lost');
		};
	})()`})
	tab.Write("add", "Once today\r")
	tab.Until("document.querySelector('.task:not([data-task^=new])')")
	if got := p.tasks(); len(got) != 1 || got[0].Title != "Once" {
		t.Errorf("the server has %+v", got)
	}
}

// Whoever edits what was changed elsewhere sees both versions, and chooses.
func TestChangedElsewhere(t *testing.T) {
	p := user(t)
	tab := p.open(browser.Options{})
	tab.Excuse("412")
	tab.Excuse("404")
	for _, choice := range []struct{ button, title, description string }{
		{"Take your change", "Mine", "Theirs too"},
		{"Leave it as it is now", "Theirs", "Theirs too"},
	} {
		one := p.has("Ours "+choice.title, "due_date", day(0))
		tab.Show("/upcoming")
		tab.Show("/")
		tab.Click(one.Title)
		tab.Write("title", "Mine")
		p.Do(http.MethodPatch, "/api/v1/tasks/"+one.ID,
			map[string]any{"title": "Theirs", "description": "Theirs too"}, 200)
		tab.Until("document.querySelector('form.edit').requestSubmit() === undefined")
		tab.Click("Choose a version")
		tab.Until("document.querySelector('[data-state=changed]')")
		if got := tab.Texts(".version dd"); got != "Mine|Theirs" {
			t.Errorf("got the versions %q", got)
		}
		tab.CheckRules()
		tab.Click(choice.button)
		tab.Until("document.querySelector('.list') && !document.querySelector('.waits') && " +
			"!document.querySelector('[data-notice=standing]')")
		if got := p.reads(one.ID); got.Title != choice.title || got.Description != choice.description {
			t.Errorf("%s: got %+v", choice.button, got)
		}
	}
	gone := p.has("Here today", "due_date", day(0))
	tab.Show("/upcoming")
	tab.Show("/")
	tab.Until(row(gone.ID))
	p.Do(http.MethodDelete, "/api/v1/tasks/"+gone.ID, nil, 204)
	tab.Click("Complete: Here today")
	tab.See("was deleted elsewhere: Here today")
	tab.Until("!" + row(gone.ID))
}

// Another person at the same device sees nothing of the one before, and sends nothing of them. It is sent when the first
// one comes back.
func TestTwoPeople(t *testing.T) {
	p, other := user(t), user(t)
	tab := p.open(browser.Options{})
	tab.Excuse("ERR_INTERNET_DISCONNECTED")
	tab.Until("navigator.serviceWorker.ready.then(() => true)")
	tab.Offline(true)
	tab.Write("add", "A secret today\r")
	titled(tab, "A secret")
	tab.Show("/account")
	tab.See("1 change waits to be sent")
	signOut := browser.Evaluate[string](tab, `(() => {
		sessionStorage.clear();
		const {signIn: {url, client, page}} = JSON.parse(document.documentElement.dataset.settings);
		return url + '/logout?' + new URLSearchParams({client_id: client, logout_uri: page});
	})()`)
	tab.Offline(false)
	tab.Go(signOut)
	tab.SignIn(other.Name, ".list")
	tab.See("Nothing is due today.")
	if all := append(p.tasks(), other.tasks()...); len(all) > 0 {
		t.Errorf("the server has %+v", all)
	}
	tab.Show("/account")
	tab.Click("Sign out")
	tab.SignIn(p.Name, ".list")
	tab.Until("document.querySelector('.task:not([data-task^=new])')")
	if own, others := p.tasks(), other.tasks(); len(own) != 1 || len(others) != 0 {
		t.Errorf("the server has %+v of the one, and %+v of the other", own, others)
	}
}

// Texts of anyone stay texts and fit into any page in both directions, and axe-core finds nothing in any view.
func TestAnyText(t *testing.T) {
	p := user(t)
	var id string
	for _, text := range browser.Long(1000) {
		cut := func(n int) string { return string([]rune(text)[:min(len([]rune(text)), n)]) }
		id = p.has(cut(200), "due_date", day(-1), "category", cut(50), "priority", "urgent", "description", text).ID
		p.has(cut(200), "due_date", day(30), "status", "in_progress", "priority", "low")
		p.has(cut(200), "due_date", day(0), "priority", "high", "category", "a b")
		p.has(cut(200), "due_date", day(0), "priority", "medium")
		p.has(cut(200), "status", "completed")
	}
	browser.CheckViews(t, p.open, "/account", "/", "/upcoming", "/all", "/all?q=w", "/all?category=a+b", "/done",
		"/t/"+id, "/account")
}
