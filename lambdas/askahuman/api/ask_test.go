package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// newKeys are idempotency keys in a table, without the store that keeps answers with
// its work.
func newKeys(t testing.TB) *idempotency.Keys {
	t.Helper()
	database := schema.AskAHuman().Database
	guards, _ := database.Table("Guards")
	database.Tables = []schema.Table{guards}
	return dynamodb.New(dynamotest.Open(t, database).DB, dynamodb.Shards{}).Keys()
}

// newStoredPlatform is a platform whose agents' side has its tables.
func newStoredPlatform(t testing.TB) *platform {
	t.Helper()
	p := newPlatform(t)
	store := dynamodb.New(dynamotest.Open(t, schema.AskAHuman().Database).DB, dynamodb.Shards{})
	keys := store.Keys()
	keys.Now = p.clock.read
	p.agentAPI.Service = &askahuman.Agents{Store: store, Now: p.clock.read}
	p.agentAPI.Keys = keys
	p.agents = p.agentAPI.Handler()
	return p
}

// askThrough puts another service before the platform's own.
func (p *platform) askThrough(wrap func(api.AgentService) api.AgentService) {
	changed := *p.agentAPI
	changed.Service = wrap(changed.Service)
	p.agents = changed.Handler()
}

const keyed = `{"prompt":"Which is clearer?","type":"multiple_choice","options":["yes","no"],"idempotency_key":"k"}`

// askTogether asks n times at once and returns the answers, by how often each came.
// A caller who hears that the first is still running asks again, as a client would.
func (p *platform) askTogether(t *testing.T, n int) map[string]int {
	t.Helper()
	responses := make([]*httptest.ResponseRecorder, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			for responses[i] == nil || responses[i].Code == http.StatusConflict && t.Context().Err() == nil {
				responses[i] = asAgent("POST /agent/questions", keyed).do(p.agents)
			}
		})
	}
	group.Wait()
	bodies := map[string]int{}
	for _, w := range responses {
		if w.Code != http.StatusCreated {
			t.Errorf("got %d %s; want 201", w.Code, w.Body)
		}
		bodies[w.Body.String()]++
	}
	return bodies
}

// wantQuestions holds the number of the agent's questions.
func (p *platform) wantQuestions(t *testing.T, n int) {
	t.Helper()
	if got := p.do(t, asAgent("GET /agent/questions?limit=50", ""), http.StatusOK)["questions"].([]any); len(got) != n {
		t.Errorf("got %d questions; want %d", len(got), n)
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	p := newStoredPlatform(t)
	withKey := func(agent, key, body string) request {
		return request{line: "POST /agent/questions", headers: []string{"X-Agent-Id: " + agent, "X-Idempotency-Key: " + key}, body: body}
	}
	without := strings.Replace(keyed, `,"idempotency_key":"k"`, "", 1)
	change := func(old, changed string) request {
		if !strings.Contains(keyed, old) {
			t.Fatalf("%s is not in %s", old, keyed)
		}
		return asAgent("POST /agent/questions", strings.Replace(keyed, old, changed, 1))
	}
	first := asAgent("POST /agent/questions", keyed).do(p.agents)
	if first.Code != http.StatusCreated {
		t.Fatalf("got %d %s", first.Code, first.Body)
	}
	repeats := map[string]request{
		"Body":     asAgent("POST /agent/questions", keyed),
		"Header":   withKey("agent-1", "k", without),
		"Both":     withKey("agent-1", "k", keyed),
		"Null":     withKey("agent-1", "k", strings.Replace(keyed, `"idempotency_key":"k"`, `"idempotency_key":null`, 1)),
		"Defaults": change(`"type"`, `"min_responses":5,"timeout_seconds":3600,"audience":["general"],"type"`),
		"Nulls":    change(`"type"`, `"min_responses":null,"timeout_seconds":null,"audience":null,"type"`),
		"Spaces":   change(`{`, "{\n\t  "),
		"Unknown":  change(`"type"`, `"colour":"blue","type"`),
	}
	wantRepeated := func(t *testing.T, when string) {
		t.Helper()
		for name, r := range repeats {
			w := r.do(p.agents)
			if w.Code != http.StatusCreated || w.Body.String() != first.Body.String() || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s, %s: got %d %s; want what the first got: %s", name, when, w.Code, w.Body, first.Body)
			}
		}
	}
	wantRepeated(t, "at once")
	p.wantQuestions(t, 1)

	if got := withKey("another", "k", keyed).do(p.agents); got.Code != http.StatusCreated || got.Body.String() == first.Body.String() {
		t.Errorf("another agent's key is the same key: %d %s", got.Code, got.Body)
	}
	for name, r := range map[string]request{
		"Prompt":        change(`clearer?`, `clearer!`),
		"Blank":         change(`clearer?`, `clearer? `),
		"Type":          change(`"multiple_choice","options":["yes","no"]`, `"text"`),
		"Option":        change(`"no"`, `"No"`),
		"Order":         change(`"yes","no"`, `"no","yes"`),
		"Audience":      change(`"type"`, `"audience":["technical"],"type"`),
		"Responses":     change(`"type"`, `"min_responses":2,"type"`),
		"Timeout":       change(`"type"`, `"timeout_seconds":7200,"type"`),
		"MovedBrackets": change(`"yes","no"`, `"yes\",\"no","x"`),
		"TwoKeys":       withKey("agent-1", "l", keyed),
	} {
		body := p.do(t, r, http.StatusBadRequest)
		if !strings.Contains(fmt.Sprint(body), "field:idempotency_key") {
			t.Errorf("%s: got %v", name, body)
		}
	}
	p.wantQuestions(t, 1)

	// The question's state by now changes nothing.
	p.clock.advance(2 * time.Hour)
	wantRepeated(t, "after the deadline")
	p.clock.advance(22*time.Hour - time.Second)
	wantRepeated(t, "just within 24 hours")
	p.clock.advance(time.Second)
	if later := asAgent("POST /agent/questions", keyed).do(p.agents); later.Code != http.StatusCreated || later.Body.String() == first.Body.String() {
		t.Errorf("after 24 hours: got %d %s; want a new question", later.Code, later.Body)
	}
}

