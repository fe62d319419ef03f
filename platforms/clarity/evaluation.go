package clarity

import (
	"errors"
	"fmt"
	"math"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// SchemaVersion is the schemaVersion of every item of the origin's tables.
const SchemaVersion = "1.0"

const (
	// MinAnswerLength and MaxAnswerLength bound an answer of a completed attempt, in characters. Ten answers of the
	// greatest length fit into an item in any script.
	MinAnswerLength, MaxAnswerLength = 10, 5000
	// MaxDurationSeconds is a day.
	MaxDurationSeconds = 24 * 60 * 60
	// DefaultEvaluationsPerDay is how many evaluations of a user may begin on a day unless an operator says otherwise.
	DefaultEvaluationsPerDay = 20
	// DefaultPageSize is how many attempts or profiles a page has unless the request says otherwise.
	DefaultPageSize = 20
	// MaxPageSize limits the attempts or profiles of a page.
	MaxPageSize = 100
)

// Dimension is one of the eight dimensions of critical thinking.
type Dimension string

// The dimensions.
const (
	ClarityOfThought Dimension = "clarity"
	Relevance        Dimension = "relevance"
	Logic            Dimension = "logic"
	Evidence         Dimension = "evidence"
	Assumptions      Dimension = "assumptions"
	Alternatives     Dimension = "alternatives"
	Quantitative     Dimension = "quantitative-reasoning"
	Humility         Dimension = "humility-uncertainty"
)

// Dimensions returns all dimensions, in the order of every evaluation and profile.
func Dimensions() []Dimension {
	return []Dimension{ClarityOfThought, Relevance, Logic, Evidence, Assumptions, Alternatives, Quantitative, Humility}
}

// weights are those of the dimensions in the overall score, in tenths.
var weights = map[Dimension]int{ClarityOfThought: 12, Relevance: 10, Logic: 15, Evidence: 13, Assumptions: 12,
	Alternatives: 12, Quantitative: 8, Humility: 10}

// MaxScore is the highest score of a dimension; the lowest is 0.
const MaxScore = 4

// Question is a question of a scenario.
type Question struct {
	ID   string `json:"questionId" dynamodbav:"questionId" example:"q1"`
	Text string `json:"text" dynamodbav:"text" example:"What are the key assumptions in this argument?"`
	// Type is "short" or "long".
	Type            string      `json:"type" dynamodbav:"type" enum:"short,long"`
	TargetWordCount int         `json:"targetWordCount" dynamodbav:"targetWordCount" minimum:"1" example:"150"`
	FocusAreas      []Dimension `json:"focusAreas" dynamodbav:"focusAreas" nullable:"false" doc:"The dimensions that the question trains, 1 to 3."`
}

// Answer is an answer to a question.
type Answer struct {
	QuestionID   string `json:"questionId" dynamodbav:"questionId"`
	QuestionText string `json:"questionText" dynamodbav:"questionText"`
	Text         string `json:"answer" dynamodbav:"answer"`
	WordCount    int    `json:"wordCount" dynamodbav:"wordCount"`
}

// DimensionScore is the judgement of one dimension.
type DimensionScore struct {
	Name Dimension `json:"name" dynamodbav:"name"`
	// Score is 0 to [MaxScore].
	Score int `json:"score" dynamodbav:"score" minimum:"0" maximum:"4"`
	// Rationale are 1 to 5 reasons, each at most [MaxReasonLength] characters.
	Rationale []string `json:"rationale" dynamodbav:"rationale" nullable:"false"`
	// Uncertain says that the evaluator could not judge the dimension.
	Uncertain bool `json:"uncertain,omitempty" dynamodbav:"uncertain,omitempty" doc:"Whether the evaluator saw too little of the dimension to judge it: show the score as unknown rather than as a mark. Absent: false."`
}

const (
	// MaxReasons limits the reasons of a score. It has at least one.
	MaxReasons = 5
	// MaxReasonLength bounds a reason, in characters.
	MaxReasonLength = 500
	// MaxFeedbackLength bounds the feedback, in characters. It has at least one character.
	MaxFeedbackLength = 2000
)

// Judgement is the result that an evaluator gives for an attempt's answers.
type Judgement struct {
	// Dimensions has each of [Dimensions] once, in their order.
	Dimensions []DimensionScore `json:"dimensions" dynamodbav:"dimensions" nullable:"false"`
	// Feedback is a text for the user, never empty.
	Feedback string `json:"feedback" dynamodbav:"feedback"`
	// ModelID names the judge, such as "onesynth.rubric-1" or the id of a model of Amazon Bedrock.
	ModelID string `json:"modelId" dynamodbav:"modelId" example:"onesynth.rubric-1"`
}

// Evaluation is a judgement with its overall score and its time, also on the wire.
type Evaluation struct {
	OverallScore int `json:"overallScore" dynamodbav:"overallScore" minimum:"0" maximum:"100" doc:"The weighted mean of the scores, from 0 to 100."`
	Judgement
	// EvaluatedAt is to the millisecond, in UTC.
	EvaluatedAt wire.Time `json:"evaluatedAt" dynamodbav:"evaluatedAt" format:"date-time"`
}

// Check returns an error for the first rule that the judgement breaks, or nil.
func (j Judgement) Check() error {
	if len(j.Dimensions) != len(Dimensions()) {
		return fmt.Errorf("got %d dimensions, want %d", len(j.Dimensions), len(Dimensions()))
	}
	for i, d := range Dimensions() {
		judged := j.Dimensions[i]
		if judged.Name != d {
			return fmt.Errorf("dimension %d: got %.40q, want %q", i+1, judged.Name, d)
		}
		if judged.Score < 0 || judged.Score > MaxScore {
			return fmt.Errorf("%s: got score %d, want 0 to %d", d, judged.Score, MaxScore)
		}
		if n := len(judged.Rationale); n < 1 || n > MaxReasons {
			return fmt.Errorf("%s: got %d reasons, want 1 to %d", d, n, MaxReasons)
		}
		for _, reason := range judged.Rationale {
			if err := checkText(reason, MaxReasonLength); err != nil {
				return fmt.Errorf("%s: reason: %w", d, err)
			}
		}
	}
	if err := checkText(j.Feedback, MaxFeedbackLength); err != nil {
		return fmt.Errorf("feedback: %w", err)
	}
	if j.ModelID == "" {
		return errors.New("modelId: got none")
	}
	return nil
}

func checkText(text string, most int) error {
	if n := len([]rune(text)); n < 1 || n > most {
		return fmt.Errorf("got %d characters, want 1 to %d", n, most)
	}
	return nil
}

// OverallScore returns round(weighted mean × 25): 0 to 100. Evaluators do not give it themselves.
func (j Judgement) OverallScore() int {
	sum, total := 0, 0
	for _, d := range j.Dimensions {
		sum, total = sum+weights[d.Name]*d.Score, total+weights[d.Name]
	}
	return int(math.Round(float64(sum) * 25 / float64(max(total, 1))))
}
