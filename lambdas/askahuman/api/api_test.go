package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// began is the moment at which the platforms of these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// platform is both APIs over one store in memory, with a clock that a test sets.
type platform struct {
	agentAPI       *api.AgentAPI
	agents, people *kit.API
	limiter        *limiter
	clock          *clock
}

func newPlatform(t testing.TB) *platform {
	t.Helper()
	p := &platform{limiter: &limiter{used: map[string]int{}}, clock: &clock{now: began()}}
	store := &inmem.Store{}
	p.agentAPI = &api.AgentAPI{Service: &askahuman.Agents{Store: store, Now: p.clock.read}, OpenAgents: true, Options: api.Options{RateLimiter: p.limiter, Log: slog.New(slog.DiscardHandler), Now: p.clock.read}}
	p.agents = p.agentAPI.Handler()
	p.people = (&api.HumanAPI{Service: &askahuman.People{Store: store, Now: p.clock.read}, Hasher: testHasher(), Options: api.Options{RateLimiter: p.limiter, Log: slog.New(slog.DiscardHandler), Now: p.clock.read}}).Handler()
	return p
}

func testHasher() api.Hasher {
	return api.Hasher{Secret: func(context.Context) (string, error) { return "the key of these tests", nil }}
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
	mu   sync.Mutex
	used map[string]int
	err  error
}

func (l *limiter) CountRequest(_ context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return ratelimit.State{}, l.err
	}
	key := limit.Name + " " + caller
	state := ratelimit.State{Limit: limit.Requests, Remaining: limit.Requests - l.used[key] - 1, Reset: now.Truncate(limit.Window).Add(limit.Window)}
	if state.Remaining < 0 {
		state.Remaining = 0
		return state, &ratelimit.LimitedError{State: state}
	}
	l.used[key]++
	return state, nil
}

// callers counts who has been counted towards a limit.
func (l *limiter) callers(limit string) (callers []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.used {
		if name, caller, _ := strings.Cut(key, " "); name == limit {
			callers = append(callers, caller)
		}
	}
	return callers
}

// request is one HTTP request: "METHOD path", headers as "Name: value".
type request struct {
	line    string
	headers []string
	body    string
}

func (r request) do(handler http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.http())
	return w
}

func (r request) http() *http.Request {
	method, target, _ := strings.Cut(r.line, " ")
	hr := httptest.NewRequest(method, target, strings.NewReader(r.body))
	if r.body != "" {
		hr.Header.Set("Content-Type", "application/json")
	}
	for _, header := range r.headers {
		name, value, _ := strings.Cut(header, ": ")
		hr.Header.Set(name, value)
	}
	hr.RemoteAddr = "203.0.113.7"
	return hr
}

// asAgent and asPerson are the requests of one agent and one person.
func asAgent(line, body string) request {
	return request{line: line, headers: []string{"X-Agent-Id: agent-1"}, body: body}
}

func asPerson(person, line, body string) request {
	return request{line: line, headers: []string{"X-Fingerprint: " + person}, body: body}
}

// do makes the request, holds its answer to the status and to the OpenAPI document,
// and returns the body.
func (p *platform) do(t *testing.T, r request, status int) map[string]any {
	t.Helper()
	handler := p.agents
	if strings.Contains(r.line, " /human/") {
		handler = p.people
	}
	w := r.do(handler)
	if w.Code != status {
		t.Fatalf("%s: got %d %s; want %d", r.line, w.Code, w.Body, status)
	}
	d, err := openDocument()
	if err != nil {
		t.Fatal(err)
	}
	d.IsKept(t, r.http(), w)
	if status == http.StatusNoContent {
		if w.Body.Len() > 0 {
			t.Errorf("%s: 204 has the body %q", r.line, w.Body)
		}
		return nil
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("%s: Content-Type is %q", r.line, got)
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
