package lingible_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/historytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/rapidtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// A history of the quiz is about a lexicon of its own, of some hundred terms.
func TestMain(m *testing.M) {
	rapidtest.Main(dynamotest.Covering(m.Run, lingible.Platform().Database), 3)
}

// eligible is a term that the quiz asks about.
func eligible(term string, category lingible.Category, score float64) lingible.Entry {
	return lingible.Entry{
		Term: term, Gloss: "What " + term + " means", Examples: []string{"It is " + term + "."},
		Sources:        []string{"test"},
		IsQuizEligible: true, QuizCategory: category, Confidence: score, Momentum: 1,
	}
}

// some are n terms of a category.
func some(n int, category lingible.Category) (entries []lingible.Entry) {
	for i := range n {
		entries = append(entries, eligible(fmt.Sprint(category, " ", i), category, 0.9))
	}
	return entries
}

// newQuiz is the quiz about terms, with four wrong answers for each category.
func newQuiz(t *testing.T, w *lingibletest.World, entries ...lingible.Entry) *service.Service {
	t.Helper()
	for _, entry := range entries {
		must.Get(w.AddEntry(t.Context(), entry))(t)
	}
	for _, category := range lingible.Categories() {
		must.Get(w.AddWrongAnswers(t.Context(), category,
			[]string{"Wrong 1", "Wrong 2", "Wrong 3", "Wrong 4"}))(t)
	}
	w.Know(entries...)
	return w.Service
}

func ask(t *testing.T, quiz *service.Service, caller service.Caller) lingible.QuizQuestion {
	t.Helper()
	return must.Get(quiz.AskQuestion(t.Context(), caller, "", ""))(t)
}

// option is the id of the right option of a question, or of a wrong one.
func option(question lingible.QuizQuestion, isRight bool) string {
	i := slices.IndexFunc(question.Options, func(o lingible.QuizOption) bool {
		return strings.HasPrefix(o.Text, "What ") == isRight
	})
	return question.Options[i].ID
}

func answer(t *testing.T, quiz *service.Service, caller service.Caller, question lingible.QuizQuestion,
	isRight bool) lingible.QuizAnswer {
	t.Helper()
	return must.Get(quiz.AnswerQuestion(t.Context(), caller, question.SessionID, question.ID,
		option(question, isRight)))(t)
}

func history(t *testing.T, quiz *service.Service, caller service.Caller) lingible.QuizHistory {
	t.Helper()
	return must.Get(quiz.QuizHistory(t.Context(), caller))(t)
}

// standing is how far a quiz is: how many questions were asked, how many answers were right, and the question that is
// open, or else the last one, with its answer.
type standing struct {
	asked, right           int
	open, last, lastAnswer string
}

// turn is an answer to a question, or the wish to be asked one.
type turn struct {
	question, answer string
	right            bool
}

