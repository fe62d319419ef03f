package api_test

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// stubQuiz has one quiz, with one question.
type stubQuiz struct{ work func() error }

func (s stubQuiz) Question(context.Context, lingible.Caller, lingible.Difficulty, lingible.Category) (lingible.QuizQuestion, error) {
	return lingible.QuizQuestion{Options: []lingible.QuizOption{{ID: "a", Text: "To boast"}}, Difficulty: lingible.Beginner, Category: lingible.Talk, AskedAt: began()}, s.work()
}
func (s stubQuiz) Answer(context.Context, lingible.Caller, string, string, string) (lingible.QuizAnswer, error) {
	return lingible.QuizAnswer{Selected: "a", Correct: "a", IsCorrect: true, Points: 10, Progress: quiz()}, s.work()
}
func (s stubQuiz) Progress(context.Context, lingible.Caller, string) (lingible.QuizProgress, error) {
	return quiz(), s.work()
}
func (s stubQuiz) End(context.Context, lingible.Caller, string) (lingible.QuizProgress, error) {
	return quiz(), s.work()
}
func (s stubQuiz) History(context.Context, lingible.Caller) (lingible.QuizHistory, error) {
	return lingible.QuizHistory{Days: []lingible.QuizDay{{Date: "2026-02-02"}}}, s.work()
}

func quiz() lingible.QuizProgress {
	return lingible.QuizProgress{Status: lingible.QuizActive, StartedAt: began(), LastActivityAt: began()}
}
