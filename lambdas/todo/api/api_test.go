package api_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// request is one HTTP request: "METHOD path", headers as "Name: value".
type request struct {
	line    string
	user    string
	headers []string
	body    string
}

// as is a request of a user. A mutation has a key of its own.
func as(user, line, body string) request {
	r := request{line: line, user: user, body: body}
	if !strings.HasPrefix(line, "GET ") {
		r.headers = []string{"Idempotency-Key: " + rand.Text()}
	}
	return r
}

// with is the request with another header, in place of any of that name.
func (r request) with(header string) request {
	name, _, _ := strings.Cut(header, ": ")
	var headers []string
	for _, h := range r.headers {
		if !strings.HasPrefix(h, name+": ") {
			headers = append(headers, h)
		}
	}
	r.headers = append(headers, header)
	return r
}

func (r request) do(handler http.Handler) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(r.line, " ")
	hr := httptest.NewRequest(method, target, strings.NewReader(r.body))
	if r.body != "" {
		hr.Header.Set("Content-Type", "application/json")
	}
	for _, header := range r.headers {
		name, value, _ := strings.Cut(header, ": ")
		hr.Header.Set(name, value)
	}
	invocation := kit.Invocation{}
	if r.user != "" {
		invocation.Claims = map[string]string{"sub": r.user}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, hr.WithContext(kit.WithInvocation(hr.Context(), invocation)))
	return w
}

// invalidFields are the fields of a 422, sorted.
func invalidFields(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body api.InvalidResponse
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusUnprocessableEntity || len(body.Detail) == 0 {
		t.Fatalf("got %d %s; want 422 with fields (%v)", w.Code, w.Body, err)
	}
	var fields []string
	for _, p := range body.Detail {
		if p.Message == "" || len(p.Message) > 400 {
			t.Errorf("the message of %s is %q", p.Field, p.Message)
		}
		fields = append(fields, p.Field)
	}
	slices.Sort(fields)
	return strings.Join(fields, " ")
}

// stub is a service that knows one task, of version 3. Every method calls work once, if
// there is one, and returns its error.
type stub struct {
	work func() error
	// id is the task's. Empty: x.
	id string

	mu     sync.Mutex
	filter todo.TaskFilter
	change todo.TaskChange
}

func (s *stub) call() error {
	if s.work != nil {
		return s.work()
	}
	return nil
}

const stubVersion = 3

func (s *stub) task(ifVersion int) (todo.Task, error) {
	if err := s.call(); err != nil {
		return todo.Task{}, err
	}
	if ifVersion != 0 && ifVersion != stubVersion {
		return todo.Task{}, &todo.VersionError{Current: stubVersion}
	}
	return todo.Task{ID: cmp.Or(s.id, "x"), Title: "Water the plants", Status: todo.Pending, CreatedAt: began(), UpdatedAt: began(), Version: stubVersion}, nil
}

func (s *stub) CreateUser(_ context.Context, id string, _ todo.UserInput) (todo.User, error) {
	return todo.User{ID: id}, s.call()
}
func (s *stub) GetUser(_ context.Context, id string) (todo.User, error) {
	return todo.User{ID: id}, s.call()
}
func (s *stub) UpdateUser(_ context.Context, id string, _ todo.UserInput) (todo.User, error) {
	return todo.User{ID: id}, s.call()
}
func (s *stub) DeleteUser(context.Context, string) (bool, error) { return false, s.call() }
func (s *stub) CreateTask(context.Context, string, todo.TaskInput) (todo.Task, error) {
	return s.task(0)
}
func (s *stub) GetTask(context.Context, string, string) (todo.Task, error) { return s.task(0) }
func (s *stub) ListTasks(_ context.Context, _ string, filter todo.TaskFilter) (todo.TaskList, error) {
	s.mu.Lock()
	s.filter = filter
	s.mu.Unlock()
	return todo.TaskList{Tasks: []todo.Task{}}, s.call()
}
func (s *stub) ReplaceTask(_ context.Context, _, _ string, _ todo.TaskInput, ifVersion int) (todo.Task, error) {
	return s.task(ifVersion)
}
func (s *stub) ChangeTask(_ context.Context, _, _ string, change todo.TaskChange, ifVersion int) (todo.Task, error) {
	s.mu.Lock()
	s.change = change
	s.mu.Unlock()
	return s.task(ifVersion)
}
func (s *stub) DeleteTask(_ context.Context, _, _ string, ifVersion int) error {
	_, err := s.task(ifVersion)
	return err
}
func (s *stub) SetStatuses(_ context.Context, _ string, ids []string, _ todo.Status) (todo.BulkResult, error) {
	return todo.BulkResult{Failed: map[string]error{ids[0]: todo.ErrTaskNotFound}}, s.call()
}
func (s *stub) DeleteCompleted(context.Context, string) (int, bool, error) { return 0, true, s.call() }
func (s *stub) Stats(context.Context, string) (todo.Stats, error)          { return todo.Stats{}, s.call() }

// newWire is the API over a stub.
func newWire(service *stub, keys idempotency.Claims, log *slog.Logger) *kit.API {
	return (&api.API{Service: service, Keys: keys, Now: began, Log: log}).Handler()
}
