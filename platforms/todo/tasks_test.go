package todo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/validate/validatetest"
)

func long(n int) string { return strings.Repeat("ß", n) }

func TestTaskInput(t *testing.T) {
	t.Parallel()
	good := todo.TaskBody{Title: "t", Description: "d", Status: todo.Pending, Priority: todo.Low, Category: "c",
		DueDate: "2026-02-28"}
	for name, test := range map[string]struct {
		change func(*todo.TaskBody)
		want   []string
	}{
		"OK":                      {func(*todo.TaskBody) {}, nil},
		"OK, the title alone":     {func(in *todo.TaskBody) { *in = todo.TaskBody{Title: "t"} }, nil},
		"OK, title of 200":        {func(in *todo.TaskBody) { in.Title = long(200) }, nil},
		"OK, 200 with its blanks": {func(in *todo.TaskBody) { in.Title = " " + long(198) + " " }, nil},
		"title of 199 and blanks": {func(in *todo.TaskBody) { in.Title = " " + long(199) + " " }, []string{"title"}},
		"title of 201":            {func(in *todo.TaskBody) { in.Title = long(201) }, []string{"title"}},
		"no title":                {func(in *todo.TaskBody) { in.Title = "" }, []string{"title"}},
		"blank title":             {func(in *todo.TaskBody) { in.Title = " \t\n\u200b\u2003" }, []string{"title"}},
		"title with NUL":          {func(in *todo.TaskBody) { in.Title = "a\x00" }, []string{"title"}},
		"OK, description of 1000": {func(in *todo.TaskBody) { in.Description = todo.Text(long(1000)) }, nil},
		"OK, blank description":   {func(in *todo.TaskBody) { in.Description = " " }, nil},
		"description of 1001": {func(in *todo.TaskBody) {
			in.Description = todo.Text(long(1001))
		}, []string{"description"}},
		"OK, category of 50":  {func(in *todo.TaskBody) { in.Category = todo.Text(long(50)) }, nil},
		"OK, category with #": {func(in *todo.TaskBody) { in.Category = "#%~" }, nil},
		"category of 51":      {func(in *todo.TaskBody) { in.Category = todo.Text(long(51)) }, []string{"category"}},
		"category with NUL":   {func(in *todo.TaskBody) { in.Category = "\x00" }, []string{"category"}},
		"unknown status":      {func(in *todo.TaskBody) { in.Status = "done" }, []string{"status"}},
		"status in capitals":  {func(in *todo.TaskBody) { in.Status = "Pending" }, []string{"status"}},
		"unknown priority":    {func(in *todo.TaskBody) { in.Priority = "none" }, []string{"priority"}},
		"OK, leap day":        {func(in *todo.TaskBody) { in.DueDate = "2028-02-29" }, nil},
		"OK, first day":       {func(in *todo.TaskBody) { in.DueDate = "0001-01-01" }, nil},
		"OK, last day":        {func(in *todo.TaskBody) { in.DueDate = "9999-12-31" }, nil},
		"no leap day":         {func(in *todo.TaskBody) { in.DueDate = "2026-02-29" }, []string{"due_date"}},
		"month 13":            {func(in *todo.TaskBody) { in.DueDate = "2026-13-01" }, []string{"due_date"}},
		"year 0":              {func(in *todo.TaskBody) { in.DueDate = "0000-12-31" }, []string{"due_date"}},
		"year of five digits": {func(in *todo.TaskBody) { in.DueDate = "10000-01-01" }, []string{"due_date"}},
		"negative year":       {func(in *todo.TaskBody) { in.DueDate = "-001-01-01" }, []string{"due_date"}},
		"short date":          {func(in *todo.TaskBody) { in.DueDate = "2026-1-1" }, []string{"due_date"}},
		"date with time": {func(in *todo.TaskBody) {
			in.DueDate = "2026-01-01T00:00:00Z"
		}, []string{"due_date"}},
		"date with blank":      {func(in *todo.TaskBody) { in.DueDate = "2026-01-01 " }, []string{"due_date"}},
		"date of other digits": {func(in *todo.TaskBody) { in.DueDate = "２０２６-01-01" }, []string{"due_date"}},
		"everything, in this order": {func(in *todo.TaskBody) {
			*in = todo.TaskBody{Description: todo.Text(long(1001)), Status: "x", Priority: "x",
				Category: todo.Text(long(51)), DueDate: "x"}
		}, []string{"category", "description", "due_date", "priority", "status", "title"}},
		"priority that is endless": {func(in *todo.TaskBody) {
			in.Priority = todo.Priority(long(10_000))
		}, []string{"priority"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := good
			test.change(&in)
			err := openapi.Check(in)
			if got := validatetest.Fields(t, err); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want the fields %v", err, test.want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			// A change to the same is as good or bad, but for a status left out.
			c := todo.TaskChangeBody{Title: &in.Title, Description: &in.Description, Status: &in.Status,
				Priority: &in.Priority, Category: &in.Category, DueDate: &in.DueDate}
			if in.Status == "" {
				c.Status = nil
			}
			if got := validatetest.Fields(t, openapi.Check(c)); !slices.Equal(got, test.want) {
				t.Errorf("as a change: got the fields %v, want %v", got, test.want)
			}
		})
	}
}

