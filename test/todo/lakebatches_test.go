package todo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/onesynthtest/laketest"
)

// When a stream is cut into any batches, and these come in any order, once or
// several times, while the compactor runs, and S3 is away and then refuses this and
// loses that: the lake has each change once, and each task as its last change left it.
func TestLakeTakesBatchesInAnyOrder(t *testing.T) {
	t.Parallel()
	l := lakeOf(t, ownRun(t, local.Options{}))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s := newStream(seed, 3)
	const changes = 800
	for range changes {
		s.happen()
	}

	fault := func(faults awsapi.Faults) {
		faults.Seed = seed
		if err := l.Run.AWS().SetFaults(faults); err != nil {
			t.Error(err)
		}
	}
	fault(awsapi.Faults{Throttle: 1})
	schedule := l.Schedule(t, "")
	var delivered atomic.Int32
	if err := onesynthtest.Together(len(s.shards)+1, func(i int) error {
		if i < len(s.shards) {
			defer delivered.Add(1)
			return s.deliver(t.Context(), l, i)
		}
		for int(s.failures.Load()) < len(s.shards) {
			if int(delivered.Load()) == len(s.shards) {
				return errors.New("no batch failed while S3 was away")
			}
			time.Sleep(10 * time.Millisecond)
		}
		fault(awsapi.Faults{Throttle: 0.2, DropResponse: 0.1})
		for range 5 {
			_ = l.Run.RunSchedule(t.Context(), schedule) // The next run mends a failure.
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	fault(awsapi.Faults{})
	s.compare(t, l)

	// Long after, the mapping is deleted and created: all records come again, the shard
	// that was first now last, and cut in another way.
	for _, i := range []int{2, 0, 1} {
		for batch := range slices.Chunk(s.shards[i], 61) {
			if err := s.write(t.Context(), l, batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	from := l.copied(t)
	if rows, events := count(t, from, "SELECT count(*) AS n FROM task_changes"), count(t, from, "SELECT count(*) AS n FROM task_events"); rows <= events {
		t.Errorf("%d rows of %d events: the test wants some of them twice", rows, events)
	}
	s.compare(t, l)
	before := len(l.objects(t))
	l.compact(t)
	s.compare(t, l)
	onceInFiles(t, l.copied(t))
	after := l.objects(t)
	if len(after) != len(s.days) {
		t.Errorf("after the last compaction there are %v; want one object for each of the %d days", after, len(s.days))
	}
	t.Logf("%d changes in %d batches, %d failures; %d objects, %d after the last compaction", changes, s.batches.Load(), s.failures.Load(), before, len(after))

	// The same batch again is the same objects again, and what is merged already is
	// merged away again.
	batch := s.shards[0][:20]
	for range 2 {
		if err := s.write(t.Context(), l, batch); err != nil {
			t.Fatal(err)
		}
		if now := l.objects(t); len(now) > 2*len(s.days) {
			t.Errorf("a batch that came again made %v of %v", now, after)
		}
	}
	l.compact(t)
	s.compare(t, l)
	onceInFiles(t, l.copied(t))
}

// The longest event that Lambda gives a function at once is written in time.
func TestLakeTakesTheLongestBatch(t *testing.T) {
	t.Parallel()
	l := lakeOf(t, ownRun(t, local.Options{}))
	s := newStream(1, 1)
	const most = 6 << 20 // "Lambda quotas": invocation payload
	size := 0
	for {
		s.happenTo("task-"+fmt.Sprint(len(s.events)), "INSERT", strings.Repeat("ü", 1000))
		records := s.shards[0]
		if size += len(records[len(records)-1]) + 1; size > most-5000 {
			break
		}
	}
	begun := time.Now()
	if err := s.write(t.Context(), l, s.shards[0]); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records of %d bytes took %v", len(s.shards[0]), size, time.Since(begun).Round(time.Millisecond))
	s.compare(t, l)
}

// stream is a stream of changes that never were in a table, as Lambda delivers it.
type stream struct {
	seed   uint64
	random *rand.Rand
	shards [][]json.RawMessage
	// last is the last sequence number of each shard. Shards count for themselves.
	last []*big.Int
	at   time.Time
	// The lake must make this of it.
	tasks   map[string]storedTask
	events  map[string][]string // by task
	refused map[string]string   // attribute, by event
	days    map[string]bool
	made    int
	// Batches that the writer has been given, and those that failed.
	batches, failures atomic.Int32
}

func newStream(seed uint64, shards int) *stream {
	long, _ := new(big.Int).SetString("9999999999999999999999999990", 10)
	return &stream{
		seed: seed, random: rand.New(rand.NewPCG(seed, 0)), shards: make([][]json.RawMessage, shards),
		// From these on, numbers gain a digit. Two shards have the same.
		last:  []*big.Int{big.NewInt(95), long, big.NewInt(95)}[:shards],
		at:    time.Date(2026, 2, 27, 23, 58, 0, 0, time.UTC),
		tasks: map[string]storedTask{}, events: map[string][]string{}, refused: map[string]string{}, days: map[string]bool{},
	}
}

// happen makes a random change.
func (s *stream) happen() {
	s.at = s.at.Add(time.Duration(s.random.IntN(2)) * time.Second)
	id := fmt.Sprint("task-", s.random.IntN(40))
	name := pick(s.random, "MODIFY", "MODIFY", "MODIFY", "REMOVE")
	if _, exists := s.tasks["ann "+id]; !exists {
		name = "INSERT"
	}
	switch roll := s.random.IntN(20); {
	case roll == 0:
		s.noise()
	case roll == 1 && name != "REMOVE":
		s.poison(id, name)
	default:
		s.happenTo(id, name, pick(s.random, "", "short", "ü\n\"x\""))
	}
}

// happenTo makes a change of a task.
func (s *stream) happenTo(id, event, description string) {
	name := "ann " + id
	old := s.tasks[name]
	now := old
	if event != "REMOVE" {
		at := moment(s.at)
		now = storedTask{"ann", task{
			TaskID: id, Title: fmt.Sprint("title ", s.random.IntN(10)), Status: pick(s.random, "pending", "in_progress", "completed"),
			CreatedAt: cmp.Or(old.CreatedAt, at), UpdatedAt: at, Version: old.Version + 1,
		}}
		if description != "" {
			now.Description = &description
		}
		if now.Status == "completed" {
			now.CompletedAt = &at
		}
	}
	s.record(id, event, imageOf(old), imageOf(now), "TASK#ann", "TASK#"+id)
	s.days[s.at.Format(time.DateOnly)] = true
	s.events[name] = append(s.events[name], event+" "+now.String())
	if s.tasks[name] = now; event == "REMOVE" {
		delete(s.tasks, name)
	}
}

// poison makes a change that cannot be a row, and that the task's next change undoes.
func (s *stream) poison(id, name string) {
	old := s.tasks["ann "+id]
	image := imageOf(old)
	if image == nil {
		image = map[string]map[string]string{"title": {"S": "x"}, "status": {"S": "pending"}}
	}
	attribute := pick(s.random, "due_date", "title", "version")
	image[attribute] = map[string]map[string]string{"due_date": {"S": "soon"}, "title": {"N": "5"}, "version": {"N": "1.5"}}[attribute]
	s.refused[s.record(id, name, imageOf(old), image, "TASK#ann", "TASK#"+id)] = attribute
}

// noise makes a change of an item that is none of the lake's.
func (s *stream) noise() {
	prefix := pick(s.random, "COUNTS#", "EMAIL#", "IDEMPOTENCY#")
	s.record("noise", "MODIFY", nil, map[string]map[string]string{"title": {"N": "1"}, "status": {"S": "kept"}}, prefix+"ann", "METADATA")
}

// record appends a record to the item's shard, and returns its event id.
func (s *stream) record(id, name string, old, now map[string]map[string]string, partition, sort string) string {
	s.made++
	shard := 0
	for _, c := range id {
		shard = (shard + int(c)) % len(s.shards)
	}
	s.last[shard].Add(s.last[shard], big.NewInt(1))
	event := fmt.Sprintf("%032x", s.made)
	keys := map[string]map[string]string{"PK": {"S": partition}, "SK": {"S": sort}}
	change := map[string]any{
		"ApproximateCreationDateTime": s.at.Unix(), "Keys": keys, "SequenceNumber": s.last[shard].String(), "SizeBytes": 100, "StreamViewType": "NEW_AND_OLD_IMAGES",
	}
	if old != nil {
		maps.Copy(old, keys)
		change["OldImage"] = old
	}
	if name != "REMOVE" {
		maps.Copy(now, keys)
		change["NewImage"] = now
	}
	text, err := json.Marshal(map[string]any{
		"eventID": event, "eventName": name, "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1", "dynamodb": change,
	})
	if err != nil {
		panic(fmt.Sprintf("a record is always JSON: %v", err))
	}
	s.shards[shard] = append(s.shards[shard], text)
	return event
}

// imageOf is a task as an item without its key; nil if there is none.
func imageOf(task storedTask) map[string]map[string]string {
	if task.TaskID == "" {
		return nil
	}
	image := map[string]map[string]string{
		"title": {"S": task.Title}, "status": {"S": task.Status}, "version": {"N": fmt.Sprint(task.Version)}, "GSI1PK": {"S": "OWNER#ann"},
	}
	if task.Description != nil {
		image["description"] = map[string]string{"S": *task.Description}
	}
	for name, value := range map[string]*string{"created_at": &task.CreatedAt, "updated_at": &task.UpdatedAt, "completed_at": task.CompletedAt} {
		if value != nil {
			at, err := time.Parse(time.RFC3339, *value)
			if err != nil {
				panic(fmt.Sprintf("moment writes a time: %v", err))
			}
			image[name] = map[string]string{"N": fmt.Sprint(at.Unix())}
		}
	}
	return image
}

// deliver gives the writer a shard: most batches once, some again at once or later,
// and some cut in another way.
func (s *stream) deliver(ctx context.Context, l *lake, shard int) error {
	random := rand.New(rand.NewPCG(s.seed, uint64(1+shard)))
	records := s.shards[shard]
	var later [][]json.RawMessage
	for from := 0; from < len(records); {
		to := min(len(records), from+1+random.IntN(60))
		roll := random.IntN(5)
		if from == 0 {
			to, roll = 20, -1 // Of two shards they have the same numbers.
		}
		batches := [][]json.RawMessage{records[from:to]}
		switch roll {
		case 0:
			batches = append(batches, batches[0])
		case 1:
			batches = append(batches, records[max(0, from-random.IntN(40)):from+random.IntN(to-from+1)])
		case 2:
			later = append(later, batches[0])
		}
		if len(later) > 0 && random.IntN(4) == 0 {
			batches, later = append(batches, later[0]), later[1:]
		}
		for _, batch := range batches {
			if err := s.write(ctx, l, batch); err != nil {
				return err
			}
		}
		from = to
	}
	random.Shuffle(len(later), func(i, j int) { later[i], later[j] = later[j], later[i] })
	for _, batch := range later {
		if err := s.write(ctx, l, batch); err != nil {
			return err
		}
	}
	return nil
}

// write gives the writer a batch, and gives it again while it fails.
func (s *stream) write(ctx context.Context, l *lake, batch []json.RawMessage) error {
	payload, err := json.Marshal(map[string]any{"Records": batch})
	if err != nil {
		return err
	}
	for range 10 {
		s.batches.Add(1)
		result, err := l.Run.Invoke(ctx, l.writer, payload)
		if err != nil || result.FunctionError == "" {
			return err
		}
		s.failures.Add(1)
		if !bytes.Contains(result.Payload, []byte("S3")) {
			return fmt.Errorf("the writer failed: %s", result.Payload)
		}
	}
	return errors.New("a batch failed 10 times")
}

// compare compares the lake with what happened.
func (s *stream) compare(t *testing.T, l *lake) {
	t.Helper()
	from := l.copied(t)
	compareTasks(t, "tasks_current", laketest.Query[storedTask](t, from, "SELECT * FROM tasks_current"), slices.Collect(maps.Values(s.tasks)))
	got := map[string][]string{}
	for task, events := range eventsOf(t, from) {
		for _, e := range events {
			got[task] = append(got[task], e.EventName+" "+e.storedTask.String())
		}
	}
	for task, want := range s.events {
		if !slices.Equal(got[task], want) {
			t.Errorf("task_events of %s: got\n%s\nwant\n%s", task, strings.Join(got[task], "\n"), strings.Join(want, "\n"))
		}
		delete(got, task)
	}
	for task := range got {
		t.Errorf("task_events has %s, which never was", task)
	}
	if n := count(t, from, "SELECT count(*) AS n FROM user_changes"); n != 0 {
		t.Errorf("user_changes has %d rows; no user has changed", n)
	}
	failed := l.failed(t)
	for event, attribute := range s.refused {
		if !strings.Contains(failed[event].Cause, "the column "+attribute+" cannot show") {
			t.Errorf("the failure queue has of %s the cause %q; want one about %s", event, failed[event].Cause, attribute)
		}
		delete(failed, event)
	}
	for event, f := range failed {
		t.Errorf("the failure queue has %s, which could be a row: %s", event, f.Cause)
	}
}
