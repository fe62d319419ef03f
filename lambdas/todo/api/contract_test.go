package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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

// platform is the API over the real store, with a clock that a test sets. Each
// answer is held to the OpenAPI document.
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
	d, _ := readDocument(t)
	p.served = func(r *http.Request, w *httptest.ResponseRecorder) { d.IsKept(t, r, w) }
	return p
}

// ServeHTTP serves one request. w is a recorder.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.api.ServeHTTP(w, r)
	p.served(r, w.(*httptest.ResponseRecorder))
}

// newUsers is a platform with these users.
func newUsers(t testing.TB, names ...string) *platform {
	t.Helper()
	p := newPlatform(t)
	for _, name := range names {
		r := as(name, "POST /api/v1/users/me", `{"email":"`+name+`@example.com","name":"`+name+`"}`)
		if w := r.do(p); w.Code != http.StatusCreated {
			t.Fatalf("create %s: %d %s", name, w.Code, w.Body)
		}
	}
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

// do makes the request, holds it to the status, and returns the body.
func (p *platform) do(t testing.TB, r request, status int) map[string]any {
	t.Helper()
	w := r.do(p)
	if w.Code != status {
		t.Fatalf("%s: got %d %s; want %d", r.line, w.Code, w.Body, status)
	}
	if status == http.StatusNoContent {
		if w.Body.Len() > 0 || w.Header().Get("Content-Type") != "" {
			t.Errorf("%s: 204 has %v and the body %q", r.line, w.Header(), w.Body)
		}
		return nil
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

// titles are the titles of a list.
func titles(list map[string]any) string {
	var found []string
	for _, each := range list["tasks"].([]any) {
		found = append(found, each.(map[string]any)["title"].(string))
	}
	return strings.Join(found, " ")
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// golden makes the request and holds status and body, byte for byte, to what is
// wanted. Ids are written as <id>.
func (p *platform) golden(t *testing.T, r request, status int, want string) *httptest.ResponseRecorder {
	t.Helper()
	w := r.do(p)
	got := strings.TrimSuffix(uuids.ReplaceAllString(w.Body.String(), "<id>"), "\n")
	if w.Code != status || got != want {
		t.Errorf("%s\n got %d %s\nwant %d %s", r.line, w.Code, got, status, want)
	}
	return w
}

// A task that is missing, another user's, or could never be: 404, on every route,
// with any precondition, and nothing of it shows or changes.
func TestMissingAndForeignTasks(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann", "bob")
	foreign := p.create(t, "bob", `{"title":"Bob's"}`)
	before := p.golden(t, as("bob", "GET "+foreign, ""), 200, `{"task_id":"<id>","title":"Bob's","description":null,"status":"pending","priority":null,"category":null,"due_date":null,"created_at":"2026-02-02T09:30:00Z","updated_at":"2026-02-02T09:30:00Z","completed_at":null,"version":1}`).Body.String()
	for _, path := range []string{
		foreign, "/api/v1/tasks/" + strings.ToUpper(strings.TrimPrefix(foreign, "/api/v1/tasks/")),
		"/api/v1/tasks/019c1d3c-0000-7000-8000-000000000000", "/api/v1/tasks/x", "/api/v1/tasks/%23", "/api/v1/tasks/%ff",
		"/api/v1/tasks/%00", "/api/v1/tasks/" + strings.Repeat("x", 3000), "/api/v1/tasks/METADATA", "/api/v1/tasks/a%2Fb",
	} {
		for _, header := range []string{"", "*", `"1"`, `"7"`, `W/"1"`} {
			for _, r := range []request{
				as("ann", "GET "+path, ""),
				as("ann", "PUT "+path, `{"title":"Ann's","status":"completed"}`),
				as("ann", "PATCH "+path, `{"title":"Ann's"}`),
				as("ann", "PATCH "+path, `{}`),
				as("ann", "DELETE "+path, ""),
			} {
				if header != "" {
					r = r.with("If-Match: " + header)
				}
				p.golden(t, r, 404, `{"detail":"there is no such task"}`)
			}
		}
		id, err := url.PathUnescape(strings.TrimPrefix(path, "/api/v1/tasks/"))
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(strings.ToValidUTF8(id, "?"))
		answer := p.do(t, as("ann", "POST /api/v1/tasks/bulk", `{"action":"set_status","status":"completed","task_ids":[`+string(quoted)+`]}`), 200)
		failed := answer["failed"].([]any)
		if len(answer["changed"].([]any)) != 0 || len(failed) != 1 || failed[0].(map[string]any)["status"] != 404.0 || failed[0].(map[string]any)["detail"] != "there is no such task" {
			t.Errorf("%s: got %v", path, answer)
		}
	}
	p.do(t, as("ann", "POST /api/v1/tasks/bulk", `{"action":"delete_completed"}`), 200)
	if w := as("bob", "GET "+foreign, "").do(p); w.Body.String() != before {
		t.Errorf("the task became %s", w.Body)
	}
	if got := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]; got != 0.0 {
		t.Errorf("ann has %v tasks", got)
	}
}

// Lists narrow by all that is asked for, in the order that is asked for.
func TestLists(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann")
	for _, body := range []string{
		`{"title":"a","status":"pending","priority":"low","category":"home","due_date":"2026-01-31","description":"Straße"}`,
		`{"title":"b","status":"in_progress","priority":"high","category":"home#2","due_date":"2026-02-01"}`,
		`{"title":"c","status":"completed","priority":"high","category":"work","due_date":"2026-02-01"}`,
		`{"title":"d","status":"cancelled","due_date":"2026-01-01"}`,
		`{"title":"e","due_date":"2026-02-02","category":"100%"}`,
		`{"title":"Find ME"}`,
	} {
		p.create(t, "ann", body)
		p.advance(time.Second)
	}
	for query, want := range map[string]string{
		"":                                      "Find ME e d c b a",
		"status=pending":                        "Find ME e a",
		"status=completed":                      "c",
		"priority=high":                         "c b",
		"category=home":                         "a",
		"category=home%232":                     "b",
		"category=100%25":                       "e",
		"category=hom":                          "",
		"due_from=2026-02-01":                   "b c e",
		"due_to=2026-01-31":                     "d a",
		"due_from=2026-02-01&due_to=2026-02-01": "b c",
		"overdue=true":                          "a b",
		"overdue=false&status=pending":          "Find ME e a",
		"q=find+me":                             "Find ME",
		"q=STRAßE":                              "a",
		"q=%25":                                 "",
		"sort=status":                           "d c b a e Find ME",
		"sort=due_date":                         "d a b c e",
		"sort=priority":                         "b c a",
		"sort=category":                         "e a b c",
		"status=pending&overdue=true":           "a",
		"priority=high&status=completed&due_from=2026-02-01&category=work&q=C": "c",
	} {
		list := p.do(t, as("ann", "GET /api/v1/tasks?"+query, ""), 200)
		if got := titles(list); got != want || list["next_cursor"] != nil {
			t.Errorf("%s: got %q, next_cursor %v; want %q", query, got, list["next_cursor"], want)
		}
	}
	// It is the 3rd of February in Tokyo sooner than in UTC: e is overdue there.
	p.advance(8 * time.Hour)
	if got := titles(p.do(t, as("ann", "GET /api/v1/tasks?overdue=true", "").with("X-Timezone: Asia/Tokyo"), 200)); got != "a b e" {
		t.Errorf("overdue in Tokyo: got %q", got)
	}
	if got := titles(p.do(t, as("ann", "GET /api/v1/tasks?overdue=true", ""), 200)); got != "a b" {
		t.Errorf("overdue in UTC: got %q", got)
	}
	if got := p.do(t, as("stranger", "GET /api/v1/tasks", ""), 200); titles(got) != "" || got["next_cursor"] != nil {
		t.Errorf("a stranger has %v", got)
	}
	p.golden(t, as("ann", "GET /api/v1/tasks/stats", ""), 200,
		`{"by_status":{"pending":3,"in_progress":1,"completed":1,"cancelled":1},"by_priority":{"low":1,"medium":0,"high":2,"urgent":0,"none":3},"total":6}`)
	p.golden(t, as("stranger", "GET /api/v1/tasks/stats", ""), 200,
		`{"by_status":{"pending":0,"in_progress":0,"completed":0,"cancelled":0},"by_priority":{"low":0,"medium":0,"high":0,"urgent":0,"none":0},"total":0}`)
}

// Pages join to the whole list. A cursor is its user's and its list's alone.
func TestPages(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann", "bob")
	var newest []string
	for i := range 7 {
		p.create(t, "ann", fmt.Sprintf(`{"title":"%d","priority":"low"}`, i))
		newest = append([]string{strconv.Itoa(i)}, newest...)
		p.advance(time.Second)
	}
	var pages []string
	var cursors []string
	for cursor := ""; ; {
		line := "GET /api/v1/tasks?limit=3&priority=low"
		if cursor != "" {
			line += "&cursor=" + url.QueryEscape(cursor)
		}
		list := p.do(t, as("ann", line, ""), 200)
		pages = append(pages, titles(list))
		next, ok := list["next_cursor"].(string)
		if !ok {
			break
		}
		cursors = append(cursors, next)
		cursor = next
	}
	if got := strings.Join(pages, " "); got != strings.Join(newest, " ") || len(pages) != 3 {
		t.Errorf("got the pages %q", pages)
	}
	cursor := url.QueryEscape(cursors[0])
	for name, r := range map[string]request{
		"OtherUser":   as("bob", "GET /api/v1/tasks?limit=3&priority=low&cursor="+cursor, ""),
		"OtherFilter": as("ann", "GET /api/v1/tasks?limit=3&priority=high&cursor="+cursor, ""),
		"NoFilter":    as("ann", "GET /api/v1/tasks?limit=3&cursor="+cursor, ""),
		"OtherSort":   as("ann", "GET /api/v1/tasks?limit=3&priority=low&sort=due_date&cursor="+cursor, ""),
		"Forged":      as("ann", "GET /api/v1/tasks?limit=3&priority=low&cursor=x"+cursor, ""),
		"Cut":         as("ann", "GET /api/v1/tasks?limit=3&priority=low&cursor="+cursors[0][:len(cursors[0])-2], ""),
		"Nonsense":    as("ann", "GET /api/v1/tasks?limit=3&priority=low&cursor=%F0%9F%AA%B4", ""),
		"Long":        as("ann", "GET /api/v1/tasks?limit=3&priority=low&cursor="+strings.Repeat("A", 4000), ""),
	} {
		if got := invalidFields(t, r.do(p)); got != "cursor" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// mutations makes a platform on which each request of the result is a good one
// that changes something, or fails for good.
func mutations(t *testing.T) (*platform, map[string]request) {
	t.Helper()
	p := newUsers(t, "ann", "dan", "eve")
	path := p.create(t, "ann", `{"title":"a","status":"completed"}`)
	open := p.create(t, "ann", `{"title":"b"}`)
	gone := p.create(t, "ann", `{"title":"c"}`)
	return p, map[string]request{
		"CreateUser":      as("bob", "POST /api/v1/users/me", `{"email":"bob@example.com","name":"Bob"}`),
		"CreateUserTaken": as("cat", "POST /api/v1/users/me", `{"email":"ann@example.com","name":"Cat"}`),
		"CreateUserAgain": as("ann", "POST /api/v1/users/me", `{"email":"ann@example.com","name":"Ann"}`),
		"ReplaceUser":     as("dan", "PUT /api/v1/users/me", `{"email":"dan2@example.com","name":"Dan"}`),
		"ReplaceUserSame": as("ann", "PUT /api/v1/users/me", `{"email":"ann@example.com","name":"ann"}`),
		"DeleteUser":      as("eve", "DELETE /api/v1/users/me", ""),
		"CreateTask":      as("ann", "POST /api/v1/tasks", `{"title":"x"}`),
		"ReplaceTask":     as("ann", "PUT "+open, `{"title":"x","due_date":"2026-02-14"}`),
		"ChangeTask":      as("ann", "PATCH "+path, `{"title":"changed"}`),
		"ChangeTaskNone":  as("ann", "PATCH "+path, `{}`),
		"Reopen":          as("ann", "PATCH "+path, `{"status":"pending"}`),
		"Stale":           as("ann", "PATCH "+path, `{"title":"stale"}`).with(`If-Match: "9"`),
		"Missing":         as("ann", "PATCH /api/v1/tasks/x", `{}`),
		"DeleteTask":      as("ann", "DELETE "+gone, ""),
		"SetStatus":       as("ann", "POST /api/v1/tasks/bulk", `{"action":"set_status","status":"cancelled","task_ids":["x","`+strings.TrimPrefix(open, "/api/v1/tasks/")+`"]}`),
		"SetStatusNone":   as("ann", "POST /api/v1/tasks/bulk", `{"action":"set_status","status":"cancelled","task_ids":["x"]}`),
	}
}

// The same key and request get the same status, headers and bytes again, for every
// mutation, also after changes in between. Another request with the key gets 422.
func TestReplay(t *testing.T) {
	t.Parallel()
	p, requests := mutations(t)
	first := map[string]*httptest.ResponseRecorder{}
	names := []string{}
	for name := range requests {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		first[name] = requests[name].do(p)
		if w := first[name]; w.Code >= 500 || w.Header().Get("Idempotency-Replayed") != "" {
			t.Fatalf("%s: got %d %v %s", name, w.Code, w.Header(), w.Body)
		}
	}
	p.do(t, as("ann", "POST /api/v1/tasks/bulk", `{"action":"set_status","status":"completed","task_ids":["x"]}`), 200)
	total := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]
	p.advance(24*time.Hour - time.Second)
	for _, name := range names {
		for range 2 {
			w, want := requests[name].do(p), first[name]
			if w.Code != want.Code || w.Body.String() != want.Body.String() {
				t.Errorf("%s: got %d %s; was %d %s", name, w.Code, w.Body, want.Code, want.Body)
			}
			header := w.Header().Clone()
			if header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%s: a replay has the headers %v", name, header)
			}
			header.Del("Idempotency-Replayed")
			if fmt.Sprint(header) != fmt.Sprint(want.Header()) {
				t.Errorf("%s: headers %v; were %v", name, header, want.Header())
			}
		}
		for _, change := range []func(*request){
			func(r *request) { r.body += " " },
			func(r *request) { *r = r.with(`If-Match: "77"`) },
			func(r *request) { r.line, r.body = "POST /api/v1/tasks", `{"title":"other"}` },
		} {
			other := requests[name]
			change(&other)
			if got := invalidFields(t, other.do(p)); got != "Idempotency-Key" {
				t.Errorf("%s: got %s", name, got)
			}
		}
	}
	if got := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]; got != total {
		t.Errorf("the replays changed something: %v tasks, were %v", got, total)
	}
	// Another user's key is another key.
	key := requests["CreateTask"].headers[0]
	if w := as("dan", "POST /api/v1/tasks", `{"title":"dan's"}`).with(key).do(p); w.Code != 201 || w.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	// After 24 hours it is a new one.
	p.advance(2 * time.Second)
	w := requests["CreateTask"].do(p)
	if w.Code != 201 || w.Body.String() == first["CreateTask"].Body.String() || w.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
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
	// Nor is what never reached the rules.
	if got := invalidFields(t, as("ann", "POST /api/v1/tasks", `{"title":""}`).with("Idempotency-Key: k").do(p)); got != "title" {
		t.Errorf("got %s", got)
	}
	p.do(t, as("ann", "POST /api/v1/tasks", `{"title":"y"}`).with("Idempotency-Key: k"), 201)
}

// An attempt that died holds its request until its lease ends. Then another takes
// over.
func TestTakeover(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann")
	r := as("ann", "POST /api/v1/tasks", `{"title":"x"}`).with("Idempotency-Key: k")
	// The attempt claims its key, and dies. A panic stands for its death.
	dead := (&api.API{
		Service: &stub{work: func() error { panic("dies") }}, Keys: p.keys, Now: p.read, Log: discard(),
	}).Handler()
	if w := r.do(dead); w.Code != 500 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	w := r.do(p)
	if w.Code != 409 || w.Header().Get("Retry-After") != "30" || !strings.Contains(detail(t, w), "is running") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	other := r
	other.body = `{"title":"y"}`
	if got := invalidFields(t, other.do(p)); got != "Idempotency-Key" {
		t.Errorf("got %s", got)
	}
	p.advance(30 * time.Second)
	id := p.do(t, r, 201)["task_id"]
	if again := p.do(t, r, 201)["task_id"]; again != id {
		t.Errorf("got %v; was %v", again, id)
	}
	if got := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]; got != 1.0 {
		t.Errorf("there are %v tasks", got)
	}
}

// dying is a service whose attempts do their work and die before they answer.
type dying struct{ api.Service }

func (d dying) CreateTask(ctx context.Context, user string, input todo.TaskInput) (todo.Task, error) {
	if _, err := d.Service.CreateTask(ctx, user, input); err != nil {
		return todo.Task{}, err
	}
	panic("dies")
}

// An attempt that died after its work was done has its answer kept: the next hears
// it at once, and no second task is made.
func TestDeathAfterCommit(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann")
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
	p.golden(t, as("ann", "GET "+w.Header().Get("Location"), ""), 200, uuids.ReplaceAllString(strings.TrimSpace(w.Body.String()), "<id>"))
	if got := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]; got != 1.0 {
		t.Errorf("there are %v tasks", got)
	}
}

