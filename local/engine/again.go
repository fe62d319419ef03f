package engine

// Batches that were given up, once more.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrRecordsGone says that a stream no longer has the records of a batch: it keeps them for 24 hours, and no longer than the run
// without a folder for its data.
var ErrRecordsGone = errors.New("the stream has no longer the records")

// ErrNoMapping says that no event source mapping of the run reads the stream for the function.
var ErrNoMapping = errors.New("no event source mapping of the run reads this stream for this function")

// Batch names the records of a batch that was given up, as the message in its failure queue does.
type Batch struct {
	// FunctionARN and StreamARN tell whose batch it is.
	FunctionARN, StreamARN string
	Shard                  string
	// First and Last are the sequence numbers of its ends.
	First, Last string
}

// mostAgain bounds the pages that Again reads to find a batch.
const mostAgain = 1000

// Again reads the batch once more from its stream and delivers it to its function, in one invocation. It returns how many records that
// were. Errors: ErrNoMapping, ErrRecordsGone, or why the function did not take all of them.
func (d *Databases) Again(ctx context.Context, batch Batch) (records int, err error) {
	for _, one := range d.all {
		if records, err = one.streams.Again(ctx, batch); !errors.Is(err, ErrNoMapping) {
			return records, err
		}
	}
	return 0, err
}

// Again is that of [Databases], for the streams of one account and region.
func (s *Streams) Again(ctx context.Context, batch Batch) (records int, err error) {
	for _, m := range s.mappings {
		if m.arn == batch.StreamARN && m.function.ARN == batch.FunctionARN {
			return m.again(ctx, batch)
		}
	}
	return 0, fmt.Errorf("%w: got %s and %s", ErrNoMapping, batch.StreamARN, batch.FunctionARN)
}

func (m *mapping) again(ctx context.Context, batch Batch) (int, error) {
	iterator, err := m.iterator(ctx, batch.Shard, "AT_SEQUENCE_NUMBER", batch.First)
	if gone(err) {
		return 0, fmt.Errorf("%w %s to %s of shard %s: %w", ErrRecordsGone, batch.First, batch.Last, batch.Shard, err)
	}
	var records []record
	ended := false
	for pages := 0; err == nil && !ended && iterator != "" && pages < mostAgain; pages++ {
		var got page
		if err = m.streams.call(ctx, "DynamoDBStreams_20120810.GetRecords", map[string]any{"ShardIterator": iterator, "Limit": maxRecords}, &got); err != nil {
			break
		}
		for _, raw := range got.Records {
			converted, passes, err := m.convertAgain(raw)
			if err != nil {
				return 0, fmt.Errorf("read stream record: %w", err)
			}
			order := compareSequences(converted.sequence, batch.Last)
			if order <= 0 && passes && compareSequences(converted.sequence, batch.First) >= 0 {
				records = append(records, converted)
			}
			ended = ended || order >= 0
		}
		if iterator = got.NextShardIterator; len(got.Records) == 0 && !wait(ctx, 5*time.Millisecond) {
			return 0, ctx.Err()
		}
	}
	switch {
	case gone(err):
		return 0, fmt.Errorf("%w %s to %s of shard %s: %w", ErrRecordsGone, batch.First, batch.Last, batch.Shard, err)
	case err != nil:
		return 0, err
	case !ended || len(records) == 0:
		return 0, fmt.Errorf("%w %s to %s of shard %s", ErrRecordsGone, batch.First, batch.Last, batch.Shard)
	}
	done, err := m.invoke(ctx, records)
	m.noteInvocation(records, done)
	if err == nil && done < len(records) {
		err = fmt.Errorf("function %s took %d of %d records", m.function.Name, done, len(records))
	}
	return len(records), err
}

// convertAgain makes the record as it was delivered before. Whether time to live deleted its item is known from then: the sweeper
// announces each deletion once.
func (m *mapping) convertAgain(raw json.RawMessage) (record, bool, error) {
	once := &mapping{streams: m.streams, table: m.table, filter: m.filter, arn: m.arn}
	converted, passes, err := once.convert(raw)
	if err != nil || !m.wasExpired(converted.sequence) {
		return converted, passes, err
	}
	var event map[string]json.RawMessage
	if err := json.Unmarshal(converted.text, &event); err != nil {
		return record{}, false, err
	}
	event["userIdentity"] = ttlIdentity
	if converted.text, err = json.Marshal(event); err != nil {
		return record{}, false, err
	}
	passes, err = m.filter.Passes(converted.text)
	return converted, passes, err
}

// mostExpired bounds the memory for records of expired items in batches that were given up.
const mostExpired = 10_000

// noteExpired keeps which records of a batch that is given up are of items that time to live deleted.
func (m *mapping) noteExpired(batch []record) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, r := range batch {
		if bytes.Contains(r.text, ttlIdentity) && len(m.expiredRecords) < mostExpired {
			if m.expiredRecords == nil {
				m.expiredRecords = map[string]bool{}
			}
			m.expiredRecords[r.sequence] = true
		}
	}
}

func (m *mapping) wasExpired(sequence string) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.expiredRecords[sequence]
}

// gone reports whether the engine says that it no longer has a record or a shard.
func gone(err error) bool {
	var refused *refusal
	return trimmed(err) || errors.As(err, &refused) && strings.Contains(refused.answer, "#ResourceNotFoundException")
}

// compareSequences compares sequence numbers, which are longer than any integer.
func compareSequences(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
