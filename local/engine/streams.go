package engine

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
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
	// PollInterval is the time between reads of a shard that had nothing new. Default: 200 ms (AWS: 250 ms).
	PollInterval time.Duration
	// RetryDelay is the time before the first retry of a batch; it doubles up to a hundredfold. Default: 100 ms.
	RetryDelay time.Duration
	// Log gets what fails. Default: none.
	Log *slog.Logger
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

type mapping struct {
	streams  *Streams
	function *assembly.Resource
	table    *assembly.Resource
	filter   filter
	expired  *expiries

	position    string
	batchSize   int
	window      time.Duration
	retries     int           // -1 is without end
	age         time.Duration // 0 is without end
	bisect      bool
	partial     bool
	destination string
	engineARN   string
	arn         string

	mutex    sync.Mutex
	delivery Delivery
	waiting  map[string]waiting // by shard
	flushes  uint64             // how many were asked for
	flushed  map[string]uint64  // how many a shard that is being read has done
}

// name tells mappings apart in every run of the assembly.
func (m *mapping) name() string { return m.function.Name + " " + m.table.Name }

// waiting are the records of a shard that were read but not delivered.
type waiting struct {
	records int
	since   time.Time
}

// Delivery is how far the delivery of a stream's records to a function is.
type Delivery struct {
	Function string `json:"function"`
	Table    string `json:"table"`
	// StreamARN is the stream that is read.
	StreamARN string `json:"stream_arn"`
	// Read counts the records that were read from the stream, Filtered those of them that the mapping's filter kept back.
	Read     int `json:"read"`
	Filtered int `json:"filtered"`
	// Waiting are records that were read and are neither done nor given up.
	Waiting int `json:"waiting"`
	// Lag is for how long the oldest of them has waited since it was read; 0 when none waits.
	Lag time.Duration `json:"lag_ns"`
	// Invocations of the function, and those that failed.
	Invocations int `json:"invocations"`
	Failures    int `json:"failures"`
	// Done counts records that the function took, GivenUp those that it never did.
	Done    int `json:"done"`
	GivenUp int `json:"given_up"`
	// Redelivered counts batches that were delivered again although they were done.
	Redelivered int `json:"redelivered"`
	// LastDelay is the time from reading the oldest record of the latest batch to the end of its delivery, LongestDelay the
	// longest so far.
	LastDelay    time.Duration `json:"last_delay_ns"`
	LongestDelay time.Duration `json:"longest_delay_ns"`
}

// Deliveries returns the state of each mapping, in the order of the assembly.
func (s *Streams) Deliveries() []Delivery {
	var all []Delivery
	for _, m := range s.mappings {
		all = append(all, m.state())
	}
	return all
}

func (m *mapping) state() Delivery {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	state := m.delivery
	for _, shard := range m.waiting {
		state.Waiting += shard.records
		if shard.records > 0 {
			state.Lag = max(state.Lag, time.Since(shard.since))
		}
	}
	return state
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

func (m *mapping) hasFlushed(asked uint64) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, done := range m.flushed {
		if done < asked {
			return false
		}
	}
	return true
}

// askedFlushes returns how many flushes were asked for, and how many of them the shard has done.
func (m *mapping) askedFlushes(shard string) (asked, done uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.flushes, m.flushed[shard]
}

func (m *mapping) noteFlushed(shard string, done uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.flushed[shard] = done
}

func (m *mapping) noteEnded(shard string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.flushed, shard)
	delete(m.waiting, shard)
}

func (m *mapping) note(change func(*Delivery)) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change(&m.delivery)
}

func (m *mapping) noteWaiting(shard string, records []record) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	entry := waiting{records: len(records)}
	if len(records) > 0 {
		entry.since = records[0].read
	}
	m.waiting[shard] = entry
}

