package askahuman

import (
	"context"
	"errors"
	"time"
)

// Agents is the side of the platform that AI agents see: they ask, read the
// answers, list and close their own questions.
type Agents struct {
	// Store keeps the questions and answers.
	Store AgentStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Ask is a question as an agent asks it.
type Ask struct {
	// Prompt is the question, MinPromptLength to MaxPromptLength characters.
	Prompt string
	// Type is how it is answered.
	Type QuestionType
	// Options are what a multiple choice question offers.
	Options []string
	// Audience are tags of [Audiences]; empty is general.
	Audience []string
	// Responses is how many answers are wanted; 0 is DefaultResponses.
	Responses int
	// Timeout is how long answers are taken; 0 is DefaultTimeout.
	Timeout time.Duration
	// IdempotencyKey makes a repeated ask return the question of the first one;
	// empty: none.
	IdempotencyKey string
}

// QuestionWithResponses is a question with its answers.
type QuestionWithResponses struct {
	Question
	// Responses are the answers, oldest first.
	Responses []Response
	// Summary is how many chose each option of a multiple choice question, by the
	// option's text; options that nobody chose are 0. It is nil for a text question.
	Summary map[string]int
}

var errSkeleton = errors.New("not built yet")

// Ask asks.
func (a *Agents) Ask(ctx context.Context, agentID string, ask Ask) (Question, error) {
	return Question{}, errSkeleton
}

// Read reads.
func (a *Agents) Read(ctx context.Context, agentID, questionID string) (QuestionWithResponses, error) {
	return QuestionWithResponses{}, errSkeleton
}

// List lists.
func (a *Agents) List(ctx context.Context, agentID string, status Status, limit int, cursor string) (questions []Question, next string, err error) {
	return nil, "", errSkeleton
}

// Close closes.
func (a *Agents) Close(ctx context.Context, agentID, questionID string) error {
	return errSkeleton
}
