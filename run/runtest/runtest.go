// Package runtest lets tests act on a local run, and learn from it: faults of AWS, messages in queues, when schedules
// run next, what functions called and logged, and what roles refused.
package runtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// Run is a local run under test. [Of] returns one.
type Run struct{ runner *run.Runner }

// Of returns a run for tests.
func Of(runner *run.Runner) Run { return Run{runner} }

func (r Run) parts() console.Parts { return r.runner.Parts() }

// Ended returns why the run has ended, or nil before its end. With it, a Run is a Watched of package wait of
// onesynthtest.
func (r Run) Ended() error { return r.parts().Ended() }

// Printed returns the newest lines that functions have logged.
func (r Run) Printed() string { return strings.Join(r.Lines(""), "\n") }

// Building returns the tools that build something below the process of the test, such as a function of the run.
func (r Run) Building() string { return wait.Building(os.Getpid()) }

// Faults are probabilities, from 0 to 1, of faults that happen in AWS. The zero value does nothing.
type Faults struct {
	// Throttle refuses calls of DynamoDB and S3 before carrying them out, as AWS does.
	Throttle float64
	// TransactionConflict refuses writes and transactions of DynamoDB before carrying them out.
	TransactionConflict float64
	// DropResponse carries out a call of DynamoDB or S3, and then drops the connection without an answer.
	DropResponse float64
	// Hang takes a call of DynamoDB, carries out half of these calls, and answers none.
	Hang float64
	// Redeliver delivers a handled batch of a stream once more, cut at another record.
	Redeliver float64
	// Seed makes the sequence of faults repeatable, for calls that come one after the other.
	Seed uint64
}

// SetFaults replaces the faults of functions' calls. An error names a probability out of range.
func (r Run) SetFaults(faults Faults) error { return r.parts().AWS.SetFaults(aws.Faults(faults)) }

// Kill ends the process of an instance of a function, a busy one if there is any. It fails if there is no such
// function, or no instance of it.
func (r Run) Kill(function string) error {
	_, err := r.runner.Kill(function)
	return err
}

// Message is a message of a queue.
type Message struct {
	ID, Body string
	// Attributes are the attributes of type String or Number.
	Attributes map[string]string
	// Received is how often readers have received it.
	Received int
	// InFlight says that a function has it at the moment.
	InFlight bool
}

// Queues returns the names of the queues, sorted.
func (r Run) Queues() (names []string) {
	for _, queue := range r.parts().AWS.Queues() {
		names = append(names, queue.Name)
	}
	return names
}

func (r Run) queue(name string) (*sqs.Queue, error) {
	queue := r.parts().AWS.Queue(name)
	if queue == nil {
		return nil, fmt.Errorf("the run has no queue %q: it has %v", name, r.Queues())
	}
	return queue, nil
}

// Messages returns the messages in a queue, by its name, ARN or URL, the oldest first, including those that a reader
// has received and not deleted. It fails if there is no such queue.
func (r Run) Messages(queue string) (messages []Message, err error) {
	of, err := r.queue(queue)
	if err != nil {
		return nil, err
	}
	return messagesIn(of), nil
}

func messagesIn(of *sqs.Queue) (messages []Message) {
	for _, one := range of.Messages() {
		message := Message{ID: one.ID, Body: one.Body, Attributes: map[string]string{}, Received: one.Received,
			InFlight: one.InFlight()}
		for name, attribute := range one.Attributes {
			message.Attributes[name] = attribute.StringValue
		}
		messages = append(messages, message)
	}
	return messages
}

// AllMessages returns the messages in each queue, by the queue's name.
func (r Run) AllMessages() map[string][]Message {
	all := map[string][]Message{}
	for _, queue := range r.parts().AWS.Queues() {
		all[queue.Name] = messagesIn(queue)
	}
	return all
}

// Send puts a message into a queue, with attributes of type String. It fails as Messages does.
func (r Run) Send(queue, body string, attributes map[string]string) error {
	of, err := r.queue(queue)
	if err != nil {
		return err
	}
	typed := map[string]sqs.MessageAttribute{}
	for name, value := range attributes {
		typed[name] = sqs.MessageAttribute{DataType: "String", StringValue: value}
	}
	of.Send(body, typed)
	return nil
}

// Purge removes all messages of a queue. It fails as Messages does.
func (r Run) Purge(queue string) error {
	of, err := r.queue(queue)
	if err == nil {
		of.Purge()
	}
	return err
}

// MakeDue ends the delays and visibility time-outs of a queue's messages at once, so that retries planned over a day
// run in seconds. It returns how many it ended. It fails as Messages does.
func (r Run) MakeDue(queue string) (messages int, err error) {
	of, err := r.queue(queue)
	if err != nil {
		return 0, err
	}
	return of.Due(), nil
}