// NewStreams reads the event source mappings of the assembly. accessKey names the engine's database that holds the tables.
// Errors name a mapping that cannot be served, or the grant that its function's role lacks.
func NewStreams(engine *Engine, accessKey string, source *assembly.Assembly, options StreamsOptions) (*Streams, error) {
	if options.PollInterval <= 0 {
		options.PollInterval = 200 * time.Millisecond
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
	places, err := newCheckpoints(options.Checkpoints)
	if err != nil {
		return nil, err
	}
	streams := &Streams{engine: engine, accessKey: accessKey, options: options, checkpoints: places}
	for _, resource := range source.Resources("AWS::Lambda::EventSourceMapping") {
		read, err := streams.read(source, resource)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		if read != nil {
			streams.mappings = append(streams.mappings, read)
		}
	}
	return streams, nil
}

func (s *Streams) read(source *assembly.Assembly, resource *assembly.Resource) (*mapping, error) {
	var declared struct {
		EventSourceArn                 string
		FunctionName                   string
		Enabled                        *bool
		BatchSize                      *int
		MaximumBatchingWindowInSeconds int
		TumblingWindowInSeconds        int
		StartingPosition               string
		FunctionResponseTypes          []string
		BisectBatchOnFunctionError     bool
		MaximumRetryAttempts           *int
		MaximumRecordAgeInSeconds      *int
		FilterCriteria                 struct{ Filters []struct{ Pattern string } }
		DestinationConfig              struct{ OnFailure struct{ Destination string } }
	}
	if err := resource.Decode(&declared); err != nil {
		return nil, err
	}
	if declared.Enabled != nil && !*declared.Enabled {
		return nil, nil
	}
	read := &mapping{streams: s, arn: declared.EventSourceArn, waiting: map[string]waiting{}, flushed: map[string]uint64{}, position: declared.StartingPosition, batchSize: 100,
		window: time.Duration(declared.MaximumBatchingWindowInSeconds) * time.Second, retries: -1,
		bisect: declared.BisectBatchOnFunctionError, partial: slices.Contains(declared.FunctionResponseTypes, "ReportBatchItemFailures"),
		destination: declared.DestinationConfig.OnFailure.Destination}
	tableARN, _, isStream := strings.Cut(declared.EventSourceArn, "/stream/")
	if read.table = source.ByARN(tableARN); !isStream || read.table == nil {
		return nil, fmt.Errorf("got event source %q: a local run reads the streams of the assembly's tables", declared.EventSourceArn)
	}
	if read.function = source.Function(declared.FunctionName); read.function == nil {
		return nil, fmt.Errorf("got function %q: the assembly has no such function", declared.FunctionName)
	}
	if declared.TumblingWindowInSeconds > 0 {
		return nil, errors.New("TumblingWindowInSeconds is not served by a local run: leave it out")
	}
	if !slices.Contains([]string{"LATEST", "TRIM_HORIZON"}, read.position) {
		return nil, fmt.Errorf("got StartingPosition %q: write LATEST or TRIM_HORIZON", read.position)
	}
	if declared.BatchSize != nil {
		read.batchSize = *declared.BatchSize
	}
	if read.batchSize < 1 || read.batchSize > 10000 {
		return nil, fmt.Errorf("got BatchSize %d: write 1 to 10000", read.batchSize)
	}
	if declared.MaximumRetryAttempts != nil {
		read.retries = *declared.MaximumRetryAttempts
	}
	if declared.MaximumRecordAgeInSeconds != nil && *declared.MaximumRecordAgeInSeconds > 0 {
		read.age = time.Duration(*declared.MaximumRecordAgeInSeconds) * time.Second
	}
	var patterns []string
	for _, filter := range declared.FilterCriteria.Filters {
		patterns = append(patterns, filter.Pattern)
	}
	var err error
	if read.filter, err = newFilter(patterns); err != nil {
		return nil, err
	}
	if read.destination != "" {
		if target := source.ByARN(read.destination); target == nil || target.Type != "AWS::SQS::Queue" || s.options.Send == nil {
			return nil, fmt.Errorf("got failure destination %q: a local run sends to the assembly's queues", read.destination)
		}
	}
	read.delivery = Delivery{Function: read.function.Name, Table: read.table.Name, StreamARN: read.arn}
	// "Using AWS Lambda with Amazon DynamoDB", execution role permissions. Lambda creates the mapping when all four are allowed
	// on the stream.
	for _, action := range []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"} {
		if err := s.options.Authorise(read.function.Name, action, declared.EventSourceArn); err != nil {
			return nil, err
		}
	}
	if read.destination != "" {
		if err := s.options.Authorise(read.function.Name, "sqs:SendMessage", read.destination); err != nil {
			return nil, err
		}
	}
	if s.options.Sweeper != nil {
		read.expired = s.options.Sweeper.watch(read.table.Name)
	}
	return read, nil
}

