package api_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
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
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// platform is the API over the real store, with a clock that a test sets. Each answer is checked by
// the OpenAPI document.
type platform struct {
	api     *kit.API
	served  func(*http.Request, *httptest.ResponseRecorder)
	keys    *idempotency.Keys
	tables  *dynamotest.Tables
	metrics *bytes.Buffer

	mu  sync.Mutex
	now time.Time
}

func newPlatform(t testing.TB) *platform {
	t.Helper()
	p := &platform{tables: dynamotest.Open(t, todo.Platform().Database), metrics: &bytes.Buffer{}, now: began()}
	p.keys = service.Keys(p.tables.DB)
	p.keys.Clock = p.read
	metrics := &kit.Metrics{Namespace: "test", Writer: p.metrics}
	p.api = (&api.API{
		Service: &service.Service{DB: p.tables.DB, CursorKey: []byte("the key of these tests"), Clock: p.read,
			Metrics: metrics},
		Keys:  p.keys,
		Log:   discard(),
		Clock: p.read,
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
	if got := invalidFields(t, as("ann", "POST /api/v1/tasks",
		`{"title":""}`).with("Idempotency-Key: k").do(p)); got != "title" {
		t.Errorf("got %s", got)
	}
	p.do(t, as("ann", "POST /api/v1/tasks", `{"title":"y"}`).with("Idempotency-Key: k"), 201)
}

// The answer of an attempt that died after its work is kept: the next attempt gets it at once, and
// no second task is created.
func TestDeathAfterCommit(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	r := as("ann", "POST /api/v1/tasks", `{"title":"x"}`)
	p.tables.Recorder.Faults(nil, func(operation schema.Operation) error {
		if operation == schema.TransactWriteItems {
			panic("dies")
		}
		return nil
	})
	if w := r.do(p); w.Code != 500 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	p.tables.Recorder.Faults(nil, nil)
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

// While an attempt at a mutation is running, another one is refused and changes nothing, even if it
// would end in 404; when the first one has given up, it is carried out.
func TestRunning(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	path := p.create(t, "ann", `{"title":"x"}`)
	missing := "/api/v1/tasks/0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"
	bulk := `{"action":"set_status","status":"in_progress","task_ids":["` + strings.TrimPrefix(path, "/api/v1/tasks/") +
		`"]}`
	for _, test := range []struct {
		line, body string
		status     int
	}{
		{"PUT /api/v1/users/me", `{"email":"ann@example.com","name":"Bea"}`, 200},
		{"POST /api/v1/users/me", `{"email":"ann@example.com","name":"Bea"}`, 409},
		{"POST /api/v1/tasks", `{"title":"y"}`, 201},
		{"PATCH " + path, `{"title":"z"}`, 200},
		{"PUT " + path, `{"title":"w"}`, 200},
		{"PATCH " + missing, `{"title":"z"}`, 404},
		{"POST /api/v1/tasks/bulk", bulk, 200},
		{"DELETE " + missing, "", 404},
		{"DELETE " + path, "", 204},
		{"POST /api/v1/tasks/bulk", `{"action":"delete_completed"}`, 200},
		{"DELETE /api/v1/users/me", "", 204},
	} {
		method, target, _ := strings.Cut(test.line, " ")
		key := rand.Text()
		claim, _, err := p.keys.Begin(t.Context(), "ann", key,
			fmt.Appendf(nil, "%s\n%s\n\n%s", method, target, test.body), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		state := func() string {
			return as("ann", "GET /api/v1/tasks", "").do(p).Body.String() +
				as("ann", "GET /api/v1/users/me", "").do(p).Body.String()
		}
		before, r := state(), as("ann", test.line, test.body).with("Idempotency-Key: "+key)
		if w := r.do(p); w.Code != 409 || w.Header().Get("Retry-After") == "" ||
			!strings.Contains(w.Body.String(), "another attempt") {
			t.Errorf("%s: got %d %v %s while another attempt is running", test.line, w.Code, w.Header(), w.Body)
		}
		if after := state(); after != before {
			t.Errorf("%s: %s became %s", test.line, before, after)
		}
		if err := p.keys.Release(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		if w := r.do(p); w.Code != test.status || w.Header().Get("Idempotency-Replayed") != "" {
			t.Errorf("%s: got %d %s after that; want %d", test.line, w.Code, w.Body, test.status)
		}
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
		p.do(t, as("ann", "POST /api/v1/tasks/bulk",
			`{"action":"set_status","status":"completed","task_ids":["`+strings.TrimPrefix(other, "/api/v1/tasks/")+
				`","`+strings.TrimPrefix(path, "/api/v1/tasks/")+`"]}`), 200)
	}
	metricstest.Complete(t, p.metrics.String(), schema.MetricsOf("todoapi", todo.Platform().Metrics))
	if sums := metricstest.Sums(t, p.metrics.String()); sums["TasksCreated"] != 3 || sums["TasksCompleted"] != 3 {
		t.Errorf("got %v", sums)
	}
}
