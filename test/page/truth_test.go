package page

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// numbers makes the page hold back its answers until release is called, read two drawings later than it could, and note
// in seen what each drawing said of the person: each number that stands in more than one place, by its name.
const numbers = `(() => {
	const send = globalThis.fetch;
	globalThis.held = 0;
	globalThis.fetch = async (address, options) => {
		if (options?.method === 'POST' && String(address).endsWith('/human/responses')) {
			globalThis.held++;
			await new Promise((done) => { globalThis.release = done; });
		}
		const answer = await send(address, options);
		const drawing = () => new Promise((done) => { requestAnimationFrame(done); });
		if (options?.method === 'GET') await drawing().then(drawing);
		return answer;
	};
	const all = (selector) => [...document.querySelectorAll(selector)];
	const numberIn = (text) => Number(text.match(/\d+/)?.[0] ?? 0);
	globalThis.shown = () => {
		const said = {points: [], answers: [], streak: [], rank: [], badges: [], arrived: []};
		const note = (name, text) => said[name].push(numberIn(text));
		const names = {Points: 'points', Answers: 'answers', Streak: 'streak', Rank: 'rank'};
		for (const one of all('.figures div')) {
			const name = names[one.querySelector('dt').textContent];
			if (name) note(name, one.querySelector('dd').textContent);
		}
		for (const one of all('#aside li.own strong')) note('points', one.textContent);
		for (const {cells} of all('tr.own')) ['rank', 'name', 'points', 'answers'].forEach((name, at) =>
			said[name] && note(name, cells[at].textContent));
		for (const {textContent: text} of all('.standing')) {
			const found = text.match(/You're #(\d+) with (\d+) points?/);
			if (found) (note('rank', found[1]), note('points', found[2]));
			if (text.includes('You have no points')) note('points', '0');
			if (/You have \d+ points?/.test(text)) note('points', text);
			if (text.includes('You have answered on')) note('streak', text.split('answered on')[1]);
		}
		for (const one of all('.me h2')) if (one.textContent.startsWith('Badges')) note('badges', one.textContent);
		if (document.querySelector('.me')) said.badges.push(all('.me .badge:not(.open)').length);
		if (document.querySelector('.own-answers')) said.answers.push(all('.own-answers .card').length);
		for (const one of all('.notice')) if (one.querySelector('.did')) note('arrived', one.textContent);
		if (document.querySelector('.thanks .points')) note('arrived', document.querySelector('.thanks .points').textContent);
		return said;
	};
	addEventListener('DOMContentLoaded', () => {
		globalThis.seen = [];
		let planned = false;
		new MutationObserver(() => {
			if (planned) return;
			planned = true;
			requestAnimationFrame(() => {
				planned = false;
				globalThis.seen.push(globalThis.shown());
			});
		}).observe(document.body, {childList: true, subtree: true, characterData: true});
	});
})()`

// What a view says of the person is one truth while an answer settles: wherever points, answers, the row of days, the
// rank or badges stand twice in a drawing, they are the same, and what an answer has earned is said with the points
// that it led to.
func TestOneTruth(t *testing.T) {
	type said struct{ Points, Answers, Streak, Rank, Badges, Arrived []int }
	tab := open(t, "/", browser.Options{Before: numbers})
	tab.Until("document.querySelector('#aside dd')")
	points := 0
	for at, view := range []string{"", "/", "/me", "/answers", "/leaderboard", "/leaderboard?period=weekly",
		"/settings", "/q/example"} {
		q := ask(t, unique(fmt.Sprint("Is it true? ", at)), 2, "Yes", "No")
		tab.Show("/q/" + q.id)
		tab.Until("(document.querySelector('input[name=option]')?.click(), document.querySelector('input:checked'))")
		send(tab)
		tab.Until(fmt.Sprint("held === ", at+1))
		if view != "" {
			tab.Show(view)
		}
		tab.Until("document.querySelector('#aside dd')")
		before := browser.Evaluate[said](tab, "(seen = [], shown())")
		browser.Evaluate[bool](tab, "(release(), true)")
		tab.Until(fmt.Sprintf("shown().points.some((one) => one > %d) && shown().arrived.length > 0", points))
		drawn := append(browser.Evaluate[[]said](tab, "[...seen, shown()]"), before)
		for _, one := range drawn {
			for name, values := range map[string][]int{"points": one.Points, "answers": one.Answers, "days": one.Streak,
				"ranks": one.Rank, "badges": one.Badges} {
				if len(slices.Compact(slices.Sorted(slices.Values(values)))) > 1 {
					t.Errorf("%q shows the %s %v at once", view, name, values)
				}
			}
			if len(one.Arrived) > 0 && slices.ContainsFunc(one.Points, func(n int) bool { return n == points }) {
				t.Errorf("%q says that %v points have arrived beside %v", view, one.Arrived, one.Points)
			}
		}
		last := drawn[len(drawn)-2]
		now := slices.Max(last.Points)
		if earned := now - points; !slices.Contains(last.Arrived, earned) {
			t.Errorf("%q says that %v points have arrived, of %d", view, last.Arrived, earned)
		}
		if view == "/answers" && !slices.Equal(last.Answers, []int{at + 1}) {
			t.Errorf("%q lists %v answers of %d", view, last.Answers, at+1)
		}
		if now == points {
			t.Errorf("%q shows no other points than before: %+v", view, last)
		}
		points = now
		tab.Until("(document.querySelectorAll('.notice button').forEach((one) => one.click()), " +
			"!document.querySelector('.notice'))")
	}
}