// Start finds the streams and begins to deliver in the background, until ctx ends; the channel it returns is closed then. The
// tables must exist. What is written after Start returns is delivered to mappings that start at LATEST, too.
func (s *Streams) Start(ctx context.Context) (<-chan struct{}, error) {
	type reading struct {
		of     *mapping
		shards []shard
	}
	var readings []reading
	for _, m := range s.mappings {
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
		for i := range shards {
			if shards[i].iterator, err = m.resume(ctx, shards[i].ShardId); err != nil {
				return nil, err
			}
			m.noteFlushed(shards[i].ShardId, 0)
		}
		readings = append(readings, reading{m, shards})
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	for _, reading := range readings {
		group.Go(func() { reading.of.run(ctx, reading.shards) })
	}
	go func() {
		group.Wait()
		close(done)
	}()
	return done, nil
}

// call makes one request to the engine. The JSON of records passes as it is: it is what functions get.
func (s *Streams) call(ctx context.Context, target string, input, output any) error {
	body, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.engine.url+"/", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", target)
	request.Header.Set("Authorization", fmt.Sprintf(
		"AWS4-HMAC-SHA256 Credential=%s/20260101/%s/dynamodb/aws4_request, SignedHeaders=host, Signature=0", s.accessKey, Region))
	response, err := s.engine.transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %w", target, &refusal{response.Status, string(answer)})
	}
	if err := json.Unmarshal(answer, output); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}

// refusal is an answer of the engine other than success.
type refusal struct{ status, answer string }

func (r *refusal) Error() string { return r.status + ": " + r.answer }

// trimmed reports whether the engine says that a record is gone.
func trimmed(err error) bool {
	var refused *refusal
	return errors.As(err, &refused) && strings.Contains(refused.answer, "#TrimmedDataAccessException")
}

type shard struct {
	ShardId       string
	ParentShardId string
	iterator      string
}

func (m *mapping) shards(ctx context.Context) (all []shard, err error) {
	start := ""
	for {
		input := map[string]any{"StreamArn": m.engineARN}
		if start != "" {
			input["ExclusiveStartShardId"] = start
		}
		var described struct {
			StreamDescription struct {
				Shards               []shard
				LastEvaluatedShardId string
			}
		}
		if err := m.streams.call(ctx, "DynamoDBStreams_20120810.DescribeStream", input, &described); err != nil {
			return nil, err
		}
		all = append(all, described.StreamDescription.Shards...)
		if start = described.StreamDescription.LastEvaluatedShardId; start == "" {
			return all, nil
		}
	}
}

func (m *mapping) iterator(ctx context.Context, shard, position, sequence string) (string, error) {
	input := map[string]any{"StreamArn": m.engineARN, "ShardId": shard, "ShardIteratorType": position}
	if sequence != "" {
		input["SequenceNumber"] = sequence
	}
	var got struct{ ShardIterator string }
	err := m.streams.call(ctx, "DynamoDBStreams_20120810.GetShardIterator", input, &got)
	return got.ShardIterator, err
}

const (
	trimHorizon = "TRIM_HORIZON"
	afterRecord = "AFTER_SEQUENCE_NUMBER"
)

// resume returns an iterator for the place in the shard that an earlier run has reached. A shard that the earlier run did not
// know is read from its beginning, and so is one whose place the engine has forgotten.
func (m *mapping) resume(ctx context.Context, shard string) (string, error) {
	places := m.streams.checkpoints.of(m.name())
	if len(places) == 0 {
		return m.iterator(ctx, shard, m.position, "")
	}
	if place := places[shard]; place != "" {
		iterator, err := m.iterator(ctx, shard, afterRecord, place)
		if err == nil || ctx.Err() != nil {
			return iterator, err
		}
		m.log(ctx, "go on where the last run ended", err)
	}
	return m.iterator(ctx, shard, trimHorizon, "")
}

