package eventsource

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/pattern"
	"github.com/onesynth-cdk/onesynth/internal/recovery"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// mapping delivers what its source has to its function. What differs between streams and queues is the source's.
type mapping struct {
	options  Options
	function *assembly.Resource
	// from is the table or the queue.
	from      *assembly.Resource
	source    source
	origin    trace.Origin
	batchSize int
	window    time.Duration
	// filter decides which records the function gets.
	filter pattern.Filter
	// partial says that the function reports the records of a batch that failed.
	partial bool
	// declared is all that the assembly says of it: a mapping that says the same goes on when the assembly changes.
	declared string

	// finish ends the reading, and cancel all; ended is closed then. They are nil before the start.
	finish, cancel context.CancelFunc
	ended          chan struct{}

	mutex    sync.Mutex
	delivery Delivery
	waiting  map[reader]waiting
}

// source is the stream of a table, or a queue.
type source interface {
	// open finds out where to begin: where the mapping of the former assembly has ended, which was is, if there was
	// one.
	open(ctx context.Context, kept *checkpoints, was *mapping) error
	// close releases what no later mapping has taken over. The mapping has ended.
	close()
	// run lets deliver have every reader of the source. It ends when these have, or with ctx. Once reading has ended,
	// readers deliver what they have read, and no more.
	run(ctx, reading context.Context, deliver func(reader))
}

// reader reads one shard of a stream, or a queue.
type reader interface {
	// next waits for a batch. None: there is no more, or reading or ctx has ended.
	next(ctx, reading context.Context) []record
	// deliver invokes the function with the batch, and tells the source what came of it.
	deliver(ctx context.Context, batch []record)
}

// record is a change of a table or a message, with what delivery needs to know of it.
type record struct {
	// text is what the function gets, and id names the record when it failed.
	text json.RawMessage
	id   string
	read time.Time
	// created is when the change was made; the receipt of a message tells the queue that it is handled.
	created time.Time
	receipt string
}

const (
	// finishTime is how long a mapping may take to deliver what it has read, when another assembly has it no more or
	// differently.
	finishTime = 5 * time.Second
	// pause is how long a reader that failed waits.
	pause = time.Second
	// largestEvent is Lambda's limit on the payload of an invocation, 6 MB, minus the JSON around the records.
	largestEvent = 6<<20 - 100
)

// declaration is what the template says of a mapping.
type declaration struct {
	EventSourceArn                 string
	FunctionName                   string
	Enabled                        *bool
	BatchSize                      *int
	MaximumBatchingWindowInSeconds int
	StartingPosition               string
	FunctionResponseTypes          []string
	BisectBatchOnFunctionError     bool
	MaximumRetryAttempts           *int
	MaximumRecordAgeInSeconds      *int
	ScalingConfig                  struct{ MaximumConcurrency *int }
	FilterCriteria                 struct{ Filters []struct{ Pattern string } }
	DestinationConfig              struct{ OnFailure struct{ Destination string } }
}