// PutObject writes an object with a media type into a bucket, without a function.
func (r Run) PutObject(bucket, key, mediaType string, content []byte) error {
	_, err := r.parts().Buckets.Backend().PutObject(bucket, key, map[string]string{"Content-Type": mediaType},
		bytes.NewReader(content), int64(len(content)), nil)
	return err
}

// Buckets returns the names of the buckets, sorted.
func (r Run) Buckets() (names []string) {
	for _, bucket := range r.parts().Buckets.Buckets() {
		names = append(names, bucket.Name)
	}
	return names
}

// Publish puts an event on a bus, without a function. detail is JSON. It fails if the bus refuses the event.
func (r Run) Publish(bus, source, detailType, detail string) error {
	_, err := r.parts().AWS.Events.Put(bus, source, detailType, []byte(detail))
	return err
}

// Objects returns the keys of a bucket that begin with a prefix, sorted. The bucket's name is an output of the stack.
func (r Run) Objects(bucket, prefix string) (keys []string, err error) {
	found, err := r.parts().Buckets.Objects(bucket, prefix)
	for _, object := range found {
		keys = append(keys, object.Key)
	}
	return keys, err
}

// Object returns the content of an object. The error is [fs.ErrNotExist] if there is no such object.
func (r Run) Object(bucket, key string) ([]byte, error) {
	found, err := r.parts().Buckets.Objects(bucket, key)
	if err != nil {
		return nil, err
	}
	for _, object := range found {
		if object.Key == key {
			return os.ReadFile(object.File)
		}
	}
	return nil, fmt.Errorf("bucket %s has no object %q: %w", bucket, key, fs.ErrNotExist)
}

// Call is a call to an AWS service that a function made.
type Call struct {
	Function, Service, Operation string
	// AccessPatterns are the access patterns that a call of DynamoDB names; Table and Index are its first table and
	// index.
	AccessPatterns []string
	Table, Index   string
	// ReadUnits and WriteUnits are the units that it consumed.
	ReadUnits, WriteUnits float64
	// Status is the HTTP status of the answer; 0 if there was no answer. Error is the text of an error that was the
	// answer.
	Status int
	Error  string
	// Body is the input in JSON, or the beginning of it. Calls leaves it out.
	Body []byte
}

// Calls returns the calls that functions made for one request: the newest whose route, path or id contains text. It
// returns nothing if there is no such request.
func (r Run) Calls(text string) (calls []Call) {
	found, _ := r.parts().Trace.Requests(trace.Search{Limit: 1, Text: text})
	if len(found) == 0 {
		return nil
	}
	details, _ := r.parts().Trace.Request(found[0].ID)
	for _, invocation := range details.Invocations {
		for _, call := range invocation.Calls {
			calls = append(calls, Call{
				Function: invocation.Function, Service: call.Service, Operation: call.Operation,
				AccessPatterns: call.Patterns, Table: call.Table, Index: call.Index,
				ReadUnits: call.ReadUnits, WriteUnits: call.WriteUnits, Status: call.Status, Error: call.Error,
			})
		}
	}
	return calls
}

// Lines returns the newest lines that a function has logged, by its name or label, the oldest first; "" means all
// functions.
func (r Run) Lines(function string) (texts []string) {
	for _, line := range r.parts().Trace.Lines(trace.LineFilter{Function: function}) {
		texts = append(texts, line.Text)
	}
	return texts
}

// Throttled returns how many calls the current faults have throttled.
func (r Run) Throttled() int { return r.parts().AWS.Throttled() }

// Faults returns the current faults.
func (r Run) Faults() Faults { return Faults(r.parts().AWS.Faults()) }

// Grant is an action on a resource, as a role allows it; Resource may be a pattern.
type Grant struct{ Action, Resource string }

// UnusedGrants returns the grants of a function's role that it has not used, sorted.
func (r Run) UnusedGrants(function string) (grants []Grant) {
	for _, grant := range r.parts().AWS.UnusedGrants(function) {
		grants = append(grants, Grant{grant.Action, grant.Resource})
	}
	return grants
}

// Refusal is an action on a resource that a function's role did not allow.
type Refusal struct{ Function, Action, Resource string }

// Refused returns each action on each resource that roles have refused, sorted.
func (r Run) Refused() (refusals []Refusal) {
	for _, refusal := range r.parts().AWS.Refused() {
		refusals = append(refusals, Refusal{refusal.Function, refusal.Action, refusal.Resource})
	}
	return refusals
}
