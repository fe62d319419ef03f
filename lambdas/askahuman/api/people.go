package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

// PeopleService is what people's routes call; [askahuman.People] is one.
type PeopleService interface {
	Feed(ctx context.Context, personHash string, audience []string, limit int, cursor string) ([]askahuman.Question, string, error)
	Question(ctx context.Context, personHash, questionID string) (question askahuman.Question, canAnswer bool, err error)
	Answer(ctx context.Context, personHash string, zone *time.Location, answer askahuman.Answer) (askahuman.Receipt, error)
	Stats(ctx context.Context, personHash string, zone *time.Location) (askahuman.Standing, error)
	Leaderboard(ctx context.Context, personHash string, period askahuman.Period, limit int) (askahuman.Board, error)
	Subscribe(ctx context.Context, personHash, token string, interval time.Duration) (askahuman.Subscription, error)
	ChangeSubscription(ctx context.Context, id, token string, interval time.Duration) (askahuman.Subscription, error)
	RenewSubscription(ctx context.Context, personHash, oldToken, token string, interval time.Duration) (askahuman.Subscription, error)
	Unsubscribe(ctx context.Context, id string) error
}

// HumanAPI serves the routes of people.
type HumanAPI struct {
	// Service carries requests out.
	Service PeopleService
	// RateLimiter counts the calls of each person and each address.
	RateLimiter httpapi.RateLimiter
	// Hasher makes people and addresses anonymous.
	Hasher Hasher
	// Rules have the rate limits. Nil: [schema.DefaultAskAHumanRules].
	Rules *schema.AskAHumanRules
	// Log receives errors that callers do not see. Nil: [slog.Default].
	Log *slog.Logger
	// Metrics receives the metrics Answered, Closed, TimeToFirstAnswer
	// and Subscribed. Nil: none.
	Metrics *kit.Metrics
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
}

// Handler returns the handler of the routes.
func (h *HumanAPI) Handler() *kit.API {
	s := newServer(server{
		limiter: h.RateLimiter, hasher: h.Hasher, rules: h.Rules,
		log: h.Log, metrics: h.Metrics, now: h.Now,
	})
	registerPeople(s, h.Service)
	return s.Handler()
}

type feedInput struct {
	Limit    int      `query:"limit" minimum:"1" default:"20" doc:"How many to return at most, 1 to 50; a higher number is 50."`
	Cursor   string   `query:"cursor" doc:"The next_cursor of the page before."`
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
}

// HumanQuestionList is a page of questions that want answers.
type HumanQuestionList struct {
	Questions  []HumanQuestion `json:"questions" nullable:"false" doc:"Newest first."`
	NextCursor string          `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// AnswerableQuestion is a question for one person.
type AnswerableQuestion struct {
	HumanQuestion
	CanAnswer bool `json:"can_answer" doc:"False for a person who has answered it."`
}

// ZonedInput is the header of operations that count days.
type ZonedInput struct {
	Timezone string `header:"X-Timezone" maxLength:"64" doc:"IANA name of the person's time zone, which says when their days and nights are; UTC by default. It may differ from one request to the next." example:"Europe/Berlin"`
}

type answerInput struct {
	ZonedInput
	Body AnswerBody
}

// AnswerBody is an answer as a person gives it.
type AnswerBody struct {
	QuestionID     string  `json:"question_id" maxLength:"64" doc:"The question that it answers." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Answer         *string `json:"answer,omitempty" nullable:"true" minLength:"1" maxLength:"5000" doc:"To a text question: more than white space. It is kept as written." example:"Only if it is our fault."`
	SelectedOption *int    `json:"selected_option,omitempty" nullable:"true" minimum:"0" maximum:"9" doc:"To a multiple choice question: the option's index, from 0."`
	Confidence     *int    `json:"confidence,omitempty" nullable:"true" minimum:"1" maximum:"5" doc:"How sure the person is." example:"4"`
	ResponseTimeMS *int64  `json:"response_time_ms,omitempty" nullable:"true" minimum:"0" doc:"Milliseconds from seeing the question to sending the answer." example:"42000"`
}

// Receipt is what a person gets for an answer.
type Receipt struct {
	ResponseID   string  `json:"response_id" format:"uuid"`
	PointsEarned int     `json:"points_earned" example:"12"`
	NewBadges    []Badge `json:"new_badges" nullable:"false"`
	TotalPoints  int     `json:"total_points" example:"112"`
}

