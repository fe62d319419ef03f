package api

import (
	"context"
	"strings"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// HumanAPI serves the routes of people.
type HumanAPI struct {
	// Service carries requests out.
	Service *service.Service
	// Options are the options of both APIs. Metrics receives the metrics Answered, Closed,
	// TimeToFirstAnswer and Subscribed.
	Options
	// Hasher makes people and addresses anonymous.
	Hasher Hasher
}

// Handler returns the handler of the routes.
func (h *HumanAPI) Handler() *kit.API {
	s := h.server(h.platform(false), byFingerprint(h.Hasher), httpapi.Idempotency{}, 0)
	h.bind(s)
	return s.Handler()
}

// bind serves the routes of the function humanapi.
func (h *HumanAPI) bind(s *httpapi.Server) {
	h.bindQuestions(s)
	h.bindAnswers(s)
	h.bindSubscriptions(s)
	h.bindPoints(s)
	httpapi.Bind(s, askahuman.ExportData,
		func(ctx context.Context, r requestBy[askahuman.CursorParams]) (askahuman.PersonData, error) {
			return h.Service.PersonData(ctx, r.Caller.ID, r.Params.Cursor)
		})
	httpapi.Bind(s, askahuman.DeleteData, func(ctx context.Context, r request) (askahuman.Deleted, error) {
		return h.Service.DeletePerson(ctx, r.Caller.ID)
	})
	if h.Parts.WithoutModeration {
		return
	}
	httpapi.Bind(s, askahuman.ReportQuestion,
		func(ctx context.Context, r requestWith[askahuman.PersonReport]) (askahuman.Reported, error) {
			reported, err := h.Service.ReportByPerson(ctx, r.Caller.ID, r.Body)
			if err == nil {
				h.Metrics.Emit(ctx, kit.Count("Reported", 1))
			}
			return reported, err
		})
}

// bindQuestions serves the routes of questions.
func (h *HumanAPI) bindQuestions(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.ListOpenQuestions,
		func(ctx context.Context, r requestBy[askahuman.FeedParams]) (askahuman.HumanQuestionList, error) {
			var audience []string
			for _, value := range r.Params.Audience {
				for tag := range strings.SplitSeq(value, ",") {
					if tag = strings.TrimSpace(tag); tag != "" {
						audience = append(audience, tag)
					}
				}
			}
			questions, next, err := h.Service.Feed(ctx, r.Caller.ID, audience, r.Params.Limit, r.Params.Cursor)
			page := askahuman.HumanQuestionList{Questions: make([]askahuman.HumanQuestion, len(questions)),
				NextCursor: next}
			for i, question := range questions {
				page.Questions[i] = humanQuestion(question)
			}
			return page, err
		})
	httpapi.Bind(s, askahuman.ReadOpenQuestion,
		func(ctx context.Context, r requestBy[askahuman.QuestionParams]) (askahuman.AnswerableQuestion, error) {
			// The moment before it is read: what ends the question meanwhile is later.
			now := h.Clock.Now()
			question, canAnswer, err := h.Service.Question(ctx, r.Caller.ID, r.Params.ID)
			read := askahuman.AnswerableQuestion{HumanQuestion: humanQuestion(question), CanAnswer: canAnswer}
			if err == nil && canAnswer && r.Caller.ID != "" {
				read.Handed, err = h.Hasher.Handed(ctx, r.Caller.ID, question.ID, now)
			}
			return read, err
		})
}

