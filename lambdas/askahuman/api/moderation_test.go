package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
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

// An operator finds what was reported, hides it and blocks who wrote it. No one else may.
func TestOperators(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var out bytes.Buffer
	operators := (&api.OperatorAPI{
		Service: p.service, Hasher: testHasher(),
		Options: api.Options{Metrics: &kit.Metrics{Namespace: "Onesynth/askahuman", Writer: &out}, Clock: p.clock.read},
	}).Handler()
	as := func(group, line, body string, status int, into any) {
		t.Helper()
		r := request{line: line, body: body}.http()
		r = r.WithContext(kit.WithInvocation(r.Context(),
			kit.Invocation{Claims: map[string]string{"sub": "olga"}, Groups: []string{"staff", group}}))
		w := httptest.NewRecorder()
		operators.ServeHTTP(w, r)
		if w.Code != status {
			t.Fatalf("%s %s: got %d %s; want %d", line, body, w.Code, w.Body, status)
		}
		if into != nil {
			if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
				t.Fatal(err)
			}
		}
	}

	id := p.ask(t, `{"prompt":"Which is clearer?","type":"multiple_choice","options":["yes","no"],"min_responses":2}`)
	p.do(t, asPerson("ann", "POST /human/responses", `{"question_id":"`+id+`","selected_option":1}`), 201)
	responseID := p.do(t, asAgent("GET /agent/questions/"+id, ""),
		200)["responses"].([]any)[0].(map[string]any)["response_id"].(string)
	p.do(t, asPerson("bob", "POST /human/reports", `{"question_id":"`+id+`","reason":"spam"}`), 201)
	p.do(t, asAgent("POST /agent/reports", `{"question_id":"`+id+`","response_id":"`+responseID+
		`","reason":"abuse","comment":"<script>"}`), 201)
	p.do(t, asPerson("bob", "POST /human/reports", `{"question_id":"`+id+`","reason":"dull"}`), 400)
	p.do(t, request{line: "POST /human/reports", body: `{"question_id":"` + id + `","reason":"spam"}`}, 400)

	others := []string{p.ask(t, `{"prompt":"Was that the first?","type":"text"}`)}
	p.clock.advance(time.Second)
	others = append(others, p.ask(t, `{"prompt":"Was that the second?","type":"text"}`))

	var page api.ReportList
	as("operators", "GET /operator/reports", "", 200, &page)
	if len(page.Reports) != 2 {
		t.Fatalf("got %+v", page)
	}
	answer := page.Reports[0]
	if answer.ResponseID == "" {
		answer = page.Reports[1]
	}
	if answer.ID != responseID || answer.SelectedOption == nil || *answer.SelectedOption != 1 ||
		len(answer.Person) != 64 || answer.AgentID != "agent-1" ||
		len(answer.Complaints) != 1 || answer.Complaints[0].Comment != "<script>" ||
		answer.Complaints[0].By != "agent" {
		t.Errorf("got %+v", answer)
	}
	const hide, show = `{"hidden":true}`, `{"hidden":false}`
	question, response := "PUT /operator/questions/"+id, "PUT /operator/questions/"+id+"/responses/"+responseID
	for _, step := range []struct {
		group, line, body string
		status            int
	}{
		{"", "GET /operator/reports", "", 403},
		{"Operators", question, hide, 403},
		{"operators", "GET /operator/reports?state=closed", "", 400},
		{"operators", "GET /operator/reports?cursor=x", "", 400},
		{"operators", question, `{}`, 400},
		{"operators", "PUT /operator/questions/x", hide, 404},
		{"operators", "PUT /operator/questions/" + responseID, hide, 404},
		{"operators", response, hide, 204},
		{"operators", response, show, 204},
		{"operators", question, hide, 204},
		{"operators", "PUT /operator/reports/" + id, `{"dismissed":true}`, 204},
		{"operators", "PUT /operator/reports/" + id[:8] + responseID[8:], `{"dismissed":true}`, 404},
		{"operators", "PUT /operator/blocks", `{"blocked":true}`, 400},
		{"operators", "PUT /operator/blocks", `{"blocked":true,"agent_id":"a","person":"` + answer.Person + `"}`, 400},
		{"operators", "PUT /operator/blocks", `{"agent_id":"agent-1"}`, 400},
		{"operators", "PUT /operator/blocks", `{"blocked":true,"person":"` + strings.Repeat("0", 64) + `"}`, 404},
		{"operators", "PUT /operator/blocks", `{"blocked":true,"person":"` + answer.Person + `"}`, 204},
		{"operators", "PUT /operator/blocks", `{"blocked":true,"agent_id":"agent-1"}`, 204},
	} {
		as(step.group, step.line, step.body, step.status, nil)
	}
	if got := fmt.Sprint(metricstest.Sums(t, out.String())); got != "map[Blocked:2 Hidden:2]" {
		t.Errorf("metrics: %s", got)
	}
	metricstest.Complete(t, out.String(), schema.MetricsOf("moderationapi", askahuman.Platform().Metrics))

	// What the blocked agent has asked before is seen and hidden, each in one call.
	var open askahuman.OfAgent
	as("operators", "GET /operator/questions?agent_id=agent-1", "", 200, &open)
	if !open.Blocked || len(open.Questions) != 2 || open.Questions[0].ID != others[1] ||
		open.Questions[0].Prompt != "Was that the second?" || open.More {
		t.Errorf("got %+v; want the questions %v of a blocked agent", open, others)
	}
	as("operators", "GET /operator/questions", "", 400, nil)
	as("readers", "PUT /operator/questions", `{"agent_id":"agent-1","hidden":true}`, 403, nil)
	as("operators", "PUT /operator/questions", `{"agent_id":"agent-1","hidden":false}`, 400, nil)
	as("operators", "PUT /operator/questions", `{"hidden":true}`, 400, nil)
	for _, want := range []int{2, 0} {
		var all api.HiddenQuestions
		as("operators", "PUT /operator/questions", `{"agent_id":"agent-1","hidden":true}`, 200, &all)
		if all.Hidden != want || all.More {
			t.Errorf("got %+v; want %d hidden", all, want)
		}
	}
	for _, other := range others {
		if seen := p.do(t, asAgent("GET /agent/questions/"+other, ""), 200); seen["status"] != "CLOSED" ||
			seen["hidden"] != true {
			t.Errorf("the agent sees %v", seen)
		}
	}
	if got := fmt.Sprint(metricstest.Sums(t, out.String())); got != "map[Blocked:2 Hidden:4]" {
		t.Errorf("metrics: %s", got)
	}

	p.do(t, asPerson("eve", "GET /human/questions/"+id, ""), 404)
	p.do(t, asPerson("eve", "POST /human/responses", `{"question_id":"`+id+`","selected_option":1}`), 404)
	if seen := p.do(t, asAgent("GET /agent/questions/"+id, ""), 200); seen["status"] != "CLOSED" ||
		seen["hidden"] != true || len(seen["responses"].([]any)) != 1 {
		t.Errorf("the agent sees %v", seen)
	}
	blocked := p.do(t, asAgent("POST /agent/questions", `{"prompt":"May I ask again?","type":"text"}`),
		http.StatusForbidden)
	if code := blocked["error"].(map[string]any)["code"]; code != "BLOCKED" {
		t.Errorf("got %v", blocked)
	}
}

// A platform without moderation has none of its routes, in its document and behind it.
func TestWithoutModeration(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) {
		p.agentAPI.Parts.WithoutModeration, p.humanAPI.Parts.WithoutModeration = true, true
	})
	document, err := p.agentAPI.Document()
	if err != nil || strings.Contains(string(document), "/reports") ||
		strings.Contains(string(document), "/operator/") {
		t.Errorf("the document has routes of moderation, or there is none: %v", err)
	}
	for _, r := range []request{asAgent("POST /agent/reports", "{}"), asPerson("ann", "POST /human/reports", "{}")} {
		if w := p.serve(r); w.Code != 404 {
			t.Errorf("%s: got %d", r.line, w.Code)
		}
	}
}
