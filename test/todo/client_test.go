package todo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// caller is a caller with a token.
type caller struct{ platform.Caller }

// newCaller returns a caller with a token who is not a user yet.
func newCaller(t testing.TB, target *target) caller {
	t.Helper()
	c := caller{platform.NewCaller(t, target.Target)}
	c.IdempotencyKeys = true
	if target.Run == nil {
		t.Cleanup(func() {
			if r, err := c.Send(context.Background(), http.MethodDelete, "/api/v1/users/me", nil, nil); err != nil ||
				r.Status >= 500 {
				t.Errorf("delete the user: got %v, %v", r, err)
			}
		})
	}
	return c
}

// newUser returns a caller with a token who is a user.
func newUser(t testing.TB, target *target) caller {
	t.Helper()
	c := newCaller(t, target)
	read[user](t, c.Try(t, http.MethodPost, "/api/v1/users/me", profile{c.Email, "Ann"}), http.StatusCreated)
	return c
}

func ifMatch(version int) http.Header { return http.Header{"If-Match": {fmt.Sprintf(`"%d"`, version)}} }

// read decodes a reply, which must have that status.
func read[T any](t testing.TB, r onesynthtest.Reply, status int) T {
	t.Helper()
	return onesynthtest.Read[T](t, r, status)
}

type profile struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

type user struct {
	UserID    string `json:"user_id"`
	Email     string `json:"email"`
	Name      string `json:"name"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// input is a task as its user gives it, or what changes of one.
type input map[string]any

type task struct {
	TaskID      string  `json:"task_id"`
	Title       string  `json:"title"`
	Description *string `json:"description"`
	Status      string  `json:"status"`
	Priority    *string `json:"priority"`
	Category    *string `json:"category"`
	DueDate     *string `json:"due_date"`
	CreatedAt   string  `json:"created_at"`
	UpdatedAt   string  `json:"updated_at"`
	CompletedAt *string `json:"completed_at"`
	Version     int     `json:"version"`
}

func (t task) path() string { return "/api/v1/tasks/" + t.TaskID }

type page struct {
	Tasks      []task  `json:"tasks"`
	NextCursor *string `json:"next_cursor"`
}

type stats struct {
	ByStatus   map[string]int `json:"by_status"`
	ByPriority map[string]int `json:"by_priority"`
	Total      int            `json:"total"`
}

func (c caller) create(t testing.TB, given input) task {
	t.Helper()
	return read[task](t, c.Try(t, http.MethodPost, "/api/v1/tasks", given), http.StatusCreated)
}

func (c caller) task(t testing.TB, id string) task {
	t.Helper()
	return read[task](t, c.Try(t, http.MethodGet, "/api/v1/tasks/"+id, nil), http.StatusOK)
}

func (c caller) change(t testing.TB, id string, change input) task {
	t.Helper()
	return read[task](t, c.Try(t, http.MethodPatch, "/api/v1/tasks/"+id, change), http.StatusOK)
}

func (c caller) list(t testing.TB, query url.Values) page {
	t.Helper()
	return read[page](t, c.Try(t, http.MethodGet, "/api/v1/tasks?"+query.Encode(), nil), http.StatusOK)
}

// all reads a list page by page to its end.
func (c caller) all(t testing.TB, query url.Values) []task {
	t.Helper()
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", "100")
	var all []task
	for {
		got := c.list(t, query)
		all = append(all, got.Tasks...)
		if got.NextCursor == nil {
			return all
		}
		query.Set("cursor", *got.NextCursor)
	}
}

func (c caller) stats(t testing.TB) stats {
	t.Helper()
	return read[stats](t, c.Try(t, http.MethodGet, "/api/v1/tasks/stats", nil), http.StatusOK)
}

// refused checks that a reply is an error of the platform's own form, with that
// status, and returns its text.
func refused(t testing.TB, r onesynthtest.Reply, status int) string {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got %v; want %d", r, status)
	}
	detail, err := detailOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return detail
}

// detailOf reads an error of the platform's own form.
func detailOf(r onesynthtest.Reply) (string, error) {
	var body struct {
		Detail string `json:"detail"`
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || body.Detail == "" {
		return "", fmt.Errorf("got %v, which has not the form of an error: %w", r, err)
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return "", fmt.Errorf("got %v of content type %q", r, r.Header.Get("Content-Type"))
	}
	return body.Detail, nil
}

// problemsOf reads what is wrong with the fields of an input.
func problemsOf(r onesynthtest.Reply) (map[string]string, error) {
	var body struct {
		Detail []struct {
			Field   string `json:"field"`
			Index   *int   `json:"index"`
			Message string `json:"message"`
		} `json:"detail"`
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || len(body.Detail) == 0 {
		return nil, fmt.Errorf("got %v, which does not say what is wrong: %w", r, err)
	}
	named := map[string]string{}
	for _, problem := range body.Detail {
		if problem.Message == "" {
			return nil, fmt.Errorf("got %v, which does not say what is wrong with %q", r, problem.Field)
		}
		named[problem.Field] = problem.Message
	}
	return named, nil
}

// invalid checks that a reply is 422 and names exactly the fields.
func invalid(t testing.TB, r onesynthtest.Reply, fields ...string) {
	t.Helper()
	named, err := problemsOf(r)
	if r.Status != http.StatusUnprocessableEntity || err != nil {
		t.Fatalf("got %v, %v; want 422 on %v", r, err, fields)
	}
	for _, field := range fields {
		if named[field] == "" {
			t.Errorf("got %v; want details that name %s", r, field)
		}
	}
	if len(named) != len(fields) {
		t.Errorf("got %v; want details on %v alone", r, fields)
	}
}

// text is the text that a field has; empty when it is null.
func text(field *string) string {
	if field == nil {
		return ""
	}
	return *field
}
