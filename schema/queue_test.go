package schema_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// queued is a platform whose function sends messages to another.
func queued() schema.Platform {
	p := minimal()
	p.Functions[0].Sends = []string{"sender"}
	p.Functions = append(p.Functions, schema.Function{Name: "sender",
		Trigger: schema.OnQueue{Variable: "SENDER_QUEUE_URL",
			Retries: []time.Duration{5 * time.Second, 11 * time.Hour}}})
	return p
}

// Wrong queues are refused, with where they are and what to write instead.
func TestValidateQueues(t *testing.T) {
	t.Parallel()
	must.OK(t, queued().Validate())
	queue := func(change func(*schema.OnQueue)) func(*schema.Platform) {
		return func(p *schema.Platform) {
			q := p.Functions[len(p.Functions)-1].Trigger.(schema.OnQueue)
			change(&q)
			p.Functions[len(p.Functions)-1].Trigger = q
		}
	}
	for name, test := range map[string]struct {
		spoil           func(*schema.Platform)
		path, got, text string
	}{
		"ErrVariable": {queue(func(q *schema.OnQueue) { q.Variable = "" }), "Functions[sender].Trigger.Variable",
			"nothing", "WEBHOOK_QUEUE_URL"},
		"ErrNow": {queue(func(q *schema.OnQueue) { q.Retries[0] = 0 }),
			"Functions[sender].Trigger.Retries[0]", "0s", "whole seconds"},
		"ErrLong": {queue(func(q *schema.OnQueue) { q.Retries[1] += time.Second }),
			"Functions[sender].Trigger.Retries[1]", "11h0m1s", "11h0m0s"},
		"ErrFraction": {queue(func(q *schema.OnQueue) { q.Retries[1] -= time.Millisecond }),
			"Functions[sender].Trigger.Retries[1]", "10h59m59.999s", "whole seconds"},
		"ErrMany": {queue(func(q *schema.OnQueue) {
			q.Retries = slices.Repeat([]time.Duration{time.Second}, 1000)
		}), "Functions[sender].Trigger.Retries", "1000", "at most 999"},
		"ErrBatch": {queue(func(q *schema.OnQueue) { q.BatchSize = 11 }),
			"Functions[sender].Trigger.BatchSize", "11", "1 to 10"},
		"ErrNegative": {queue(func(q *schema.OnQueue) { q.BatchSize = -1 }),
			"Functions[sender].Trigger.BatchSize", "-1", "1 to 10"},
		"ErrConcurrency": {queue(func(q *schema.OnQueue) { q.MaximumConcurrency = 1 }),
			"Functions[sender].Trigger.MaximumConcurrency", "1", "2 to 1000"},
		"ErrID": {queue(func(q *schema.OnQueue) { q.ID = "a b" }), "Functions[sender].Trigger.ID", `"a b"`,
			"construct id"},
		"ErrTakenID": {queue(func(q *schema.OnQueue) { q.ID = "Api" }), "Functions[sender].Trigger.ID", `"Api"`,
			"another construct id"},
		"ErrFailuresID": {queue(func(q *schema.OnQueue) { q.Failures.ID = "a b" }),
			"Functions[sender].Trigger.Failures.ID", `"a b"`, "construct id"},
		"ErrNoSender": {func(p *schema.Platform) {
			p.Functions[0].Sends = nil
		}, "Functions[sender].Trigger", "OnQueue", "Sends"},
		"ErrSendsNowhere": {func(p *schema.Platform) {
			p.Functions[0].Sends = []string{"sender", "nope"}
		}, "Functions[api].Sends[1]", `"nope"`, "OnQueue"},
		"ErrSendsToNoQueue": {func(p *schema.Platform) {
			p.Functions[0].Sends = []string{"sender", "api"}
		}, "Functions[api].Sends[1]", `"api"`, "OnQueue"},
		"ErrSendsTwice": {func(p *schema.Platform) {
			p.Functions[0].Sends = []string{"sender", "sender"}
		}, "Functions[api].Sends[1]", `"sender"`, "once"},
		"ErrSharedVariable": {func(p *schema.Platform) {
			p.Functions[0].Sends = []string{"sender", "other"}
			p.Functions = append(p.Functions, schema.Function{Name: "other",
				Trigger: schema.OnQueue{Variable: "SENDER_QUEUE_URL"}})
		}, "Functions[other].Trigger.Variable", `"SENDER_QUEUE_URL"`, "Functions[sender].Trigger"},
		"ErrVariableOfASecret": {func(p *schema.Platform) {
			p.Secrets = []schema.Secret{{Name: "Key", Variable: "SENDER_QUEUE_URL"}}
			p.Functions[0].Secrets = []string{"Key"}
		}, "Functions[sender].Trigger.Variable", `"SENDER_QUEUE_URL"`, "Secrets[Key]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := queued()
			test.spoil(&p)
			found, _ := errors.AsType[finding.List](p.Validate())
			wants(t, found, test.path, test.got, test.text)
		})
	}
}

// A queue without names gets them from its function, and those that send to it know it.
func TestQueueDefaults(t *testing.T) {
	t.Parallel()
	got := schema.OnQueue{Variable: "A"}.WithDefaults(schema.Function{Name: "sender"})
	want := schema.OnQueue{
		ID: "SenderQueue", Variable: "A", BatchSize: 10, Messages: "messages of the sender",
		Failures: schema.Failures{ID: "SenderQueueDeadLetters",
			Description: "messages of the sender that could not be handled"},
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Attempts() != 1 {
		t.Errorf("%d attempts (-want +got):\n%s", got.Attempts(), diff)
	}
	p := queued()
	for _, f := range p.Functions {
		if queues := p.QueuesOf(f); len(queues) != 1 || queues[0].Name != "sender" {
			t.Errorf("%s: got %v", f.Name, queues)
		}
	}
	if id, _, ok := p.Functions[len(p.Functions)-1].Failures(); id != "SenderQueue" || !ok {
		t.Errorf("got the failures of %s, %t", id, ok)
	}
}
