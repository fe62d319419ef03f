package clarity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/platforms/clarity/profiletest"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// What the answers of an attempt have to be, and which of them an error names.
func TestAnswersTo(t *testing.T) {
	t.Parallel()
	questions := []clarity.Question{{ID: "q1", Text: "What holds it?"}, {ID: "q2", Text: "Since when?"}}
	// to are answers to q1, q2 and so on.
	to := func(texts ...string) (given clarity.GivenAnswers) {
		for i, text := range texts {
			given = append(given, clarity.GivenAnswer{QuestionID: "q" + string(rune('1'+i)), Text: text})
		}
		return given
	}
	const good = "Ten tons…!"
	longest := strings.Repeat("🌉", clarity.MaxAnswerLength)
	reversed := to(good, good)
	slices.Reverse(reversed)
	for name, test := range map[string]struct {
		given  clarity.GivenAnswers
		status clarity.Status
		fields string
	}{
		"Shortest":     {to(good, good), clarity.Completed, ""},
		"Longest":      {to(longest, longest), clarity.Completed, ""},
		"AnyOrder":     {reversed, clarity.Completed, ""},
		"Begun":        {nil, clarity.InProgress, ""},
		"BegunShort":   {to(""), clarity.InProgress, ""},
		"Abandoned":    {to("?"), clarity.Abandoned, ""},
		"None":         {nil, clarity.Completed, "answers answers"},
		"OneMissing":   {to(good), clarity.Completed, "answers"},
		"OneTooMany":   {to(good, good, good), clarity.Completed, "answers[2].questionId"},
		"Repeated":     {append(to(good, good), to(good)...), clarity.Completed, "answers[2].questionId"},
		"UnknownBegun": {to(good, good, good)[2:], clarity.InProgress, "answers[0].questionId"},
		"Nul":          {to(good+"\x00", good), clarity.Completed, "answers[0].answer"},
		"TooShort":     {to(good[1:], good), clarity.Completed, "answers[0].answer"},
		"BothTooShort": {to("?", ""), clarity.Completed, "answers[0].answer answers[1].answer"},
		"Blank":        {to(strings.Repeat(" ", 20), good), clarity.Completed, "answers[0].answer"},
		"Invisible": {to("\u200b\u2060 nine char\ufeff\u00a0\u200b", good), clarity.Completed,
			"answers[0].answer"},
		"TooLong":      {to(good, longest+"x"), clarity.Completed, "answers[1].answer"},
		"TooLongBegun": {to(longest + "x"), clarity.InProgress, "answers[0].answer"},
	} {
		answers, err := clarity.AnswersTo(questions, test.given, test.status)
		if invalid := openapi.Check(clarity.Save{Answers: test.given}); invalid != nil {
			err = invalid
		}
		var fields []string
		if wrong, ok := err.(*validate.Error); ok {
			for _, problem := range wrong.Problems {
				fields = append(fields, problem.Field)
			}
		}
		if got := strings.Join(fields, " "); got != test.fields || (err == nil) != (test.fields == "") {
			t.Errorf("%s: got %v, want the fields %q", name, err, test.fields)
		}
		for i, a := range answers {
			if err == nil && (a.QuestionID != questions[i].ID || a.QuestionText != questions[i].Text ||
				a.WordCount != len(strings.Fields(a.Text))) {
				t.Errorf("%s: the answer %d is %+v", name, i, a)
			}
		}
	}
}

// A judgement has each dimension once and in order, scores and texts within their bounds, and its judge.
func TestJudgementCheck(t *testing.T) {
	t.Parallel()
	const longest, longestFeedback = clarity.MaxReasonLength, clarity.MaxFeedbackLength
	for name, test := range map[string]struct {
		change func(*clarity.Judgement)
		ok     bool
	}{
		"OK":        {func(*clarity.Judgement) {}, true},
		"OKScores":  {func(j *clarity.Judgement) { j.Dimensions[0].Score, j.Dimensions[1].Score = 0, 4 }, true},
		"OKReasons": {func(j *clarity.Judgement) { j.Dimensions[0].Rationale = strings.Split("12345", "") }, true},
		"OKLongReason": {func(j *clarity.Judgement) {
			j.Dimensions[0].Rationale[0] = strings.Repeat("é", longest)
		}, true},
		"OKFeedback":  {func(j *clarity.Judgement) { j.Feedback = strings.Repeat("é", longestFeedback) }, true},
		"High":        {func(j *clarity.Judgement) { j.Dimensions[7].Score = 5 }, false},
		"Low":         {func(j *clarity.Judgement) { j.Dimensions[0].Score = -1 }, false},
		"Missing":     {func(j *clarity.Judgement) { j.Dimensions = j.Dimensions[:7] }, false},
		"Extra":       {func(j *clarity.Judgement) { j.Dimensions = append(j.Dimensions, j.Dimensions[0]) }, false},
		"Repeated":    {func(j *clarity.Judgement) { j.Dimensions[1] = j.Dimensions[0] }, false},
		"Order":       {func(j *clarity.Judgement) { slices.Reverse(j.Dimensions) }, false},
		"NoReason":    {func(j *clarity.Judgement) { j.Dimensions[1].Rationale = nil }, false},
		"SixReasons":  {func(j *clarity.Judgement) { j.Dimensions[1].Rationale = strings.Split("123456", "") }, false},
		"EmptyReason": {func(j *clarity.Judgement) { j.Dimensions[1].Rationale = []string{""} }, false},
		"LongReason": {func(j *clarity.Judgement) {
			j.Dimensions[1].Rationale = []string{strings.Repeat("é", longest+1)}
		}, false},
		"NoFeedback":   {func(j *clarity.Judgement) { j.Feedback = "" }, false},
		"LongFeedback": {func(j *clarity.Judgement) { j.Feedback = strings.Repeat("é", longestFeedback+1) }, false},
		"NoModel":      {func(j *clarity.Judgement) { j.ModelID = "" }, false},
	} {
		judgement := profiletest.Attempt("ada", "1", noon).Evaluation.Judgement
		test.change(&judgement)
		if err := judgement.Check(); (err == nil) != test.ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
