package lingible

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

const (
	// QuizIdle is how long after its last question or answer a quiz ends.
	QuizIdle = 15 * time.Minute
	// QuizAge is how long a quiz is kept after its last question or answer.
	QuizAge = 48 * time.Hour
	// QuizDayAge is how long the numbers of a day are kept after its last question.
	QuizDayAge = 90 * 24 * time.Hour
	// MaxQuizDays is how many days a history has, at most.
	MaxQuizDays = 30
	// QuizPoints are the points of a right answer at once.
	QuizPoints = 10

	// options is how many options a question has.
	options = 4
	// termsAge is how long the terms of the quiz are not read again.
	termsAge = 3 * time.Minute
)

// QuizStatus says whether a quiz goes on.
type QuizStatus string

// The statuses.
const (
	QuizActive QuizStatus = "active"
	QuizEnded  QuizStatus = "ended"
)

// QuizOption is a possible answer.
type QuizOption struct {
	ID   string `json:"option_id" dynamodbav:"option_id" enum:"a,b,c,d"`
	Text string `json:"text" dynamodbav:"text" example:"To show off what you have or can do"`
}

// QuizQuestion is a question as it is asked. It does not say which option is right.
type QuizQuestion struct {
	SessionID  string       `json:"session_id" dynamodbav:"-" doc:"The quiz."`
	ID         string       `json:"question_id" dynamodbav:"question_id"`
	Term       string       `json:"term" dynamodbav:"term" doc:"Which option says what it means?" example:"flex"`
	Options    []QuizOption `json:"options" dynamodbav:"options" nullable:"false" doc:"Four, of which one is right."`
	Difficulty Difficulty   `json:"difficulty" dynamodbav:"difficulty" enum:"beginner,intermediate,advanced"`
	Category   Category     `json:"category" dynamodbav:"category" enum:"praise,criticism,feelings,people,talk,effort,money,food,outings"`
	AskedAt    time.Time    `json:"asked_at" dynamodbav:"asked_at" doc:"When it was asked first. The time for the answer counts from then."`
}

// QuizAnswer is the result of an answer.
type QuizAnswer struct {
	SessionID   string          `json:"session_id" dynamodbav:"-"`
	QuestionID  string          `json:"question_id" dynamodbav:"-"`
	Selected    string          `json:"selected_option" dynamodbav:"selected_option" enum:"a,b,c,d"`
	Correct     string          `json:"correct_option" dynamodbav:"-" enum:"a,b,c,d"`
	IsCorrect   bool            `json:"is_correct" dynamodbav:"is_correct"`
	Points      float64         `json:"points_earned" dynamodbav:"points_earned" minimum:"0" maximum:"10"`
	Seconds     float64         `json:"time_taken_seconds" dynamodbav:"time_taken_seconds" doc:"As the server measured it."`
	Explanation QuizExplanation `json:"explanation" dynamodbav:"-"`
	Progress    QuizProgress    `json:"progress" dynamodbav:"-" doc:"How the quiz stands with this answer."`
}

// QuizExplanation says what a term means.
type QuizExplanation struct {
	Gloss   string `json:"gloss" dynamodbav:"gloss"`
	Example string `json:"example" dynamodbav:"example"`
}

// QuizTotals count answers and points.
type QuizTotals struct {
	Questions int     `json:"questions_asked" dynamodbav:"quiz_count" doc:"Questions asked, also those without an answer."`
	Correct   int     `json:"correct_answers" dynamodbav:"correct_count"`
	Points    float64 `json:"total_score" dynamodbav:"total_score"`
	Possible  float64 `json:"total_possible" dynamodbav:"total_possible" doc:"The points if all answers had been right at once."`
}

// plus is the sum, whose points are exact to two decimals.
func (t QuizTotals) plus(other QuizTotals) QuizTotals {
	return QuizTotals{t.Questions + other.Questions, t.Correct + other.Correct, inCents(t.Points + other.Points), t.Possible + other.Possible}
}

// QuizProgress is how a quiz stands.
type QuizProgress struct {
	ID             string     `json:"session_id" dynamodbav:"session_id"`
	Status         QuizStatus `json:"status" dynamodbav:"session_status" enum:"active,ended"`
	StartedAt      time.Time  `json:"started_at" dynamodbav:"started_at"`
	LastActivityAt time.Time  `json:"last_activity_at" dynamodbav:"last_activity_at" doc:"The last question or answer. A quiz ends 15 minutes later."`
	QuizTotals
}

