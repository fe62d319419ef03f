package bedrock

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse/conversetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
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

// replies is the file of the replies that a model may give. The first reply is valid.
const replies = "testdata/replies.txt"

// A reply is a judgement, or it is of no use; the model decides scores within their bounds, and
// nothing else.
func TestReply(t *testing.T) {
	t.Parallel()
	conversetest.CheckReplies(t, replies, func(t *testing.T, c conversetest.Case,
		server *conversetest.Server) (any, error) {
		got, err := evaluator(t, server)(t.Context(), scenario, answers("because of x", "or else of y"))
		if err != nil && !cmp.Equal(got, clarity.Judgement{}) {
			t.Errorf("got %+v beside %v", got, err)
		}
		if text := strings.TrimSpace(c.Reply); err != nil && len(text) > 10 &&
			strings.Contains(err.Error(), text[len(text)-10:]) {
			t.Errorf("the error has a part of the reply: %v", err)
		}
		return got, err
	})
}

func evaluator(t *testing.T, s *conversetest.Server) service.Evaluator {
	t.Helper()
	return must.Get(Open(s.Environment(nil)))(t)
}

// The model gets each question with its answer, which is unchanged.
func TestAsked(t *testing.T) {
	t.Parallel()
	server := conversetest.Start(t, conversetest.Says(conversetest.Cases(t, replies)[0].Reply, "end_turn"))
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
	for _, c := range conversetest.Cases(f, replies) {
		f.Add(c.Reply)
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
