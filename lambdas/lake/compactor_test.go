package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// write writes each change as a batch of its own.
func write(t testing.TB, m *memory, changes ...change) {
	t.Helper()
	w := writerTo(t, m)
	for _, c := range changes {
		must.OK(t, w.Handle(t.Context(), batchOf(t, c)))
	}
}

func ids(rows []map[string]any) (all []string) {
	for _, r := range rows {
		all = append(all, r["event_id"].(string))
	}
	return all
}

// More objects than are merged at once become one, in order.
func TestCompactMany(t *testing.T) {
	t.Parallel()
	m := newMemory()
	var changes []change
	var want []string
	for i := range maxInputs + 3 {
		changes = append(changes, insert(fmt.Sprintf("e%04d", i), fmt.Sprint(i), "1",
			item{"title": text(strings.Repeat("x", i%50))}))
		want = append(want, changes[i].id)
	}
	tomorrow := insert("tomorrow", "9000", "1", nil)
	tomorrow.time = day + 24*60*60
	write(t, m, append(changes, tomorrow)...)
	c := compactorOf(t, m)
	var out bytes.Buffer
	c.Metrics = &kit.Metrics{Namespace: "Onesynth/lake", Writer: &out}
	c.Log = slog.New(slog.NewTextHandler(&out, nil))
	report := must.Get(c.Run(t.Context()))(t)
	if report.Partitions != 1 || report.ObjectsBefore != len(changes) || report.ObjectsAfter != 1 ||
		report.Duplicates != 0 {
		t.Errorf("report: %+v", report)
	}
	if !strings.Contains(out.String(), `"LakeObjectsMerged":203`) ||
		!strings.Contains(out.String(), "objects_after=1") {
		t.Errorf("metrics and log: %s", &out)
	}
	out.Reset()
	must.Get(c.Run(t.Context()))(t)
	if got := metricstest.Sums(t, out.String()); len(got) > 0 {
		t.Errorf("a run with nothing to merge reported %v", got)
	}
	if len(m.objects) != 2 {
		t.Errorf("objects: %v", keysOf(m))
	}
	rows := rowsOf(t, m, "task")
	if !slices.Equal(ids(rows), append(want, "tomorrow")) {
		t.Errorf("rows: %v", ids(rows))
	}
	before := maps.Clone(m.objects)
	if again := must.Get(c.Run(t.Context()))(t); again != (Report{}) ||
		!maps.EqualFunc(before, m.objects, bytes.Equal) {
		t.Errorf("a second run: %+v", again)
	}
}

// The same objects are merged to the same bytes under the same name.
func TestCompactRepeats(t *testing.T) {
	t.Parallel()
	first := newMemory()
	for i := range 20 {
		write(t, first, insert(fmt.Sprintf("e%d", i), fmt.Sprint(i/2), "1", nil))
	}
	second := newMemory()
	maps.Copy(second.objects, first.objects)
	must.Get(compactorOf(t, first).Run(t.Context()))(t)
	must.Get(compactorOf(t, second).Run(t.Context()))(t)
	if len(first.objects) != 1 || !maps.EqualFunc(first.objects, second.objects, bytes.Equal) {
		t.Errorf("%v and %v differ", keysOf(first), keysOf(second))
	}
}