// Questions at the same time are one, and answers at the same time count once. A free user is asked exactly ten
// questions a day.
func TestQuizHistories(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	quiz, ann := newQuiz(t, w, some(30, lingible.Praise)...), w.Caller("ann")
	h := historytest.New(historytest.Model[standing, turn]{
		Step: func(s standing, in turn, out string) (standing, bool) {
			says := func(text string) bool { return out == text || out == historytest.Unknown }
			switch {
			case in.question == "" && out == historytest.Unknown:
				return s, true // the next one gets the question, if there is one
			case in.question == "" && s.open != "":
				return s, says(s.open)
			case in.question == "" && s.asked == 10:
				return s, says("10 until 2026-02-03T06:00:00Z")
			case in.question == "":
				isNew := uuid.Validate(out) == nil && out != s.last
				return standing{asked: s.asked + 1, right: s.right, open: out}, isNew
			case in.question == s.open:
				if in.right {
					s.right++
				}
				s.open, s.last, s.lastAnswer = "", in.question, in.answer
				return s, says(fmt.Sprint(s.right, " of ", s.asked))
			case in.question == s.last && in.answer == s.lastAnswer:
				return s, says(fmt.Sprint(s.right, " of ", s.asked))
			case in.question == s.last:
				return s, says(lingible.ErrAnswered.Error())
			}
			return s, says(lingible.ErrNoSuchQuestion.Error())
		},
	})
	w.Tables.Wire.Answers(dynamotest.Refusing)
	asked := make([]lingible.QuizQuestion, 6)
	h.Together(len(asked), 30, func(client, number int) (turn, func() string) {
		if number%2 == 0 {
			return turn{}, func() string {
				question, err := quiz.AskQuestion(t.Context(), ann, "", "")
				if limited, ok := errors.AsType[*lingible.UsageError](err); ok {
					return fmt.Sprint(limited.Limit, " until ", limited.Until.UTC().Format(time.RFC3339))
				} else if err != nil {
					return historytest.Error(err)
				}
				asked[client] = question
				return question.ID
			}
		}
		question, right := asked[client], client%2 == 0
		in := turn{question.ID, option(question, right), right}
		return in, func() string {
			answer, err := quiz.AnswerQuestion(t.Context(), ann, question.SessionID, in.question, in.answer)
			if err != nil {
				return historytest.Error(err)
			}
			return fmt.Sprint(answer.Progress.Correct, " of ", answer.Progress.Questions)
		}
	})
	w.Tables.Wire.Answers(nil)
	h.Judge(t)
	progress, err := quiz.QuizProgress(t.Context(), ann, asked[0].SessionID)
	want := lingible.QuizTotals{Questions: 10, Correct: progress.Correct, Points: float64(10 * progress.Correct),
		Possible: 100}
	if day := history(t, quiz, ann); err != nil || progress.QuizTotals != want || day.Totals != want ||
		*day.Remaining != 0 {
		t.Errorf("got %+v, %v, and of the day %+v; want %+v", progress, err, day, want)
	}
}

// A quiz from before the ids were in the order of time goes on, wherever its id is among others.
func TestQuizOldIDs(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	quiz := newQuiz(t, w, some(9, lingible.Praise)...)
	for i, active := range []string{"00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-bfff-ffffffffffff"} {
		caller := w.Caller(fmt.Sprint("user ", i))
		usage := must.Get(w.Usage(t.Context(), caller))(t)
		old := lingible.QuizSession{QuizProgress: lingible.QuizProgress{Status: lingible.QuizActive,
			StartedAt: w.Read(), LastActivityAt: w.Read()}, Version: 1}
		old.Question.Day, old.Question.AskedAt = "2026-02-02", w.Read()
		for _, id := range []string{"7f000000-0000-4000-8000-000000000000", active} {
			old.ID, old.Question.ID = id, "question of "+id
			if asked, err := service.StoreQuestion(w.Service, t.Context(), usage, old, 10); err != nil || !asked {
				t.Fatalf("got %t, %v", asked, err)
			}
			usage.QuizSessionID = id
		}
		if got := ask(t, quiz, caller); got.SessionID != active || got.ID != "question of "+active {
			t.Errorf("got %+v; want the question of %s", got, active)
		}
		if _, err := quiz.EndQuiz(t.Context(), caller, active); err != nil {
			t.Error(err)
		}
		// The next ones begin while the old ones are still there.
		for range 2 {
			question := ask(t, quiz, caller)
			if got := ask(t, quiz, caller); got.SessionID != question.SessionID || got.ID != question.ID ||
				got.SessionID == active {
				t.Errorf("got %+v after %+v", got, question)
			}
			if _, err := quiz.EndQuiz(t.Context(), caller, question.SessionID); err != nil {
				t.Error(err)
			}
		}
	}
}

