package askahuman

import (
	"context"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

const (
	// MaxWait is the longest that a read waits for news of a question.
	MaxWait = 20 * time.Second
	// waitStep is the time between two looks at a question.
	waitStep = time.Second
	// lastLook is what a wait leaves of its context's time for the last look and the answer.
	lastLook = time.Second
)

// Wait is what [Service.ReadNews] waits for.
type Wait struct {
	// Longest is how long it waits at most, in whole seconds up to [MaxWait]. It waits for a shorter
	// time if its context ends sooner.
	Longest time.Duration
	// Seen is how many answers are no news. Nil: as many as there are when the wait begins.
	Seen *int
}

// ReadNews reads one of the agent's questions with its answers, as [Service.Read] does, once there is
// news: it has ended, or has more answers than were seen. Without news it returns the question as it
// is when the wait ends. While it waits, it reads the question alone, once a second. waited says for
// how long it waited for news, in whole seconds; it also says so with an error.
//
// It returns [askahuman.ErrQuestionNotFound], also for another agent's question.
func (s *Service) ReadNews(ctx context.Context, agentID, questionID string,
	wait Wait) (read askahuman.QuestionWithResponses, waited time.Duration, err error) {
	began := s.Clock.Now()
	question, err := s.own(ctx, agentID, questionID, began)
	if err != nil {
		return read, 0, err
	}
	seen, now := askahuman.Or(wait.Seen, question.CurrentResponses), began
	for !isNews(question, seen, now) {
		// Looks are at whole seconds from the beginning, so that one that takes long puts no others off.
		elapsed := s.Clock.Now().Sub(began)
		next := max(waited, elapsed.Truncate(waitStep)) + waitStep
		if next > min(wait.Longest, MaxWait) || endsBefore(ctx, next-elapsed+lastLook) {
			break
		}
		if err := s.pause(ctx, next-elapsed); err != nil {
			return read, waited, fmt.Errorf("wait for news of question %s: %w", questionID, err)
		}
		waited, now = next, s.Clock.Now()
		if question, err = s.own(ctx, agentID, questionID, now); err != nil {
			return read, waited, err
		}
	}
	read, err = s.complete(ctx, agentID, question, now)
	return read, waited, err
}

// isNews reports whether an agent that has seen that many answers learns something from the question.
func isNews(q askahuman.Question, seen int, now time.Time) bool {
	return !q.AnswerableAt(now) || q.CurrentResponses > seen
}

// complete reads the answers to a question that was just read.
func (s *Service) complete(ctx context.Context, agentID string, question askahuman.Question,
	now time.Time) (askahuman.QuestionWithResponses, error) {
	responses, err := s.responses(ctx, question.ID)
	if err != nil {
		return askahuman.QuestionWithResponses{}, wrap(err, "read the answers to question "+question.ID)
	}
	if len(responses) != question.CurrentResponses {
		// An answer came in between.
		return s.Read(ctx, agentID, question.ID)
	}
	return s.withResponses(ctx, question, responses, now)
}

func (s *Service) pause(ctx context.Context, d time.Duration) error {
	if s.Pause != nil {
		return s.Pause(ctx, d)
	}
	return retry.Pause(ctx, d)
}

// endsBefore reports whether the context ends within that time.
func endsBefore(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < d
}