// reached keeps a place for the next run. Without it that run repeats records, which functions must expect in any case.
func (m *mapping) reached(ctx context.Context, shard, sequence string) {
	if err := m.streams.checkpoints.reach(m.name(), shard, sequence); err != nil {
		m.log(ctx, "keep the place in the stream", err)
	}
}

// run reads every shard, a shard after its parent, and looks for new ones now and then.
func (m *mapping) run(ctx context.Context, first []shard) {
	var group sync.WaitGroup
	finished := map[string]chan struct{}{}
	begin := func(s shard) {
		if finished[s.ShardId] != nil {
			return
		}
		parent, end := finished[s.ParentShardId], make(chan struct{})
		finished[s.ShardId] = end
		group.Go(func() {
			defer close(end)
			if parent != nil {
				select {
				case <-parent:
				case <-ctx.Done():
					return
				}
			}
			m.read(ctx, s)
		})
	}
	for _, s := range first {
		begin(s)
	}
	for wait(ctx, 5*time.Second) {
		found, err := m.shards(ctx)
		if err != nil {
			m.log(ctx, "find shards", err)
			continue
		}
		for _, s := range found {
			begin(s)
		}
	}
	group.Wait()
}

func (m *mapping) log(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		m.streams.options.Log.Error(what, "stream of", m.table.Name, "function", m.function.Name, "error", err)
	}
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

// record is a record as the function gets it, with what delivery needs to know of it.
type record struct {
	text     json.RawMessage
	sequence string
	created  time.Time
	read     time.Time
}

// read delivers a shard to its end.
func (m *mapping) read(ctx context.Context, s shard) {
	// A shard that was found after the start is new: all of it counts.
	for s.iterator == "" {
		iterator, err := m.iterator(ctx, s.ShardId, trimHorizon, "")
		if err != nil {
			m.log(ctx, "begin shard", err)
			if !wait(ctx, time.Second) {
				return
			}
			continue
		}
		s.iterator = iterator
	}
	m.noteFlushed(s.ShardId, 0)
	defer m.noteEnded(s.ShardId)
	var waiting []record
	var deadline time.Time
	last := ""    // the sequence number of the last record that was read
	lost := false // the place was lost: the next batch may be cut differently
	for {
		const most = 1000
		asked, flushed := m.askedFlushes(s.ShardId)
		var got struct {
			Records           []json.RawMessage
			NextShardIterator string
		}
		err := m.streams.call(ctx, "DynamoDBStreams_20120810.GetRecords", map[string]any{"ShardIterator": s.iterator, "Limit": most}, &got)
		// DynamoDB Local counts the writes of all tables in one sequence. When some to other tables come before the first
		// record of a stream, it takes the iterator of that, empty until then, for one of a record that is gone.
		if last == "" && trimmed(err) {
			var renewed string
			if renewed, err = m.iterator(ctx, s.ShardId, trimHorizon, ""); err == nil {
				s.iterator = renewed
				continue
			}
		}
		if err != nil {
			m.log(ctx, "read stream", err)
			if !wait(ctx, time.Second) {
				return
			}
			// Iterators live for 15 minutes: a batch may have been retried for longer.
			if last != "" {
				if renewed, err := m.iterator(ctx, s.ShardId, afterRecord, last); err == nil {
					s.iterator = renewed
				}
			}
			continue
		}
		passed := 0
		for _, raw := range got.Records {
			read, passes, err := m.convert(raw)
			if err != nil {
				m.log(ctx, "read stream record", err)
				continue
			}
			last = read.sequence
			if !passes {
				continue
			}
			if len(waiting) == 0 {
				deadline = time.Now().Add(m.window)
			}
			waiting = append(waiting, read)
			passed++
		}
		m.note(func(d *Delivery) { d.Read, d.Filtered = d.Read+len(got.Records), d.Filtered+len(got.Records)-passed })
		m.noteWaiting(s.ShardId, waiting)
		ended := got.NextShardIterator == ""
		for {
			count := m.cut(waiting, lost || ended || asked > flushed || !time.Now().Before(deadline))
			if count == 0 {
				break
			}
			if lost {
				count, lost = 1+rand.IntN(count), false
			}
			m.deliver(ctx, s.ShardId, waiting[:count])
			if ctx.Err() != nil {
				return
			}
			if m.streams.options.Redeliver() {
				lost = true
				m.note(func(d *Delivery) { d.Redelivered++ })
				continue
			}
			m.reached(ctx, s.ShardId, waiting[count-1].sequence)
			waiting = waiting[count:]
			m.noteWaiting(s.ShardId, waiting)
		}
		if len(got.Records) > 0 && len(waiting) == 0 {
			m.reached(ctx, s.ShardId, last)
		}
		if len(got.Records) < most && len(waiting) == 0 {
			m.noteFlushed(s.ShardId, asked)
		}
		if ended {
			return
		}
		s.iterator = got.NextShardIterator
		if len(got.Records) == 0 && !wait(ctx, m.streams.options.PollInterval) {
			return
		}
	}
}

