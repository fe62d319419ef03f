package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

type function struct {
	sender          *webhooks.Sender
	deliveries      *service.Service
	plan            []time.Duration
	queue, failures *queue.Queue
	log             *slog.Logger
	metrics         *kit.Metrics
}

// tally counts how the attempts of an invocation ended.
type tally struct {
	mutex                             sync.Mutex
	sent, unwanted, failures, givenUp int
	took                              []time.Duration
}

func (t *tally) note(change func()) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	change()
}

// handle makes one attempt at each webhook of a batch, all at once: an endpoint that is down delays no other.
func (f *function) handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	var t tally
	batch := trigger.Messages{
		Plan: f.plan, Defer: f.queue.Defer, GiveUp: f.failures.GiveUp,
		Failed: func(ctx context.Context, message events.SQSMessage, attempt trigger.Attempt, err error) {
			t.note(func() {
				t.failures++
				if attempt.Last {
					t.givenUp++
				}
			})
			f.failed(ctx, message, attempt, err)
		},
		Undeferred: func(ctx context.Context, message events.SQSMessage, err error) {
			f.log.WarnContext(ctx, "a webhook does not wait for its next attempt as planned", "message_id",
				message.MessageId, "error", err.Error())
		},
	}
	response, err := batch.Each(ctx, event, func(ctx context.Context, message events.SQSMessage) error {
		var m webhooks.Message
		if err := json.Unmarshal([]byte(message.Body), &m); err != nil {
			return fmt.Errorf("read the message: %w: %w", trigger.ErrHopeless, err)
		}
		if done, err := f.delivered(ctx, m); done || err != nil {
			return err
		}
		outcome, err := f.sender.Send(ctx, m)
		if outcome.Blocked {
			f.blocked(ctx, message, m)
			return nil
		}
		if m.Test && !errors.Is(err, webhooks.ErrUnsent) {
			f.tested(ctx, m, err)
			return nil
		}
		if err != nil {
			return err
		}
		state := askahuman.DeliveryDone
		if outcome.Gone {
			state = askahuman.DeliveryGivenUp
		}
		f.tell(ctx, m, askahuman.Delivery{State: state, Attempts: trigger.AttemptNumber(message),
			AttemptedAt: wire.At(time.Now())})
		t.note(func() {
			if outcome.Gone {
				t.unwanted++
				return
			}
			t.sent++
			t.took = append(t.took, outcome.Took)
		})
		return nil
	})
	f.metrics.Emit(ctx, kit.Count("WebhooksSent", t.sent), kit.Count("WebhooksUnwanted", t.unwanted),
		kit.Count("WebhookFailures", t.failures), kit.Count("WebhooksGivenUp", t.givenUp))
	for _, took := range t.took {
		f.metrics.Emit(ctx, kit.Milliseconds("TimeToWebhook", took))
	}
	return response, err
}

// delivered reports whether an endpoint has taken the webhook before: from another message about the same change, or
// from the other region before a fail-over, after which the changes of 24 hours are read again.
func (f *function) delivered(ctx context.Context, m webhooks.Message) (bool, error) {
	if m.QuestionID == "" {
		return false, nil
	}
	done, err := f.deliveries.Delivered(ctx, m.QuestionID)
	if done {
		f.log.InfoContext(ctx, "a webhook that was delivered is not sent again", "question_id", m.QuestionID)
	}
	return done, err
}

// tell lets the agent see how far a webhook is. The attempt counts without it: to make it again would send the webhook
// twice.
func (f *function) tell(ctx context.Context, m webhooks.Message, d askahuman.Delivery) {
	if m.QuestionID == "" {
		return
	}
	if err := f.deliveries.NoteDelivery(ctx, m.QuestionID, d); err != nil {
		f.log.WarnContext(ctx, "the state of a webhook was not kept", "question_id", m.QuestionID, "error", err.Error())
	}
}

// blocked gives up a webhook of an agent that an operator has blocked.
func (f *function) blocked(ctx context.Context, message events.SQSMessage, m webhooks.Message) {
	f.log.InfoContext(ctx, "a webhook of a blocked agent is not sent", "message_id", message.MessageId)
	f.tell(ctx, m, askahuman.Delivery{State: askahuman.DeliveryGivenUp})
}

// tested logs how an endpoint did that an agent tries.
func (f *function) tested(ctx context.Context, m webhooks.Message, err error) {
	if err != nil {
		f.log.InfoContext(ctx, "a test of an endpoint failed", "webhook_id", m.ID, "error", reason(err))
	}
}

// reason is why an attempt failed, without the address of the endpoint, which may have a secret of the agent in it.
func reason(err error) string {
	// The address of a forbidden endpoint is worth knowing, and is no secret.
	if forbidden, ok := errors.AsType[*webhook.ForbiddenError](err); ok {
		return forbidden.Error()
	}
	return err.Error()
}

// failed says that an attempt failed.
func (f *function) failed(ctx context.Context, message events.SQSMessage, attempt trigger.Attempt, err error) {
	var m webhooks.Message
	if json.Unmarshal([]byte(message.Body), &m) == nil {
		d := askahuman.Delivery{State: askahuman.DeliveryGivenUp, Attempts: attempt.Number,
			AttemptedAt: wire.At(time.Now())}
		if !attempt.Last {
			d.State, d.NextAttemptAt = askahuman.DeliveryWaiting, wire.At(time.Now().Add(attempt.Wait))
		}
		f.tell(ctx, m, d)
	}
	text := reason(err)
	if attempt.Last {
		f.log.ErrorContext(ctx, "a webhook is given up", "message_id", message.MessageId, "attempt", attempt.Number,
			"error", text)
		return
	}
	f.log.InfoContext(ctx, "a webhook failed, and is tried again", "message_id", message.MessageId, "attempt",
		attempt.Number, "next_seconds", int(attempt.Wait/time.Second), "error", text)
}
