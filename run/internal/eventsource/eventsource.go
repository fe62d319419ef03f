// Package eventsource delivers the changes of tables and the messages of queues to functions, as event source mappings
// of AWS Lambda do: in batches, at least once ("How Lambda processes records from stream and queue-based event
// sources").
package eventsource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Invoker runs functions.
type Invoker interface {
	// Invoke runs the function, by name, and returns its answer. An error means that the function failed or could not
	// run.
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
}

// Options say where records come from, and how they reach functions. Invoke is required, Databases for streams, and
// Queue for queues and failure destinations.
type Options struct {
	// Invoke runs the functions.
	Invoke Invoker
	// Databases have the tables whose streams are read.
	Databases *dynamodb.Databases
	// Queue is the queue of an ARN, or nil.
	Queue func(arn string) *sqs.Queue
	// Read is called with the records that were read from streams, before the filters. Default: none.
	Read func([]trace.StreamRecord)
	// Authorise checks what AWS asks of the function's role: to read its source, and to send to the failure
	// destination. Default: everything is allowed.
	Authorise func(function, action, resource string) error
	// Checkpoints is a file that keeps how far each mapping has come in its stream, for the next run. Default: a run
	// begins at the mapping's starting position.
	Checkpoints string
	// Redeliver is asked after each batch of a stream that is done: true loses the place that the mapping has reached,
	// as when Lambda moves the reading of a shard to another of its machines. The batch is delivered again, cut at
	// another place. Default: never.
	Redeliver func() bool
	// PollInterval is the time between reads of a shard that had nothing new, while the run tells of writes to its
	// table. Default: 200 ms (AWS: 250 ms).
	PollInterval time.Duration
	// IdleInterval is the least time between such reads while it does not: a read that takes long is repeated later.
	// Default: 15 times PollInterval.
	IdleInterval time.Duration
	// OwnEngine says that the run has started the engine: shards begin when one has ended. Default: others use the
	// engine, too, and shards are looked for every 5 s.
	OwnEngine bool
	// RetryDelay is the time before the first retry of a stream's batch; it doubles up to a hundredfold. Default: 100
	// ms.
	RetryDelay time.Duration
	// Log gets what fails. Default: none.
	Log *slog.Logger
}

// Mappings are the event source mappings of an assembly.
type Mappings struct {
	options     Options
	mappings    []*mapping
	checkpoints *checkpoints
}

// Read reads the event source mappings of an assembly. Errors name a mapping that cannot be served, or the grant that
// its function's role lacks.
func Read(source *assembly.Assembly, options Options) (*Mappings, error) {
	if options.PollInterval <= 0 {
		options.PollInterval = 200 * time.Millisecond
	}
	if options.IdleInterval <= 0 {
		options.IdleInterval = 15 * options.PollInterval
	}
	if options.RetryDelay <= 0 {
		options.RetryDelay = 100 * time.Millisecond
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Redeliver == nil {
		options.Redeliver = func() bool { return false }
	}
	if options.Authorise == nil {
		options.Authorise = func(string, string, string) error { return nil }
	}
	all := &Mappings{options: options}
	for _, resource := range source.Resources("AWS::Lambda::EventSourceMapping") {
		m, err := readMapping(source, resource, options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		if m != nil {
			all.mappings = append(all.mappings, m)
		}
	}
	return all, nil
}

// Start begins to deliver in the background, until ctx ends; the channel that it returns is closed when all have ended.
// The tables must exist. What is written after Start returns is delivered to mappings that start at LATEST, too.
// Mappings of the former assembly that this one has, too, go on. The others end first, and mappings of the same source
// and function go on where they ended. former may be nil. A mapping with an error does not start.
func (all *Mappings) Start(ctx context.Context, former *Mappings) (<-chan struct{}, error) {
	ended := map[string]*mapping{}
	if former == nil {
		var err error
		if all.checkpoints, err = openCheckpoints(all.options.Checkpoints); err != nil {
			return nil, err
		}
	} else {
		all.checkpoints = former.checkpoints
		ended = all.replace(ctx, former)
	}
	var problems []error
	var running sync.WaitGroup
	for _, m := range all.mappings {
		if m.cancel == nil {
			was := ended[m.key()]
			if was != nil {
				m.delivery = was.state()
			}
			if err := m.source.open(ctx, all.checkpoints, was); err != nil {
				problems = append(problems, err)
				continue
			}
			m.start(ctx)
		}
		running.Go(func() { <-m.ended })
	}
	for _, was := range ended {
		was.source.close()
	}
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	return done, errors.Join(problems...)
}

// replace takes over the mappings of the former assembly that this one has, too. It ends the others, and returns them.
func (all *Mappings) replace(ctx context.Context, former *Mappings) map[string]*mapping {
	ended := map[string]*mapping{}
	var ending sync.WaitGroup
	for _, was := range former.mappings {
		if was.cancel == nil {
			continue
		}
		at := slices.IndexFunc(all.mappings, func(m *mapping) bool { return m.declared == was.declared })
		if at >= 0 {
			all.mappings[at] = was
			continue
		}
		ended[was.key()] = was
		ending.Go(func() { was.end(ctx) })
	}
	ending.Wait()
	return ended
}

// Streams tells how far the delivery of each stream to each function is, in the order of the assembly.
func (all *Mappings) Streams() []Delivery {
	return all.deliveries(func(d Delivery) bool { return d.Table != "" })
}

// Queues tells how far the delivery of each queue to each function is, in the order of the assembly.
func (all *Mappings) Queues() []Delivery {
	return all.deliveries(func(d Delivery) bool { return d.Queue != "" })
}

func (all *Mappings) deliveries(of func(Delivery) bool) []Delivery {
	states := []Delivery{}
	for _, m := range all.mappings {
		if state := m.state(); of(state) {
			states = append(states, state)
		}
	}
	return states
}

// Flush delivers what was written to tables before the call without waiting for full batches or for their windows, and
// returns when functions have taken it or it was given up, or when ctx ends.
func (all *Mappings) Flush(ctx context.Context) error {
	for _, m := range all.mappings {
		if s, ok := m.source.(*stream); ok {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadsStream reports whether a function gets the records of the table's stream.
func (all *Mappings) ReadsStream(table string) bool {
	return slices.ContainsFunc(all.mappings, func(one *mapping) bool {
		_, isStream := one.source.(*stream)
		return isStream && one.from.Name == table
	})
}
