package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func (p *platform) issue(t *testing.T, agent string) string {
	t.Helper()
	key, _, err := p.keys.Issue(t.Context(), agent)
	must.OK(t, err)
	return key
}

// A key names its agent in either header, and the service sees only the agent.
func TestAgentKeys(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, withKeys(t))
	ann, rotated, bob := p.issue(t, "ann"), p.issue(t, "ann"), p.issue(t, "bob")
	w := p.serve("POST /agent/questions", "X-Agent-Id: "+ann,
		`> {"prompt":"Is anybody out there?","type":"text"}`)
	if w.Code != http.StatusCreated {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	line := "GET /agent/questions/" + uuids.FindString(w.Body.String())
	for name, test := range map[string]struct {
		headers []string
		want    int
	}{
		"Header":        {[]string{"X-Agent-Id: " + ann}, 200},
		"Bearer":        {[]string{"Authorization: Bearer " + ann}, 200},
		"BearerInSmall": {[]string{"Authorization: bearer  " + ann}, 200},
		"Rotated":       {[]string{"X-Agent-Id: " + rotated}, 200},
		"BearerCounts":  {[]string{"Authorization: Bearer " + ann, "X-Agent-Id: " + bob}, 200},
		"OtherScheme":   {[]string{"Authorization: Basic YTpi", "X-Agent-Id: " + ann}, 200},
		"Other":         {[]string{"X-Agent-Id: " + bob}, 404},
		"Name":          {[]string{"X-Agent-Id: ann"}, 401},
		"None":          {nil, 401},
		"EmptyBearer":   {[]string{"Authorization: Bearer ", "X-Agent-Id: " + ann}, 401},
		"Twice":         {[]string{"X-Agent-Id: " + ann + "," + ann}, 401},
		"Long":          {[]string{"X-Agent-Id: " + strings.Repeat("k", 8000)}, 401},
	} {
		if w := p.serve(append([]string{line}, test.headers...)...); w.Code != test.want {
			t.Errorf("%s: got %d %s; want %d", name, w.Code, w.Body, test.want)
		}
	}
	// Limits are each agent's, not each key's, and calls without an agent count towards none.
	for _, call := range [][2]string{{ann, "593"}, {rotated, "592"}, {bob, "598"}} {
		w := p.serve("GET /agent/questions", "X-Agent-Id: "+call[0])
		if got := w.Header().Get("X-RateLimit-Remaining"); got != call[1] {
			t.Errorf("%s calls are left; want %s", got, call[1])
		}
	}
}

// Without readable keys every agent is refused, and no key is in the log.
func TestAgentKeysFail(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, withKeys(t))
	key := p.issue(t, "ann")
	p.serve("GET /agent/questions", "X-Agent-Id: "+key)
	p.serve("POST /agent/questions", "Authorization: Bearer "+key, `> {`)
	broken, _ := dynamotest.Refused(t, askahuman.AgentKeys(), func(string) dynamotest.Answer {
		return dynamotest.Answer{Code: "ResourceNotFoundException"}
	})
	p.keys.DB = broken
	w := p.serve("GET /agent/questions", "X-Agent-Id: "+key)
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "Resource") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if log := p.log.String(); !strings.Contains(log, "ResourceNotFoundException") || strings.Contains(log, key) ||
		strings.Contains(log, key[4:]) {
		t.Errorf("the log is %s", log)
	}
}