// readMapping returns nil for a mapping that is not enabled.
func readMapping(of *assembly.Assembly, resource *assembly.Resource, options Options) (*mapping, error) {
	var declared declaration
	if err := resource.Decode(&declared); err != nil {
		return nil, err
	}
	if declared.Enabled != nil && !*declared.Enabled {
		return nil, nil
	}
	m := &mapping{
		options: options, window: time.Duration(declared.MaximumBatchingWindowInSeconds) * time.Second,
		partial: slices.Contains(declared.FunctionResponseTypes, "ReportBatchItemFailures"),
		ended:   make(chan struct{}), waiting: map[reader]waiting{},
	}
	var patterns []string
	for _, filter := range declared.FilterCriteria.Filters {
		patterns = append(patterns, filter.Pattern)
	}
	var err error
	if m.filter, err = pattern.New(patterns...); err != nil {
		return nil, err
	}
	read := m.readStream
	if strings.Contains(declared.EventSourceArn, ":sqs:") {
		read = m.readQueue
	}
	if m.function = of.Function(declared.FunctionName); m.function == nil {
		return nil, fmt.Errorf("got function %q: the assembly has no such function", declared.FunctionName)
	}
	rights, err := read(of, declared)
	if err != nil {
		return nil, err
	}
	m.delivery.Function, m.delivery.SourceARN = m.function.Name, declared.EventSourceArn
	// The properties of a table's stream decide whether it begins again.
	text, err := json.Marshal([]any{
		resource.Properties, m.from.Properties["StreamSpecification"], m.from.ARN, m.function.ARN,
	})
	if err != nil {
		return nil, err
	}
	m.declared = string(text)
	// Lambda creates the mapping when all are allowed ("Execution role permissions").
	for _, right := range rights {
		if err := options.Authorise(m.function.Name, right.action, right.resource); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// right is what a mapping does as its function's role.
type right struct{ action, resource string }

// key tells mappings apart in every run of the assembly.
func (m *mapping) key() string { return m.function.Name + " " + m.from.ARN }

// start begins to deliver, until ctx ends.
func (m *mapping) start(ctx context.Context) {
	ctx, m.cancel = context.WithCancel(ctx)
	reading, finish := context.WithCancel(ctx)
	m.finish = finish
	go func() {
		defer close(m.ended)
		defer m.cancel()
		m.source.run(ctx, reading, func(r reader) { m.deliverAll(ctx, reading, r) })
	}()
}

// end ends a mapping: at best when its function has taken what was read.
func (m *mapping) end(ctx context.Context) {
	m.finish()
	select {
	case <-m.ended:
	case <-time.After(finishTime):
	case <-ctx.Done():
	}
	m.cancel()
	<-m.ended
}

// deliverAll delivers the batches of a reader, one after the other, until there are no more. A panic is logged, and the
// reader goes on.
func (m *mapping) deliverAll(ctx, reading context.Context, r reader) {
	defer m.noteWaiting(r, nil)
	for {
		var batch []record
		err := recovery.Call(func() error {
			if batch = r.next(ctx, reading); len(batch) > 0 {
				r.deliver(ctx, batch)
			}
			return nil
		})
		if err == nil && len(batch) == 0 {
			return
		}
		if err != nil {
			m.log(ctx, "deliver a batch", err)
			if !recovery.Wait(ctx, pause) {
				return
			}
		}
	}
}

// event is what the function gets of a batch.
func event(batch []record) ([]byte, error) {
	texts := make([]json.RawMessage, len(batch))
	for i, record := range batch {
		texts[i] = record.text
	}
	payload, err := json.Marshal(map[string]any{"Records": texts})
	if err != nil {
		return nil, fmt.Errorf("make event: %w", err)
	}
	return payload, nil
}

// invoke invokes the function with a batch, which the ids name in the trace. It returns the ids of the records that
// failed, or an error if all did.
func (m *mapping) invoke(ctx context.Context, batch []record, ids ...string) (failed map[string]bool, err error) {
	payload, err := event(batch)
	if err != nil {
		return nil, err
	}
	var answer []byte
	err = recovery.Call(func() (err error) {
		answer, err = m.options.Invoke.Invoke(trace.Handling(trace.About(ctx, m.origin), ids...), m.function.Name,
			payload)
		return err
	})
	if err != nil || !m.partial || len(bytes.TrimSpace(answer)) == 0 {
		return nil, err
	}
	var response struct {
		Failures []struct {
			ID string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	// An answer that is not in this shape fails the whole batch, and so does an identifier of no record.
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("answer is not a list of batchItemFailures: %w", err)
	}
	failed = map[string]bool{}
	for _, failure := range response.Failures {
		if !slices.ContainsFunc(batch, func(r record) bool { return r.id == failure.ID }) {
			return nil, fmt.Errorf("answer names item %q, which the batch does not have", failure.ID)
		}
		failed[failure.ID] = true
	}
	return failed, nil
}

func (m *mapping) log(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		m.options.Log.ErrorContext(ctx, what, "source", m.from.Name, "function", m.function.Name, "error", err.Error())
	}
}
