package lake

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/rapidtest"
)

// history is what happened to a table: the stream of its changes by shard, and
// what the lake must make of them.
type history struct {
	t      *rapid.T
	shards [][]change
	// done is how far each shard has been written and its batch acknowledged.
	done []int
	// last is the last sequence number of each shard. Shards count for themselves.
	last []int
	// tasks are the items, for the next change of one.
	tasks map[string]item
	// rows, by event id, are the rows that the lake must contain, of tasks and of users.
	rows   map[string]taskRow
	users  map[string]bool
	poison map[string]string // what the cause must say, by event id
	events int
}

var statuses = []string{"pending", "in_progress", "completed", "cancelled"}

// happen adds a change to the history.
func (h *history) happen() {
	t := h.t
	task := fmt.Sprint(rapid.IntRange(1, 6).Draw(t, "task"))
	shard := int(task[0]) % len(h.shards) // An item's changes are in one shard.
	h.last[shard] += rapid.IntRange(1, 3).Draw(t, "gap")
	h.events++
	at := day + int64(h.events)*rapid.SampledFrom([]int64{0, 5000, 9000}).Draw(t, "seconds")
	c := change{id: fmt.Sprintf("event-%d", h.events), sequence: fmt.Sprint(h.last[shard]), time: at}
	switch kind := rapid.SampledFrom([]string{"task", "task", "task", "remove", "user", "noise", "poison"}).Draw(t,
		"kind"); kind {
	case "noise":
		key := rapid.SampledFrom([]string{"COUNTS#", "EMAIL#", "IDEMPOTENCY#", "OTHER#"}).Draw(t, "key")
		c.name, c.keys = "MODIFY", item{"PK": text(key + "u"), "SK": text("METADATA")}
		c.new = item{"PK": c.keys["PK"], "SK": c.keys["SK"], "claim": text("x")}
	case "user":
		c.name, c.keys = "INSERT", item{"PK": text("USER#u" + task), "SK": text("METADATA")}
		c.new = item{"PK": c.keys["PK"], "SK": c.keys["SK"], "name": text("Ada"), "created_at": numeric(fmt.Sprint(at)),
			"updated_at": numeric(fmt.Sprint(at))}
		h.users[c.id] = true
	default:
		old := h.tasks[task]
		c.keys = item{"PK": text("TASK#u"), "SK": text("TASK#" + task)}
		if kind == "remove" && old != nil {
			c.name, c.old = "REMOVE", old
			delete(h.tasks, task)
			h.rows[c.id] = rowOf(c, old)
			break
		}
		status := rapid.SampledFrom(statuses).Draw(t, "status")
		c.name, c.old = "MODIFY", old
		c.new = item{
			"PK": c.keys["PK"], "SK": c.keys["SK"], "GSI1PK": text("OWNER#u"), "status": text(status),
			"title":      text(rapid.StringN(0, 20, -1).Draw(t, "title")),
			"created_at": numeric(fmt.Sprint(day)), "updated_at": numeric(fmt.Sprint(at)),
			"version": numeric(fmt.Sprint(h.events)),
		}
		if old == nil {
			c.name = "INSERT"
		}
		if rapid.Bool().Draw(t, "category") {
			c.new["category"] = text(rapid.SampledFrom([]string{"home", "a#b", "ü"}).Draw(t, "which"))
		}
		if status == "completed" {
			c.new["completed_at"] = numeric(fmt.Sprint(at))
		}
		if kind == "poison" {
			attribute := rapid.SampledFrom([]string{"due_date", "version", "title"}).Draw(t, "attribute")
			c.new = maps.Clone(c.new)
			c.new[attribute] = map[string]any{"due_date": text("soon"), "version": numeric("1.5"),
				"title": map[string]bool{"BOOL": true}}[attribute]
			h.poison[c.id] = "column " + attribute
			break
		}
		h.tasks[task] = c.new
		h.rows[c.id] = rowOf(c, c.new)
	}
	h.shards[shard] = append(h.shards[shard], c)
}

