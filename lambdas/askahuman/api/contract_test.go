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

// Each event is counted once, after it has happened.
func TestMetrics(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newPlatform(t, func(p *platform) {
		metrics := &kit.Metrics{Namespace: "Onesynth/askahuman", Writer: &out}
		p.agentAPI.Metrics, p.humanAPI.Metrics, p.operatorAPI.Metrics = metrics, metrics, metrics
		p.service.Ended = api.CountEnded(metrics)
	})
	all := map[string]string{} // by who calls
	counted := func(r request) (*httptest.ResponseRecorder, string) {
		t.Helper()
		w := p.serve(r)
		sums := metricstest.Sums(t, out.String())
		_, path, _ := strings.Cut(r.line, "/")
		who, _, _ := strings.Cut(path, "/")
		all[who] += out.String()
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
		p.world.Advance(time.Minute)
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
	for _, step := range []struct{ line, body, want string }{
		{"PUT /operator/questions/" + answered, `{"hidden":true}`, "204 map[Hidden:1]"},
		{"PUT /operator/questions/" + answered, `{"hidden":false}`, "204 map[]"},
		{"PUT /operator/blocks", `{"blocked":true,"agent_id":"agent-1"}`, "204 map[Blocked:1]"},
		{"PUT /operator/blocks", `{"blocked":false,"agent_id":"agent-1"}`, "204 map[]"},
		{"PUT /operator/questions", `{"agent_id":"agent-1","hidden":true}`, "200 map[]"},
	} {
		if _, got := counted(asOperator(step.line, step.body)); got != step.want {
			t.Errorf("%s %s: %s, want %s", step.line, step.body, got, step.want)
		}
	}
	ask("3600")
	if _, got := counted(asOperator("PUT /operator/questions",
		`{"agent_id":"agent-1","hidden":true}`)); got != "200 map[Hidden:1]" {
		t.Errorf("hiding the open questions of an agent: %s", got)
	}
	for who, function := range map[string]string{"agent": "agentapi", "human": "humanapi",
		"operator": "moderationapi"} {
		metricstest.Complete(t, all[who], schema.MetricsOf(function, askahuman.Platform().Metrics))
	}
}
