package bedrock

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse/conversetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

var scenario = clarity.Scenario{
	ID: "s", Title: "Bike lanes", Description: "A city counts cyclists.", Difficulty: clarity.Beginner,
	Questions: []clarity.Question{
		{ID: "q1", Text: "What does the count show?", Type: "short", TargetWordCount: 80,
			FocusAreas: []clarity.Dimension{clarity.Evidence}},
		{ID: "q2", Text: "What else could explain it?", Type: "long", TargetWordCount: 120,
			FocusAreas: []clarity.Dimension{clarity.Alternatives, clarity.Logic}},
	},
}

// answers are those texts as answers to the questions of the scenario.
func answers(texts ...string) []clarity.Answer {
	var all []clarity.Answer
	for i, text := range texts {
		q := scenario.Questions[i]
		all = append(all, clarity.Answer{QuestionID: q.ID, QuestionText: q.Text, Text: text})
	}
	return all
}

// dimension is one of a reply, as a model writes it.
type dimension map[string]any

// written is a right reply after a change.
func written(change func(dimensions []dimension) map[string]any) string {
	var all []dimension
	for i, name := range clarity.Dimensions() {
		all = append(all, dimension{"name": name, "score": i % 5, "rationale": []string{"It says so."}})
	}
	reply := map[string]any{"dimensions": all, "feedback": "Go on."}
	if change != nil {
		reply = change(all)
	}
	text, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// with is a reply whose fourth dimension, evidence, has that member.
func with(member string, value any) string {
	return written(func(all []dimension) map[string]any {
		all[3][member] = value
		return map[string]any{"dimensions": all, "feedback": "Go on."}
	})
}

func judged(score int, rationale ...string) clarity.Judgement {
	j := clarity.Judgement{Feedback: "Go on.", ModelID: conversetest.Model}
	for i, name := range clarity.Dimensions() {
		j.Dimensions = append(j.Dimensions, clarity.DimensionScore{Name: name, Score: i % 5,
			Rationale: []string{"It says so."}})
	}
	j.Dimensions[3].Score, j.Dimensions[3].Rationale = score, rationale
	return j
}

// replies are what a model may say, and whether it is a judgement. They are the seeds of the fuzz
// test, too.
func replies() map[string]struct {
	text string
	want *clarity.Judgement
} {
	right := judged(3, "It says so.")
	full := judged(3, "1", "2", "3", "4", strings.Repeat("é", clarity.MaxReasonLength))
	return map[string]struct {
		text string
		want *clarity.Judgement
	}{
		"OK": {written(nil), &right},
		"OKOtherOrder": {written(func(all []dimension) map[string]any {
			slices.Reverse(all)
			return map[string]any{"dimensions": all, "feedback": "Go on."}
		}), &right},
		"OKFiveReasons":   {with("rationale", full.Dimensions[3].Rationale), &full},
		"ErrTextBefore":   {"Here it is: " + written(nil), nil},
		"ErrOverallScore": {strings.Replace(written(nil), `"feedback"`, `"overallScore":100,"feedback"`, 1), nil},
		"ErrMember":       {with("weight", 10), nil},
		"ErrHigh":         {with("score", 5), nil},
		"ErrFraction":     {with("score", 2.5), nil},
		"ErrOtherName":    {with("name", "charm"), nil},
		"ErrDouble":       {with("name", clarity.ClarityOfThought), nil},
		"ErrMissing": {written(func(all []dimension) map[string]any {
			return map[string]any{"dimensions": all[1:], "feedback": "Go on."}
		}), nil},
		"ErrExtra": {written(func(all []dimension) map[string]any {
			return map[string]any{"dimensions": append(all,
				dimension{"name": "charm", "score": 4, "rationale": []string{"It is."}}), "feedback": "Go on."}
		}), nil},
		"ErrExtraTwice": {written(func(all []dimension) map[string]any {
			return map[string]any{"dimensions": append(all, all[0]), "feedback": "Go on."}
		}), nil},
	}
}

// A reply is a judgement, or it is of no use; the model decides scores within their bounds, and
// nothing else.
func TestReply(t *testing.T) {
	t.Parallel()
	for name, test := range replies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := conversetest.Start(t, conversetest.Says(test.text, "end_turn"))
			got, err := evaluator(t, server)(t.Context(), scenario, answers("because of x", "or else of y"))
			if test.want != nil {
				if diff := cmp.Diff(*test.want, got); err != nil || diff != "" {
					t.Errorf("got %v (-want +got):\n%s", err, diff)
				}
				return
			}
			failed, _ := errors.AsType[*model.Error](err)
			if failed == nil || failed.Failure != model.Unusable || !cmp.Equal(got, clarity.Judgement{}) {
				t.Fatalf("got %+v, %v, want an error that it is unusable", got, err)
			}
			if text := strings.TrimSpace(test.text); len(text) > 10 &&
				strings.Contains(err.Error(), text[len(text)-10:]) {
				t.Errorf("the error has a part of the reply: %v", err)
			}
		})
	}
}

func evaluator(t *testing.T, s *conversetest.Server) service.Evaluator {
	t.Helper()
	return must.Get(Open(s.Environment(nil)))(t)
}

// The model gets each question with its answer, which is unchanged.
func TestAsked(t *testing.T) {
	t.Parallel()
	server := conversetest.Start(t, conversetest.Says(written(nil), "end_turn"))
	must.Get(evaluator(t, server)(t.Context(), scenario, answers(`first "}`, "second")))(t)
	want := document{Answers: []answered{
		{Question: "What does the count show?", TargetWordCount: 80,
			FocusAreas: []clarity.Dimension{clarity.Evidence}, Answer: `first "}`},
		{Question: "What else could explain it?", TargetWordCount: 120,
			FocusAreas: []clarity.Dimension{clarity.Alternatives, clarity.Logic}, Answer: "second"},
	}}
	want.Scenario.Title, want.Scenario.Description, want.Scenario.Difficulty = scenario.Title, scenario.Description,
		scenario.Difficulty
	if err := server.CheckAsked(converse.Question{System: system, Data: want, MaxTokens: 4096}); err != nil {
		t.Error(err)
	}
}

// Whatever a model replies, a judgement is whole and within its bounds, and its overall score, too.
func FuzzReply(f *testing.F) {
	for _, r := range replies() {
		f.Add(r.text)
	}
	parse := func(text string) (clarity.Judgement, error) {
		var r reply
		if err := converse.Decode(text, &r); err != nil {
			return clarity.Judgement{}, err
		}
		return r.judgement(conversetest.Model)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := parse(text)
		if err != nil {
			if !cmp.Equal(j, clarity.Judgement{}) {
				t.Errorf("got a judgement beside %v", err)
			}
			return
		}
		if err := j.Check(); err != nil {
			t.Errorf("got a judgement that does not fit: %v", err)
		}
		if score := j.OverallScore(); score < 0 || score > 100 {
			t.Errorf("got the overall score %d", score)
		}
		again := must.Get(json.Marshal(map[string]any{"dimensions": j.Dimensions, "feedback": j.Feedback}))(t)
		if same, err := parse(string(again)); err != nil || !cmp.Equal(j, same) {
			t.Errorf("the judgement is another one when it is read again: %v", err)
		}
	})
}
