// Package queue hands the messages of queues to functions, as event source mappings of AWS Lambda do: in batches, several at once,
// at least once ("Using Lambda with Amazon SQS").
package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/recovery"
	"github.com/onesynth-cdk/onesynth/local/trace"
)

// Invoker runs functions.
type Invoker interface {
	// Invoke runs the function, by name, and returns its answer. An error means that the function failed or could not run.
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
}

// Options say how messages reach functions. Invoke and Queue are required.
type Options struct {
	// Invoke runs the functions.
	Invoke Invoker
	// Queue is the queue of an ARN, or nil.
	Queue func(arn string) *awsapi.Queue
	// Authorise checks what AWS asks of the function's role: to receive and delete messages. Default: everything is allowed.
	Authorise func(function, action, resource string) error
	// Log gets what fails. Default: none.
	Log *slog.Logger
}

// Delivery is how far the delivery of a queue's messages to a function is.
type Delivery struct {
	Function string `json:"function"`
	Queue    string `json:"queue"`
	// Invocations of the function, and those that failed as a whole.
	Invocations int `json:"invocations"`
	Failures    int `json:"failures"`
	// Handled counts messages that the function took, Returned those that it did not, each time.
	Handled  int `json:"handled"`
	Returned int `json:"returned"`
	// Working is how many messages the function has now.
	Working int `json:"working"`
}

// Mappings are the event source mappings of an assembly's queues.
type Mappings struct {
	options  Options
	mappings []*mapping
}

type mapping struct {
	options     Options
	function    *assembly.Resource
	queue       *assembly.Resource
	batchSize   int
	window      time.Duration
	concurrency int
	partial     bool
	// declared is all that the assembly says of it: a mapping that says the same goes on when the assembly changes.
	declared string

	// finish ends the receiving, and cancel all; ended is closed then.
	finish, cancel context.CancelFunc
	ended          chan struct{}

	mutex    sync.Mutex
	delivery Delivery
}

// Limits of AWS Lambda ("Using Lambda with Amazon SQS").
const (
	defaultBatchSize = 10
	mostMessages     = 10000
	mostWithoutWait  = 10
	longestWindow    = 300
	leastConcurrency = 2
	mostConcurrency  = 1000
	// unlimited is how many invocations run at once where the mapping does not say: Lambda begins with five, and the run's functions
	// have few instances.
	unlimited = 5
	// largestEvent is Lambda's limit on the payload of an invocation, 6 MB, minus the JSON around the records.
	largestEvent = 6<<20 - 100
	// finishTime is how long a mapping may take to deliver what it has received when another assembly has it no more or differently.
	finishTime = 5 * time.Second
	// pause is how long a mapping that could not receive waits.
	pause = time.Second
)

// Read reads the event source mappings of queues. Errors name a mapping that cannot be served, or the grant that its function's role
// lacks.
func Read(source *assembly.Assembly, options Options) (*Mappings, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Authorise == nil {
		options.Authorise = func(string, string, string) error { return nil }
	}
	all := &Mappings{options: options}
	for _, resource := range source.Resources("AWS::Lambda::EventSourceMapping") {
		m, err := all.read(source, resource)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		if m != nil {
			all.mappings = append(all.mappings, m)
		}
	}
	return all, nil
}

