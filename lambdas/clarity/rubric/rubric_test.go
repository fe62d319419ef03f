package rubric_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/rubric"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

const document = "testdata/examples.md"

// text is an answer in a document, below the scenario and the question that it answers. These are the document's own,
// or those of the platform with these ids.
type text struct {
	scenario clarity.Scenario
	label    string
	answer   string
}

var (
	scenarioLine = regexp.MustCompile(`^## Scenario: (.+)$`)
	platformLine = regexp.MustCompile(`^## ([a-z-]+) (q[0-9])$`)
	questionLine = regexp.MustCompile(`^Question \((.+?)\): (.+)$`)
	labelLine    = regexp.MustCompile(`^((?:Example|Better|Worse|Cheat|Good|Poor|Nonsense)\b.*):$`)
)

// read returns the quoted texts of a document that have a label.
func read(t testing.TB, file string) []text {
	t.Helper()
	var texts []text
	var scenario clarity.Scenario
	label := ""
	for line := range strings.SplitSeq(string(must.Get(os.ReadFile(file))(t)), "\n") {
		if m := scenarioLine.FindStringSubmatch(line); m != nil {
			scenario = clarity.Scenario{Title: m[1]}
		} else if m := platformLine.FindStringSubmatch(line); m != nil {
			scenario = ofPlatform(t, m[1], m[2])
		} else if m := questionLine.FindStringSubmatch(line); m != nil {
			scenario.Questions = []clarity.Question{{ID: "q1", Text: m[2], FocusAreas: dimensions(t, m[1])}}
		} else if m := labelLine.FindStringSubmatch(line); m != nil {
			label = m[1]
		} else if quote, ok := strings.CutPrefix(line, "> "); ok && label != "" {
			texts, label = append(texts, text{scenario, label, quote}), ""
		} else if ok {
			scenario.Description = quote
		}
	}
	return texts
}

// ofPlatform returns a scenario of the platform, with one of its questions alone.
func ofPlatform(t testing.TB, id, question string) clarity.Scenario {
	t.Helper()
	for _, scenario := range must.Get(scenarios.Initial())(t) {
		for _, q := range scenario.Questions {
			if scenario.ID == id && q.ID == question {
				scenario.Questions = []clarity.Question{q}
				return scenario
			}
		}
	}
	t.Fatalf("there is no question %q of a scenario %q", question, id)
	return clarity.Scenario{}
}

// dimensions returns the dimensions of a list with commas.
func dimensions(t testing.TB, list string) []clarity.Dimension {
	t.Helper()
	var all []clarity.Dimension
	for name := range strings.SplitSeq(list, ", ") {
		d := clarity.Dimension(name)
		if !slices.Contains(clarity.Dimensions(), d) {
			t.Fatalf("%q is no dimension", name)
		}
		all = append(all, d)
	}
	return all
}

func judge(t testing.TB, scenario clarity.Scenario, answers ...string) clarity.Judgement {
	t.Helper()
	var given []clarity.Answer
	for i, a := range answers {
		given = append(given, clarity.Answer{QuestionID: scenario.Questions[i].ID,
			QuestionText: scenario.Questions[i].Text, Text: a})
	}
	j := must.Get(rubric.Evaluate(t.Context(), scenario, given))(t)
	must.OK(t, j.Check())
	return j
}

func scoreOf(j clarity.Judgement, d clarity.Dimension) clarity.DimensionScore {
	return j.Dimensions[slices.Index(clarity.Dimensions(), d)]
}

// explain returns the scores of a judgement and its reasons.
func explain(j clarity.Judgement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "overall %d", j.OverallScore())
	for _, d := range j.Dimensions {
		fmt.Fprintf(&b, "\n  %s %d: %s", d.Name, d.Score, strings.Join(d.Rationale, " | "))
	}
	return b.String()
}

