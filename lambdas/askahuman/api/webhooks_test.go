package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema"
)

var _ api.WebhookSecrets = (*webhooks.Secrets)(nil)

// webhookSecrets are the stub as what has the secrets of webhooks.
type webhookSecrets struct{ stub }

func (s webhookSecrets) Valid(context.Context, string) ([]webhook.Secret, error) {
	secret, err := webhook.NewSecret(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	return []webhook.Secret{secret}, s.work()
}

func (s webhookSecrets) Rotate(ctx context.Context, agentID string) ([]webhook.Secret, error) {
	return s.Valid(ctx, agentID)
}

// webhookKey is the key of the platform.
func webhookKey(context.Context) (string, error) { return "the key of the platform", nil }

// An agent names an endpoint, which has to be public, and a repeat with another one is another request.
func TestCallbackURL(t *testing.T) {
	t.Parallel()
	p := newStoredPlatform(t)
	agents := p.agentAPI.Service.(*askahuman.Agents)
	agents.CheckCallback = webhook.Addresses{}.CheckURL
	ask := func(url string) request {
		return asAgent("POST /agent/questions", fmt.Sprintf(`{"prompt":"Is anybody out there?","type":"text","idempotency_key":"k","callback_url":%s}`, url))
	}
	id, _ := p.do(t, ask(`"https://agent.example.com/hooks?a=b"`), 201)["question_id"].(string)
	if q, err := agents.Read(t.Context(), "agent-1", id); err != nil || q.CallbackURL != "https://agent.example.com/hooks?a=b" {
		t.Errorf("stored %q, %v", q.CallbackURL, err)
	}
	if again := p.do(t, ask(`"https://agent.example.com/hooks?a=b"`), 201)["question_id"]; again != id {
		t.Errorf("a repeat made the question %v", again)
	}
	p.do(t, ask(`"https://agent.example.com/hooks?a=c"`), 400)
	p.do(t, ask("null"), 400)
	for _, url := range []string{
		`""`, `"agent.example.com"`, `"http://agent.example.com"`, `"https://169.254.169.254/"`, `"https://10.0.0.1/"`, `"https://localhost/"`, `"https://2130706433/"`, `"https://ⓛocalhost/"`, `"https://169。254。169。254/"`, `"https://user:secret@agent.example.com/"`,
		`"https://agent.example.com/` + strings.Repeat("a", 2048) + `"`, `7`,
	} {
		answer := p.do(t, asAgent("POST /agent/questions", `{"prompt":"Is anybody out there?","type":"text","callback_url":`+url+`}`), 400)
		if text := fmt.Sprint(answer); !strings.Contains(text, "callback_url") || strings.Contains(text, "secret@") {
			t.Errorf("%s: got %s", url, text)
		}
	}
}

// A stack without webhooks says so, instead of promising one.
func TestCallbackURLWithoutWebhooks(t *testing.T) {
	t.Parallel()
	p := newPlatform(func(p *platform) {
		p.agentAPI.Parts, p.agentAPI.Webhooks = schema.AskAHumanParts{WithoutWebhooks: true}, nil
		p.agentAPI.Service = &askahuman.Agents{Store: p.store, Now: p.clock.read}
	})
	w := p.serve(asAgent("POST /agent/questions", `{"prompt":"Is anybody out there?","type":"text","callback_url":"https://agent.example.com/"}`))
	if w.Code != 400 || !strings.Contains(w.Body.String(), "sends no webhooks") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if w := p.serve(asAgent("GET /agent/webhook-secrets", "")); w.Code != 404 {
		t.Errorf("got %d", w.Code)
	}
	document, err := p.agentAPI.Document()
	if err != nil || strings.Contains(string(document), "webhook-secrets") || strings.Contains(string(document), "public Internet") {
		t.Errorf("the document has webhooks, or: %v", err)
	}
}

// Each agent has secrets of its own, which stay, until it rotates them. The former one is valid for a day.
func TestWebhookSecrets(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	secrets := func(agent, line string) []any {
		r := asAgent(line, "")
		r.headers = []string{"X-Agent-Id: " + agent}
		list, _ := p.do(t, r, 200)["secrets"].([]any)
		return list
	}
	first := secrets("ada", "GET /agent/webhook-secrets")
	if again := secrets("ada", "GET /agent/webhook-secrets"); len(first) != 1 || fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("got %v, then %v", first, again)
	}
	if other := secrets("bob", "GET /agent/webhook-secrets"); fmt.Sprint(other) == fmt.Sprint(first) {
		t.Error("two agents share a secret")
	}
	rotated := secrets("ada", "POST /agent/webhook-secrets")
	if len(rotated) != 2 || rotated[0] == first[0] || rotated[1] != first[0] {
		t.Errorf("got %v after %v", rotated, first)
	}
	p.clock.advance(webhooks.KeepFormer)
	if later := secrets("ada", "GET /agent/webhook-secrets"); len(later) != 1 || later[0] != rotated[0] {
		t.Errorf("got %v a day after %v", later, rotated)
	}
	for range 9 {
		rotated = secrets("ada", "POST /agent/webhook-secrets")
		p.clock.advance(time.Minute)
	}
	if len(rotated) != 7 {
		t.Errorf("%d secrets are valid, want the present one and six former ones", len(rotated))
	}
	if strings.Contains(p.log.String(), "whsec_") {
		t.Errorf("the log has a secret: %s", &p.log)
	}
}
