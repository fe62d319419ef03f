package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// A wait is one poll, and a call beyond the limit does not wait.
func TestWaitCountsOnce(t *testing.T) {
	t.Parallel()
	rules := askahuman.DefaultRules()
	for i, limit := range rules.RateLimits {
		if limit.Name == "poll" {
			rules.RateLimits[i].Requests = 20
		}
	}
	p := newPlatform(t, func(p *platform) { p.agentAPI.Rules = &rules })
	id := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
	began := p.clock.read()
	waits := 0
	for {
		w := p.serve(asAgent("GET /agent/questions/"+id+"?wait=1", ""))
		if w.Code == http.StatusTooManyRequests {
			break
		}
		waits++
	}
	if waited := p.clock.read().Sub(began); waits != 20 || waited != 20*time.Second {
		t.Errorf("got %d waits of %v together; want 20 of 20s", waits, waited)
	}
}

// Without waiting, the parameters are unknown, as they are to an earlier version.
func TestWithoutWaiting(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) { p.agentAPI.Parts.WithoutWaiting = true })
	id := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
	began := p.clock.read()
	for _, query := range []string{"", "?wait=20&seen=0", "?wait=forever"} {
		if w := p.serve(asAgent("GET /agent/questions/"+id+query, "")); w.Code != http.StatusOK {
			t.Errorf("%q: got %d %s; want 200", query, w.Code, w.Body)
		}
	}
	if waited := p.clock.read().Sub(began); waited != 0 {
		t.Errorf("waited %v; want not at all", waited)
	}
	document, err := (&api.AgentAPI{Options: api.Options{Parts: askahuman.Parts{WithoutWaiting: true}}}).Document()
	if err != nil || strings.Contains(string(document), `"seen"`) || !json.Valid(document) {
		t.Errorf("the document has the parameter seen, or: %v", err)
	}
}
