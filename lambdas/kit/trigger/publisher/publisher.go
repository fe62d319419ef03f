// Package publisher publishes the domain events of a platform on a bus of Amazon EventBridge.
package publisher

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Limits of a request ("PutEvents", Amazon EventBridge API reference), and the bytes that the time of an entry counts.
const (
	maxEntries = 10
	maxBytes   = 256 << 10
	timeBytes  = 14
)

// Filters says which changes are sent to a function by its queue, by the name of the function.
type Filters map[string]func(trigger.Change) bool

// Publisher publishes the domain events of a platform: it makes events of the changes of its tables, and puts each on a
// bus of Amazon EventBridge at least once. It is all of a platform's function eventpublisher:
//
//	func main() { publisher.Start(todo.Platform(), service.EventsOf, nil) }
//
// All fields but Filters, Queues and Metrics are required.
type Publisher struct {
	// Platform has the events. Its name is their source on the bus.
	Platform schema.Platform
	// Tables has the logical names of its tables by their physical ones.
	Tables map[string]string
	// Mapper makes the events of a change.
	Mapper trigger.EventMapper
	// Filters says which changes go to which queue of Queues.
	Filters Filters
	Queues  map[string]trigger.Failures
	// Client puts events on the bus of that name.
	Client *eventbridge.Client
	Bus    string
	// Batch handles the changes whose events could not be published.
	Batch *trigger.Stream
	// Metrics takes EventsPublished and EventFailures. Nil: none.
	Metrics *kit.Metrics
}

// Start runs the function eventpublisher of a platform. It ends the process if filters lacks a function that
// [schema.Platform.Publishing] lets it send to.
func Start(platform schema.Platform, mapper trigger.EventMapper, filters Filters) {
	kit.StartResponder(platform.Name, func(_ context.Context, environment kit.Environment) (trigger.Function, error) {
		p, err := open(environment, platform, mapper, filters)
		if err != nil {
			return nil, err
		}
		return p.Handle, nil
	})
}

func open(environment kit.Environment, platform schema.Platform, mapper trigger.EventMapper,
	filters Filters) (*Publisher, error) {
	publisher, _ := platform.Publishing().Function(schema.EventPublisher)
	for _, name := range publisher.Sends {
		if filters[name] == nil {
			return nil,
				fmt.Errorf("the publisher of events passes nothing on to %s, which reads no stream: say by Filters "+
					"which changes it gets", name)
		}
	}
	bus, err := environment.Require(schema.EventBusVariable)
	if err != nil {
		return nil, err
	}
	failures, err := queue.OfFailures(environment)
	if err != nil {
		return nil, err
	}
	tables := map[string]string{}
	for _, t := range platform.Database.Tables {
		tables[environment.Getenv(t.EnvironmentVariable())] = t.Name
	}
	queues := map[string]trigger.Failures{}
	for name := range filters {
		queues[name] = queue.New(environment.AWS, environment.Getenv(schema.PassedQueueVariable(name)))
	}
	return &Publisher{Platform: platform, Tables: tables, Mapper: mapper, Filters: filters, Queues: queues,
		Client: eventbridge.NewFromConfig(environment.AWS), Bus: bus[0],
		Batch: &trigger.Stream{Failures: failures, Log: environment.Log}, Metrics: environment.Metrics}, nil
}

// entry is an event on its way to the bus, with the sequence number of its record.
type entry struct {
	types.PutEventsRequestEntry
	sequence string
}

// Handle publishes the events of a batch, ten with a request. A change whose events the bus did not take comes again,
// as do those after it: their events are then the same to the byte.
func (p *Publisher) Handle(ctx context.Context, batch trigger.Records) (events.DynamoDBEventResponse, error) {
	failed := map[string]error{} // by sequence number
	var entries []entry
	for _, raw := range batch.Records {
		made, sequence, err := p.entries(ctx, raw)
		if err != nil {
			failed[sequence] = err
		}
		for _, e := range made {
			entries = append(entries, entry{e, sequence})
		}
	}
	published := 0
	for some := range requests(entries) {
		published += p.put(ctx, some, failed)
	}
	p.Metrics.Emit(ctx, kit.Count("EventsPublished", published), kit.Count("EventFailures", len(failed)))
	return p.Batch.Each(ctx, batch, func(_ context.Context, change events.DynamoDBStreamRecord) error {
		return failed[change.SequenceNumber]
	})
}

