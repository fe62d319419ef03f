package api

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// QuizSelection answers a question. The server measures the time.
type QuizSelection struct {
	SessionID  string `json:"session_id" minLength:"1" maxLength:"36" doc:"The quiz." example:"2f1c6a52-8a44-4b0e-9a63-4d1f7d2f0c11"`
	QuestionID string `json:"question_id" minLength:"1" maxLength:"36" doc:"The question that was asked last." example:"7d0e4a0c-5a0a-4c58-8f5e-0c7a3f6b9d21"`
	Selected   string `json:"selected_option" enum:"a,b,c,d" doc:"The option_id of an option."`
}

// QuizID names a quiz.
type QuizID struct {
	SessionID string `json:"session_id" minLength:"1" maxLength:"36" doc:"The quiz." example:"2f1c6a52-8a44-4b0e-9a63-4d1f7d2f0c11"`
}

type (
	questionInput struct {
		Difficulty lingible.Difficulty `query:"difficulty" enum:",beginner,intermediate,advanced" doc:"Only terms of this difficulty; all by default."`
		Category   lingible.Category   `query:"category" enum:",praise,criticism,feelings,people,talk,effort,money,food,outings" doc:"Only terms of this category; all by default."`
	}
	progressInput struct {
		SessionID string `query:"session_id" required:"true" minLength:"1" maxLength:"36" doc:"The quiz." example:"2f1c6a52-8a44-4b0e-9a63-4d1f7d2f0c11"`
	}
)

func (s *server) registerQuiz() {
	httpapi.Serve(s.Server, httpapi.Operation{ID: "askQuestion",
		Description: "Returns the next question of the caller's quiz, and begins a quiz if none is active. A quiz is " +
			"active until it is ended, or for 15 minutes after its last question or answer, and asks about no term " +
			"twice. A question without an answer is returned again as it is, also to a request for another " +
			"difficulty or category. Users of the free tier are asked 10 questions a day.",
		Errors: []error{badQuery(), lingible.ErrNoQuestion,
			&lingible.UsageError{What: "questions of the quiz a day", Limit: 10}},
	}, func(ctx context.Context, input *questionInput) (lingible.QuizQuestion, error) {
		return s.api.Service.AskQuestion(ctx, callerFrom(ctx), input.Difficulty, input.Category)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "answerQuestion",
		Description: "Answers the question that was asked last. A right answer earns 10 points at once, less by 0.3 " +
			"with each second since the question was asked first, and 1 from 30 seconds on. A repeat has the same " +
			"answer, and counts nothing.",
		Errors: []error{lingible.ErrNoQuiz, lingible.ErrNoSuchQuestion, lingible.ErrAnswered},
	}, func(ctx context.Context, input *httpapi.Input[QuizSelection]) (lingible.QuizAnswer, error) {
		return s.api.Service.AnswerQuestion(ctx, callerFrom(ctx), input.Body.SessionID, input.Body.QuestionID,
			input.Body.Selected)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readQuiz",
		Description: "Returns how a quiz stands, until 48 hours after its last question or answer.",
		Errors:      []error{badQuery(), lingible.ErrNoQuiz},
	}, func(ctx context.Context, input *progressInput) (lingible.QuizProgress, error) {
		return s.api.Service.QuizProgress(ctx, callerFrom(ctx), input.SessionID)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "endQuiz",
		Description: "Ends a quiz, and returns how it stands. One that has ended stays as it is.",
		Errors:      []error{lingible.ErrNoQuiz},
	}, func(ctx context.Context, input *httpapi.Input[QuizID]) (lingible.QuizProgress, error) {
		return s.api.Service.EndQuiz(ctx, callerFrom(ctx), input.Body.SessionID)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readQuizHistory",
		Description: "Returns the caller's days with questions, and how many questions are left today.",
	}, func(ctx context.Context, _ *struct{}) (lingible.QuizHistory, error) {
		return s.api.Service.QuizHistory(ctx, callerFrom(ctx))
	})
}
