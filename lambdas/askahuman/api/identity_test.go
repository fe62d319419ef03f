package api_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestOpenAgents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id     string
		status int
	}{
		"OK":         {"agent-1", 200},
		"Shortest":   {"a", 200},
		"Longest":    {strings.Repeat("é", 128), 200},
		"Spaces":     {"my agent (test)", 200},
		"Missing":    {"", 400},
		"TooLong":    {strings.Repeat("a", 129), 400},
		"Control":    {"a\x07b", 400},
		"Newline":    {"a\nb", 400},
		"NotUTF8":    {"a\xff", 400},
		"RightToLef": {"a\u202eb", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			hr := httptest.NewRequest("GET", "/agent/questions", nil)
			hr.Header["X-Agent-Id"] = []string{test.id}
			w := httptest.NewRecorder()
			p.agents.ServeHTTP(w, hr)
			if w.Code != test.status || (test.status == 400 && !strings.Contains(w.Body.String(), `"field":"X-Agent-Id"`)) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if counted := p.limiter.callers("poll"); (len(counted) == 1 && counted[0] == test.id) != (test.status == 200) {
				t.Errorf("counted %q", counted)
			}
		})
	}
}

// With tokens, X-Agent-Id says nothing, and the subject everything.
func TestTokens(t *testing.T) {
	t.Parallel()
	store := &inmem.Store{}
	agents := (&api.AgentAPI{Service: &askahuman.Agents{Store: store}, Options: api.Options{RateLimiter: &limiter{used: map[string]int{}}, Log: slog.New(slog.DiscardHandler)}}).Handler()
	as := func(subject, method, target, body string) *httptest.ResponseRecorder {
		hr := httptest.NewRequest(method, target, strings.NewReader(body))
		hr.Header.Set("X-Agent-Id", "ann")
		claims := map[string]string{"sub": subject}
		if subject == "" {
			claims = nil
		}
		w := httptest.NewRecorder()
		agents.ServeHTTP(w, hr.WithContext(kit.WithInvocation(t.Context(), kit.Invocation{Claims: claims})))
		return w
	}
	const question = `{"prompt":"Is anybody out there?","type":"text"}`
	w := as("ann", "POST", "/agent/questions", question)
	if w.Code != http.StatusCreated {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	id := uuids.FindString(w.Body.String())
	for subject, want := range map[string]int{
		"ann": 200, "bob": 404, "": 401, strings.Repeat("s", 255): 404, strings.Repeat("s", 256): 401,
	} {
		if w := as(subject, "GET", "/agent/questions/"+id, ""); w.Code != want {
			t.Errorf("subject %.10q: got %d %s; want %d", subject, w.Code, w.Body, want)
		} else if want == 401 && !strings.Contains(w.Body.String(), `"code":"UNAUTHORIZED"`) {
			t.Errorf("got %s", w.Body)
		}
	}
	if w := as("", "GET", "/openapi.json", ""); w.Code != http.StatusOK {
		t.Errorf("the document needs a token: %d %s", w.Code, w.Body)
	}
}

// recording remembers whom the services were called for.
type recording struct {
	api.PeopleService
	persons []string
}

func (r *recording) Stats(_ context.Context, person string, _ *time.Location) (askahuman.Standing, error) {
	r.persons = append(r.persons, person)
	return askahuman.Standing{}, nil
}

func (r *recording) Feed(_ context.Context, person string, _ []string, _ int, _ string) ([]askahuman.Question, string, error) {
	r.persons = append(r.persons, person)
	return nil, "", nil
}

// A person is known to what is behind the API by an HMAC, an address likewise.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	service, limits := &recording{}, &limiter{used: map[string]int{}}
	people := (&api.HumanAPI{Service: service, Hasher: testHasher(), Options: api.Options{RateLimiter: limits, Log: slog.New(slog.DiscardHandler)}}).Handler()
	mac := hmac.New(sha256.New, []byte("the key of these tests"))
	mac.Write([]byte("ann"))
	ann := hex.EncodeToString(mac.Sum(nil))

	if w := asPerson("ann", "GET /human/stats", "").do(people); w.Code != 200 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	if w := (request{line: "GET /human/questions"}).do(people); w.Code != 200 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	if !slices.Equal(service.persons, []string{ann, ""}) {
		t.Errorf("called for %q; want %q and no one", service.persons, ann)
	}
	// The known person is counted as one, and with their address; the unknown one as
	// the address.
	address := limits.callers("read-address")
	if len(address) != 1 || len(address[0]) != 64 || address[0] == ann {
		t.Fatalf("counted %q; want one hash of the address", address)
	}
	counted, want := limits.callers("read"), []string{ann, address[0]}
	slices.Sort(counted)
	slices.Sort(want)
	if !slices.Equal(counted, want) {
		t.Errorf("counted %q; want %q", counted, want)
	}
	for _, line := range []string{"GET /human/stats", "POST /human/responses"} {
		if w := (request{line: line, body: `{"question_id":"x","answer":"Yes."}`}).do(people); w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"X-Fingerprint"`) {
			t.Errorf("%s without a fingerprint: got %d %s", line, w.Code, w.Body)
		}
	}
	for fingerprint, want := range map[string]int{
		strings.Repeat("é", 512): 200, strings.Repeat("f", 513): 400, "a\x00b": 400, "a\nb": 400,
	} {
		hr := httptest.NewRequest("GET", "/human/stats", nil)
		hr.Header["X-Fingerprint"] = []string{fingerprint}
		w := httptest.NewRecorder()
		people.ServeHTTP(w, hr)
		if w.Code != want {
			t.Errorf("%.10q: got %d %s; want %d", fingerprint, w.Code, w.Body, want)
		}
		if strings.Contains(w.Body.String(), fingerprint[:3]) {
			t.Errorf("the answer repeats the fingerprint: %s", w.Body)
		}
	}
}

// An address and a fingerprint of the same text have different hashes.
func TestHasher(t *testing.T) {
	t.Parallel()
	h := testHasher()
	person, err := h.Person(t.Context(), "203.0.113.7")
	if err != nil {
		t.Fatal(err)
	}
	address, err := h.Address(t.Context(), "203.0.113.7")
	if err != nil {
		t.Fatal(err)
	}
	if person == address || len(person) != 64 || len(address) != 64 {
		t.Errorf("got %s and %s", person, address)
	}
	reason := errors.New("no secret")
	if _, err := (api.Hasher{Secret: func(context.Context) (string, error) { return "", reason }}).Person(t.Context(), "x"); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

// Each route counts towards the limit that the schema gives it, and says so on
// every answer, good or bad.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	limits := map[string][]request{
		"create":    {asAgent("POST /agent/questions", `{}`)},
		"poll":      {asAgent("GET /agent/questions/x", ""), asAgent("GET /agent/questions", ""), asAgent("DELETE /agent/questions/x", "")},
		"answer":    {asPerson("ann", "POST /human/responses", `{}`)},
		"read":      {asPerson("ann", "GET /human/questions", ""), asPerson("ann", "GET /human/questions/x", ""), asPerson("ann", "GET /human/leaderboard", ""), asPerson("ann", "GET /human/stats", "")},
		"subscribe": {asPerson("ann", "POST /human/push/subscribe", `{"fcm_token":"t"}`), asPerson("ann", "PUT /human/push/subscribe/x", `{"fcm_token":"t"}`)},
	}
	for _, limit := range schema.AskAHuman().RateLimits {
		t.Run(limit.Name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			requests := limits[limit.Name]
			if len(requests) == 0 {
				t.Fatal("no request of this test counts towards it")
			}
			for i := range limit.Requests {
				r := requests[i%len(requests)]
				w := p.serve(r)
				if w.Code == http.StatusTooManyRequests {
					t.Fatalf("call %d is refused", i+1)
				}
				if i == 0 {
					h := w.Header()
					if h.Get("X-RateLimit-Limit") == "" || h.Get("X-RateLimit-Remaining") == "" || h.Get("X-RateLimit-Reset") != "1770026400" || h.Get("Retry-After") != "" {
						t.Errorf("headers are %v", h)
					}
				}
			}
			for _, r := range requests {
				w := p.serve(r)
				if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), `"code":"RATE_LIMITED"`) {
					t.Errorf("%s beyond the limit: got %d %s", r.line, w.Code, w.Body)
				}
				if h := w.Header(); h.Get("Retry-After") != "1800" || h.Get("X-RateLimit-Remaining") != "0" || h.Get("X-RateLimit-Reset") != "1770026400" {
					t.Errorf("%s: headers are %v", r.line, h)
				}
			}
			// Another caller has a limit of its own.
			other := requests[0]
			other.headers = []string{"X-Agent-Id: other", "X-Fingerprint: other"}
			if p.serve(other).Code == http.StatusTooManyRequests {
				t.Error("another caller is refused as well")
			}
		})
	}
	p := newPlatform(t)
	for range 50 {
		if w := p.serve(request{line: "DELETE /human/push/subscribe/x"}); w.Code != 404 || w.Header().Get("X-RateLimit-Limit") != "" {
			t.Fatalf("ending a subscription is limited: %d %v", w.Code, w.Header())
		}
	}
}

// People are counted one by one, wherever they call from, and all of one address
// together far above that; unknown ones by address.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	rules := schema.DefaultAskAHumanRules()
	for i, l := range rules.RateLimits {
		if l.Name == "read" {
			rules.RateLimits[i].Requests, rules.RateLimits[i].AddressRequests = 2, 5
		}
	}
	used := &limiter{used: map[string]int{}}
	handler := (&api.HumanAPI{Service: &askahuman.People{Store: &inmem.Store{}}, Hasher: testHasher(), Options: api.Options{RateLimiter: used, Rules: &rules, Now: began}}).Handler()
	call := func(fingerprint string) string {
		r := request{line: "GET /human/leaderboard"}
		if fingerprint != "" {
			r.headers = []string{"X-Fingerprint: " + fingerprint}
		}
		w := r.do(handler)
		return fmt.Sprint(w.Code, " ", w.Header().Get("X-RateLimit-Remaining"), " of ", w.Header().Get("X-RateLimit-Limit"))
	}
	for i, step := range []struct{ fingerprint, want string }{
		{"ann", "200 1 of 2"}, {"ann", "200 0 of 2"},
		{"bob", "200 1 of 2"}, {"bob", "200 0 of 2"},
		// A call that the person's limit refuses does not use up the address's, which others share.
		{"bob", "429 0 of 2"}, {"bob", "429 0 of 2"},
		{"eve", "200 1 of 2"},
		// Five calls of the address were taken.
		{"dan", "429 0 of 5"},
		// Unknown persons have the limit of one person, and do not use up the others'.
		{"", "200 1 of 2"}, {"", "200 0 of 2"}, {"", "429 0 of 2"},
	} {
		if got := call(step.fingerprint); got != step.want {
			t.Errorf("call %d, of %q: got %s; want %s", i, step.fingerprint, got, step.want)
		}
	}
}

// The document, the answers and the quota say what the rules are.
func TestRules(t *testing.T) {
	t.Parallel()
	rules := schema.DefaultAskAHumanRules()
	rules.OpenQuestions, rules.RateLimits[0].Requests = 3, 4
	body, err := api.Document(api.ByHeader, &rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"At most 3 questions of one agent", "At most 4 calls in 1h0m0s for each agent.", "you have 3 questions", "or for each address without X-Fingerprint; and 6000 for all of an address together."} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the document does not say %q", want)
		}
	}
	store := &inmem.Store{Quota: rules.OpenQuestions}
	agents := (&api.AgentAPI{Service: &askahuman.Agents{Store: store}, OpenAgents: true, Options: api.Options{RateLimiter: &limiter{used: map[string]int{}}, Rules: &rules}}).Handler()
	for i, want := range []int{201, 201, 201, 403, 429} {
		w := asAgent("POST /agent/questions", `{"prompt":"Is anybody out there?","type":"text"}`).do(agents)
		if w.Code != want || want == 403 && !strings.Contains(w.Body.String(), "you have 3 questions that are open or partial") {
			t.Errorf("question %d: got %d %s; want %d", i+1, w.Code, w.Body, want)
		}
	}
}

// Where agents name themselves, a key is not taken for a name: it would be stored as
// it is. The answer does not show it.
func TestKeyAsAgentID(t *testing.T) {
	t.Parallel()
	key := askahuman.AgentKeyPrefix + strings.Repeat("A2", 26)
	p := newPlatform(t)
	for _, line := range []string{"POST /agent/questions", "GET /agent/questions"} {
		w := p.serve(request{line: line, headers: []string{"X-Agent-Id: " + key}, body: `{"prompt":"Is anybody out there?","type":"text"}`})
		if w.Code != 400 || !strings.Contains(w.Body.String(), `"code":"VALIDATION_ERROR","message":"X-Agent-Id begins with aah_, as keys do, but this environment takes no keys;`) || strings.Contains(w.Body.String(), key) {
			t.Errorf("%s: got %d %s", line, w.Code, w.Body)
		}
	}
}

// When a limit cannot be counted, the caller is not let through unseen.
func TestRateLimiterFails(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.limiter.err = errors.New("no table")
	if w := p.serve(asAgent("GET /agent/questions", "")); w.Code != 500 || strings.Contains(w.Body.String(), "no table") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func (p *platform) serve(r request) *httptest.ResponseRecorder {
	if strings.Contains(r.line, " /human/") {
		return r.do(p.people)
	}
	return r.do(p.agents)
}
