package dynamodb

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

var _ lingible.QuizStore = (*Store)(nil)

const (
	quizKind    = "QUIZ_SESSION#"
	quizDayKind = "QUIZ_DAILY#"
)

// quizItem is a quiz as stored.
type quizItem struct {
	key
	lingible.QuizSession
	ExpiresAt int64 `dynamodbav:"ttl"`
}

// QuizSession implements [lingible.QuizStore].
func (s *Store) QuizSession(ctx context.Context, user, id string) (quiz lingible.QuizSession, found bool, err error) {
	found, err = s.db.Get(ctx, "GetQuizSession", &quiz, userKey(user), quizKind+id)
	return quiz, found, err
}

// LatestQuiz implements [lingible.QuizStore].
func (s *Store) LatestQuiz(ctx context.Context, user string) (lingible.QuizSession, bool, error) {
	return first[lingible.QuizSession](ctx, s, "GetLatestQuizSession", userKey(user), quizKind)
}

// putQuiz stores a quiz in place of its version before.
func putQuiz(user string, quiz lingible.QuizSession) dynamo.Write {
	asRead := dynamo.Absent("version")
	if quiz.Version > 1 {
		asRead = dynamo.Equal("version", quiz.Version-1)
	}
	item := quizItem{key{userKey(user), quizKind + quiz.ID}, quiz, dynamo.ExpiryAt(quiz.LastActivityAt.Add(lingible.QuizAge))}
	return dynamo.Put(users, item, asRead)
}

// AskQuestion implements [lingible.QuizStore].
func (s *Store) AskQuestion(ctx context.Context, usage lingible.Usage, quiz lingible.QuizSession, limit int) (asked bool, err error) {
	asRead := dynamo.Absent("quiz_session_id")
	if usage.QuizSessionID != "" {
		asRead = dynamo.Equal("quiz_session_id", usage.QuizSessionID)
	}
	allowed := expression.ConditionBuilder{}
	if limit > 0 {
		allowed = dynamo.Absent("quiz_count").Or(dynamo.Name("quiz_count").LessThan(expression.Value(limit)))
	}
	counted := counting(lingible.QuizTotals{Questions: 1}).
		Set(dynamo.Name("ttl"), expression.Value(dynamo.ExpiryAt(quiz.Question.AskedAt.Add(lingible.QuizDayAge))))
	err = s.db.Transact(ctx, "AskQuestion",
		dynamo.Update(users, usageKey(usage.UserID).values(),
			expression.Set(dynamo.Name("quiz_session_id"), expression.Value(quiz.ID)), dynamo.Equal("tier", usage.Tier).And(asRead)),
		dynamo.Update(users, []any{userKey(usage.UserID), quizDayKind + quiz.Question.Day}, counted, allowed),
		putQuiz(usage.UserID, quiz))
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		_, otherUsage := refused.Failed(0)
		_, otherQuiz := refused.Failed(2)
		if !otherUsage && !otherQuiz {
			return false, nil
		}
	}
	return err == nil, dynamo.UnlessStale(err)
}

// counting adds to the numbers of a day.
func counting(more lingible.QuizTotals) expression.UpdateBuilder {
	return expression.Add(dynamo.Name("quiz_count"), expression.Value(more.Questions)).
		Add(dynamo.Name("correct_count"), expression.Value(more.Correct)).
		Add(dynamo.Name("total_score"), expression.Value(more.Points)).
		Add(dynamo.Name("total_possible"), expression.Value(more.Possible))
}

// AnswerQuestion implements [lingible.QuizStore]. The day is there from the question on; it is not
// made again after it was deleted with the account.
func (s *Store) AnswerQuestion(ctx context.Context, user string, quiz lingible.QuizSession) error {
	counted := lingible.QuizTotals{Points: quiz.Question.Answer.Points, Possible: lingible.QuizPoints}
	if quiz.Question.Answer.IsCorrect {
		counted.Correct = 1
	}
	return dynamo.UnlessStale(s.db.Transact(ctx, "AnswerQuestion",
		putQuiz(user, quiz),
		dynamo.Update(users, []any{userKey(user), quizDayKind + quiz.Question.Day}, counting(counted), expression.AttributeExists(dynamo.Name("quiz_count")))))
}

// EndQuiz implements [lingible.QuizStore].
func (s *Store) EndQuiz(ctx context.Context, user string, quiz lingible.QuizSession) error {
	return dynamo.UnlessStale(s.db.Transact(ctx, "EndQuiz",
		putQuiz(user, quiz),
		dynamo.Update(users, usageKey(user).values(), expression.Remove(dynamo.Name("quiz_session_id")), dynamo.Equal("quiz_session_id", quiz.ID))))
}

// QuizDays implements [lingible.QuizStore].
func (s *Store) QuizDays(ctx context.Context, user string, most int) (days []lingible.QuizDay, err error) {
	type quizDay struct {
		key
		lingible.QuizDay
	}
	for day, err := range dynamo.Read[quizDay](ctx, s.db, "ListQuizDays", dynamo.Query{Values: []any{userKey(user), quizDayKind}, PageSize: most}) {
		if err != nil {
			return nil, err
		}
		day.Date = strings.TrimPrefix(day.SK, quizDayKind)
		if days = append(days, day.QuizDay); len(days) == most {
			break
		}
	}
	return days, nil
}

// WrongAnswers implements [lingible.QuizStore].
func (s *Store) WrongAnswers(ctx context.Context, category lingible.Category) ([]string, error) {
	var item wrongAnswersItem
	_, err := s.db.Get(ctx, "GetWrongAnswers", &item, wrongAnswersKey(category).values()...)
	return item.WrongAnswers, err
}
