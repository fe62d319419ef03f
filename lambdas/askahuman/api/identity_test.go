package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Callers who name themselves are counted by the name. TestWire and TestOddInputs have the names
// that are refused.
func TestOpenAgents(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", strings.Repeat("é", 128), "my agent (test)"} {
		p := newPlatform(t)
		w := p.serve(request{line: "GET /agent/questions", headers: []string{"X-Agent-Id: " + id}})
		if counted := p.limiter.callers(); w.Code != 200 || len(counted) != 1 || counted[0] != id {
			t.Errorf("%q: got %d %s, counted %q", id, w.Code, w.Body, counted)
		}
	}
}

// With tokens, the subject names the agent, and X-Agent-Id has no effect.
func TestTokens(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, withTokens, func(p *platform) { p.limiter.unlimited = true })
	as := func(subject string, r request) (int, string) {
		r.headers = []string{"X-Agent-Id: ann"}
		w, hr := httptest.NewRecorder(), r.http()
		p.ServeHTTP(w, hr.WithContext(kit.WithInvocation(t.Context(),
			kit.Invocation{Claims: map[string]string{"sub": subject}})))
		return w.Code, w.Body.String()
	}
	code, body := as("ann", request{line: "POST /agent/questions",
		body: `{"prompt":"Is anybody out there?","type":"text"}`})
	if code != 201 {
		t.Fatalf("got %d %s", code, body)
	}
	line := "GET /agent/questions/" + uuids.FindString(body)
	for subject, want := range map[string]int{"ann": 200, "bob": 404, strings.Repeat("s", 255): 404} {
		if code, body := as(subject, request{line: line}); code != want {
			t.Errorf("subject %.10q: got %d %s; want %d", subject, code, body, want)
		}
	}
}

// An address and a fingerprint of the same text have different hashes, and neither is it.
func TestHasher(t *testing.T) {
	t.Parallel()
	person, err := testHasher().Person(t.Context(), "203.0.113.7")
	address, addressErr := testHasher().Address(t.Context(), "203.0.113.7")
	if err != nil || addressErr != nil || person == address || len(person) != 64 || len(address) != 64 {
		t.Errorf("got %s (%v) and %s (%v)", person, err, address, addressErr)
	}
	// printf %s abc | openssl dgst -sha256 -hmac secret
	const abc = "9946dad4e00e913fc8be8e5d3f7e110a4a9e832f83fb09c345285d78638d8a0e"
	secret := api.Hasher{Secret: func(context.Context) (string, error) { return "secret", nil }}
	if got, err := secret.Person(t.Context(), "abc"); got != abc || err != nil {
		t.Errorf("got %s (%v), want %s", got, err, abc)
	}
	reason := errors.New("no secret")
	if _, err := (api.Hasher{Secret: func(context.Context) (string, error) { return "", reason }}).Person(t.Context(),
		"x"); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	p := newPlatform(t)
	p.serve(asPerson("ann", "GET /human/stats", ""))
	for _, caller := range p.limiter.callers() {
		if len(caller) != 64 {
			t.Errorf("counted %q; want hashes", caller)
		}
	}
}

