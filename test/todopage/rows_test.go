package todopage

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// A task is edited in its row, also one that is sent meanwhile, and the list stays. What was written and not saved
// waits on the device.
func TestEditInRow(t *testing.T) {
	p := user(t)
	one := p.has("Write a letter", "due_date", day(0), "description", "To Bob")
	tab := p.open(browser.Options{})
	title := "document.activeElement.id === '" + one.ID + "-title'"
	tab.Click("Edit: Write a letter")
	tab.Until(title)
	tab.CheckRules()
	tab.Press(" to Bob")
	tab.Until("document.activeElement.value === 'Write a letter to Bob'")
	browser.Evaluate[bool](tab, "delete document.getElementById('main').dataset.shown, "+
		"setTimeout(() => location.reload()), true")
	tab.Until("document.getElementById('main')?.dataset.shown === '/'")
	tab.Click("Edit: Write a letter")
	tab.Until(title + " && document.activeElement.value === 'Write a letter to Bob'")
	tab.Until("(() => { const list = document.getElementById('" + one.ID + "-priority'); list.value = 'high'; " +
		"return list.dispatchEvent(new Event('input')); })()")
	tab.Press("\r")
	tab.Until(row(one.ID) + ".querySelector('.high') && !document.querySelector('.waits') && " +
		"document.activeElement === " + row(one.ID) + ".querySelector('.pen')")
	got := p.reads(one.ID)
	if want := (task{one.ID, "Write a letter to Bob", "To Bob", "pending", "high", "", day(0), 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Cancel forgets what was written.
	tab.Click("Edit: Write a letter to Bob")
	tab.Until(title)
	tab.Press(" and Eve")
	tab.Click("Cancel")
	tab.Click("Edit: Write a letter to Bob")
	tab.Until(title + " && document.activeElement.value === 'Write a letter to Bob'")
	tab.Click("All fields")
	tab.Until("document.getElementById('description')?.value === 'To Bob'")
	tab.Show("/")
	// Whoever is quick edits what is still on its way.
	tab.Write("add", "Quick today\r")
	tab.Click("Edit: Quick")
	tab.Until("document.activeElement.id.endsWith('-title')")
	tab.Until("document.querySelectorAll('.task:not([data-task^=new])').length === 2")
	tab.Press("er\r")
	id := titled(tab, "Quicker")
	tab.Until("!document.querySelector('.waits')")
	if got := p.reads(id); got.Title != "Quicker" || got.Version != 2 {
		t.Errorf("got %+v", got)
	}
}

// An edit in the row is of the version that was seen, also if the list has followed a change since. The list leaves the
// row where it is meanwhile, so that nothing disturbs who writes.
func TestRowChangedElsewhere(t *testing.T) {
	p := user(t)
	one := p.has("Ours", "due_date", day(0))
	tab := p.open(browser.Options{})
	tab.Excuse("412")
	tab.Click("Edit: Ours")
	tab.Until("(globalThis.drawn = 0, new MutationObserver(() => drawn++).observe(document.querySelector('.groups'), " +
		"{childList: true}), true)")
	p.Do(http.MethodPatch, "/api/v1/tasks/"+one.ID, map[string]any{"title": "Theirs"}, 200)
	tab.Until("document.dispatchEvent(new Event('visibilitychange')) && " + row(one.ID) +
		".querySelector('.cover').textContent === 'Theirs'")
	if drawn := browser.Evaluate[int](tab, "drawn"); drawn > 0 {
		t.Errorf("the list was drawn %d times", drawn)
	}
	tab.Write(one.ID+"-title", "Mine\r")
	tab.Click("Choose a version")
	tab.Until("document.querySelector('[data-state=changed]')")
	if got := tab.Texts(".version dd"); got != "Mine|Theirs" || p.reads(one.ID).Title != "Theirs" {
		t.Errorf("got the versions %q", got)
	}
}

// A category leads to its open tasks, however Unicode writes it, and is offered to a task that is added there.
func TestCategory(t *testing.T) {
	p := user(t)
	const category = "Caf\u00e9 & b #1"
	p.has("Sweep", "due_date", day(0), "category", category)
	p.has("Later", "category", "Cafe\u0301 & b #1", "status", "in_progress")
	p.has("Other", "due_date", day(0), "category", "other")
	p.has("Done", "category", category, "status", "completed")
	tab := p.open(browser.Options{})
	tab.Click(category)
	tab.Until("new URLSearchParams(location.search).get('category') === '" + category + "' && " +
		"document.getElementById('main').dataset.shown === location.pathname + location.search")
	if got := tab.Texts("h1") + "|" + tab.Texts(".task .cover"); got != "Category: "+category+"|Sweep|Later" {
		t.Errorf("got %q", got)
	}
	tab.Write("add", "Mop")
	tab.Click("Category: " + category + ". Set it")
	tab.Until("document.activeElement.id === 'add'")
	tab.Press("\r")
	titled(tab, "Mop")
	tab.Until("document.querySelectorAll('.task:not([data-task^=new])').length === 3")
	at := slices.IndexFunc(p.tasks(), func(one task) bool { return one.Title == "Mop" })
	if got := p.tasks()[at]; got.Category != category || got.Due != "" {
		t.Errorf("got %+v", got)
	}
}

// Priorities differ by sign, frame and ground, and not by colour alone.
func TestPriorities(t *testing.T) {
	p := user(t)
	for _, priority := range []string{"low", "medium", "high", "urgent"} {
		p.has(priority, "priority", priority, "due_date", day(0))
	}
	tab := p.open(browser.Options{Width: 320, Height: 640})
	tab.Until("document.querySelectorAll('.task').length === 4")
	looks := browser.Evaluate[[]string](tab, `[...document.querySelectorAll('.facts .priority')].map((one) =>
		getComputedStyle(one, '::before').content)`)
	slices.Sort(looks)
	if len(slices.Compact(looks)) != 4 || slices.Contains(looks, "none") {
		t.Errorf("got the signs %q", looks)
	}
	tab.CheckFits()
	tab.CheckRules()
}

// held keeps the timers that end what can be taken back, until the test calls pass.
const held = `(() => {
	const begin = setTimeout, waiting = [];
	globalThis.setTimeout = (call, ms, ...more) =>
		ms > 4_000 && ms <= 5_000 ? -waiting.push(call) : begin(call, ms, ...more);
	globalThis.pass = () => { for (const call of waiting.splice(0)) call(); };
})()`

// A row that is edited, and what is said of tasks that move, fit a phone in both languages.
func TestRowsFit(t *testing.T) {
	p := user(t)
	p.has("Late", "due_date", day(-1), "priority", "urgent", "category", "home")
	tab := p.open(browser.Options{Width: 320, Height: 640, Before: held})
	for _, words := range []struct{ edit, move, undo string }{{"Edit: Late", "Move to today", "Undo"},
		{"Bearbeiten: Late", "Auf heute verschieben", "Rückgängig"}} {
		tab.Click(words.edit)
		tab.Until("document.querySelector('.edit')")
		tab.CheckFits()
		tab.CheckRules()
		tab.Click(words.move)
		tab.Until("document.querySelector('.waits')?.textContent.includes('.') === false")
		tab.CheckFits()
		tab.Click(words.undo)
		tab.Until("!document.querySelector('.waits')")
		tab.German("/account")
		tab.Show("/")
	}
}

// Overdue tasks move to today by bulk requests. For a moment all can be taken back. What was changed elsewhere
// meanwhile stays, and people are told; what they change next is no conflict.
func TestMoveOverdue(t *testing.T) {
	p := user(t)
	var all []task
	for n := range 52 {
		// The first two stand first, in one request.
		all = append(all, p.has("Pay the rent", "due_date", day(min(n/2, 1)-5)))
	}
	p.has("Call Bob", "due_date", day(0))
	tab := p.open(browser.Options{Answers: true, Before: held})
	tab.Click("Move to today")
	tab.See("52 tasks are moved to today.")
	tab.Until("document.activeElement.textContent === 'Undo'")
	if got := tab.Texts("main h2"); got != "Today" {
		t.Errorf("got the parts %q", got)
	}
	tab.CheckRules()
	tab.Press("\r")
	tab.Until("document.activeElement.textContent === 'Move to today'")
	if got := tab.Texts("main h2"); got != "Overdue|Today" || p.reads(all[0].ID) != all[0] {
		t.Errorf("got the parts %q", got)
	}
	tab.Press("\r")
	tab.Until("document.activeElement.textContent === 'Undo'")
	p.Do(http.MethodPatch, "/api/v1/tasks/"+all[0].ID, map[string]any{"due_date": day(7)}, 200)
	p.Do(http.MethodDelete, "/api/v1/tasks/"+all[1].ID, nil, 204)
	edited := all[2]
	tab.Until("(pass(), !document.querySelector('.moves') && !document.querySelector('.waits'))")
	tab.See("2 tasks were completed, deleted or moved elsewhere.")
	tab.Until("document.querySelectorAll('.task').length === 51")
	for _, one := range all[2:] {
		one.Due, one.Version = day(0), 2
		if got := p.reads(one.ID); got != one {
			t.Errorf("got %+v, want %+v", got, one)
		}
	}
	if got := p.reads(all[0].ID); got.Due != day(7) {
		t.Errorf("got %+v", got)
	}
	bulk := 0
	for _, answer := range tab.Answers() {
		if strings.HasSuffix(answer.URL, "/tasks/bulk") {
			bulk++
		}
	}
	if bulk != 2 {
		t.Errorf("got %d bulk requests, want 2", bulk)
	}
	tab.Until("(" + row(edited.ID) + ".querySelector('.pen').click(), true)")
	tab.Write(edited.ID+"-title", "Pay it at once\r")
	titled(tab, "Pay it at once")
	wait.For(t, "the version of the edited task", 3, func() int { return p.reads(edited.ID).Version })
}