// rowOf is the row that must come of a change to a task.
func rowOf(c change, image item) taskRow {
	value := func(name, kind string) *string {
		if attribute, ok := image[name].(map[string]string); ok {
			v := attribute[kind]
			return &v
		}
		return nil
	}
	moment := func(name string) *time.Time {
		seconds := value(name, "N")
		if seconds == nil {
			return nil
		}
		var n int64
		fmt.Sscan(*seconds, &n)
		at := time.Unix(n, 0).UTC()
		return &at
	}
	trimmed := func(v *string) *string {
		s := strings.TrimPrefix(*v, "TASK#")
		return &s
	}
	var version int64
	fmt.Sscan(*value("version", "N"), &version)
	return taskRow{
		EventID: c.id, EventName: c.name, EventTime: time.Unix(c.time.(int64), 0).UTC(),
		Sequence: strings.Repeat("0", 40-len(c.sequence)) + c.sequence,
		UserID:   trimmed(value("PK", "S")), TaskID: trimmed(value("SK", "S")), Title: value("title", "S"),
		Status: value("status", "S"), Category: value("category", "S"),
		CreatedAt: moment("created_at"), UpdatedAt: moment("updated_at"), CompletedAt: moment("completed_at"),
		Version: &version,
	}
}

// eventIDs reads which changes an object has.
func eventIDs(t rapid.TB, key string, content []byte) []string {
	t.Helper()
	type changed struct {
		EventID string `parquet:"event_id"`
	}
	rows, err := parquet.Read[changed](bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, r.EventID)
	}
	return all
}

var errFault = errors.New("injected")

// inject makes the n-th operation from now fail, before or after its effect. When
// the process dies of it, so do all after it.
func inject(m *memory, n int, afterwards, dies bool) {
	var mu sync.Mutex
	calls, dead := 0, false
	fault := func(string, string) error {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls == n || dead {
			dead = dead || dies
			return errFault
		}
		return nil
	}
	m.before, m.after = nil, nil
	if afterwards {
		m.after = fault
		m.before = func(string, string) error {
			mu.Lock()
			defer mu.Unlock()
			if dead {
				return errFault
			}
			return nil
		}
	} else {
		m.before = fault
	}
}

func heal(m *memory) { m.before, m.after = nil, nil }

// Under the race detector each history takes a tenth of a second of processor
// time.
func TestMain(m *testing.M) { rapidtest.Main(m.Run, 20) }

// TestHistories: through failures of batches, processes and objects, the lake ends with each change
// once, every record that cannot be converted is in the failure queue, and no change is ever lost.
func TestHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		shards := rapid.IntRange(1, 3).Draw(rt, "shards")
		h := &history{
			t: rt, shards: make([][]change, shards), done: make([]int, shards), last: make([]int, shards),
			tasks: map[string]item{}, rows: map[string]taskRow{}, users: map[string]bool{}, poison: map[string]string{},
		}
		m := newMemory()
		w, c := writerTo(t, m), compactorOf(t, m)
		c.target = rapid.SampledFrom([]int64{1, 2500, 3500, targetBytes}).Draw(rt, "target")
		rowGroup := rapid.SampledFrom([]int64{1, 1000, rowGroupBytes}).Draw(rt, "row group")
		for name, table := range c.tables {
			table.rowGroup = rowGroup
			// Under the race detector, pools forget one compressor of four, and one of Zstd
			// takes a megabyte.
			table.compression, w.converter.tables[name].compression = &parquet.Snappy, &parquet.Snappy
		}
		overlapped := false
		faults := func() {
			if rapid.Bool().Draw(rt, "fault") {
				inject(m, rapid.IntRange(1, 8).Draw(rt, "call"), rapid.Bool().Draw(rt, "after its effect"),
					rapid.Bool().Draw(rt, "dies"))
			}
		}
		deliver := func(shard, from, to int) error {
			var batch []change
			for _, c := range h.shards[shard][from:to] {
				batch = append(batch, c)
				if rapid.IntRange(0, 9).Draw(rt, "twice") == 0 {
					batch = append(batch, c)
				}
			}
			return w.Handle(t.Context(), batchOf(t, batch...))
		}
		held := map[string]bool{}
		read := map[*byte][]string{} // by object, as it was put
		wantAll := func() {
			now := map[string]bool{}
			for key, content := range m.objects {
				if _, ok := read[&content[0]]; !ok {
					read[&content[0]] = eventIDs(rt, key, content)
				}
				for _, id := range read[&content[0]] {
					now[id] = true
				}
			}
			for id := range held {
				if !now[id] {
					rt.Fatalf("%s is lost", id)
				}
			}
			held = now
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { heal(m); wantAll() },
			"happen": func(*rapid.T) {
				for range rapid.IntRange(1, 12).Draw(rt, "changes") {
					h.happen()
				}
			},
			"deliver": func(*rapid.T) {
				shard := rapid.IntRange(0, shards-1).Draw(rt, "shard")
				from := h.done[shard]
				to := rapid.IntRange(from, len(h.shards[shard])).Draw(rt, "to")
				faults()
				err := deliver(shard, from, to)
				if err != nil && !errors.Is(err, errFault) {
					rt.Fatal(err)
				}
				// The acknowledgement may be lost: the next batch begins at the same record,
				// and may end at another.
				if err == nil && rapid.Bool().Draw(rt, "acknowledged") {
					h.done[shard] = to
				}
			},
			"deliver again": func(*rapid.T) {
				shard := rapid.IntRange(0, shards-1).Draw(rt, "shard")
				to := rapid.IntRange(0, h.done[shard]).Draw(rt, "to")
				from := rapid.IntRange(0, to).Draw(rt, "from")
				must.OK(rt, deliver(shard, from, to))
			},
			"compact": func(*rapid.T) {
				faults()
				if _, err := c.Run(t.Context()); err != nil && !errors.Is(err, errFault) {
					rt.Fatal(err)
				}
			},
			"compact meanwhile": func(*rapid.T) {
				// Another compactor, or the writer with an old batch, runs between two
				// operations of this one.
				at, calls := rapid.IntRange(1, 12).Draw(rt, "call"), 0
				writes := rapid.Bool().Draw(rt, "writer")
				shard := rapid.IntRange(0, shards-1).Draw(rt, "shard")
				from := rapid.IntRange(0, h.done[shard]).Draw(rt, "from")
				m.after = func(string, string) error {
					if calls++; calls != at {
						return nil
					}
					heal(m)
					if writes {
						return deliver(shard, from, h.done[shard])
					}
					overlapped = true
					_, err := c.Run(t.Context())
					return err
				}
				if _, err := c.Run(t.Context()); err != nil && !errors.Is(err, ErrNoObject) {
					rt.Fatal(err)
				}
			},
		})

		heal(m)
		for shard := range h.shards {
			must.OK(rt, deliver(shard, h.done[shard], len(h.shards[shard])))
		}
		wantAll()
		report, err := c.Run(t.Context())
		if err != nil || report.Unfinished || report.Unreadable > 0 {
			rt.Fatalf("the last compaction: %+v, %v", report, err)
		}
		wantAll()
		if again, err := c.Run(t.Context()); err != nil || again != (Report{}) {
			rt.Fatalf("a compaction after the last one: %+v, %v", again, err)
		}
		h.check(m, overlapped)
	})
}

