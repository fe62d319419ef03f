package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/internal/recovery"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Defaults of asynchronous invocation ("Asynchronous invocation", AWS Lambda developer guide).
const (
	// DefaultMaxRetries is how often a failed asynchronous invocation is tried again.
	DefaultMaxRetries = 2
	// DefaultMaxAge is the longest that an event may wait.
	DefaultMaxAge = 6 * time.Hour
	// MaxAsyncPayload is the largest asynchronous event, in bytes (1 MB).
	MaxAsyncPayload = 1 << 20
)

// Async says what happens to asynchronous invocations that fail.
type Async struct {
	// MaxRetries is MaximumRetryAttempts; nil means DefaultMaxRetries.
	MaxRetries *int
	// MaxAge is MaximumEventAgeInSeconds; 0 means DefaultMaxAge.
	MaxAge time.Duration
	// OnFailure is the ARN of the queue that receives an invocation record, "" for none.
	OnFailure string
	// DeadLetter is the ARN of the queue that receives the event itself, "" for none.
	DeadLetter string
}

// Queues sends a message on behalf of a function, whose role must allow it.
type Queues interface {
	SendMessage(ctx context.Context, function, queueARN, body string, attributes map[string]string) error
}

// InvokeAsync queues an event for a function and returns its request id, as Lambda's asynchronous
// invocation does: it retries function errors, waits while throttled, and sends an event that fails for
// good to the function's failure queues. The end of ctx, which may say what the event is about ([trace.About]), does
// not end that. It fails with ErrNotFound, ErrTooLarge or ErrClosed.
func (s *Service) InvokeAsync(ctx context.Context, name string, payload []byte) (requestID string, err error) {
	f, err := s.function(name)
	if err != nil {
		return "", err
	}
	if len(payload) > MaxAsyncPayload {
		return "", fmt.Errorf("function %s: %w: an asynchronous event may have %d bytes, this has %d", name,
			ErrTooLarge, MaxAsyncPayload, len(payload))
	}
	id := uuid.NewString()
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return "", ErrClosed
	}
	s.running.Add(1)
	s.mu.RUnlock()
	go func() {
		defer s.running.Done()
		if err := recovery.Call(func() error { s.deliver(ctx, f, id, payload); return nil }); err != nil {
			s.log(f, "", fmt.Sprintf("asynchronous invocation %s: %v", id, err))
		}
	}()
	return id, nil
}

func (s *Service) deliver(origin context.Context, f *function, id string, payload []byte) {
	ctx, cancel := context.WithCancel(trace.Handling(context.WithoutCancel(origin), id))
	defer cancel()
	defer context.AfterFunc(s.background, cancel)()
	retries, maxAge := DefaultMaxRetries, DefaultMaxAge
	async := f.definition().Async
	if async.MaxRetries != nil {
		retries = *async.MaxRetries
	}
	if async.MaxAge > 0 {
		maxAge = async.MaxAge
	}
	expires := time.Now().Add(maxAge)
	attempt, backoff := 0, time.Second
	for {
		result, err := f.invoke(ctx, 0, payload)
		switch {
		case err == nil && result.FunctionError == "":
			return
		case errors.Is(err, ErrThrottled):
			// Throttles do not count as attempts; the event waits, up to five minutes at a time.
			if time.Now().Add(backoff).After(expires) {
				s.abandon(f, id, payload, "EventAgeExceeded", attempt, result)
				return
			}
			if recovery.Sleep(ctx, backoff) != nil {
				return
			}
			backoff = min(2*backoff, 5*time.Minute)
			continue
		case err != nil:
			return
		}
		attempt++
		if attempt > retries {
			s.abandon(f, id, payload, "RetriesExhausted", attempt, result)
			return
		}
		wait := s.options.RetryDelay(attempt)
		s.log(f, "", fmt.Sprintf("asynchronous invocation %s failed, attempt %d of %d; next in %v", id, attempt,
			retries+1, wait))
		if time.Now().Add(wait).After(expires) {
			s.abandon(f, id, payload, "EventAgeExceeded", attempt, result)
			return
		}
		if recovery.Sleep(ctx, wait) != nil {
			return
		}
	}
}

// abandon sends a failed event to the function's on-failure destination and dead-letter queue.
func (s *Service) abandon(f *function, id string, payload []byte, condition string, attempts int, result Result) {
	ctx, of := s.background, f.definition()
	s.log(f, "", fmt.Sprintf("asynchronous invocation %s given up after %d attempts (%s): %s", id, attempts, condition,
		result.Payload))
	if s.options.Queues == nil {
		return
	}
	if queue := of.Async.OnFailure; queue != "" {
		record := map[string]any{
			"version": "1.0", "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
			"requestContext": map[string]any{"requestId": id, "functionArn": of.ARN + ":$LATEST",
				"condition": condition, "approximateInvokeCount": attempts},
			"requestPayload": raw(payload),
		}
		if result.FunctionError != "" {
			record["responseContext"] = map[string]any{"statusCode": 200, "executedVersion": "$LATEST",
				"functionError": result.FunctionError}
			record["responsePayload"] = raw(result.Payload)
		}
		body, err := json.Marshal(record)
		if err == nil {
			err = s.options.Queues.SendMessage(ctx, f.Name, queue, string(body), nil)
		}
		if err != nil {
			s.log(f, "", fmt.Sprintf("on-failure destination %s: %v", queue, err))
		}
	}
	if queue := of.Async.DeadLetter; queue != "" {
		var document struct{ ErrorMessage string }
		json.Unmarshal(result.Payload, &document)
		attributes := map[string]string{"RequestID": id, "ErrorCode": "200", "ErrorMessage": document.ErrorMessage}
		if err := s.options.Queues.SendMessage(ctx, f.Name, queue, string(payload), attributes); err != nil {
			s.log(f, "", fmt.Sprintf("dead-letter queue %s: %v", queue, err))
		}
	}
}

// raw keeps JSON as it is and turns anything else into a JSON string.
func raw(payload []byte) any {
	if json.Valid(payload) {
		return json.RawMessage(payload)
	}
	return string(payload)
}
