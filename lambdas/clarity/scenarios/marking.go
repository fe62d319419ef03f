package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// Marking is what the author of a scenario looks for in answers. The embedded evaluator reads it; no route shows it.
//
// A pattern names words of a sentence: "+" joins groups that all have to occur, and "/" phrases of which one has to.
// "DENIED" stands for a denial, such as "does not matter". Words are compared by their stems, numbers by their value.
type Marking struct {
	// Figures are what can be computed with the scenario's numbers, such as "4200 / 28", with a pattern of the words
	// that stand beside such a figure.
	Figures map[string]string `json:"figures"`
	// Points are patterns of what a good answer to a question names, by the id of the question.
	Points map[string][]string `json:"points"`
	// Mistakes are patterns of wrong claims, by the id of the question. Consent to the speaker of the scenario, such as
	// "she is right", is one without a pattern.
	Mistakes map[string][]string `json:"mistakes"`
}

// check returns an error if the marking is of a question that the scenario has not.
func (m Marking) check(questions []clarity.Question) error {
	for _, patterns := range []map[string][]string{m.Points, m.Mistakes} {
		for _, id := range slices.Sorted(maps.Keys(patterns)) {
			if !slices.ContainsFunc(questions, func(q clarity.Question) bool { return q.ID == id }) {
				return fmt.Errorf("marking: the scenario has no question %.40q", id)
			}
		}
	}
	return nil
}

var markings = sync.OnceValues(func() ([]marked, error) { return read(files) })

// MarkingOf returns the marking of a scenario that is as its file has it. A scenario of another text has none.
func MarkingOf(scenario clarity.Scenario) (Marking, bool) {
	all, _ := markings() // The tests of this package read the files.
	at := slices.IndexFunc(all, func(s marked) bool {
		return s.ID == scenario.ID && s.Description == scenario.Description
	})
	if at < 0 {
		return Marking{}, false
	}
	return all[at].Marking, true
}
