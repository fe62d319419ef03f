package engine

// What streams are to a run: the options, the start, and levers. A stream has shards (shards.go), which are read in batches
// (batches.go), which functions get (deliver.go), as their mappings say (mapping.go).

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
)

// Invoker runs functions.
type Invoker interface {
	// Invoke runs the function, by name, and returns its answer. An error means that the function failed or could not run.
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
}

// StreamsOptions say how stream records reach functions.
type StreamsOptions struct {
	// Invoke runs the functions. It must not be nil.
	Invoke Invoker
	// Send puts a message into the queue with the ARN, for batches that fail for good. It is needed only when a mapping has a
	// failure destination.
	Send func(queueARN, body string) error
	// Authorise checks what AWS asks of the function's role: to read the stream and to send to the failure destination.
	// Default: everything is allowed.
	Authorise func(function, action, resource string) error
	// Sweeper marks deletions by time to live, as AWS does. Default: none are marked.
	Sweeper *Sweeper
	// Checkpoints is a file that keeps how far each mapping has come in its stream, for the next run. Default: a run begins at the
	// mapping's starting position.
	Checkpoints string
	// Redeliver is asked after each batch that is done: true loses the place that the mapping has reached, as when Lambda moves
	// the reading of a shard to another of its machines. The batch is delivered again, cut at another place. Default: never.
	Redeliver func() bool
	// PollInterval is the time between reads of a shard that had nothing new, while [Engine.Wrote] tells of writes to
	// its table. Default: 200 ms (AWS: 250 ms).
	PollInterval time.Duration
	// IdleInterval is the least time between such reads while it does not: a read that takes long is repeated later.
	// Default: five times PollInterval.
	IdleInterval time.Duration
	// RetryDelay is the time before the first retry of a batch; it doubles up to a hundredfold. Default: 100 ms.
	RetryDelay time.Duration
	// Log gets what fails. Default: none.
	Log *slog.Logger

	// former are the streams of the former assembly: mappings that it has like this go on, and others go on where theirs ended.
	former *Streams
}

// Streams delivers the records of tables' streams to functions, as event source mappings of AWS Lambda do: in order within a
// shard, at least once.
type Streams struct {
	engine      *Engine
	accessKey   string
	options     StreamsOptions
	checkpoints *checkpoints
	mappings    []*mapping
}

// NewStreams reads the event source mappings of the assembly. accessKey names the engine's database that holds the tables.
// Errors name a mapping that cannot be served, or the grant that its function's role lacks.
func NewStreams(engine *Engine, accessKey string, source *assembly.Assembly, options StreamsOptions) (*Streams, error) {
	if options.PollInterval <= 0 {
		options.PollInterval = 200 * time.Millisecond
	}
	if options.IdleInterval <= 0 {
		options.IdleInterval = 5 * options.PollInterval
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
	streams := &Streams{engine: engine, accessKey: accessKey, options: options}
	if options.former != nil {
		streams.checkpoints = options.former.checkpoints
	} else {
		var err error
		if streams.checkpoints, err = newCheckpoints(options.Checkpoints); err != nil {
			return nil, err
		}
	}
	for _, resource := range source.Resources("AWS::Lambda::EventSourceMapping") {
		if ofQueue(resource) {
			continue // package queue reads it
		}
		read, err := streams.read(source, resource)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		if read != nil {
			if !streams.adopt(&read) && options.Sweeper != nil {
				read.expired = options.Sweeper.watch(read.table.Name)
			}
			streams.mappings = append(streams.mappings, read)
		}
	}
	return streams, nil
}

// Start finds the streams and begins to deliver in the background, until ctx ends; the channel it returns is closed then. The
// tables must exist. What is written after Start returns is delivered to mappings that start at LATEST, too.
func (s *Streams) Start(ctx context.Context) (<-chan struct{}, error) {
	type reading struct {
		of     *mapping
		shards []shard
	}
	var readings []reading
	former := map[string]*mapping{}
	if s.options.former != nil {
		for _, m := range s.options.former.mappings {
			if !slices.Contains(s.mappings, m) {
				former[m.name()] = m
				m.end(ctx)
			}
		}
	}
	for _, m := range s.mappings {
		if m.cancel != nil {
			continue // it goes on
		}
		var described struct {
			Table struct{ LatestStreamArn string }
		}
		if err := s.call(ctx, "DynamoDB_20120810.DescribeTable", map[string]any{"TableName": m.table.Name}, &described); err != nil {
			return nil, fmt.Errorf("stream of %s: %w", m.table, err)
		}
		if m.engineARN = described.Table.LatestStreamArn; m.engineARN == "" {
			return nil, fmt.Errorf("stream of %s: the engine's table has none", m.table)
		}
		shards, err := m.shards(ctx)
		if err != nil {
			return nil, err
		}
		other := former[m.name()]
		if other != nil {
			other.mutex.Lock()
			m.delivery = other.delivery
			other.mutex.Unlock()
		}
		for i := range shards {
			if other != nil && other.engineARN == m.engineARN {
				shards[i].iterator = other.left[shards[i].ShardId]
			}
			if shards[i].iterator == "" {
				if shards[i].iterator, err = m.resume(ctx, shards[i].ShardId); err != nil {
					return nil, err
				}
			}
			m.noteFlushed(shards[i].ShardId, 0)
		}
		readings = append(readings, reading{m, shards})
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	for _, reading := range readings {
		m := reading.of
		working, cancel := context.WithCancel(ctx)
		m.cancel = cancel
		group.Go(func() {
			defer close(m.ended)
			defer cancel()
			m.run(working, reading.shards)
		})
	}
	s.options.former = nil
	go func() {
		group.Wait()
		close(done)
	}()
	return done, nil
}

// adopt puts the mapping of the former assembly into the place of one that is declared like it, if there is such.
func (s *Streams) adopt(read **mapping) bool {
	if s.options.former == nil {
		return false
	}
	for _, m := range s.options.former.mappings {
		if m.name() == (*read).name() && m.declared == (*read).declared && m.cancel != nil {
			*read = m
			return true
		}
	}
	return false
}

// finishTime is how long a mapping may take to deliver what it has read, when another assembly has it no more or differently.
const finishTime = 5 * time.Second

// end ends a mapping: at best when it has delivered what it has read.
func (m *mapping) end(ctx context.Context) {
	if m.cancel == nil {
		return
	}
	close(m.finish)
	most := time.NewTimer(finishTime)
	defer most.Stop()
	select {
	case <-m.ended:
	case <-most.C:
	case <-ctx.Done():
	}
	m.cancel()
	<-m.ended
}

func (m *mapping) finishing() bool {
	select {
	case <-m.finish:
		return true
	default:
		return false
	}
}

// Deliveries returns the state of each mapping, in the order of the assembly.
func (s *Streams) Deliveries() []Delivery {
	var all []Delivery
	for _, m := range s.mappings {
		all = append(all, m.state())
	}
	return all
}

// Flush delivers what was written before the call without waiting for full batches or for their windows, and returns when
// functions have taken it or it was given up, or when ctx ends.
func (s *Streams) Flush(ctx context.Context) error {
	for _, m := range s.mappings {
		m.mutex.Lock()
		m.flushes++
		asked := m.flushes
		m.mutex.Unlock()
		for !m.hasFlushed(asked) {
			if !wait(ctx, 5*time.Millisecond) {
				return fmt.Errorf("function %s has not taken all records of %s: %w", m.function.Name, m.table.Name, ctx.Err())
			}
		}
	}
	return nil
}

// wait returns false when ctx ended first.
func wait(ctx context.Context, duration time.Duration) bool {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