// Long objects are neither merged nor deleted; what they have already is dropped
// when it comes again.
func TestCompactFull(t *testing.T) {
	t.Parallel()
	m := newMemory()
	var changes []change
	for i := range 100 {
		changes = append(changes, insert(fmt.Sprintf("e%03d", i), fmt.Sprint(i), "1",
			item{"title": text(strings.Repeat(fmt.Sprint(i), 50))}))
	}
	write(t, m, changes...)
	c := compactorOf(t, m)
	c.target = 5000
	c.tables["task"].rowGroup = 2000
	report := must.Get(c.Run(t.Context()))(t)
	if report.ObjectsAfter < 3 || report.Rows != 100 {
		t.Fatalf("report: %+v", report)
	}
	// An object of one row is a footer for the most part.
	one, footer := newMemory(), 0
	write(t, one, changes[0])
	for _, content := range one.objects {
		footer = len(content)
	}
	short := 0
	full := map[string][]byte{}
	for key, content := range m.objects {
		if int64(len(content)) < c.target {
			short++
		} else {
			full[key] = content
		}
		// The target has three row groups of 2,000 bytes, and the footer describes the columns of each.
		if len(content) > int(c.target)+3*footer {
			t.Errorf("%s has %d bytes", key, len(content))
		}
	}
	if short > 1 {
		t.Errorf("%d objects are short", short)
	}
	// The stream gives some again, cut in another way, and a new one.
	must.OK(t, writerTo(t, m).Handle(t.Context(), batchOf(t, changes[3:60]...)))
	write(t, m, changes[70], insert("new", "55", "1", nil))
	var reported bytes.Buffer
	c.Metrics = &kit.Metrics{Namespace: "Onesynth/lake", Writer: &reported}
	m.before = func(string, string) error { return errors.New("no answer") }
	if _, err := c.Run(t.Context()); err == nil {
		t.Error("a run that could read nothing is no error")
	}
	m.before = nil
	report = must.Get(c.Run(t.Context()))(t)
	metricstest.Complete(t, reported.String(), schema.MetricsOf("compactor", schema.LakeMetrics()))
	if report.Duplicates != 57+1 || report.Rows != 1 {
		t.Errorf("report: %+v", report)
	}
	for key, content := range full {
		if !bytes.Equal(m.objects[key], content) {
			t.Errorf("%s, which is long, has been touched", key)
		}
	}
	seen := map[string]int{}
	for _, r := range rowsOf(t, m, "task") {
		seen[r["event_id"].(string)]++
	}
	if len(seen) != 101 {
		t.Errorf("%d changes", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
}

// A process that was late, or crashed while it deleted, leaves one object of what
// is merged already: its generation tells.
func TestCompactLeftover(t *testing.T) {
	t.Parallel()
	m := newMemory()
	write(t, m, insert("e1", "1", "1", nil), insert("e2", "2", "1", nil))
	c := compactorOf(t, m)
	must.Get(c.Run(t.Context()))(t)
	old := maps.Clone(m.objects)
	for _, content := range old {
		c.target = int64(len(content)) + 1
	}
	write(t, m, insert("e3", "3", "1", item{"title": text(strings.Repeat("abc", 100)), "description": text("longer")}))
	must.Get(c.Run(t.Context()))(t)
	if len(m.objects) != 1 {
		t.Fatalf("objects: %v", keysOf(m))
	}
	maps.Copy(m.objects, old)
	report := must.Get(c.Run(t.Context()))(t)
	if len(m.objects) != 1 || report.ObjectsAfter != 1 {
		t.Errorf("objects: %v, report: %+v", keysOf(m), report)
	}
	if got := ids(rowsOf(t, m, "task")); !slices.Equal(got, []string{"e1", "e2", "e3"}) {
		t.Errorf("rows: %v", got)
	}
}

// An object that is not the lake's, or cannot be read, stays as it is and does not stop the merge
// of others.
func TestCompactLeavesAlone(t *testing.T) {
	t.Parallel()
	m := newMemory()
	write(t, m, insert("e1", "1", "1", nil), insert("e2", "2", "1", nil), insert("e3", "3", "1", nil),
		insert("e4", "4", "1", nil))
	folder := partition{"task", "2026-11-20"}
	keys := keysOf(m)
	good := m.objects[keys[0]]
	number := func(n int) string { return fmt.Sprintf("%040d", n) }
	table := newTable(definition(t).Entities[0])

	// Rows that are not in order, a table with a column that is not known, one
	// without sequence numbers as they should be, and one of another type.
	r1, _, _ := (&converter{definition(t), tablesOf(definition(t))}).convert(insert("x1", "1", "1", nil).json(t))
	r2, _, _ := (&converter{definition(t), tablesOf(definition(t))}).convert(insert("x2", "2", "1", nil).json(t))
	unordered := must.Get(table.encode([]*row{r2, r1}))(t)
	foreign := func(change func(*schema.LakeDefinition), attribute string, value any) []byte {
		d := definition(t)
		d.Entities[0].Columns = slices.Clone(d.Entities[0].Columns)
		change(&d)
		r, _, failure := (&converter{d, tablesOf(d)}).convert(insert("x3", "1", "1", item{attribute: value}).json(t))
		if failure != nil {
			t.Fatal(failure.Cause)
		}
		return must.Get(newTable(d.Entities[0]).encode([]*row{r}))(t)
	}
	more := foreign(func(d *schema.LakeDefinition) {
		d.Entities[0].Columns = append(d.Entities[0].Columns,
			schema.Column{Name: "colour", Type: schema.ColumnText, From: schema.String})
	}, "colour", text("red"))
	other := foreign(func(d *schema.LakeDefinition) {
		d.Entities[0].Columns[2] = schema.Column{Name: "title", Type: schema.ColumnInteger, From: schema.Number}
	}, "title", numeric("3"))
	r1.values[table.sequence] = r1.values[table.eventID].Level(0, 0, table.sequence)
	unpadded := must.Get(table.encode([]*row{r1}))(t)
	damaged := bytes.Clone(good)
	for i := 4; i < len(damaged)/2; i++ {
		damaged[i] ^= 0x5a
	}
	bad := map[string][]byte{}
	for i, content := range [][]byte{[]byte("garbage"), {}, good[:len(good)-9], damaged, unordered, more, other,
		unpadded} {
		bad[folder.key(writtenName(number(i), number(i), []string{"bad", fmt.Sprint(i)}))] = content
	}
	ours := map[string][]byte{}
	for _, key := range []string{
		"events/entity=task/event_date=2026-11-20/notes.parquet",
		"events/entity=task/event_date=2026-11-20/" + number(1) + "-" + number(2) + ".parquet",
		"events/entity=task/event_date=2026-11-20/c-" + number(1) + "-" + number(2) + "-" + strings.Repeat("a", 20) +
			".parquet",
		"events/entity=task/event_date=2026-11-20/" + number(2) + "-" + number(1) + "-" + strings.Repeat("a", 20) +
			".parquet",
		"events/entity=task/x/" + strings.TrimPrefix(keys[0], "events/"),
		"events/entity=tasks/event_date=2026-11-20/" + keys[0][strings.LastIndex(keys[0], "/")+1:],
		"results/1.csv",
	} {
		ours[key] = good
	}
	maps.Copy(m.objects, bad)
	maps.Copy(m.objects, ours)

	report, err := compactorOf(t, m).Run(t.Context())
	if _, ok := errors.AsType[*unreadableError](err); !ok || report.Unreadable != len(bad) || report.Partitions != 1 {
		t.Errorf("report: %+v, %v", report, err)
	}
	for key := range bad {
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("the error does not name %s: %v", key, err)
		}
	}
	for key, content := range bad {
		if got, ok := m.objects[key]; !ok || !bytes.Equal(got, content) {
			t.Errorf("%s has been touched", key)
		}
		delete(m.objects, key)
	}
	for key, content := range ours {
		if !bytes.Equal(m.objects[key], content) {
			t.Errorf("%s has been touched", key)
		}
		delete(m.objects, key)
	}
	if got := ids(rowsOf(t, m, "task")); len(m.objects) != 1 ||
		!slices.Equal(got, []string{"e1", "e2", "e3", "e4"}) {
		t.Errorf("%v in %v", got, keysOf(m))
	}
}

// Objects from before a column was added are merged with those after it.
func TestCompactOlderObjects(t *testing.T) {
	t.Parallel()
	m := newMemory()
	older := definition(t)
	older.Entities[0].Columns = slices.Clone(older.Entities[0].Columns[:4])
	w := NewWriter(older, m.Put, m)
	w.Log = slog.New(slog.DiscardHandler)
	must.OK(t, w.Handle(t.Context(), batchOf(t, insert("e1", "1", "1", nil))))
	write(t, m, insert("e2", "2", "1", nil))
	must.Get(compactorOf(t, m).Run(t.Context()))(t)
	rows := rowsOf(t, m, "task")
	if len(m.objects) != 1 || len(rows) != 2 || rows[0]["status"] != nil || rows[0]["title"] != "a" ||
		rows[1]["status"] != "pending" {
		t.Errorf("rows: %+v", rows)
	}
}

// Values of every length and of all columns survive a merge, page after page.
func TestCompactValues(t *testing.T) {
	t.Parallel()
	m := newMemory()
	var changes []change
	for i := range 1000 {
		attributes := item{
			"title":    text(fmt.Sprintf("title %d %s", i, strings.Repeat("ä", i%300))),
			"version":  numeric(fmt.Sprint(math.MaxInt64 - i)),
			"due_date": text(time.Unix(int64(i)*86400, 0).UTC().Format(time.DateOnly)),
		}
		if i%3 == 0 {
			attributes["category"] = text(fmt.Sprintf("category %d", i%5))
		}
		if i%240 == 0 {
			attributes["description"] = text(strings.Repeat(fmt.Sprintf("%05d", i), 78_000))
		}
		changes = append(changes, insert(fmt.Sprintf("e%05d", i), fmt.Sprint(i), fmt.Sprint(i), attributes))
	}
	// Every fourth in one object: the objects' rows interleave.
	for part := range 4 {
		var batch []change
		for i := part; i < len(changes); i += 4 {
			batch = append(batch, changes[i])
		}
		must.OK(t, writerTo(t, m).Handle(t.Context(), batchOf(t, batch...)))
	}
	before := rowsOf(t, m, "task")
	slices.SortFunc(before, func(a, b map[string]any) int {
		return strings.Compare(a["event_id"].(string), b["event_id"].(string))
	})
	c := compactorOf(t, m)
	c.tables["task"].rowGroup = 200_000
	must.Get(c.Run(t.Context()))(t)
	after := rowsOf(t, m, "task")
	if len(m.objects) != 1 || len(after) != len(before) {
		t.Fatalf("%d rows in %v", len(after), keysOf(m))
	}
	for i := range after {
		if a, b := after[i], before[i]; !maps.Equal(a, b) {
			t.Fatalf("row %d became %+v, was %+v", i, a, b)
		}
	}
}

func TestCompactDeadline(t *testing.T) {
	t.Parallel()
	m := newMemory()
	write(t, m, insert("e1", "1", "1", nil), insert("e2", "2", "1", nil))
	ctx, cancel := context.WithTimeout(t.Context(), mergeTime)
	defer cancel()
	report, err := compactorOf(t, m).Run(ctx)
	if err != nil || !report.Unfinished || len(m.objects) != 2 {
		t.Errorf("report: %+v, %v", report, err)
	}

	// It ends in the middle of a merge.
	ctx, cancel = context.WithCancel(t.Context())
	m.before = func(operation, _ string) error {
		if operation == "Put" {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	report, err = compactorOf(t, m).Run(ctx)
	if err != nil || !report.Unfinished || len(m.objects) != 2 {
		t.Errorf("report: %+v, %v", report, err)
	}
	heal(m)
	if report := must.Get(compactorOf(t, m).Run(t.Context()))(t); report.Unfinished || len(m.objects) != 1 {
		t.Errorf("report: %+v", report)
	}
}

// A bucket that fails for one partition does not stop the others.
func TestCompactFails(t *testing.T) {
	t.Parallel()
	m := newMemory()
	today, tomorrow := insert("e1", "1", "1", nil), insert("e2", "2", "1", nil)
	tomorrow.time = day + 24*60*60
	write(t, m, today, tomorrow)
	today.id, tomorrow.id = "e3", "e4"
	write(t, m, today, tomorrow)
	m.before = func(operation, key string) error {
		if operation == "Get" && strings.Contains(key, "2026-11-20") {
			return errFault
		}
		return nil
	}
	report, err := compactorOf(t, m).Run(t.Context())
	if !errors.Is(err, errFault) || report.Partitions != 1 || report.Unreadable != 0 || len(m.objects) != 3 {
		t.Errorf("report: %+v, %v, %v", report, err, keysOf(m))
	}
	m.before = func(operation, _ string) error {
		if operation == "List" {
			return errFault
		}
		return nil
	}
	if _, err := compactorOf(t, m).Run(t.Context()); !errors.Is(err, errFault) {
		t.Errorf("got %v", err)
	}
}
