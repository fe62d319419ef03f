package engine

// How a batch reaches its function: invocations, retries, splitting, and the failure destination.

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/local/recovery"
	"github.com/onesynth-cdk/onesynth/local/trace"
)

// Conditions of messages to a failure destination.
const (
	attemptsExhausted = "RetryAttemptsExhausted"
	ageExceeded       = "RecordAgeExceeded"
)

// deliver invokes the function with the batch until it is done, or given up. Splitting a batch is no retry: "BisectBatchOnFunctionError"
// of "Using AWS Lambda with Amazon DynamoDB".
func (m *mapping) deliver(ctx context.Context, shard string, batch []record) {
	invocations, failures := 0, 0
	delay := m.streams.options.RetryDelay
	for len(batch) > 0 && ctx.Err() == nil {
		if m.age > 0 {
			// The age counts from the reading: the engine's own time is truncated to the minute.
			fresh := slices.IndexFunc(batch, func(r record) bool { return time.Since(r.read) <= m.age })
			if fresh < 0 {
				fresh = len(batch)
			}
			if fresh > 0 {
				m.giveUp(shard, batch[:fresh], ageExceeded, invocations)
				batch = batch[fresh:]
				continue
			}
		}
		invocations++
		done, err := m.invoke(ctx, batch)
		if ctx.Err() != nil {
			return
		}
		m.noteInvocation(batch, done)
		if done == len(batch) {
			return
		}
		if err != nil {
			m.log(ctx, "function failed on a batch of its stream", err)
		}
		if done > 0 {
			// The records before the first failure are done; the rest begins again.
			batch, failures, delay = batch[done:], 0, m.streams.options.RetryDelay
			if m.bisect {
				continue // split at the record that failed
			}
		}
		if m.bisect && len(batch) > 1 {
			half := len(batch) / 2
			m.deliver(ctx, shard, batch[:half])
			batch = batch[half:]
			continue
		}
		if failures++; m.retries >= 0 && failures > m.retries {
			m.giveUp(shard, batch, attemptsExhausted, invocations)
			return
		}
		if !wait(ctx, delay) {
			return
		}
		delay = min(2*delay, 100*m.streams.options.RetryDelay)
	}
}

// invoke returns how many records, from the first on, are done.
func (m *mapping) invoke(ctx context.Context, batch []record) (done int, err error) {
	texts := make([]json.RawMessage, len(batch))
	for i, record := range batch {
		texts[i] = record.text
	}
	payload, err := json.Marshal(map[string]any{"Records": texts})
	if err != nil {
		return 0, fmt.Errorf("make event: %w", err)
	}
	ctx = trace.About(ctx, trace.Origin{Kind: trace.Stream, Path: m.table.Name})
	var answer []byte
	err = recovery.Call(func() (err error) {
		answer, err = m.streams.options.Invoke.Invoke(ctx, m.function.Name, payload)
		return err
	})
	if err != nil {
		return 0, err
	}
	if !m.partial || len(bytes.TrimSpace(answer)) == 0 {
		return len(batch), nil
	}
	var response struct {
		Failures []struct {
			Identifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	// An answer that is not in this shape fails the whole batch, and so does an identifier of no record.
	if err := json.Unmarshal(answer, &response); err != nil {
		return 0, fmt.Errorf("answer is not a list of batchItemFailures: %w", err)
	}
	done = len(batch)
	for _, failure := range response.Failures {
		at := slices.IndexFunc(batch, func(r record) bool { return r.sequence == failure.Identifier })
		if at < 0 {
			return 0, fmt.Errorf("answer names item %q, which the batch does not have", failure.Identifier)
		}
		done = min(done, at)
	}
	return done, nil
}

// giveUp leaves records to the failure destination, in the shape of "Using AWS Lambda with Amazon DynamoDB", discarded
// batches.
func (m *mapping) giveUp(shard string, batch []record, condition string, invocations int) {
	m.streams.options.Log.Error("stream records are given up", "stream of", m.table.Name, "function", m.function.Name, "records", len(batch), "condition", condition)
	m.note(func(d *Delivery) { d.GivenUp += len(batch) })
	m.noteExpired(batch)
	if m.destination == "" {
		return
	}
	first, last := batch[0], batch[len(batch)-1]
	const layout = "2006-01-02T15:04:05.000Z"
	message := map[string]any{
		"requestContext": map[string]any{
			"requestId": cryptorand.Text(), "functionArn": m.function.ARN, "condition": condition, "approximateInvokeCount": invocations,
		},
		"version":   "1.0",
		"timestamp": time.Now().UTC().Format(layout),
		"DDBStreamBatchInfo": map[string]any{
			"shardId": shard, "startSequenceNumber": first.sequence, "endSequenceNumber": last.sequence,
			"approximateArrivalOfFirstRecord": first.created.UTC().Format(layout),
			"approximateArrivalOfLastRecord":  last.created.UTC().Format(layout),
			"batchSize":                       len(batch),
			"streamArn":                       m.arn,
		},
	}
	if condition == attemptsExhausted {
		message["responseContext"] = map[string]any{"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"}
	}
	text, err := json.Marshal(message)
	if err == nil {
		err = m.streams.options.Send(m.destination, string(text))
	}
	if err != nil {
		m.streams.options.Log.Error("failure destination", "queue", m.destination, "error", err)
	}
}
