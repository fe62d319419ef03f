// Package trigger handles the events that invoke functions, other than HTTP requests: changes of a table ([Stream]) and
// messages of a queue ([Messages]). An [EventMapper] turns changes into domain events. The packages queue, bucket and
// publisher below it call the services, and package stream starts the function of a table's stream. A program links
// only those that it uses.
package trigger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// ErrUnfinished says that the handling of a record has not failed, but has to go on in another attempt.
var ErrUnfinished = errors.New("the change of the table is not handled to its end")

const (
	// Patience is how long a record that may heal is tried again and again: from its first failure in a process, until
	// it goes to the queue of failures. It outlasts a throttled table, and a service that fails for minutes.
	Patience = 10 * time.Minute
	// sendTime is how long a message to the queue of failures may take: less than what an invocation reserves for its
	// answer.
	sendTime = 800 * time.Millisecond
	// maxRemembered bounds the memory for records that have failed and were then handled by another process.
	maxRemembered = 10_000
	// passedAgain is how long a change from a queue waits after an attempt that did not finish it.
	passedAgain = 10 * time.Second
)

// Records is a batch of a stream's records, as Lambda delivers it. [Stream.Each] reads them one by one, so that an
// unreadable one does not stop the others. Records may also be messages of a queue by which another function passes
// records on: a record is then the body of a message.
type Records struct {
	Records []json.RawMessage `json:"Records"`
	// Again marks records that somebody sends again from the queue of failures. If one fails, so does the invocation,
	// and nothing goes to the queue, which still has the message about the record.
	Again bool `json:"again,omitempty"`
}

// Changes returns the changes of the records that can be read.
func (e Records) Changes() (changes []events.DynamoDBStreamRecord) {
	for _, raw := range e.Records {
		raw, _ := unwrap(raw)
		if record, err := read(raw); err == nil {
			changes = append(changes, record.Change)
		}
	}
	return changes
}

// Function is the handler of a function that a table's stream invokes.
type Function = func(context.Context, Records) (events.DynamoDBEventResponse, error)

// Image has the attributes of an item before or after a change, or of its key.
type Image = map[string]events.DynamoDBAttributeValue

// Handler handles one change. Its error matches [ErrUnfinished], or an error of package retry, if another attempt may
// succeed.
type Handler func(ctx context.Context, change events.DynamoDBStreamRecord) error

// Stream handles the records of batches. All invocations of a process use one Stream. Failures is required.
type Stream struct {
	// Failures is the queue of failures.
	Failures Failures
	// Parallel handles all records at once. Default: one after the other, each in at most half of the time that is
	// left.
	Parallel bool
	// Defer makes a received message come again after that time, as Queue.Defer of package queue does. It is for
	// records that are messages of a queue. Nil: they come again when the queue shows them.
	Defer func(ctx context.Context, receipt string, wait time.Duration) error
	// Log gets a line for each failed record. Nil: [slog.Default].
	Log   *slog.Logger
	Clock wire.Clock

	mutex sync.Mutex
	since map[string]time.Time // the first failure, by sequence number
}

// Each handles the records of a batch. It answers with those that have to come again ("Reporting batch item failures
// for Lambda functions with DynamoDB Streams"): because they are unfinished, because they may heal, or because the
// queue of failures did not take them. Lambda delivers the first of these and all after it once more, so that a handled
// record may come again. Without Parallel, records of one item stay in order: they wait for an earlier one that comes
// again, but not for one that was given up. Each returns an error only for an event with Again.
func (b *Stream) Each(ctx context.Context, event Records, handle Handler) (response events.DynamoDBEventResponse,
	_ error) {
	names, failed := make([]string, len(event.Records)), make([]error, len(event.Records))
	messages := make([]message, len(event.Records))
	var all sync.WaitGroup
	waits := map[string]bool{} // by item
	for i, raw := range event.Records {
		raw, messages[i] = unwrap(raw)
		failure, item := failureOf(raw)
		names[i] = cmp.Or(messages[i].ID, failure.SequenceNumber)
		if b.Parallel {
			all.Go(func() { failed[i] = b.one(ctx, raw, failure, event.Again, handle) })
			continue
		}
		if waits[item] {
			failed[i] = ErrUnfinished
			continue
		}
		part, cancel := share(ctx, i+1 == len(event.Records))
		failed[i] = b.one(part, raw, failure, event.Again, handle)
		cancel()
		waits[item] = item != "" && failed[i] != nil
	}
	all.Wait()
	if event.Again {
		return response, errors.Join(failed...)
	}
	for i, err := range failed {
		if err != nil {
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.DynamoDBBatchItemFailure{ItemIdentifier: names[i]})
			b.putOff(ctx, messages[i])
		}
	}
	return response, nil
}

// message is what a message of a queue says beside the record in it; the zero value is no message.
type message struct {
	Source  string `json:"eventSource"`
	ID      string `json:"messageId"`
	Receipt string `json:"receiptHandle"`
	Body    string `json:"body"`
}

// unwrap returns the record in a message of a queue, or else the record itself.
func unwrap(raw json.RawMessage) (json.RawMessage, message) {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.Source != "aws:sqs" {
		return raw, message{}
	}
	return json.RawMessage(m.Body), m
}

