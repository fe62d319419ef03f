// Package bedrock judges answers with a language model of Amazon Bedrock.
//
// The answers are data: they are strings of one JSON document in the message, and the system
// prompt says so. What a model replies is a judgement only if it fits exactly, so an
// answer that talks the model into something else changes scores within their bounds at most.
package bedrock

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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
func (e *Evaluator) Evaluate(ctx context.Context, scenario clarity.Scenario, answers []clarity.Answer) (clarity.Judgement, error) {
	message, err := write(scenario, answers)
	if err != nil {
		return clarity.Judgement{}, fmt.Errorf("writing the answers as JSON: %w", err)
	}
	var coldest float32
	reply, err := e.client.Converse(ctx, converse.Request{System: system, User: message, MaxTokens: maxTokens, Temperature: &coldest})
	switch {
	case errors.Is(err, context.Canceled):
		return clarity.Judgement{}, err
	case err != nil:
		return clarity.Judgement{}, &clarity.EvaluationError{Failure: failure(err), Err: err}
	}
	judgement, err := parse(reply, e.client.ModelID())
	if err != nil {
		return clarity.Judgement{}, &clarity.EvaluationError{Failure: clarity.Unusable, Err: err}
	}
	return judgement, nil
}

func failure(err error) clarity.Failure {
	for kind, failure := range map[error]clarity.Failure{
		converse.ErrThrottled: clarity.Throttled, converse.ErrTimedOut: clarity.TimedOut,
		converse.ErrDeclined: clarity.Declined, converse.ErrTruncated: clarity.Unusable,
	} {
		if errors.Is(err, kind) {
			return failure
		}
	}
	return clarity.Unavailable
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

// write encodes what the model judges as one line of JSON in which <, > and & are escaped, too: no
// answer can end its string, nor write a tag.
func write(scenario clarity.Scenario, answers []clarity.Answer) (string, error) {
	var d document
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
	text, err := json.Marshal(d)
	return string(text), err
}

// reply is the form of a reply. Pointers tell what is missing from what is zero.
type reply struct {
	Dimensions []struct {
		Name      clarity.Dimension `json:"name"`
		Score     *int              `json:"score"`
		Rationale []string          `json:"rationale"`
	} `json:"dimensions"`
	Feedback string `json:"feedback"`
}

// parse reads the reply of a model: exactly one JSON object, with each dimension once in any order,
// and nothing else. It returns the judgement with the dimensions in the order of
// [clarity.Dimensions]. An error says what does not fit, without a part of the reply.
func parse(text, modelID string) (clarity.Judgement, error) {
	var r reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return clarity.Judgement{}, errors.New("the reply is not one JSON object of the required form")
	}
	if err := checkMembers(text, len(r.Dimensions)); err != nil {
		return clarity.Judgement{}, err
	}
	scores := map[clarity.Dimension]clarity.DimensionScore{}
	for _, d := range r.Dimensions {
		if d.Score == nil {
			return clarity.Judgement{}, errors.New("the reply has a dimension without a score")
		}
		scores[d.Name] = clarity.DimensionScore{Name: d.Name, Score: *d.Score, Rationale: d.Rationale}
	}
	j := clarity.Judgement{Feedback: r.Feedback, ModelID: modelID}
	for _, name := range clarity.Dimensions() {
		score, ok := scores[name]
		if !ok {
			return clarity.Judgement{}, fmt.Errorf("the reply has no dimension %s", name)
		}
		j.Dimensions = append(j.Dimensions, score)
	}
	if len(r.Dimensions) != len(j.Dimensions) {
		return clarity.Judgement{}, fmt.Errorf("the reply has %d dimensions, want %d", len(r.Dimensions), len(j.Dimensions))
	}
	if err := j.Check(); err != nil {
		return clarity.Judgement{}, fmt.Errorf("the reply does not fit: %w", err)
	}
	return j, nil
}

// checkMembers refuses what encoding/json lets pass: an unknown member, a member twice, and a name
// in capitals. A reply has two members, and each of its dimensions has three.
func checkMembers(text string, dimensions int) error {
	var objects []bool // whether each value that has begun is an object
	members, isName := 0, false
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			objects = append(objects, token == json.Delim('{'))
		case json.Delim('}'), json.Delim(']'):
			objects = objects[:len(objects)-1]
		default:
			if isName {
				if !slices.Contains([]any{"dimensions", "name", "score", "rationale", "feedback"}, any(token)) {
					return errors.New("the reply has a member of another name")
				}
				members++
				isName = false
				continue
			}
		}
		isName = len(objects) > 0 && objects[len(objects)-1]
	}
	if want := 2 + 3*dimensions; members != want {
		return fmt.Errorf("the reply has %d members, want %d", members, want)
	}
	return nil
}