// check compares the lake with the history. Compactors that ran at once may have
// left a change in two objects.
func (h *history) check(m *memory, overlapped bool) {
	t := h.t
	got := map[string]taskRow{}
	for _, r := range rowsOf[taskRow](t, m, "task") {
		if before, twice := got[r.EventID]; twice && (!overlapped || cmp.Diff(before, r) != "") {
			t.Errorf("%s is there twice", r.EventID)
		}
		got[r.EventID] = r
	}
	if diff := cmp.Diff(h.rows, got); diff != "" {
		t.Errorf("the lake's tasks (-happened +there):\n%s", diff)
	}
	users := map[string]bool{}
	for _, r := range rowsOf[userRow](t, m, "user") {
		if users[r.EventID] && !overlapped {
			t.Errorf("%s is there twice", r.EventID)
		}
		users[r.EventID] = true
	}
	if diff := cmp.Diff(h.users, users); diff != "" {
		t.Errorf("the lake's users (-happened +there):\n%s", diff)
	}

	// The table itself, from the lake alone; poison did not reach it.
	current := map[string]taskRow{}
	for _, r := range got {
		if before, ok := current[*r.TaskID]; !ok || r.Sequence > before.Sequence {
			current[*r.TaskID] = r
		}
	}
	maps.DeleteFunc(current, func(_ string, r taskRow) bool { return r.EventName == "REMOVE" })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(h.tasks)), slices.Sorted(maps.Keys(current))); diff != "" {
		t.Errorf("the tasks that exist (-table +lake):\n%s", diff)
	}
	for task, image := range h.tasks {
		if r := current[task]; r.Title == nil || *r.Title != image["title"].(map[string]string)["S"] ||
			*r.Status != image["status"].(map[string]string)["S"] {
			t.Errorf("task %s is %v in the table and %+v in the lake", task, image, r)
		}
	}

	causes := map[string]string{}
	for _, f := range failuresOf(t, m) {
		causes[f.EventID] = f.Cause
	}
	for id, want := range h.poison {
		if !strings.Contains(causes[id], want) {
			t.Errorf("the cause of %s is %q; want it to name the %s", id, causes[id], want)
		}
		delete(causes, id)
	}
	for id, cause := range causes {
		t.Errorf("%s is in the failure queue: %s", id, cause)
	}
}