// putOff makes a message come again soon; a queue hides it for longer.
func (b *Stream) putOff(ctx context.Context, m message) {
	if b.Defer == nil || m.ID == "" {
		return
	}
	ctx, cancel := retry.ToRelease(ctx, time.Now().Add(sendTime))
	defer cancel()
	if err := b.Defer(ctx, m.Receipt, passedAgain); err != nil {
		cmp.Or(b.Log, slog.Default()).WarnContext(ctx, "a message comes again later than it could", "message_id", m.ID,
			"error", err.Error())
	}
}

// share returns a context with half of the time that is left, unless the record is the last: one that hangs, or that
// has much to do, leaves time to the others.
func share(ctx context.Context, last bool) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || last {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, time.Now().Add(time.Until(deadline)/2))
}

// one handles a record, which has failure's names, and returns an error if it has to come again.
func (b *Stream) one(ctx context.Context, raw json.RawMessage, failure Failure, again bool, handle Handler) error {
	sequence := failure.SequenceNumber
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, ctx.Err())
	}
	err := b.attempt(ctx, raw, handle)
	if err == nil || errors.Is(err, ErrUnfinished) {
		b.forget(sequence)
		return err
	}
	givenUp := !again && !b.mayHeal(sequence, err)
	log := cmp.Or(b.Log, slog.Default())
	log.ErrorContext(ctx, "a change of a table is not handled", "event_id", failure.EventID, "error", err.Error(),
		"given_up", givenUp)
	if !givenUp {
		return err
	}
	failure.Cause = err.Error()
	if err := b.giveUp(ctx, failure); err != nil {
		log.ErrorContext(ctx, "the queue of failures did not take a change, which comes again", "event_id",
			failure.EventID, "error", err.Error())
		return err
	}
	b.forget(sequence)
	return nil
}

// attempt reads and handles a record. A panic is an error of the record in hand.
func (b *Stream) attempt(ctx context.Context, raw json.RawMessage, handle Handler) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = kit.Panicked(ctx, cmp.Or(b.Log, slog.Default()), reason)
		}
	}()
	record, err := read(raw)
	if err != nil {
		return err
	}
	return handle(ctx, record.Change)
}

func (b *Stream) giveUp(ctx context.Context, failure Failure) error {
	message, err := failure.Message(ctx)
	if err != nil {
		return err
	}
	// The record may have used up the invocation's time, and its budget.
	ctx, cancel := retry.ToRelease(ctx, time.Now().Add(sendTime))
	defer cancel()
	return b.Failures.Send(ctx, message)
}

// mayHeal reports whether another attempt at the record may succeed, and whether there is time for one.
func (b *Stream) mayHeal(sequence string, err error) bool {
	if !heals(err) {
		return false
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.since == nil || len(b.since) >= maxRemembered {
		b.since = map[string]time.Time{}
	}
	if b.since[sequence].IsZero() {
		b.since[sequence] = b.Clock.Now()
	}
	return b.Clock.Now().Sub(b.since[sequence]) < Patience
}

func (b *Stream) forget(sequence string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.since, sequence)
}

// heals reports whether an error is one of the moment, or of what is deployed, and not of the record.
func heals(err error) bool {
	for _, passing := range []error{retry.ErrBusy, retry.ErrUnanswered, retry.ErrStale, retry.ErrExhausted,
		context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, passing) {
			return true
		}
	}
	refused, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch refused.ErrorCode() {
	// What AWS says of the content of a request. Anything else, such as a missing grant or table, someone can mend.
	case "ValidationException", "ConditionalCheckFailedException", "TransactionCanceledException",
		"ItemCollectionSizeLimitExceededException",
		"InvalidParameterValue", "InvalidMessageContents", "EntityTooLarge":
		return false
	}
	return true
}

// failureOf reads from a record what a message about it says, as far as it can be read, and the key of its item, or "".
func failureOf(raw json.RawMessage) (failure Failure, item string) {
	failure.Record = raw
	var fields, change, keys map[string]json.RawMessage
	// What cannot be read stays empty.
	_ = json.Unmarshal(raw, &fields)
	_ = json.Unmarshal(fields["dynamodb"], &change)
	_ = json.Unmarshal(change["Keys"], &keys)
	_ = json.Unmarshal(change["SequenceNumber"], &failure.SequenceNumber)
	_ = json.Unmarshal(fields["eventID"], &failure.EventID)
	_ = json.Unmarshal(fields["eventName"], &failure.EventName)
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		item += name + string(keys[name])
	}
	return failure, item
}

func read(raw json.RawMessage) (record events.DynamoDBEventRecord, err error) {
	if err := json.Unmarshal(raw, &record); err != nil {
		return record, fmt.Errorf("read the record: %w", err)
	}
	return record, nil
}

// Text returns a text attribute of an image, or "" if it is missing or has another type.
func Text(image Image, name string) string {
	if value := image[name]; value.DataType() == events.DataTypeString {
		return value.String()
	}
	return ""
}

// Read reads an image into the struct that out points to, with tags of package attributevalue.
func Read(image Image, out any) error {
	text, err := json.Marshal(image)
	if err != nil {
		return fmt.Errorf("write the image as JSON: %w", err)
	}
	item, err := attributevalue.UnmarshalMapJSON(text)
	if err == nil {
		err = attributevalue.UnmarshalMap(item, out)
	}
	if err != nil {
		return fmt.Errorf("read the image: %w", err)
	}
	return nil
}