// A fingerprint is required where an operation needs the person, and wherever it is shown it has to be one.
func TestFingerprintRefused(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	const answer, subscribe = `{"question_id":"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a","answer":"I am."}`,
		`{"fcm_token":"t"}`
	for _, test := range []struct {
		line, body, fingerprint string
		rule                    string // of the refusal; empty: none
	}{
		{"GET /human/stats", "", "", "required"},
		{"POST /human/responses", answer, "", "required"},
		{"GET /human/questions", "", "", ""},
		{"GET /human/leaderboard", "", "", ""},
		{"POST /human/push/subscribe", subscribe, "", ""},
		{"GET /human/stats", "", strings.Repeat("é", askahuman.MaxFingerprintLength), ""},
		{"GET /human/stats", "", strings.Repeat("é", askahuman.MaxFingerprintLength+1), "length"},
		{"GET /human/questions", "", strings.Repeat("x", askahuman.MaxFingerprintLength+1), "length"},
		{"POST /human/responses", answer, strings.Repeat("x", 5000), "length"},
		{"POST /human/push/subscribe", subscribe, "a\x07b", "format"},
	} {
		r := request{line: test.line, body: test.body}
		if test.fingerprint != "" {
			r.headers = []string{"X-Fingerprint: " + test.fingerprint}
		}
		w := p.serve(r)
		if test.rule == "" {
			if w.Code >= 300 {
				t.Errorf("%s with %.10q: got %d %s", test.line, test.fingerprint, w.Code, w.Body)
			}
			continue
		}
		for _, want := range []string{`"field":"X-Fingerprint"`, `"constraint":"` + test.rule + `"`} {
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s with %.10q: got %d %s; want 400 with %s", test.line, test.fingerprint, w.Code, w.Body,
					want)
			}
		}
	}
}

// People are counted one by one, wherever they call from, and all of one address
// together far above that; unknown ones by address.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	rules := askahuman.DefaultRules()
	for i, l := range rules.RateLimits {
		if l.Name == "read" {
			rules.RateLimits[i].Requests, rules.RateLimits[i].AddressRequests = 2, 5
		}
	}
	p := newPlatform(t, func(p *platform) { p.humanAPI.Rules = &rules })
	for i, step := range []struct{ fingerprint, want string }{
		{"ann", "200 1 of 2"}, {"ann", "200 0 of 2"},
		{"bob", "200 1 of 2"}, {"bob", "200 0 of 2"},
		// A call that the person's limit refuses does not use up the address's, which others share.
		{"bob", "429 0 of 2"}, {"bob", "429 0 of 2"},
		// The limit of which the least is left is told.
		{"eve", "200 0 of 5"},
		// Five calls of the address were taken.
		{"dan", "429 0 of 5"},
		// Unknown persons have the limit of one person, and do not use up the others'.
		{"", "200 1 of 2"}, {"", "200 0 of 2"}, {"", "429 0 of 2"},
	} {
		w := p.serve(asPerson(step.fingerprint, "GET /human/leaderboard", ""))
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("X-RateLimit-Remaining"), " of ",
			w.Header().Get("X-RateLimit-Limit")); got != step.want {
			t.Errorf("call %d, of %q: got %s; want %s", i, step.fingerprint, got, step.want)
		}
	}
}

// The document, the answers and the quota say what the rules are.
func TestRules(t *testing.T) {
	t.Parallel()
	rules := askahuman.DefaultRules()
	rules.OpenQuestions, rules.RateLimits[0].Requests = 3, 4
	body := must((&api.AgentAPI{OpenAgents: true, Options: api.Options{Rules: &rules}}).Document())(t)
	for _, want := range []string{"At most 3 questions of one agent", "At most 4 calls in 1h0m0s for each agent.",
		"you have 3 questions", "or for each address without X-Fingerprint; and 6000 for all of an address together."} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the document does not say %q", want)
		}
	}
	p := newPlatform(t, func(p *platform) { p.service.Rules, p.agentAPI.Rules = &rules, &rules })
	for i, want := range []int{201, 201, 201, 403, 429} {
		w := p.serve(asAgent("POST /agent/questions", `{"prompt":"Is anybody out there?","type":"text"}`))
		if w.Code != want || want == 403 && !strings.Contains(w.Body.String(),
			"you have 3 questions that are open or partial") {
			t.Errorf("question %d: got %d %s; want %d", i+1, w.Code, w.Body, want)
		}
	}
}

// When a limit cannot be counted, the request is refused.
func TestRateLimiterFails(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.limiter.err = errors.New("no table")
	if w := p.serve(asAgent("GET /agent/questions", "")); w.Code != 500 ||
		strings.Contains(w.Body.String(), "no table") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