// Badge is an earned badge.
type Badge struct {
	ID       string `json:"id" doc:"Badges are for numbers of answers and days in a row, and: 25 answers in a category (tech_expert, product_pro, ethics_advocate, creative_mind, generalist), an answer within 2 minutes of the question (early_bird), 10 answers from 00:00 to 06:00 in the person's time zone (night_owl), 5 with response_time_ms under 30000 (speed_demon), 10 with confidence 5 (confident). A badge stays once it is earned. More may come." example:"first_answer"`
	Name     string `json:"name" example:"First Steps"`
	EarnedAt string `json:"earned_at" format:"date-time" example:"2026-02-02T09:45:00.000Z"`
}

type subscribeInput struct{ Body SubscribeBody }

// SubscribeBody is a device that wants to be notified.
type SubscribeBody struct {
	Token    string `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's Firebase Cloud Messaging token, without white space."`
	Interval *int   `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time from a notification of the person, on any of their devices, to the next one on this device; 30 by default." example:"30"`
}

type changeInput struct {
	ID   string `path:"subscription_id" doc:"The subscription's id."`
	Body ChangeBody
}

// ChangeBody is a change of a subscription.
type ChangeBody struct {
	Token    *string `json:"fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications." example:"60"`
}

type renewInput struct{ Body RenewBody }

// RenewBody is a device whose token has changed.
type RenewBody struct {
	Token    string  `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	OldToken *string `json:"old_fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The one that it had before."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications; as it was by default." example:"60"`
}

type subscriptionInput struct {
	ID string `path:"subscription_id" doc:"The subscription's id."`
}

// Subscription is a device that is notified.
type Subscription struct {
	SubscriptionID string `json:"subscription_id" format:"uuid"`
	Status         string `json:"status" enum:"active"`
}

// Stats are a person's points, streak and badges.
type Stats struct {
	TotalPoints       int            `json:"total_points" example:"112"`
	TotalAnswers      int            `json:"total_answers" example:"9"`
	StreakDays        int            `json:"streak_days" doc:"Days in a row with an answer, up to today or yesterday. An answer counts a new day if its date is later than that of the last day that counted, and in its own time zone the person's last answer was on an earlier date. So a day may not count when the zone changes: two answers within an hour are on one day, in any zones. The row goes on if the day before was the last that counted, or that of the last answer, in the zone of the new one." example:"3"`
	Badges            []Badge        `json:"badges" nullable:"false"`
	Rank              *int           `json:"rank" doc:"Rank of all time; null for a person without points, and beyond rank 1000." example:"17"`
	AnswersByCategory map[string]int `json:"answers_by_category" doc:"A question's category is the first tag of its audience." example:"{\"technical\":7,\"general\":2}"`
}

type leaderboardInput struct {
	Period string `query:"period" enum:"daily,weekly,all_time" default:"all_time" doc:"The UTC day, the week from Monday UTC, or all time."`
	Limit  int    `query:"limit" minimum:"1" default:"10" doc:"How many entries to return at most, 1 to 100; a higher number is 100."`
}

// Leaderboard is a leaderboard as one person sees it.
type Leaderboard struct {
	Period     string             `json:"period" enum:"daily,weekly,all_time"`
	Entries    []LeaderboardEntry `json:"entries" nullable:"false"`
	YourRank   *int               `json:"your_rank" doc:"Null for a person without points, and beyond rank 1000." example:"17"`
	YourPoints int                `json:"your_points" example:"112"`
}

// LeaderboardEntry is one person on a leaderboard.
type LeaderboardEntry struct {
	Rank          int  `json:"rank" doc:"Equal points share a rank, and the next rank counts them all: 1, 2, 2, 4." example:"1"`
	Points        int  `json:"points" example:"990"`
	Answers       int  `json:"answers" example:"80"`
	IsCurrentUser bool `json:"is_current_user"`
}

