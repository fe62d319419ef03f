package rubric

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// A computation comes out, is a miss, or is none.
func TestEquations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"So 3 × 150 = 450 coffees.":                                  "450 right",
		"February had 4,200 / 28 = 150 a day.":                       "150 right",
		"It sold 5,100 / 31, about 165 a day.":                       "165 right",
		"It sold 5,100 / 31 = 189 a day.":                            "189 wrong, 164.52",
		"The margin is 3.20 − 0.90 = 2.70 euros.":                    "2.7 wrong, 2.3",
		"20 minus 5 leaves 12 bridges.":                              "12 wrong, 15",
		"20 less 5 is 15 bridges.":                                   "15 right",
		"520 divided by 28.16 gives about 18 years.":                 "18 right",
		"520 euros divided by 31.60 euros gives about 14 years.":     "14 wrong, 16.46",
		"12 % of 240 is 41.":                                         "41 wrong, 28.8",
		"12 per cent of the 240 bridges are 29.":                     "29 right",
		"96 of 600 cards are 16 percent.":                            "16 right",
		"96 of 600 cards is 24 percent.":                             "24 wrong, 0.16",
		"13 litres × 220 = 2.86 cubic metres.":                       "2.86 right",
		"0.40 kWh × 220 × 0.32 = 28.16 euros.":                       "28.16 right",
		"450 − 200 + 100 = 350 coffees.":                             "350 right",
		"520 + 95 = 605 euros and it must last 7.3 years.":           "605 wrong, 615",
		"15 extra hours a week at 85 euros are 1,275 euros.":         "1275 right",
		"15 extra hours a week at 85 euros are 1,400 euros.":         "",
		"That is (13 − 2.3) × 24 = 256.8 a day.":                     "256.8 right",
		"(13 − 2.3) × 24 = 310 a day.":                               "310 wrong, 256.8",
		"4,200 plus 5 percent is 4,410.":                             "4410 right",
		"3 × 150 is between 400 and 500 coffees.":                    "400 right",
		"3 × 150 is 500 to 600 coffees.":                             "500 wrong, 450",
		"3 × 150 = 440–460 coffees.":                                 "440 right",
		"3 of 5 groups were over 40 percent.":                        "",
		"In 1/3 of cases it is 5 percent.":                           "",
		"18 months less than 2 years are 6 fewer.":                   "",
		"He has 2 x 4 boards and they are 3 metres long.":            "",
		"64 and 48 make 112 assaults.":                               "112 right",
		"The fall from 64 to 48 is 16.":                              "16 right",
		"Between 17:00 and 18:00 it is 22.":                          "",
		"After 3-4 years it is 40 years old.":                        "",
		"In 2-3 weeks the 14 bridges are safe, and 5 more are open.": "",
		"A range of 5 to 11 is 8 on average.":                        "",
		"We saw 240 bridges. 3 are cracked.":                         "",
		"9 / 0 = 4.":                                                 "",
		"9999999999999999999999 * 10 = 3.":                           "3 wrong, 1e+23",
	} {
		var got []string
		for _, e := range equations(text) {
			if e.isRight {
				got = append(got, fmt.Sprintf("%v right", e.given))
			} else {
				got = append(got, fmt.Sprintf("%v wrong, %v", e.given, math.Round(100*e.value)/100))
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: got %q, want %q", text, strings.Join(got, "; "), want)
		}
	}
}

// Each figure of a marking computes with numbers of its scenario, and each pattern has words.
func TestMarkings(t *testing.T) {
	t.Parallel()
	all := must.Get(scenarios.Initial())(t)
	for _, scenario := range all {
		written, ok := scenarios.MarkingOf(scenario)
		if !ok {
			t.Fatalf("%s has no marking", scenario.ID)
		}
		for computation, words := range written.Figures {
			if value, ok := compute(computation); !ok || value <= 0 || words == "" {
				t.Errorf("%s: %q of %q gives %v, %t", scenario.ID, computation, words, value, ok)
			}
		}
		if m := markingOf(scenario); len(m.figures) != len(written.Figures) || m != markingOf(scenario) {
			t.Errorf("%s: got %d figures, want %d", scenario.ID, len(m.figures), len(written.Figures))
		}
		for _, q := range scenario.Questions {
			if len(written.Points[q.ID]) < 5 {
				t.Errorf("%s %s: got %d points, want 5 or more", scenario.ID, q.ID, len(written.Points[q.ID]))
			}
			for _, text := range append(written.Points[q.ID], written.Mistakes[q.ID]...) {
				for _, group := range newPattern(text) {
					if len(group) == 0 {
						t.Errorf("%s %s: the pattern %q has an empty group", scenario.ID, q.ID, text)
					}
				}
			}
		}
		scenario.Description += " It rained."
		if markingOf(scenario) != nil {
			t.Errorf("%s has a marking with another text", scenario.ID)
		}
	}
	for _, wrong := range []string{"", "2 +", "(2", "2)", "a", "2 / 0"} {
		if value, ok := compute(wrong); ok {
			t.Errorf("%q gives %v", wrong, value)
		}
	}
	if value, ok := compute("(100 + 280) / 700 * 95 - 2 * (3 - 1)"); !ok || math.Abs(value-47.571) > 0.01 {
		t.Errorf("got %v, %t", value, ok)
	}
}

// Sentences of one frame with other fillers are no answer; those of a learner, which are short and alike, are one.
func TestFrames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The rise of the coffee depends on the station, because the station depends on the card. The rise of the " +
			"student depends on the milk, because the milk depends on the sister.": true,
		"The form must be as true as the desk, and the desk must be as true as the town. The town must be as true " +
			"as the card, and the card must be as true as the counter.": true,
		"First we must think how long each machine work. Technician say three or four years. But this is only for " +
			"new part. New machine have two years guarantee. This is minimum, nobody know real time.": false,
		"Three of the 240 bridges have a crack. The system finds 2.85 of them. Of the 237 others, 11.85 give an " +
			"alarm. So about 3 of some 15 alarms are real.": false,
		"The council has two totals.": false,
	} {
		if got := newReader("The town").answer(text).isFramed; got != want {
			t.Errorf("got %t, want %t: %s", got, want, text)
		}
	}
	// Answers of one frame each are of one frame together.
	r := newReader("The town")
	first := r.answer("The mood of the council rests upon the colour of its roof, and the roof rests upon a mood.")
	second := r.answer("The price of the library rests upon the season of its door, and the door rests upon a price.")
	if first.isFramed || !second.isFramed {
		t.Errorf("got %t and %t, want the second one alone", first.isFramed, second.isFramed)
	}
}
