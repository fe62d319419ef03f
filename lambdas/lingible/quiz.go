package lingible

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

const (
	// options is how many options a question has.
	options = 4
	// termsAge is how long the terms of the quiz are not read again.
	termsAge = 3 * time.Minute
)

// AskQuestion returns the next question of the caller's active quiz, or begins one. A question without
// an answer is returned again as it is, even if another kind is asked for. Difficulty and category may be empty:
// all. It returns [lingible.ErrUserDeleted], [lingible.ErrNoQuestion], [lingible.ErrNoTerms], or a
// [*lingible.UsageError] when the day's questions are used up.
func (s *Service) AskQuestion(ctx context.Context, caller Caller, difficulty lingible.Difficulty,
	category lingible.Category) (question lingible.QuizQuestion, err error) {
	err = retry.Do(ctx, func() error {
		var latest lingible.QuizSession
		usage, err := s.usageAfter(ctx, caller, func() (err error) {
			latest, _, err = s.latestQuiz(ctx, caller.ID)
			return err
		})
		if err != nil {
			return err
		}
		now := s.Calendar.Clock.Now()
		quiz, err := s.activeQuiz(ctx, usage, latest, now)
		switch {
		case err != nil && !errors.Is(err, lingible.ErrNoQuiz):
			return err
		case err != nil || quiz.Status == lingible.QuizEnded:
			// Ids in the order of time let the latest quiz be read before it is known which one is active.
			quiz = lingible.QuizSession{QuizProgress: lingible.QuizProgress{ID: uuid.Must(uuid.NewV7()).String(),
				Status: lingible.QuizActive, StartedAt: now}}
		case quiz.Question.Answer == nil:
			question = quiz.Question.QuizQuestion
			return nil
		}
		if quiz.Question, err = s.choose(ctx, quiz, difficulty, category); err != nil {
			return err
		}
		quiz.Question.AskedAt, quiz.Question.Day, quiz.LastActivityAt = now, s.Calendar.Day(now), now
		quiz.Asked = append(quiz.Asked, lingible.Slug(quiz.Question.Term))
		quiz.Questions++
		quiz.Version++
		limit := usage.Tier.Limits().DailyQuestions
		asked, err := s.storeQuestion(ctx, usage, quiz, limit)
		if err == nil && !asked {
			err = &lingible.UsageError{What: "questions of the quiz a day", Limit: limit,
				Until: s.Calendar.NextMidnight(now)}
		}
		question = quiz.Question.QuizQuestion
		return err
	})
	return question, err
}

// choose makes a question about a term that the quiz has not asked about.
func (s *Service) choose(ctx context.Context, quiz lingible.QuizSession, difficulty lingible.Difficulty,
	category lingible.Category) (question lingible.AskedQuestion, err error) {
	count, term, err := s.Lexicon.QuizTerms(ctx, difficulty, category)
	if err != nil {
		return question, err
	}
	if count == 0 && difficulty == "" && category == "" {
		return question, lingible.ErrNoTerms
	}
	random := s.random()
	for i := range shuffled(count, random) {
		entry, err := term(i)
		if err != nil {
			return question, err
		}
		if slices.Contains(quiz.Asked, entry.Slug()) {
			continue
		}
		wrong, err := s.wrongAnswers(ctx, entry.QuizCategory)
		if err != nil {
			return question, err
		}
		synonyms, err := s.Lexicon.Synonyms(ctx, entry)
		if err != nil {
			return question, err
		}
		if question, ok := newQuestion(quiz.ID, entry, wrongFor(append(synonyms, entry), wrong), random); ok {
			return question, nil
		}
	}
	return question, lingible.ErrNoQuestion
}

// shuffled are the numbers below n in a random order, each when it is asked for.
func shuffled(n int, random *rand.Rand) iter.Seq[int] {
	return func(yield func(int) bool) {
		moved := map[int]int{} // the places of a list of the numbers that have another one by now
		number := func(place int) int {
			if other, isMoved := moved[place]; isMoved {
				return other
			}
			return place
		}
		for left := n; left > 0; left-- {
			place := random.IntN(left)
			chosen := number(place)
			moved[place] = number(left - 1)
			if !yield(chosen) {
				return
			}
		}
	}
}