func (all *Mappings) read(source *assembly.Assembly, resource *assembly.Resource) (*mapping, error) {
	var declared struct {
		EventSourceArn                 string
		FunctionName                   string
		Enabled                        *bool
		BatchSize                      *int
		MaximumBatchingWindowInSeconds int
		FunctionResponseTypes          []string
		ScalingConfig                  struct{ MaximumConcurrency *int }
		FilterCriteria                 struct{ Filters []any }
	}
	if err := resource.Decode(&declared); err != nil {
		return nil, err
	}
	if !strings.Contains(declared.EventSourceArn, ":sqs:") || declared.Enabled != nil && !*declared.Enabled {
		return nil, nil // package engine reads those of streams, and refuses all else
	}
	queue := source.ByARN(declared.EventSourceArn)
	if queue == nil || queue.Type != "AWS::SQS::Queue" {
		return nil, fmt.Errorf("got event source %q: a local run reads the assembly's queues", declared.EventSourceArn)
	}
	m := &mapping{
		options: all.options, queue: queue, batchSize: defaultBatchSize, window: time.Duration(declared.MaximumBatchingWindowInSeconds) * time.Second,
		concurrency: unlimited, partial: slices.Contains(declared.FunctionResponseTypes, "ReportBatchItemFailures"), ended: make(chan struct{}),
	}
	if m.function = source.Function(declared.FunctionName); m.function == nil {
		return nil, fmt.Errorf("got function %q: the assembly has no such function", declared.FunctionName)
	}
	if len(declared.FilterCriteria.Filters) > 0 {
		return nil, errors.New("got FilterCriteria on a queue, which a local run does not serve: leave them out, and let the function pass messages over")
	}
	if declared.MaximumBatchingWindowInSeconds < 0 || declared.MaximumBatchingWindowInSeconds > longestWindow {
		return nil, fmt.Errorf("got MaximumBatchingWindowInSeconds %d: write 0 to %d", declared.MaximumBatchingWindowInSeconds, longestWindow)
	}
	if declared.BatchSize != nil {
		m.batchSize = *declared.BatchSize
	}
	most := mostMessages
	if m.window == 0 {
		most = mostWithoutWait
	}
	if m.batchSize < 1 || m.batchSize > most {
		return nil, fmt.Errorf("got BatchSize %d: write 1 to %d, and more than %d only with a MaximumBatchingWindowInSeconds", m.batchSize, mostMessages, mostWithoutWait)
	}
	if most := declared.ScalingConfig.MaximumConcurrency; most != nil {
		if m.concurrency = *most; *most < leastConcurrency || *most > mostConcurrency {
			return nil, fmt.Errorf("got MaximumConcurrency %d: write %d to %d", *most, leastConcurrency, mostConcurrency)
		}
	}
	text, err := json.Marshal([]any{resource.Properties, queue.ARN, m.function.ARN})
	if err != nil {
		return nil, err
	}
	m.declared = string(text)
	m.delivery = Delivery{Function: m.function.Name, Queue: queue.Name}
	// Lambda creates the mapping when all three are allowed ("Execution role permissions").
	for _, action := range []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"} {
		if err := all.options.Authorise(m.function.Name, action, queue.ARN); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Start begins to hand messages over, until ctx ends; the channel that it returns is closed when all have ended. Mappings of the
// former assembly that this one has, too, go on, and the others end first. former may be nil.
func (all *Mappings) Start(ctx context.Context, former *Mappings) <-chan struct{} {
	var ending sync.WaitGroup
	if former != nil {
		for _, was := range former.mappings {
			at := slices.IndexFunc(all.mappings, func(m *mapping) bool { return m.declared == was.declared })
			if at >= 0 {
				all.mappings[at] = was
				continue
			}
			ending.Go(was.end)
			for _, m := range all.mappings {
				if m.function.Name == was.function.Name && m.queue.ARN == was.queue.ARN {
					m.delivery = was.state()
				}
			}
		}
	}
	ending.Wait()
	var running sync.WaitGroup
	for _, m := range all.mappings {
		if m.cancel == nil {
			working, cancel := context.WithCancel(ctx)
			receiving, finish := context.WithCancel(working)
			m.finish, m.cancel = finish, cancel
			go m.run(working, receiving)
		}
		running.Go(func() { <-m.ended })
	}
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	return ended
}

// Deliveries returns the state of each mapping, in the order of the assembly.
func (all *Mappings) Deliveries() []Delivery {
	states := []Delivery{}
	for _, m := range all.mappings {
		states = append(states, m.state())
	}
	return states
}

func (m *mapping) state() Delivery {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.delivery
}

func (m *mapping) note(change func(*Delivery)) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change(&m.delivery)
}

// end ends a mapping: at best when its function has taken what was received.
func (m *mapping) end() {
	if m.cancel == nil {
		return
	}
	m.finish()
	most := time.NewTimer(finishTime)
	defer most.Stop()
	select {
	case <-m.ended:
	case <-most.C:
	}
	m.cancel()
	<-m.ended
}

