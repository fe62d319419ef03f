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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// member is one user who does things at random.
type member struct {
	*history
	caller
	random *rand.Rand
	// alive says that there is a user.
	alive bool
	// tasks are the tasks that may exist, with the last version that an answer has told.
	tasks map[string]int
	// answers are the versions of tasks that answers have told, by user, id and version.
	answers map[string]storedTask
	// answered are the last requests, to be repeated.
	answered []step
	number   int
	// contested is the one task of a whole burst; empty: there is none.
	contested string
}

func newMember(h *history, c caller, random *rand.Rand) *member {
	return &member{history: h, caller: c, random: random, answers: map[string]storedTask{}}
}

// step is a request with its key and its final answer.
type step struct {
	kind, method, path string
	further            http.Header
	body               any
	copies             int
	task               string
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
	const maxAttempts = 100
	for range maxAttempts {
		r, err := m.caller.Send(ctx, s.method, s.path, header, s.body)
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
	return onesynthtest.Reply{}, fmt.Errorf("%s %s had no final answer in %d attempts", s.method, s.path, maxAttempts)
}

// burst does some things at once, waits for all answers, and repeats some.
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
		m.answered = nil
	}
	var attempts sync.WaitGroup
	replies := make([][]onesynthtest.Reply, len(steps))
	failures := make([][]error, len(steps))
	for i := range steps {
		steps[i].key = onesynthtest.Unique("key")
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
	for _, s := range steps {
		if err := m.learn(ctx, s, leaving); err != nil {
			return err
		}
	}
	return m.repeat(ctx, steps, leaving)
}

// final are the statuses of answers that no further attempt changes, by kind of step.
var final = map[string][]int{
	"come": {http.StatusCreated}, "leave": {http.StatusNoContent, http.StatusAccepted}, "rename": {http.StatusOK},
	"create": {http.StatusCreated}, "set": {http.StatusOK}, "clear": {http.StatusOK},
	"edit":   {http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusPreconditionFailed},
	"delete": {http.StatusNoContent, http.StatusNotFound},
}

// learn keeps what the answer to a step says. A user who leaves at the same time is not found.
func (m *member) learn(ctx context.Context, s step, leaving bool) error {
	if !slices.Contains(final[s.kind], s.reply.Status) && !(leaving && s.reply.Status == http.StatusNotFound) {
		return fmt.Errorf("got %v for %v", s.reply, s.body)
	}
	switch {
	case s.kind == "come":
		m.alive = true
	case s.kind == "leave":
		m.deletions.Add(1)
		m.alive, m.tasks = false, map[string]int{}
		return m.Run.FlushStreams(ctx)
	case s.reply.Status == http.StatusPreconditionFailed:
		m.stale.Add(1)
	case s.kind == "delete" && s.reply.Status == http.StatusNoContent:
		delete(m.tasks, s.task)
	case s.reply.Status < http.StatusBadRequest && (s.kind == "create" || s.kind == "edit"):
		got := storedTask{UserID: m.ID}
		if err := json.Unmarshal(s.reply.Body, &got.Task); err != nil {
			return fmt.Errorf("got %v for %v: %w", s.reply, s.body, err)
		}
		m.edits.Add(1)
		m.tasks[got.ID] = max(m.tasks[got.ID], got.Version)
		if _, told := m.answers[got.version()]; told {
			return fmt.Errorf("got %v for %v: another edit has that version", s.reply, s.body)
		}
		m.answers[got.version()] = got
	}
	return nil
}

func sameAnswer(a, b onesynthtest.Reply) bool {
	return a.Status == b.Status && bytes.Equal(a.Body, b.Body)
}

// repeat repeats requests that were answered, in this burst and before.
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
			return fmt.Errorf("got %v, replayed %q, for the repeat of what was answered with %v", r,
				r.Header.Get("Idempotency-Replayed"), s.reply)
		}
	}
	return nil
}

