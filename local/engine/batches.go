package engine

// How a shard is read: records become what AWS would deliver, and batches of them.

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/onesynth-cdk/onesynth/local/recovery"
)

// record is a record as the function gets it, with what delivery needs to know of it.
type record struct {
	text     json.RawMessage
	sequence string
	created  time.Time
	read     time.Time
}

// reader reads one shard for a mapping.
type reader struct {
	*mapping
	shard shard
	// pending records were read and not delivered; due is when they are, even if they fill no batch.
	pending []record
	due     time.Time
	// last is the sequence number of the last record that was read.
	last string
	// lost says that the place was lost: the next batch may be cut differently.
	lost bool
}

// maxRecords is the most records of one answer ("GetRecords", Amazon DynamoDB Streams API reference).
const maxRecords = 1000

// page is an answer of the engine.
type page struct {
	Records           []json.RawMessage
	NextShardIterator string
}

// read delivers a shard to its end.
func (r *reader) read(ctx context.Context) {
	m, s := r.mapping, r.shard
	if !r.begin(ctx) {
		return
	}
	m.noteFlushed(s.ShardId, 0)
	defer m.noteEnded(s.ShardId)
	for {
		asked, flushed := m.askedFlushes(s.ShardId)
		written, began := m.written(), time.Now()
		got, ok := r.next(ctx)
		took := time.Since(began)
		if !ok {
			if ctx.Err() != nil {
				return
			}
			continue
		}
		r.take(ctx, got.Records)
		ended, finishing := got.NextShardIterator == "", m.finishing()
		if !r.deliverBatches(ctx, ended || finishing || asked > flushed) {
			return
		}
		if len(got.Records) > 0 && len(r.pending) == 0 {
			m.reached(ctx, s.ShardId, r.last)
		}
		if len(got.Records) < maxRecords && len(r.pending) == 0 {
			m.noteFlushed(s.ShardId, asked)
		}
		if ended {
			return
		}
		r.shard.iterator = got.NextShardIterator
		if finishing {
			m.leave(s.ShardId, r.shard.iterator)
			return
		}
		if len(got.Records) > 0 {
			continue
		}
		if !r.rest(ctx, written, asked, took) {
			return
		}
	}
}

// restShare is how many times as long as a read without an answer took a shard rests after it. DynamoDB Local counts
// the changes of all tables in one sequence: such a read leaves its iterator where it was, and looks again at all
// that was written to any table since. So the reads of a shard without changes take at most a hundredth of the time.
const restShare = 100

// rest waits after a read without an answer, which took some time: until the run has written to the table or a flush
// asks for it, and at most until writes past the run are looked for. False: ctx ended.
func (r *reader) rest(ctx context.Context, written, asked uint64, took time.Duration) bool {
	poll, most := r.streams.options.PollInterval, max(r.streams.options.IdleInterval, restShare*took)
	for rested := time.Duration(0); rested < most; rested += poll {
		if !wait(ctx, poll) {
			return false
		}
		now, _ := r.askedFlushes(r.shard.ShardId)
		if r.written() != written || now > asked || len(r.pending) > 0 || r.finishing() {
			return true
		}
	}
	return true
}

// leave notes where a shard is to be read on.
func (m *mapping) leave(shard, iterator string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.left[shard] = iterator
}

// begin gives a shard that was found after the start its iterator: the shard is new, and all of it counts. False: ctx ended.
func (r *reader) begin(ctx context.Context) bool {
	for r.shard.iterator == "" {
		iterator, err := r.iterator(ctx, r.shard.ShardId, trimHorizon, "")
		if err != nil {
			r.log(ctx, "begin shard", err)
			if !wait(ctx, time.Second) {
				return false
			}
			continue
		}
		r.shard.iterator = iterator
	}
	return true
}

// next reads a page. False: it was not read, and the iterator may be a new one; or ctx ended.
func (r *reader) next(ctx context.Context) (got page, ok bool) {
	err := r.streams.call(ctx, "DynamoDBStreams_20120810.GetRecords", map[string]any{"ShardIterator": r.shard.iterator, "Limit": maxRecords}, &got)
	// DynamoDB Local counts the writes of all tables in one sequence. If writes to other tables precede the first record of a
	// stream, it takes the stream's iterator for that of a record that is gone.
	if r.last == "" && trimmed(err) {
		var renewed string
		if renewed, err = r.iterator(ctx, r.shard.ShardId, trimHorizon, ""); err == nil {
			r.shard.iterator = renewed
			return page{}, false
		}
	}
	if err == nil {
		return got, true
	}
	r.log(ctx, "read stream", err)
	// Iterators live for 15 minutes: a batch may have been retried for longer.
	if wait(ctx, time.Second) && r.last != "" {
		if renewed, err := r.iterator(ctx, r.shard.ShardId, afterRecord, r.last); err == nil {
			r.shard.iterator = renewed
		}
	}
	return page{}, false
}

// take adds the records that pass the filter to those that are pending.
func (r *reader) take(ctx context.Context, records []json.RawMessage) {
	passed := 0
	for _, raw := range records {
		var converted record
		var passes bool
		err := recovery.Call(func() (err error) {
			converted, passes, err = r.convert(raw)
			return err
		})
		if err != nil {
			r.log(ctx, "read stream record", err)
			continue
		}
		r.last = converted.sequence
		if !passes {
			continue
		}
		if len(r.pending) == 0 {
			r.due = time.Now().Add(r.window)
		}
		r.pending = append(r.pending, converted)
		passed++
	}
	r.note(func(d *Delivery) { d.Read, d.Filtered = d.Read+len(records), d.Filtered+len(records)-passed })
	r.noteWaiting(r.shard.ShardId, r.pending)
}

// deliverBatches delivers the batches that are full or due, or all if now is true. False: ctx ended.
func (r *reader) deliverBatches(ctx context.Context, now bool) bool {
	for {
		count := r.cut(r.pending, r.lost || now || !time.Now().Before(r.due))
		if count == 0 {
			return true
		}
		if r.lost {
			count, r.lost = 1+rand.IntN(count), false
		}
		r.deliver(ctx, r.shard.ShardId, r.pending[:count])
		if ctx.Err() != nil {
			return false
		}
		if r.streams.options.Redeliver() {
			r.lost = true
			r.note(func(d *Delivery) { d.Redelivered++ })
			continue
		}
		r.reached(ctx, r.shard.ShardId, r.pending[count-1].sequence)
		r.pending = r.pending[count:]
		r.noteWaiting(r.shard.ShardId, r.pending)
	}
}

// largestEvent is Lambda's limit on the payload of an invocation, 6 MB, minus the JSON around the records.
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
	passes, err := m.filter.Passes(text)
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