// run hands batches over until receiving ends.
func (m *mapping) run(ctx, receiving context.Context) {
	defer close(m.ended)
	defer m.cancel()
	slots := make(chan struct{}, m.concurrency)
	var working sync.WaitGroup
	defer working.Wait()
	for {
		select {
		case slots <- struct{}{}:
		case <-receiving.Done():
			return
		}
		var source *awsapi.Queue
		var batch []awsapi.Received
		err := recovery.Call(func() error {
			// Another assembly may have put another queue behind the name.
			if source = m.options.Queue(m.queue.ARN); source != nil {
				batch = m.gather(receiving, source)
			}
			return nil
		})
		if err != nil {
			<-slots
			m.options.Log.ErrorContext(ctx, "receive messages", "function", m.function.Name, "queue", m.queue.Name, "error", err.Error())
			select {
			case <-time.After(pause):
			case <-receiving.Done():
			}
			continue
		}
		if len(batch) == 0 {
			return
		}
		working.Go(func() {
			defer func() { <-slots }()
			m.deliver(ctx, source, batch)
		})
	}
}

// gather receives a batch: what is there, or what comes within the window. None: ctx ended.
func (m *mapping) gather(ctx context.Context, source *awsapi.Queue) []awsapi.Received {
	batch := source.Take(ctx, min(m.batchSize, mostWithoutWait))
	if m.window == 0 || len(batch) == 0 {
		return batch
	}
	waiting, cancel := context.WithTimeout(ctx, m.window)
	defer cancel()
	size := 0
	for _, one := range batch {
		size += len(one.Body)
	}
	for len(batch) < m.batchSize && size < largestEvent/2 {
		more := source.Take(waiting, min(m.batchSize-len(batch), mostWithoutWait))
		if len(more) == 0 {
			break
		}
		for _, one := range more {
			size += len(one.Body)
		}
		batch = append(batch, more...)
	}
	return batch
}

// deliver invokes the function with a batch. What it does not take comes again when its visibility time-out ends.
func (m *mapping) deliver(ctx context.Context, source *awsapi.Queue, batch []awsapi.Received) {
	m.note(func(d *Delivery) { d.Invocations++; d.Working += len(batch) })
	var failed map[string]bool
	err := recovery.Call(func() (err error) {
		failed, err = m.invoke(ctx, source, batch)
		return err
	})
	handled := 0
	for _, one := range batch {
		done := err == nil && !failed[one.ID]
		if done {
			handled++
		}
		source.Settle(one.Receipt, done)
	}
	m.note(func(d *Delivery) {
		d.Working -= len(batch)
		d.Handled += handled
		d.Returned += len(batch) - handled
		if err != nil {
			d.Failures++
		}
	})
	if err != nil && ctx.Err() == nil {
		m.options.Log.ErrorContext(ctx, "function failed on messages of its queue", "function", m.function.Name, "queue", m.queue.Name, "error", err.Error())
	}
}

// invoke returns the ids of the messages that failed, or an error if all did.
func (m *mapping) invoke(ctx context.Context, source *awsapi.Queue, batch []awsapi.Received) (failed map[string]bool, err error) {
	records := make([]map[string]any, len(batch))
	for i, one := range batch {
		records[i] = one.Event(source, m.queue.Stack.Region)
	}
	payload, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		return nil, fmt.Errorf("make event: %w", err)
	}
	answer, err := m.options.Invoke.Invoke(trace.About(ctx, trace.Origin{Kind: trace.Queue, Path: m.queue.Name}), m.function.Name, payload)
	if err != nil || !m.partial || len(bytes.TrimSpace(answer)) == 0 {
		return nil, err
	}
	var response struct {
		Failures []struct {
			Identifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	// An answer that is not in this shape fails the whole batch, and so does an identifier of no message.
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("answer is not a list of batchItemFailures: %w", err)
	}
	failed = map[string]bool{}
	for _, failure := range response.Failures {
		if !slices.ContainsFunc(batch, func(one awsapi.Received) bool { return one.ID == failure.Identifier }) {
			return nil, fmt.Errorf("answer names item %q, which the batch does not have", failure.Identifier)
		}
		failed[failure.Identifier] = true
	}
	return failed, nil
}
