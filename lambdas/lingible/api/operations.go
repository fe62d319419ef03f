package api

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Requests by their parameters and their bodies.
type (
	request            = httpapi.Request[schema.None, schema.None]
	requestBy[P any]   = httpapi.Request[P, schema.None]
	requestWith[B any] = httpapi.Request[schema.None, B]
	none               = schema.None
)

func bindTranslations(server *httpapi.Server, s *service.Service) {
	httpapi.Bind(server, lingible.Translate,
		func(ctx context.Context, r requestWith[lingible.TranslationInput]) (lingible.ChargedTranslation, error) {
			return s.Translate(ctx, callerFrom(ctx), r.Body)
		})
	httpapi.Bind(server, lingible.ListTranslations,
		func(ctx context.Context, r requestBy[lingible.PageParams]) (lingible.TranslationList, error) {
			return s.Translations(ctx, callerFrom(ctx), r.Params.Limit, r.Params.Cursor)
		})
	httpapi.Bind(server, lingible.DeleteTranslation,
		func(ctx context.Context, r requestBy[lingible.TranslationParams]) (none, error) {
			return none{}, s.DeleteTranslation(ctx, r.Caller.ID, r.Params.ID)
		})
	httpapi.Bind(server, lingible.DeleteTranslations, func(ctx context.Context, r request) (none, error) {
		return none{}, s.DeleteTranslations(ctx, r.Caller.ID)
	})
}

func bindUsers(server *httpapi.Server, s *service.Service) {
	httpapi.Bind(server, lingible.ReadUser, func(ctx context.Context, _ request) (lingible.User, error) {
		return s.Profile(ctx, callerFrom(ctx))
	})
	httpapi.Bind(server, lingible.ReadUsage, func(ctx context.Context, _ request) (lingible.Balance, error) {
		return s.Balance(ctx, callerFrom(ctx))
	})
	httpapi.Bind(server, lingible.UpgradeUser, func(ctx context.Context, _ request) (lingible.User, error) {
		return s.Upgrade(ctx, callerFrom(ctx))
	})
	httpapi.Bind(server, lingible.DeleteUser,
		func(ctx context.Context, _ requestWith[lingible.AccountDeletion]) (lingible.AccountStatus, error) {
			return lingible.AccountStatus{Status: lingible.Deleting}, s.DeleteAccount(ctx, callerFrom(ctx))
		})
}

func bindSlang(server *httpapi.Server, s *service.Service) {
	httpapi.Bind(server, lingible.SubmitTerm,
		func(ctx context.Context, r requestWith[lingible.Proposal]) (lingible.Submission, error) {
			return s.Submit(ctx, callerFrom(ctx), r.Body)
		})
	httpapi.Bind(server, lingible.ListOwnSubmissions,
		func(ctx context.Context, r requestBy[lingible.PageParams]) (lingible.SubmissionList, error) {
			return s.OwnSubmissions(ctx, r.Caller.ID, r.Params.Limit, r.Params.Cursor)
		})
	httpapi.Bind(server, lingible.ListOpenSubmissions,
		func(ctx context.Context, r requestBy[lingible.PageParams]) (lingible.SubmissionList, error) {
			return s.OpenSubmissions(ctx, r.Params.Limit, r.Params.Cursor)
		})
	httpapi.Bind(server, lingible.VoteForSubmission,
		func(ctx context.Context, r requestBy[lingible.SubmissionParams]) (lingible.Vote, error) {
			return s.Vote(ctx, callerFrom(ctx), r.Params.ID)
		})
	httpapi.Bind(server, lingible.ApproveSubmission,
		func(ctx context.Context, r requestBy[lingible.SubmissionParams]) (lingible.Submission, error) {
			return s.Approve(ctx, r.Caller.ID, r.Params.ID)
		})
	httpapi.Bind(server, lingible.RejectSubmission,
		func(ctx context.Context, r requestBy[lingible.SubmissionParams]) (lingible.Submission, error) {
			return s.Reject(ctx, r.Caller.ID, r.Params.ID)
		})
	httpapi.Bind(server, lingible.ListTrends,
		func(ctx context.Context, r requestBy[lingible.TrendParams]) (lingible.TrendList, error) {
			trends, err := s.Trends(ctx, callerFrom(ctx), lingible.TrendQuery{Category: r.Params.Category,
				ActiveOnly: r.Params.ActiveOnly, Limit: r.Params.Limit})
			return lingible.TrendList{Trends: append([]lingible.Trend{}, trends...)}, err
		})
}

func bindQuiz(server *httpapi.Server, s *service.Service) {
	httpapi.Bind(server, lingible.AskQuestion,
		func(ctx context.Context, r requestBy[lingible.QuestionParams]) (lingible.QuizQuestion, error) {
			return s.AskQuestion(ctx, callerFrom(ctx), r.Params.Difficulty, r.Params.Category)
		})
	httpapi.Bind(server, lingible.AnswerQuestion,
		func(ctx context.Context, r requestWith[lingible.QuizSelection]) (lingible.QuizAnswer, error) {
			return s.AnswerQuestion(ctx, callerFrom(ctx), r.Body.SessionID, r.Body.QuestionID, r.Body.Selected)
		})
	httpapi.Bind(server, lingible.ReadQuiz,
		func(ctx context.Context, r requestBy[lingible.QuizParams]) (lingible.QuizProgress, error) {
			return s.QuizProgress(ctx, callerFrom(ctx), r.Params.SessionID)
		})
	httpapi.Bind(server, lingible.EndQuiz,
		func(ctx context.Context, r requestWith[lingible.QuizID]) (lingible.QuizProgress, error) {
			return s.EndQuiz(ctx, callerFrom(ctx), r.Body.SessionID)
		})
	httpapi.Bind(server, lingible.ReadQuizHistory,
		func(ctx context.Context, _ request) (lingible.QuizHistory, error) {
			return s.QuizHistory(ctx, callerFrom(ctx))
		})
}
