package todo

import (
	"fmt"
	"slices"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// Validate returns an [*validate.Error] with the fields email and name.
func (in UserInput) Validate() error {
	var f validate.Problems
	f.Email("email", in.Email)
	f.Text("name", in.Name, 1, MaxNameLength)
	return f.Err()
}

// Validate returns an [*validate.Error] with the fields title, description, status,
// priority, category and due_date.
func (in TaskInput) Validate() error {
	var f validate.Problems
	f.Text("title", in.Title, 1, MaxTitleLength)
	f.Text("description", in.Description, 0, MaxDescriptionLength)
	if in.Status != "" {
		validate.OneOf(&f, "status", in.Status, Statuses())
	}
	optional(&f, in.Priority, in.Category, in.DueDate)
	return f.Err()
}

// Validate returns an [*validate.Error] with the fields of [TaskInput.Validate].
func (c TaskChange) Validate() error {
	var f validate.Problems
	if c.Title != nil {
		f.Text("title", *c.Title, 1, MaxTitleLength)
	}
	if c.Description != nil {
		f.Text("description", *c.Description, 0, MaxDescriptionLength)
	}
	if c.Status != nil {
		validate.OneOf(&f, "status", *c.Status, Statuses())
	}
	optional(&f, value(c.Priority), value(c.Category), value(c.DueDate))
	return f.Err()
}

// Validate returns an [*validate.Error] with the fields status, priority, category,
// due_from, due_to, q, sort and limit. Whether a cursor is one shows when it is
// used.
func (t TaskFilter) Validate() error {
	f := t.findings()
	return f.Err()
}

func (t TaskFilter) findings() validate.Problems {
	var f validate.Problems
	if t.Status != "" {
		validate.OneOf(&f, "status", t.Status, Statuses())
	}
	if t.Priority != NoPriority {
		validate.OneOf(&f, "priority", t.Priority, Priorities())
	}
	f.Text("category", t.Category, 0, MaxCategoryLength)
	from, to := f.Date("due_from", string(t.DueFrom)), f.Date("due_to", string(t.DueTo))
	if from && to && t.DueTo < t.DueFrom {
		f.Add("due_to", validate.RuleConflict, "is %s, before due_from, which is %s: exchange them", validate.Quoted(string(t.DueTo)), validate.Quoted(string(t.DueFrom)))
	}
	f.Text("q", t.Search, 0, MaxSearchLength)
	if t.Sort != ByDefault {
		validate.OneOf(&f, "sort", t.Sort, []Sort{ByCreation, ByStatus, ByDueDate, ByPriority, ByCategory})
	}
	if t.Limit < 0 || t.Limit > MaxPageSize {
		f.Add("limit", validate.RuleRange, "is %d; allowed is 1 to %d", t.Limit, MaxPageSize)
	}
	return f
}

// ValidateBulk returns an [*validate.Error] with the fields task_ids, task_ids[i]
// and status of a change of many tasks. An id that no task can have is none that
// is wrong: there is no such task.
func ValidateBulk(ids []string, status Status) error {
	var f validate.Problems
	if len(ids) < 1 || len(ids) > MaxBulkTasks {
		f.Add("task_ids", validate.RuleLength, "has %d ids; allowed are 1 to %d", len(ids), MaxBulkTasks)
	} else {
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				f.Add(fmt.Sprintf("task_ids[%d]", i), validate.RuleUnique, "is %s again: give each id once", validate.Quoted(id))
			}
		}
	}
	validate.OneOf(&f, "status", status, Statuses())
	return f.Err()
}

func optional(f *validate.Problems, priority Priority, category string, due Date) {
	if priority != NoPriority {
		validate.OneOf(f, "priority", priority, Priorities())
	}
	f.Text("category", category, 0, MaxCategoryLength)
	f.Date("due_date", string(due))
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