// 50 requests with one key at the same time: one task, and all hear of it, or that
// it is being made.
func TestConcurrentKey(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann")
	r := as("ann", "POST /api/v1/tasks", `{"title":"x"}`)
	answers := make([]*httptest.ResponseRecorder, 50)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() { answers[i] = r.do(p) })
	}
	group.Wait()
	want := r.do(p)
	if want.Code != 201 || want.Header().Get("Idempotency-Replayed") != "true" {
		t.Fatalf("got %d %s", want.Code, want.Body)
	}
	made := 0
	for _, w := range answers {
		switch {
		case w.Code == 409 && w.Header().Get("Retry-After") != "":
			detail(t, w)
		case w.Code != 201 || w.Body.String() != want.Body.String() || w.Header().Get("Location") != want.Header().Get("Location"):
			t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
		case w.Header().Get("Idempotency-Replayed") == "":
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d attempts carried the request out", made)
	}
	if got := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]; got != 1.0 {
		t.Errorf("there are %v tasks", got)
	}
}

// Changes of one task at the same time, each on the version it has seen: one wins.
func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann")
	path := p.create(t, "ann", `{"title":"x"}`)
	answers := make([]int, 8)
	var group sync.WaitGroup
	for i := range answers {
		r := as("ann", "PATCH "+path, fmt.Sprintf(`{"title":"%d"}`, i)).with(`If-Match: "1"`)
		group.Go(func() { answers[i] = r.do(p).Code })
	}
	group.Wait()
	slices.Sort(answers)
	if got := fmt.Sprint(answers); got != "[200 412 412 412 412 412 412 412]" {
		t.Errorf("got %s", got)
	}
	if got := p.do(t, as("ann", "GET "+path, ""), 200)["version"]; got != 2.0 {
		t.Errorf("the version is %v", got)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann")
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

// lastSeconds is a context whose deadline is always near, and never there.
type lastSeconds struct{ context.Context }

func (lastSeconds) Deadline() (time.Time, bool) { return time.Now().Add(2 * time.Second), true }

// Work that is longer than an invocation ends in time, and says so.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	p := newUsers(t, "ann")
	for range todo.MaxBulkTasks + 1 {
		p.create(t, "ann", `{"title":"x","status":"completed"}`)
	}
	ctx := lastSeconds{t.Context()}
	remove := as("ann", "POST /api/v1/tasks/bulk", `{"action":"delete_completed"}`)
	for range 2 {
		if w := remove.doIn(ctx, p); w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"action":"delete_completed","deleted":50,"more":true}` {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
	if got := p.do(t, as("ann", "GET /api/v1/tasks/stats", ""), 200)["total"]; got != 1.0 {
		t.Errorf("there are %v tasks", got)
	}

	erase := as("ann", "DELETE /api/v1/users/me", "")
	for range 2 {
		w := erase.doIn(ctx, p)
		if w.Code != http.StatusAccepted || !strings.Contains(detail(t, w), "in the background") {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
	p.do(t, as("ann", "GET /api/v1/users/me", ""), 404)
	p.do(t, as("ann", "POST /api/v1/tasks", `{"title":"x"}`), 404)
	w := as("ann", "POST /api/v1/users/me", `{"email":"ann@example.com","name":"Ann"}`).do(p)
	if w.Code != 409 || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := as("ann", "DELETE /api/v1/users/me", "").do(p); w.Code != 409 || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}
