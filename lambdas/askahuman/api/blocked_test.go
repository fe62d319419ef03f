package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Each route of agents has a line here: what a blocked agent gets, and what the same request gets otherwise. A blocked
// agent reads and closes what it asked, and makes the platform send nothing. The tools of the Model Context Protocol
// call these routes.
func TestBlockedAgent(t *testing.T) {
	t.Parallel()
	sent := &messages{}
	p := newPlatform(t, unlimited, func(p *platform) { p.agentAPI.WebhookTests.Send = sent.Send })
	question := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
	p.do(t, asPerson("ann", "POST /human/responses", `{"question_id":"`+question+`","answer":"I am out here."}`), 201)
	read := p.do(t, asAgent("GET /agent/questions/"+question, ""), 200)
	answer, _ := read["responses"].([]any)[0].(map[string]any)["response_id"].(string)
	routes := map[string]struct {
		body          string
		blocked, free int
	}{
		"askQuestion":         {`{"prompt":"Is anybody else there?","type":"text"}`, 403, 201},
		"listQuestions":       {"", 200, 200},
		"readQuestion":        {"", 200, 200},
		"closeQuestion":       {"", 204, 204},
		"readWebhookSecrets":  {"", 403, 200},
		"rotateWebhookSecret": {"", 403, 200},
		"testWebhook":         {`{"callback_url":"https://agent.example.com/hooks"}`, 403, 202},
		"reportResponse": {fmt.Sprintf(`{"question_id":%q,"response_id":%q,"reason":"spam"}`, question, answer), 403,
			201},
	}
	for _, blocked := range []bool{true, false} {
		p.do(t, asOperator("PUT /operator/blocks", fmt.Sprintf(`{"agent_id":"agent-1","blocked":%t}`, blocked)), 204)
		for _, route := range askahuman.Platform().Routes {
			if route.Caller != askahuman.CallerAgent || route.OutsideAPI {
				continue
			}
			line, known := routes[route.ID]
			if !known {
				t.Errorf("%s has no line: say what a blocked agent gets of it", route.ID)
				continue
			}
			want := line.free
			if blocked {
				want = line.blocked
			}
			path := strings.ReplaceAll(route.Path, "{question_id}", question)
			w := p.serve(asAgent(route.Method+" "+path, line.body))
			if w.Code != want || (want == 403) != strings.Contains(w.Body.String(), `"BLOCKED"`) {
				t.Errorf("%s, blocked %t: got %d %s; want %d", route.ID, blocked, w.Code, w.Body, want)
			}
		}
		reports := p.do(t, asOperator("GET /operator/reports", ""), 200)["reports"].([]any)
		if blocked == (len(sent.bodies) > 0 || len(reports) > 0) {
			t.Errorf("blocked %t: sent %v, reports %v", blocked, sent.bodies, reports)
		}
	}
}
