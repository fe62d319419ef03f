package api_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// A day is counted in the zone that X-Timezone names, at an answer and at a look.
func TestTimezone(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.clock.advance(14 * time.Hour) // 23:30 UTC, 18:30 in New York
	inNewYork := func(line, body string, status int) map[string]any {
		t.Helper()
		r := asPerson("ann", line, body)
		r.headers = append(r.headers, "X-Timezone: America/New_York")
		return p.do(t, r, status)
	}
	for _, step := range []struct {
		later time.Duration
		want  float64
	}{{0, 1}, {time.Hour, 1}, {5 * time.Hour, 2}} {
		p.clock.advance(step.later)
		id := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
		inNewYork("POST /human/responses", `{"question_id":"`+id+`","answer":"I am out here."}`, 201)
		if got := inNewYork("GET /human/stats", "", 200)["streak_days"]; got != step.want {
			t.Errorf("%v later: streak_days is %v; want %v", step.later, got, step.want)
		}
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
	// There is no subscription yet, and an unknown token finds none.
	ann := p.do(t, asPerson("ann", "POST /human/push/subscribe", `{"fcm_token":"ann-1","min_interval_minutes":1440}`),
		201)["subscription_id"]
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
		if got := p.do(t, request{line: "POST /human/push/subscribe", body: `{"fcm_token":"` + token + `"}`},
			201)["subscription_id"]; got == ann {
			t.Errorf("the token %s that was given up still has the subscription", token)
		}
	}
}

// Each event is counted once, after it has happened.
func TestMetrics(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newPlatform(t, func(p *platform) {
		metrics := &kit.Metrics{Namespace: "Onesynth/askahuman", Writer: &out}
		p.agentAPI.Metrics, p.humanAPI.Metrics = metrics, metrics
		p.service.Ended = api.CountEnded(metrics)
	})
	all := map[bool]string{} // by whether people's
	counted := func(r request) (*httptest.ResponseRecorder, string) {
		t.Helper()
		w := p.serve(r)
		sums := metricstest.Sums(t, out.String())
		all[strings.Contains(r.line, "/human/")] += out.String()
		out.Reset()
		return w, fmt.Sprint(w.Code, sums)
	}
	ask := func(timeout string) string {
		t.Helper()
		w, got := counted(asAgent("POST /agent/questions",
			`{"prompt":"Is anybody out there?","type":"text","min_responses":2,"timeout_seconds":`+timeout+`}`))
		if got != "201 map[Asked:1]" {
			t.Errorf("asking: %s", got)
		}
		return uuids.FindString(w.Body.String())
	}
	answered, open, overdue := ask("3600"), ask("3600"), ask("60")
	answer := `{"question_id":"` + answered + `","answer":"I am out here."}`
	for _, step := range []struct{ person, want string }{
		{"ann", "201 map[Answered:1 TimeToFirstAnswer:60000]"}, {"ann", "409 map[]"},
		{"bob", "201 map[Answered:1 Closed:1]"}, {"eve", "410 map[]"},
	} {
		p.clock.advance(time.Minute)
		if _, got := counted(asPerson(step.person, "POST /human/responses", answer)); got != step.want {
			t.Errorf("%s answers: %s; want %s", step.person, got, step.want)
		}
	}
	for query, want := range map[string]string{"": "200 map[]", "?wait=2": "200 map[Waited:1]",
		"?wait=20&seen=1": "200 map[]"} {
		id := open
		if strings.Contains(query, "seen") {
			id = answered
		}
		if _, got := counted(asAgent("GET /agent/questions/"+id+query, "")); got != want {
			t.Errorf("reading with %q: %s, want %s", query, got, want)
		}
	}
	for _, step := range []struct{ what, id, want string }{
		{"an answered question", answered, "204 map[]"},
		{"an open question", open, "204 map[ClosedByAgent:1]"}, {"it again", open, "204 map[]"},
		{"an overdue question", overdue, "204 map[Expired:1]"}, {"it again", overdue, "204 map[]"},
	} {
		if _, got := counted(asAgent("DELETE /agent/questions/"+step.id, "")); got != step.want {
			t.Errorf("closing %s: %s, want %s", step.what, got, step.want)
		}
	}
	if _, got := counted(request{line: "POST /human/push/subscribe",
		body: `{"fcm_token":"t"}`}); got != "201 map[Subscribed:1]" {
		t.Errorf("subscribing: %s", got)
	}
	if _, got := counted(asPerson("ann", "POST /human/reports",
		`{"question_id":"`+answered+`","reason":"spam"}`)); got != "201 map[Reported:1]" {
		t.Errorf("a person reports: %s", got)
	}
	responses := p.do(t, asAgent("GET /agent/questions/"+answered, ""), 200)["responses"].([]any)
	report := fmt.Sprintf(`{"question_id":%q,"response_id":%q,"reason":"spam"}`, answered,
		responses[0].(map[string]any)["response_id"])
	if _, got := counted(asAgent("POST /agent/reports", report)); got != "201 map[Reported:1]" {
		t.Errorf("an agent reports: %s", got)
	}
	metricstest.Complete(t, all[false], schema.MetricsOf("agentapi", askahuman.Platform().Metrics))
	metricstest.Complete(t, all[true], schema.MetricsOf("humanapi", askahuman.Platform().Metrics))
}
