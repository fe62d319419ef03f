package todo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// Users act at once and repeat requests, DynamoDB refuses requests or
// answers too late, and handlers die: after every burst, the indexes agree with
// the tasks, the counts with a recount, repeats with the first answer, each change is
// there, and of users who are gone nothing is.
//
// ONESYNTH_TEST_SEED repeats a history, as far as what happens at once can be
// repeated.
func TestHistory(t *testing.T) {
	t.Parallel()
	on := ownRun(t, local.Options{})
	seed := rand.Uint64()
	if given := os.Getenv("ONESYNTH_TEST_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ONESYNTH_TEST_SEED=%d", seed)
	const members, most = 6, 30
	const period = 35 * time.Second
	h := &history{target: on}
	var all []*member
	for i := range members {
		all = append(all, &member{history: h, caller: newCaller(t, on), random: rand.New(rand.NewPCG(seed, uint64(i)))})
	}

	over := make(chan struct{})
	disturbed := make(chan error, 1)
	go func() { disturbed <- h.disturb(t.Context(), rand.New(rand.NewPCG(seed, members)), over) }()
	begun := time.Now()
	var living sync.WaitGroup
	for _, m := range all {
		living.Go(func() {
			// On a slow machine it takes longer until all has happened.
			for bursts := 0; bursts < 3 || bursts < most && (time.Since(begun) < period || len(h.missing()) > 0); bursts++ {
				if err := m.burst(t.Context()); err != nil {
					t.Errorf("user %s, burst %d: %v", m.id, bursts+1, err)
					m.failed = true
					return
				}
			}
		})
	}
	living.Wait()
	close(over)
	if err := <-disturbed; err != nil {
		t.Fatal(err)
	}
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if err := m.check(t.Context()); err != nil && !m.failed {
			t.Errorf("user %s, in the end: %v", m.id, err)
		}
	}
	if err := h.checkIndexes(t.Context()); err != nil {
		t.Error(err)
	}
	for _, queue := range on.Run.AWS().Queues() {
		if n := len(queue.Messages()); n != 0 {
			t.Errorf("got %d messages in %s; want none", n, queue.Name)
		}
	}
	t.Logf("%d bursts of %d requests: %d attempts, %d had to come again; %d repeats; %d handlers killed; %d edits, %d refused as stale; %d users deleted",
		h.bursts.Load(), h.requests.Load(), h.attempts.Load(), h.again.Load(), h.repeats.Load(), h.kills.Load(), h.edits.Load(), h.stale.Load(), h.deletions.Load())
	if missing := h.missing(); len(missing) > 0 {
		t.Errorf("the history had no %s: it has shown nothing of them", strings.Join(missing, ", no "))
	}
}

// history is what several users do at once on one run.
type history struct {
	*target
	bursts, requests, attempts, again, repeats, kills, edits, stale, deletions atomic.Int64
}

// missing is what has not happened yet.
func (h *history) missing() (missing []string) {
	for what, times := range map[string]*atomic.Int64{
		"requests that had to come again": &h.again, "repeats": &h.repeats, "kills": &h.kills, "edits": &h.edits, "edits refused as stale": &h.stale, "deletions": &h.deletions,
	} {
		if times.Load() == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}

// disturb injects faults and kills handlers until it is over; then it stops.
func (h *history) disturb(ctx context.Context, random *rand.Rand, over chan struct{}) error {
	functions := h.Run.Functions().Functions()
	for moment := 0; ; moment++ {
		faults := awsapi.Faults{Seed: random.Uint64()}
		if moment%3 != 2 {
			faults.Throttle, faults.TransactionConflict, faults.DropResponse = 0.06*random.Float64(), 0.12*random.Float64(), 0.06*random.Float64()
			faults.Redeliver = 0.2 * random.Float64()
		}
		if err := h.Run.AWS().SetFaults(faults); err != nil {
			return err
		}
		select {
		case <-over:
			return h.Run.AWS().SetFaults(awsapi.Faults{})
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(500+random.IntN(1500)) * time.Millisecond):
		}
		if moment%3 == 1 {
			name := functions[random.IntN(len(functions))].Name
			if moment%2 == 1 {
				name = functions[slices.IndexFunc(functions, func(f lambda.Status) bool { return strings.Contains(f.Name, "TodoAPI") })].Name
			}
			switch _, err := h.Run.Kill(name); {
			case err == nil:
				h.kills.Add(1)
			case !errors.Is(err, lambda.ErrNotRunning):
				return err
			}
		}
	}
}

