package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// streamed is a recorder of a table with a stream, which a function reads.
type streamed struct {
	*trace.Recorder
	t        *testing.T
	requests int
	sequence int
}

func newStreamed(t *testing.T) *streamed {
	return &streamed{t: t, Recorder: trace.New(trace.Options{
		Keys:    func(string) []string { return []string{"id"} },
		Streams: func(table string) bool { return table == "tasks" },
	})}
}

// write makes a request that writes by the operations with their inputs, and returns its id.
func (s *streamed) write(calls ...[2]string) string {
	s.requests++
	name := fmt.Sprint("request-", s.requests)
	ctx, request := s.Begin(s.t.Context(), name, trace.Origin{Kind: trace.HTTP, Method: "POST", Path: "/" + name})
	f := s.Invoke(ctx, id(s.requests), "api-1", "api", 128)
	for _, call := range calls {
		s.Call(trace.TraceID(time.Unix(0, 0), id(s.requests)), trace.Call{Service: "dynamodb", Operation: call[0],
			Write: true, Status: 200, Began: time.Now(), Body: []byte(call[1]),
			Targets: []string{"arn:aws:dynamodb:us-east-1:123456789012:table/tasks"}})
	}
	f.End("")
	request.End(201, "")
	return name
}

// record reads a record of an item, whose images are of texts, and returns its sequence number.
func (s *streamed) record(event, key string, before, after map[string]string) string {
	s.sequence++
	one := trace.StreamRecord{Sequence: fmt.Sprintf("%021d", s.sequence), Event: event, Table: "tasks",
		Created: time.Now().Truncate(time.Minute), Keys: item(map[string]string{"id": key}),
		Old: item(before), New: item(after)}
	// Two functions may read a stream.
	s.Read([]trace.StreamRecord{one})
	s.Read([]trace.StreamRecord{one})
	return one.Sequence
}

func item(texts map[string]string) map[string]json.RawMessage {
	if texts == nil {
		return nil
	}
	made := map[string]json.RawMessage{}
	for name, text := range texts {
		made[name] = json.RawMessage(fmt.Sprintf(`{"S": %q}`, text))
	}
	return made
}

// deliver invokes a function with the records, and returns who wrote each.
func (s *streamed) deliver(sequences ...string) (batch string, writers []string) {
	s.requests++
	about := trace.About(context.Background(), trace.Origin{Kind: trace.Stream, Path: "tasks"})
	s.Invoke(trace.Delivering(about, "tasks", sequences), id(s.requests), "writer-1", "writer", 128).End("")
	details, ok := s.Request(id(s.requests))
	if !ok {
		s.t.Fatal("the batch is not kept")
	}
	for _, record := range details.Records {
		by := ""
		if record.Writer != nil {
			by = record.Writer.ID
		}
		writers = append(writers, by)
	}
	return details.ID, writers
}

const (
	put    = `{"TableName": "tasks", "Item": {"id": {"S": "a"}, "title": {"S": "one"}}}`
	rename = `{"TableName": "arn:aws:dynamodb:us-east-1:123456789012:table/tasks", "Key": {"id": {"S": "a"}},
		"UpdateExpression": "SET #t = :t", "ExpressionAttributeNames": {"#t": "title"},
		"ExpressionAttributeValues": {":t": {"S": "two"}}}`
	remove = `{"TableName": "tasks", "Key": {"id": {"S": "a"}}}`
	both   = `{"TransactItems": [{"Put": {"TableName": "tasks", "Item": {"id": {"S": "b"}, "title": {"S": "b"}}}},
		{"ConditionCheck": {"TableName": "tasks", "Key": {"id": {"S": "a"}}}},
		{"Update": {"TableName": "tasks", "Key": {"id": {"S": "c"}}, "UpdateExpression": "ADD n :one",
			"ExpressionAttributeValues": {":one": {"N": "1"}}}}]}`
	batch = `{"RequestItems": {"tasks": [{"PutRequest": {"Item": {"id": {"S": "d"}}}},
		{"DeleteRequest": {"Key": {"id": {"S": "b"}}}}]}}`
)