func TestUserInput(t *testing.T) {
	t.Parallel()
	local64 := strings.Repeat("a", 64)
	label63 := strings.Repeat("b", 63)
	longest := local64 + "@" + label63 + "." + label63 + "." + strings.Repeat("c", 61)
	for email, ok := range map[string]bool{
		"ada@example.com": true, "a@b.c": true, "a.b+c#d@sub.example.co.uk": true,
		"o'hara!$%&*/=?^_`{|}~-@example.com": true, "A@EXAMPLE.COM": true,
		"1@2.3": true, "a@xn--bcher-kva.example": true, longest: true,
		"": false, "ada": false, "@example.com": false, "ada@": false, "ada@example": false, "ada@@example.com": false,
		"a b@example.com":  false,
		".ada@example.com": false, "ada.@example.com": false, "a..b@example.com": false, "ada@-example.com": false,
		"ada@example-.com": false,
		"ada@example..com": false, "ada@.com": false, "ada@example.com.": false, "ada@exam_ple.com": false,
		`"ada"@example.com`:     false,
		"Ada <ada@example.com>": false, "ada@example.com\n": false, " ada@example.com": false, "ada@[127.0.0.1]": false,
		"ädä@example.com": false,
		"ada@exämple.com": false, "ada@example.com,bob@example.com": false, "a" + longest: false,
		local64 + "a@example.com":  false,
		"ada@" + label63 + "b.com": false, "ada\x00@example.com": false, strings.Repeat("a", 1<<20): false,
	} {
		want := []string(nil)
		if !ok {
			want = []string{"email"}
		}
		got := validatetest.Fields(t, openapi.Check(todo.UserBody{Email: email, Name: "Ada"}))
		if !slices.Equal(got, want) {
			t.Errorf("%.80q: got the fields %v, want %v", email, got, want)
		}
	}
	if len(longest) != validate.MaxEmailLength {
		t.Errorf("the longest address has %d characters", len(longest))
	}
	for name, ok := range map[string]bool{"A": true, long(100): true, long(101): false, "": false, "\u00a0": false,
		"a\x00b": false, " A ": true, long(100) + " ": false} {
		if err := openapi.Check(todo.UserBody{Email: "a@b.c", Name: name}); (err == nil) != ok {
			t.Errorf("name %.20q: got %v", name, err)
		}
	}
	if got := validatetest.Fields(t, openapi.Check(todo.UserBody{})); !slices.Equal(got, []string{"email", "name"}) {
		t.Errorf("got %v", got)
	}
}

// Every pair of statuses: only a completed task keeps its status.
func TestTransitions(t *testing.T) {
	t.Parallel()
	before := todo.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	now := before + 3600
	for _, from := range todo.Statuses() {
		for _, to := range todo.Statuses() {
			read := todo.Task{ID: "x", Title: "t", Status: from, UpdatedAt: before, Version: 7}
			if from == todo.Completed {
				read.CompletedAt = before
			}
			wanted := read
			wanted.Status = to
			got, err := read.Next(wanted, now)
			if from == todo.Completed && to != todo.Completed {
				if !errors.Is(err, todo.ErrTaskCompleted) {
					t.Errorf("%s to %s: got %v", from, to, err)
				}
				continue
			}
			want := wanted
			if from != to {
				want.UpdatedAt, want.Version = now, 8
				if to == todo.Completed {
					want.CompletedAt = now
				}
			}
			if err != nil || got != want {
				t.Errorf("%s to %s: got %+v, %v; want %+v", from, to, got, err, want)
			}
		}
	}
	// A clock that goes back does not move a task's times back.
	if got, err := (todo.Task{UpdatedAt: now}).Next(todo.Task{Title: "t", UpdatedAt: now}, before); err != nil ||
		got.UpdatedAt != now {
		t.Errorf("got %+v, %v", got, err)
	}
}

// What is open and due before a day moves to it, and what is due on it stays. Nothing else is overdue.
func TestMovedTo(t *testing.T) {
	t.Parallel()
	for _, status := range todo.Statuses() {
		for _, due := range []todo.Date{"", "2025-12-31", "2026-03-27", "2026-03-28", "2026-03-29"} {
			isOpen := status == todo.Pending || status == todo.InProgress
			want := todo.Task{Status: status, DueDate: due, Version: 7}
			got, err := want.MovedTo("2026-03-28", 3600)
			switch {
			case isOpen && due != "" && due < "2026-03-28":
				want.DueDate, want.UpdatedAt, want.Version = "2026-03-28", 3600, 8
			case due != "2026-03-28":
				if !errors.Is(err, todo.ErrTaskNotOverdue) {
					t.Errorf("%s, due %q: got %+v, %v", status, due, got, err)
				}
				continue
			}
			if err != nil || got != want {
				t.Errorf("%s, due %q: got %+v, %v; want %+v", status, due, got, err, want)
			}
		}
	}
}