func TestConcurrentRepeats(t *testing.T) {
	t.Parallel()
	p := newStoredPlatform(t)
	if bodies := p.askTogether(t, 24); len(bodies) != 1 {
		t.Errorf("got %d different answers: %v; want 1", len(bodies), bodies)
	}
	p.wantQuestions(t, 1)
}

// An ask that is refused has not used its key up, and a repeat is one also when the
// quota is full.
func TestIdempotencyAndRefusals(t *testing.T) {
	t.Parallel()
	p := newStoredPlatform(t)
	p.limiter.used = map[string]int{"create agent-1": -1000}
	p.do(t, asAgent("POST /agent/questions", strings.Replace(keyed, "Which is clearer?", "short", 1)), http.StatusBadRequest)
	// The rule of the domain that the wire format's schema does not know.
	p.do(t, asAgent("POST /agent/questions", strings.Replace(keyed, `"no"`, `"yes "`, 1)), http.StatusBadRequest)
	first := p.ask(t, keyed)
	for i := range askahuman.DefaultOpenQuestions - 1 {
		p.ask(t, fmt.Sprintf(`{"prompt":"This is question %d.","type":"text"}`, i))
	}
	surplus := strings.Replace(keyed, `"k"`, `"surplus"`, 1)
	for range 2 {
		if code := p.do(t, asAgent("POST /agent/questions", surplus), http.StatusForbidden)["error"].(map[string]any)["code"]; code != "AGENT_QUOTA_EXCEEDED" {
			t.Errorf("got %v", code)
		}
	}
	if again := p.ask(t, keyed); again != first {
		t.Errorf("a repeat under a full quota made %s; want %s", again, first)
	}
	p.do(t, asAgent("DELETE /agent/questions/"+first, ""), http.StatusNoContent)
	if again := p.ask(t, keyed); again != first {
		t.Errorf("a repeat after closing made %s; want %s", again, first)
	}
	if p.ask(t, surplus) == first {
		t.Error("the surplus question is the first one")
	}
}

// asking changes how a service asks.
type asking struct {
	api.AgentService
	ask func(ctx context.Context, agent string, ask askahuman.Ask) (askahuman.Question, error)
}

func (a asking) Ask(ctx context.Context, agent string, ask askahuman.Ask) (askahuman.Question, error) {
	return a.ask(ctx, agent, ask)
}

