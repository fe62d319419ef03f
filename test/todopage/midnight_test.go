package todopage

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// clock gives a page the last half hour of yesterday. The function at sets it to so many seconds after midnight. Timers
// that look for a new day run when the test says so.
const clock = `(() => {
	const Real = Date, begin = setTimeout, end = clearTimeout, midnight = new Real().setHours(0, 0, 0, 0);
	let shift = 0;
	globalThis.at = (seconds) => { shift = midnight + seconds * 1000 - Real.now(); return true; };
	at(-1800);
	globalThis.Date = class extends Real {
		constructor(...given) { super(...given.length > 0 ? given : [Date.now()]); }
		static now() { return Real.now() + shift; }
	};
	globalThis.looks = new Map();
	globalThis.setTimeout = (call, ms, ...more) => {
		if (!(ms > 30_000 && ms <= 60_000)) return begin(call, ms, ...more);
		looks.set(-1 - looks.size, {call, ms});
		return -looks.size;
	};
	globalThis.clearTimeout = (id) => looks.delete(id) || end(id);
})()`

// Midnight turns the list of today: also on a device that slept then, whose timers stood still.
func TestMidnight(t *testing.T) {
	for name, turn := range map[string]string{
		"timer": "[...looks.values()].map(({call}) => call())",
		"sleep": "document.dispatchEvent(new Event('visibilitychange'))",
	} {
		t.Run(name, func(t *testing.T) {
			p := user(t)
			p.has("The day before", "due_date", day(-2))
			p.has("Yesterday", "due_date", day(-1))
			p.has("Today", "due_date", day(0))
			tab := p.open(browser.Options{Before: clock})
			parts := func(want string) {
				t.Helper()
				tab.Until("[...document.querySelectorAll('.groups h2, .groups .cover')].map((one) => one.textContent)" +
					".join('|') === '" + want + "'")
			}
			parts("Overdue|The day before|Today|Yesterday")
			// Shortly before midnight the page looks at midnight.
			if name == "timer" {
				tab.Until("at(-45) && " + turn + " && looks.size === 1 && [...looks.values()][0].ms <= 45_000")
				parts("Overdue|The day before|Today|Yesterday")
			}
			tab.Write("add", "New")
			tab.Until("at(1) && (" + turn + ", true)")
			parts("Overdue|The day before|Yesterday|Today|Today")
			tab.Click("Due: today. Set it")
			tab.Until("document.activeElement.id === 'add'")
			tab.Press("\r")
			tab.Until("document.querySelectorAll('.task:not([data-task^=new])').length === 4")
			for _, one := range p.tasks() {
				if one.Title == "New" && one.Due != day(0) {
					t.Errorf("got %+v, want it on %s", one, day(0))
				}
			}
		})
	}
}