// member is one user, and what must be true of them.
type member struct {
	*history
	caller
	random *rand.Rand
	// alive says that there is a user; address is theirs, addresses are all they had.
	alive     bool
	address   string
	addresses []string
	// tasks are those that there may be.
	tasks map[string]*known
	// keys are the keys since the user came, or went: no other ones may be stored.
	keys map[string]bool
	// answered are the last requests, to be repeated.
	answered []step
	number   int
	// contested is the task that a whole burst is about; empty: there is none.
	contested string
	// failed says that something was not true, which the end need not repeat.
	failed bool
}

// known is what the answers told of a task.
type known struct {
	// edits are all that became of it by requests of its own: fields by version.
	edits map[int]map[string]any
	// also says that the status was also changed together with others', which
	// has a version of its own.
	also      bool
	completed bool
	gone      bool
}

// step is a request with its key and its final answer.
type step struct {
	kind, method, path string
	further            http.Header
	body               any
	copies             int
	task               string
	fields             map[string]any
	key                string
	reply              onesynthtest.Reply
}

// do makes a request until it has a final answer.
func (m *member) do(ctx context.Context, s step) (onesynthtest.Reply, error) {
	header := maps.Clone(s.further)
	if header == nil {
		header = http.Header{}
	}
	header.Set("Idempotency-Key", s.key)
	const patience = 100
	for range patience {
		r, err := m.caller.send(ctx, s.method, s.path, header, s.body)
		if err != nil {
			return r, err
		}
		m.attempts.Add(1)
		after, told := r.RetryAfter()
		running := r.Status == http.StatusConflict && told
		if !running && r.Status < http.StatusInternalServerError {
			return r, nil
		}
		m.history.again.Add(1)
		pause := 100 * time.Millisecond
		if running {
			pause = min(after, time.Second)
		}
		time.Sleep(pause)
	}
	return onesynthtest.Reply{}, fmt.Errorf("%s %s had no final answer in %d attempts", s.method, s.path, patience)
}

// burst does some things at once, waits for all answers, and checks.
func (m *member) burst(ctx context.Context) error {
	m.bursts.Add(1)
	var steps []step
	if !m.alive {
		steps = []step{m.come()}
	} else {
		m.contested = ""
		if m.random.IntN(2) == 0 {
			m.contested = m.anyTask()
		}
		for range 2 + m.random.IntN(5) {
			steps = append(steps, m.next())
		}
		if m.random.IntN(8) == 0 {
			steps = append(steps, step{kind: "leave", method: http.MethodDelete, path: "/api/v1/users/me"})
		}
	}
	leaving := slices.ContainsFunc(steps, func(s step) bool { return s.kind == "leave" })
	if leaving {
		m.keys = map[string]bool{}
		m.answered = nil
	}
	var attempts sync.WaitGroup
	replies := make([][]onesynthtest.Reply, len(steps))
	failures := make([][]error, len(steps))
	for i := range steps {
		steps[i].key = onesynthtest.Unique("key")
		m.keys[steps[i].key] = true
		steps[i].copies = 1 + m.random.IntN(3)/2
		m.requests.Add(1)
		replies[i], failures[i] = make([]onesynthtest.Reply, steps[i].copies), make([]error, steps[i].copies)
		for j := range steps[i].copies {
			attempts.Go(func() { replies[i][j], failures[i][j] = m.do(ctx, steps[i]) })
		}
	}
	attempts.Wait()
	for i := range steps {
		if err := errors.Join(failures[i]...); err != nil {
			return err
		}
		steps[i].reply = replies[i][0]
		for _, again := range replies[i][1:] {
			m.repeats.Add(1)
			// A deletion of the user takes the keys, too; then a repeat finds no user.
			if !leaving && !sameAnswer(again, steps[i].reply) {
				return fmt.Errorf("got %v for the repeat of what was answered with %v", again, steps[i].reply)
			}
		}
	}
	if err := m.learn(ctx, steps, leaving); err != nil {
		return err
	}
	if err := m.check(ctx); err != nil {
		return err
	}
	return m.repeat(ctx, steps, leaving)
}