// bindAnswers serves the routes of answers.
func (h *HumanAPI) bindAnswers(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.AnswerQuestion,
		func(ctx context.Context,
			r httpapi.Request[askahuman.ZoneParams, askahuman.Answer]) (askahuman.Receipt, error) {
			location, err := validate.Timezone(r.Params.Timezone)
			if err != nil {
				return askahuman.Receipt{}, err
			}
			if r.Body.Handed != nil {
				r.Body.HandedAt, err = h.Hasher.HandedAt(ctx, r.Caller.ID, r.Body.QuestionID, *r.Body.Handed)
				if err != nil {
					return askahuman.Receipt{}, err
				}
			}
			receipt, err := h.Service.Answer(ctx, r.Caller.ID, location, r.Body)
			if err != nil || receipt.Late {
				return receipt, err
			}
			metrics := []kit.Metric{kit.Count("Answered", 1)}
			if receipt.Completed {
				metrics = append(metrics, kit.Count("Closed", 1))
			}
			if receipt.Answers == 1 {
				metrics = append(metrics, kit.Milliseconds("TimeToFirstAnswer", receipt.SinceAsked))
			}
			h.Metrics.Emit(ctx, metrics...)
			return receipt, nil
		})
	httpapi.Bind(s, askahuman.ListAnswers,
		func(ctx context.Context, r requestBy[askahuman.PageParams]) (askahuman.OwnAnswerList, error) {
			answers, next, err := h.Service.OwnAnswers(ctx, r.Caller.ID, r.Params.Limit, r.Params.Cursor)
			return askahuman.OwnAnswerList{Responses: append([]askahuman.OwnAnswer{}, answers...),
				NextCursor: next}, err
		})
}

// bindSubscriptions serves the routes of notifications.
func (h *HumanAPI) bindSubscriptions(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.Subscribe,
		func(ctx context.Context, r requestWith[askahuman.NewSubscription]) (askahuman.Subscribed, error) {
			subscription, err := h.Service.Subscribe(ctx, r.Caller.ID, r.Body)
			if err == nil {
				h.Metrics.Emit(ctx, kit.Count("Subscribed", 1))
			}
			return subscribed(subscription.ID), err
		})
	httpapi.Bind(s, askahuman.RenewSubscription,
		func(ctx context.Context, r requestWith[askahuman.SubscriptionRenewal]) (askahuman.Subscribed, error) {
			id, err := h.Service.RenewSubscription(ctx, r.Caller.ID, r.Body)
			return subscribed(id), err
		})
	httpapi.Bind(s, askahuman.ChangeSubscription, func(ctx context.Context,
		r httpapi.Request[askahuman.SubscriptionParams, askahuman.SubscriptionChange]) (askahuman.Subscribed, error) {
		subscription, err := h.Service.ChangeSubscription(ctx, r.Params.ID, r.Body)
		return subscribed(subscription.ID), err
	})
	httpapi.Bind(s, askahuman.Unsubscribe,
		func(ctx context.Context, r requestBy[askahuman.SubscriptionParams]) (none, error) {
			return none{}, h.Service.Unsubscribe(ctx, r.Params.ID)
		})
}

// bindPoints serves the routes of points and names.
func (h *HumanAPI) bindPoints(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.ReadStats,
		func(ctx context.Context, r requestBy[askahuman.ZoneParams]) (askahuman.Standing, error) {
			location, err := validate.Timezone(r.Params.Timezone)
			if err != nil {
				return askahuman.Standing{}, err
			}
			return h.Service.Stats(ctx, r.Caller.ID, location)
		})
	httpapi.Bind(s, askahuman.ChooseHandle,
		func(ctx context.Context, r requestWith[askahuman.Handle]) (askahuman.Handle, error) {
			return h.Service.ChooseHandle(ctx, r.Caller.ID, r.Body)
		})
	httpapi.Bind(s, askahuman.DropHandle, func(ctx context.Context, r request) (askahuman.Handle, error) {
		return h.Service.DropHandle(ctx, r.Caller.ID)
	})
	httpapi.Bind(s, askahuman.ReadLeaderboard,
		func(ctx context.Context, r requestBy[askahuman.LeaderboardParams]) (askahuman.Leaderboard, error) {
			return h.Service.Leaderboard(ctx, r.Caller.ID, askahuman.Period(r.Params.Period), r.Params.Limit)
		})
}

func humanQuestion(question askahuman.Question) askahuman.HumanQuestion {
	wire := askahuman.HumanQuestion{
		QuestionID:      question.ID,
		Prompt:          question.Prompt,
		Type:            string(question.Type),
		Audience:        append([]string{}, question.Audience...),
		ResponsesNeeded: max(0, question.RequiredResponses-question.CurrentResponses),
		CreatedAt:       question.CreatedAt.String(),
		ExpiresAt:       question.Deadline.String(),
	}
	if question.Type == askahuman.TypeMultipleChoice {
		wire.Options = question.Options
	}
	return wire
}

func subscribed(id string) askahuman.Subscribed {
	return askahuman.Subscribed{SubscriptionID: id, Status: "active"}
}
