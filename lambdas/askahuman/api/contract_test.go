package api_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/schema"
)

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// golden makes the request and holds status and body, byte for byte, to what is
// wanted. Ids, which are random, are written as <id>.
func (p *platform) golden(t *testing.T, r request, status int, want string) {
	t.Helper()
	handler := p.agents
	if strings.Contains(r.line, " /human/") {
		handler = p.people
	}
	w := r.do(handler)
	got := strings.TrimSuffix(uuids.ReplaceAllString(w.Body.String(), "<id>"), "\n")
	if w.Code != status || got != want {
		t.Errorf("%s\n got %d %s\nwant %d %s", r.line, w.Code, got, status, want)
	}
}

// Suspicious answers are the agent's to judge: it sees their flags.
func TestFlags(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	id := p.ask(t, `{"prompt":"Is anybody out there?","type":"text","min_responses":2}`)
	other := p.ask(t, `{"prompt":"Is anybody else out there?","type":"text"}`)
	p.do(t, asPerson("ann", "POST /human/responses", `{"question_id":"`+other+`","answer":"I am out here.","response_time_ms":9000}`), 201)
	p.do(t, asPerson("ann", "POST /human/responses", `{"question_id":"`+id+`","answer":"I am  OUT here.","response_time_ms":4999}`), 201)
	p.do(t, asPerson("bob", "POST /human/responses", `{"question_id":"`+id+`","answer":"So am I.","response_time_ms":5000}`), 201)
	got := p.do(t, asAgent("GET /agent/questions/"+id, ""), 200)["responses"]
	want := []any{
		map[string]any{"answer": "I am  OUT here.", "flags": []any{"suspicious_timing", "duplicate_content"}},
		map[string]any{"answer": "So am I."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("responses (-want +got):\n%s", diff)
	}
	// Texts of ten characters are flagged from the fifth in a row on.
	var flags []any
	for i := range 6 {
		id := p.ask(t, fmt.Sprintf(`{"prompt":"Is this question %d?","type":"text"}`, i))
		p.do(t, asPerson("dan", "POST /human/responses", fmt.Sprintf(`{"question_id":"%s","answer":" it's so: %d "}`, id, i)), 201)
		answer := p.do(t, asAgent("GET /agent/questions/"+id, ""), 200)["responses"].([]any)[0].(map[string]any)
		flags = append(flags, answer["flags"])
	}
	if diff := cmp.Diff([]any{nil, nil, nil, nil, []any{"pattern_match"}, []any{"pattern_match"}}, flags); diff != "" {
		t.Errorf("flags of short texts (-want +got):\n%s", diff)
	}
}

// More than the most of a list is the most, for clients that ask for all.
func TestLimitAboveTheMost(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	for range 51 {
		p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
	}
	for _, line := range []string{"GET /agent/questions?limit=51", "GET /agent/questions?limit=100", "GET /human/questions?limit=1000000"} {
		page := p.do(t, request{line: line, headers: []string{"X-Agent-Id: agent-1"}}, 200)
		if got := len(page["questions"].([]any)); got != 50 || page["next_cursor"] == nil {
			t.Errorf("%s: got %d questions, next_cursor %v; want 50 and more", line, got, page["next_cursor"])
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	id := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
	p.do(t, request{line: "DELETE /agent/questions/" + id, headers: []string{"X-Agent-Id: another"}}, http.StatusNotFound)
	p.do(t, asAgent("DELETE /agent/questions/"+id, ""), http.StatusNoContent)
	p.do(t, asAgent("DELETE /agent/questions/"+id, ""), http.StatusNoContent)
	if got := p.do(t, asAgent("GET /agent/questions/"+id, ""), 200); got["status"] != "CLOSED" || got["closed_at"] != "2026-02-02T09:30:00.000Z" {
		t.Errorf("got %v", got)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var newest []string
	for i := range 5 {
		p.clock.advance(time.Second)
		newest = append([]string{p.ask(t, fmt.Sprintf(`{"prompt":"This is question %d.","type":"text","audience":["%s"]}`, i, []string{"ethics", "product"}[i%2]))}, newest...)
	}
	pages := func(line string, most int) (ids []string) {
		cursor := ""
		for range 10 {
			target := line
			if cursor != "" {
				target += "&cursor=" + cursor
			}
			page := p.do(t, request{line: target, headers: []string{"X-Agent-Id: agent-1"}}, 200)
			questions := page["questions"].([]any)
			if len(questions) > most {
				t.Errorf("%s: a page of %d", target, len(questions))
			}
			for _, q := range questions {
				ids = append(ids, q.(map[string]any)["question_id"].(string))
			}
			next, more := page["next_cursor"].(string)
			if !more {
				return ids
			}
			cursor = next
		}
		t.Errorf("%s: pages without end", line)
		return ids
	}
	for _, line := range []string{"GET /agent/questions?limit=2", "GET /human/questions?limit=2", "GET /human/questions?limit=50"} {
		if got := pages(line, 50); strings.Join(got, " ") != strings.Join(newest, " ") {
			t.Errorf("%s: got %v; want %v", line, got, newest)
		}
	}
	for line, want := range map[string]int{
		"GET /human/questions?audience=ethics":                           3,
		"GET /human/questions?audience=product&audience=creative":        2,
		"GET /human/questions?audience=product,%20ethics":                5,
		"GET /human/questions?audience=technical":                        0,
		"GET /human/questions?audience=":                                 5,
		"GET /human/questions?limit=3&unknown=x":                         3,
		"GET /human/questions?cursor=&limit=":                            5,
		"GET /agent/questions?status=OPEN":                               5,
		"GET /agent/questions?status=PARTIAL":                            0,
		"GET /agent/questions?status=OPEN&status=CLOSED&limit=2&limit=1": 2,
	} {
		body := p.do(t, request{line: line, headers: []string{"X-Agent-Id: agent-1"}}, 200)
		if got := len(body["questions"].([]any)); got != want {
			t.Errorf("%s: got %d questions; want %d", line, got, want)
		}
	}
}

// A day is counted in the zone that X-Timezone names.
func TestTimezone(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.clock.advance(14 * time.Hour) // 23:30 UTC
	answer := func(zone string) {
		t.Helper()
		id := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
		r := asPerson("ann", "POST /human/responses", `{"question_id":"`+id+`","answer":"I am out here."}`)
		r.headers = append(r.headers, "X-Timezone: "+zone)
		p.do(t, r, 201)
	}
	stats := asPerson("ann", "GET /human/stats", "")
	stats.headers = append(stats.headers, "X-Timezone: America/New_York")
	answer("America/New_York") // 18:30
	p.clock.advance(time.Hour) // 00:30 UTC, 19:30 on the same day there
	answer("America/New_York")
	if got := p.do(t, stats, 200)["streak_days"]; got != 1.0 {
		t.Errorf("streak_days is %v on the first day in New York", got)
	}
	p.clock.advance(5 * time.Hour) // 00:30 in New York
	answer("America/New_York")
	if got := p.do(t, stats, 200)["streak_days"]; got != 2.0 {
		t.Errorf("streak_days is %v on the second day in New York", got)
	}
	// An hour later it is the third day in another zone, but it was so at the last answer.
	p.clock.advance(6*time.Hour + 30*time.Minute)
	answer("America/New_York")
	p.clock.advance(time.Hour)
	answer("Pacific/Kiritimati")
	if got := p.do(t, stats, 200)["streak_days"]; got != 2.0 {
		t.Errorf("streak_days is %v after a change of zones", got)
	}
}

// A device that has a new token renews its subscription without the id: by its old
// token, or as the person who made it.
func TestRenewSubscription(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	renew := func(person, body string, status int) any {
		t.Helper()
		r := request{line: "PUT /human/push/subscribe", body: body}
		if person != "" {
			r.headers = []string{"X-Fingerprint: " + person}
		}
		return p.do(t, r, status)["subscription_id"]
	}
	// There is no subscription yet, and an unknown token is no claim on one.
	ann := p.do(t, asPerson("ann", "POST /human/push/subscribe", `{"fcm_token":"ann-1","min_interval_minutes":1440}`), 201)["subscription_id"]
	renew("", `{"fcm_token":"ann-2"}`, 404)
	renew("eve", `{"fcm_token":"ann-2"}`, 404)
	renew("eve", `{"fcm_token":"ann-2","old_fcm_token":"ann-0"}`, 404)
	for _, step := range []struct{ person, body string }{
		{"ann", `{"fcm_token":"ann-2"}`},
		{"", `{"fcm_token":"ann-3","old_fcm_token":"ann-2"}`},
		// Sent again, with the answer lost.
		{"", `{"fcm_token":"ann-3","old_fcm_token":"ann-2"}`},
		{"", `{"fcm_token":"ann-3"}`},
		{"ann", `{"fcm_token":"ann-3","old_fcm_token":null,"min_interval_minutes":30}`},
		// The old token is better evidence than the person.
		{"eve", `{"fcm_token":"ann-4","old_fcm_token":"ann-3"}`},
	} {
		if got := renew(step.person, step.body, 200); got != ann {
			t.Errorf("%s %s: renewed %v; want %v", step.person, step.body, got, ann)
		}
	}
	// Another browser with the same fingerprint keeps its own subscription, and leaves
	// the other's as it is.
	twin := p.do(t, asPerson("ann", "POST /human/push/subscribe", `{"fcm_token":"twin-1"}`), 201)["subscription_id"]
	if got := renew("ann", `{"fcm_token":"ann-4"}`, 200); got != ann {
		t.Errorf("the token ann-4 renewed %v; want its own subscription %v", got, ann)
	}
	if got := renew("", `{"fcm_token":"twin-1"}`, 200); got != twin {
		t.Errorf("the token twin-1 renewed %v; want its own subscription %v", got, twin)
	}
	for _, token := range []string{"ann-1", "ann-2", "ann-3"} {
		if got := p.do(t, request{line: "POST /human/push/subscribe", body: `{"fcm_token":"` + token + `"}`}, 201)["subscription_id"]; got == ann {
			t.Errorf("the token %s that was given up still has the subscription", token)
		}
	}
	p.golden(t, request{line: "PUT /human/push/subscribe", body: `{}`}, 400,
		`{"error":{"code":"VALIDATION_ERROR","message":"fcm_token is missing, but required","details":{"field":"fcm_token","constraint":"required","problems":[{"field":"fcm_token","constraint":"required","message":"fcm_token is missing, but required"}]}}}`)
}

// Each event is counted once, after it has happened.
func TestMetrics(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	metrics := &kit.Metrics{Namespace: "Onesynth/askahuman", Writer: &out}
	store, now := &inmem.Store{}, time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	agents := (&api.AgentAPI{Service: &askahuman.Agents{Store: store, Now: clock, Ended: api.CountEnded(metrics)}, OpenAgents: true, Options: api.Options{RateLimiter: &limiter{used: map[string]int{}}, Metrics: metrics, Log: slog.New(slog.DiscardHandler)}}).Handler()
	people := (&api.HumanAPI{Service: &askahuman.People{Store: store, Now: clock}, Hasher: testHasher(), Options: api.Options{RateLimiter: &limiter{used: map[string]int{}}, Metrics: metrics, Log: slog.New(slog.DiscardHandler)}}).Handler()
	all := map[http.Handler]string{}
	counted := func(by http.Handler, r request) (*httptest.ResponseRecorder, string) {
		t.Helper()
		w := r.do(by)
		sums := metricstest.Sums(t, out.String())
		all[by] += out.String()
		out.Reset()
		return w, fmt.Sprint(w.Code, sums)
	}
	ask := func(timeout string) string {
		t.Helper()
		w, got := counted(agents, asAgent("POST /agent/questions", `{"prompt":"Is anybody out there?","type":"text","min_responses":2,"timeout_seconds":`+timeout+`}`))
		if got != "201 map[Asked:1]" {
			t.Errorf("asking: %s", got)
		}
		return uuids.FindString(w.Body.String())
	}
	answered, open, overdue := ask("3600"), ask("3600"), ask("60")
	answer := `{"question_id":"` + answered + `","answer":"I am out here."}`
	for _, step := range []struct{ person, want string }{
		{"ann", "201 map[Answered:1 TimeToFirstAnswer:60000]"}, {"ann", "409 map[]"}, {"bob", "201 map[Answered:1 Closed:1]"}, {"eve", "410 map[]"},
	} {
		now = now.Add(time.Minute)
		if _, got := counted(people, asPerson(step.person, "POST /human/responses", answer)); got != step.want {
			t.Errorf("%s answers: %s; want %s", step.person, got, step.want)
		}
	}
	for _, step := range []struct{ what, id, want string }{
		{"an answered question", answered, "204 map[]"},
		{"an open question", open, "204 map[ClosedByAgent:1]"}, {"it again", open, "204 map[]"},
		{"an overdue question", overdue, "204 map[Expired:1]"}, {"it again", overdue, "204 map[]"},
	} {
		if _, got := counted(agents, asAgent("DELETE /agent/questions/"+step.id, "")); got != step.want {
			t.Errorf("closing %s: %s, want %s", step.what, got, step.want)
		}
	}
	if _, got := counted(people, request{line: "POST /human/push/subscribe", body: `{"fcm_token":"t"}`}); got != "201 map[Subscribed:1]" {
		t.Errorf("subscribing: %s", got)
	}
	metricstest.Complete(t, all[agents], schema.MetricsOf("agentapi", schema.AskAHuman().Metrics))
	metricstest.Complete(t, all[people], schema.MetricsOf("humanapi", schema.AskAHuman().Metrics))
}