// wrongFor are the texts that are wrong for terms that mean the same, each once: none is the gloss
// of one of them.
func wrongFor(synonyms []lingible.Entry, texts []string) (wrong []string) {
	taken := map[string]bool{}
	for _, synonym := range synonyms {
		taken[lingible.Slug(synonym.Gloss)] = true
	}
	for _, text := range texts {
		if slug := lingible.Slug(text); !taken[slug] {
			wrong, taken[slug] = append(wrong, text), true
		}
	}
	return wrong
}

// newQuestion makes the question about an entry; false: there are not enough wrong answers.
func newQuestion(session string, entry lingible.Entry, wrong []string,
	random *rand.Rand) (question lingible.AskedQuestion, ok bool) {
	if len(wrong) < options-1 {
		return question, false
	}
	question.QuizQuestion = lingible.QuizQuestion{SessionID: session, ID: uuid.NewString(), Term: entry.Term,
		Difficulty: entry.QuizDifficulty(), Category: entry.QuizCategory}
	question.Gloss = entry.Gloss
	if len(entry.Examples) > 0 {
		question.Example = entry.Examples[0]
	}
	texts := []string{entry.Gloss}
	for _, i := range random.Perm(len(wrong))[:options-1] {
		texts = append(texts, wrong[i])
	}
	for place, i := range random.Perm(options) {
		option := lingible.QuizOption{ID: string(rune('a' + place)), Text: texts[i]}
		if i == 0 {
			question.Right = option.ID
		}
		question.Options = append(question.Options, option)
	}
	return question, true
}

// AnswerQuestion answers the question that was asked last. The same answer again counts nothing, and has the
// same result; another one is [lingible.ErrAnswered]. AnswerQuestion returns [lingible.ErrNoQuiz] for a quiz that has
// ended, and [lingible.ErrNoSuchQuestion] if another question was asked last.
func (s *Service) AnswerQuestion(ctx context.Context, caller Caller, sessionID, questionID,
	selected string) (answer lingible.QuizAnswer, err error) {
	err = retry.Do(ctx, func() error {
		quiz, now, err := s.readQuiz(ctx, caller, sessionID)
		question := &quiz.Question
		switch {
		case err != nil:
			return err
		case question.ID == questionID && question.Answer != nil && question.Answer.Selected == selected:
			answer = quiz.Answered()
			return nil
		case quiz.Status == lingible.QuizEnded:
			return lingible.ErrNoQuiz
		case question.ID != questionID:
			return lingible.ErrNoSuchQuestion
		case question.Answer != nil:
			return lingible.ErrAnswered
		}
		taken := max(0, now.Sub(question.AskedAt))
		result := &lingible.QuizAnswer{Selected: selected, IsCorrect: selected == question.Right,
			Seconds: taken.Seconds()}
		counted := lingible.QuizTotals{Possible: lingible.QuizPoints}
		if result.IsCorrect {
			result.Points = lingible.Points(taken)
			counted.Correct, counted.Points = 1, result.Points
		}
		question.Answer = result
		quiz.QuizTotals, quiz.LastActivityAt = quiz.Plus(counted), now
		quiz.Version++
		if err := s.storeAnswer(ctx, caller.ID, quiz); err != nil {
			return err
		}
		s.count(ctx, "QuizAnswers", 1)
		answer = quiz.Answered()
		return nil
	})
	return answer, err
}

// QuizProgress says how a quiz stands. It returns [lingible.ErrNoQuiz] if there is none, or none any more.
func (s *Service) QuizProgress(ctx context.Context, caller Caller, sessionID string) (lingible.QuizProgress, error) {
	quiz, _, err := s.readQuiz(ctx, caller, sessionID)
	return quiz.QuizProgress, err
}

