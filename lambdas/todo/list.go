package todo

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

const (
	// maxEvaluated is how many tasks one request evaluates, at most: it bounds a search, and a
	// filter that keeps little, to some 25 read units.
	maxEvaluated = 300
)

// Listing is a list of tasks as a store reads it. A zero value of a field does not
// narrow it.
type Listing struct {
	Status   Status
	Priority Priority
	Category Text
	// DueFrom and DueTo are the first and the last day.
	DueFrom, DueTo Date
	// DueBefore keeps tasks that were due before that day and are neither completed
	// nor cancelled.
	DueBefore Date
	// Search says that the caller searches the text of the tasks.
	Search bool
	// Sort is the order; never ByDefault.
	Sort Sort
	// After is the position after which to begin: one of Listed. Empty: the
	// beginning.
	After string
	// Most is how many tasks to look at, at most.
	Most int
}

// Listed is a part of a list of tasks. A position is valid only in the same list, even after its
// task is deleted.
type Listed struct {
	Tasks []Task
	// Positions are the positions of Tasks.
	Positions []string
	// Evaluated is how many tasks were looked at.
	Evaluated int
	// Next is where to go on. Empty: the list ends here.
	Next string
}

// ListTasks lists a user's tasks; an unknown user has none. A list follows a change of
// a task within a moment.
//
// A page ends when it is full, or when 300 tasks were looked at or the context's deadline is
// near: then it has fewer tasks than its limit, and a cursor. A cursor is valid for the same user
// and filter; for any other cursor it returns an [*validate.Error] on the field cursor.
func (s *Service) ListTasks(ctx context.Context, user string, f TaskFilter) (TaskList, error) {
	if err := s.CursorKey.Check(); err != nil {
		return TaskList{}, err
	}
	f = f.withDefaults()
	zone, err := validate.Timezone(f.Timezone)
	if err != nil {
		return TaskList{}, err
	}
	list := f.list(user, zone)
	after, ok := s.CursorKey.Position(string(f.Cursor), list...)
	if !ok {
		return TaskList{}, validate.Errorf("cursor", validate.RuleFormat, "is not a cursor of this list: send the next_cursor of the page before unchanged with the same filter, or none for the first page")
	}

	listing := Listing{
		Status: f.Status, Priority: f.Priority, Category: f.Category, DueFrom: f.DueFrom, DueTo: f.DueTo,
		Search: f.Search != "", Sort: f.Sort, After: after,
	}
	if f.Overdue == Yes {
		listing.DueBefore = Date(s.moment().In(zone).Format(time.DateOnly))
	}
	matches := search(f.Search)
	page := TaskList{Tasks: []Task{}}
	// One task more than the page shows that there is another page.
	listing.Most = f.Limit + 1
	var listed Listed
	exists, err := s.withUser(ctx, user, func() (err error) {
		listed, err = s.Store.Tasks(ctx, user, listing)
		return err
	})
	if err != nil || !exists {
		return page, err
	}
	for left := maxEvaluated; ; {
		for i, task := range listed.Tasks {
			if !matches(task) {
				continue
			}
			if len(page.Tasks) == f.Limit {
				page.Next = Text(s.CursorKey.Sign(after, list...))
				return page, nil
			}
			page.Tasks = append(page.Tasks, task)
			after = listed.Positions[i]
		}
		left -= listed.Evaluated
		switch {
		case listed.Next == "":
			return page, nil
		case left <= 0 || outOfTime(ctx):
			page.Next = Text(s.CursorKey.Sign(listed.Next, list...))
			return page, nil
		}
		listing.After, listing.Most = listed.Next, min(4*listing.Most, left)
		if listed, err = s.Store.Tasks(ctx, user, listing); err != nil {
			return TaskList{}, err
		}
	}
}

func (t TaskFilter) withDefaults() TaskFilter {
	if t.Limit == 0 {
		t.Limit = DefaultPageSize
	}
	if t.Sort == ByDefault {
		t.Sort = ByCreation
		if t.DueFrom != "" || t.DueTo != "" || t.Overdue == Yes {
			t.Sort = ByDueDate
		}
	}
	return t
}

// search reports whether a task's title or description has the text, in any case.
func search(text string) func(Task) bool {
	if text == "" {
		return func(Task) bool { return true }
	}
	text = fold(text)
	return func(task Task) bool {
		return strings.Contains(fold(task.Title), text) || strings.Contains(fold(string(task.Description)), text)
	}
}

// fold makes texts equal that differ only in case, by Unicode's simple folding, like
// [strings.EqualFold].
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}

// list returns what identifies the list. The size of the page may change from page to page.
func (t TaskFilter) list(user string, zone *time.Location) []string {
	list := []string{user, string(t.Status), string(t.Priority), string(t.Category), string(t.DueFrom), string(t.DueTo), t.Search, string(t.Sort)}
	if t.Overdue == Yes {
		list = append(list, zone.String())
	}
	return list
}
