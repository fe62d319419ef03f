package dynamodb

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// response is an item of the Responses table. One to a multiple choice question has an option.
type response struct {
	askahuman.Response
	SelectedOption *int   `dynamodbav:"selected_option,omitempty"`
	ResponseTimeMS *int64 `dynamodbav:"response_time_ms,omitempty"`
	ExpiresAt      int64  `dynamodbav:"expires_at"`
}

func newResponse(r askahuman.Response) response {
	item := response{Response: r, ExpiresAt: dynamo.ExpiryAt(r.CreatedAt.Add(askahuman.KeepResponses))}
	if r.Type == askahuman.TypeMultipleChoice {
		item.SelectedOption = &r.SelectedOption
	}
	if r.ResponseTimeMS >= 0 {
		item.ResponseTimeMS = &r.ResponseTimeMS
	}
	return item
}

// domain returns the answer to a question.
func (item response) domain(questionID string) askahuman.Response {
	r := item.Response
	r.QuestionID, r.Type = questionID, askahuman.TypeText
	if item.SelectedOption != nil {
		r.Type, r.SelectedOption = askahuman.TypeMultipleChoice, *item.SelectedOption
	}
	return r
}

// Responses implements [askahuman.AgentStore].
func (s *Store) Responses(ctx context.Context, questionID string) ([]askahuman.Response, error) {
	var responses []askahuman.Response
	for r, err := range dynamo.Read[response](ctx, s.db, "ListResponses", dynamo.Query{Values: []any{questionID}}) {
		if err != nil {
			return nil, err
		}
		responses = append(responses, r.domain(questionID))
	}
	sort.SliceStable(responses, func(i, j int) bool { return responses[i].CreatedAt.Before(responses[j].CreatedAt) })
	return responses, nil
}

// HasAnswered implements [askahuman.PeopleStore].
func (s *Store) HasAnswered(ctx context.Context, questionID, personHash string) (bool, error) {
	var item response
	return s.db.Get(ctx, "GetOwnResponse", &item, questionID, askahuman.ResponseID(questionID, personHash))
}

// AnswerState implements [askahuman.PeopleStore].
func (s *Store) AnswerState(ctx context.Context, questionID, personHash string, now time.Time) (state askahuman.AnswerState, err error) {
	var asked question
	var answer response
	var points stats
	var notified guardNotified
	found, err := s.db.GetEach(ctx, "GetAnswerState",
		[][]any{{questionID}, {questionID, askahuman.ResponseID(questionID, personHash)}, {personHash}, notifiedKey(personHash)},
		&asked, &answer, &points, &notified)
	if err != nil {
		return state, err
	}
	if state.Question, err = asked.readAt(found[0], now); err != nil {
		return state, err
	}
	state.Answered, state.Stats = found[1], points.domain(personHash)
	if notified.QuestionID == questionID {
		state.NotifiedAt, err = parseTime(notified.NotifiedAt)
	}
	return state, err
}

// RecentAnswers implements [askahuman.PeopleStore].
func (s *Store) RecentAnswers(ctx context.Context, personHash string, since time.Time, limit int) ([]askahuman.RecentAnswer, error) {
	var answers []askahuman.RecentAnswer
	for answer, err := range dynamo.Read[askahuman.RecentAnswer](ctx, s.db, "ListRecentAnswers", dynamo.Query{
		Values: []any{personHash, formatTime(since)}, PageSize: limit,
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

// place is the place of an answer among those that its question needs. A single answer is both
// first and last.
type place struct{ first, last bool }

// nextPlace is the place of the next answer.
func nextPlace(q askahuman.Question) place {
	return place{first: q.CurrentResponses == 0, last: q.CurrentResponses >= q.RequiredResponses-1}
}

// SubmitResponse implements [askahuman.PeopleStore].
func (s *Store) SubmitResponse(ctx context.Context, q askahuman.Question, r askahuman.Response, stats askahuman.Stats) (askahuman.Submitted, error) {
	// The first answer is recorded as such, and the last closes the question; only the count shows
	// which these are. A write succeeds only at the counts of its place, so a wrong guess costs a
	// second try and never stores an answer too many.
	next := nextPlace(q)
	for {
		status, err := s.submit(ctx, q, r, stats, next)
		var refused *dynamo.TransactionError
		if err == nil {
			return askahuman.Submitted{Status: status, First: next.first}, nil
		}
		if !errors.As(err, &refused) {
			return askahuman.Submitted{}, err
		}
		if _, answered := refused.Failed(0); answered {
			return askahuman.Submitted{}, askahuman.ErrAlreadyAnswered
		}
		if item, ok := refused.Failed(1); ok {
			if len(item) == 0 {
				return askahuman.Submitted{}, askahuman.ErrQuestionNotFound
			}
			now, err := questionOf(item)
			if err != nil {
				return askahuman.Submitted{}, err
			}
			_, statsChanged := refused.Failed(2)
			switch actual := nextPlace(now); {
			case !now.AnswerableAt(r.CreatedAt):
				return askahuman.Submitted{}, askahuman.ErrQuestionClosed
			case !statsChanged && now.UnderHalf() == q.UnderHalf() && actual != next:
				next = actual
				continue
			}
		}
		return askahuman.Submitted{}, retry.ErrStale
	}
}

func (s *Store) submit(ctx context.Context, q askahuman.Question, r askahuman.Response, stats askahuman.Stats, next place) (askahuman.Status, error) {
	status := askahuman.StatusPartial
	update := expression.Add(dynamo.Name("current_responses"), expression.Value(1))
	below := q.RequiredResponses - 1
	if q.UnderHalf() {
		// The points depend on it.
		below = min(below, (q.RequiredResponses+1)/2)
	}
	count := dynamo.Name("current_responses").LessThan(expression.Value(below))
	switch {
	case next.last:
		status = askahuman.StatusClosed
		update = update.Set(dynamo.Name("closed_at"), expression.Value(formatTime(r.CreatedAt))).
			Set(dynamo.Name("expires_at"), expression.Value(dynamo.ExpiryAt(r.CreatedAt.Add(askahuman.KeepClosed)))).
			Remove(dynamo.Name("due")).Remove(dynamo.Name("due_at"))
		count = dynamo.Equal("current_responses", q.RequiredResponses-1)
	case next.first:
		count = dynamo.Equal("current_responses", 0)
	}
	update = update.Set(dynamo.Name("status"), expression.Value(s.shards.key(string(status), q.ID)))
	unchanged := dynamo.Absent("fingerprint_hash")
	if stats.Version > 0 {
		unchanged = dynamo.Equal("version", stats.Version)
	}
	writes := []dynamo.Write{
		dynamo.Put("Responses", newResponse(r), dynamo.Absent("response_id")),
		dynamo.Update("Questions", []any{q.ID}, update,
			answerable().And(dynamo.Name("deadline").GreaterThan(expression.Value(formatTime(r.CreatedAt))), count)),
		dynamo.Put("UserStats", s.newStats(stats), unchanged),
	}
	if next.last {
		writes = append(writes, returnPlace(q, r.CreatedAt))
	}
	return status, s.db.Transact(ctx, "SubmitResponse", writes...)
}
