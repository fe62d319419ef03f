package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// began is the moment at which the platforms of these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// platform is the APIs over one service, on tables of its own, with a clock that a test sets.
type platform struct {
	agentAPI       *api.AgentAPI
	humanAPI       *api.HumanAPI
	operatorAPI    *api.OperatorAPI
	agents, people *kit.API
	operators      *kit.API
	world          *worldtest.World
	service        *service.Service
	keys           *service.AgentKeys // of agents, for tests that set them
	sent           messages
	log, metrics   bytes.Buffer
	counted        map[string]string // metrics by who called
}

// newPlatform is a platform of open agents, with changes.
func newPlatform(t testing.TB, changes ...func(*platform)) *platform {
	t.Helper()
	p := &platform{world: worldtest.New(t, askahuman.Platform(), began()), counted: map[string]string{}}
	p.service = &service.Service{DB: p.world.DB, Clock: p.world.Now, Pause: p.pause,
		CheckCallback: webhook.Addresses{}.CheckURL}
	keys := p.service.Keys()
	keys.Clock = p.world.Now
	metrics := &kit.Metrics{Namespace: "Onesynth/askahuman", Writer: &p.metrics}
	p.service.Ended = api.CountEnded(metrics)
	options := api.Options{Metrics: metrics, RateLimiter: p.service.Limiter(),
		Log: slog.New(slog.NewJSONHandler(&p.log, nil)), Clock: p.world.Now}
	p.agentAPI = &api.AgentAPI{
		Service: p.service, Keys: keys, OpenAgents: true, Options: options,
		Webhooks: &webhooks.Secrets{Key: webhookKey, DB: p.world.DB, Clock: p.world.Now},
		WebhookTests: &webhooks.Tester{Check: webhook.Addresses{}.CheckURL, CheckAgent: p.service.CheckAgent,
			Send: p.sent.Send, Clock: p.world.Now},
	}
	p.humanAPI = &api.HumanAPI{Service: p.service, Hasher: testHasher(), Options: options}
	p.operatorAPI = &api.OperatorAPI{Service: p.service, Hasher: testHasher(), Options: options}
	return p.with(changes...)
}

// pause lets time pass at once.
func (p *platform) pause(ctx context.Context, d time.Duration) error {
	p.world.Advance(d)
	return ctx.Err()
}

// messages is a queue.
type messages struct{ bodies []string }

func (m *messages) Send(_ context.Context, body string) error {
	m.bodies = append(m.bodies, body)
	return nil
}

// webhookKey is the key of the platform.
func webhookKey(context.Context) (string, error) { return "the key of the platform", nil }

// with changes the platform.
func (p *platform) with(changes ...func(*platform)) *platform {
	for _, change := range changes {
		change(p)
	}
	p.agents, p.people, p.operators = p.agentAPI.Handler(), p.humanAPI.Handler(), p.operatorAPI.Handler()
	return p
}

// withKeys has agents show keys.
func withKeys(t *testing.T) func(*platform) {
	tables := dynamotest.Open(t, askahuman.AgentKeys())
	return func(p *platform) {
		p.keys = &service.AgentKeys{DB: tables.DB, Clock: p.world.Now}
		p.agentAPI.OpenAgents, p.agentAPI.AgentKeys = false, p.keys
	}
}

// unlimited limits no calls.
func unlimited(p *platform) {
	var all httpapitest.Unlimited
	p.agentAPI.RateLimiter, p.humanAPI.RateLimiter, p.operatorAPI.RateLimiter = all, all, all
}

// withTokens has agents show tokens.
func withTokens(p *platform) { p.agentAPI.OpenAgents = false }

func testHasher() api.Hasher {
	return api.Hasher{Secret: func(context.Context) (string, error) { return "the key of these tests", nil }}
}

// ServeHTTP serves the routes of agents, of people and of operators.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/human/"):
		p.people.ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, "/operator/"):
		p.operators.ServeHTTP(w, r)
	default:
		p.agents.ServeHTTP(w, r)
	}
}

// serve answers a request, as a script has it.
func (p *platform) serve(lines ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httpapitest.Script{As: p.as}.Request(lines, ""))
	return w
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// openDocument is the document of open agents, read once.
var openDocument = httpapitest.Once(askahuman.Under(askahuman.Parts{}, askahuman.DefaultRules(), true))