func sameAnswer(a, b onesynthtest.Reply) bool {
	return a.Status == b.Status && bytes.Equal(a.Body, b.Body)
}

// repeat repeats what was answered, now and before.
func (m *member) repeat(ctx context.Context, steps []step, leaving bool) error {
	for _, s := range steps {
		// While the user is deleted, only the deletion's own answer is sure to be kept. A
		// request that found no user is tried again.
		if s.kind == "leave" || !leaving && m.alive {
			m.answered = append(m.answered, s)
		}
	}
	for range min(2, len(m.answered)) {
		s := m.answered[m.random.IntN(len(m.answered))]
		r, err := m.do(ctx, s)
		if err != nil {
			return err
		}
		m.repeats.Add(1)
		if !sameAnswer(r, s.reply) || r.Header.Get("Idempotency-Replayed") != "true" {
			return fmt.Errorf("got %v, replayed %q, for the repeat of what was answered with %v", r, r.Header.Get("Idempotency-Replayed"), s.reply)
		}
	}
	return nil
}

func (m *member) come() step {
	m.number++
	m.tasks = map[string]*known{}
	if m.keys == nil {
		m.keys = map[string]bool{}
	}
	return step{kind: "come", method: http.MethodPost, path: "/api/v1/users/me", body: profile{fmt.Sprintf("%s.%d@example.com", m.id, m.number), "Ann"}}
}

// anyTask is a task that there may be, or now and then one that there never was; in
// some bursts it is always the same.
func (m *member) anyTask() string {
	if m.contested != "" {
		return m.contested
	}
	var there []string
	for id, one := range m.tasks {
		if !one.gone {
			there = append(there, id)
		}
	}
	slices.Sort(there)
	if len(there) == 0 || m.random.IntN(20) == 0 {
		return "0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"
	}
	return there[m.random.IntN(len(there))]
}

func (m *member) oneOf(values ...any) any { return values[m.random.IntN(len(values))] }

// someFields are what a task is given, or what changes of it: always another title.
func (m *member) someFields(whole bool) map[string]any {
	m.number++
	fields := map[string]any{"title": fmt.Sprintf("Title %d", m.number)}
	for name, value := range map[string]any{
		"description": m.oneOf(nil, "", fmt.Sprintf("Description %d", m.number)),
		"priority":    m.oneOf(nil, "", "low", "medium", "high", "urgent"),
		"category":    m.oneOf(nil, "", "a#b", "a%23b", "%", "#", "日本", fmt.Sprint(m.number)),
		"due_date":    m.oneOf(nil, "", "2026-02-14", "2024-02-29", "9999-12-31"),
	} {
		if whole || m.random.IntN(3) == 0 {
			fields[name] = value
		}
	}
	return fields
}

