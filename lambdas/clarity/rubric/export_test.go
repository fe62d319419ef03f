package rubric

import "github.com/onesynth-cdk/onesynth/platforms/clarity"

// Called is a figure that the rubric calls right, and the sentence that has it.
type Called struct {
	Sentence string
	Value    float64
}

// CalledRight returns the figures of an answer that the rubric calls right.
func CalledRight(scenario clarity.Scenario, text string) (all []Called) {
	texts := []string{scenario.Title, scenario.Description}
	for _, q := range scenario.Questions {
		texts = append(texts, q.Text)
	}
	r := newReader(texts...)
	r.marking = markingOf(scenario)
	for _, s := range r.answer(text).sentences {
		for _, x := range s.computes {
			all = append(all, Called{s.text, x})
		}
	}
	return all
}
