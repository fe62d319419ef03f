package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/dynamodb"
	"github.com/onesynth-cdk/onesynth/schema"
)

// platform is the API over the real store, with a clock that a test sets. Each answer is checked by
// the OpenAPI document.
type platform struct {
	api     *kit.API
	served  func(*http.Request, *httptest.ResponseRecorder)
	keys    *idempotency.Keys
	store   *dynamodb.Store
	metrics *bytes.Buffer

	mu  sync.Mutex
	now time.Time
}

func newPlatform(t testing.TB) *platform {
	t.Helper()
	p := &platform{store: dynamodb.New(dynamotest.Open(t, schema.Todo().Database).DB), metrics: &bytes.Buffer{}, now: began()}
	p.keys = p.store.Keys()
	p.keys.Now = p.read
	metrics := &kit.Metrics{Namespace: "test", Writer: p.metrics}
	p.api = (&api.API{
		Service: &todo.Service{Store: p.store, CursorKey: []byte("the key of these tests"), Now: p.read, Completed: api.CountCompleted(metrics)},
		Keys:    p.keys,
		Log:     discard(),
		Metrics: metrics,
		Now:     p.read,
	}).Handler()
	d := described(t)
	p.served = func(r *http.Request, w *httptest.ResponseRecorder) { d.IsKept(t, r, w) }
	return p
}

// ServeHTTP serves one request. w is a recorder.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.api.ServeHTTP(w, r)
	p.served(r, w.(*httptest.ResponseRecorder))
}

// newUser is a platform whose user is ann.
func newUser(t testing.TB) *platform {
	t.Helper()
	p := newPlatform(t)
	p.do(t, as("ann", "POST /api/v1/users/me", `{"email":"ann@example.com","name":"Ann"}`), 201)
	return p
}

func (p *platform) read() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *platform) advance(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

// do makes the request, checks its status, and returns the body.
func (p *platform) do(t testing.TB, r request, status int) map[string]any {
	t.Helper()
	w := r.do(p)
	if w.Code != status {
		t.Fatalf("%s: got %d %s; want %d", r.line, w.Code, w.Body, status)
	}
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: %v: %s", r.line, err, w.Body)
	}
	return body
}

// create makes a task and returns its path.
func (p *platform) create(t testing.TB, user, body string) string {
	t.Helper()
	return "/api/v1/tasks/" + p.do(t, as(user, "POST /api/v1/tasks", body), 201)["task_id"].(string)
}

// A request that failed for a passing reason is carried out when it comes again.
func TestPassingFailuresAreNotKept(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	task := as("ann", "POST /api/v1/tasks", `{"title":"x"}`)
	p.do(t, task, 404)
	p.do(t, task, 404)
	p.do(t, as("ann", "POST /api/v1/users/me", `{"email":"ann@example.com","name":"Ann"}`), 201)
	p.do(t, task, 201)
	// A request that never reached the rules is not kept either.
	if got := invalidFields(t, as("ann", "POST /api/v1/tasks", `{"title":""}`).with("Idempotency-Key: k").do(p)); got != "title" {
		t.Errorf("got %s", got)
	}
	p.do(t, as("ann", "POST /api/v1/tasks", `{"title":"y"}`).with("Idempotency-Key: k"), 201)
}

// dying is a service whose attempts do their work and die before they answer.
type dying struct{ api.Service }

func (d dying) CreateTask(ctx context.Context, user string, input todo.TaskInput) (todo.Task, error) {
	if _, err := d.Service.CreateTask(ctx, user, input); err != nil {
		return todo.Task{}, err
	}
	panic("dies")
}

// The answer of an attempt that died after its work is kept: the next attempt gets it at once, and
// no second task is created.
func TestDeathAfterCommit(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	r := as("ann", "POST /api/v1/tasks", `{"title":"x"}`)
	dead := (&api.API{
		Service: dying{&todo.Service{Store: p.store, Now: p.read}}, Keys: p.keys, Now: p.read, Log: discard(),
	}).Handler()
	if w := r.do(dead); w.Code != 500 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	w := r.do(p)
	if w.Code != 201 || w.Header().Get("Idempotency-Replayed") != "true" || w.Header().Get("ETag") != `"1"` {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	if got := as("ann", "GET "+w.Header().Get("Location"), "").do(p); got.Body.String() != w.Body.String() {
		t.Errorf("got %s, want %s", got.Body, w.Body)
	}
	if got := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]; got != 1.0 {
		t.Errorf("there are %v tasks", got)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	create := as("ann", "POST /api/v1/tasks", `{"title":"a"}`)
	path := "/api/v1/tasks/" + p.do(t, create, 201)["task_id"].(string)
	p.do(t, create, 201) // a replay counts nothing
	p.create(t, "ann", `{"title":"b","status":"completed"}`)
	p.advance(time.Second)
	p.do(t, as("ann", "PATCH "+path, `{"status":"completed"}`), 200)
	p.do(t, as("ann", "PATCH "+path, `{"status":"completed"}`), 200)           // it was already,
	p.do(t, as("ann", "PUT "+path, `{"status":"completed","title":"b"}`), 200) // also in the same second
	p.advance(time.Second)
	p.do(t, as("ann", "PATCH "+path, `{"status":"completed","title":"c"}`), 200)
	p.do(t, as("ann", "PATCH "+path, `{"status":"pending"}`), 400)
	other := p.create(t, "ann", `{"title":"d"}`)
	for range 2 { // the second time they were already
		p.do(t, as("ann", "POST /api/v1/tasks/bulk", `{"action":"set_status","status":"completed","task_ids":["`+strings.TrimPrefix(other, "/api/v1/tasks/")+`","`+strings.TrimPrefix(path, "/api/v1/tasks/")+`"]}`), 200)
	}
	metricstest.Complete(t, p.metrics.String(), schema.MetricsOf("todoapi", schema.Todo().Metrics))
	if sums := metricstest.Sums(t, p.metrics.String()); sums["TasksCreated"] != 3 || sums["TasksCompleted"] != 3 {
		t.Errorf("got %v", sums)
	}
}