// registerPeople declares the routes of the function humanapi.
func registerPeople(s *server, service PeopleService) {
	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/human/questions", ID: "listOpenQuestions", Status: http.StatusOK,
		Description: "Returns a page of questions that still want answers, newest first, without those that the person has answered. A page may have fewer questions than its limit, even none, and still a next_cursor: one request looks at about 500 questions. One that the person answered a moment ago may still be there.",
	}, func(ctx context.Context, input *feedInput) (HumanQuestionList, error) {
		var audience []string
		for _, value := range input.Audience {
			for tag := range strings.SplitSeq(value, ",") {
				if tag = strings.TrimSpace(tag); tag != "" {
					audience = append(audience, tag)
				}
			}
		}
		questions, next, err := service.Feed(ctx, caller(ctx), audience, input.Limit, input.Cursor)
		page := HumanQuestionList{Questions: make([]HumanQuestion, len(questions)), NextCursor: next}
		for i, question := range questions {
			page.Questions[i] = humanQuestion(question)
		}
		return page, err
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/human/questions/{question_id}", ID: "readOpenQuestion", Status: http.StatusOK,
		Description: "Returns a question that still wants answers, and whether this person can give one.",
		Errors:      []error{askahuman.ErrQuestionNotFound, askahuman.ErrQuestionClosed},
	}, func(ctx context.Context, input *questionInput) (AnswerableQuestion, error) {
		question, canAnswer, err := service.Question(ctx, caller(ctx), input.ID)
		return AnswerableQuestion{humanQuestion(question), canAnswer}, err
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodPost, Path: "/human/responses", ID: "answerQuestion", NeedsCaller: true, Status: http.StatusCreated,
		Description: "Stores a person's answer to a question and gives points for it. One person answers a question once, and is told ALREADY_ANSWERED also when the question has ended since. A text of more than 100 characters, without the white space around it, earns more; so do confidence, an answer within 5 minutes of the person's last notification if that was of this question, and an answer to a question that has less than half of its answers. Points stop at the most of a UTC day; the answer, its day in a row and its badges still count.",
		Errors:      []error{askahuman.ErrQuestionNotFound, askahuman.ErrAlreadyAnswered, askahuman.ErrQuestionClosed},
	}, func(ctx context.Context, input *answerInput) (Receipt, error) {
		location, err := httpapi.Timezone(input.Timezone)
		if err != nil {
			return Receipt{}, err
		}
		receipt, err := service.Answer(ctx, caller(ctx), location, input.Body.answer())
		if err != nil {
			return Receipt{}, err
		}
		metrics := []kit.Metric{kit.Count("Answered", 1)}
		if receipt.Status == askahuman.StatusClosed {
			metrics = append(metrics, kit.Count("Closed", 1))
		}
		if receipt.First {
			metrics = append(metrics, kit.Milliseconds("TimeToFirstAnswer", receipt.SinceAsked))
		}
		s.metrics.Emit(ctx, metrics...)
		return Receipt{
			ResponseID:   receipt.ResponseID,
			PointsEarned: receipt.Points,
			NewBadges:    badges(receipt.NewBadges),
			TotalPoints:  receipt.TotalPoints,
		}, nil
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodPost, Path: "/human/push/subscribe", ID: "subscribe", Status: http.StatusCreated,
		Description: "Subscribes a device to notifications of new questions. A token that is subscribed already keeps its subscription, with the new interval, and the person of this request if X-Fingerprint names one. Without X-Fingerprint a new subscription is an unknown person's, who earns nothing more for an answer to a notification.",
	}, func(ctx context.Context, input *subscribeInput) (Subscription, error) {
		subscription, err := service.Subscribe(ctx, caller(ctx), input.Body.Token, minutes(input.Body.Interval))
		if err == nil {
			s.metrics.Emit(ctx, kit.Count("Subscribed", 1))
		}
		return subscribed(subscription), err
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodPut, Path: "/human/push/subscribe", ID: "renewSubscription", Status: http.StatusOK,
		Description: "Gives a device's subscription its new token, for apps that do not keep the subscription's id. It is the one that has the old token, or else the one that has the new token already, or else the last one that the person made.",
		Errors:      []error{askahuman.ErrSubscriptionNotFound},
	}, func(ctx context.Context, input *renewInput) (Subscription, error) {
		var oldToken string
		if input.Body.OldToken != nil {
			oldToken = *input.Body.OldToken
		}
		subscription, err := service.RenewSubscription(ctx, caller(ctx), oldToken, input.Body.Token, minutes(input.Body.Interval))
		return subscribed(subscription), err
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodPut, Path: "/human/push/subscribe/{subscription_id}", ID: "changeSubscription", Status: http.StatusOK,
		Description: "Gives a subscription a new token, a new interval, or both, and makes it active again. A token of another subscription moves here, and that one ends.",
		Errors:      []error{askahuman.ErrSubscriptionNotFound},
	}, func(ctx context.Context, input *changeInput) (Subscription, error) {
		if input.Body.Token == nil && input.Body.Interval == nil {
			return Subscription{}, validate.Errorf("body", validate.RuleRequired, "changes nothing; send fcm_token, min_interval_minutes, or both")
		}
		var token string
		if input.Body.Token != nil {
			token = *input.Body.Token
		}
		subscription, err := service.ChangeSubscription(ctx, input.ID, token, minutes(input.Body.Interval))
		return subscribed(subscription), err
	})

	httpapi.Register(s.Server, httpapi.Operation{
		Method: http.MethodDelete, Path: "/human/push/subscribe/{subscription_id}", ID: "unsubscribe", Status: http.StatusNoContent,
		Description: "Ends a subscription.",
		Errors:      []error{askahuman.ErrSubscriptionNotFound},
	}, func(ctx context.Context, input *subscriptionInput) (*struct{}, error) {
		return nil, service.Unsubscribe(ctx, input.ID)
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/human/stats", ID: "readStats", NeedsCaller: true, Status: http.StatusOK,
		Description: "Returns the person's own points, streak and badges.",
	}, func(ctx context.Context, input *ZonedInput) (Stats, error) {
		location, err := httpapi.Timezone(input.Timezone)
		if err != nil {
			return Stats{}, err
		}
		standing, err := service.Stats(ctx, caller(ctx), location)
		stats := Stats{
			TotalPoints:       standing.TotalPoints,
			TotalAnswers:      standing.TotalAnswers,
			StreakDays:        standing.StreakDays,
			Badges:            badges(standing.Badges),
			Rank:              rank(standing.Rank),
			AnswersByCategory: standing.AnswersByCategory,
		}
		if stats.AnswersByCategory == nil {
			stats.AnswersByCategory = map[string]int{}
		}
		return stats, err
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/human/leaderboard", ID: "readLeaderboard", Status: http.StatusOK,
		Description: "Returns the people with the most points, and where the person stands among them.",
	}, func(ctx context.Context, input *leaderboardInput) (Leaderboard, error) {
		board, err := service.Leaderboard(ctx, caller(ctx), askahuman.Period(input.Period), input.Limit)
		wire := Leaderboard{
			Period:     string(board.Period),
			Entries:    make([]LeaderboardEntry, len(board.Entries)),
			YourRank:   rank(board.YourRank),
			YourPoints: board.YourPoints,
		}
		for i, entry := range board.Entries {
			wire.Entries[i] = LeaderboardEntry{Rank: entry.Rank, Points: entry.Points, Answers: entry.Answers, IsCurrentUser: entry.IsCurrentUser}
		}
		return wire, err
	})
}