// next is something that the user may do.
func (m *member) next() step {
	id := m.anyTask()
	path := "/api/v1/tasks/" + id
	switch n := m.random.IntN(20); {
	case n < 5 || len(m.tasks) < 3:
		fields := m.someFields(true)
		body := maps.Clone(fields)
		if status := m.oneOf(nil, "in_progress", "completed", "cancelled"); status != nil {
			body["status"] = status
		}
		return step{kind: "create", method: http.MethodPost, path: "/api/v1/tasks", body: body, fields: fields}
	case n < 10:
		fields := m.someFields(false)
		body := maps.Clone(fields)
		if status := m.oneOf(nil, nil, "pending", "in_progress", "completed", "cancelled"); status != nil {
			body["status"] = status
		}
		return step{kind: "edit", method: http.MethodPatch, path: path, body: body, task: id, fields: fields}
	case n < 12:
		fields := m.someFields(true)
		return step{kind: "edit", method: http.MethodPut, path: path, body: fields, task: id, fields: fields}
	case n < 14:
		version := 1
		if one := m.tasks[id]; one != nil {
			versions := slices.Sorted(maps.Keys(one.edits))
			version = versions[max(0, len(versions)-1-m.random.IntN(2))]
		}
		fields := m.someFields(false)
		return step{kind: "edit", method: http.MethodPatch, path: path, body: fields, further: ifMatch(version), task: id, fields: fields}
	case n < 15:
		return step{kind: "delete", method: http.MethodDelete, path: path, task: id}
	case n < 17:
		ids := []string{id}
		for range m.random.IntN(5) {
			if other := m.anyTask(); !slices.Contains(ids, other) {
				ids = append(ids, other)
			}
		}
		body := input{"action": "set_status", "task_ids": ids, "status": m.oneOf("pending", "in_progress", "completed", "cancelled")}
		return step{kind: "set", method: http.MethodPost, path: "/api/v1/tasks/bulk", body: body}
	case n < 18:
		return step{kind: "clear", method: http.MethodPost, path: "/api/v1/tasks/bulk", body: input{"action": "delete_completed"}}
	default:
		m.number++
		return step{kind: "rename", method: http.MethodPut, path: "/api/v1/users/me", body: profile{fmt.Sprintf("%s.%d@example.com", m.id, m.number), "Bea"}}
	}
}

