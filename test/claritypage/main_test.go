// Package claritypage checks the page of Clarity in a real browser, over a run of its assembly.
//
// Each tab is a person of its own, who has signed in. The tests share the run, which has the scenarios, and the browser.
package claritypage

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

var suite = browser.Suite{Options: run.Options{Stacks: []string{"*clarity*"}, MaxInstances: 2}, Construct: "Clarity",
	Prepare: func(r *run.Runner) error { return r.LoadInitialData(context.Background()) }}

func TestMain(m *testing.M) { suite.Main(m) }

func TestBundle(t *testing.T) {
	t.Parallel()
	browser.CheckBundle(t, "../../lambdas/clarity/page")
}

// scenario is the one that the tests work on, with the address of its view.
const scenario, place = "washing-machine-repair", "/s/washing-machine-repair"

// careful are answers to it.
func careful() []string {
	return []string{
		"The new machine saves 1.05 - 0.65 = 0.40 kilowatt-hours a wash. At 220 washes and 0.32 euros that is 28.16 " +
			"euros a year, so the electricity alone would need 520 / 28.16 = 18 years to pay for it. Therefore the " +
			"claim is false.",
		"The comparison assumes that the rest of the old machine stays sound for three years, but its bearings might " +
			"fail next winter. The first assumption matters most, since it decides whether the repair is well spent.",
		"Repair the machine if the technician confirms that the rest is sound. I am not sure: an inspection that " +
			"finds worn bearings would change my mind.",
	}
}

// person is someone who trains, also elsewhere than on the page.
type person struct{ browser.Person }

func someone(t *testing.T) person { return person{suite.Someone(t)} }

// open signs the person in.
func (p person) open(options browser.Options) *browser.Tab {
	p.T.Helper()
	return p.Open(options, ".scenarios .card")
}

func (p person) do(method, path string, body any, status int) clarity.Attempt {
	p.T.Helper()
	return browser.Read[clarity.Attempt](p.Person, method, path, body, status)
}

// hands hands an attempt in, and returns its id.
func (p person) hands(answers ...string) string {
	p.T.Helper()
	var given []map[string]string
	for at, text := range answers {
		given = append(given, map[string]string{"questionId": fmt.Sprintf("q%d", at+1), "answer": text})
	}
	made := p.do(http.MethodPost, "/attempts", map[string]any{"scenarioId": scenario, "answers": given},
		http.StatusCreated)
	suite.Target(p.T).Flush(p.T)
	return made.ID
}

// attempts are all of the person, the newest first, whole.
func (p person) attempts() (all []clarity.Attempt) {
	p.T.Helper()
	list := browser.Read[clarity.AttemptList](p.Person, http.MethodGet, "/attempts", nil, http.StatusOK)
	for _, one := range list.Attempts {
		all = append(all, p.do(http.MethodGet, "/attempts/"+one.ID, nil, http.StatusOK))
	}
	return all
}

// saves waits until the page has saved.
func saves(tab *browser.Tab) {
	tab.Until("document.querySelector('.saved')?.textContent.startsWith('Saved at')")
}

// answers waits for the answers in the fields, and returns them.
func answers(tab *browser.Tab) []string {
	tab.Until("document.querySelectorAll('textarea').length === 3")
	return browser.Evaluate[[]string](tab, "[...document.querySelectorAll('textarea')].map((one) => one.value)")
}
