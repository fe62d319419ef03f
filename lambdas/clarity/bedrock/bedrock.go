// Package bedrock judges answers with a language model of Amazon Bedrock.
//
// The answers are data: they are strings of one JSON document in the message, and the system
// prompt says so. What a model replies is a judgement only if it fits exactly, so an
// answer that talks the model into something else changes scores within their bounds at most.
package bedrock

import (
	"context"
	_ "embed"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

// maxTokens bounds a reply: eight dimensions with some sentences each need some 1,500 tokens.
const maxTokens = 4096

// system is the system prompt: the rubric, and the form of the reply.
//
//go:embed system.txt
var system string

// Open returns the evaluator for the model that the function finds in its environment. The model has to take a system
// prompt and a temperature. An error names a variable that is missing.
func Open(environment kit.Environment) (service.Evaluator, error) {
	client, err := converse.Open(environment)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, scenario clarity.Scenario, answers []clarity.Answer) (clarity.Judgement, error) {
		var r reply
		if err := client.Ask(ctx, converse.Question{System: system, Data: write(scenario, answers),
			MaxTokens: maxTokens}, &r); err != nil {
			return clarity.Judgement{}, err
		}
		return r.judgement(client.ModelID())
	}, nil
}

// document is the message: all that the model judges.
type document struct {
	Scenario described  `json:"scenario"`
	Answers  []answered `json:"answers"`
}

type described struct {
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Difficulty  clarity.Difficulty `json:"difficulty"`
}

type answered struct {
	Question        string              `json:"question"`
	TargetWordCount int                 `json:"targetWordCount"`
	FocusAreas      []clarity.Dimension `json:"focusAreas"`
	Answer          string              `json:"answer"`
}

func write(scenario clarity.Scenario, answers []clarity.Answer) document {
	d := document{Scenario: described{scenario.Title, scenario.Description, scenario.Difficulty}}
	for _, a := range answers {
		one := answered{Question: a.QuestionText, Answer: a.Text}
		for _, q := range scenario.Questions {
			if q.ID == a.QuestionID {
				one.TargetWordCount, one.FocusAreas = q.TargetWordCount, q.FocusAreas
			}
		}
		d.Answers = append(d.Answers, one)
	}
	return d
}

// reply is the form of a reply.
type reply struct {
	Dimensions []struct {
		Name      clarity.Dimension `json:"name"`
		Score     int               `json:"score"`
		Rationale []string          `json:"rationale"`
	} `json:"dimensions"`
	Feedback string `json:"feedback"`
}

// judgement takes a reply that has each dimension once, in any order, and no other. It returns the
// judgement with the dimensions in the order of [clarity.Dimensions]. An error says what does not
// fit, without a part of the reply.
func (r reply) judgement(modelID string) (clarity.Judgement, error) {
	scores := map[clarity.Dimension]clarity.DimensionScore{}
	for _, d := range r.Dimensions {
		scores[d.Name] = clarity.DimensionScore{Name: d.Name, Score: d.Score, Rationale: d.Rationale}
	}
	j := clarity.Judgement{Feedback: r.Feedback, ModelID: modelID}
	for _, name := range clarity.Dimensions() {
		score, ok := scores[name]
		if !ok {
			return clarity.Judgement{}, model.Errorf(model.Unusable, "the reply has no dimension %s", name)
		}
		j.Dimensions = append(j.Dimensions, score)
	}
	if len(r.Dimensions) != len(j.Dimensions) {
		return clarity.Judgement{}, model.Errorf(model.Unusable, "the reply has %d dimensions, want %d",
			len(r.Dimensions), len(j.Dimensions))
	}
	if err := j.Check(); err != nil {
		return clarity.Judgement{}, model.Errorf(model.Unusable, "the reply does not fit: %w", err)
	}
	return j, nil
}