// learn takes in what the answers say. A user who is leaving may be gone at any step.
func (m *member) learn(ctx context.Context, steps []step, leaving bool) error {
	cleared := 0
	deleted := map[string]bool{}
	for _, s := range steps {
		if s.kind == "delete" && s.reply.Status == http.StatusNoContent {
			deleted[s.task] = true
		}
	}
	var renamed []string
	for _, s := range steps {
		unexpected := fmt.Errorf("got %v for %v", s.reply, s.body)
		if leaving && s.kind != "leave" {
			continue // nothing of it will be left
		}
		switch {
		case s.kind == "come" && s.reply.Status == http.StatusCreated:
			m.alive, m.address = true, s.body.(profile).Email
			m.addresses = append(m.addresses, m.address)
		case s.kind == "leave" && (s.reply.Status == http.StatusNoContent || s.reply.Status == http.StatusAccepted):
			m.deletions.Add(1)
			m.alive, m.tasks = false, nil
			if s.reply.Status == http.StatusAccepted {
				if err := m.Run.FlushStreams(ctx); err != nil {
					return err
				}
			}
			for _, s := range steps {
				if profile, ok := s.body.(profile); ok {
					m.addresses = append(m.addresses, profile.Email)
				}
			}
		case s.kind == "rename" && s.reply.Status == http.StatusOK:
			renamed = append(renamed, s.body.(profile).Email)
		case s.kind == "create" && s.reply.Status == http.StatusCreated, s.kind == "edit" && s.reply.Status == http.StatusOK:
			var got task
			if err := json.Unmarshal(s.reply.Body, &got); err != nil {
				return errors.Join(unexpected, err)
			}
			one := m.tasks[got.TaskID]
			if (one == nil) != (s.kind == "create") {
				return unexpected
			}
			if one == nil {
				one = &known{edits: map[int]map[string]any{}}
				m.tasks[got.TaskID] = one
			}
			if one.edits[got.Version] != nil {
				return fmt.Errorf("%w: two edits have that version", unexpected)
			}
			m.edits.Add(1)
			one.edits[got.Version] = s.fields
			one.completed = one.completed || got.Status == "completed"
			stored := map[string]*string{"title": &got.Title, "description": got.Description, "priority": got.Priority, "category": got.Category, "due_date": got.DueDate}
			for name, value := range s.fields {
				if asked, _ := value.(string); asked != text(stored[name]) {
					return fmt.Errorf("%w: %s was to be %q", unexpected, name, asked)
				}
			}
		case s.kind == "edit" && s.reply.Status == http.StatusPreconditionFailed && s.further != nil:
			m.stale.Add(1)
		case s.kind == "edit" && s.reply.Status == http.StatusBadRequest && s.method == http.MethodPatch:
			// A completed task stays completed.
		case s.kind == "delete" && s.reply.Status == http.StatusNoContent:
			if m.tasks[s.task] == nil || m.tasks[s.task].gone {
				return unexpected
			}
		case s.kind == "set" && s.reply.Status == http.StatusOK:
			var got statusesSet
			if err := json.Unmarshal(s.reply.Body, &got); err != nil {
				return errors.Join(unexpected, err)
			}
			for _, id := range got.Changed {
				one := m.tasks[id]
				if one == nil {
					return unexpected
				}
				one.also = true
				one.completed = one.completed || s.body.(input)["status"] == "completed"
			}
		case s.kind == "clear" && s.reply.Status == http.StatusOK:
			var got completedDeleted
			if err := json.Unmarshal(s.reply.Body, &got); err != nil || got.More {
				return errors.Join(unexpected, err)
			}
			cleared += got.Deleted
		case s.reply.Status == http.StatusNotFound && (s.kind == "edit" || s.kind == "delete"):
			one := m.tasks[s.task]
			maybe := slices.ContainsFunc(steps, func(s step) bool { return s.kind == "clear" })
			if one != nil && !one.gone && !deleted[s.task] && !maybe {
				return fmt.Errorf("%w: the task is there", unexpected)
			}
		default:
			return unexpected
		}
	}
	if !m.alive || leaving {
		return nil
	}
	if len(renamed) > 0 {
		got, err := m.get(ctx, "USER#"+m.id, "METADATA")
		if err != nil {
			return err
		}
		m.address, _ = got["email"].(string)
		if !slices.Contains(renamed, m.address) {
			return fmt.Errorf("got user %v; want one of the addresses %v", got, renamed)
		}
		m.addresses = append(m.addresses, renamed...)
	}
	stored, err := m.partition(ctx, "TASK#"+m.id)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, item := range stored {
		there[strings.TrimPrefix(item["SK"].(string), "TASK#")] = true
	}
	missing := 0
	for id, one := range m.tasks {
		switch {
		case one.gone && there[id], deleted[id] && there[id]:
			return fmt.Errorf("task %s is back", id)
		case deleted[id]:
			one.gone = true
		case !one.gone && !there[id]:
			one.gone = true
			missing++
		}
	}
	if missing != cleared {
		return fmt.Errorf("%d tasks are gone that were not deleted by name; %d completed ones were deleted", missing, cleared)
	}
	return nil
}

