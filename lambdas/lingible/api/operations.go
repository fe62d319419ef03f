package api

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
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

func (s *server) bindTranslations() {
	httpapi.Bind(s.Server, lingible.Translate,
		func(ctx context.Context, r requestWith[lingible.TranslationInput]) (lingible.ChargedTranslation, error) {
			return s.service.Translate(ctx, callerFrom(ctx), r.Body)
		})
	httpapi.Bind(s.Server, lingible.ListTranslations,
		func(ctx context.Context, r requestBy[lingible.PageParams]) (lingible.TranslationList, error) {
			return s.service.Translations(ctx, callerFrom(ctx), r.Params.Limit, r.Params.Cursor)
		})
	httpapi.Bind(s.Server, lingible.DeleteTranslation,
		func(ctx context.Context, r requestBy[lingible.TranslationParams]) (none, error) {
			return none{}, s.service.DeleteTranslation(ctx, r.Caller.ID, r.Params.ID)
		})
	httpapi.Bind(s.Server, lingible.DeleteTranslations, func(ctx context.Context, r request) (none, error) {
		return none{}, s.service.DeleteTranslations(ctx, r.Caller.ID)
	})
}

func (s *server) bindUsers() {
	httpapi.Bind(s.Server, lingible.ReadUser, func(ctx context.Context, _ request) (lingible.User, error) {
		return s.service.Profile(ctx, callerFrom(ctx))
	})
	httpapi.Bind(s.Server, lingible.ReadUsage, func(ctx context.Context, _ request) (lingible.Balance, error) {
		return s.service.Balance(ctx, callerFrom(ctx))
	})
	httpapi.Bind(s.Server, lingible.UpgradeUser, func(ctx context.Context, _ request) (lingible.User, error) {
		return s.service.Upgrade(ctx, callerFrom(ctx))
	})
	httpapi.Bind(s.Server, lingible.DeleteUser,
		func(ctx context.Context, _ requestWith[lingible.AccountDeletion]) (lingible.AccountStatus, error) {
			return lingible.AccountStatus{Status: lingible.Deleting}, s.service.DeleteAccount(ctx, callerFrom(ctx))
		})
}

func (s *server) bindSlang() {
	httpapi.Bind(s.Server, lingible.SubmitTerm,
		func(ctx context.Context, r requestWith[lingible.Proposal]) (lingible.Submission, error) {
			return s.service.Submit(ctx, callerFrom(ctx), r.Body)
		})
	httpapi.Bind(s.Server, lingible.ListOwnSubmissions,
		func(ctx context.Context, r requestBy[lingible.PageParams]) (lingible.SubmissionList, error) {
			return s.service.OwnSubmissions(ctx, r.Caller.ID, r.Params.Limit, r.Params.Cursor)
		})
	httpapi.Bind(s.Server, lingible.ListOpenSubmissions,
		func(ctx context.Context, r requestBy[lingible.PageParams]) (lingible.SubmissionList, error) {
			return s.service.OpenSubmissions(ctx, r.Params.Limit, r.Params.Cursor)
		})
	httpapi.Bind(s.Server, lingible.VoteForSubmission,
		func(ctx context.Context, r requestBy[lingible.SubmissionParams]) (lingible.Vote, error) {
			return s.service.Vote(ctx, callerFrom(ctx), r.Params.ID)
		})
	httpapi.Bind(s.Server, lingible.ApproveSubmission,
		func(ctx context.Context, r requestBy[lingible.SubmissionParams]) (lingible.Submission, error) {
			return s.service.Approve(ctx, r.Caller.ID, r.Params.ID)
		})
	httpapi.Bind(s.Server, lingible.RejectSubmission,
		func(ctx context.Context, r requestBy[lingible.SubmissionParams]) (lingible.Submission, error) {
			return s.service.Reject(ctx, r.Caller.ID, r.Params.ID)
		})
	httpapi.Bind(s.Server, lingible.ListTrends,
		func(ctx context.Context, r requestBy[lingible.TrendParams]) (lingible.TrendList, error) {
			trends, err := s.service.Trends(ctx, callerFrom(ctx), lingible.TrendQuery{Category: r.Params.Category,
				ActiveOnly: r.Params.ActiveOnly, Limit: r.Params.Limit})
			return lingible.TrendList{Trends: append([]lingible.Trend{}, trends...)}, err
		})
}

func (s *server) bindQuiz() {
	httpapi.Bind(s.Server, lingible.AskQuestion,
		func(ctx context.Context, r requestBy[lingible.QuestionParams]) (lingible.QuizQuestion, error) {
			return s.service.AskQuestion(ctx, callerFrom(ctx), r.Params.Difficulty, r.Params.Category)
		})
	httpapi.Bind(s.Server, lingible.AnswerQuestion,
		func(ctx context.Context, r requestWith[lingible.QuizSelection]) (lingible.QuizAnswer, error) {
			return s.service.AnswerQuestion(ctx, callerFrom(ctx), r.Body.SessionID, r.Body.QuestionID, r.Body.Selected)
		})
	httpapi.Bind(s.Server, lingible.ReadQuiz,
		func(ctx context.Context, r requestBy[lingible.QuizParams]) (lingible.QuizProgress, error) {
			return s.service.QuizProgress(ctx, callerFrom(ctx), r.Params.SessionID)
		})
	httpapi.Bind(s.Server, lingible.EndQuiz,
		func(ctx context.Context, r requestWith[lingible.QuizID]) (lingible.QuizProgress, error) {
			return s.service.EndQuiz(ctx, callerFrom(ctx), r.Body.SessionID)
		})
	httpapi.Bind(s.Server, lingible.ReadQuizHistory,
		func(ctx context.Context, _ request) (lingible.QuizHistory, error) {
			return s.service.QuizHistory(ctx, callerFrom(ctx))
		})
}