// answer is the request in the domain's terms.
func (b AnswerBody) answer() askahuman.Answer {
	answer := askahuman.Answer{QuestionID: b.QuestionID, Text: b.Answer, Option: b.SelectedOption, ResponseTimeMS: -1}
	if b.Confidence != nil {
		answer.Confidence = *b.Confidence
	}
	if b.ResponseTimeMS != nil {
		answer.ResponseTimeMS = *b.ResponseTimeMS
	}
	return answer
}

func humanQuestion(question askahuman.Question) HumanQuestion {
	wire := HumanQuestion{
		QuestionID:      question.ID,
		Prompt:          question.Prompt,
		Type:            string(question.Type),
		Audience:        list(question.Audience),
		ResponsesNeeded: max(0, question.RequiredResponses-question.CurrentResponses),
		CreatedAt:       timestamp(question.CreatedAt),
	}
	if question.Type == askahuman.TypeMultipleChoice {
		wire.Options = question.Options
	}
	return wire
}

func badges(earned []askahuman.Badge) []Badge {
	wire := make([]Badge, len(earned))
	for i, badge := range earned {
		wire[i] = Badge{ID: badge.ID, Name: badge.Name, EarnedAt: timestamp(badge.EarnedAt)}
	}
	return wire
}

// minutes is a number of minutes; zero when there is none.
func minutes(n *int) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Minute
}

// rank is a rank as the wire format has it: null when there is none.
func rank(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func subscribed(subscription askahuman.Subscription) Subscription {
	return Subscription{SubscriptionID: subscription.ID, Status: "active"}
}
