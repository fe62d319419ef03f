package api_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

// stub is both services. Each method calls work once, and returns its error.
type stub struct{ work func() error }

func (s stub) question() (askahuman.Question, error) {
	return askahuman.Question{
		ID: "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", Status: askahuman.StatusOpen, Type: askahuman.TypeText, RequiredResponses: 5, CreatedAt: began(), Deadline: began(),
	}, s.work()
}

func (s stub) subscription() (askahuman.Subscription, error) {
	return askahuman.Subscription{ID: "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"}, s.work()
}

func (s stub) Ask(context.Context, string, askahuman.Ask) (askahuman.Question, error) {
	return s.question()
}
func (s stub) Read(context.Context, string, string) (askahuman.QuestionWithResponses, error) {
	q, err := s.question()
	return askahuman.QuestionWithResponses{Question: q}, err
}
func (s stub) List(context.Context, string, askahuman.Status, int, string) ([]askahuman.Question, string, error) {
	return nil, "", s.work()
}
func (s stub) Close(context.Context, string, string) error { return s.work() }
func (s stub) Feed(context.Context, string, []string, int, string) ([]askahuman.Question, string, error) {
	return nil, "", s.work()
}
func (s stub) Question(context.Context, string, string) (askahuman.Question, bool, error) {
	q, err := s.question()
	return q, true, err
}
func (s stub) Answer(context.Context, string, *time.Location, askahuman.Answer) (askahuman.Receipt, error) {
	return askahuman.Receipt{ResponseID: "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", NewBadges: []askahuman.Badge{}}, s.work()
}
func (s stub) Stats(context.Context, string, *time.Location) (askahuman.Standing, error) {
	return askahuman.Standing{Badges: []askahuman.Badge{}, AnswersByCategory: map[string]int{}}, s.work()
}
func (s stub) Leaderboard(context.Context, string, askahuman.Period, int) (askahuman.Leaderboard, error) {
	return askahuman.Leaderboard{Period: askahuman.PeriodAllTime, Entries: []askahuman.LeaderboardEntry{}}, s.work()
}
func (s stub) Subscribe(context.Context, string, askahuman.NewSubscription) (askahuman.Subscription, error) {
	return s.subscription()
}
func (s stub) ChangeSubscription(context.Context, string, askahuman.SubscriptionChange) (askahuman.Subscription, error) {
	return s.subscription()
}
func (s stub) RenewSubscription(context.Context, string, askahuman.SubscriptionRenewal) (askahuman.Subscription, error) {
	return s.subscription()
}
func (s stub) Unsubscribe(context.Context, string) error { return s.work() }

// suite holds one of the functions to what all APIs of the kit promise.
func suite(t testing.TB, function string, serve func(stub, idempotency.Claims, api.Options) *kit.API) httpapitest.Suite {
	t.Helper()
	document, err := api.Document(api.ByToken, nil)
	if err != nil {
		t.Fatal(err)
	}
	return httpapitest.Suite{
		Platform: schema.AskAHuman(), Function: function, Document: document,
		Serve: func(work func() error, keys idempotency.Claims, log *slog.Logger) *kit.API {
			return serve(stub{work}, keys, api.Options{RateLimiter: &limiter{unlimited: true}, Log: log, Now: began})
		},
		Errors: []httpapitest.ServiceError{
			{Err: validate.Errorf("prompt", validate.RuleFormat, "is odd"), Status: 400},
			{Err: idempotency.ErrOtherRequest, Status: 400},
			{Err: askahuman.ErrQuotaExceeded, Status: 403},
			{Err: askahuman.ErrQuestionNotFound, Status: 404},
			{Err: askahuman.ErrSubscriptionNotFound, Status: 404},
			{Err: askahuman.ErrAlreadyAnswered, Status: 409},
			{Err: &idempotency.RunningError{Until: began().Add(time.Minute)}, Status: 409},
			{Err: idempotency.ErrClaimLost, Status: 409},
			{Err: askahuman.ErrQuestionClosed, Status: 410},
			{Err: &ratelimit.LimitedError{State: ratelimit.State{Limit: 60, Reset: began().Add(-time.Second)}}, Status: 429},
			{Err: retry.ErrBusy, Status: 429},
			{Err: askahuman.ErrStale, Status: 429},
			{Err: retry.ErrUnanswered, Status: 503},
			{Err: context.DeadlineExceeded, Status: 503},
		},
	}
}

func agentSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "agentapi", func(s stub, keys idempotency.Claims, options api.Options) *kit.API {
		return (&api.AgentAPI{Service: s, Keys: keys, Options: options}).Handler()
	})
}

func humanSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "humanapi", func(s stub, _ idempotency.Claims, options api.Options) *kit.API {
		return (&api.HumanAPI{Service: s, Hasher: testHasher(), Options: options}).Handler()
	})
}

func TestAgentSuite(t *testing.T) { agentSuite(t).Run(t) }
func TestHumanSuite(t *testing.T) { humanSuite(t).Run(t) }

// FuzzAgentAPI and FuzzHumanAPI send events to the real services.
func FuzzAgentAPI(f *testing.F) {
	s := agentSuite(f)
	s.Serve = func(_ func() error, keys idempotency.Claims, _ *slog.Logger) *kit.API {
		return newPlatform(withTokens, func(p *platform) { p.agentAPI.Keys = keys }).agents
	}
	s.Fuzz(f)
}

func FuzzHumanAPI(f *testing.F) {
	s := humanSuite(f)
	s.Serve = func(func() error, idempotency.Claims, *slog.Logger) *kit.API { return newPlatform().people }
	s.Fuzz(f)
}