// AskedQuestion is a question as it is stored.
type AskedQuestion struct {
	QuizQuestion
	// Right is the id of the right option.
	Right string `dynamodbav:"right"`
	// Day is the day on which it was asked, and counts.
	Day string `dynamodbav:"day"`
	QuizExplanation
	// Answer is nil until there is one.
	Answer *QuizAnswer `dynamodbav:"answer,omitempty"`
}

// QuizSession is a quiz as it is stored.
type QuizSession struct {
	QuizProgress
	// Asked are the slugs of the terms that it has asked about.
	Asked []string `dynamodbav:"asked"`
	// Question is the one that was asked last.
	Question AskedQuestion `dynamodbav:"question"`
	// Version is 1, and one more with each change.
	Version int `dynamodbav:"version"`
}

// QuizDay is a day on which a user was asked.
type QuizDay struct {
	Date string `json:"date" dynamodbav:"-" format:"date"`
	QuizTotals
}

// QuizHistory is how a user has done.
type QuizHistory struct {
	Days   []QuizDay  `json:"days" nullable:"false" doc:"The days with questions, newest first: 30 at most, of the last 90 days."`
	Totals QuizTotals `json:"totals" doc:"Of these days."`
	// Limit and Remaining are nil if any number of questions is allowed.
	Limit     *int `json:"daily_limit" nullable:"true" doc:"How many questions are asked on a day; null: any number."`
	Remaining *int `json:"remaining_today" nullable:"true" doc:"How many of them are left today; null: any number."`
}

// QuizStore is the storage that [Quiz] needs. Each write is all or nothing, and returns [retry.ErrStale]
// if the quiz has another version than the one before. Points and questions count for the day of the
// quiz's question with the write that stores them.
type QuizStore interface {
	// QuizSession reads a quiz of a user; false: there is none.
	QuizSession(ctx context.Context, user, id string) (QuizSession, bool, error)
	// LatestQuiz reads the quiz of a user whose id is the greatest; false: there is none. Ids of quizzes
	// from before they were in the order of time make it another one than the latest.
	LatestQuiz(ctx context.Context, user string) (QuizSession, bool, error)
	// AskQuestion stores a quiz with its next question, and makes it the user's active one. It
	// reports false if limit questions are asked on the question's day; 0: any number. It returns
	// retry.ErrStale if tier or active quiz are no longer those of usage.
	AskQuestion(ctx context.Context, usage Usage, quiz QuizSession, limit int) (asked bool, err error)
	// AnswerQuestion stores a quiz whose question has its answer.
	AnswerQuestion(ctx context.Context, user string, quiz QuizSession) error
	// EndQuiz stores an ended quiz, and that the user has no active one.
	EndQuiz(ctx context.Context, user string, quiz QuizSession) error
	// QuizDays reads the latest days of a user, newest first.
	QuizDays(ctx context.Context, user string, most int) ([]QuizDay, error)
	// WrongAnswers reads the wrong answers for a category.
	WrongAnswers(ctx context.Context, category Category) ([]string, error)
}

// Thesaurus finds terms of the lexicon, and those that mean the same.
type Thesaurus interface {
	TermFinder
	// Synonyms returns the terms that have the plain text of an entry.
	Synonyms(ctx context.Context, entry Entry) ([]Entry, error)
	// QuizTerms returns how many terms of a difficulty and category the quiz asks about, and reads one of them by its
	// number; either may be empty: all.
	QuizTerms(ctx context.Context, difficulty Difficulty, category Category) (count int, term func(int) (Entry, error), err error)
}

// Quiz asks users what terms mean. It is safe for concurrent use, unless Random is set.
type Quiz struct {
	Users *Users
	Store QuizStore
	// Lexicon has the terms, as of some seconds ago, and knows their synonyms.
	Lexicon Thesaurus
	Count   Counter
	// Random chooses terms and the order of options. Nil: crypto/rand, since the order must tell
	// nothing.
	Random rand.Source

	begin sync.Once
	texts *cache.Cache[[]string]
}

