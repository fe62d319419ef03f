package eventsource

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/internal/recovery"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// shardReader reads one shard of a stream: its records become what AWS would deliver, and batches of them.
type shardReader struct {
	*stream
	id string
	// iterator is where the next page begins; "": at the first record that the shard has, which may still be to come.
	iterator string
	// pending records were read and not delivered; due is when they are, even if they fill no batch.
	pending []record
	due     time.Time
	// last is the sequence number of the last record that was read.
	last string
	// lost says that the place was lost: the next batch may be cut differently.
	lost bool
	// page is the last one that was read.
	page page
}

// page is what reading a page has shown.
type page struct {
	// read says that there was one, records how many it had, and took how long it took.
	read    bool
	records int
	took    time.Duration
	// written and asked are the writes to the table and the flushes before it.
	written, asked uint64
	// all says that what is pending is due at once, and end that no page follows.
	all, end bool
}

// next implements reader.
func (r *shardReader) next(ctx, reading context.Context) []record {
	for ctx.Err() == nil {
		if batch := r.batch(); len(batch) > 0 {
			return batch
		}
		if r.page.read {
			if r.finishPage(ctx); r.page.end {
				return nil
			}
			if r.page.records == 0 {
				r.rest(ctx, reading)
			}
		}
		r.readPage(ctx, reading)
	}
	return nil
}

// batch is the next batch; none when it is neither full nor due.
func (r *shardReader) batch() []record {
	count := r.cut(r.pending, r.lost || r.page.all || !time.Now().Before(r.due))
	if r.lost && count > 0 {
		count, r.lost = 1+rand.IntN(count), false
	}
	return r.pending[:count]
}

// deliver implements reader.
func (r *shardReader) deliver(ctx context.Context, batch []record) {
	r.attempt(ctx, r.id, batch)
	if ctx.Err() != nil {
		return
	}
	if r.options.Redeliver() {
		r.lost = true
		r.note(func(d *Delivery) { d.Redelivered++ })
		return
	}
	r.reached(ctx, r.id, batch[len(batch)-1].id)
	r.pending = r.pending[len(batch):]
	r.noteWaiting(r, r.pending)
}

// finishPage notes what is done once what was due has been delivered.
func (r *shardReader) finishPage(ctx context.Context) {
	if len(r.pending) > 0 {
		return
	}
	if r.page.records > 0 && r.last != "" {
		r.reached(ctx, r.id, r.last)
	}
	if r.page.records < dynamodb.MaxRecords {
		r.noteFlushed(r.id, r.page.asked)
	}
}

// readPage reads the next page.
func (r *shardReader) readPage(ctx, reading context.Context) {
	// A flush counts as a write once it was asked for: in this order none is missed.
	written, _ := r.records.Writes()
	asked, flushed := r.askedFlushes(r.id)
	read, began := page{read: true, written: written, asked: asked}, time.Now()
	r.page = page{}
	got, ok := r.read(ctx)
	if !ok {
		return
	}
	read.took, read.records = time.Since(began), len(got.Records)
	r.take(ctx, slices.DeleteFunc(got.Records, dynamodb.BeginsStream))
	finishing := reading.Err() != nil
	if finishing && !got.End {
		r.leave(r.id, got.Iterator)
	}
	read.end = got.End || finishing
	read.all = read.end || asked > flushed
	r.iterator, r.page = got.Iterator, read
}

// restShare is how many times as long as a read without an answer took a shard rests after it. DynamoDB Local counts
// the changes of all tables in one sequence: such a read leaves its iterator where it was, and looks again at all
// that was written to any table since. So the reads of a shard without changes take at most a hundredth of the time.
const restShare = 100

