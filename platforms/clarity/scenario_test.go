package clarity_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

func newScenario(id string) clarity.Scenario {
	return clarity.Scenario{
		ID: id, Title: "Cargo bikes", Description: strings.Repeat("A service tries cargo bikes. ", 3),
		Difficulty: clarity.Beginner, Tags: []string{"logistics"},
		Questions: []clarity.Question{{ID: "q1", Text: "What does the trial show?", Type: "short", TargetWordCount: 80,
			FocusAreas: []clarity.Dimension{clarity.Evidence}}},
		Active: true, CreatedAt: wire.Time(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)), EstimatedMinutes: 20,
	}
}

// Each limit with the last value that it allows and the first that it does not.
func TestScenarioCheck(t *testing.T) {
	t.Parallel()
	questions := func(n int) func(*clarity.Scenario) {
		return func(s *clarity.Scenario) {
			one := s.Questions[0]
			s.Questions = nil
			for i := range n {
				one.ID = "q" + strings.Repeat("1", i+1)
				s.Questions = append(s.Questions, one)
			}
		}
	}
	question := func(change func(*clarity.Question)) func(*clarity.Scenario) {
		return func(s *clarity.Scenario) { change(&s.Questions[0]) }
	}
	focus := func(areas ...clarity.Dimension) func(*clarity.Scenario) {
		return question(func(q *clarity.Question) { q.FocusAreas = areas })
	}
	tags := func(n int) func(*clarity.Scenario) {
		return func(s *clarity.Scenario) {
			s.Tags = nil
			for i := range n {
				s.Tags = append(s.Tags, strings.Repeat("t", i+1))
			}
		}
	}
	type change = func(*clarity.Scenario)
	text := func(set func(*clarity.Scenario, string), n int) change {
		return func(s *clarity.Scenario) { set(s, strings.Repeat("é", n)) }
	}
	setTitle := func(s *clarity.Scenario, v string) { s.Title = v }
	setDescription := func(s *clarity.Scenario, v string) { s.Description = v }
	setText := func(s *clarity.Scenario, v string) { s.Questions[0].Text = v }
	target := func(n int) change { return question(func(q *clarity.Question) { q.TargetWordCount = n }) }
	minutes := func(n int) change { return func(s *clarity.Scenario) { s.EstimatedMinutes = n } }
	id := func(id string) change { return func(s *clarity.Scenario) { s.ID = id } }
	for name, test := range map[string]struct {
		ok    []change
		wrong []change
		field string
	}{
		"ID": {[]change{id("a"), id("scenario-001"), id(strings.Repeat("a", 100))},
			[]change{id(""), id("A"), id("a--b"), id("-a"), id("a#b"), id(strings.Repeat("a", 101))}, "scenarioId"},
		"Title": {[]change{text(setTitle, 5), text(setTitle, 200)},
			[]change{text(setTitle, 4), text(setTitle, 201)}, "title"},
		"Description": {[]change{text(setDescription, 50), text(setDescription, 5000)},
			[]change{text(setDescription, 49), text(setDescription, 5001)}, "description"},
		"Questions": {[]change{questions(1), questions(10)}, []change{questions(0), questions(11)}, "questions"},
		"Text": {[]change{text(setText, 10), text(setText, 1000)},
			[]change{text(setText, 9), text(setText, 1001)}, "questions[0].text"},
		"QuestionID": {[]change{question(func(q *clarity.Question) { q.ID = strings.Repeat("q", 50) })},
			[]change{question(func(q *clarity.Question) { q.ID = "" }),
				question(func(q *clarity.Question) { q.ID = strings.Repeat("q", 51) })}, "questions[0].questionId"},
		"QuestionTwice": {nil, []change{func(s *clarity.Scenario) {
			s.Questions = append(s.Questions, s.Questions[0])
		}}, "questions[1].questionId"},
		"TargetWords": {[]change{target(1), target(2000)}, []change{target(0), target(-1), target(2001)},
			"questions[0].targetWordCount"},
		"FocusAreas": {
			[]change{focus(clarity.Logic), focus(clarity.Logic, clarity.Evidence, clarity.Humility)},
			[]change{focus(), focus(clarity.Logic, clarity.Evidence, clarity.Humility, clarity.Relevance)},
			"questions[0].focusAreas",
		},
		"FocusArea":  {nil, []change{focus("wisdom")}, "questions[0].focusAreas[0]"},
		"FocusTwice": {nil, []change{focus(clarity.Logic, clarity.Logic)}, "questions[0].focusAreas[1]"},
		"Type": {
			[]change{question(func(q *clarity.Question) { q.Type = "long" })},
			[]change{question(func(q *clarity.Question) { q.Type = "" })}, "questions[0].type",
		},
		"Difficulty": {[]change{func(s *clarity.Scenario) { s.Difficulty = clarity.Advanced }},
			[]change{func(s *clarity.Scenario) { s.Difficulty = "" }}, "difficulty"},
		"Tags":     {[]change{tags(0), tags(10)}, []change{tags(11)}, "tags"},
		"EmptyTag": {nil, []change{func(s *clarity.Scenario) { s.Tags = []string{""} }}, "tags[0]"},
		"TagTwice": {nil, []change{func(s *clarity.Scenario) { s.Tags = []string{"a", "a"} }}, "tags[1]"},
		"Minutes": {[]change{minutes(1), minutes(24 * 60)}, []change{minutes(0), minutes(24*60 + 1)},
			"estimatedMinutes"},
		"CreatedAt": {nil, []change{func(s *clarity.Scenario) { s.CreatedAt = wire.Time{} }}, "createdAt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, change := range test.ok {
				s := newScenario("cargo-bikes")
				change(&s)
				if err := s.Check(); err != nil {
					t.Errorf("ok %d: %v", i, err)
				}
			}
			for i, change := range test.wrong {
				s := newScenario("cargo-bikes")
				change(&s)
				wrong, ok := errors.AsType[*validate.Error](s.Check())
				if !ok || len(wrong.Problems) != 1 || wrong.Problems[0].Field != test.field {
					t.Errorf("wrong %d: got %v, want one problem of %s", i, wrong, test.field)
				}
			}
		})
	}
}
