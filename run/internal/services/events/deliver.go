package events

// How an event reaches a target ("How EventBridge retries delivering events", "Using dead-letter queues to process
// undelivered events in EventBridge").

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/recovery"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
)

// The codes of errors for which there is no other attempt, in the message about an event that was not delivered.
const (
	noResource       = "NO_RESOURCE"
	invalidParameter = "INVALID_PARAMETER"
	// InvalidJSON says that the rule's template makes no JSON of the event.
	InvalidJSON = "INVALID_JSON"
)

var (
	errNoQueue = errors.New("no such queue in the assembly")
	errTooLong = errors.New("a queue takes messages of up to 1 MiB")
)

// finalCode is the code of an error for which there is no other attempt; empty: there is one.
func finalCode(err error) string {
	switch {
	case errors.Is(err, errTemplate):
		return InvalidJSON
	case errors.Is(err, lambda.ErrNotFound), errors.Is(err, errNoQueue):
		return noResource
	case errors.Is(err, lambda.ErrTooLarge), errors.Is(err, errTooLong):
		return invalidParameter
	}
	return ""
}

// longestWait is the longest time between two attempts.
const longestWait = 10 * time.Minute

// deliver hands an event to a target until that takes it, or gives it up.
func (s *Service) deliver(ctx context.Context, t *target, e transformed, kept *Delivery) {
	made, err := t.input.of(e, t.rule)
	if err != nil {
		s.abandon(t, e.text, kept, err, InvalidJSON, "", 0)
		return
	}
	wait, repeated := time.Second, false
	for attempt := 0; ; attempt++ {
		err := recovery.Call(func() error { return s.hand(ctx, t, made) })
		if s.ctx.Err() != nil || errors.Is(err, lambda.ErrClosed) {
			return
		}
		s.history.note(kept, err)
		if err == nil {
			if repeated || !s.options.Redeliver() {
				return
			}
			repeated = true
			continue
		}
		code, exhausted := finalCode(err), ""
		// The wait has jitter, of which it is the most.
		pause := wait/2 + rand.N(wait/2)
		switch {
		case code != "":
		case attempt >= t.retries:
			code, exhausted = "ERROR_FROM_TARGET", "MaximumRetryAttempts"
		case time.Since(e.ingested)+pause > t.age:
			code, exhausted = "ERROR_FROM_TARGET", "MaximumEventAgeInSeconds"
		}
		if code != "" {
			s.abandon(t, made, kept, err, code, exhausted, attempt)
			return
		}
		s.options.Log.Warn("an event was not taken: it comes again", "rule", t.rule.name, "target", t.name, "event",
			e.ID, "attempt", attempt+1, "error", err.Error())
		if s.options.Sleep(ctx, pause) != nil {
			return
		}
		wait = min(2*wait, longestWait)
	}
}

// hand hands what was made of an event to a target once.
func (s *Service) hand(ctx context.Context, t *target, made []byte) error {
	if t.function != "" {
		_, err := s.functions.InvokeAsync(ctx, t.function, made)
		return err
	}
	return s.send(t.arn, string(made), nil)
}

func (s *Service) send(queueARN, body string, attributes map[string]string) error {
	queue := s.options.Queue(queueARN)
	switch {
	case queue == nil:
		return fmt.Errorf("%w: %s", errNoQueue, queueARN)
	case len(body) > sqs.Longest:
		return fmt.Errorf("%w: got %d bytes", errTooLong, len(body))
	}
	typed := make(map[string]sqs.MessageAttribute, len(attributes))
	for name, value := range attributes {
		typed[name] = sqs.MessageAttribute{DataType: "String", StringValue: value}
	}
	queue.Send(body, typed)
	return nil
}

// abandon sends an event that was not delivered to the dead-letter queue of its target.
func (s *Service) abandon(t *target, body []byte, kept *Delivery, cause error, code, exhausted string, retries int) {
	attributes := map[string]string{"RULE_ARN": t.rule.arn, "TARGET_ARN": t.arn, "ERROR_CODE": code,
		"ERROR_MESSAGE": cause.Error(), "RETRY_ATTEMPTS": strconv.Itoa(retries)}
	if exhausted != "" {
		attributes["EXHAUSTED_RETRY_CONDITION"] = exhausted
	}
	var lost error
	if t.deadLetter != "" {
		lost = s.send(t.deadLetter, string(body), attributes)
	}
	s.history.giveUp(kept, cause, t.deadLetter)
	s.options.Log.Error("an event was not delivered", "rule", t.rule.name, "target", t.name, "code", code, "error",
		errors.Join(cause, lost).Error(), "dead-letter queue", t.deadLetter)
}
