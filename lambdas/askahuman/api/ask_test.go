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

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

const keyed = `{"prompt":"Which is clearer?","type":"multiple_choice","options":["yes","no"],"idempotency_key":"k"}`

// A refused ask has not used up its key, and a repeat gets its answer even when the quota is full.
func TestIdempotencyAndRefusals(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, unlimited)
	p.do(t, asAgent("POST /agent/questions", strings.Replace(keyed, "Which is clearer?", "short", 1)),
		http.StatusBadRequest)
	// The rule of the domain that the wire format's schema does not know.
	p.do(t, asAgent("POST /agent/questions", strings.Replace(keyed, `"no"`, `"yes "`, 1)), http.StatusBadRequest)
	first := p.ask(t, keyed)
	for i := range askahuman.DefaultOpenQuestions - 1 {
		p.ask(t, fmt.Sprintf(`{"prompt":"This is question %d.","type":"text"}`, i))
	}
	surplus := strings.Replace(keyed, `"k"`, `"surplus"`, 1)
	for range 2 {
		if code := p.do(t, asAgent("POST /agent/questions", surplus),
			http.StatusForbidden)["error"].(map[string]any)["code"]; code != "AGENT_QUOTA_EXCEEDED" {
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

// A repeat that comes while the first runs gets its answer, if that does not take too long. The clock stands
// still, so it does not, however slow the machine is.
func TestRepeatWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	reached, resume := make(chan bool), make(chan bool)
	p.world.Recorder.FaultsOf(func(_ context.Context, r dynamotest.Request) error {
		if r.Action == schema.TransactWriteItems {
			close(reached)
			<-resume
		}
		return nil
	}, nil)
	first := httptest.NewRecorder()
	var group sync.WaitGroup
	slow := p.agents
	group.Go(func() { slow.ServeHTTP(first, p.request(asAgent("POST /agent/questions", keyed))) })
	<-reached
	p.world.Heal()
	var looked sync.Once
	p.with(func(p *platform) {
		p.agentAPI.Keys = watched{p.agentAPI.Keys, func() { looked.Do(func() { close(resume) }) }}
	})
	second := p.serve(asAgent("POST /agent/questions", keyed))
	group.Wait()
	if first.Code != http.StatusCreated || second.Code != http.StatusCreated ||
		first.Body.String() != second.Body.String() {
		t.Errorf("got %d %s and %d %s; want 201 and the same", first.Code, first.Body, second.Code, second.Body)
	}
	if got := p.do(t, asAgent("GET /agent/questions", ""), http.StatusOK)["questions"].([]any); len(got) != 1 {
		t.Errorf("got %d questions; want 1", len(got))
	}
}

// watched calls back once a key was found in use.
type watched struct {
	idempotency.Claims
	found func()
}

func (w watched) Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (*idempotency.Claim,
	*idempotency.Response, error) {
	claim, replay, err := w.Claims.Begin(ctx, scope, key, request, lease)
	if err != nil {
		w.found()
	}
	return claim, replay, err
}

// content keeps what makes a request what it is.
type content struct {
	idempotency.Claims
	got string
}

func (c *content) Begin(_ context.Context, _, _ string, request []byte, _ time.Duration) (*idempotency.Claim,
	*idempotency.Response, error) {
	c.got = string(request)
	return nil, nil, retry.ErrBusy
}

// A repeat of a request that an earlier version has answered is recognised by the digest of these
// bytes, which that version kept.
func TestKeyContentOfEarlierVersions(t *testing.T) {
	t.Parallel()
	const same = `{"Prompt":"Which is clearer?","Type":"multiple_choice","Options":["yes","no"],"Audience":["general"],"Responses":5,"Timeout":3600000000000,"IdempotencyKey":""}`
	for body, want := range map[string]string{
		strings.Replace(keyed, `"type"`, `"min_responses":5,"timeout_seconds":3600,"audience":["general"],"type"`, 1): same,
		strings.Replace(keyed, `{"`, "{\n\t  \"audience\":null,\"colour\":\"blue\",\"", 1):                            same,
		keyed: same,
		`{"prompt":"Is it <b>?   ","type":"text","audience":["ethics"],"min_responses":1,"timeout_seconds":60,"idempotency_key":"k"}`: `{"Prompt":"Is it \u003cb\u003e?   ","Type":"text","Options":null,"Audience":["ethics"],"Responses":1,"Timeout":60000000000,"IdempotencyKey":""}`,
	} {
		kept := &content{}
		p := newPlatform(t, func(p *platform) { p.agentAPI.Keys = kept })
		p.do(t, asAgent("POST /agent/questions", body), http.StatusServiceUnavailable)
		if kept.got != want {
			t.Errorf("got %s; want %s", kept.got, want)
		}
	}
}
