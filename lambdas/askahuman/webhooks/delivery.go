package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Tester sends webhooks that try an endpoint. Check and Send are required.
type Tester struct {
	// Check returns what is wrong with the address of an endpoint, as what follows the field's name.
	Check func(url string) error
	// CheckAgent returns [askahuman.ErrBlocked] for an agent that tries no endpoint. Nil: there is none.
	CheckAgent func(ctx context.Context, agentID string) error
	// Send puts a message into the queue of the sender.
	Send  func(ctx context.Context, body string) error
	Clock wire.Clock
}

// Test queues a webhook of the type [Test] to the endpoint, with the agent's signatures, and returns its id. It is sent
// once. It returns an [*validate.Error] if no webhook can go there, or the error of CheckAgent.
func (t *Tester) Test(ctx context.Context, agentID, url string) (id string, err error) {
	if err := t.Check(url); err != nil {
		return "", validate.Errorf("callback_url", validate.RuleFormat, "%s", err)
	}
	if t.CheckAgent != nil {
		if err := t.CheckAgent(ctx, agentID); err != nil {
			return "", err
		}
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // It never fails.
	id = "msg_" + hex.EncodeToString(random[:])
	body, err := json.Marshal(map[string]any{"type": Test, "timestamp": wire.Time(t.Clock.Now()).String(),
		"data": map[string]any{}})
	if err != nil {
		return "", fmt.Errorf("write the webhook: %w", err)
	}
	message, err := json.Marshal(Message{ID: id, AgentID: agentID, URL: url, Test: true, Body: body})
	if err != nil {
		return "", fmt.Errorf("write the message: %w", err)
	}
	if err := t.Send(ctx, string(message)); err != nil {
		return "", fmt.Errorf("queue a test: %w", err)
	}
	return id, nil
}
