package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// messages is a queue.
type messages struct{ bodies []string }

func (m *messages) Send(_ context.Context, body string) error {
	m.bodies = append(m.bodies, body)
	return nil
}

// webhookKey is the key of the platform.
func webhookKey(context.Context) (string, error) { return "the key of the platform", nil }

// The agent of a question with an endpoint sees how far its webhook is: it alone, and of no other question.
func TestWebhookDelivery(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ask := func(callback string) string {
		return p.ask(t, `{"prompt":"Is anybody out there?","type":"text"`+callback+`}`)
	}
	with, without := ask(`,"callback_url":"https://agent.example.com/"`), ask("")
	sees := func(id, want string) {
		t.Helper()
		read := p.do(t, asAgent("GET /agent/questions/"+id, ""), 200)
		waited := p.do(t, asAgent("GET /agent/questions/"+id+"?wait=1", ""), 200)
		if got, err := json.Marshal(read["webhook"]); err != nil || string(got) != want ||
			fmt.Sprint(waited["webhook"]) != fmt.Sprint(read["webhook"]) {
			t.Errorf("got %s, and %v after a wait; want %s", got, waited["webhook"], want)
		}
	}
	sees(without, "null")
	sees(with, `{"attempts":0,"state":"waiting"}`)
	p.do(t, asAgent("DELETE /agent/questions/"+with, ""), 204)
	p.do(t, asAgent("DELETE /agent/questions/"+without, ""), 204)
	sees(without, "null")
	sees(with, `{"attempts":0,"state":"waiting"}`)
	at := began().Add(3 * time.Second)
	for _, step := range []struct {
		note askahuman.Delivery
		want string
	}{
		{askahuman.Delivery{State: askahuman.DeliveryWaiting, Attempts: 1, AttemptedAt: wire.Time(at),
			NextAttemptAt: wire.Time(at.Add(5 * time.Second))},
			`{"attempted_at":"2026-02-02T09:30:03.000Z","attempts":1,"next_attempt_at":"2026-02-02T09:30:08.000Z","state":"waiting"}`},
		{askahuman.Delivery{State: askahuman.DeliveryGivenUp, Attempts: 8, AttemptedAt: wire.Time(at)},
			`{"attempted_at":"2026-02-02T09:30:03.000Z","attempts":8,"state":"given_up"}`},
		{askahuman.Delivery{State: askahuman.DeliveryDone, Attempts: 1, AttemptedAt: wire.Time(at.Add(time.Second))},
			`{"attempted_at":"2026-02-02T09:30:04.000Z","attempts":1,"state":"delivered"}`},
	} {
		if err := p.service.NoteDelivery(t.Context(), with, step.note); err != nil {
			t.Fatal(err)
		}
		sees(with, step.want)
	}
	other := asAgent("GET /agent/questions/"+with, "")
	other.headers = []string{"X-Agent-Id: other"}
	if w := p.serve(other); w.Code != 404 || strings.Contains(w.Body.String(), "delivered") {
		t.Errorf("another agent got %d %s", w.Code, w.Body)
	}
}

// An agent tries an endpoint with a webhook that is signed as any other, and is sent once.
func TestWebhookTest(t *testing.T) {
	t.Parallel()
	sent := &messages{}
	p := newPlatform(t, func(p *platform) {
		p.agentAPI.WebhookTests = &webhooks.Tester{Check: webhook.Addresses{}.CheckURL, Send: sent.Send,
			Clock: p.clock.read}
	})
	id, _ := p.do(t, asAgent("POST /agent/webhook-tests", `{"callback_url":"https://agent.example.com/hooks"}`),
		202)["webhook_id"].(string)
	if len(sent.bodies) != 1 || !strings.HasPrefix(id, "msg_") {
		t.Fatalf("got the id %q, and sent %v", id, sent.bodies)
	}
	var m webhooks.Message
	if err := json.Unmarshal([]byte(sent.bodies[0]), &m); err != nil {
		t.Fatal(err)
	}
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
