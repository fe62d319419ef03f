package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// MaxFailureBytes limits a message of the failure queue. Amazon SQS takes longer ones, but not every reader of a queue
// does.
const MaxFailureBytes = 256 << 10

// Failures is the queue of failures. A Queue of package queue is one.
type Failures interface {
	// Send sends a message.
	Send(ctx context.Context, message string) error
}

// Failure is the message about a record that a function gave up, as JSON. To try once more, send [Records] with its
// Record and with Again to the function in RequestContext.
type Failure struct {
	// Cause tells people why, such as what the function found and what is allowed.
	Cause string `json:"cause"`
	// EventID and the following fields are the record's own, as far as they can be read.
	EventID        string `json:"event_id"`
	EventName      string `json:"event_name"`
	SequenceNumber string `json:"sequence_number"`
	// Entity is an entity of a lake. Absent: the function belongs to no lake.
	Entity string `json:"entity,omitempty"`
	// RequestContext names the function. [Failure.Message] sets it.
	RequestContext RequestContext `json:"requestContext"`
	// Omitted names the parts of the record that would make the message too long. Absent: the record is complete.
	Omitted string `json:"omitted,omitempty"`
	// Record is the record as the stream gave it.
	Record json.RawMessage `json:"record,omitempty"`
}

// RequestContext has the form of AWS Lambda's own messages about failed invocations.
type RequestContext struct {
	// RequestID is the id of the invocation.
	RequestID string `json:"requestId"`
	// FunctionARN is the ARN of the function.
	FunctionARN string `json:"functionArn"`
}

// Message returns the failure as a text that fits into a queue's message, with the function of the context. To make it
// fit, Message leaves out the record's images, which alone can be 800 KB, and if that is not enough, the record.
func (f Failure) Message(ctx context.Context) (string, error) {
	if of, ok := lambdacontext.FromContext(ctx); ok {
		f.RequestContext = RequestContext{of.AwsRequestID, of.InvokedFunctionArn}
	}
	record := f.Record
	if !json.Valid(record) {
		f.Record, f.Omitted = nil, fmt.Sprintf("the record, which is no JSON: %d bytes", len(record))
	}
	text, err := f.encode()
	if err != nil || len(text) <= MaxFailureBytes {
		return text, err
	}
	if short, ok := withoutImages(record); ok {
		f.Record, f.Omitted = short, fmt.Sprintf(
			"NewImage and OldImage: the record has %d bytes, and a message %d at most", len(record), MaxFailureBytes)
		if text, err = f.encode(); err != nil || len(text) <= MaxFailureBytes {
			return text, err
		}
	}
	f.Record, f.Omitted = nil, fmt.Sprintf("the record: it has %d bytes without images, and a message %d at most",
		len(record), MaxFailureBytes)
	const most = 1000
	for _, field := range []*string{&f.Cause, &f.EventID, &f.EventName, &f.Entity, &f.SequenceNumber} {
		if len(*field) > most {
			*field = strings.ToValidUTF8((*field)[:most], "") + "…"
		}
	}
	return f.encode()
}

// encode writes no character that Amazon SQS refuses, so that the length is that of the message.
func (f Failure) encode() (string, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("encoding a failure: %w", err)
	}
	return EscapeRefused(strings.ToValidUTF8(string(text), `\ufffd`)), nil
}

// withoutImages is the record with its keys alone.
func withoutImages(record json.RawMessage) (json.RawMessage, bool) {
	var fields, change map[string]json.RawMessage
	if json.Unmarshal(record, &fields) != nil || json.Unmarshal(fields["dynamodb"], &change) != nil {
		return nil, false
	}
	delete(change, "NewImage")
	delete(change, "OldImage")
	short, err := json.Marshal(change)
	if err != nil {
		return nil, false
	}
	fields["dynamodb"] = short
	short, err = json.Marshal(fields)
	return short, err == nil
}
