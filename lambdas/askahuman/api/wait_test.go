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

const twoAnswers = `{"prompt":"Is anybody out there?","type":"text","min_responses":2}`

func TestWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query string
		// answers are given before the read, and later ones a second after it began
		answers, later int
		status         int
		field          string // of a refusal
		waited         time.Duration
		current        int
	}{
		"Without":       {status: 200},
		"Empty":         {query: "?wait=&seen=", status: 200},
		"Zero":          {query: "?wait=0&seen=0", status: 200},
		"NoNews":        {query: "?wait=3", status: 200, waited: 3 * time.Second},
		"Answer":        {query: "?wait=20", later: 1, status: 200, waited: time.Second, current: 1},
		"Unseen":        {query: "?wait=20&seen=0", answers: 1, status: 200, current: 1},
		"Seen":          {query: "?wait=2&seen=1", answers: 1, status: 200, waited: 2 * time.Second, current: 1},
		"EmptySeen":     {query: "?wait=2&seen=", answers: 1, status: 200, waited: 2 * time.Second, current: 1},
		"SeenAlone":     {query: "?seen=0", answers: 1, status: 200, current: 1},
		"Closed":        {query: "?wait=20&seen=2", answers: 2, status: 200, current: 2},
		"ErrTooLong":    {query: "?wait=21", status: 400, field: "wait"},
		"ErrNegative":   {query: "?wait=-1", status: 400, field: "wait"},
		"ErrFraction":   {query: "?wait=1.5", status: 400, field: "wait"},
		"ErrSeen":       {query: "?wait=1&seen=51", status: 400, field: "seen"},
		"ErrSeenNumber": {query: "?wait=1&seen=all", status: 400, field: "seen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			id := p.ask(t, twoAnswers)
			people := []string{"ann", "bob", "eve"}
			for i := range test.answers {
				p.do(t, asPerson(people[i], "POST /human/responses",
					`{"question_id":"`+id+`","answer":"I am out here."}`), http.StatusCreated)
			}
			began := p.clock.read()
			if test.later > 0 {
				p.meanwhile = func() {
					p.meanwhile = nil
					p.do(t, asPerson("late", "POST /human/responses",
						`{"question_id":"`+id+`","answer":"I am out here."}`), http.StatusCreated)
				}
			}
			body := p.do(t, asAgent("GET /agent/questions/"+id+test.query, ""), test.status)
			if waited := p.clock.read().Sub(began); waited != test.waited {
				t.Errorf("waited %v; want %v", waited, test.waited)
			}
			if test.field != "" {
				if got := body["error"].(map[string]any)["details"].(map[string]any)["field"]; got != test.field {
					t.Errorf("got a problem of %v; want one of %s", got, test.field)
				}
				return
			}
			if got := body["current_responses"]; got != float64(test.current) {
				t.Errorf("got %v answers; want %d", got, test.current)
			}
		})
	}
}

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
	id := p.ask(t, twoAnswers)
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
	id := p.ask(t, twoAnswers)
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
