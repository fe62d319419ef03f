package todo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// member is one user, and what must be true of them.
type member struct {
	*history
	caller
	random *rand.Rand
	// alive says that there is a user; address is theirs, addresses are all they had.
	alive     bool
	address   string
	addresses []string
	// tasks are the tasks that may exist, and past the tasks of the user's former lives, whose last
	// changes no answer reports.
	tasks, past map[string]*known
	// comes, leaves and renames are the user's own changes. maybe is how many renames may
	// have been made before the user was gone.
	comes, leaves, renames, maybe int
	// keys are the keys since the user came, or went: no other ones may be stored.
	keys map[string]bool
	// answered are the last requests, to be repeated.
	answered []step
	number   int
	// contested is the one task of a whole burst; empty: there is none.
	contested string
	// failed says that a check failed, which the last check need not repeat.
	failed bool
}

func newMember(h *history, c caller, random *rand.Rand) *member {
	return &member{history: h, caller: c, random: random, keys: map[string]bool{}, past: map[string]*known{}}
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
	m.tasks = map[string]*known{}
	return step{kind: "come", method: http.MethodPost, path: "/api/v1/users/me",
		body: profile{fmt.Sprintf("%s.%d@example.com", m.ID, m.number), "Ann"}}
}

// anyTask returns a task that may exist, or sometimes one that never existed; in some bursts it is
// always the same.
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
		return step{kind: "edit", method: http.MethodPatch, path: path, body: fields, further: ifMatch(version),
			task: id, fields: fields}
	case n < 15:
		return step{kind: "delete", method: http.MethodDelete, path: path, task: id}
	case n < 17:
		ids := []string{id}
		for range m.random.IntN(5) {
			if other := m.anyTask(); !slices.Contains(ids, other) {
				ids = append(ids, other)
			}
		}
		body := input{"action": "set_status", "task_ids": ids,
			"status": m.oneOf("pending", "in_progress", "completed", "cancelled")}
		return step{kind: "set", method: http.MethodPost, path: "/api/v1/tasks/bulk", body: body}
	case n < 18:
		return step{kind: "clear", method: http.MethodPost, path: "/api/v1/tasks/bulk",
			body: input{"action": "delete_completed"}}
	default:
		m.number++
		return step{kind: "rename", method: http.MethodPut, path: "/api/v1/users/me",
			body: profile{fmt.Sprintf("%s.%d@example.com", m.ID, m.number), "Bea"}}
	}
}
