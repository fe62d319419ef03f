package todo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/lakequery"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/onesynthtest/laketest"
)

// The lake equals the table: after a random history, during which batches come
// again and are cut differently, S3 throttles and loses answers, the writer and the
// compactor are killed in the middle, and records come that cannot be rows.
func TestLakeEqualsTheTable(t *testing.T) {
	t.Parallel()
	l := lakeOf(t, ownRun(t, local.Options{}))
	const people, steps = 5, 60
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	faults := awsapi.Faults{Throttle: 0.03, TransactionConflict: 0.03, DropResponse: 0.02, Redeliver: 0.4, Seed: seed}
	if err := l.Run.AWS().SetFaults(faults); err != nil {
		t.Fatal(err)
	}
	trouble := makeTrouble(t, l)

	keepers := make([]*keeper, people)
	for i := range keepers {
		keepers[i] = newKeeper(t, l.target, rand.New(rand.NewPCG(seed, uint64(i))))
	}
	bad := newPoisoner(l)
	if err := onesynthtest.Together(people+1, func(i int) error {
		if i == people {
			return bad.work(t.Context())
		}
		return keepers[i].work(t.Context(), steps)
	}); err != nil {
		t.Fatal(err)
	}
	// One leaves for good.
	if err := keepers[people-1].leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	enough := func() bool {
		d := l.delivery(t)
		return d.Redelivered > 0 && d.Failures > 0 && trouble.killedWriters.Load() > 0 && trouble.succeededCompactions.Load() > 0
	}
	for range 30 {
		if enough() {
			break
		}
		if err := keepers[0].work(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
	}
	trouble.end()

	if err := l.Run.AWS().SetFaults(awsapi.Faults{}); err != nil {
		t.Fatal(err)
	}
	l.settle(t)
	compareLake(t, l, keepers, bad)
	delivery := l.delivery(t)
	if !enough() {
		t.Errorf("%d batches came again, %d failed, %d writers were killed, %d compactions succeeded: the test wants some of each",
			delivery.Redelivered, delivery.Failures, trouble.killedWriters.Load(), trouble.succeededCompactions.Load())
	}

	before := len(l.objects(t))
	l.compact(t)
	compareLake(t, l, keepers, bad)
	onceInFiles(t, l.copied(t))
	t.Logf("%d changes in %d batches; %d came again, %d failed; killed %d writers and %d compactors; %d compactions, and %d that failed; %d looks in between; %d objects, %d after the last compaction",
		delivery.Done, delivery.Invocations, delivery.Redelivered, delivery.Failures, trouble.killedWriters.Load(), trouble.killedCompactors.Load(),
		trouble.succeededCompactions.Load(), trouble.failedCompactions.Load(), trouble.looks.Load(), before, len(l.objects(t)))
}

// delivery is how far the stream's delivery to the lake is.
func (l *lake) delivery(t testing.TB) (found struct{ Redelivered, Failures, Invocations, Done, Waiting int }) {
	t.Helper()
	for _, d := range l.Run.Streams() {
		if d.Function == l.writer {
			found.Redelivered, found.Failures, found.Invocations, found.Done, found.Waiting = d.Redelivered, d.Failures, d.Invocations, d.Done, d.Waiting
			return found
		}
	}
	t.Fatal("no stream is delivered to the lake")
	return found
}

// landed is how many records the writer is done with.
func (l *lake) landed() int {
	for _, d := range l.Run.Streams() {
		if d.Function == l.writer {
			return d.Done
		}
	}
	return 0
}

// trouble is what happens to the lake's functions while people work.
type trouble struct {
	end                             func()
	killedWriters, killedCompactors atomic.Int32
	// Compactions that ended, well or not.
	succeededCompactions, failedCompactions atomic.Int32
	looks                                   atomic.Int32 // how often a reader checked whether all was still there
}

// makeTrouble delivers in small batches, compacts again and again, and kills one and
// the other while they work. All the while, what is in the lake once has to stay.
func makeTrouble(t *testing.T, l *lake) *trouble {
	ctx, cancel := context.WithCancel(t.Context())
	made := &trouble{}
	schedule := l.Schedule(t, "")
	done := make(chan error, 1)
	made.end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(cancel)
	repeat := func(pause time.Duration, do func()) {
		for ctx.Err() == nil {
			do()
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
	busy := func(function string) bool {
		for _, f := range l.Run.Functions().Functions() {
			if f.Name == function {
				return slices.ContainsFunc(f.Instances, func(i lambda.Instance) bool { return i.Ready && i.Busy })
			}
		}
		return false
	}
	// A batch that failed comes again after a while, and every time after a longer
	// one: some have to succeed in between, and some compactions, however slow the
	// machine is.
	kill := func(function string, pause time.Duration, succeeded func() int, killed *atomic.Int32) func() {
		next, before := time.Now(), -1
		return func() {
			if time.Now().Before(next) || succeeded() <= before || !busy(function) {
				return
			}
			before = succeeded()
			if _, err := l.Run.Kill(function); err == nil {
				killed.Add(1)
			}
			next = time.Now().Add(pause)
		}
	}
	killWriter := kill(l.writer, time.Second, l.landed, &made.killedWriters)
	killCompactor := kill(l.compactor, 2500*time.Millisecond, func() int {
		return int(made.succeededCompactions.Load())
	}, &made.killedCompactors)
	go func() {
		done <- onesynthtest.Together(4, func(i int) error {
			switch i {
			case 0:
				repeat(50*time.Millisecond, func() { _ = l.Run.FlushStreams(ctx) })
			case 1:
				repeat(time.Second, func() {
					// Not with ctx: a compactor works on without a waiting caller.
					if l.Run.RunSchedule(t.Context(), schedule) != nil {
						made.failedCompactions.Add(1)
					} else {
						made.succeededCompactions.Add(1)
					}
				})
			case 2:
				repeat(10*time.Millisecond, func() {
					killWriter()
					killCompactor()
				})
			default:
				var held map[string]bool
				var lost error
				repeat(time.Second, func() {
					now, err := events(t.Context(), l)
					for id := range held {
						if !now[id] && err == nil {
							err = fmt.Errorf("event %s was in the lake, and is not any more", id)
						}
					}
					held, lost = now, errors.Join(lost, err)
					made.looks.Add(1)
				})
				return lost
			}
			return nil
		})
	}()
	return made
}

// events are the ids in task_events; each must be there once.
func events(ctx context.Context, l *lake) (_ map[string]bool, err error) {
	from, err := lakequery.Open(ctx, l.Run.ConsoleURL(), lakequery.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	rows, err := from.Query(ctx, "SELECT event_id FROM task_events")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if ids[id] {
			return nil, fmt.Errorf("task_events has %s twice", id)
		}
		ids[id] = true
	}
	return ids, rows.Err()
}

// keeper is a user at work, who remembers what it did.
type keeper struct {
	caller
	random *rand.Rand
	// tasks are those that exist, versions all that each task ever was.
	tasks    map[string]storedTask
	versions map[string][]storedTask
	// The user's own changes.
	inserts, changes, removals int
}

func newKeeper(t testing.TB, target *target, random *rand.Rand) *keeper {
	t.Helper()
	return &keeper{caller: newCaller(t, target), random: random, tasks: map[string]storedTask{}, versions: map[string][]storedTask{}}
}

// insist makes a request, and makes it again until the platform has an answer.
func (k *keeper) insist(ctx context.Context, method, path string, body any) (onesynthtest.Reply, error) {
	key := withKey(onesynthtest.Unique("key"))
	const patience = 3 * time.Minute
	for begun := time.Now(); ; {
		r, err := k.send(ctx, method, "/api/v1"+path, key, body)
		if err != nil {
			return r, err
		}
		wait, told := r.RetryAfter()
		if r.Status < 500 && !(r.Status == http.StatusConflict && told) {
			return r, nil
		}
		if time.Since(begun) > patience {
			return r, fmt.Errorf("got no answer in %v but %v", patience, r)
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(max(wait, 50*time.Millisecond)):
		}
	}
}

// ask is insist for when the answer has one of the statuses.
func (k *keeper) ask(ctx context.Context, method, path string, body any, statuses ...int) (onesynthtest.Reply, error) {
	r, err := k.insist(ctx, method, path, body)
	if err == nil && !slices.Contains(statuses, r.Status) {
		err = fmt.Errorf("got %v; want %v", r, statuses)
	}
	return r, err
}

// learn takes a task from an answer.
func (k *keeper) learn(r onesynthtest.Reply) error {
	learnt := storedTask{UserID: k.id}
	if err := json.Unmarshal(r.Body, &learnt.task); err != nil {
		return fmt.Errorf("got %v; want a task: %w", r, err)
	}
	known := k.versions[learnt.TaskID]
	switch learnt.Version {
	case len(known):
		if before := known[len(known)-1]; before.String() != learnt.String() {
			return fmt.Errorf("version %d of a task was %v, and is %v", learnt.Version, before, learnt)
		}
	case len(known) + 1:
		k.versions[learnt.TaskID] = append(known, learnt)
	default:
		return fmt.Errorf("version %d was followed by %v", len(known), learnt)
	}
	k.tasks[learnt.TaskID] = learnt
	return nil
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// any is one of the tasks; empty if there is none.
func (k *keeper) any() string {
	if len(k.tasks) == 0 {
		return ""
	}
	return pick(k.random, slices.Sorted(maps.Keys(k.tasks))...)
}

// fields are those of a task, in any combination. Whole ones have a title.
func (k *keeper) fields(whole, completed bool) input {
	all := input{
		"title":       pick(k.random, "Water the plants", "Übergrößenträger 🌵", `a "quoted", title`, "NULL", strings.Repeat("x", 200)),
		"description": pick[any](k.random, "All but the cactus.\nTwice.", "", nil, strings.Repeat("ü", 1000)),
		"status":      pick(k.random, "pending", "in_progress", "cancelled", "completed"),
		"priority":    pick[any](k.random, "low", "medium", "high", "urgent", nil),
		"category":    pick[any](k.random, "home", "a#b%", "ü, \"x\"", nil),
		"due_date":    pick[any](k.random, "2026-02-28", "2024-02-29", "9999-12-31", "1999-12-31", nil),
	}
	for name := range all {
		if name == "title" && whole {
			continue
		}
		if k.random.IntN(2) == 0 || name == "status" && completed {
			delete(all, name)
		}
	}
	return all
}

func (k *keeper) register(ctx context.Context) error {
	k.inserts++
	_, err := k.ask(ctx, http.MethodPost, "/users/me", profile{k.email, "Ann"}, http.StatusCreated)
	return err
}

func (k *keeper) leave(ctx context.Context) error {
	k.removals++
	clear(k.tasks)
	_, err := k.ask(ctx, http.MethodDelete, "/users/me", nil, http.StatusNoContent, http.StatusAccepted)
	return err
}

// work does so many random things.
func (k *keeper) work(ctx context.Context, steps int) error {
	if k.inserts == 0 {
		if err := k.register(ctx); err != nil {
			return err
		}
	}
	for step := range steps {
		if err := k.step(ctx); err != nil {
			return fmt.Errorf("step %d of %s: %w", step, k.id, err)
		}
	}
	return nil
}

func (k *keeper) step(ctx context.Context) error {
	id := k.any()
	roll := k.random.IntN(100)
	if id == "" && roll < 90 {
		roll = 0
	}
	completed := id != "" && k.tasks[id].Status == "completed"
	switch {
	case roll < 35:
		r, err := k.ask(ctx, http.MethodPost, "/tasks", k.fields(true, false), http.StatusCreated)
		if err != nil {
			return err
		}
		return k.learn(r)
	case roll < 60:
		r, err := k.ask(ctx, http.MethodPatch, "/tasks/"+id, k.fields(false, completed), http.StatusOK)
		if err != nil {
			return err
		}
		return k.learn(r)
	case roll < 70:
		r, err := k.ask(ctx, http.MethodPut, "/tasks/"+id, k.fields(true, completed), http.StatusOK)
		if err != nil {
			return err
		}
		return k.learn(r)
	case roll < 78:
		delete(k.tasks, id)
		_, err := k.ask(ctx, http.MethodDelete, "/tasks/"+id, nil, http.StatusNoContent)
		return err
	case roll < 87:
		return k.setStatuses(ctx)
	case roll < 90:
		return k.deleteCompleted(ctx)
	case roll < 96:
		k.changes++
		_, err := k.ask(ctx, http.MethodPut, "/users/me", profile{k.email, fmt.Sprint("Ann ", k.changes)}, http.StatusOK)
		return err
	case roll < 98:
		if err := k.leave(ctx); err != nil {
			return err
		}
		return k.register(ctx)
	default:
		_, err := k.ask(ctx, http.MethodGet, "/tasks", nil, http.StatusOK)
		return err
	}
}

func (k *keeper) setStatuses(ctx context.Context) error {
	var ids []string
	for id := range k.tasks {
		if len(ids) < 8 {
			ids = append(ids, id)
		}
	}
	if _, err := k.ask(ctx, http.MethodPost, "/tasks/bulk", map[string]any{
		"action": "set_status", "task_ids": ids, "status": pick(k.random, "pending", "in_progress", "completed"),
	}, http.StatusOK); err != nil {
		return err
	}
	for _, id := range ids {
		r, err := k.ask(ctx, http.MethodGet, "/tasks/"+id, nil, http.StatusOK)
		if err != nil {
			return err
		}
		if err := k.learn(r); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) deleteCompleted(ctx context.Context) error {
	want := 0
	for id, task := range k.tasks {
		if task.Status == "completed" {
			want++
			delete(k.tasks, id)
		}
	}
	got := 0
	for more := true; more; {
		r, err := k.ask(ctx, http.MethodPost, "/tasks/bulk", map[string]any{"action": "delete_completed"}, http.StatusOK)
		if err != nil {
			return err
		}
		var done completedDeleted
		if err := json.Unmarshal(r.Body, &done); err != nil {
			return fmt.Errorf("got %v: %w", r, err)
		}
		got, more = got+done.Deleted, done.More
	}
	if got != want {
		return fmt.Errorf("%d completed tasks were deleted; there were %d", got, want)
	}
	return nil
}

// poisoner writes items past the platform; some cannot be rows.
type poisoner struct {
	l    *lake
	user string
	// current are the tasks that must be in the lake, landed the events by task.
	current []storedTask
	landed  map[string][]string
	// refused are the events that must be in the failure queue: task and event, and what
	// the cause says.
	refused map[string]string
	// kept are tasks that are in the table and nowhere in the lake.
	kept []string
}

func newPoisoner(l *lake) *poisoner {
	return &poisoner{l: l, user: onesynthtest.Unique("poisoner"), landed: map[string][]string{}, refused: map[string]string{}}
}

func (p *poisoner) put(ctx context.Context, id string, attributes map[string]any) error {
	item := map[string]any{
		"PK": "TASK#" + p.user, "SK": "TASK#" + id, "title": "by hand", "status": "pending",
		"created_at": 1767225600, "updated_at": 1767225600, "version": 1,
	}
	maps.Copy(item, attributes)
	encoded, err := attributevalue.MarshalMap(item)
	if err != nil {
		return err
	}
	_, err = p.l.Database.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(p.l.Tables["AppData"]), Item: encoded})
	return err
}

func (p *poisoner) remove(ctx context.Context, id string) error {
	key, err := attributevalue.MarshalMap(map[string]string{"PK": "TASK#" + p.user, "SK": "TASK#" + id})
	if err != nil {
		return err
	}
	_, err = p.l.Database.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(p.l.Tables["AppData"]), Key: key})
	return err
}

func (p *poisoner) work(ctx context.Context) error {
	const at, day = "2026-01-01T00:00:00Z", "2026-01-02"
	p.current = []storedTask{
		{p.user, task{TaskID: "repaired", Title: "by hand", Status: "pending", DueDate: aws.String(day), CreatedAt: at, UpdatedAt: at, Version: 2}},
		{p.user, task{TaskID: "turned", Title: "by hand", Status: "pending", CreatedAt: at, UpdatedAt: at, Version: 3}},
	}
	p.landed = map[string][]string{"repaired": {"MODIFY"}, "turned": {"INSERT", "MODIFY"}, "removed": {"REMOVE"}, "spoilt": {"INSERT", "REMOVE"}}
	p.refused = map[string]string{
		"repaired INSERT": "due_date", "removed INSERT": "title", "spoilt MODIFY": "created_at", "turned MODIFY": "version", "kept INSERT": "completed_at",
	}
	p.kept = []string{"kept"}
	for _, write := range []func() error{
		func() error { return p.put(ctx, "repaired", map[string]any{"due_date": "soon"}) },
		func() error { return p.put(ctx, "removed", map[string]any{"title": 5}) },
		func() error { return p.put(ctx, "turned", nil) },
		func() error { return p.put(ctx, "kept", map[string]any{"completed_at": "yesterday"}) },
		func() error { return p.put(ctx, "turned", map[string]any{"version": 1.5}) },
		func() error { return p.put(ctx, "repaired", map[string]any{"due_date": day, "version": 2}) },
		func() error { return p.remove(ctx, "removed") },
		func() error { return p.put(ctx, "spoilt", nil) },
		func() error { return p.put(ctx, "spoilt", map[string]any{"created_at": "yesterday"}) },
		func() error { return p.remove(ctx, "spoilt") },
		func() error { return p.put(ctx, "turned", map[string]any{"version": 3}) },
	} {
		if err := write(); err != nil {
			return fmt.Errorf("write past the platform: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

var objectKey = regexp.MustCompile(`^events/entity=(task|user)/event_date=\d{4}-\d{2}-\d{2}/[^/]+\.parquet$`)

// compareLake compares the lake with the table, and both with what people did.
func compareLake(t *testing.T, l *lake, keepers []*keeper, bad *poisoner) {
	t.Helper()
	for _, key := range l.objects(t) {
		if !objectKey.MatchString(key) {
			t.Errorf("the lake has the object %s", key)
		}
	}
	from := l.copied(t)

	expected := slices.Clone(bad.current)
	for _, k := range keepers {
		expected = append(expected, slices.Collect(maps.Values(k.tasks))...)
	}
	stored, users := l.stored(t)
	stored = slices.DeleteFunc(stored, func(task storedTask) bool { return task.UserID == bad.user && slices.Contains(bad.kept, task.TaskID) })
	compareTasks(t, "the table", stored, expected)
	compareTasks(t, "tasks_current", laketest.Query[storedTask](t, from, "SELECT * FROM tasks_current"), stored)
	compareEvents(t, eventsOf(t, from), keepers, bad)
	compareUsers(t, laketest.Query[userEvent](t, from, "SELECT * FROM user_changes"), users, keepers)
	compareMetrics(t, from, keepers, len(users))

	refused := map[string]string{}
	for id, f := range l.failed(t) {
		keys := f.Record.Change.Keys
		if user := strings.TrimPrefix(keys["PK"]["S"], "TASK#"); user != bad.user || f.Entity != "task" || f.SequenceNumber == "" {
			t.Errorf("the failure queue has %+v", f)
		}
		name := strings.TrimPrefix(keys["SK"]["S"], "TASK#") + " " + f.EventName
		if refused[name] != "" {
			t.Errorf("the failure queue has %s of several events, such as %s", name, id)
		}
		refused[name] = f.Cause
		image := f.Record.Change.NewImage
		if f.EventName == "REMOVE" {
			image = f.Record.Change.OldImage
		}
		if image["status"]["S"] != "pending" {
			t.Errorf("the failure queue has %s without the item: %v", name, image)
		}
	}
	for name, cause := range bad.refused {
		if !strings.Contains(refused[name], "the column "+cause+" cannot show") {
			t.Errorf("the failure queue has of %s the cause %q; want one about %s", name, refused[name], cause)
		}
		delete(refused, name)
	}
	for name, cause := range refused {
		t.Errorf("the failure queue has %s, which could be a row: %s", name, cause)
	}
}

// stored are the table's tasks, and its users by id with their last change. What
// cannot be a task's attribute is left out.
func (l *lake) stored(t *testing.T) (tasks []storedTask, users map[string]string) {
	t.Helper()
	users = map[string]string{}
	for _, item := range l.Items(t, "AppData") {
		words := func(name string) *string {
			if s, ok := item[name].(string); ok {
				return &s
			}
			return nil
		}
		at := func(name string) *string {
			if seconds, ok := item[name].(float64); ok {
				return aws.String(moment(time.Unix(int64(seconds), 0)))
			}
			return nil
		}
		key := text(words("PK"))
		if id, ok := strings.CutPrefix(key, "USER#"); ok {
			users[id] = text(at("updated_at"))
		}
		user, ok := strings.CutPrefix(key, "TASK#")
		if !ok {
			continue
		}
		version, _ := item["version"].(float64)
		tasks = append(tasks, storedTask{user, task{
			TaskID: strings.TrimPrefix(text(words("SK")), "TASK#"),
			Title:  text(words("title")), Description: words("description"), Status: text(words("status")),
			Priority: words("priority"), Category: words("category"), DueDate: words("due_date"),
			CreatedAt: text(at("created_at")), UpdatedAt: text(at("updated_at")), CompletedAt: at("completed_at"), Version: int(version),
		}})
	}
	return tasks, users
}

// compareEvents checks that each change of each task is there, as it was answered.
func compareEvents(t *testing.T, events map[string][]taskEvent, keepers []*keeper, bad *poisoner) {
	t.Helper()
	compare := func(name string, want []string) {
		var got []string
		for _, e := range events[name] {
			got = append(got, e.EventName+" "+e.storedTask.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("task_events of %s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		delete(events, name)
	}
	for _, k := range keepers {
		for id, versions := range k.versions {
			var want []string
			for i, v := range versions {
				want = append(want, map[bool]string{true: "INSERT", false: "MODIFY"}[i == 0]+" "+v.String())
			}
			if _, exists := k.tasks[id]; !exists {
				want = append(want, "REMOVE "+versions[len(versions)-1].String())
			}
			compare(k.id+" "+id, want)
		}
	}
	for id, want := range bad.landed {
		name := bad.user + " " + id
		var got []string
		for _, e := range events[name] {
			got = append(got, e.EventName)
		}
		if !slices.Equal(got, want) {
			t.Errorf("task_events of %s: got %v; want %v", name, got, want)
		}
		delete(events, name)
	}
	for name := range events {
		t.Errorf("task_events has %s, which never was", name)
	}
}

// compareUsers checks that each change of each user is there, and that the last one
// is what the table has.
func compareUsers(t *testing.T, rows []userEvent, stored map[string]string, keepers []*keeper) {
	t.Helper()
	byUser := map[string][]userEvent{}
	seen := map[string]bool{}
	for _, e := range rows {
		if !seen[e.EventID] {
			byUser[e.UserID] = append(byUser[e.UserID], e)
		}
		seen[e.EventID] = true
	}
	if len(byUser) != len(keepers) {
		t.Errorf("got %d users in user_changes; want %d", len(byUser), len(keepers))
	}
	for _, k := range keepers {
		events := byUser[k.id]
		slices.SortFunc(events, func(a, b userEvent) int { return strings.Compare(a.SequenceNumber, b.SequenceNumber) })
		got := map[string]int{}
		for _, e := range events {
			got[e.EventName]++
		}
		want := map[string]int{"INSERT": k.inserts, "MODIFY": k.changes, "REMOVE": k.removals}
		maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
		if !maps.Equal(got, want) {
			t.Errorf("user_changes of %s: got %v; want %v", k.id, got, want)
			continue
		}
		last := events[len(events)-1]
		updated, exists := stored[k.id]
		if exists != (k.inserts > k.removals) || exists != (last.EventName != "REMOVE") || exists && last.UpdatedAt != updated {
			t.Errorf("user_changes of %s ends with %+v; the table has %q", k.id, last, updated)
		}
	}
}

// compareMetrics checks the figures of the lake by those of the API.
func compareMetrics(t *testing.T, from *lakequery.Lake, keepers []*keeper, users int) {
	t.Helper()
	type metrics struct {
		UserID    string `json:"user_id"`
		Tasks     int    `json:"tasks"`
		Open      int    `json:"open_tasks"`
		Completed int    `json:"completed_tasks"`
	}
	got := map[string]metrics{}
	for _, m := range laketest.Query[metrics](t, from, "SELECT user_id, tasks, open_tasks, completed_tasks FROM user_metrics") {
		got[m.UserID] = m
	}
	for _, k := range keepers {
		counts := k.stats(t)
		want := metrics{k.id, counts.Total, counts.ByStatus["pending"] + counts.ByStatus["in_progress"], counts.ByStatus["completed"]}
		if counts.Total == 0 {
			want = metrics{} // Only users with tasks have a row.
		}
		if got[k.id] != want {
			t.Errorf("user_metrics: got %+v; the API says %+v", got[k.id], want)
		}
	}
	if n := count(t, from, "SELECT users AS n FROM kpis"); n != users {
		t.Errorf("kpis: got %d users; want %d", n, users)
	}
}
