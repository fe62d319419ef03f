package api_test

import (
	"net/http"
	"testing"
	"time"

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
	began := p.world.Now()
	waits := 0
	for {
		w := p.serve(asAgent("GET /agent/questions/"+id+"?wait=1", ""))
		if w.Code == http.StatusTooManyRequests {
			break
		}
		waits++
	}
	if waited := p.world.Now().Sub(began); waits != 20 || waited != 20*time.Second {
		t.Errorf("got %d waits of %v together; want 20 of 20s", waits, waited)
	}
}