// Question returns the next question of the caller's active quiz, or begins one. A question without
// an answer is returned again as it is, even if another kind is asked for. Difficulty and category may be empty:
// all. It returns [ErrUserDeleted], [ErrNoQuestion], [ErrNoTerms], or a [*UsageError] when the day's questions are
// used up.
func (q *Quiz) Question(ctx context.Context, caller Caller, difficulty Difficulty, category Category) (question QuizQuestion, err error) {
	err = retry.Do(ctx, func() error {
		var latest QuizSession
		usage, err := q.Users.usageAfter(ctx, caller, func() (err error) {
			latest, _, err = q.Store.LatestQuiz(ctx, caller.ID)
			return err
		})
		if err != nil {
			return err
		}
		now := q.Users.Calendar.Time()
		quiz, err := q.active(ctx, usage, latest, now)
		switch {
		case err != nil && !errors.Is(err, ErrNoQuiz):
			return err
		case err != nil || quiz.Status == QuizEnded:
			// Ids in the order of time let the latest quiz be read before it is known which one is active.
			id, err := uuid.NewV7()
			if err != nil {
				return fmt.Errorf("make an id: %w", err)
			}
			quiz = QuizSession{QuizProgress: QuizProgress{ID: id.String(), Status: QuizActive, StartedAt: now}}
		case quiz.Question.Answer == nil:
			question = quiz.Question.QuizQuestion
			return nil
		}
		if quiz.Question, err = q.choose(ctx, quiz, difficulty, category); err != nil {
			return err
		}
		quiz.Question.AskedAt, quiz.Question.Day, quiz.LastActivityAt = now, q.Users.Calendar.Day(now), now
		quiz.Asked = append(quiz.Asked, Slug(quiz.Question.Term))
		quiz.Questions++
		quiz.Version++
		limit := usage.Tier.Limits().DailyQuestions
		asked, err := q.Store.AskQuestion(ctx, usage, quiz, limit)
		if err == nil && !asked {
			err = &UsageError{What: "questions of the quiz a day", Limit: limit, Until: q.Users.Calendar.NextMidnight(now)}
		}
		question = quiz.Question.QuizQuestion
		return err
	})
	return question, err
}

// choose makes a question about a term that the quiz has not asked about.
func (q *Quiz) choose(ctx context.Context, quiz QuizSession, difficulty Difficulty, category Category) (question AskedQuestion, err error) {
	count, term, err := q.Lexicon.QuizTerms(ctx, difficulty, category)
	if err != nil {
		return question, err
	}
	if count == 0 && difficulty == "" && category == "" {
		return question, ErrNoTerms
	}
	random := rand.New(q.random())
	for i := range shuffled(count, random) {
		entry, err := term(i)
		if err != nil {
			return question, err
		}
		if slices.Contains(quiz.Asked, entry.Slug()) {
			continue
		}
		wrong, err := q.kept(ctx, "wrong answers "+string(entry.QuizCategory), func(ctx context.Context) ([]string, error) {
			return q.Store.WrongAnswers(ctx, entry.QuizCategory)
		})
		if err != nil {
			return question, err
		}
		synonyms, err := q.Lexicon.Synonyms(ctx, entry)
		if err != nil {
			return question, err
		}
		if question, ok := newQuestion(quiz.ID, entry, wrongFor(append(synonyms, entry), wrong), random); ok {
			return question, nil
		}
	}
	return question, ErrNoQuestion
}

// shuffled are the numbers below n in a random order, each when it is asked for.
func shuffled(n int, random *rand.Rand) iter.Seq[int] {
	return func(yield func(int) bool) {
		moved := map[int]int{} // the places of a list of the numbers that have another one by now
		for left := n; left > 0; left-- {
			at := random.IntN(left)
			chosen, isMoved := moved[at]
			if !isMoved {
				chosen = at
			}
			last, isMoved := moved[left-1]
			if !isMoved {
				last = left - 1
			}
			moved[at] = last
			if !yield(chosen) {
				return
			}
		}
	}
}

// wrongFor are the texts that are wrong for terms that mean the same, each once: none is the gloss
// of one of them.
func wrongFor(synonyms []Entry, texts []string) (wrong []string) {
	taken := map[string]bool{}
	for _, synonym := range synonyms {
		taken[Slug(synonym.Gloss)] = true
	}
	for _, text := range texts {
		if slug := Slug(text); !taken[slug] {
			wrong, taken[slug] = append(wrong, text), true
		}
	}
	return wrong
}

