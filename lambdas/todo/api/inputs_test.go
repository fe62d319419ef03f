package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	service := &stub{}
	api := newWire(service, nil, discard())
	w := as("ann", "GET /api/v1/tasks?status=pending&priority=low&sort=due_date&limit=7&overdue=true&q=+x&category=a%23b&due_from=2026-02-01&due_to=2026-02-03&cursor=c", "").with("X-Timezone: Asia/Tokyo").do(api)
	if w.Code != 200 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	got := service.filter
	if want := (todo.TaskFilter{
		Status: todo.Pending, Priority: todo.Low, Category: "a#b", DueFrom: "2026-02-01", DueTo: "2026-02-03", Overdue: todo.Yes,
		Search: " x", Sort: todo.ByDueDate, Limit: 7, Cursor: "c", Timezone: "Asia/Tokyo",
	}); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
	if w := as("ann", "GET /api/v1/tasks", "").do(api); w.Code != 200 || service.filter != (todo.TaskFilter{Limit: 20}) {
		t.Errorf("got %d, %+v", w.Code, service.filter)
	}
	if strings.TrimSpace(w.Body.String()) != `{"tasks":[],"next_cursor":null}` {
		t.Errorf("got %s", w.Body)
	}
	for _, zone := range []string{"Local", "../zone", "Mars/Olympus", strings.Repeat("z", 65), "Europe/Berlin, UTC"} {
		if got := invalidFields(t, as("ann", "GET /api/v1/tasks?limit=0", "").with("X-Timezone: "+zone).do(api)); !strings.Contains(got, "limit") || !strings.Contains(got, "X-Timezone") {
			t.Errorf("%s: got %s", zone, got)
		}
	}
}

// The optional fields of a whole task may be null, empty or left out.
func TestOptionalFields(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"title":"x","description":null,"status":null,"priority":null,"category":null,"due_date":null}`,
		`{"title":"x","description":"","priority":"","category":"","due_date":""}`,
	} {
		for _, line := range []string{"POST /api/v1/tasks", "PUT /api/v1/tasks/x"} {
			if w := as("ann", line, body).do(newWire(&stub{}, &httpapitest.Ledger{}, discard())); w.Code >= 300 {
				t.Errorf("%s %s: got %d %s", line, body, w.Code, w.Body)
			}
		}
	}
	if w := as("ann", "POST /api/v1/tasks/bulk", `{"action":"delete_completed","task_ids":null}`).do(newWire(&stub{}, &httpapitest.Ledger{}, discard())); w.Code != 200 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// A field that is left out stays, one that is null or "" is cleared.
func TestChange(t *testing.T) {
	t.Parallel()
	set := func(c todo.TaskChange) (fields []string) {
		for name, value := range map[string]*string{
			"title": c.Title, "description": (*string)(c.Description), "category": (*string)(c.Category),
			"status": (*string)(c.Status), "priority": (*string)(c.Priority), "due_date": (*string)(c.DueDate),
		} {
			if value != nil {
				fields = append(fields, name+"="+*value)
			}
		}
		slices.Sort(fields)
		return fields
	}
	for body, want := range map[string]string{
		`{}`:                                 "",
		`{"title":"x"}`:                      "title=x",
		`{"status":"completed"}`:             "status=completed",
		`{"description":null,"category":""}`: "category= description=",
		`{"priority":null,"due_date":null}`:  "due_date= priority=",
		`{"priority":"low","due_date":"2026-02-14","description":" "}`: "description=  due_date=2026-02-14 priority=low",
	} {
		service := &stub{}
		if w := as("ann", "PATCH /api/v1/tasks/x", body).do(newWire(service, &httpapitest.Ledger{}, discard())); w.Code != 200 {
			t.Errorf("%s: got %d %s", body, w.Code, w.Body)
		}
		if got := strings.Join(set(service.change), " "); got != want {
			t.Errorf("%s: got %q; want %q", body, got, want)
		}
	}
}
