package askahuman

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// responses reads all answers to a question, oldest first.
func (s *Service) responses(ctx context.Context, questionID string) ([]askahuman.Response, error) {
	responses := []askahuman.Response{}
	for r, err := range dynamo.Read[askahuman.Response](ctx, s.DB, "ListResponses",
		dynamo.Query{Values: []any{questionID}}) {
		if err != nil {
			return nil, err
		}
		r.QuestionID = questionID
		responses = append(responses, r)
	}
	sort.SliceStable(responses, func(i, j int) bool { return responses[i].CreatedAt.Before(responses[j].CreatedAt) })
	return responses, nil
}

// votes reads how many of the answers to a question that no operator has hidden chose each option.
func (s *Service) votes(ctx context.Context, question askahuman.Question) ([]int, error) {
	var responses []askahuman.Response
	for r, err := range dynamo.Read[askahuman.Response](ctx, s.DB, "ListSelectedOptions",
		dynamo.Query{Values: []any{question.ID}}) {
		if err != nil {
			return nil, err
		}
		responses = append(responses, r)
	}
	votes := make([]int, len(question.Options))
	for i, of := range summary(question, visible(responses)) {
		votes[i] = of.Count
	}
	return votes, nil
}

// visible are the answers that no operator has hidden.
func visible(responses []askahuman.Response) []askahuman.Response {
	return slices.DeleteFunc(slices.Clone(responses), func(r askahuman.Response) bool { return !r.HiddenAt.IsZero() })
}

// hasAnswered reports whether the person has answered the question.
func (s *Service) hasAnswered(ctx context.Context, questionID, personHash string) (bool, error) {
	var item askahuman.Response
	return s.DB.Get(ctx, "GetOwnResponse", &item, questionID, askahuman.ResponseID(questionID, personHash))
}

// answerState reads what a person's answer to a question depends on, but the recent answers, as it is now. It returns
// [askahuman.ErrQuestionNotFound].
func (s *Service) answerState(ctx context.Context, questionID, personHash string,
	now time.Time) (state known, err error) {
	var asked askahuman.Question
	var answer askahuman.Response
	var points askahuman.Stats
	var notified askahuman.PersonNotified
	found, err := s.DB.GetEach(ctx, "GetAnswerState",
		[][]any{{questionID}, {questionID, askahuman.ResponseID(questionID, personHash)}, {personHash},
			notifiedKey(personHash)},
		&asked, &answer, &points, &notified)
	if err != nil {
		return state, err
	}
	if state.question, err = readAt(asked, found[0], now); err != nil {
		return state, err
	}
	state.answered, state.stats = found[1], unstoredStats(points, personHash)
	if notified.QuestionID == questionID {
		state.notifiedAt = time.Time(notified.NotifiedAt)
	}
	return state, nil
}

// recentAnswers reads what a person answered since a moment, newest first, at most limit (0: all).
func (s *Service) recentAnswers(ctx context.Context, personHash string, since time.Time,
	limit int) ([]askahuman.Response, error) {
	var answers []askahuman.Response
	for answer, err := range dynamo.Read[askahuman.Response](ctx, s.DB, "ListRecentAnswers", dynamo.Query{
		Values: []any{personHash, dynamo.FormatTime(since)}, PageSize: limit,
	}) {
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
		if len(answers) == limit {
			break
		}
	}
	return answers, nil
}

// answerPlace is the place of an answer among those that its question needs. A single answer is both
// first and last.
type answerPlace struct{ first, last bool }

// nextPlace is the place of the next answer.
func nextPlace(q askahuman.Question) answerPlace {
	return answerPlace{first: q.CurrentResponses == 0, last: q.CurrentResponses >= q.RequiredResponses-1}
}

// submitResponse stores the answer, counts it on the question (closing it with the last one) and stores the stats, all
// or nothing. It returns how many answers the question has then at least, which is exact for the first and the last
// one. q is as it was read; stats are the new ones, with the Version that was read. It returns
// [askahuman.ErrAlreadyAnswered], [askahuman.ErrQuestionClosed] (also when the deadline has passed at r.CreatedAt), or
// [retry.ErrStale] when the stats changed meanwhile, or the question is no longer [askahuman.Question.UnderHalf].
func (s *Service) submitResponse(ctx context.Context, q askahuman.Question, r askahuman.Response,
	stats askahuman.Stats) (answers int, err error) {
	// The first answer is recorded as such, and the last closes the question; only the count shows
	// which these are. A write succeeds only at the counts of its place, so a wrong guess costs a
	// second try and never stores an answer too many.
	next, before := nextPlace(q), q.CurrentResponses
	for {
		err := s.submit(ctx, q, r, stats, next)
		refused, ok := errors.AsType[*dynamo.TransactionError](err)
		if !ok {
			return before + 1, err
		}
		if _, answered := refused.Failed(0); answered {
			return 0, askahuman.ErrAlreadyAnswered
		}
		if item, ok := refused.Failed(1); ok {
			if len(item) == 0 {
				return 0, askahuman.ErrQuestionNotFound
			}
			now, err := questionOf(item)
			if err != nil {
				return 0, err
			}
			_, statsChanged := refused.Failed(2)
			switch actual := nextPlace(now); {
			case !now.AnswerableAt(r.CreatedAt):
				return 0, askahuman.ErrQuestionClosed
			case !statsChanged && now.UnderHalf() == q.UnderHalf() && actual != next:
				next, before = actual, now.CurrentResponses
				continue
			}
		}
		return 0, retry.ErrStale
	}
}

func (s *Service) submit(ctx context.Context, q askahuman.Question, r askahuman.Response, stats askahuman.Stats,
	next answerPlace) error {
	below := q.RequiredResponses - 1
	if q.UnderHalf() {
		// The points depend on it.
		below = min(below, (q.RequiredResponses+1)/2)
	}
	count := dynamo.Name("current_responses").LessThan(expression.Value(below))
	after, changed := q, []string{"status"}
	after.Status = askahuman.StatusPartial
	switch {
	case next.last:
		after, changed = q.Ended(r.CreatedAt), ending
		count = dynamo.Equal("current_responses", q.RequiredResponses-1)
	case next.first:
		count = dynamo.Equal("current_responses", 0)
	}
	update, err := dynamo.Changes(s.stored(after), changed...)
	if err != nil {
		return err
	}
	update = update.Add(dynamo.Name("current_responses"), expression.Value(1))
	writes := []dynamo.Write{
		dynamo.Put("Responses", r, dynamo.Absent("response_id")),
		dynamo.Update("Questions", []any{q.ID}, update,
			answerable().And(dynamo.Name("deadline").GreaterThan(moment(r.CreatedAt)), count)),
		s.putStats(stats),
	}
	if next.last {
		writes = append(writes, returnPlace(q, r.CreatedAt))
	}
	return s.DB.Transact(ctx, "SubmitResponse", writes...)
}
