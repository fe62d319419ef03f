package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// definition returns the one that most tests use.
func definition(t testing.TB) schema.LakeDefinition {
	t.Helper()
	platform := todo.Platform()
	return must.Get(platform.Lakes[0].Definition(platform.Database))(t)
}

// memory is a bucket and a queue in memory.
type memory struct {
	mu       sync.Mutex
	objects  map[string][]byte
	failures []trigger.Failure // in the queue
	// before is called before each operation, and after each that succeeded. An
	// error is the operation's.
	before, after func(operation, key string) error
}

func newMemory() *memory { return &memory{objects: map[string][]byte{}} }

func (m *memory) do(ctx context.Context, operation, key string, work func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.before != nil {
		if err := m.before(operation, key); err != nil {
			return err
		}
	}
	m.mu.Lock()
	err := work()
	m.mu.Unlock()
	if err == nil && m.after != nil {
		err = m.after(operation, key)
	}
	return err
}

func (m *memory) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	return m.do(ctx, "Put", key, func() error {
		content, err := io.ReadAll(body)
		m.objects[key] = content
		return err
	})
}

func (m *memory) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	var part []byte
	err := m.do(ctx, "Get", key, func() error {
		content, ok := m.objects[key]
		if !ok {
			return ErrNoObject
		}
		if offset+length > int64(len(content)) {
			return fmt.Errorf("bytes %d to %d of %d", offset, offset+length, len(content))
		}
		part = bytes.Clone(content[offset : offset+length])
		return nil
	})
	return part, err
}

