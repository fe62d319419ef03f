package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Each PUT of operators has a line here. Bob, whose view is older than Olga's decision, gets 409 with what she has
// decided; having seen that, he decides. A repeat of one's own decision is none.
func TestDecidedMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, unlimited)
	q := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
	p.do(t, asPerson("ann", "POST /human/responses", `{"question_id":"`+q+`","answer":"I am out here."}`), 201)
	read := p.do(t, asAgent("GET /agent/questions/"+q, ""), 200)
	answer, _ := read["responses"].([]any)[0].(map[string]any)["response_id"].(string)
	reported := p.ask(t, `{"prompt":"Who is anybody out there?","type":"text"}`)
	p.do(t, asPerson("ann", "POST /human/reports", `{"question_id":"`+reported+`","reason":"spam"}`), 201)
	person, _ := p.do(t, asOperator("GET /operator/leaderboard", ""),
		200)["entries"].([]any)[0].(map[string]any)["person"].(string)
	ids := strings.NewReplacer("{report_id}", reported, "{question_id}", q, "{response_id}", answer)
	lines := map[string]struct {
		first, second string // what Olga and Bob decide
		seen          int    // the version that both saw
		want          askahuman.Decided
	}{
		"decideReport": {`"dismissed":true`, `"dismissed":false`, 0, "dismissed"},
		"hideResponse": {`"hidden":true`, `"hidden":false`, 0, "hidden"},
		"hideQuestion": {`"hidden":true`, `"hidden":false`, 0, "hidden"},
		"resetHandle": {`"reset":true,"person":"` + person + `"`, `"reset":false,"person":"` + person + `"`, 0,
			"name_reset"},
		"block": {`"blocked":true,"agent_id":"agent-2"`, `"blocked":false,"agent_id":"agent-2"`, 2, "blocked"},
		// Olga has blocked the agent and lifted the block; Bob saw it blocked.
		"hideOpenOfAgent": {"", `"hidden":true,"agent_id":"agent-2"`, 1, "unblocked"},
	}
	for version, blocked := range []bool{true, false} {
		p.do(t, asOperator("PUT /operator/blocks",
			fmt.Sprintf(`{"agent_id":"agent-2","blocked":%t,"version":%d}`, blocked, version)), 204)
	}
	for _, route := range askahuman.Platform().Routes {
		if route.Caller != askahuman.CallerOperator || route.Method != "PUT" {
			continue
		}
		line, known := lines[route.ID]
		if !known {
			t.Errorf("%s has no line: say what it answers after another decision", route.ID)
			continue
		}
		decide := func(operator, body string, version int) (int, map[string]any) {
			r := as(operator+" of operators", "PUT "+ids.Replace(route.Path),
				fmt.Sprintf(`{%s,"version":%d}`, body, version))
			w := p.serve(r)
			if w.Code != 409 {
				return w.Code, nil
			}
			return w.Code, p.do(t, r, 409)["error"].(map[string]any)
		}
		if line.first != "" {
			for range 2 {
				if code, got := decide("olga", line.first, line.seen); code != 204 {
					t.Errorf("%s: Olga gets %d %v", route.ID, code, got)
				}
			}
		}
		code, got := decide("bob", line.second, line.seen)
		last, _ := got["decision"].(map[string]any)
		by, _ := last["decided_by"].(string)
		if code != 409 || got["code"] != "DECIDED_MEANWHILE" || last["decision"] != string(line.want) ||
			!strings.Contains(fmt.Sprint(got["message"]), by) || line.first != "" && by != "olga" {
			t.Errorf("%s: Bob gets %d %v; want that it is %s", route.ID, code, got, line.want)
		}
		if code, got := decide("bob", line.second, line.seen+1); code != 204 && code != 200 {
			t.Errorf("%s: having seen it, Bob gets %d %v", route.ID, code, got)
		}
	}
	p.do(t, asOperator("PUT /operator/blocks", `{"blocked":true,"version":0,"person":"`+person+`"}`), 409)
	// What is hidden stays among what is hidden, also for an operator who sends no version.
	p.do(t, asOperator("PUT /operator/questions/"+q, `{"hidden":true}`), 204)
	p.do(t, asOperator("PUT /operator/reports/"+q, `{"dismissed":true}`), 409)
	hidden := p.do(t, asOperator("GET /operator/reports?state=hidden", ""), 200)["reports"].([]any)
	found := false
	for _, one := range hidden {
		report := one.(map[string]any)
		found = found || report["report_id"] == q && report["version"] == 3.0
	}
	if !found {
		t.Errorf("the hidden question is not in the list, or has another version than 3: %v", hidden)
	}
}
