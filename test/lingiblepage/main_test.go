// Package lingiblepage checks the page of Lingible in a real browser, over a run of its assembly.
//
// Each tab is a person of its own, who has signed in. The tests share the run, which has the lexicon, and the browser.
package lingiblepage

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

var suite = browser.Suite{Options: run.Options{Stacks: []string{"*lingible*"}, MaxInstances: 2}, Construct: "Lingible",
	Prepare: func(r *run.Runner) error { return r.LoadInitialData(context.Background()) }}

func TestMain(m *testing.M) { suite.Main(m) }

func TestBundle(t *testing.T) {
	t.Parallel()
	browser.CheckBundle(t, "../../lambdas/lingible/page")
}

// scored scores once what is trending.
var scored sync.Once

// person is someone who translates, also elsewhere than on the page.
type person struct{ browser.Person }

// someone is a person whom the platform does not know yet.
func someone(t *testing.T) person {
	t.Helper()
	target := suite.Target(t)
	scored.Do(func() { target.RunSchedule(t, "TrendingJobSchedule") })
	return person{suite.Someone(t)}
}

// premium is a premium user.
func premium(t *testing.T) person {
	t.Helper()
	p := someone(t)
	p.Do(http.MethodPost, "/user/upgrade", nil, http.StatusOK)
	return p
}

// open signs the person in.
func (p person) open(options browser.Options) *browser.Tab {
	p.T.Helper()
	return p.Open(options, "#text")
}

// used returns the number of the person's translations today that count against the limit.
func (p person) used() int {
	p.T.Helper()
	return browser.Read[lingible.Balance](p.Person, http.MethodGet, "/user/usage", nil, http.StatusOK).DailyUsed
}

// proposes submits a term. It is open to votes if the meaning has two words; the platform looks at it before the
// function returns.
func (p person) proposes(term, meaning, example string) {
	p.T.Helper()
	p.Do(http.MethodPost, "/slang/submit", map[string]string{"slang_term": term, "meaning": meaning,
		"example_usage": example}, http.StatusCreated)
	suite.Target(p.T).Flush(p.T)
}

// sections are the texts of the parts of a view, by their headings.
func sections(tab *browser.Tab) map[string]string {
	return browser.Evaluate[map[string]string](tab, "Object.fromEntries([...document.querySelectorAll('main section')]"+
		".map((one) => [one.querySelector('h2')?.textContent ?? '', one.innerText]))")
}

// word is a term that no other test proposes. It can be spoken: the platform takes no random letters.
func word() string {
	var name strings.Builder
	for i, r := range strings.Trim(onesynthtest.Unique(""), "-") {
		letters := []string{"bdfgklmnprst", "aeiou"}[i%2]
		name.WriteByte(letters[int(r)%len(letters)])
	}
	return "sofa " + name.String()
}
