package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

// messages is a queue.
type messages struct{ bodies []string }

func (m *messages) Send(_ context.Context, body string) error {
	m.bodies = append(m.bodies, body)
	return nil
}

// webhookKey is the key of the platform.
func webhookKey(context.Context) (string, error) { return "the key of the platform", nil }

// An agent tries an endpoint with a webhook that is signed as any other, and is sent once.
func TestWebhookTest(t *testing.T) {
	t.Parallel()
	sent := &messages{}
	p := newPlatform(t, func(p *platform) {
		p.agentAPI.WebhookTests = &webhooks.Tester{Check: webhook.Addresses{}.CheckURL, Send: sent.Send,
			Clock: p.world.Now}
	})
	id, _ := p.do(t, asAgent("POST /agent/webhook-tests", `{"callback_url":"https://agent.example.com/hooks"}`),
		202)["webhook_id"].(string)
	if len(sent.bodies) != 1 || !strings.HasPrefix(id, "msg_") {
		t.Fatalf("got the id %q, and sent %v", id, sent.bodies)
	}
	var m webhooks.Message
	must.OK(t, json.Unmarshal([]byte(sent.bodies[0]), &m))
	const body = `{"data":{},"timestamp":"2026-02-02T09:30:00.000Z","type":"webhook.test"}`
	if m.ID != id || m.AgentID != "agent-1" || m.URL != "https://agent.example.com/hooks" || !m.Test ||
		m.QuestionID != "" || string(m.Body) != body {
		t.Errorf("sent %+v with %s", m, m.Body)
	}
	p.do(t, asAgent("POST /agent/webhook-tests", `{"callback_url":"https://localhost/"}`), 400)
	if len(sent.bodies) != 1 {
		t.Errorf("sent %v", sent.bodies)
	}
}
