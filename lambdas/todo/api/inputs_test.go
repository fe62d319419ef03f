package api_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each parameter of a list narrows or orders it.
func TestFilter(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	for _, body := range []string{
		`{"title":"One x","priority":"low","category":"a#b","due_date":"2026-02-01"}`,
		`{"title":"Two","status":"completed","priority":"high","due_date":"2026-02-02"}`,
		`{"title":"Three","description":"x","status":"in_progress","category":"a","due_date":"2026-02-10"}`,
	} {
		p.create(t, "ann", body)
		p.advance(time.Second)
	}
	list := func(query string, headers ...string) (titles, next string) {
		r := as("ann", "GET /api/v1/tasks"+query, "")
		r.headers = headers
		body := p.do(t, r, 200)
		var all []string
		for _, task := range body["tasks"].([]any) {
			all = append(all, task.(map[string]any)["title"].(string))
		}
		next, _ = body["next_cursor"].(string)
		return strings.Join(all, ", "), next
	}
	for query, want := range map[string]string{
		"":                     "Three, Two, One x",
		"?status=completed":    "Two",
		"?priority=low":        "One x",
		"?category=a%23b":      "One x",
		"?due_from=2026-02-02": "Two, Three",
		"?due_to=2026-02-02":   "One x, Two",
		"?overdue=true":        "One x",
		"?q=+x":                "One x",
		"?sort=due_date":       "One x, Two, Three",
	} {
		if got, next := list(query); got != want || next != "" {
			t.Errorf("%s: got %s, and the cursor %q; want %s", query, got, next, want)
		}
	}
	if got, _ := list("?overdue=true", "X-Timezone: Etc/GMT+12"); got != "" {
		t.Errorf("got %s where it is still the first", got)
	}
	first, next := list("?limit=1")
	if second, _ := list("?limit=1&cursor=" + next); first != "Three" || second != "Two" {
		t.Errorf("got the pages %s and %s", first, second)
	}
	for _, zone := range []string{"Local", "../zone", "Mars/Olympus", strings.Repeat("z", 65), "Europe/Berlin, UTC"} {
		got := invalidFields(t, as("ann", "GET /api/v1/tasks?limit=0", "").with("X-Timezone: "+zone).do(p))
		if !strings.Contains(got, "limit") || !strings.Contains(got, "X-Timezone") {
			t.Errorf("%s: got %s", zone, got)
		}
	}
}

const fullTask = `{"title":"t","description":"d","priority":"high","category":"c","due_date":"2026-02-01"}`

// content is what users say of a task.
func content(task map[string]any) map[string]any {
	maps.DeleteFunc(task, func(field string, _ any) bool {
		return field == "version" || field == "task_id" || strings.HasSuffix(field, "_at")
	})
	return task
}

// The optional fields of a whole task may be null, empty or left out.
func TestOptionalFields(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	want := map[string]any{"title": "x", "status": "pending"}
	for _, body := range []string{
		`{"title":"x"}`,
		`{"title":"x","description":null,"status":null,"priority":null,"category":null,"due_date":null}`,
		`{"title":"x","description":"","priority":"","category":"","due_date":""}`,
	} {
		for line, status := range map[string]int{"POST /api/v1/tasks": 201,
			"PUT " + p.create(t, "ann", fullTask): 200} {
			for field, got := range content(p.do(t, as("ann", line, body), status)) {
				if got != want[field] {
					t.Errorf("%s %s: %s is %v, want %v", line, body, field, got, want[field])
				}
			}
		}
	}
	p.do(t, as("ann", "POST /api/v1/tasks/bulk", `{"action":"delete_completed","task_ids":null}`), 200)
}

// A field that is left out stays, one that is null or "" is cleared.
func TestChange(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	for body, changed := range map[string]map[string]any{
		`{}`:                                 {},
		`{"title":"x"}`:                      {"title": "x"},
		`{"status":"completed"}`:             {"status": "completed"},
		`{"description":null,"category":""}`: {"description": nil, "category": nil},
		`{"priority":null,"due_date":null}`:  {"priority": nil, "due_date": nil},
		`{"priority":"low","due_date":"2026-02-14","description":" "}`: {
			"priority": "low", "due_date": "2026-02-14", "description": " ",
		},
	} {
		created := p.do(t, as("ann", "POST /api/v1/tasks", fullTask), 201)
		got := content(p.do(t, as("ann", fmt.Sprint("PATCH /api/v1/tasks/", created["task_id"]), body), 200))
		want := content(created)
		maps.Copy(want, changed)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (- want, + got):\n%s", body, diff)
		}
	}
}
