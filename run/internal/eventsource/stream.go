package eventsource

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/recovery"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// stream is the stream of a table: its shards are read in order, each after its parent ("Using AWS Lambda with Amazon
// DynamoDB").
type stream struct {
	*mapping
	position string
	retries  int           // -1 is without end
	age      time.Duration // 0 is without end
	bisect   bool
	// failures is the ARN of the queue of batches that are given up; "": there is none.
	failures string

	checkpoints *checkpoints
	records     *dynamodb.Stream
	// first are the shards that there are at the start, and iterators the places in them, as a shardReader has them.
	first     []dynamodb.Shard
	iterators map[string]string

	// The mapping's mutex guards what follows: the places at which shards are to be read on when the mapping has
	// finished, how many flushes were asked for, and how many a shard that is being read has done.
	left    map[string]string
	flushes uint64
	flushed map[string]uint64
}

// Limits of AWS Lambda, and how often shards are looked for.
const (
	defaultRecords = 100
	maxRecords     = 10000
	newShards      = 5 * time.Second
)

func (m *mapping) readStream(of *assembly.Assembly, declared declaration) ([]right, error) {
	s := &stream{
		mapping: m, position: declared.StartingPosition, retries: -1, bisect: declared.BisectBatchOnFunctionError,
		failures: declared.DestinationConfig.OnFailure.Destination,
		left:     map[string]string{}, flushed: map[string]uint64{},
	}
	m.source, m.batchSize = s, defaultRecords
	tableARN, _, isStream := strings.Cut(declared.EventSourceArn, "/stream/")
	if m.from = of.ByARN(tableARN); !isStream || m.from == nil {
		return nil, fmt.Errorf("got event source %q: a local run reads the streams of the assembly's tables",
			declared.EventSourceArn)
	}
	m.delivery.Table, m.origin = m.from.Name, trace.Origin{Kind: trace.Stream, Path: m.from.Name}
	if !slices.Contains([]string{dynamodb.Latest, dynamodb.TrimHorizon}, s.position) {
		return nil, fmt.Errorf("got StartingPosition %q: write LATEST or TRIM_HORIZON", s.position)
	}
	if declared.BatchSize != nil {
		m.batchSize = *declared.BatchSize
	}
	if m.batchSize < 1 || m.batchSize > maxRecords {
		return nil, fmt.Errorf("got BatchSize %d: write 1 to %d", m.batchSize, maxRecords)
	}
	if declared.MaximumRetryAttempts != nil {
		s.retries = *declared.MaximumRetryAttempts
	}
	if declared.MaximumRecordAgeInSeconds != nil && *declared.MaximumRecordAgeInSeconds > 0 {
		s.age = time.Duration(*declared.MaximumRecordAgeInSeconds) * time.Second
	}
	var rights []right
	for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"} {
		rights = append(rights, right{"dynamodb:" + action, declared.EventSourceArn})
	}
	if s.failures != "" {
		if target := of.ByARN(s.failures); target == nil || target.Type != "AWS::SQS::Queue" {
			return nil, fmt.Errorf("got failure destination %q: a local run sends to the assembly's queues", s.failures)
		}
		rights = append(rights, right{"sqs:SendMessage", s.failures})
	}
	return rights, nil
}

// open implements source. A stream that the former mapping has read, too, is read on.
func (s *stream) open(ctx context.Context, kept *checkpoints, was *mapping) (err error) {
	s.checkpoints = kept
	if s.records, err = s.options.Databases.OpenStream(ctx, s.from); err != nil {
		return err
	}
	left := map[string]string{}
	if was != nil {
		if former := was.source.(*stream); former.records.ARN == s.records.ARN {
			// It also knows of deletions by time to live whose records are not read.
			s.records, former.records = former.records, s.records
			left = former.left
		}
	}
	if s.first, err = s.records.Shards(ctx); err != nil {
		return err
	}
	s.iterators = map[string]string{}
	for _, shard := range s.first {
		iterator, known := left[shard.ID]
		if !known {
			if iterator, err = s.resume(ctx, shard.ID); err != nil {
				return err
			}
		}
		s.iterators[shard.ID] = iterator
		s.noteFlushed(shard.ID, 0)
	}
	return nil
}

func (s *stream) close() { s.records.Close() }