// An attempt that dies leaves its claim behind; one that fails does not.
func TestIdempotencyAfterFailure(t *testing.T) {
	t.Parallel()
	t.Run("DiedBefore", func(t *testing.T) {
		t.Parallel()
		p := newStoredPlatform(t)
		sound := p.agents
		p.askThrough(func(api.AgentService) api.AgentService { return panicking{} })
		p.do(t, asAgent("POST /agent/questions", keyed), http.StatusInternalServerError)
		p.agents = sound
		w := asAgent("POST /agent/questions", keyed).do(p.agents)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `"REQUEST_IN_PROGRESS"`) || w.Header().Get("Retry-After") != "1" {
			t.Errorf("while it may still run: got %d %s %v; want 409", w.Code, w.Body, w.Header())
		}
		other := strings.Replace(keyed, "clearer", "better", 1)
		p.do(t, asAgent("POST /agent/questions", other), http.StatusBadRequest)
		p.wantQuestions(t, 0)
		p.clock.advance(idempotency.DefaultLease)
		id := p.ask(t, keyed)
		if again := p.ask(t, keyed); again != id {
			t.Errorf("the repeat made %s; want %s", again, id)
		}
		p.wantQuestions(t, 1)
	})
	t.Run("DiedAfter", func(t *testing.T) {
		t.Parallel()
		p := newStoredPlatform(t)
		sound := p.agents
		var made askahuman.Question
		p.askThrough(func(service api.AgentService) api.AgentService {
			return asking{service, func(ctx context.Context, agent string, ask askahuman.Ask) (askahuman.Question, error) {
				var err error
				if made, err = service.Ask(ctx, agent, ask); err != nil {
					return made, err
				}
				panic("died")
			}}
		})
		p.do(t, asAgent("POST /agent/questions", keyed), http.StatusInternalServerError)
		p.agents = sound
		if id := p.ask(t, keyed); id != made.ID {
			t.Errorf("the repeat made %s; want %s", id, made.ID)
		}
		p.wantQuestions(t, 1)
	})
	t.Run("Failed", func(t *testing.T) {
		t.Parallel()
		p := newStoredPlatform(t)
		sound := p.agents
		p.askThrough(func(service api.AgentService) api.AgentService {
			return asking{service, func(context.Context, string, askahuman.Ask) (askahuman.Question, error) {
				return askahuman.Question{}, retry.ErrBusy
			}}
		})
		p.do(t, asAgent("POST /agent/questions", keyed), http.StatusTooManyRequests)
		p.agents = sound
		p.ask(t, keyed)
		p.wantQuestions(t, 1)
	})
	// The caller has gone away, and with it the request's context.
	t.Run("Cancelled", func(t *testing.T) {
		t.Parallel()
		p := newStoredPlatform(t)
		ctx, cancel := context.WithCancel(t.Context())
		sound := p.agents
		p.askThrough(func(service api.AgentService) api.AgentService {
			return asking{service, func(ctx context.Context, agent string, ask askahuman.Ask) (askahuman.Question, error) {
				cancel()
				return service.Ask(ctx, agent, ask)
			}}
		})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/agent/questions", strings.NewReader(keyed))
		r.Header.Set("X-Agent-Id", "agent-1")
		w := httptest.NewRecorder()
		p.agents.ServeHTTP(w, r)
		if w.Code != http.StatusInternalServerError {
			t.Errorf("got %d %s; want 500", w.Code, w.Body)
		}
		p.agents = sound
		p.ask(t, keyed)
		p.wantQuestions(t, 1)
	})
	t.Run("SlowIsTakenOver", func(t *testing.T) {
		t.Parallel()
		p := newStoredPlatform(t)
		sound := p.agents
		reached, resume := make(chan bool), make(chan bool)
		p.askThrough(func(service api.AgentService) api.AgentService {
			return asking{service, func(ctx context.Context, agent string, ask askahuman.Ask) (askahuman.Question, error) {
				close(reached)
				<-resume
				return service.Ask(ctx, agent, ask)
			}}
		})
		slow := make(chan *httptest.ResponseRecorder)
		go func() { slow <- asAgent("POST /agent/questions", keyed).do(p.agents) }()
		<-reached
		p.clock.advance(idempotency.DefaultLease)
		w := asAgent("POST /agent/questions", keyed).do(sound)
		if w.Code != http.StatusCreated {
			t.Errorf("the heir: got %d %s; want 201", w.Code, w.Body)
		}
		close(resume)
		if w := <-slow; w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `"REQUEST_IN_PROGRESS"`) {
			t.Errorf("the slow one: got %d %s; want 409", w.Code, w.Body)
		}
		p.agents = sound
		p.wantQuestions(t, 1)
	})
	// A repeat that comes while the first runs gets its answer, if that does not take
	// too long.
	t.Run("WaitsForTheFirst", func(t *testing.T) {
		t.Parallel()
		p := newStoredPlatform(t)
		sound := p.agents
		reached, resume := make(chan bool), make(chan bool)
		p.askThrough(func(service api.AgentService) api.AgentService {
			return asking{service, func(ctx context.Context, agent string, ask askahuman.Ask) (askahuman.Question, error) {
				close(reached)
				<-resume
				return service.Ask(ctx, agent, ask)
			}}
		})
		answers := make(chan *httptest.ResponseRecorder, 2)
		go func() { answers <- asAgent("POST /agent/questions", keyed).do(p.agents) }()
		<-reached
		var looked sync.Once
		changed := *p.agentAPI
		changed.Keys = watched{changed.Keys, func() { looked.Do(func() { close(resume) }) }}
		p.agents = changed.Handler()
		answers <- asAgent("POST /agent/questions", keyed).do(p.agents)
		first, second := <-answers, <-answers
		if first.Code != http.StatusCreated || second.Code != http.StatusCreated || first.Body.String() != second.Body.String() {
			t.Errorf("got %d %s and %d %s; want 201 and the same", first.Code, first.Body, second.Code, second.Body)
		}
		p.agents = sound
		p.wantQuestions(t, 1)
	})
}

