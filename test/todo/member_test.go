package todo

import (
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
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// member is one user who does things at random.
type member struct {
	*history
	platform.Caller
	random *rand.Rand
	// alive says that there is a user.
	alive bool
	// tasks may exist.
	tasks map[string]bool
	// answers are the versions of tasks that answers have told, by user, id and version.
	answers map[string]storedTask
	number  int
}

// step is a request with its final answer.
type step struct {
	method, path string
	body         any
	reply        onesynthtest.Reply
}

// do makes a request until it has a final answer.
func (m *member) do(ctx context.Context, s *step) (err error) {
	key := onesynthtest.Key(onesynthtest.Unique("key"))
	const maxAttempts = 100
	for range maxAttempts {
		if s.reply, err = m.Caller.Send(ctx, s.method, s.path, key, s.body); err != nil {
			return err
		}
		_, again := s.reply.RetryAfter()
		if s.reply.Status < http.StatusInternalServerError && !again {
			return nil
		}
		m.again.Add(1)
		time.Sleep(200 * time.Millisecond)
	}
	return fmt.Errorf("got %v in the last of %d attempts", s.reply, maxAttempts)
}

// burst does some things at once, and waits for all answers.
func (m *member) burst(ctx context.Context) error {
	m.number++
	steps := []step{{method: http.MethodPost, path: "/api/v1/users/me",
		body: todo.UserBody{Email: fmt.Sprintf("%s.%d@example.com", m.ID, m.number), Name: "Ann"}}}
	leaving := m.alive && m.random.IntN(8) == 0
	if m.alive {
		steps = nil
		for range 2 + m.random.IntN(5) {
			steps = append(steps, m.next())
		}
	}
	if leaving {
		steps = append(steps, step{method: http.MethodDelete, path: "/api/v1/users/me"})
	}
	var requests sync.WaitGroup
	failures := make([]error, len(steps))
	for i := range steps {
		requests.Go(func() { failures[i] = m.do(ctx, &steps[i]) })
	}
	requests.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	for _, s := range steps {
		if err := m.learn(s); err != nil {
			return fmt.Errorf("got %v for %v: %w", s.reply, s.body, err)
		}
	}
	m.alive = !leaving
	if leaving {
		m.deletions.Add(1)
		clear(m.tasks)
		return m.Run.FlushStreams(ctx)
	}
	return nil
}

// learn keeps what the answer to a step says. A task may be deleted at the same time, and a completed one stays so.
func (m *member) learn(s step) error {
	switch {
	case slices.Contains([]int{http.StatusNotFound, http.StatusBadRequest}, s.reply.Status) && m.alive:
		return nil
	case s.reply.Status >= http.StatusBadRequest:
		return errors.New("it is refused")
	case s.method == http.MethodDelete || !strings.Contains(s.path, "/tasks"):
		return nil
	}
	got := storedTask{UserID: m.ID}
	if err := json.Unmarshal(s.reply.Body, &got.Task); err != nil {
		return err
	}
	m.edits.Add(1)
	m.tasks[got.ID] = true
	if _, told := m.answers[got.version()]; told {
		return errors.New("another edit has that version")
	}
	m.answers[got.version()] = got
	return nil
}

func (m *member) oneOf(values ...any) any { return values[m.random.IntN(len(values))] }

// next returns something that the user may do.
func (m *member) next() step {
	m.number++
	body := map[string]any{"title": fmt.Sprint(m.oneOf("Übergrößenträger 🌵", `a "quoted", title`, "NULL"), m.number)}
	for name, value := range map[string]any{
		"description": m.oneOf(nil, "", "All but the cactus.\nTwice.", strings.Repeat("ü", 1000)),
		"priority":    m.oneOf(nil, "", "low", "medium", "high", "urgent"),
		"category":    m.oneOf(nil, "", "a#b", "a%23b", "日本", `ü, "x"`),
		"due_date":    m.oneOf(nil, "", "2024-02-29", "1999-12-31", "9999-12-31"),
	} {
		if m.random.IntN(2) == 0 {
			body[name] = value
		}
	}
	if status := m.oneOf(nil, "pending", "in_progress", "completed", "cancelled"); status != nil {
		body["status"] = status
	}
	if len(m.tasks) < 3 || m.random.IntN(3) == 0 {
		return step{method: http.MethodPost, path: "/api/v1/tasks", body: body}
	}
	tasks := slices.Sorted(maps.Keys(m.tasks))
	path := "/api/v1/tasks/" + tasks[m.random.IntN(len(tasks))]
	if m.random.IntN(6) == 0 {
		return step{method: http.MethodDelete, path: path}
	}
	return step{method: http.MethodPatch, path: path, body: body}
}