// EndQuiz ends a quiz, and says how it stands. One that has ended stays as it is. It returns [lingible.ErrNoQuiz]
// if there is none, or none any more.
func (s *Service) EndQuiz(ctx context.Context, caller Caller, sessionID string) (progress lingible.QuizProgress,
	err error) {
	err = retry.Do(ctx, func() error {
		quiz, _, err := s.readQuiz(ctx, caller, sessionID)
		if err == nil && quiz.Status == lingible.QuizActive {
			quiz.Status = lingible.QuizEnded
			quiz.Version++
			err = s.storeEnd(ctx, caller.ID, quiz)
		}
		progress = quiz.QuizProgress
		return err
	})
	return progress, err
}

// QuizHistory says how the caller has done, and what is left today.
func (s *Service) QuizHistory(ctx context.Context, caller Caller) (lingible.QuizHistory, error) {
	usage, err := s.Usage(ctx, caller)
	if err != nil {
		return lingible.QuizHistory{}, err
	}
	history := lingible.QuizHistory{Days: []lingible.QuizDay{}}
	days, err := s.quizDays(ctx, caller.ID, lingible.MaxQuizDays)
	today := 0
	for _, day := range days {
		history.Days, history.Totals = append(history.Days, day), history.Totals.Plus(day.QuizTotals)
		if day.Date == s.Calendar.Day(s.Calendar.Clock.Now()) {
			today = day.Questions
		}
	}
	if limit := usage.Tier.Limits().DailyQuestions; limit > 0 {
		remaining := max(0, limit-today)
		history.Limit, history.Remaining = &limit, &remaining
	}
	return history, err
}

// readQuiz reads a quiz of the caller, and the moment.
func (s *Service) readQuiz(ctx context.Context, caller Caller, sessionID string) (quiz lingible.QuizSession,
	now time.Time, err error) {
	usage, err := s.usageAfter(ctx, caller, func() (err error) {
		quiz, err = s.storedQuiz(ctx, caller.ID, sessionID)
		return err
	})
	if err != nil {
		return lingible.QuizSession{}, now, err
	}
	now = s.Calendar.Clock.Now()
	quiz, err = quiz.At(now, usage)
	return quiz, now, err
}

// activeQuiz is the active quiz as it stands now, which the latest one is, or else is read. It returns
// [lingible.ErrNoQuiz] if there is none.
func (s *Service) activeQuiz(ctx context.Context, usage lingible.Usage, latest lingible.QuizSession,
	now time.Time) (quiz lingible.QuizSession, err error) {
	quiz = latest
	if quiz.ID == "" || quiz.ID != usage.QuizSessionID {
		quiz, err = s.storedQuiz(ctx, usage.UserID, usage.QuizSessionID)
	}
	if err != nil {
		return lingible.QuizSession{}, err
	}
	quiz.Question.SessionID = quiz.ID
	return quiz.At(now, usage)
}

// storedQuiz reads a quiz of a user. It returns [lingible.ErrNoQuiz] if there is none.
func (s *Service) storedQuiz(ctx context.Context, user, id string) (quiz lingible.QuizSession, err error) {
	if _, err := uuid.Parse(id); err != nil {
		return quiz, lingible.ErrNoQuiz
	}
	quiz, found, err := s.quizSession(ctx, user, id)
	if err == nil && !found {
		err = lingible.ErrNoQuiz
	}
	quiz.Question.SessionID = quiz.ID
	return quiz, err
}

// errNone says that there is nothing to keep.
var errNone = errors.New("there is none")

// wrongAnswers are the wrong answers for a category, from memory or from the table. It does not keep that there are
// none: the lexicon may be loaded at this moment. The caller must not change them.
func (s *Service) wrongAnswers(ctx context.Context, category lingible.Category) ([]string, error) {
	s.begin.Do(func() {
		s.wrong = &cache.Cache[[]string]{Age: termsAge, Max: 100, Gone: errNone, Clock: s.Calendar.Clock}
	})
	answers, err := s.wrong.Get(ctx, string(category), func(ctx context.Context) ([]string, error) {
		var item wrongAnswersItem
		_, err := s.DB.Get(ctx, "GetWrongAnswers", &item, wrongAnswersKey(category).values()...)
		if err == nil && len(item.WrongAnswers) == 0 {
			err = errNone
		}
		return item.WrongAnswers, err
	})
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return answers, err
}