// newQuestion makes the question about an entry; false: there are not enough wrong answers.
func newQuestion(session string, entry Entry, wrong []string, random *rand.Rand) (question AskedQuestion, ok bool) {
	if len(wrong) < options-1 {
		return question, false
	}
	question.QuizQuestion = QuizQuestion{SessionID: session, ID: uuid.NewString(), Term: entry.Term, Difficulty: entry.QuizDifficulty(), Category: entry.QuizCategory}
	question.Gloss = entry.Gloss
	if len(entry.Examples) > 0 {
		question.Example = entry.Examples[0]
	}
	texts := []string{entry.Gloss}
	for _, i := range random.Perm(len(wrong))[:options-1] {
		texts = append(texts, wrong[i])
	}
	for place, i := range random.Perm(options) {
		option := QuizOption{ID: string(rune('a' + place)), Text: texts[i]}
		if i == 0 {
			question.Right = option.ID
		}
		question.Options = append(question.Options, option)
	}
	return question, true
}

// Points are the points of a right answer after a time: 10 at once, less by 0.3 with each second,
// and 1 from 30 seconds on; to two decimals.
func Points(taken time.Duration) float64 {
	return inCents(max(1, QuizPoints*(1-0.9*min(max(0, taken).Seconds()/30, 1))))
}

func inCents(points float64) float64 { return math.Round(100*points) / 100 }

// Answer answers the question that was asked last. The same answer again counts nothing, and has the
// same result; another one is [ErrAnswered]. Answer returns [ErrNoQuiz] for a quiz that has ended,
// and [ErrNoSuchQuestion] if another question was asked last.
func (q *Quiz) Answer(ctx context.Context, caller Caller, sessionID, questionID, selected string) (answer QuizAnswer, err error) {
	err = retry.Do(ctx, func() error {
		quiz, now, err := q.read(ctx, caller, sessionID)
		question := &quiz.Question
		switch {
		case err != nil:
			return err
		case question.ID == questionID && question.Answer != nil && question.Answer.Selected == selected:
			answer = quiz.answered()
			return nil
		case quiz.Status == QuizEnded:
			return ErrNoQuiz
		case question.ID != questionID:
			return ErrNoSuchQuestion
		case question.Answer != nil:
			return ErrAnswered
		}
		taken := max(0, now.Sub(question.AskedAt))
		result := &QuizAnswer{Selected: selected, IsCorrect: selected == question.Right, Seconds: taken.Seconds()}
		counted := QuizTotals{Possible: QuizPoints}
		if result.IsCorrect {
			result.Points = Points(taken)
			counted.Correct, counted.Points = 1, result.Points
		}
		question.Answer = result
		quiz.QuizTotals, quiz.LastActivityAt = quiz.plus(counted), now
		quiz.Version++
		if err := q.Store.AnswerQuestion(ctx, caller.ID, quiz); err != nil {
			return err
		}
		q.Count.add(ctx, "QuizAnswers", 1)
		answer = quiz.answered()
		return nil
	})
	return answer, err
}

// answered is the answer to the last question.
func (s QuizSession) answered() QuizAnswer {
	answer := *s.Question.Answer
	answer.SessionID, answer.QuestionID, answer.Correct = s.ID, s.Question.ID, s.Question.Right
	answer.Explanation, answer.Progress = s.Question.QuizExplanation, s.QuizProgress
	return answer
}

// Progress says how a quiz stands. It returns [ErrNoQuiz] if there is none, or none any more.
func (q *Quiz) Progress(ctx context.Context, caller Caller, sessionID string) (QuizProgress, error) {
	quiz, _, err := q.read(ctx, caller, sessionID)
	return quiz.QuizProgress, err
}

// End ends a quiz, and says how it stands. One that has ended stays as it is. It returns [ErrNoQuiz]
// if there is none, or none any more.
func (q *Quiz) End(ctx context.Context, caller Caller, sessionID string) (progress QuizProgress, err error) {
	err = retry.Do(ctx, func() error {
		quiz, _, err := q.read(ctx, caller, sessionID)
		if err == nil && quiz.Status == QuizActive {
			quiz.Status = QuizEnded
			quiz.Version++
			err = q.Store.EndQuiz(ctx, caller.ID, quiz)
		}
		progress = quiz.QuizProgress
		return err
	})
	return progress, err
}