// checkpoint is the mapping's name in the checkpoints.
func (s *stream) checkpoint() string { return s.function.Name + " " + s.from.Name }

// resume returns an iterator for the place in the shard that an earlier run has reached; "": the shard's first record.
// A shard that the earlier run did not know is read from there, and so is one whose place is gone: all that is left
// comes after it.
func (s *stream) resume(ctx context.Context, shard string) (string, error) {
	places := s.checkpoints.of(s.checkpoint())
	if len(places) == 0 {
		return s.begin(ctx, shard)
	}
	place := places[shard]
	if place == "" {
		return "", nil
	}
	there, err := s.records.Has(ctx, shard, place)
	if err == nil && there {
		return s.records.Iterator(ctx, shard, dynamodb.AfterRecord, place)
	}
	if err != nil && ctx.Err() == nil {
		s.log(ctx, "go on where the last run ended", err)
	}
	return "", ctx.Err()
}

// begin returns an iterator for the starting position of the mapping. The latest record of a stream without any is the
// first that comes.
func (s *stream) begin(ctx context.Context, shard string) (string, error) {
	if s.position != dynamodb.Latest {
		return "", nil
	}
	if oldest, err := s.records.Oldest(ctx, shard); err != nil || len(oldest.Records) == 0 {
		return "", err
	}
	return s.records.Iterator(ctx, shard, dynamodb.Latest, "")
}

// reached keeps a place for the next run. Without it that run repeats records, which functions must expect in any case.
func (s *stream) reached(ctx context.Context, shard, sequence string) {
	if err := s.checkpoints.reach(s.checkpoint(), shard, sequence); err != nil {
		s.log(ctx, "keep the place in the stream", err)
	}
}

// run implements source. It looks for new shards now and then: in the run's own engine, while a shard has ended and
// none has followed it. There DescribeStream is what costs most in a run that nobody uses.
func (s *stream) run(ctx, reading context.Context, deliver func(reader)) {
	var working sync.WaitGroup
	finished, followed := map[string]chan struct{}{}, map[string]bool{}
	begin := func(shard dynamodb.Shard) {
		if finished[shard.ID] != nil {
			return
		}
		parent, end := finished[shard.Parent], make(chan struct{})
		finished[shard.ID], followed[shard.Parent] = end, true
		working.Go(func() {
			defer close(end)
			if parent != nil {
				select {
				case <-parent:
				case <-ctx.Done():
					return
				}
			}
			s.noteFlushed(shard.ID, 0)
			defer s.noteEnded(shard.ID)
			deliver(&shardReader{stream: s, id: shard.ID, iterator: s.iterators[shard.ID]})
		})
	}
	for _, shard := range s.first {
		begin(shard)
	}
	follows := func() bool {
		for id, end := range finished {
			select {
			case <-end:
				if !followed[id] {
					return true
				}
			default:
			}
		}
		return false
	}
	for recovery.Wait(reading, newShards) {
		if s.options.OwnEngine && !follows() {
			continue
		}
		found, err := s.records.Shards(ctx)
		if err != nil {
			s.log(ctx, "find shards", err)
			continue
		}
		for _, shard := range found {
			begin(shard)
		}
	}
	working.Wait()
}

// leave notes where a shard is to be read on.
func (s *stream) leave(shard, iterator string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.left[shard] = iterator
}

func (s *stream) flush(ctx context.Context) error {
	s.mutex.Lock()
	s.flushes++
	asked := s.flushes
	s.mutex.Unlock()
	s.records.Wake()
	for !s.hasFlushed(asked) {
		if !recovery.Wait(ctx, 5*time.Millisecond) {
			return fmt.Errorf("function %s has not taken all records of %s: %w",
				s.function.Name, s.from.Name, ctx.Err())
		}
	}
	return nil
}

func (s *stream) hasFlushed(asked uint64) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, done := range s.flushed {
		if done < asked {
			return false
		}
	}
	return true
}

// askedFlushes returns how many flushes were asked for, and how many of them the shard has done.
func (s *stream) askedFlushes(shard string) (asked, done uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.flushes, s.flushed[shard]
}

func (s *stream) noteFlushed(shard string, done uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.flushed[shard] = done
}

func (s *stream) noteEnded(shard string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.flushed, shard)
}