// largestEvent is Lambda's limit on the payload of an invocation, 6 MB, less what surrounds the records.
const largestEvent = 6<<20 - 100

// cut returns how many records the next batch has; 0 when it is neither full nor due. It is full by the batch size or by the
// payload: "How Lambda processes records from stream and queue-based event sources", batching behavior.
func (m *mapping) cut(waiting []record, due bool) int {
	size := 0
	for i, record := range waiting {
		size += len(record.text) + len(",")
		if i > 0 && size > largestEvent {
			return i
		}
		if i+1 == m.batchSize {
			return m.batchSize
		}
	}
	if due {
		return len(waiting)
	}
	return 0
}

// ttlIdentity marks deletions by time to live ("DynamoDB Streams and time to live", AWS).
var ttlIdentity = json.RawMessage(`{"type":"Service","principalId":"dynamodb.amazonaws.com"}`)

// convert makes the record that AWS would deliver out of the engine's.
func (m *mapping) convert(raw json.RawMessage) (record, bool, error) {
	var event struct {
		EventID        string          `json:"eventID"`
		EventName      string          `json:"eventName"`
		EventVersion   string          `json:"eventVersion"`
		EventSource    string          `json:"eventSource"`
		AWSRegion      string          `json:"awsRegion"`
		Change         json.RawMessage `json:"dynamodb"`
		UserIdentity   json.RawMessage `json:"userIdentity,omitempty"`
		EventSourceARN string          `json:"eventSourceARN"`
	}
	if err := json.Unmarshal(raw, &event); err != nil {
		return record{}, false, err
	}
	var change struct {
		ApproximateCreationDateTime float64
		Keys                        map[string]map[string]any
		SequenceNumber              string
	}
	if err := json.Unmarshal(event.Change, &change); err != nil {
		return record{}, false, err
	}
	if event.EventName == "REMOVE" && m.expired != nil && m.expired.add(keyName(change.Keys), -1) {
		event.UserIdentity = ttlIdentity
	}
	event.AWSRegion, event.EventSourceARN = m.table.Stack.Region, m.arn
	text, err := json.Marshal(event)
	if err != nil {
		return record{}, false, err
	}
	passes, err := m.filter.passes(text)
	created := time.UnixMilli(int64(change.ApproximateCreationDateTime * 1000))
	return record{text: text, sequence: change.SequenceNumber, created: created, read: time.Now()}, passes, err
}

// keyName writes a key in one way, for any order of its attributes.
func keyName(key map[string]map[string]any) string {
	text, err := json.Marshal(key)
	if err != nil {
		return ""
	}
	return string(text)
}

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

func (m *mapping) noteInvocation(batch []record, done int) {
	m.note(func(d *Delivery) {
		d.Invocations++
		d.Done += done
		if done < len(batch) {
			d.Failures++
		}
		if done > 0 {
			d.LastDelay = time.Since(batch[0].read)
			d.LongestDelay = max(d.LongestDelay, d.LastDelay)
		}
	})
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
	answer, err := m.streams.options.Invoke.Invoke(ctx, m.function.Name, payload)
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
