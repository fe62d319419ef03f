// Package bedrock judges answers with a language model of Amazon Bedrock.
//
// The answers are data: they are strings of one JSON document in the message, and the system
// prompt says so. What a model replies is a judgement only if it fits exactly, so an
// answer that talks the model into something else changes scores within their bounds at most.
package bedrock

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
)

// maxTokens bounds a reply: eight dimensions with some sentences each need some 1,500 tokens.
const maxTokens = 4096

// system is the system prompt: the rubric, and the form of the reply.
//
//go:embed system.txt
var system string

// Evaluator is a [clarity.Evaluator].
type Evaluator struct{ client *converse.Client }

var _ clarity.Evaluator = (*Evaluator)(nil)

// Open returns the evaluator for the model that the function finds in its environment. An error
// names a variable that is missing.
func Open(environment kit.Environment) (*Evaluator, error) {
	client, err := converse.Open(environment)
	if err != nil {
		return nil, err
	}
	return &Evaluator{client: client}, nil
}

// Evaluate asks the model, which has to take a system prompt and a temperature.
func (e *Evaluator) Evaluate(ctx context.Context, scenario clarity.Scenario, answers []clarity.Answer) (judgement clarity.Judgement, err error) {
	var r reply
	err = e.client.Ask(ctx, converse.Question{System: system, Data: documentOf(scenario, answers), MaxTokens: maxTokens}, &r)
	if err == nil {
		judgement, err = r.judgement(e.client.ModelID())
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		err = &clarity.EvaluationError{Failure: clarity.Failure(converse.Kind(err)), Err: err}
	}
	return judgement, err
}

// document is the message: all that the model judges.
type document struct {
	Scenario struct {
		Title       string             `json:"title"`
		Description string             `json:"description"`
		Difficulty  clarity.Difficulty `json:"difficulty"`
	} `json:"scenario"`
	Answers []answered `json:"answers"`
}

type answered struct {
	Question        string              `json:"question"`
	TargetWordCount int                 `json:"targetWordCount"`
	FocusAreas      []clarity.Dimension `json:"focusAreas"`
	Answer          string              `json:"answer"`
}

func documentOf(scenario clarity.Scenario, answers []clarity.Answer) (d document) {
	d.Scenario.Title, d.Scenario.Description, d.Scenario.Difficulty = scenario.Title, scenario.Description, scenario.Difficulty
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
	Dimensions []clarity.DimensionScore `json:"dimensions"`
	Feedback   string                   `json:"feedback"`
}

// judgement is the reply with each dimension once, in the order of [clarity.Dimensions]. An error
// says what does not fit, without a part of the reply.
func (r reply) judgement(modelID string) (clarity.Judgement, error) {
	place := func(d clarity.DimensionScore) int { return slices.Index(clarity.Dimensions(), d.Name) }
	if slices.ContainsFunc(r.Dimensions, func(d clarity.DimensionScore) bool { return place(d) < 0 }) {
		return clarity.Judgement{}, fmt.Errorf("%w: it has a dimension of another name", converse.ErrUnusable)
	}
	slices.SortFunc(r.Dimensions, func(a, b clarity.DimensionScore) int { return cmp.Compare(place(a), place(b)) })
	j := clarity.Judgement{Dimensions: r.Dimensions, Feedback: r.Feedback, ModelID: modelID}
	if err := j.Check(); err != nil {
		return clarity.Judgement{}, fmt.Errorf("%w: it does not fit: %w", converse.ErrUnusable, err)
	}
	return j, nil
}
