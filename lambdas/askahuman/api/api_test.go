package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema"
)

// began is the moment at which the platforms of these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// platform is both APIs over one store in memory, with a clock that a test sets.
type platform struct {
	agentAPI       *api.AgentAPI
	humanAPI       *api.HumanAPI
	agents, people *kit.API
	store          *inmem.Store
	keys           *askahuman.AgentKeys // of agents, for tests that set them
	limiter        *limiter
	clock          *clock
	meanwhile      func() // called while a read waits
	log            bytes.Buffer
}

// newPlatform is a platform of open agents, with changes.
func newPlatform(changes ...func(*platform)) *platform {
	p := &platform{store: &inmem.Store{}, limiter: &limiter{used: map[string]int{}}, clock: &clock{now: began()}}
	p.keys = &askahuman.AgentKeys{Store: p.store, Now: p.clock.read}
	options := api.Options{RateLimiter: p.limiter, Log: slog.New(slog.NewJSONHandler(&p.log, nil)), Now: p.clock.read}
	p.agentAPI = &api.AgentAPI{Service: &askahuman.Agents{Store: p.store, Now: p.clock.read, Pause: p.pause, CheckCallback: webhook.Addresses{}.CheckURL}, OpenAgents: true, Options: options,
		Reports: &askahuman.AgentReports{Store: p.store, Now: p.clock.read}, Webhooks: &webhooks.Secrets{Key: webhookKey, Store: p.store, Now: p.clock.read},
		WebhookTests: &webhooks.Tester{Check: webhook.Addresses{}.CheckURL, Queue: &messages{}, Now: p.clock.read}}
	p.humanAPI = &api.HumanAPI{Service: &askahuman.People{Store: p.store, Now: p.clock.read}, Hasher: testHasher(), Options: options,
		Reports: &askahuman.PersonReports{Store: p.store, Now: p.clock.read}}
	return p.with(changes...)
}

// pause lets time pass at once, and what is to happen meanwhile.
func (p *platform) pause(ctx context.Context, d time.Duration) error {
	p.clock.advance(d)
	if p.meanwhile != nil {
		p.meanwhile()
	}
	return ctx.Err()
}

// with changes the platform.
func (p *platform) with(changes ...func(*platform)) *platform {
	for _, change := range changes {
		change(p)
	}
	p.agents, p.people = p.agentAPI.Handler(), p.humanAPI.Handler()
	return p
}

// withKeys has agents show keys.
func withKeys(p *platform) { p.agentAPI.OpenAgents, p.agentAPI.AgentKeys = false, p.keys }

// withTokens has agents show tokens.
func withTokens(p *platform) { p.agentAPI.OpenAgents = false }

func testHasher() httpapi.Hasher {
	return httpapi.Hasher{Secret: func(context.Context) (string, error) { return "the key of these tests", nil }}
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// limiter counts for ever: one window without end.
type limiter struct {
	mu        sync.Mutex
	used      map[string]int
	err       error
	unlimited bool
}

func (l *limiter) CountRequest(_ context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := limit.Name + " " + caller
	state := ratelimit.State{Limit: limit.Requests, Remaining: limit.Requests - l.used[key] - 1, Reset: now.Truncate(limit.Window).Add(limit.Window)}
	if l.err != nil || l.unlimited {
		return state, l.err
	}
	if state.Remaining < 0 {
		state.Remaining = 0
		return state, &ratelimit.LimitedError{State: state}
	}
	l.used[key]++
	return state, nil
}

func (l *limiter) CountRead(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State, error) {
	return l.CountRequest(ctx, limit, caller, now)
}

func (l *limiter) GiveBack(limit schema.RateLimit, caller string, _ time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used[limit.Name+" "+caller]--
}

// callers returns the callers that were counted towards any limit.
func (l *limiter) callers() (callers []string) {
	for key := range l.used {
		_, caller, _ := strings.Cut(key, " ")
		callers = append(callers, caller)
	}
	return callers
}

// request is one HTTP request: "METHOD path", headers as "Name: value".
type request struct {
	line    string
	headers []string
	body    string
}

// asAgent and asPerson are the requests of one agent and one person.
func asAgent(line, body string) request {
	return request{line: line, headers: []string{"X-Agent-Id: agent-1"}, body: body}
}

func asPerson(person, line, body string) request {
	return request{line: line, headers: []string{"X-Fingerprint: " + person}, body: body}
}

func (r request) http() *http.Request {
	method, target, _ := strings.Cut(r.line, " ")
	hr := httptest.NewRequest(method, target, strings.NewReader(r.body))
	if r.body != "" {
		hr.Header.Set("Content-Type", "application/json")
	}
	for _, header := range r.headers {
		if name, value, ok := strings.Cut(header, ": "); ok {
			hr.Header.Set(name, value)
		}
	}
	hr.RemoteAddr = "203.0.113.7"
	return hr
}

// ServeHTTP serves the routes of agents and of people.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/human/") {
		p.people.ServeHTTP(w, r)
		return
	}
	p.agents.ServeHTTP(w, r)
}

func (p *platform) serve(r request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r.http())
	return w
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// openDocument is the document of open agents, read once.
var openDocument = sync.OnceValues(func() (d httpapitest.Document, err error) {
	body, err := (&api.AgentAPI{OpenAgents: true}).Document()
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(body, &d)
})

// do makes the request, checks its answer by the status and the OpenAPI document, and returns the
// body.
func (p *platform) do(t *testing.T, r request, status int) map[string]any {
	t.Helper()
	w := p.serve(r)
	if w.Code != status {
		t.Fatalf("%s: got %d %s; want %d", r.line, w.Code, w.Body, status)
	}
	d := storetest.Must(openDocument())(t)
	d.IsKept(t, r.http(), w)
	if status == http.StatusNoContent {
		return nil
	}
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: the body is no JSON object: %v: %s", r.line, err, w.Body)
	}
	return body
}

// ask stores a question and returns its id.
func (p *platform) ask(t *testing.T, body string) string {
	t.Helper()
	return p.do(t, asAgent("POST /agent/questions", body), http.StatusCreated)["question_id"].(string)
}