// The examples of the document were scored by hand, by its definitions, and so were those of the bounds of the rules. A
// score above 2 is certain where the question asks for its dimension.
func TestExamplesOfTheDocument(t *testing.T) {
	t.Parallel()
	examples := map[clarity.Dimension]int{}
	for _, example := range slices.Concat(read(t, document), read(t, "testdata/rules.md")) {
		m := regexp.MustCompile(`^Example, (\S+) ([0-4])$`).FindStringSubmatch(example.label)
		if m == nil {
			t.Fatalf("%q is no label of an example", example.label)
		}
		d := dimensions(t, m[1])[0]
		examples[d]++
		want, _ := strconv.Atoi(m[2])
		j := judge(t, example.scenario, example.answer)
		unsure := scoreOf(j, d).Uncertain && want > 2 && slices.Contains(example.scenario.Questions[0].FocusAreas, d)
		if scoreOf(j, d).Score != want || unsure {
			t.Errorf("%s: got %d, want %d\n%s\n%s", d, scoreOf(j, d).Score, want, example.answer, explain(j))
		}
	}
	for _, d := range clarity.Dimensions() {
		if examples[d] < 2 {
			t.Errorf("%s: the document has %d examples, want 2 at least", d, examples[d])
		}
	}
}

// rank returns how many pairs of a file the overall score ranks right, and of how many.
func rank(t *testing.T, file string, longer *int, covered map[clarity.Dimension]bool) (right, pairs int) {
	t.Helper()
	texts := read(t, file)
	for i := 0; i+1 < len(texts); i += 2 {
		better, worse := texts[i], texts[i+1]
		b, isBetter := strings.CutPrefix(better.label, "Better ")
		w, isWorse := strings.CutPrefix(worse.label, "Worse ")
		w, isLonger := strings.CutSuffix(w, ", longer")
		if !isBetter || !isWorse || b != w || isLonger && len(worse.answer) <= len(better.answer) {
			t.Fatalf("%s: %q and %q are no pair", file, better.label, worse.label)
		}
		if isLonger {
			*longer++
		}
		covered[dimensions(t, b)[0]] = true
		pairs++
		jb, jw := judge(t, better.scenario, better.answer), judge(t, worse.scenario, worse.answer)
		if jb.OverallScore() > jw.OverallScore() {
			right++
			t.Logf("%s, %s: %d above %d", better.scenario.Title, b, jb.OverallScore(), jw.OverallScore())
			continue
		}
		t.Logf("%s, %s: ranked wrong\nbetter: %s\nworse: %s", better.scenario.Title, b, explain(jb), explain(jw))
	}
	return right, pairs
}

// The rules were tuned on the first file. The second was written afterwards, and is no guide to a change of the rules.
func TestPairs(t *testing.T) {
	t.Parallel()
	longer, covered := 0, map[clarity.Dimension]bool{}
	right, pairs := rank(t, "testdata/pairs-tuned.md", &longer, covered)
	heldOutRight, heldOut := rank(t, "testdata/pairs-held-out.md", &longer, covered)
	t.Logf("ranked right: %d of %d tuned pairs, %d of %d held-out pairs", right, pairs, heldOutRight, heldOut)
	right, pairs = right+heldOutRight, pairs+heldOut
	if pairs < 24 || heldOut < 12 || longer < 6 {
		t.Errorf("got %d pairs, %d of them held out, and %d with a longer worse answer; want 24, 12 and 6 at least",
			pairs, heldOut, longer)
	}
	if right*24 < pairs*21 {
		t.Errorf("ranked %d of %d pairs right; want 21 of 24 at least", right, pairs)
	}
	for _, d := range clarity.Dimensions() {
		if !covered[d] {
			t.Errorf("no pair is about %s", d)
		}
	}
}

func TestCheats(t *testing.T) {
	t.Parallel()
	cheats := read(t, "testdata/cheats.md")
	if len(cheats) < 10 {
		t.Errorf("got %d cheating answers, want 10", len(cheats))
	}
	label := regexp.MustCompile(`^Cheat, (.+), in (.+)$`)
	for _, cheat := range cheats {
		m := label.FindStringSubmatch(cheat.label)
		t.Run(m[1], func(t *testing.T) {
			t.Parallel()
			j := judge(t, cheat.scenario, cheat.answer)
			for _, d := range dimensions(t, m[2]) {
				if got := scoreOf(j, d); got.Score > 1 {
					t.Errorf("%s: got %d, want 1 at most: %q", d, got.Score, got.Rationale)
				}
			}
		})
	}
}

