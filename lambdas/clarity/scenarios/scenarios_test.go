package scenarios

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// What a deployment begins with: four scenarios of each difficulty, and every dimension in at least
// three questions.
func TestInitial(t *testing.T) {
	t.Parallel()
	initial, err := Initial()
	if err != nil || len(initial) != 12 {
		t.Fatalf("got %d scenarios, %v; want 12", len(initial), err)
	}
	difficulties, focus := map[clarity.Difficulty]int{}, map[clarity.Dimension]int{}
	for _, s := range initial {
		difficulties[s.Difficulty]++
		if n := len(strings.Fields(s.Description)); n < 80 || n > 200 {
			t.Errorf("%s: the description has %d words, want 80 to 200", s.ID, n)
		}
		if n := len(s.Questions); n < 2 || n > 4 {
			t.Errorf("%s: got %d questions, want 2 to 4", s.ID, n)
		}
		if !s.Active || len(s.Tags) == 0 {
			t.Errorf("%s: got active %t and tags %q, want an active scenario with tags", s.ID, s.Active, s.Tags)
		}
		for _, q := range s.Questions {
			for _, d := range q.FocusAreas {
				focus[d]++
			}
		}
	}
	for _, d := range clarity.Difficulties() {
		if difficulties[d] != 4 {
			t.Errorf("%s: got %d scenarios, want 4", d, difficulties[d])
		}
	}
	for _, d := range clarity.Dimensions() {
		if focus[d] < 3 {
			t.Errorf("%s: got %d questions, want 3 or more", d, focus[d])
		}
	}
}

func TestReadErr(t *testing.T) {
	t.Parallel()
	const name = "bridge-alarms.json"
	good := must.Get(fs.ReadFile(files, name))(t)
	changed := func(old, new string) string { return strings.Replace(string(good), old, new, 1) }
	for title, test := range map[string]struct{ name, content, says string }{
		"Name": {"other.json", string(good),
			`other.json: scenarioId: got "bridge-alarms", want the name of the file`},
		"Rule": {name, changed(`"difficulty": "advanced"`, `"difficulty": "expert"`),
			`bridge-alarms.json: difficulty: is "expert"`},
		"Marking": {name, changed(`"points": {
      "q1"`, `"points": {
      "q9"`), `bridge-alarms.json: marking: the scenario has no question "q9"`},
		"UnknownField": {name, changed(`"type"`, `"kind"`), `unknown field "kind"`},
		"Type": {name, changed(`"targetWordCount": 200`, `"targetWordCount": "200"`),
			"cannot unmarshal string"},
		"More":  {name, string(good) + "{}", "more after the value"},
		"Cut":   {name, string(good[:len(good)/2]), "unexpected EOF"},
		"Empty": {name, "", "EOF"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			_, err := read(fstest.MapFS{test.name: {Data: []byte(test.content)}})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}
