package rubric

import (
	_ "embed"
	"slices"
	"strings"
)

// signal is what a word or phrase may do in a sentence. A phrase may do several things.
type signal uint32

const (
	link      signal = 1 << iota // connects a claim with a reason or a consequence
	condition                    // connects with a condition or an objection
	verb                         // a verb that says how things hang together
	back                         // points back
	ask                          // asks for data
	weigh                        // weighs a source
	premise                      // names a premise
	doubt                        // says how something may fail
	other                        // offers another explanation
	tell                         // tells explanations apart
	compare                      // compares numbers
	rate                         // says of how many, or how often
	around                       // gives the range of a number
	limit                        // says what is not known
	turn                         // says what would change the view
	hedge                        // is less than certain
	sure                         // is entirely certain
)

// plain are the signals whose words count as content, too.
const plain = compare | rate | around | back | ask | verb | weigh

// signals are the names of the signals in words.txt, in their order here.
const signals = "link condition verb back ask weigh premise doubt other tell compare rate around limit turn hedge sure"

var (
	//go:embed words.txt
	wordsText string
	//go:embed vocabulary.txt
	everyday string
)

// The file of the words says which these are.
var (
	words         = rows(wordsText)
	phraseBook    = compilePhrases()
	emptyStems    = set(words["empty"], stem)
	functionWords = set(words["function"], strings.ToLower)
	matterStems   = set(words["matter"], stem)
	generalStems  = set(words["general"], stem)
	periods       = set(words["periods"], stem)
	supposing     = set(words["supposing"], stem)
	negations     = set(words["negations"], stem)
	clauseStems   = set(words["clauses"], stem)
	equals        = set(words["equals"], stem)
	vague         = set(words["vague"], strings.ToLower)
	rounded       = set(words["rounded"], strings.ToLower)
	bounding      = set(words["bounding"], strings.ToLower)
	roundedStems  = set(words["rounded"], stem)
	absolutes     = set(words["absolute"], strings.ToLower)
	tentatives    = set(words["tentative"], strings.ToLower)
	quoting       = set(words["quoting"], stem)
	dismissals    = compile("dismiss", 0)
	// spelled are numbers in letters.
	spelled = map[string]float64{
		"half": 0.5, "thirds": 3, "quarter": 0.25, "quarters": 0.25, "fifth": 0.2, "fifths": 0.2, "tenth": 0.1,
		"twice": 2, "double": 2, "triple": 3, "two": 2, "three": 3, "four": 4, "five": 5,
		"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20,
		"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000, "dozen": 12,
	}
	// vocabulary are words that people use of everyday matters. A text that hardly has any beside those of the scenario
	// is no thought about it.
	vocabulary = set(everyday, stem)
)

// phrase is a phrase by its stems, and what it does.
type phrase struct {
	stems []string
	does  signal
	text  string
}

// compilePhrases returns the phrases of all signals by their first stem, longer ones first.
func compilePhrases() map[string][]phrase {
	book := map[string][]phrase{}
	for i, name := range strings.Fields(signals) {
		for first, phrases := range compile(name, 1<<i) {
			book[first] = append(book[first], phrases...)
		}
	}
	for _, same := range book {
		slices.SortStableFunc(same, func(a, b phrase) int { return len(b.stems) - len(a.stems) })
	}
	return book
}

// compile returns the phrases of a name in words.txt by their first stem.
func compile(name string, does signal) map[string][]phrase {
	book := map[string][]phrase{}
	for text := range strings.SplitSeq(words[name], "|") {
		variants := []string{""}
		for field := range strings.FieldsSeq(text) {
			var longer []string
			for _, v := range variants {
				for either := range strings.SplitSeq(field, "/") {
					longer = append(longer, strings.TrimSpace(v+" "+either))
				}
			}
			variants = longer
		}
		for _, v := range variants {
			p := phrase{does: does, text: strings.Trim(v, "^,# ")}
			for w := range strings.FieldsSeq(v) {
				p.stems = append(p.stems, stem(w))
			}
			book[p.stems[0]] = append(book[p.stems[0]], p)
		}
	}
	return book
}

// rows are the words of a file by their names.
func rows(text string) map[string]string {
	all, name := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if before, after, isNew := strings.Cut(line, ":"); isNew {
			name, line = before, after
		}
		all[name] += line
	}
	return all
}

// set returns the words of a list, each changed by of.
func set(list string, of func(string) string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		s[of(w)] = true
	}
	return s
}