// However long a text goes on without the end of a sentence, its clarity has a mark.
func TestSentenceWithoutEnd(t *testing.T) {
	t.Parallel()
	endless := ""
	for _, example := range read(t, document) {
		endless += regexp.MustCompile(`[^\pL\d ]`).ReplaceAllString(example.answer, "") + " "
	}
	if j := judge(t, harwick(t, 1), endless); scoreOf(j, clarity.ClarityOfThought).Score != 3 {
		t.Errorf("got %s, want 3", explain(j))
	}
}

// harwick returns the scenario of the document, with as many questions.
func harwick(t testing.TB, questions int) clarity.Scenario {
	t.Helper()
	scenario := read(t, document)[0].scenario
	q := scenario.Questions[0]
	scenario.Questions = nil
	for i := range questions {
		q.ID = fmt.Sprintf("q%d", i+1)
		q.FocusAreas = clarity.Dimensions()[i%8 : i%8+1]
		scenario.Questions = append(scenario.Questions, q)
	}
	return scenario
}

// Any text has a valid judgement, and always the same.
func TestAnyText(t *testing.T) {
	t.Parallel()
	all := must.Get(scenarios.Initial())(t)
	all = append(all, harwick(t, 3))
	texts := read(t, document)
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", " ", "\x00", "\xff\xfe", "🚌👩‍👩‍👧", "الحافلة الليلية؟ نعم، لأنها آمنة.", "夜间公交车更安全。", "\u202eesrever",
		"e\u0301\u0301\u0301", "1,2,3.4.5", "9999999999999999999999", "1e400",
		"^ # , ? % ^", "\n\n\n", "....", "if if if if", "because", "’’’", strings.Repeat("a", 5000),
		strings.Repeat("it may be 7 per cent, ", 227), strings.Repeat("🤔", 5000),
	}), rapid.Custom(func(t *rapid.T) string { return rapid.SampledFrom(texts).Draw(t, "example").answer }))
	rapid.Check(t, func(rt *rapid.T) {
		var answers []string
		for i := range rapid.IntRange(0, 3).Draw(rt, "answers") {
			answer := []rune(strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(rt, strconv.Itoa(i)),
				rapid.SampledFrom([]string{"", " ", "\n"}).Draw(rt, "between")))
			answers = append(answers, string(answer[:min(len(answer), clarity.MaxAnswerLength)]))
		}
		scenario := rapid.SampledFrom(all).Draw(rt, "scenario")
		first := judge(t, scenario, answers...)
		if again := judge(t, scenario, answers...); !reflect.DeepEqual(first, again) {
			rt.Errorf("got %s, then %s", explain(first), explain(again))
		}
	})
}

// Answers without a sentence of their own score nothing, and the feedback says why.
func TestNothingToScore(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"empty": "",
		"German": "Der Nachtbus könnte die Zahl der Überfälle gesenkt haben, weil weniger Menschen zu Fuß " +
			"nach Hause gingen. Sicher ist das aber nicht.",
		"Spanish": "El autobús nocturno pudo reducir los asaltos porque menos personas volvían a pie. Pero los " +
			"bares también cerraron antes.",
		"Arabic": "ربما قللت الحافلة الليلية من الاعتداءات لأن عدد المشاة انخفض. لكن الحانات أغلقت أبوابها " +
			"مبكرا.",
		"Chinese": "夜间公交车可能减少了袭击事件，因为步行回家的人变少了。但是酒吧也提前关门了。",
		"emoji":   "🚌🚌🚌 👍",
		"other matters": "My favourite recipe for soup needs leeks, potatoes and a little cream. You cook the " +
			"vegetables slowly.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge(t, harwick(t, 1), answer)
			if j.OverallScore() != 0 || !strings.Contains(j.Feedback, "found no English sentence") {
				t.Errorf("got %q, %s", j.Feedback, explain(j))
			}
		})
	}
}

