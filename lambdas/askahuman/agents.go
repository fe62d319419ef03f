package askahuman

import (
	"context"
	"time"
)

// AgentStore is the storage that [Agents] needs.
type AgentStore interface {
	// CreateQuestion stores a new question together with its place in the agent's quota, all or
	// nothing. Questions that take no answers when the new one is created use no place, even if
	// nothing has marked them yet, so the agent need not wait for the schedule. It returns
	// [ErrQuotaExceeded], or [ErrBlocked] for an agent that an operator has blocked.
	CreateQuestion(ctx context.Context, question Question) error
	// Question reads one question as it is now. It returns [ErrQuestionNotFound],
	// also when the retention has ended.
	Question(ctx context.Context, id string, now time.Time) (Question, error)
	// Responses reads all answers to a question, oldest first.
	Responses(ctx context.Context, questionID string) ([]Response, error)
	// Delivery reads how far the webhook of an ended question is; the zero value: no attempt has ended.
	Delivery(ctx context.Context, questionID string) (Delivery, error)
	// AgentQuestions reads up to limit of an agent's questions after a position,
	// newest first. status is the status at now; empty means any. more says
	// whether there may be further ones; next is where they begin.
	AgentQuestions(ctx context.Context, agentID string, status Status, limit int, after Position, now time.Time) (questions []Question, next Position, more bool, err error)
	// EndQuestion closes an open or partial question (CLOSED), or marks an
	// overdue one (EXPIRED), sets its retention and gives back its place in the
	// quota. It reports false when the question had ended already.
	EndQuestion(ctx context.Context, question Question, status Status, now time.Time) (ended bool, err error)
}