// watched calls back once a key was found in use.
type watched struct {
	idempotency.Claims
	found func()
}

func (w watched) Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (*idempotency.Claim, *idempotency.Response, error) {
	claim, replay, err := w.Claims.Begin(ctx, scope, key, request, lease)
	if err != nil {
		w.found()
	}
	return claim, replay, err
}

// The answer does not reveal what is wrong with the keys, and no question is stored.
func TestKeysFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys   idempotency.Claims
		status int
	}{
		"None": {nil, http.StatusInternalServerError},
		"Busy": {broken{fmt.Errorf("claim: %w", retry.ErrBusy)}, http.StatusTooManyRequests},
		"Gone": {broken{fmt.Errorf("claim: no such table")}, http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			p.agentAPI.Keys = test.keys
			p.agents = p.agentAPI.Handler()
			p.do(t, asAgent("POST /agent/questions", keyed), test.status)
			p.wantQuestions(t, 0)
		})
	}
}

type broken struct{ err error }

func (b broken) Begin(context.Context, string, string, []byte, time.Duration) (*idempotency.Claim, *idempotency.Response, error) {
	return nil, nil, b.err
}

func (b broken) Settle(context.Context, *idempotency.Claim, idempotency.Response) error { return b.err }

func (b broken) Release(context.Context, *idempotency.Claim) error { return b.err }

// content keeps what makes a request what it is.
type content struct {
	idempotency.Claims
	got string
}

func (c *content) Begin(_ context.Context, _, _ string, request []byte, _ time.Duration) (*idempotency.Claim, *idempotency.Response, error) {
	c.got = string(request)
	return nil, nil, retry.ErrBusy
}

// A repeat of a request that an earlier version has answered is known by the digest which
// that version kept: of these bytes.
func TestKeyContentOfEarlierVersions(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		keyed: `{"Prompt":"Which is clearer?","Type":"multiple_choice","Options":["yes","no"],"Audience":["general"],"Responses":5,"Timeout":3600000000000,"IdempotencyKey":""}`,
		`{"prompt":"Is it <b>?   ","type":"text","audience":["ethics"],"min_responses":1,"timeout_seconds":60,"idempotency_key":"k"}`: `{"Prompt":"Is it \u003cb\u003e?   ","Type":"text","Options":null,"Audience":["ethics"],"Responses":1,"Timeout":60000000000,"IdempotencyKey":""}`,
	} {
		p, kept := newPlatform(t), &content{}
		p.agentAPI.Keys = kept
		p.agents = p.agentAPI.Handler()
		p.do(t, asAgent("POST /agent/questions", body), http.StatusTooManyRequests)
		if kept.got != want {
			t.Errorf("got %s; want %s", kept.got, want)
		}
	}
}