// More of the same earns nothing: an answer that is repeated, or followed by filler, scores no dimension higher.
func TestLengthEarnsNothing(t *testing.T) {
	t.Parallel()
	for _, example := range read(t, document) {
		once := judge(t, example.scenario, example.answer)
		for name, more := range map[string]string{
			"repeated": strings.Repeat(" "+example.answer, 5),
			"filler": strings.Repeat(" This is a very important question, and there are many different things that "+
				"one could say about it, because people think different things.", 10),
		} {
			j := judge(t, example.scenario, example.answer+more)
			for i, d := range j.Dimensions {
				if d.Score > once.Dimensions[i].Score {
					t.Errorf("%s, %s: got %d, want %d at most\n%s", example.label, name, d.Score,
						once.Dimensions[i].Score, explain(j))
				}
			}
		}
	}
}

// A question that names a dimension weighs three in it, and the same answer given twice counts once.
func TestFocusAreas(t *testing.T) {
	t.Parallel()
	var strong, weak string
	for _, example := range read(t, document) {
		switch example.label {
		case "Example, assumptions 4":
			strong = example.answer
		case "Example, assumptions 1":
			weak = example.answer
		}
	}
	scenario := func(first, second clarity.Dimension) clarity.Scenario {
		s := harwick(t, 2)
		s.Questions[0].FocusAreas, s.Questions[1].FocusAreas = []clarity.Dimension{first}, []clarity.Dimension{second}
		return s
	}
	for name, c := range map[string]struct {
		scenario clarity.Scenario
		answers  []string
		want     int
	}{
		"the question that names it": {scenario(clarity.Assumptions, clarity.Logic), []string{strong, weak}, 4},
		// (3·1 + 4) / 4, rounded
		"another can raise it": {scenario(clarity.Logic, clarity.Assumptions), []string{strong, weak}, 2},
		"both name it": {scenario(clarity.Assumptions, clarity.Assumptions), []string{strong, weak},
			3},
		"neither names it: the best": {scenario(clarity.Logic, clarity.Evidence), []string{weak, strong}, 4},
		"the same answer twice": {scenario(clarity.Assumptions, clarity.Assumptions),
			[]string{strong, strong}, 2},
		"one question that names it, once": {scenario(clarity.Assumptions, clarity.Logic), []string{weak, ""}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j := judge(t, c.scenario, c.answers...); scoreOf(j, clarity.Assumptions).Score != c.want {
				t.Errorf("got %d, want %d\n%s", scoreOf(j, clarity.Assumptions).Score, c.want, explain(j))
			}
		})
	}
}

// The feedback and the reasons are for people: they name the dimensions, say what to try, and quote little.
func TestFeedback(t *testing.T) {
	t.Parallel()
	scenario := harwick(t, 2)
	var answer string
	for _, example := range read(t, document) {
		if example.label == "Example, assumptions 4" {
			answer = example.answer
		}
	}
	j := judge(t, scenario, answer, strings.Repeat(
		"The pubs, the drinkers and the constables of Harwick share a long and weary history of Friday nights ", 8))
	for _, want := range []string{"Your strongest dimension is ", " of 4)", "The weakest is ", "Next, "} {
		if !strings.Contains(j.Feedback, want) {
			t.Errorf("the feedback %q has no %q", j.Feedback, want)
		}
	}
	for _, d := range j.Dimensions {
		for _, reason := range d.Rationale {
			isOfAll := strings.HasPrefix(reason, "The rules cannot judge this") ||
				strings.HasPrefix(reason, "No question asks for it")
			if !isOfAll && !strings.HasPrefix(reason, "Answer ") || len([]rune(reason)) > 200 {
				t.Errorf("%s: got the reason %q, want one that names an answer, in at most 200 characters", d.Name,
					reason)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rubric.Evaluate(ctx, harwick(t, 1), []clarity.Answer{{Text: "x"}}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v, want the error of the context", err)
	}
}

// Whoever gives a scenario's own words back has said nothing.
func TestScenariosGivenBack(t *testing.T) {
	t.Parallel()
	all := must.Get(scenarios.Initial())(t)
	for _, scenario := range all {
		questions, whole := []string{}, []string{}
		for _, q := range scenario.Questions {
			questions = append(questions, q.Text)
			whole = append(whole, scenario.Description+" "+q.Text)
		}
		for name, answers := range map[string][]string{"the questions": questions,
			"the scenario with each question": whole} {
			if j := judge(t, scenario, answers...); j.OverallScore() != 0 {
				t.Errorf("%s, %s: %s", scenario.ID, name, explain(j))
			}
		}
	}
}
