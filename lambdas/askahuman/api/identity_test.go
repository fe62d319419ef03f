package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
)

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
	p.serve("GET /human/stats as ann")
	counts := fmt.Sprint(p.world.Items(t, "Guards"))
	if ann, err := testHasher().Person(t.Context(), "ann"); err != nil ||
		!strings.Contains(counts, ratelimit.Digest(ann)) || !strings.Contains(counts, ratelimit.Digest(address)) {
		t.Errorf("counted %s, %v; want the hashes of ann and of her address", counts, err)
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
		w := p.serve("GET /human/leaderboard as " + step.fingerprint)
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
	body := must.Get(openapi.Document(askahuman.Under(askahuman.Parts{}, rules, true)))(t)
	for _, want := range []string{"At most 3 questions of one agent", "At most 4 calls in 1h0m0s for each agent.",
		"you have 3 questions", "or for each address without X-Fingerprint; and 6000 for all of an address together."} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the document does not say %q", want)
		}
	}
	p := newPlatform(t, func(p *platform) { p.service.Rules, p.agentAPI.Rules = &rules, &rules })
	for i, want := range []int{201, 201, 201, 403, 429} {
		w := p.serve("POST /agent/questions as agent-1", `> {"prompt":"Is anybody out there?","type":"text"}`)
		if w.Code != want || want == 403 && !strings.Contains(w.Body.String(),
			"you have 3 questions that are open or partial") {
			t.Errorf("question %d: got %d %s; want %d", i+1, w.Code, w.Body, want)
		}
	}
}
