package engine

// The engine's streams: requests to it, shards in their order, and the places in them.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/local/recovery"
)

// call makes one request to the engine. The JSON of records passes as it is: it is what functions get.
func (s *Streams) call(ctx context.Context, target string, input, output any) error {
	return s.engine.call(ctx, s.accessKey, target, input, output)
}

// call makes one request on the database of the access key. JSON within input and output passes as it is.
func (e *Engine) call(ctx context.Context, accessKey, target string, input, output any) error {
	body, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", target)
	date, authorization := Headers(accessKey, Region, time.Now())
	request.Header.Set("X-Amz-Date", date)
	request.Header.Set("Authorization", authorization)
	response, err := e.transport.RoundTrip(request)
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

// Headers returns the values of X-Amz-Date and Authorization of a request at the time. The access key selects the engine's
// database. The two have the form of Signature Version 4 of AWS, which some engines check. The signature itself is none:
// no engine for one machine knows a secret key to check it with.
func Headers(accessKey, region string, at time.Time) (date, authorization string) {
	date = at.UTC().Format("20060102T150405Z")
	day, _, _ := strings.Cut(date, "T")
	return date, "AWS4-HMAC-SHA256 Credential=" + accessKey + "/" + day + "/" + region +
		"/dynamodb/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + noSignature
}

// noSignature is as long as an SHA-256 in hexadecimal.
const noSignature = "0000000000000000000000000000000000000000000000000000000000000000"

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
			r := &reader{mapping: m, shard: s}
			for {
				err := recovery.Call(func() error { r.read(ctx); return nil })
				if err == nil {
					return
				}
				m.log(ctx, "read stream", err)
				if !wait(ctx, time.Second) {
					return
				}
			}
		})
	}
	for _, s := range first {
		begin(s)
	}
	for m.wait(ctx, 5*time.Second) {
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

// wait returns false when the mapping is to finish, or ctx ended.
func (m *mapping) wait(ctx context.Context, duration time.Duration) bool {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-m.finish:
		return false
	case <-ctx.Done():
		return false
	}
}