func (m *member) come() step {
	m.number++
	m.tasks = map[string]int{}
	return step{kind: "come", method: http.MethodPost, path: "/api/v1/users/me",
		body: todo.UserBody{Email: fmt.Sprintf("%s.%d@example.com", m.ID, m.number), Name: "Ann"}}
}

// anyTask returns a task that may exist, or sometimes one that never existed; in some bursts it is
// always the same.
func (m *member) anyTask() string {
	if m.contested != "" {
		return m.contested
	}
	there := slices.Sorted(maps.Keys(m.tasks))
	if len(there) == 0 || m.random.IntN(20) == 0 {
		return "0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"
	}
	return there[m.random.IntN(len(there))]
}

func (m *member) oneOf(values ...any) any { return values[m.random.IntN(len(values))] }

// someFields are what a task is given, or what changes of it: always another title.
func (m *member) someFields(whole bool) map[string]any {
	m.number++
	fields := map[string]any{"title": fmt.Sprint(
		m.oneOf("Water the plants", "Übergrößenträger 🌵", `a "quoted", title`, "NULL", strings.Repeat("x", 150)), " ",
		m.number)}
	for name, value := range map[string]any{
		"description": m.oneOf(nil, "", "All but the cactus.\nTwice.", strings.Repeat("ü", 1000),
			fmt.Sprintf("Description %d", m.number)),
		"priority": m.oneOf(nil, "", "low", "medium", "high", "urgent"),
		"category": m.oneOf(nil, "", "a#b", "a%23b", "%", "#", "日本", `ü, "x"`, fmt.Sprint(m.number)),
		"due_date": m.oneOf(nil, "", "2026-02-14", "2024-02-29", "1999-12-31", "9999-12-31"),
	} {
		if whole || m.random.IntN(3) == 0 {
			fields[name] = value
		}
	}
	return fields
}

// next returns something that the user may do.
func (m *member) next() step {
	id := m.anyTask()
	path := "/api/v1/tasks/" + id
	switch n := m.random.IntN(20); {
	case n < 5 || len(m.tasks) < 3:
		body := m.someFields(true)
		if status := m.oneOf(nil, "in_progress", "completed", "cancelled"); status != nil {
			body["status"] = status
		}
		return step{kind: "create", method: http.MethodPost, path: "/api/v1/tasks", body: body}
	case n < 10:
		body := m.someFields(false)
		if status := m.oneOf(nil, nil, "pending", "in_progress", "completed", "cancelled"); status != nil {
			body["status"] = status
		}
		return step{kind: "edit", method: http.MethodPatch, path: path, body: body, task: id}
	case n < 12:
		return step{kind: "edit", method: http.MethodPut, path: path, body: m.someFields(true), task: id}
	case n < 14:
		with := ifMatch(max(1, m.tasks[id]-m.random.IntN(2)))
		return step{kind: "edit", method: http.MethodPatch, path: path, body: m.someFields(false), further: with,
			task: id}
	case n < 15:
		return step{kind: "delete", method: http.MethodDelete, path: path, task: id}
	case n < 17:
		ids := []string{id}
		for range m.random.IntN(5) {
			if other := m.anyTask(); !slices.Contains(ids, other) {
				ids = append(ids, other)
			}
		}
		body := map[string]any{"action": "set_status", "task_ids": ids,
			"status": m.oneOf("pending", "in_progress", "completed", "cancelled")}
		if n == 15 {
			body = map[string]any{"action": "move_overdue", "task_ids": ids,
				"due_date": m.oneOf("2026-06-01", "2027-06-01")}
		}
		return step{kind: "set", method: http.MethodPost, path: "/api/v1/tasks/bulk", body: body}
	case n < 18:
		return step{kind: "clear", method: http.MethodPost, path: "/api/v1/tasks/bulk",
			body: map[string]any{"action": "delete_completed"}}
	default:
		m.number++
		return step{kind: "rename", method: http.MethodPut, path: "/api/v1/users/me",
			body: todo.UserBody{Email: fmt.Sprintf("%s.%d@example.com", m.ID, m.number), Name: "Bea"}}
	}
}