// Conditions of messages to a failure destination.
const (
	attemptsExhausted = "RetryAttemptsExhausted"
	ageExceeded       = "RecordAgeExceeded"
)

// attempt invokes the function with the batch until it is done, or given up. Splitting a batch is no retry:
// "BisectBatchOnFunctionError" of "Using AWS Lambda with Amazon DynamoDB".
func (s *stream) attempt(ctx context.Context, shard string, batch []record) {
	invocations, failures := 0, 0
	delay := s.options.RetryDelay
	for len(batch) > 0 && ctx.Err() == nil {
		if s.age > 0 {
			// The age counts from the reading: the engine's own time is truncated to the minute.
			fresh := slices.IndexFunc(batch, func(r record) bool { return time.Since(r.read) <= s.age })
			if fresh < 0 {
				fresh = len(batch)
			}
			if fresh > 0 {
				s.giveUp(shard, batch[:fresh], ageExceeded, invocations)
				batch = batch[fresh:]
				continue
			}
		}
		invocations++
		sequences := make([]string, len(batch))
		for i, record := range batch {
			sequences[i] = record.id
		}
		failed, err := s.invoke(trace.Delivering(ctx, s.from.Name, sequences), batch,
			s.delivery.SourceARN+"/"+batch[0].id)
		if ctx.Err() != nil {
			return
		}
		// The records before the first failure are done; the rest begins again.
		done := slices.IndexFunc(batch, func(r record) bool { return err != nil || failed[r.id] })
		if done < 0 {
			done = len(batch)
		}
		s.noteInvocation(batch, done, err)
		if err != nil {
			s.log(ctx, "function failed on a batch of its stream", err)
		}
		if done == len(batch) {
			return
		}
		if done > 0 {
			batch, failures, delay = batch[done:], 0, s.options.RetryDelay
			if s.bisect {
				continue // split at the record that failed
			}
		}
		if s.bisect && len(batch) > 1 {
			half := len(batch) / 2
			s.attempt(ctx, shard, batch[:half])
			batch = batch[half:]
			continue
		}
		if failures++; s.retries >= 0 && failures > s.retries {
			s.giveUp(shard, batch, attemptsExhausted, invocations)
			return
		}
		if !recovery.Wait(ctx, delay) {
			return
		}
		delay = min(2*delay, 100*s.options.RetryDelay)
	}
}

// giveUp leaves records to the failure destination, in the shape of "Using AWS Lambda with Amazon DynamoDB", discarded
// batches. The message to a queue has the payload, too, which AWS adds in S3 alone: the function can be invoked with it
// again.
func (s *stream) giveUp(shard string, batch []record, condition string, invocations int) {
	s.options.Log.Error("stream records are given up", "source", s.from.Name, "function", s.function.Name,
		"records", len(batch), "condition", condition)
	s.note(func(d *Delivery) { d.GivenUp += len(batch) })
	if s.failures == "" {
		return
	}
	first, last := batch[0], batch[len(batch)-1]
	const layout = "2006-01-02T15:04:05.000Z"
	payload, err := event(batch)
	message := map[string]any{
		"requestContext": map[string]any{
			"requestId": cryptorand.Text(), "functionArn": s.function.ARN,
			"condition": condition, "approximateInvokeCount": invocations,
		},
		"version":   "1.0",
		"timestamp": time.Now().UTC().Format(layout),
		"DDBStreamBatchInfo": map[string]any{
			"shardId": shard, "startSequenceNumber": first.id, "endSequenceNumber": last.id,
			"approximateArrivalOfFirstRecord": first.created.UTC().Format(layout),
			"approximateArrivalOfLastRecord":  last.created.UTC().Format(layout),
			"batchSize":                       len(batch),
			"streamArn":                       s.delivery.SourceARN,
		},
		"payload": string(payload),
	}
	if condition == attemptsExhausted {
		message["responseContext"] = map[string]any{
			"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled",
		}
	}
	text, encoding := json.Marshal(message)
	to := s.options.Queue(s.failures)
	if err = errors.Join(err, encoding); err == nil && to == nil {
		err = errors.New("the assembly has it no more")
	}
	if err != nil {
		s.options.Log.Error("failure destination", "queue", s.failures, "error", err)
		return
	}
	to.Send(string(text), nil)
}
