package askahuman

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Ask stores a question and returns it. Package httpapi has judged the ask, and [Service.CheckAsk] its webhook. It
// returns [askahuman.ErrQuotaExceeded] or [askahuman.ErrBlocked].
func (s *Service) Ask(ctx context.Context, agentID string, ask askahuman.Ask) (askahuman.Question, error) {
	question := ask.WithDefaults().Question(agentID, s.Clock.Now())
	if err := s.createQuestion(ctx, question); err != nil {
		return askahuman.Question{}, wrap(err, "create question")
	}
	return question, nil
}

// CheckAsk returns an [*validate.Error] if no webhook can go where the ask says.
func (s *Service) CheckAsk(ask askahuman.Ask) error {
	if ask.CallbackURL == nil {
		return nil
	}
	if s.CheckCallback == nil {
		return validate.Errorf("callback_url", validate.RuleConflict,
			"is given, but this environment sends no webhooks; leave it out, and read the question for its answers")
	}
	if err := s.CheckCallback(*ask.CallbackURL); err != nil {
		return validate.Errorf("callback_url", validate.RuleFormat, "%s", err)
	}
	return nil
}

// Read reads one of the agent's questions with its answers. Its Status is the one
// at this moment. It returns [askahuman.ErrQuestionNotFound], also for another agent's.
func (s *Service) Read(ctx context.Context, agentID, questionID string) (askahuman.QuestionWithResponses, error) {
	now := s.Clock.Now()
	if !wire.IsID(questionID) {
		return askahuman.QuestionWithResponses{}, askahuman.ErrQuestionNotFound
	}
	// Question and answers are two reads: an answer may come between them. They run at once. When
	// they disagree, they are repeated one after the other, the question first, so that no counted
	// answer is missing below.
	const attempts = 3
	var read askahuman.QuestionWithResponses
	for attempt := range attempts {
		group, ctx := errgroup.WithContext(ctx)
		if attempt > 0 {
			group.SetLimit(1)
		}
		group.Go(func() (err error) {
			read.Question, err = s.own(ctx, agentID, questionID, now)
			return err
		})
		group.Go(func() (err error) {
			read.Responses, err = s.responses(ctx, questionID)
			return wrap(err, "read the answers to question "+questionID)
		})
		if err := group.Wait(); err != nil {
			return askahuman.QuestionWithResponses{}, err
		}
		if len(read.Responses) == read.CurrentResponses {
			break
		}
	}
	return s.withResponses(ctx, read.Question, read.Responses, now)
}

// withResponses is a question as its agent sees it at a moment: without the answers that are hidden.
func (s *Service) withResponses(ctx context.Context, question askahuman.Question, responses []askahuman.Response,
	now time.Time) (askahuman.QuestionWithResponses, error) {
	delivery, err := s.delivery(ctx, question)
	if err != nil {
		return askahuman.QuestionWithResponses{}, err
	}
	shown := visible(responses)
	return askahuman.QuestionWithResponses{
		Question: question.At(now), Responses: shown, Hidden: len(responses) - len(shown), Webhook: delivery,
		Summary: summary(question, shown),
	}, nil
}

func summary(question askahuman.Question, responses []askahuman.Response) askahuman.Summary {
	if question.Type != askahuman.TypeMultipleChoice {
		return nil
	}
	votes := make(askahuman.Summary, len(question.Options))
	for i, option := range question.Options {
		votes[i].Option = option
	}
	for _, response := range responses {
		if i := response.SelectedOption; i != nil && *i >= 0 && *i < len(question.Options) {
			votes[*i].Count++
		}
	}
	return votes
}

// own reads a question as stored, if it is the agent's.
func (s *Service) own(ctx context.Context, agentID, questionID string, now time.Time) (askahuman.Question, error) {
	if !wire.IsID(questionID) {
		return askahuman.Question{}, askahuman.ErrQuestionNotFound
	}
	question, err := s.question(ctx, questionID, now)
	if err != nil {
		return askahuman.Question{}, wrap(err, "read question "+questionID)
	}
	if question.AgentID != agentID {
		return askahuman.Question{}, askahuman.ErrQuestionNotFound
	}
	return question, nil
}

// List reads a page of the agent's own questions, newest first, with their Status
// at this moment. status empty is any; a page has at most limit questions, and MaxListLimit;
// cursor is the next of the page before. next is empty when there are no more. It returns an
// [*validate.Error] for a cursor of another list.
func (s *Service) List(ctx context.Context, agentID string, status askahuman.Status, limit int,
	cursor string) (questions []askahuman.Question, next string, err error) {
	now := s.Clock.Now()
	questions, next, err = s.agentQuestions(ctx, agentID, status, min(limit, askahuman.MaxListLimit), cursor, now)
	for i := range questions {
		questions[i] = questions[i].At(now)
	}
	return questions, next, wrap(err, "list questions")
}

// Close ends one of the agent's questions early; its answers stay readable. A question that has
// ended already stays as it is. It returns [askahuman.ErrQuestionNotFound], also for another agent's.
func (s *Service) Close(ctx context.Context, agentID, questionID string) error {
	now := s.Clock.Now()
	question, err := s.own(ctx, agentID, questionID, now)
	if err != nil {
		return err
	}
	if !question.Answerable() {
		return nil
	}
	ended, err := s.endQuestion(ctx, question, now)
	if ended && s.Ended != nil {
		s.Ended(ctx, question.Ended(now).Status)
	}
	return wrap(err, "close question "+questionID)
}