// rest waits after a read without an answer, which took some time: until the run has written to the table or a flush
// asks for it, and at most until writes past the run are looked for. It looks at each PollInterval while the run
// writes to some table, and costs nothing while it does not.
func (r *shardReader) rest(ctx, reading context.Context) {
	over := time.NewTimer(max(r.options.IdleInterval, restShare*r.page.took))
	defer over.Stop()
	for recovery.Wait(ctx, r.options.PollInterval) {
		written, next := r.records.Writes()
		if written != r.page.written || len(r.pending) > 0 {
			return
		}
		select {
		case <-next:
		case <-over.C:
			return
		case <-reading.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// read reads a page. False: it was not read, and the iterator may be a new one; or ctx ended.
func (r *shardReader) read(ctx context.Context) (got dynamodb.StreamPage, ok bool) {
	if r.iterator != "" {
		got, err := r.records.Records(ctx, r.iterator)
		if err == nil {
			return got, true
		}
		if !engine.Trimmed(err) {
			r.log(ctx, "read stream", err)
			// Iterators live for 15 minutes: a batch may have been retried for longer.
			if recovery.Wait(ctx, time.Second) && r.last != "" {
				if renewed, err := r.records.Iterator(ctx, r.id, dynamodb.AfterRecord, r.last); err == nil {
					r.iterator = renewed
				}
			}
			return got, false
		}
		// What was behind the iterator is older than 24 hours, and all that is left comes after it.
	}
	got, err := r.records.Oldest(ctx, r.id)
	if err != nil {
		r.log(ctx, "begin shard", err)
		recovery.Wait(ctx, time.Second)
		return got, false
	}
	return got, true
}

// take adds the records that pass the filter to those that are pending.
func (r *shardReader) take(ctx context.Context, records []json.RawMessage) {
	passed := 0
	var traced []trace.StreamRecord
	defer func() {
		if r.options.Read != nil {
			r.options.Read(traced)
		}
	}()
	for _, raw := range records {
		var converted record
		var passes bool
		var read trace.StreamRecord
		err := recovery.Call(func() (err error) {
			converted, read, passes, err = r.convert(raw)
			return err
		})
		if err != nil {
			r.log(ctx, "read stream record", err)
			continue
		}
		r.last = converted.id
		traced = append(traced, read)
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
	r.noteWaiting(r, r.pending)
}

// cut returns how many records the next batch has; 0 when it is neither full nor due. It is full by the batch size or
// by the payload: "How Lambda processes records from stream and queue-based event sources", batching behavior.
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

// convert makes the record that AWS would deliver out of the engine's, and that of the trace.
func (s *stream) convert(raw json.RawMessage) (record, trace.StreamRecord, bool, error) {
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
		return record{}, trace.StreamRecord{}, false, err
	}
	var change struct {
		ApproximateCreationDateTime float64
		Keys                        map[string]json.RawMessage
		OldImage, NewImage          map[string]json.RawMessage
		SequenceNumber              string
	}
	if err := json.Unmarshal(event.Change, &change); err != nil {
		return record{}, trace.StreamRecord{}, false, err
	}
	if event.EventName == "REMOVE" && s.expired(event.Change) {
		event.UserIdentity = ttlIdentity
	}
	event.AWSRegion, event.EventSourceARN = s.from.Stack.Region, s.delivery.SourceARN
	text, err := json.Marshal(event)
	if err != nil {
		return record{}, trace.StreamRecord{}, false, err
	}
	passes, err := s.filter.Passes(text)
	created := time.UnixMilli(int64(change.ApproximateCreationDateTime * 1000))
	traced := trace.StreamRecord{Sequence: change.SequenceNumber, Event: event.EventName, Table: s.from.Name,
		Created: created, Keys: change.Keys, Old: change.OldImage, New: change.NewImage}
	return record{text: text, id: change.SequenceNumber, read: time.Now(), created: created}, traced, passes, err
}

// expired reports whether a removal is one by time to live.
func (s *stream) expired(change json.RawMessage) bool {
	var of struct{ Keys map[string]map[string]any }
	return json.Unmarshal(change, &of) == nil && s.records.Expired(of.Keys)
}
