package rubric_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// beside stands before each sentence of these tests, so that it is no answer on its own.
const beside = "The council has two totals of the police, and riders of the bus walk home in groups. "

// What an answer denies earns nothing: the first sentence has the sign of its dimension, and the second has not. Simple
// English counts by what it connects.
func TestDenials(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dimension         clarity.Dimension
		met, says, denies string
	}{
		{clarity.Alternatives, "Offers an explanation", "Perhaps longer summer evenings kept fights off the square.",
			"There are no other explanations, and longer summer evenings did not keep fights off the square."},
		{clarity.Alternatives, "Offers an explanation", "Another explanation is that victims avoid the constables.",
			"Another explanation is not needed, since victims trust the constables."},
		{clarity.Assumptions, "Names a premise", "The operator takes for granted that winter brings the same crowds.",
			"The operator never takes for granted that winter brings the same crowds."},
		{clarity.Assumptions, "Names a premise", "The operator assumes that winter brings the same crowds.",
			"Nothing more has to be true, and the operator does not assume that winter brings the same crowds."},
		{clarity.Evidence, "Asks for particular data", "I would ask for the hospital's records of injuries.",
			"I would not ask for the hospital's records of injuries."},
		{clarity.Evidence, "Weighs how good a source is", "The survey of passengers is a sample of its happy riders.",
			"No survey of passengers is needed to know its happy riders."},
		{clarity.Quantitative, "Works with numbers", "Between 10 and 20 assaults fit the mild winter best.",
			"Between 10 and 20 assaults as a range is not needed for a mild winter."},
		{clarity.Logic, "Connects a claim", "The drinkers went home early because they were hungry for a breakfast.",
			"The drinkers went home early not because they were hungry for a breakfast."},
		{clarity.Humility, "Says what is not known", "We cannot tell whether victims stayed silent about assaults.",
			"There is nothing that we cannot tell about victims and assaults."},
		{clarity.Humility, "Says what would change", "Figures by weekday would change my mind about the night bus.",
			"No figures by weekday would change my mind about the night bus."},
		{clarity.Assumptions, "Names a premise", "It must be same as all the town people.", ""},
		{clarity.Alternatives, "Offers an explanation", "Maybe other thing make it, for example new bus.", ""},
		{clarity.Humility, "Says what is not known", "We not know this, so ask for number of days.", ""},
		{clarity.Evidence, "Asks for particular data", "We not know this, so ask for number of days.", ""},
		{clarity.Logic, "Connects a claim", "Pubs close more early, so less drinkers walk in street at night.", ""},
	} {
		scenario := harwick(t, 1)
		scenario.Questions[0].FocusAreas = []clarity.Dimension{clarity.Relevance}
		for text, want := range map[string]bool{c.says: true, c.denies: false} {
			d := scoreOf(judge(t, scenario, beside+text), c.dimension)
			if got := strings.Contains(strings.Join(d.Rationale, "\n"), c.met); got != want {
				t.Errorf("%s: got %q; want %q: %t\n%s", c.dimension, d.Rationale, c.met, want, text)
			}
		}
	}
}

// Two claims of full certainty cost a point of humility, also where the question asks for it.
func TestCertaintyCosts(t *testing.T) {
	t.Parallel()
	scenario := harwick(t, 1)
	scenario.Questions[0].FocusAreas = []clarity.Dimension{clarity.Humility}
	const answer = "I am fairly confident that assaults fell, but much less sure that the bus was the cause. We " +
		"cannot tell from two totals whether the fall began in March or only in May. If the monthly figures showed a " +
		"drop before the pubs changed their hours, I would change my mind and credit the bus."
	humble := scoreOf(judge(t, scenario, answer), clarity.Humility)
	certain := scoreOf(judge(t, scenario, answer+" The survey is beyond doubt, and the police figures of the town are "+
		"undeniable."), clarity.Humility)
	if certain.Score >= humble.Score {
		t.Errorf("got %d without and %d with two claims of certainty", humble.Score, certain.Score)
	}
}
