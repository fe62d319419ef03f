package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// work does the work of the suite at an operation's first request to the tables. A read runs in a goroutine of its own,
// where a panic would end the process.
func work(ctx context.Context, r dynamotest.Request) (err error) {
	if r.Action == schema.GetItem || r.Action == schema.BatchGetItem || r.Action == schema.Query {
		defer func() {
			if panicked := recover(); panicked != nil {
				err = fmt.Errorf("panic: %v", panicked)
			}
		}()
	}
	return httpapitest.Work(ctx)
}

// claims count the claims of the suite, and make them in the tables.
type claims struct {
	idempotency.Claims
	keys *idempotency.Keys
}

func (c claims) Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (*idempotency.Claim,
	*idempotency.Response, error) {
	if _, _, err := c.Claims.Begin(ctx, scope, key, request, lease); err != nil {
		return nil, nil, err
	}
	return c.keys.Begin(ctx, scope, key, request, lease)
}

// suite checks that one of the functions keeps the promises of all APIs of the kit, over tables that stay as they are.
func suite(t testing.TB, function string, serve func(*service.Service, idempotency.Claims,
	api.Options) *kit.API) httpapitest.Suite {
	t.Helper()
	document := must.Get(openapi.Document(askahuman.Platform()))(t)
	return httpapitest.Suite{
		Platform: askahuman.Platform(), Function: function, Document: document,
		Adapt: func(body string) string {
			if strings.Contains(body, "selected_option") {
				return strings.ReplaceAll(body, questionID, choiceID)
			}
			return body
		},
		CarriedOut: true,
		API: func(keys idempotency.Claims, log *slog.Logger) *kit.API {
			engine := canned{items: oneOfEach("caller", began()), board: true}
			tables := dynamotest.Over(t, askahuman.Platform().Database, dynamotest.Engine(engine.answer))
			tables.Recorder.FaultsOf(work, nil)
			real := &service.Service{DB: tables.DB, Clock: began, CheckCallback: webhook.Addresses{}.CheckURL}
			return serve(real, claims{keys, real.Keys()},
				api.Options{RateLimiter: httpapitest.Unlimited{}, Log: log, Clock: began})
		},
		// A read that is stale is made again, which takes a service with real tables its time.
		Errors: append(slices.DeleteFunc(httpapitest.KitErrors(), func(e httpapitest.ServiceError) bool {
			return errors.Is(e.Err, retry.ErrStale)
		}), []httpapitest.ServiceError{
			{Err: validate.Errorf("prompt", validate.RuleFormat, "is odd"), Status: 400},
			{Err: idempotency.ErrOtherRequest, Status: 400},
			{Err: &idempotency.RunningError{Until: began().Add(time.Minute)}, Status: 409},
			{Err: &ratelimit.LimitedError{State: ratelimit.State{Limit: 60, Reset: began().Add(-time.Second)}},
				Status: 429},
		}...),
	}
}

func agentSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "agentapi", func(s *service.Service, keys idempotency.Claims, options api.Options) *kit.API {
		secrets := &webhooks.Secrets{Key: webhookKey, DB: s.DB, Clock: began}
		tests := &webhooks.Tester{Check: webhook.Addresses{}.CheckURL, Send: new(messages).Send, Clock: began}
		return (&api.AgentAPI{Service: s, Keys: keys, Options: options, Webhooks: secrets,
			WebhookTests: tests}).Handler()
	})
}

func humanSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "humanapi", func(s *service.Service, _ idempotency.Claims, options api.Options) *kit.API {
		return (&api.HumanAPI{Service: s, Hasher: testHasher(), Options: options}).Handler()
	})
}

func operatorSuite(t testing.TB) httpapitest.Suite {
	return suite(t, "moderationapi", func(s *service.Service, _ idempotency.Claims, options api.Options) *kit.API {
		return (&api.OperatorAPI{Service: s, Hasher: testHasher(), Options: options}).Handler()
	})
}

func TestAgentSuite(t *testing.T) { agentSuite(t).Run(t) }
func TestHumanSuite(t *testing.T) { humanSuite(t).Run(t) }

func TestOperatorSuite(t *testing.T) { operatorSuite(t).Run(t) }

// FuzzAgentAPI and FuzzHumanAPI send events to a service with its tables.
func FuzzAgentAPI(f *testing.F) {
	s, p := agentSuite(f), newPlatform(f, withTokens)
	s.API = func(keys idempotency.Claims, _ *slog.Logger) *kit.API {
		return p.with(func(p *platform) { p.agentAPI.Keys = claims{keys, p.service.Keys()} }).agents
	}
	s.Fuzz(f)
}

func FuzzHumanAPI(f *testing.F) {
	s, p := humanSuite(f), newPlatform(f)
	s.API = func(idempotency.Claims, *slog.Logger) *kit.API { return p.people }
	s.Fuzz(f)
}

// The document shows what a team adds to records.
func TestDocumentShowsExtra(t *testing.T) {
	t.Parallel()
	httpapitest.ShowsExtra(t, askahuman.Platform(), func(extra []schema.Extra) *kit.API {
		return (&api.AgentAPI{Options: api.Options{Extra: extra, RateLimiter: httpapitest.Unlimited{}}}).Handler()
	})
}