// check compares what is stored with what the answers say.
func (m *member) check(ctx context.Context) error {
	keys, err := m.partition(ctx, "IDEMPOTENCY#"+m.id)
	if err != nil {
		return err
	}
	if len(keys) > len(m.keys) {
		return fmt.Errorf("got %d idempotency keys; %d can be there", len(keys), len(m.keys))
	}
	for _, address := range m.addresses {
		item, err := m.get(ctx, "EMAIL#"+address, "METADATA")
		if err != nil {
			return err
		}
		if owned := item != nil; owned != (m.alive && address == m.address) {
			return fmt.Errorf("the address %s is taken: %v", address, owned)
		}
	}
	tasks, err := m.partition(ctx, "TASK#"+m.id)
	if err != nil {
		return err
	}
	counts, err := m.get(ctx, "COUNTS#"+m.id, "METADATA")
	if err != nil {
		return err
	}
	profile, err := m.get(ctx, "USER#"+m.id, "METADATA")
	if err != nil {
		return err
	}
	if !m.alive {
		if len(tasks) > 0 || counts != nil || profile != nil {
			return fmt.Errorf("got %v, %v and %d tasks of a user who is gone", profile, counts, len(tasks))
		}
	} else if profile == nil || counts == nil || counts["deletion"] != nil {
		return fmt.Errorf("got user %v and counts %v", profile, counts)
	}
	recount := map[string]float64{}
	for _, item := range tasks {
		id := strings.TrimPrefix(item["SK"].(string), "TASK#")
		if err := m.tasks[id].check(item); err != nil {
			return fmt.Errorf("got task %v: %w", item, err)
		}
		recount[item["status"].(string)]++
		if priority, ok := item["priority"].(string); ok {
			recount[priority]++
		} else {
			recount["no_priority"]++
		}
	}
	for _, name := range []string{"pending", "in_progress", "completed", "cancelled", "low", "medium", "high", "urgent", "no_priority"} {
		if n, _ := counts[name].(float64); n != recount[name] {
			return fmt.Errorf("%s: %v are counted, %v are there", name, n, recount[name])
		}
	}
	return m.compareIndexes(ctx, tasks, m.id)
}

// check compares a stored task with what the answers told of it.
func (k *known) check(item map[string]any) error {
	if k == nil || k.gone {
		return errors.New("it should not be there")
	}
	versions := slices.Sorted(maps.Keys(k.edits))
	version := int(item["version"].(float64))
	if last := versions[len(versions)-1]; version < last || version > last && !k.also {
		return fmt.Errorf("the last edit made it version %d", last)
	}
	if versions[0] != 1 || !k.also && len(versions) != version {
		return fmt.Errorf("edits made it versions %v", versions)
	}
	// The last edit of each field is the one that is there: no edit undid another.
	want := map[string]any{}
	for _, version := range versions {
		maps.Copy(want, k.edits[version])
	}
	for name, value := range want {
		asked, _ := value.(string)
		if stored, _ := item[name].(string); stored != asked {
			return fmt.Errorf("the last edit of %s made it %q", name, asked)
		}
		if _, kept := item[name]; kept && asked == "" {
			return fmt.Errorf("%s was cleared", name)
		}
	}
	if done := item["status"] == "completed"; k.completed && !done || done != (item["completed_at"] != nil) {
		return fmt.Errorf("completed before: %v", k.completed)
	}
	return nil
}

// keysOf are the keys of all four indexes as a task's attributes say.
func keysOf(item map[string]any) map[string]any {
	owner := "OWNER#" + of(item)
	id := strings.TrimPrefix(item["SK"].(string), "TASK#")
	keys := map[string]any{"GSI1PK": owner, "GSI1SK": fmt.Sprintf("STATUS#%s#%s", item["status"], id)}
	for index, attribute := range map[string]string{"GSI2": "due_date", "GSI3": "priority", "GSI4": "category"} {
		value, ok := item[attribute].(string)
		if !ok {
			continue
		}
		prefix := map[string]string{"GSI2": "DUEDATE#", "GSI3": "PRIORITY#", "GSI4": "CATEGORY#"}[index]
		keys[index+"PK"] = owner
		keys[index+"SK"] = prefix + strings.NewReplacer("%", "%25", "#", "%23").Replace(value) + "#" + id
	}
	return keys
}

var indexes = []string{"GSI1", "GSI2", "GSI3", "GSI4"}

