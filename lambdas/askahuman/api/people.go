package api

import (
	"context"
	"net/http"
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
	s := h.server(httpapi.Identity{}, h.Hasher, httpapi.Idempotency{}, 0)
	h.register(s)
	return s.Handler()
}

type feedInput struct {
	pageInput
	Audience []string `query:"audience,explode" doc:"Only questions for one of these audiences (technical, product, ethics, creative, general): repeat the parameter, or separate them by commas." example:"[\"technical\"]"`
}

// HumanQuestion is a question as people see it.
type HumanQuestion struct {
	QuestionID      string   `json:"question_id" format:"uuid"`
	Prompt          string   `json:"prompt"`
	Type            string   `json:"type" enum:"text,multiple_choice"`
	Options         []string `json:"options,omitempty" nullable:"false" doc:"Of a multiple choice question."`
	Audience        []string `json:"audience" nullable:"false" example:"[\"general\"]"`
	ResponsesNeeded int      `json:"responses_needed" doc:"How many answers are still wanted." example:"3"`
	CreatedAt       string   `json:"created_at" format:"date-time" example:"2026-02-02T09:30:00.000Z"`
	ExpiresAt       string   `json:"expires_at" format:"date-time" doc:"When answers stop being taken." example:"2026-02-02T10:30:00.000Z"`
}