func (s *Service) random() *rand.Rand {
	if s.Random != nil {
		return rand.New(s.Random)
	}
	var seed [32]byte
	_, _ = cryptorand.Read(seed[:]) // never fails
	return rand.New(rand.NewChaCha8(seed))
}

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

// quizDayItem has the numbers of a day as stored.
type quizDayItem struct {
	key
	lingible.QuizTotals
	ExpiresAt int64 `dynamodbav:"ttl"`
}

func quizDayKey(user, day string) key { return key{userKey(user), quizDayKind + day} }

// quizSession reads a quiz of a user; false: there is none.
func (s *Service) quizSession(ctx context.Context, user, id string) (quiz lingible.QuizSession, found bool, err error) {
	found, err = s.DB.Get(ctx, "GetQuizSession", &quiz, userKey(user), quizKind+id)
	return quiz, found, err
}

// latestQuiz reads the quiz of a user whose id is the greatest; false: there is none. Ids of quizzes from before they
// were in the order of time make it another one than the latest.
func (s *Service) latestQuiz(ctx context.Context, user string) (lingible.QuizSession, bool, error) {
	return first[lingible.QuizSession](ctx, s.DB, "GetLatestQuizSession", userKey(user), quizKind)
}

// putQuiz stores a quiz in place of its version before.
func putQuiz(user string, quiz lingible.QuizSession) dynamo.Write {
	asRead := dynamo.Absent("version")
	if quiz.Version > 1 {
		asRead = dynamo.Equal("version", quiz.Version-1)
	}
	item := quizItem{key{userKey(user), quizKind + quiz.ID}, quiz,
		dynamo.ExpiryAt(quiz.LastActivityAt.Add(lingible.QuizAge))}
	return dynamo.Put(users, item, asRead)
}

// storeQuestion stores a quiz with its next question, and makes it the user's active one. It reports false if limit
// questions are asked on the question's day; 0: any number. It returns [retry.ErrStale] if tier or active quiz are no
// longer those of usage, or if the quiz has another version than the one before.
func (s *Service) storeQuestion(ctx context.Context, usage lingible.Usage, quiz lingible.QuizSession,
	limit int) (asked bool, err error) {
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
	err = s.DB.Transact(ctx, "AskQuestion",
		dynamo.Update(users, usageKey(usage.UserID).values(),
			expression.Set(dynamo.Name("quiz_session_id"), expression.Value(quiz.ID)),
			dynamo.Equal("tier", usage.Tier).And(asRead)),
		dynamo.Update(users, quizDayKey(usage.UserID, quiz.Question.Day).values(), counted, allowed),
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

// storeAnswer stores a quiz whose question has its answer. The day is there from the question on; it is not made again
// after it was deleted with the account.
func (s *Service) storeAnswer(ctx context.Context, user string, quiz lingible.QuizSession) error {
	counted := lingible.QuizTotals{Points: quiz.Question.Answer.Points, Possible: lingible.QuizPoints}
	if quiz.Question.Answer.IsCorrect {
		counted.Correct = 1
	}
	return dynamo.UnlessStale(s.DB.Transact(ctx, "AnswerQuestion",
		putQuiz(user, quiz),
		dynamo.Update(users, quizDayKey(user, quiz.Question.Day).values(), counting(counted),
			expression.AttributeExists(dynamo.Name("quiz_count")))))
}

// storeEnd stores an ended quiz, and that the user has no active one.
func (s *Service) storeEnd(ctx context.Context, user string, quiz lingible.QuizSession) error {
	return dynamo.UnlessStale(s.DB.Transact(ctx, "EndQuiz",
		putQuiz(user, quiz),
		dynamo.Update(users, usageKey(user).values(), expression.Remove(dynamo.Name("quiz_session_id")),
			dynamo.Equal("quiz_session_id", quiz.ID))))
}

// quizDays reads the latest days of a user, newest first.
func (s *Service) quizDays(ctx context.Context, user string, most int) (days []lingible.QuizDay, err error) {
	type quizDay struct {
		key
		lingible.QuizDay
	}
	for day, err := range dynamo.Read[quizDay](ctx, s.DB, "ListQuizDays",
		dynamo.Query{Values: []any{userKey(user), quizDayKind}, PageSize: most}) {
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