// compareIndexes compares the indexes with tasks, item by item: those of one owner,
// or all when it is empty.
func (h *history) compareIndexes(ctx context.Context, tasks []map[string]any, owner string) error {
	for _, index := range indexes {
		want := map[string]map[string]any{}
		for _, item := range tasks {
			keys := keysOf(item)
			for _, key := range []string{index + "PK", index + "SK"} {
				if item[key] != keys[key] {
					return fmt.Errorf("task %v: got %s %v; want %v", item, key, item[key], keys[key])
				}
			}
			if keys[index+"PK"] != nil {
				want[fmt.Sprint(item["PK"], item["SK"])] = item
			}
		}
		var found []map[string]any
		var err error
		if owner == "" {
			found, err = h.read(ctx, dynamodb.NewScanPaginator(h.Database, &dynamodb.ScanInput{TableName: aws.String(h.Tables["AppData"]), IndexName: &index}))
		} else {
			found, err = h.query(ctx, aws.String(index), index+"PK", "OWNER#"+owner)
		}
		if err != nil {
			return err
		}
		if len(found) != len(want) {
			return fmt.Errorf("index %s: got %d items; want %d", index, len(found), len(want))
		}
		for _, item := range found {
			if stored := want[fmt.Sprint(item["PK"], item["SK"])]; fmt.Sprint(item) != fmt.Sprint(stored) {
				return fmt.Errorf("index %s: got %v; the table has %v", index, item, stored)
			}
		}
	}
	return nil
}

// checkIndexes compares the whole indexes with the whole table.
func (h *history) checkIndexes(ctx context.Context) error {
	all, err := h.read(ctx, dynamodb.NewScanPaginator(h.Database, &dynamodb.ScanInput{TableName: aws.String(h.Tables["AppData"]), ConsistentRead: aws.Bool(true)}))
	if err != nil {
		return err
	}
	return h.compareIndexes(ctx, slices.DeleteFunc(all, func(item map[string]any) bool { return prefixOf(item) != "TASK" }), "")
}

// partition reads all items with a partition key.
func (h *history) partition(ctx context.Context, key string) ([]map[string]any, error) {
	return h.query(ctx, nil, "PK", key)
}

func (h *history) query(ctx context.Context, index *string, attribute, key string) ([]map[string]any, error) {
	return h.read(ctx, dynamodb.NewQueryPaginator(h.Database, &dynamodb.QueryInput{
		TableName: aws.String(h.Tables["AppData"]), IndexName: index, ConsistentRead: aws.Bool(index == nil),
		KeyConditionExpression:    aws.String("#key = :key"),
		ExpressionAttributeNames:  map[string]string{"#key": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":key": &types.AttributeValueMemberS{Value: key}},
	}))
}

// read reads all pages of a query or scan.
func (h *history) read(ctx context.Context, pages any) (all []map[string]any, err error) {
	for {
		var items []map[string]types.AttributeValue
		switch pages := pages.(type) {
		case *dynamodb.QueryPaginator:
			if !pages.HasMorePages() {
				return all, nil
			}
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			items = page.Items
		case *dynamodb.ScanPaginator:
			if !pages.HasMorePages() {
				return all, nil
			}
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			items = page.Items
		}
		var decoded []map[string]any
		if err := attributevalue.UnmarshalListOfMaps(items, &decoded); err != nil {
			return nil, err
		}
		all = append(all, decoded...)
	}
}

// get reads an item; nil if there is none.
func (h *history) get(ctx context.Context, partition, sort string) (map[string]any, error) {
	output, err := h.Database.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(h.Tables["AppData"]), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: partition}, "SK": &types.AttributeValueMemberS{Value: sort}},
	})
	if err != nil || output.Item == nil {
		return nil, err
	}
	var item map[string]any
	err = attributevalue.UnmarshalMap(output.Item, &item)
	return item, err
}