// HumanQuestionList is a page of questions that need answers.
type HumanQuestionList struct {
	Questions  []HumanQuestion `json:"questions" nullable:"false" doc:"Newest first."`
	NextCursor string          `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// AnswerableQuestion is a question for one person.
type AnswerableQuestion struct {
	HumanQuestion
	CanAnswer bool `json:"can_answer" doc:"False for a person who has answered it."`
}

// OwnAnswerList is a page of a person's own answers.
type OwnAnswerList struct {
	Responses  []service.OwnAnswer `json:"responses" nullable:"false" doc:"Newest first."`
	NextCursor string              `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// ZonedInput is the header of operations that count days.
type ZonedInput struct {
	Timezone string `header:"X-Timezone" maxLength:"64" doc:"IANA name of the person's time zone, which says when their days and nights are; UTC by default. It may differ from one request to the next." example:"Europe/Berlin"`
}

type answerInput struct {
	ZonedInput
	Body askahuman.Answer
}

type subscribeInput struct{ Body askahuman.NewSubscription }

type changeInput struct {
	ID   string `path:"subscription_id" doc:"The subscription's id."`
	Body askahuman.SubscriptionChange
}

type renewInput struct{ Body askahuman.SubscriptionRenewal }

type subscriptionInput struct {
	ID string `path:"subscription_id" doc:"The subscription's id."`
}

// Subscription is a device that is notified.
type Subscription struct {
	SubscriptionID string `json:"subscription_id" format:"uuid"`
	Status         string `json:"status" enum:"active"`
}

type handleInput struct{ Body askahuman.Handle }

type leaderboardInput struct {
	Period string `query:"period" enum:"daily,weekly,all_time" default:"all_time" doc:"The UTC day, the week from Monday UTC, or all time."`
	Limit  int    `query:"limit" minimum:"1" default:"10" doc:"How many entries to return at most, 1 to 100; a higher number is 100."`
}

// register declares the routes of the function humanapi.
func (h *HumanAPI) register(s *httpapi.Server) {
	h.registerQuestions(s)
	h.registerSubscriptions(s)
	h.registerPoints(s)
	h.registerData(s)
	if !h.Parts.WithoutModeration {
		h.registerReports(s)
	}
}

// registerQuestions declares the routes of questions and answers.
func (h *HumanAPI) registerQuestions(s *httpapi.Server) {
	httpapi.Serve(s, httpapi.Operation{ID: "listOpenQuestions",
		Description: "Returns a page of questions that still want answers, newest first, without those that the " +
			"person has answered. A page may have fewer questions than its limit, even none, and still a " +
			"next_cursor: one request looks at 120 questions. One that the person answered a moment ago may still be " +
			"there.",
		Stricter: httpapi.Forms{"query.audience": httpapi.DistinctItems,
			"query.audience[0]": httpapi.Only(askahuman.Audiences()...)},
	}, func(ctx context.Context, input *feedInput) (HumanQuestionList, error) {
		var audience []string
		for _, value := range input.Audience {
			for tag := range strings.SplitSeq(value, ",") {
				if tag = strings.TrimSpace(tag); tag != "" {
					audience = append(audience, tag)
				}
			}
		}
		questions, next, err := h.Service.Feed(ctx, caller(ctx), audience, input.Limit, input.Cursor)
		page := HumanQuestionList{Questions: make([]HumanQuestion, len(questions)), NextCursor: next}
		for i, question := range questions {
			page.Questions[i] = humanQuestion(question)
		}
		return page, err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "readOpenQuestion",
		Description: "Returns a question that still wants answers, and whether this person can give one.",
		Stricter:    httpapi.Forms{"path.question_id": httpapi.Format("uuid")},
		Errors:      []error{askahuman.ErrQuestionNotFound, askahuman.ErrQuestionClosed},
	}, func(ctx context.Context, input *questionInput) (AnswerableQuestion, error) {
		question, canAnswer, err := h.Service.Question(ctx, caller(ctx), input.ID)
		return AnswerableQuestion{humanQuestion(question), canAnswer}, err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "answerQuestion", NeedsCaller: true,
		Status: http.StatusCreated,
		Description: "Stores a person's answer to a question and gives points for it. One person answers a question " +
			"once, and is told ALREADY_ANSWERED also when the question has ended since. A text of more than 100 " +
			"characters, without the white space around it, earns more; so do confidence, an answer within 5 minutes " +
			"of the person's last notification if that was of this question, and an answer to a question that has " +
			"less than half of its answers. Points stop at the most of a UTC day; the answer, its day in a row and " +
			"its badges still count.",
		Stricter: httpapi.Forms{"header.X-Timezone": httpapi.Format(httpapi.TimezoneFormat),
			"body.answer": httpapi.NotBlank},
		Variants: []httpapi.Variant{
			{Required: []string{"answer"}, Fields: httpapi.Forms{"selected_option": httpapi.Absent}},
			{Required: []string{"selected_option"}, Fields: httpapi.Forms{"answer": httpapi.Absent}},
		},
		Errors: []error{askahuman.ErrQuestionNotFound, askahuman.ErrAlreadyAnswered, askahuman.ErrQuestionClosed,
			askahuman.ErrBlocked},
	}, func(ctx context.Context, input *answerInput) (service.Receipt, error) {
		location, err := validate.Timezone(input.Timezone)
		if err != nil {
			return service.Receipt{}, err
		}
		receipt, err := h.Service.Answer(ctx, caller(ctx), location, input.Body)
		if err != nil {
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

	httpapi.Serve(s, httpapi.Operation{ID: "listAnswers", NeedsCaller: true,
		Description: "Returns a page of the person's own answers of the last 30 days, newest first, with what became " +
			"of their questions. An answer of a moment ago may not be there yet.",
	}, func(ctx context.Context, input *pageInput) (OwnAnswerList, error) {
		answers, next, err := h.Service.OwnAnswers(ctx, caller(ctx), input.Limit, input.Cursor)
		return OwnAnswerList{Responses: append([]service.OwnAnswer{}, answers...), NextCursor: next}, err
	})
}

// registerSubscriptions declares the routes of notifications.
func (h *HumanAPI) registerSubscriptions(s *httpapi.Server) {
	uuid, token := httpapi.Format("uuid"),
		httpapi.Pattern(`^[^\s\u0085]*[^\u0000-\u0020\u007f-\u00a0\u00ad][^\s\u0085]*$`)
	httpapi.Serve(s, httpapi.Operation{ID: "subscribe", Status: http.StatusCreated,
		Description: "Subscribes a device to notifications of new questions. A token that is subscribed already " +
			"keeps its subscription, with the new interval, and the person of this request if X-Fingerprint names " +
			"one. Without X-Fingerprint a new subscription is an unknown person's, who earns nothing more for an " +
			"answer to a notification.",
		Stricter: httpapi.Forms{"body.fcm_token": token},
	}, func(ctx context.Context, input *subscribeInput) (Subscription, error) {
		subscription, err := h.Service.Subscribe(ctx, caller(ctx), input.Body)
		if err == nil {
			h.Metrics.Emit(ctx, kit.Count("Subscribed", 1))
		}
		return subscribed(subscription.ID), err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "renewSubscription",
		Description: "Gives a device's subscription its new token, for apps that do not keep the subscription's id. " +
			"It is the one that has the old token, or else the one that has the new token already, or else the last " +
			"one that the person made.",
		Stricter: httpapi.Forms{"body.fcm_token": token, "body.old_fcm_token": token},
		Errors:   []error{askahuman.ErrSubscriptionNotFound},
	}, func(ctx context.Context, input *renewInput) (Subscription, error) {
		id, err := h.Service.RenewSubscription(ctx, caller(ctx), input.Body)
		return subscribed(id), err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "changeSubscription",
		Status: http.StatusOK,
		Description: "Gives a subscription a new token, a new interval, or both, and makes it active again. A token " +
			"of another subscription moves here, and that one ends.",
		Stricter: httpapi.Forms{"path.subscription_id": uuid, "body.fcm_token": token},
		Variants: []httpapi.Variant{
			{Required: []string{"fcm_token"}},
			{Required: []string{"min_interval_minutes"}, Fields: httpapi.Forms{"fcm_token": httpapi.Absent}},
		},
		Errors: []error{askahuman.ErrSubscriptionNotFound},
	}, func(ctx context.Context, input *changeInput) (Subscription, error) {
		subscription, err := h.Service.ChangeSubscription(ctx, input.ID, input.Body)
		return subscribed(subscription.ID), err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "unsubscribe",
		Status:      http.StatusNoContent,
		Description: "Ends a subscription.",
		Stricter:    httpapi.Forms{"path.subscription_id": uuid},
		Errors:      []error{askahuman.ErrSubscriptionNotFound},
	}, func(ctx context.Context, input *subscriptionInput) (any, error) {
		return nil, h.Service.Unsubscribe(ctx, input.ID)
	})
}

// registerPoints declares the routes of points.
func (h *HumanAPI) registerPoints(s *httpapi.Server) {
	httpapi.Serve(s, httpapi.Operation{ID: "readStats", NeedsCaller: true,
		Description: "Returns the person's own points, streak and badges.",
		Stricter:    httpapi.Forms{"header.X-Timezone": httpapi.Format(httpapi.TimezoneFormat)},
	}, func(ctx context.Context, input *ZonedInput) (service.Standing, error) {
		location, err := validate.Timezone(input.Timezone)
		if err != nil {
			return service.Standing{}, err
		}
		return h.Service.Stats(ctx, caller(ctx), location)
	})

	handleErrors := []error{askahuman.ErrNeverAnswered, askahuman.ErrHandleReset}
	httpapi.Serve(s, httpapi.Operation{ID: "chooseHandle", NeedsCaller: true,
		Description: "Keeps the name that the person chose for leaderboards, and returns it as it is kept: composed " +
			"(NFC), with single spaces. Others see it within a minute. A name is refused that promises an operator " +
			"or no one, insults, can be a phone number, or can be taken for that of someone else on the leaderboards.",
		Errors: append([]error{askahuman.ErrHandleReserved, askahuman.ErrHandleOffensive, askahuman.ErrHandleNumber,
			askahuman.ErrHandleTaken}, handleErrors...),
	}, func(ctx context.Context, input *handleInput) (askahuman.Handle, error) {
		return h.Service.ChooseHandle(ctx, caller(ctx), input.Body)
	})

	httpapi.Serve(s, httpapi.Operation{ID: "dropHandle", NeedsCaller: true,
		Description: "Gives the person the name back that is made for them, and returns it.", Errors: handleErrors,
	}, func(ctx context.Context, _ *struct{}) (askahuman.Handle, error) {
		return h.Service.DropHandle(ctx, caller(ctx))
	})

	httpapi.Serve(s, httpapi.Operation{ID: "readLeaderboard",
		Description: "Returns the people with the most points, and where the person stands among them.",
	}, func(ctx context.Context, input *leaderboardInput) (service.Leaderboard, error) {
		return h.Service.Leaderboard(ctx, caller(ctx), askahuman.Period(input.Period), input.Limit)
	})
}

func humanQuestion(question askahuman.Question) HumanQuestion {
	wire := HumanQuestion{
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

func subscribed(id string) Subscription { return Subscription{SubscriptionID: id, Status: "active"} }
