package lake

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

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
	rows   map[string]map[string]any
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
func rowOf(c change, image item) map[string]any {
	status, _ := c.old["status"].(map[string]string)
	row := map[string]any{
		"event_id": c.id, "event_name": c.name, "event_time": 1000 * c.time.(int64),
		"sequence_number": strings.Repeat("0", 40-len(c.sequence)) + c.sequence, "user_id": "u",
		"task_id": strings.TrimPrefix(image["SK"].(map[string]string)["S"], "TASK#"), "status_before": nil,
	}
	if status != nil {
		row["status_before"] = status["S"]
	}
	for _, name := range []string{"title", "description", "status", "priority", "category", "due_date", "created_at",
		"updated_at", "completed_at", "version"} {
		row[name] = nil
		attribute, _ := image[name].(map[string]string)
		for kind, value := range attribute {
			row[name] = value
			if n, err := strconv.ParseInt(value, 10, 64); kind == "N" && err == nil {
				if row[name] = n; name != "version" {
					row[name] = 1000 * n
				}
			}
		}
	}
	return row
}

var errFault = errors.New("injected")

// inject makes the n-th operation from now fail, before or after its effect. When
// the process dies of it, so do all after it.
func inject(m *memory, n int, afterwards, dies bool) {
	var mu sync.Mutex
	calls, dead := 0, false
	fault := func(counts bool) func(string, string) error {
		return func(string, string) error {
			mu.Lock()
			defer mu.Unlock()
			if counts {
				calls++
			}
			if dead || counts && calls == n {
				dead = dies
				return errFault
			}
			return nil
		}
	}
	m.before, m.after = fault(!afterwards), fault(afterwards)
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
			tasks: map[string]item{}, rows: map[string]map[string]any{}, users: map[string]bool{},
			poison: map[string]string{},
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
					read[&content[0]] = ids(decoded(rt, key, content))
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
	got := map[string]map[string]any{}
	for _, r := range rowsOf(t, m, "task") {
		id := r["event_id"].(string)
		if before, twice := got[id]; twice && (!overlapped || !maps.Equal(before, r)) {
			t.Errorf("%s is there twice", id)
		}
		got[id] = r
	}
	if diff := cmp.Diff(h.rows, got); diff != "" {
		t.Errorf("the lake's tasks (-happened +there):\n%s", diff)
	}
	users := map[string]bool{}
	for _, id := range ids(rowsOf(t, m, "user")) {
		if users[id] && !overlapped {
			t.Errorf("%s is there twice", id)
		}
		users[id] = true
	}
	if diff := cmp.Diff(h.users, users); diff != "" {
		t.Errorf("the lake's users (-happened +there):\n%s", diff)
	}

	// The table itself, from the lake alone; poison did not reach it.
	current := map[string]map[string]any{}
	for _, r := range got {
		task, sequence := r["task_id"].(string), r["sequence_number"].(string)
		if before, ok := current[task]; !ok || sequence > before["sequence_number"].(string) {
			current[task] = r
		}
	}
	maps.DeleteFunc(current, func(_ string, r map[string]any) bool { return r["event_name"] == "REMOVE" })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(h.tasks)), slices.Sorted(maps.Keys(current))); diff != "" {
		t.Errorf("the tasks that exist (-table +lake):\n%s", diff)
	}
	for task, image := range h.tasks {
		if r := current[task]; r["title"] != image["title"].(map[string]string)["S"] ||
			r["status"] != image["status"].(map[string]string)["S"] {
			t.Errorf("task %s is %v in the table and %+v in the lake", task, image, r)
		}
	}

	causes := map[string]string{}
	for _, f := range m.failures {
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