// A batch says who wrote each of its records, whatever the write was, and each writer leads to the batch.
func TestWriters(t *testing.T) {
	t.Parallel()
	s := newStreamed(t)
	one := map[string]string{"id": "a", "title": "one"}
	two := map[string]string{"id": "a", "title": "two"}
	made, again := s.write([2]string{"PutItem", put}), s.write([2]string{"PutItem", put})
	first, idle := s.write([2]string{"UpdateItem", rename}), s.write([2]string{"UpdateItem", rename})
	transaction, batched := s.write([2]string{"TransactWriteItems", both}), s.write([2]string{"BatchWriteItem", batch})
	removed := s.write([2]string{"DeleteItem", remove})
	sequences := []string{
		s.record("INSERT", "a", nil, one),
		// The second Put and the second update change nothing, so they have no record.
		s.record("MODIFY", "a", one, two),
		s.record("INSERT", "b", nil, map[string]string{"id": "b", "title": "b"}),
		s.record("INSERT", "c", nil, map[string]string{"id": "c"}),
		s.record("INSERT", "d", nil, map[string]string{"id": "d"}),
		s.record("REMOVE", "b", map[string]string{"id": "b", "title": "b"}, nil),
		s.record("REMOVE", "a", two, nil),
		// Someone else wrote these.
		s.record("INSERT", "z", nil, map[string]string{"id": "z"}),
		s.record("INSERT", "a", nil, one),
	}
	id, got := s.deliver(sequences...)
	if want := []string{made, first, transaction, transaction, batched, batched, removed, "", ""}; !slices.Equal(got,
		want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, writer := range []string{made, first, transaction, batched, removed} {
		details, _ := s.Request(writer)
		if len(details.Led) != 1 || details.Led[0].ID != id {
			t.Errorf("%s led to %+v, want the batch %s", writer, details.Led, id)
		}
	}
	for _, writer := range []string{again, idle} {
		if details, _ := s.Request(writer); len(details.Led) != 0 {
			t.Errorf("%s, which changed nothing, led to %+v", writer, details.Led)
		}
	}
}

// A record is older than the minute of a write, or has a value that the write does not give: another wrote it.
func TestNotWriters(t *testing.T) {
	t.Parallel()
	s := newStreamed(t)
	s.write([2]string{"PutItem", put})
	s.Read([]trace.StreamRecord{{Sequence: "old", Event: "INSERT", Table: "tasks",
		Created: time.Now().Add(-2 * time.Minute), Keys: item(map[string]string{"id": "a"})}})
	other := s.record("INSERT", "a", nil, map[string]string{"id": "a", "title": "other"})
	if _, got := s.deliver("old", other, "unknown"); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("got %q", got)
	}
}

// What finds writers is bounded, in number and bytes.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	s := newStreamed(t)
	var sequences []string
	for n := range 300 {
		key := fmt.Sprint("many-", n)
		// Together they are more than 12 MB.
		text := strings.Repeat("x", 60_000)
		s.write([2]string{"PutItem", `{"TableName": "tasks", "Item": {"id": {"S": "` + key + `"}, "text": {"S": "` + text +
			`"}}}`})
		sequences = append(sequences, s.record("INSERT", key, nil, map[string]string{"id": key, "text": text}))
	}
	_, oldest := s.deliver(sequences[0])
	_, newest := s.deliver(sequences[299])
	if len(oldest) != 0 || !slices.Equal(newest, []string{"request-300"}) {
		t.Errorf("of the oldest record the run has %q, and of the newest %q", oldest, newest)
	}
	_, got := s.deliver(append(sequences[299:], sequences...)...)
	if len(got) == 0 || len(got) > 200 {
		t.Errorf("got %d records", len(got))
	}
	if details, _ := s.Request(id(s.requests)); details.RecordsOmitted != 301-len(got) {
		t.Errorf("%d are left out, want %d", details.RecordsOmitted, 301-len(got))
	}
}