func (m *memory) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		var objects []Object
		err := m.do(ctx, "List", prefix, func() error {
			for _, key := range slices.Sorted(maps.Keys(m.objects)) {
				if strings.HasPrefix(key, prefix) {
					objects = append(objects, Object{Key: key, Size: int64(len(m.objects[key]))})
				}
			}
			return nil
		})
		if err != nil {
			yield(Object{}, err)
			return
		}
		for _, o := range objects {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (m *memory) Delete(ctx context.Context, key string) error {
	return m.do(ctx, "Delete", key, func() error {
		delete(m.objects, key)
		return nil
	})
}

func (m *memory) Send(ctx context.Context, message string) error {
	return m.do(ctx, "Send", "", func() error {
		if len(message) > trigger.MaxFailureBytes {
			return fmt.Errorf("a message of %d bytes", len(message))
		}
		var failure trigger.Failure
		err := json.Unmarshal([]byte(message), &failure)
		m.failures = append(m.failures, failure)
		return err
	})
}

// item is an item's image, or the keys of one.
type item map[string]any

func text(s string) map[string]string    { return map[string]string{"S": s} }
func numeric(s string) map[string]string { return map[string]string{"N": s} }

// change is a stream record in the making.
type change struct {
	id, name, sequence string
	time               any
	keys, old, new     item
}

func (c change) json(t testing.TB) json.RawMessage {
	t.Helper()
	dynamodb := map[string]any{"SequenceNumber": c.sequence, "StreamViewType": "NEW_AND_OLD_IMAGES", "SizeBytes": 1}
	if c.time != nil {
		dynamodb["ApproximateCreationDateTime"] = c.time
	}
	for name, image := range map[string]item{"Keys": c.keys, "OldImage": c.old, "NewImage": c.new} {
		if image != nil {
			dynamodb[name] = image
		}
	}
	raw := must.Get(json.Marshal(map[string]any{
		"eventID": c.id, "eventName": c.name, "eventVersion": "1.1", "eventSource": "aws:dynamodb",
		"awsRegion": "eu-central-1", "dynamodb": dynamodb,
	}))(t)
	return raw
}

// day is 2026-11-20T00:00:00Z in Unix seconds.
const day = 1795132800

// insert is the record of a new task.
func insert(id, sequence, task string, attributes item) change {
	image := item{"PK": text("TASK#u"), "SK": text("TASK#" + task), "title": text("a"), "status": text("pending"),
		"created_at": numeric("1795132800"), "version": numeric("1")}
	maps.Copy(image, attributes)
	return change{id: id, name: "INSERT", sequence: sequence, time: day,
		keys: item{"PK": image["PK"], "SK": image["SK"]}, new: image}
}

func batchOf(t testing.TB, changes ...change) trigger.Records {
	t.Helper()
	var b trigger.Records
	for _, c := range changes {
		b.Records = append(b.Records, c.json(t))
	}
	return b
}

// decoded returns the rows of an object as a reader finds them that knows nothing of this package: values by the names
// of their columns, moments in milliseconds and days since 1970. nil is null.
func decoded(t rapid.TB, key string, content []byte) (rows []map[string]any) {
	t.Helper()
	read, err := parquet.Read[any](bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	for _, row := range read {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// rowsOf reads all rows of an entity, object after object in the order of their
// keys.
func rowsOf(t rapid.TB, m *memory, entity string) (all []map[string]any) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keysOf(m) {
		if strings.HasPrefix(key, entityPrefix(entity)) {
			all = append(all, decoded(t, key, m.objects[key])...)
		}
	}
	return all
}

func writerTo(t testing.TB, m *memory) *Writer {
	t.Helper()
	w := NewWriter(definition(t), m.Put, m)
	w.Log = slog.New(slog.DiscardHandler)
	return w
}

func compactorOf(t testing.TB, m *memory) *Compactor {
	t.Helper()
	c := NewCompactor(definition(t), m)
	c.Log = slog.New(slog.DiscardHandler)
	return c
}

func keysOf(m *memory) []string { return slices.Sorted(maps.Keys(m.objects)) }

func TestWriter(t *testing.T) {
	t.Parallel()
	m := newMemory()
	w := writerTo(t, m)
	removed := insert("e3", "300", "1", item{"status": text("completed"), "completed_at": numeric("1795132900"),
		"due_date": text("2026-11-30"), "description": text("ü 漢 😀 \x00")})
	removed.name, removed.old, removed.new, removed.time = "REMOVE", removed.new, nil, json.Number("1795219200.25")
	user := change{id: "e4", name: "INSERT", sequence: "400", time: day,
		keys: item{"PK": text("USER#u"), "SK": text("METADATA")},
		new: item{"PK": text("USER#u"), "SK": text("METADATA"), "name": text("Ada"), "email": text("ada@example.com"),
			"created_at": numeric("1795132800"), "updated_at": numeric("1795132800.5")}}
	counts := change{id: "e5", name: "MODIFY", sequence: "500", time: day,
		keys: item{"PK": text("COUNTS#u"), "SK": text("METADATA")}, new: item{"pending": numeric("1")}}
	poison := insert("e6", "250", "2", item{"due_date": text("soon")})
	// Out of order, and one twice.
	batch := batchOf(t, user, removed, insert("e1", "100", "1", nil), counts, poison, removed)
	var reported bytes.Buffer
	w.Metrics = &kit.Metrics{Writer: &reported}
	w.Clock = func() time.Time { return time.Unix(1795132800, 0).Add(time.Minute) }
	must.OK(t, w.Handle(t.Context(), batch))
	m.before = func(string, string) error { return errors.New("no answer") }
	if err := w.Handle(t.Context(), batch); err == nil {
		t.Error("a batch that could not be written is no error")
	}
	m.before = nil
	metricstest.Complete(t, reported.String(), schema.MetricsOf("writer", schema.LakeMetrics()))
	wantSums := map[string]float64{"LakeRows": 3, "LakeFailures": 1, "LakeWriteFailures": 1, "LakeDelay": 60000}
	if got := metricstest.Sums(t, reported.String()); !maps.Equal(got, wantSums) {
		t.Errorf("metrics: got %v, want %v", got, wantSums)
	}
	keys := keysOf(m)
	if len(keys) != 3 {
		t.Fatalf("objects: %v", keys)
	}
	for i, want := range []string{"events/entity=task/event_date=2026-11-20/",
		"events/entity=task/event_date=2026-11-21/", "events/entity=user/event_date=2026-11-20/"} {
		suffix, ok := strings.CutPrefix(keys[i], want)
		if !ok || !strings.HasPrefix(suffix, strings.Repeat("0", 37)+"100-"+strings.Repeat("0", 37)+"400-") {
			t.Errorf("object %d is %s; want it below %s, named after 100 to 400", i, keys[i], want)
		}
		if _, ok := parseKey(keys[i]); !ok {
			t.Errorf("the compactor does not know %s", keys[i])
		}
	}
	tasks := rowsOf(t, m, "task")
	if len(tasks) != 2 {
		t.Fatalf("rows: %+v", tasks)
	}
	for i, want := range []map[string]any{
		{"event_id": "e1", "event_name": "INSERT", "event_time": int64(day * 1000), "user_id": "u", "task_id": "1",
			"description": nil, "due_date": nil, "completed_at": nil, "version": int64(1),
			"created_at": int64(day * 1000)},
		{"event_id": "e3", "event_name": "REMOVE", "event_time": int64(1795219200250), "status": "completed",
			"due_date": int32(20787), "completed_at": int64(1795132900000), "description": "ü 漢 😀 \x00"},
	} {
		for column, value := range want {
			if got := tasks[i][column]; got != value {
				t.Errorf("row %d: %s is %v, want %v", i, column, got, value)
			}
		}
	}
	users := rowsOf(t, m, "user")
	if len(users) != 1 || users[0]["updated_at"] != int64(1795132800500) || users[0]["user_id"] != "u" {
		t.Errorf("users: %+v", users)
	}
	for key, content := range m.objects {
		if bytes.Contains(content, []byte("Ada")) || bytes.Contains(content, []byte("ada@")) {
			t.Errorf("%s holds a name or an address", key)
		}
	}
	if len(m.failures) != 1 {
		t.Fatalf("failures: %+v", m.failures)
	}
	f := m.failures[0]
	if f.EventID != "e6" || f.EventName != "INSERT" || f.Entity != "task" || f.SequenceNumber != "250" ||
		f.Omitted != "" ||
		!strings.Contains(f.Cause, `column due_date`) || !strings.Contains(f.Cause, `"soon"`) ||
		!strings.Contains(f.Cause, "YYYY-MM-DD") {
		t.Errorf("failure: %+v", f)
	}
	if !bytes.Equal(f.Record, batch.Records[4]) {
		t.Errorf("the failure's record is %s", f.Record)
	}
}

// The columns are in the order of the definition, and have its types.
func TestColumns(t *testing.T) {
	t.Parallel()
	const want = `message user {
	required binary event_id (STRING);
	required binary event_name (STRING);
	required int64 event_time (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));
	required binary sequence_number (STRING);
	optional binary user_id (STRING);
	optional int64 created_at (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));
	optional int64 updated_at (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));
}`
	task, user := newTable(definition(t).Entities[0]), newTable(definition(t).Entities[1])
	if diff := cmp.Diff(want, user.schema.String()); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	for _, column := range []string{"optional int32 due_date (DATE);", "optional int64 version (INT(64,true));"} {
		if got := task.schema.String(); !strings.Contains(got, column) {
			t.Errorf("got %s, want the column %s", got, column)
		}
	}
}

// A batch that is delivered again, in any order and to any process,
// writes the same bytes under the same names; another batch of the same range does
// not take its place.
func TestWriterRepeats(t *testing.T) {
	t.Parallel()
	changes := []change{}
	for i := range 300 {
		changes = append(changes, insert(fmt.Sprintf("e%d", i), fmt.Sprint(1000+i), fmt.Sprint(i%7),
			item{"title": text(strings.Repeat("x", i))}))
	}
	first, second := newMemory(), newMemory()
	must.OK(t, writerTo(t, first).Handle(t.Context(), batchOf(t, changes...)))
	slices.Reverse(changes)
	must.OK(t, writerTo(t, second).Handle(t.Context(), batchOf(t, append(changes, changes[3])...)))
	if !maps.EqualFunc(first.objects, second.objects, bytes.Equal) {
		t.Errorf("%v and %v differ", keysOf(first), keysOf(second))
	}
	for i := range changes {
		changes[i].id = "other shard " + changes[i].id
	}
	must.OK(t, writerTo(t, second).Handle(t.Context(), batchOf(t, changes...)))
	if len(second.objects) != 2 {
		t.Errorf("another shard's batch with the same sequence numbers: %v", keysOf(second))
	}
}

func TestWriterFails(t *testing.T) {
	t.Parallel()
	refused := errors.New("SlowDown")
	for _, operation := range []string{"Put", "Send"} {
		m := newMemory()
		m.before = func(o, _ string) error {
			if o == operation {
				return refused
			}
			return nil
		}
		err := writerTo(t, m).Handle(t.Context(),
			batchOf(t, insert("e1", "1", "1", nil), insert("e2", "2", "2", item{"version": numeric("1.5")})))
		if !errors.Is(err, refused) {
			t.Errorf("%s: got %v", operation, err)
		}
		if operation == "Put" && len(m.failures) > 0 {
			t.Error("a message was sent before the objects were written")
		}
	}
}

// A batch without the time to be written is not begun; one without anything to
// write needs none.
func TestWriterDeadline(t *testing.T) {
	t.Parallel()
	m := newMemory()
	ctx, cancel := context.WithTimeout(t.Context(), writeTime)
	defer cancel()
	w := writerTo(t, m)
	if err := w.Handle(ctx, batchOf(t, insert("e1", "1", "1", nil))); !errors.Is(err, ErrDeadline) ||
		len(m.objects) > 0 {
		t.Errorf("got %v with %v", err, keysOf(m))
	}
	if err := w.Handle(ctx, batchOf(t, change{id: "e", name: "INSERT", sequence: "1", time: day,
		keys: item{"PK": text("EMAIL#a"), "SK": text("METADATA")}})); err != nil {
		t.Errorf("a batch of nothing: %v", err)
	}
}

// Every record of a batch of poison is in the queue.
func TestPoisonedBatch(t *testing.T) {
	t.Parallel()
	m := newMemory()
	var changes []change
	for i := range 1000 {
		changes = append(changes, insert(fmt.Sprintf("e%d", i), fmt.Sprint(i), "1", item{"version": text("x")}))
	}
	must.OK(t, writerTo(t, m).Handle(t.Context(), batchOf(t, changes...)))
	seen := map[string]bool{}
	for _, f := range m.failures {
		seen[f.EventID] = true
	}
	if len(seen) != len(changes) || len(m.failures) != len(changes) || len(m.objects) > 0 {
		t.Errorf("%d failures in %d messages, and %v", len(seen), len(m.failures), keysOf(m))
	}
	// By hand, a record that still does not convert fails, and the queue gets no second message.
	again := trigger.Records{Records: []json.RawMessage{m.failures[0].Record}, Again: true}
	if err := writerTo(t, m).Handle(t.Context(), again); err == nil ||
		!strings.Contains(err.Error(), "column version") || len(m.failures) != len(changes) {
		t.Errorf("again: got %v, and %d messages", err, len(m.failures))
	}
	again = batchOf(t, insert("e1", "1", "1", nil))
	again.Again = true
	if err := writerTo(t, m).Handle(t.Context(), again); err != nil || len(m.objects) != 1 {
		t.Errorf("again: got %v, and %v", err, keysOf(m))
	}
}