// Nothing is written for a user whose account is deleted, or on what was read before a change; and a
// write whose answer is lost counts once.
func TestQuizConditions(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	quiz, ann := newQuiz(t, w, some(9, lingible.Praise)...), w.Caller("ann")
	w.Tables.Wire.Lose(2)
	ask(t, quiz, ann)
	usage := must.Get(w.Usage(t.Context(), ann))(t)
	w.Tables.Wire.Lose(1)
	answer(t, quiz, ann, ask(t, quiz, ann), true)
	session, _, err := service.QuizSession(w.Service, t.Context(), "ann", usage.QuizSessionID)
	if got := history(t, quiz, ann).Totals; err != nil ||
		got != (lingible.QuizTotals{Questions: 1, Correct: 1, Points: 10, Possible: 10}) || session.Version != 2 {
		t.Errorf("got %+v, %v and version %d", got, err, session.Version)
	}
	next := session
	next.Version++
	older := usage
	older.QuizSessionID = ""
	otherDay := next
	otherDay.Question.Day = "2026-02-01"
	asked := func(usage lingible.Usage, quiz lingible.QuizSession) error {
		return second(service.StoreQuestion(w.Service, t.Context(), usage, quiz, 10))
	}
	stale := map[string]error{
		"AskedMeanwhile":    asked(usage, session),
		"OtherActiveQuiz":   asked(older, next),
		"AnsweredMeanwhile": service.StoreAnswer(w.Service, t.Context(), "ann", session),
		"DayIsGone":         service.StoreAnswer(w.Service, t.Context(), "ann", otherDay),
	}
	w.Premium(t, "ann")
	stale["Upgraded"] = asked(usage, next)
	usage.Tier = lingible.Premium
	must.OK(t, w.DeleteAccount(t.Context(), ann))
	stale["AskedAfterDeletion"] = asked(usage, next)
	stale["EndedAfterDeletion"] = service.StoreEnd(w.Service, t.Context(), "ann", next)
	for name, err := range stale {
		if !errors.Is(err, retry.ErrStale) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A history has the latest 30 days with questions.
func TestQuizHistory(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	w.Tables.Recorder.PageSize = 7
	quiz, ann := newQuiz(t, w, some(3, lingible.Praise)...), w.Caller("ann")
	if got := history(t, quiz, ann); got.Days == nil || len(got.Days) != 0 || *got.Remaining != 10 {
		t.Errorf("got %+v", got)
	}
	for range 31 {
		answer(t, quiz, ann, ask(t, quiz, ann), true)
		w.Advance(24 * time.Hour)
	}
	got := history(t, quiz, ann)
	if len(got.Days) != 30 || got.Days[0].Date != "2026-03-04" || got.Days[29].Date != "2026-02-03" ||
		*got.Remaining != 10 ||
		got.Totals != (lingible.QuizTotals{Questions: 30, Correct: 30, Points: 300, Possible: 300}) {
		t.Errorf("got %d days, %+v", len(got.Days), got)
	}
}

// A question has four options, of which one is right. None of the others is the gloss of the term or
// of a synonym, and no text is there twice. What is sent does not say which one is right.
func TestQuizOptions(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	plain := &lingible.Plain{Text: "boast", PartOfSpeech: lingible.Verb}
	flex, brag := eligible("flex", lingible.Talk, 0.9), eligible("brag", lingible.Talk, 0.9)
	flex.Plain, brag.Plain, brag.IsQuizEligible, brag.QuizCategory = plain, plain, false, ""
	tooFew := eligible("yap", lingible.Food, 0.9)
	w.Know(flex, brag, tooFew)
	quiz := w.Service
	quiz.Random = rand.NewPCG(1, 2)
	for _, entry := range []lingible.Entry{flex, brag, tooFew} {
		must.Get(w.AddEntry(t.Context(), entry))(t)
	}
	wrong := map[lingible.Category][]string{
		lingible.Talk: {"what FLEX means!", "Wrong 1", "What brag means", "Wrong 2", "wrong 2.", "Wrong 3"},
		lingible.Food: {"Wrong 1", "Wrong 2", "What yap means"},
	}
	for category, texts := range wrong {
		must.Get(w.AddWrongAnswers(t.Context(), category, texts))(t)
	}
	places := map[string]bool{}
	for i := range 24 {
		caller := w.Caller(fmt.Sprint("user-", i))
		question := ask(t, quiz, caller)
		var texts []string
		for j, o := range question.Options {
			texts = append(texts, o.Text)
			if want := string("abcd"[j]); o.ID != want {
				t.Errorf("option %d: got %q, want %q", j, o.ID, want)
			}
		}
		slices.Sort(texts)
		if question.Term != "flex" || !slices.Equal(texts,
			[]string{"What flex means", "Wrong 1", "Wrong 2", "Wrong 3"}) {
			t.Errorf("got %+v", question)
		}
		right := option(question, true)
		places[right] = true
		sent, err := json.Marshal(question)
		var fields map[string]any
		if err = errors.Join(err, json.Unmarshal(sent, &fields)); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got,
			[]string{"asked_at", "category", "difficulty", "options", "question_id", "session_id", "term"}) {
			t.Errorf("a question has %v", got)
		}
		for _, o := range question.Options[:1] {
			got, err := quiz.AnswerQuestion(t.Context(), caller, question.SessionID, question.ID, o.ID)
			if err != nil || got.IsCorrect != (o.ID == right) || got.Correct != right ||
				(got.Points == 10) != got.IsCorrect {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		if _, err := quiz.AskQuestion(t.Context(), caller, "", ""); !errors.Is(err, lingible.ErrNoQuestion) {
			t.Errorf("got %v", err)
		}
	}
	if len(places) != 4 {
		t.Errorf("the right option is always among %v", places)
	}
}

// The quiz asks about every term that it may, once each, however those that it may not ask about are
// spread over the pages of the index; then it says that there is no further one.
func TestQuizFindsEveryTerm(t *testing.T) {
	t.Parallel()
	categories := []lingible.Category{lingible.Praise, lingible.Money}
	rapid.Check(t, func(r *rapid.T) {
		w := lingibletest.New(t)
		w.Tables.Recorder.PageSize = int32(rapid.IntRange(1, 6).Draw(r, "page"))
		quiz, caller, lexicon := newQuiz(t, w), w.Premium(t, "ann"), []lingible.Entry{}
		kinds := rapid.SliceOfN(rapid.Uint8Range(0, 29), 100, 250).Draw(r, "kinds")
		difficulty := rapid.SampledFrom(append(lingible.Difficulties(), "")).Draw(r, "difficulty")
		category := rapid.SampledFrom(append(categories, "")).Draw(r, "category")
		want := map[string]bool{}
		for i, kind := range kinds {
			entry := eligible(fmt.Sprint("term ", i), categories[kind%2], []float64{0.9, 0.7, 0.1}[kind/2%3])
			entry.IsQuizEligible = kind >= 24
			if entry.IsQuizEligible && (difficulty == "" || difficulty == entry.QuizDifficulty()) &&
				(category == "" || category == entry.QuizCategory) {
				want[entry.Term] = true
			}
			lexicon = append(lexicon, entry)
			item := must.Get(attributevalue.MarshalMap(entry))(t)
			values := map[string]any{"PK": "TERM#" + entry.Slug(), "SK": "METADATA#lexicon"}
			for name, value := range item {
				values[name] = value
			}
			// Some of those that may not be asked about are in the indexes.
			if kind >= 18 {
				values["quiz_difficulty"], values["quiz_score"] = entry.QuizDifficulty(), entry.QuizScore()
			}
			w.Tables.Store(t, "Lexicon", values)
		}
		w.Know(lexicon...)
		for {
			question, err := quiz.AskQuestion(t.Context(), caller, difficulty, category)
			if errors.Is(err, lingible.ErrNoQuestion) {
				break
			}
			if err != nil || !want[question.Term] {
				r.Fatalf("got %+v, %v", question, err)
			}
			delete(want, question.Term)
			answer(t, quiz, caller, question, true)
		}
		if len(want) > 0 {
			r.Fatalf("the quiz has asked about none of %v", want)
		}
	})
}
