package todopage

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The keys n and / lead to their fields from any view, write themselves where one writes, and can be turned off. Escape
// closes what is open.
func TestKeys(t *testing.T) {
	p := user(t)
	one := p.has("Sweep", "due_date", day(0))
	tab := p.open(browser.Options{})
	at := func(id string) string { return "document.activeElement.id === '" + id + "'" }
	tab.Key("n")
	tab.Until(at("add"))
	for _, key := range []string{"n", "/", "a"} {
		tab.Key(key)
	}
	tab.Until("document.activeElement.value === 'n/a'")
	tab.Press(kb.Escape)
	tab.Until("document.activeElement === document.body && document.getElementById('add').value === 'n/a'")
	tab.Show("/done")
	tab.Key("n")
	tab.Until("location.pathname === '/' && " + at("add"))
	tab.Press(kb.Escape)
	tab.Key("/")
	tab.Until("location.pathname === '/all' && " + at("q"))
	tab.Press("swe\r")
	tab.Until("document.getElementById('main').dataset.shown === '/all?q=swe'")
	tab.Press(kb.Escape)
	tab.Until("location.search === '' && document.getElementById('q').value === ''")
	// Escape closes the form of a row, and loses nothing.
	tab.Show("/")
	tab.Click("Edit: Sweep")
	tab.Until(at(one.ID + "-title"))
	tab.Press(" well" + kb.Escape)
	tab.Until("!document.querySelector('.edit') && document.activeElement.className === 'pen'")
	tab.Click("Sweep")
	tab.Until("document.getElementById('title')?.value === 'Sweep well'")
	tab.Press(kb.Escape)
	tab.Until("location.pathname === '/'")
	tab.Show("/account")
	tab.Click("The keys n (new task) and / (search)")
	tab.Show("/")
	tab.Until("document.activeElement.tagName === 'H1'")
	tab.Key("/")
	tab.Key("n")
	tab.Press("\t")
	tab.Until(at("add") + " && !document.querySelector('kbd') && !document.querySelector('[aria-keyshortcuts]') && " +
		"location.pathname === '/'")
	if got := p.reads(one.ID); got.Title != "Sweep" {
		t.Errorf("got %+v", got)
	}
}