// entries makes the events of a record, and passes the record on to the functions that get it by a queue.
// It returns the sequence number of the record, too.
func (p *Publisher) entries(ctx context.Context, raw json.RawMessage) (made []types.PutEventsRequestEntry,
	sequence string, err error) {
	var record events.DynamoDBEventRecord
	if json.Unmarshal(raw, &record) != nil {
		return nil, "", nil // the batch finds it again
	}
	sequence = record.Change.SequenceNumber
	defer func() {
		if reason := recover(); reason != nil {
			made, err = nil, kit.Panicked(ctx, cmp.Or(p.Batch.Log, slog.Default()), reason)
		}
	}()
	change := trigger.Change{Kind: events.DynamoDBOperationType(record.EventName), DynamoDBStreamRecord: record.Change}
	if change.Table, err = p.table(record.EventSourceArn); err != nil {
		return nil, sequence, err
	}
	for _, function := range slices.Sorted(maps.Keys(p.Filters)) {
		if !p.Filters[function](change) {
			continue
		}
		if err := p.Queues[function].Send(ctx, string(raw)); err != nil {
			return nil, sequence, fmt.Errorf("pass the change on to %s: %w", function, err)
		}
	}
	mapped, err := p.Mapper(change)
	if err != nil {
		return nil, sequence, fmt.Errorf("make events of the change: %w", err)
	}
	for _, event := range mapped {
		detail, err := p.detail(event, record)
		if err != nil {
			return nil, sequence, err
		}
		made = append(made, types.PutEventsRequestEntry{
			EventBusName: &p.Bus, Source: &p.Platform.Name, DetailType: &event.Name, Detail: &detail,
			Time: aws.Time(change.ApproximateCreationDateTime.UTC()),
		})
	}
	return made, sequence, nil
}

// table is the logical name of the table of a stream.
func (p *Publisher) table(streamARN string) (string, error) {
	_, resource, _ := strings.Cut(streamARN, ":table/")
	physical, _, _ := strings.Cut(resource, "/")
	if name := p.Tables[physical]; name != "" {
		return name, nil
	}
	return "", fmt.Errorf("the stream %q is of no table of %s", streamARN, p.Platform.Name)
}

// detail is an event as JSON: the head and then its own fields. It is the same for a repeat of the record.
func (p *Publisher) detail(event trigger.Event, record events.DynamoDBEventRecord) (string, error) {
	declared, ok := p.Platform.Event(event.Name)
	if !ok || reflect.TypeOf(event.Detail) != reflect.TypeOf(declared.Detail) {
		return "", fmt.Errorf("the event %q with a %T: the schema of %s declares none, or one with a %T", event.Name,
			event.Detail, p.Platform.Name, declared.Detail)
	}
	change := record.Change
	keys, err := json.Marshal(change.Keys) // in the order of their names
	if err != nil {
		return "", fmt.Errorf("write the keys of the item: %w", err)
	}
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(strings.Join([]string{record.EventSourceArn, string(keys),
		change.SequenceNumber, event.Name}, "\n")))
	head, err := encode(schema.EventHead{ID: id.String(), Version: declared.Version,
		ItemVersion: fmt.Sprintf("%040s", change.SequenceNumber)})
	if err != nil {
		return "", err
	}
	fields, err := encode(event.Detail)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(head, "}") + "," + strings.TrimPrefix(fields, "{"), nil
}

func encode(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // no page shows it
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("write a %T as JSON: %w", value, err)
	}
	// Rules pass events on to queues.
	return trigger.EscapeRefused(strings.TrimSpace(b.String())), nil
}

// size is what an entry counts of a request ("Calculating Amazon EventBridge PutEvents event entry size").
func (e entry) size() int { return timeBytes + len(*e.Source) + len(*e.DetailType) + len(*e.Detail) }

// requests are the entries as requests take them.
func requests(entries []entry) func(yield func([]entry) bool) {
	return func(yield func([]entry) bool) {
		from, size := 0, 0
		for i, e := range entries {
			if i > from && (i-from == maxEntries || size+e.size() > maxBytes) {
				if !yield(entries[from:i]) {
					return
				}
				from, size = i, 0
			}
			size += e.size()
		}
		if from < len(entries) {
			yield(entries[from:])
		}
	}
}

// errRefused is the error of an event that the bus refused for its content.
var errRefused = errors.New("the bus refused an event")

// put sends a request, notes the errors of records, and returns how many events the bus took.
func (p *Publisher) put(ctx context.Context, some []entry, failed map[string]error) (published int) {
	input := &eventbridge.PutEventsInput{}
	for _, e := range some {
		input.Entries = append(input.Entries, e.PutEventsRequestEntry)
	}
	output, err := p.Client.PutEvents(ctx, input)
	if err == nil && len(output.Entries) != len(some) {
		err = fmt.Errorf("%w: the answer is about %d of %d events", retry.ErrUnanswered, len(output.Entries), len(some))
	}
	if err != nil {
		err = fmt.Errorf("EventBridge PutEvents: %w", kit.Failure(err))
	}
	for i, e := range some {
		outcome := err
		if outcome == nil {
			outcome = refusal(output.Entries[i])
		}
		if outcome == nil {
			published++
		} else if failed[e.sequence] == nil {
			failed[e.sequence] = fmt.Errorf("%s: %w", *e.DetailType, outcome)
		}
	}
	return published
}

// refusal is the error of an entry that the bus did not take; nil: it did.
func refusal(answer types.PutEventsResultEntry) error {
	switch code := aws.ToString(answer.ErrorCode); code {
	case "":
		return nil
	case "InvalidArgument", "MalformedDetail":
		return fmt.Errorf("%w: %s: %s", errRefused, code, aws.ToString(answer.ErrorMessage))
	default:
		return fmt.Errorf("%w: %s: %s", retry.ErrBusy, code, aws.ToString(answer.ErrorMessage))
	}
}
