package api_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema"
)

// stub is both services. Each method calls work once, and returns its error. It refuses invalid
// requests as the real services do.
type stub struct{ work func() error }

// people are real ones, on a store in which nothing is.
func people() *askahuman.People { return &askahuman.People{Store: &inmem.Store{}} }

// unless is a stub whose work is to return the error, if that is of a request's content.
func (s stub) unless(err error) stub {
	if _, invalid := errors.AsType[*validate.Error](err); invalid {
		return stub{func() error { return err }}
	}
	return s
}

func (s stub) question() (askahuman.Question, error) {
	return askahuman.Question{
		ID: "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", Status: askahuman.StatusOpen, Type: askahuman.TypeText, RequiredResponses: 5, CreatedAt: began(), Deadline: began(),
	}, s.work()
}

func (s stub) subscription() (askahuman.Subscription, error) {
	return askahuman.Subscription{ID: "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"}, s.work()
}

func (s stub) Ask(ctx context.Context, agent string, ask askahuman.Ask) (askahuman.Question, error) {
	_, err := (&askahuman.Agents{Store: &inmem.Store{}, CheckCallback: webhook.Addresses{}.CheckURL}).Ask(ctx, agent, ask)
	return s.unless(err).question()
}
func (s stub) Read(context.Context, string, string) (askahuman.QuestionWithResponses, error) {
	q, err := s.question()
	return askahuman.QuestionWithResponses{Question: q}, err
}
func (s stub) ReadNews(ctx context.Context, agent, id string, _ askahuman.Wait) (askahuman.QuestionWithResponses, time.Duration, error) {
	q, err := s.Read(ctx, agent, id)
	return q, 0, err
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
func (s stub) Answer(ctx context.Context, person string, zone *time.Location, answer askahuman.Answer) (askahuman.Receipt, error) {
	_, err := people().Answer(ctx, person, zone, answer)
	return askahuman.Receipt{ResponseID: "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", NewBadges: []askahuman.Badge{}}, s.unless(err).work()
}
func (s stub) Stats(context.Context, string, *time.Location) (askahuman.Standing, error) {
	return askahuman.Standing{Badges: []askahuman.Badge{}, AnswersByCategory: map[string]int{}}, s.work()
}
func (s stub) Leaderboard(context.Context, string, askahuman.Period, int) (askahuman.Leaderboard, error) {
	return askahuman.Leaderboard{Period: askahuman.PeriodAllTime, Entries: []askahuman.LeaderboardEntry{}}, s.work()
}
func (s stub) Subscribe(ctx context.Context, person string, device askahuman.NewSubscription) (askahuman.Subscription, error) {
	_, err := people().Subscribe(ctx, person, device)
	return s.unless(err).subscription()
}
func (s stub) ChangeSubscription(ctx context.Context, id string, change askahuman.SubscriptionChange) (askahuman.Subscription, error) {
	_, err := people().ChangeSubscription(ctx, id, change)
	return s.unless(err).subscription()
}
func (s stub) RenewSubscription(ctx context.Context, person string, device askahuman.SubscriptionRenewal) (string, error) {
	_, err := people().RenewSubscription(ctx, person, device)
	sub, err := s.unless(err).subscription()
	return sub.ID, err
}
func (s stub) Unsubscribe(context.Context, string) error { return s.work() }

// personReports and agentReports are the stub as what takes reports.
type (
	personReports struct{ stub }
	agentReports  struct{ stub }
)

func (s personReports) Report(ctx context.Context, person string, report askahuman.QuestionReport) (askahuman.Reported, error) {
	_, err := (&askahuman.PersonReports{Store: &inmem.Store{}}).Report(ctx, person, report)
	return s.unless(err).reported()
}

func (s agentReports) Report(ctx context.Context, agent string, report askahuman.ResponseReport) (askahuman.Reported, error) {
	_, err := (&askahuman.AgentReports{Store: &inmem.Store{}}).Report(ctx, agent, report)
	return s.unless(err).reported()
}

func (s stub) reported() (askahuman.Reported, error) {
	return askahuman.Reported{ReportID: "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a", Status: "open"}, s.work()
}
func (s stub) Reports(context.Context, askahuman.ReportState, int, string) ([]askahuman.Case, string, error) {
	return nil, "", s.work()
}
func (s stub) Dismiss(context.Context, string, string, bool) error { return s.work() }
func (s stub) OpenQuestions(context.Context, string) (askahuman.OfAgent, error) {
	return askahuman.OfAgent{}, s.work()
}
func (s stub) HideOpenQuestions(context.Context, string, string) (int, bool, error) {
	return 0, false, s.work()
}
func (s stub) HideQuestion(context.Context, string, string, bool) error         { return s.work() }
func (s stub) HideResponse(context.Context, string, string, string, bool) error { return s.work() }
func (s stub) BlockPerson(context.Context, string, bool) error                  { return s.work() }
func (s stub) BlockAgent(context.Context, string, bool) error                   { return s.work() }

// suite checks that one of the functions keeps the promises of all APIs of the kit.
func suite(t testing.TB, function string, serve func(stub, idempotency.Claims, api.Options) *kit.API) httpapitest.Suite {
	t.Helper()
	document, err := (&api.AgentAPI{}).Document()
	if err != nil {
		t.Fatal(err)
	}
	return httpapitest.Suite{
		Platform: schema.AskAHuman(), Function: function, Document: document,
		Serve: func(work func() error, keys idempotency.Claims, log *slog.Logger) *kit.API {
			return serve(stub{work}, keys, api.Options{RateLimiter: httpapitest.Unlimited{}, Log: log, Now: began})
		},
		Errors: []httpapitest.ServiceError{
			{Err: validate.Errorf("prompt", validate.RuleFormat, "is odd"), Status: 400},
			{Err: idempotency.ErrOtherRequest, Status: 400},
			{Err: askahuman.ErrQuotaExceeded, Status: 403},
			{Err: askahuman.ErrBlocked, Status: 403},
			{Err: askahuman.ErrQuestionNotFound, Status: 404},
			{Err: askahuman.ErrResponseNotFound, Status: 404},
			{Err: askahuman.ErrReportNotFound, Status: 404},
			{Err: askahuman.ErrPersonNotFound, Status: 404},
			{Err: askahuman.ErrSubscriptionNotFound, Status: 404},
			{Err: askahuman.ErrAlreadyAnswered, Status: 409},
			{Err: &idempotency.RunningError{Until: began().Add(time.Minute)}, Status: 409},
			{Err: idempotency.ErrClaimLost, Status: 409},
			{Err: askahuman.ErrQuestionClosed, Status: 410},
			{Err: &ratelimit.LimitedError{State: ratelimit.State{Limit: 60, Reset: began().Add(-time.Second)}}, Status: 429},
			{Err: retry.ErrBusy, Status: 503},
			{Err: retry.ErrStale, Status: 503},
			{Err: retry.ErrUnanswered, Status: 503},
			{Err: context.DeadlineExceeded, Status: 503},
		},
	}
}

func agentSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "agentapi", func(s stub, keys idempotency.Claims, options api.Options) *kit.API {
		return (&api.AgentAPI{Service: s, Keys: keys, Options: options, Reports: agentReports{s}, Webhooks: webhookSecrets{s}, WebhookTests: webhookTests{s}}).Handler()
	})
}

func humanSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "humanapi", func(s stub, _ idempotency.Claims, options api.Options) *kit.API {
		return (&api.HumanAPI{Service: s, Hasher: testHasher(), Options: options, Reports: personReports{s}}).Handler()
	})
}

func operatorSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "moderationapi", func(s stub, _ idempotency.Claims, options api.Options) *kit.API {
		return (&api.OperatorAPI{Service: s, Options: options}).Handler()
	})
}

func TestAgentSuite(t *testing.T) { agentSuite(t).Run(t) }
func TestHumanSuite(t *testing.T) { humanSuite(t).Run(t) }

func TestOperatorSuite(t *testing.T) { operatorSuite(t).Run(t) }

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