// History says how the caller has done, and what is left today.
func (q *Quiz) History(ctx context.Context, caller Caller) (QuizHistory, error) {
	usage, err := q.Users.Usage(ctx, caller)
	if err != nil {
		return QuizHistory{}, err
	}
	history := QuizHistory{Days: []QuizDay{}}
	days, err := q.Store.QuizDays(ctx, caller.ID, MaxQuizDays)
	today := 0
	for _, day := range days {
		history.Days, history.Totals = append(history.Days, day), history.Totals.plus(day.QuizTotals)
		if day.Date == q.Users.Calendar.Day(q.Users.Calendar.Time()) {
			today = day.Questions
		}
	}
	if limit := usage.Tier.Limits().DailyQuestions; limit > 0 {
		remaining := max(0, limit-today)
		history.Limit, history.Remaining = &limit, &remaining
	}
	return history, err
}

// read reads a quiz of the caller, and the moment.
func (q *Quiz) read(ctx context.Context, caller Caller, sessionID string) (quiz QuizSession, now time.Time, err error) {
	usage, err := q.Users.usageAfter(ctx, caller, func() (err error) {
		quiz, err = q.stored(ctx, caller.ID, sessionID)
		return err
	})
	if err != nil {
		return QuizSession{}, now, err
	}
	now = q.Users.Calendar.Time()
	quiz, err = quiz.at(now, usage)
	return quiz, now, err
}

// active is the active quiz as it stands now, which the latest one is, or else is read. It returns
// [ErrNoQuiz] if there is none.
func (q *Quiz) active(ctx context.Context, usage Usage, latest QuizSession, now time.Time) (quiz QuizSession, err error) {
	quiz = latest
	if quiz.ID == "" || quiz.ID != usage.QuizSessionID {
		quiz, err = q.stored(ctx, usage.UserID, usage.QuizSessionID)
	}
	if err != nil {
		return QuizSession{}, err
	}
	quiz.Question.SessionID = quiz.ID
	return quiz.at(now, usage)
}

// stored reads a quiz of a user. It returns [ErrNoQuiz] if there is none.
func (q *Quiz) stored(ctx context.Context, user, id string) (quiz QuizSession, err error) {
	if _, err := uuid.Parse(id); err != nil {
		return quiz, ErrNoQuiz
	}
	quiz, found, err := q.Store.QuizSession(ctx, user, id)
	if err == nil && !found {
		err = ErrNoQuiz
	}
	quiz.Question.SessionID = quiz.ID
	return quiz, err
}

// at is the quiz at a moment: it has ended if it is idle or another one is active. It returns
// [ErrNoQuiz] if it is too old.
func (s QuizSession) at(now time.Time, usage Usage) (QuizSession, error) {
	idle := now.Sub(s.LastActivityAt)
	if idle >= QuizAge {
		return QuizSession{}, ErrNoQuiz
	}
	if idle >= QuizIdle || s.ID != usage.QuizSessionID {
		s.Status = QuizEnded
	}
	return s, nil
}

// errNone says that there is nothing to keep.
var errNone = errors.New("there is none")

// kept answers from memory, or with what load reads, as a copy. It does not keep that there is
// nothing: the lexicon may be loaded at this moment.
func (q *Quiz) kept(ctx context.Context, key string, load func(context.Context) ([]string, error)) ([]string, error) {
	q.begin.Do(func() {
		q.texts = &cache.Cache[[]string]{Age: termsAge, Most: 100, Gone: errNone, Now: q.Users.Calendar.Now}
	})
	texts, err := q.texts.Get(ctx, key, func(ctx context.Context) ([]string, error) {
		texts, err := load(ctx)
		if err == nil && len(texts) == 0 {
			err = errNone
		}
		return texts, err
	})
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return slices.Clone(texts), err
}

func (q *Quiz) random() rand.Source {
	if q.Random == nil {
		return secure{}
	}
	return q.Random
}

// secure draws from crypto/rand.
type secure struct{}

// Uint64 implements [rand.Source].
func (secure) Uint64() uint64 {
	var bytes [8]byte
	_, _ = cryptorand.Read(bytes[:]) // never fails
	return binary.LittleEndian.Uint64(bytes[:])
}
