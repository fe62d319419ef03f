package todo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// maxEvaluated is how many tasks one request evaluates, at most: it bounds a search, and a filter that keeps little, to
// some 25 read units.
const maxEvaluated = 300

// ListTasks lists a user's tasks; an unknown user has none. A list follows a change of
// a task within a moment.
//
// A page ends when it is full, or when 300 tasks were looked at or the context's deadline is
// near: then it has fewer tasks than its limit, and a cursor. A cursor is valid for the same user
// and filter; for any other cursor it returns an [*validate.Error] on the field cursor.
func (s *Service) ListTasks(ctx context.Context, user string, f todo.TaskFilter) (todo.TaskList, error) {
	if err := s.CursorKey.Check(); err != nil {
		return todo.TaskList{}, err
	}
	f = withDefaults(f)
	zone, err := validate.Timezone(f.Timezone)
	if err != nil {
		return todo.TaskList{}, err
	}
	filters := filtersOf(f, zone)
	after, ok := s.CursorKey.Position(string(f.Cursor), user, filters...)
	if !ok {
		return todo.TaskList{}, validate.Errorf("cursor", validate.RuleFormat,
			"is not a cursor of this list: send the next_cursor of the page before unchanged with the same filter, "+
				"or none for the first page")
	}
	var dueBefore todo.Date
	if f.Overdue == todo.Yes {
		dueBefore = todo.Date(s.Clock.Now().In(zone).Format(time.DateOnly))
	}
	plan, matches := planOf(f, dueBefore), matching(f)
	listed := todo.TaskList{Tasks: []todo.Task{}}
	// One task more than the page shows that there is another page.
	most := f.Limit + 1
	var read page
	exists, err := s.withUser(ctx, user, func() (err error) {
		read, err = s.pages(ctx, user, plan, after, most)
		return err
	})
	if err != nil || !exists {
		return listed, err
	}
	for left := maxEvaluated; ; {
		for i, task := range read.tasks {
			if !matches(task) {
				continue
			}
			if len(listed.Tasks) == f.Limit {
				listed.Next = todo.Text(s.CursorKey.Sign(after, user, filters...))
				return listed, nil
			}
			listed.Tasks = append(listed.Tasks, task)
			after = read.positions[i]
		}
		left -= read.evaluated
		switch {
		case read.next == "":
			return listed, nil
		case left <= 0 || kit.Ends(ctx, stopTime):
			listed.Next = todo.Text(s.CursorKey.Sign(read.next, user, filters...))
			return listed, nil
		}
		most = min(4*most, left)
		if read, err = s.pages(ctx, user, plan, read.next, most); err != nil {
			return todo.TaskList{}, err
		}
	}
}

func withDefaults(f todo.TaskFilter) todo.TaskFilter {
	f.Limit = cmp.Or(f.Limit, todo.DefaultPageSize)
	if f.Sort == todo.ByDefault {
		f.Sort = todo.ByCreation
		if f.DueFrom != "" || f.DueTo != "" || f.Overdue == todo.Yes {
			f.Sort = todo.ByDueDate
		}
	}
	return f
}

// filtersOf returns what identifies the list among its owner's. The size of the page may change from page to page.
func filtersOf(f todo.TaskFilter, zone *time.Location) []string {
	filters := []string{
		string(f.Status), string(f.Priority), string(f.Category), string(f.DueFrom), string(f.DueTo), f.Search,
		string(f.Sort),
	}
	if f.Overdue == todo.Yes {
		filters = append(filters, zone.String())
	}
	return filters
}

// matching reports whether a task has the filter's category, in any normal form, and in its title or description what
// is searched for, in any case and any normal form.
func matching(f todo.TaskFilter) func(todo.Task) bool {
	category, text := dynamo.KeyText(string(f.Category)), fold(f.Search)
	return func(task todo.Task) bool {
		return (category == "" || category == dynamo.KeyText(string(task.Category))) && (text == "" ||
			strings.Contains(fold(task.Title), text) || strings.Contains(fold(string(task.Description)), text))
	}
}

// fold makes texts equal that differ only in case, or in how Unicode writes the same characters: "Straße", "STRASSE";
// an é of one code point or of two (Unicode Standard Annex #15).
func fold(text string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(text))) }

// plan says how to read a list.
type plan struct {
	pattern string
	// index is the index that the pattern reads; empty: the table.
	index string
	// bounds are the values of the sort key's condition. The list has also what begins with further, which earlier
	// versions wrote; empty: nothing.
	bounds  []any
	further string
	// filter says again what the key conditions say already.
	filter expression.ConditionBuilder
}

// planOf is the plan for a filter, whose order is never ByDefault. dueBefore keeps tasks that were due before that day
// and are neither completed nor cancelled; empty: all.
func planOf(f todo.TaskFilter, dueBefore todo.Date) plan {
	filter := filterOf(f, dueBefore)
	if f.Sort == todo.ByDueDate {
		pattern, bounds := dueDates(f, dueBefore)
		return plan{pattern: pattern, index: "GSI2", bounds: bounds, filter: filter}
	}
	withStatus := "ListTasksWithStatus"
	if f.Status == todo.Completed {
		withStatus = "ListCompletedTasks"
	}
	categories := dynamo.KeyTexts(string(f.Category))
	for _, a := range []struct {
		sort  todo.Sort
		given bool
		index string
		// all is how all values are listed, and one how the given one is.
		all, one, allKeys, oneKey string
	}{
		// The category comes first because it narrows most.
		{todo.ByCategory, f.Category != "", "GSI4",
			"ListTasksByCategory", "ListTasksWithCategory", "CATEGORY#", categoryKey(categories[0])},
		{todo.ByPriority, f.Priority != todo.NoPriority, "GSI3",
			"ListTasksByPriority", "ListTasksWithPriority", "PRIORITY#", priorityKey(f.Priority)},
		{todo.ByStatus, f.Status != "", "GSI1", "ListTasksByStatus", withStatus, "STATUS#", statusKey(f.Status)},
	} {
		switch {
		// Newest first, too: of one value the id alone decides the order.
		case a.given && (f.Sort == a.sort || f.Sort == todo.ByCreation):
			p := plan{pattern: a.one, index: a.index, bounds: []any{a.oneKey}, filter: filter}
			if a.sort == todo.ByCategory && len(categories) > 1 {
				p.further = categoryKey(categories[1])
			}
			return p
		case f.Sort == a.sort:
			return plan{pattern: a.all, index: a.index, bounds: []any{a.allKeys}, filter: filter}
		}
	}
	pattern := "ListTasks"
	if f.Search != "" {
		pattern = "SearchTasks"
	}
	return plan{pattern: pattern, bounds: []any{taskPrefix}, filter: filter}
}

// dueDates are the pattern and the bounds of a list in the order of due dates.
func dueDates(f todo.TaskFilter, dueBefore todo.Date) (pattern string, bounds []any) {
	switch {
	case dueBefore != "":
		return "ListOverdueTasks", []any{dueDateKey(dueBefore)}
	case f.DueFrom == "" && f.DueTo == "":
		return "ListTasksByDueDate", []any{"DUEDATE#"}
	case f.DueFrom == f.DueTo:
		return "ListTasksDueOn", []any{dueDateKey(f.DueFrom)}
	default:
		// No day is under every day. Every day and every id is under ~, so the last day is in the range.
		return "ListTasksDueBetween", []any{dueDateKey(f.DueFrom), dueDateKey(cmp.Or(f.DueTo, "~")) + "~"}
	}
}

func filterOf(f todo.TaskFilter, dueBefore todo.Date) expression.ConditionBuilder {
	var filter expression.ConditionBuilder
	and := func(wanted bool, condition expression.ConditionBuilder) {
		if wanted {
			filter = dynamo.And(filter, condition)
		}
	}
	due := dynamo.Name("due_date")
	and(f.Status != "", dynamo.Equal("status", f.Status))
	and(f.Priority != "", dynamo.Equal("priority", f.Priority))
	and(f.DueFrom != "", due.GreaterThanEqual(expression.Value(f.DueFrom)))
	and(f.DueTo != "", due.LessThanEqual(expression.Value(f.DueTo)))
	open := dynamo.Name("status").In(expression.Value(todo.Pending), expression.Value(todo.InProgress))
	and(dueBefore != "", due.LessThan(expression.Value(dueBefore)).And(open))
	return filter
}

// page is a part of a list of tasks. A position is the sort key of the list's pattern, which ends with the task's id.
// It is valid only in the same list, even after its task is deleted.
type page struct {
	tasks []todo.Task
	// positions are those of tasks.
	positions []string
	// evaluated is how many tasks were looked at.
	evaluated int
	// next is where to go on. Empty: the list ends here.
	next string
}

// pages reads a part of a list as [Service.page] does, the newest first of what begins with the plan's bound or its
// further key.
func (s *Service) pages(ctx context.Context, user string, p plan, after string, most int) (page, error) {
	if p.further == "" {
		return s.page(ctx, user, p, after, most)
	}
	var all page
	end := "" // the id up to which both parts are read
	for _, key := range []string{fmt.Sprint(p.bounds...), p.further} {
		one, from := p, after
		if one.bounds = []any{key}; after != "" {
			from = key + idOf(after)
		}
		part, err := s.page(ctx, user, one, from, most)
		if err != nil {
			return page{}, err
		}
		all.tasks, all.positions = append(all.tasks, part.tasks...), append(all.positions, part.positions...)
		all.evaluated += part.evaluated
		if part.next != "" && idOf(part.next) > end {
			end, all.next = idOf(part.next), part.next
		}
	}
	// Both in one order, which is that of the ids.
	slices.SortFunc(all.tasks, func(a, b todo.Task) int { return strings.Compare(b.ID, a.ID) })
	slices.SortFunc(all.positions, func(a, b string) int { return strings.Compare(idOf(b), idOf(a)) })
	if i := slices.IndexFunc(all.tasks, func(t todo.Task) bool { return t.ID < end }); i >= 0 {
		all.tasks, all.positions = all.tasks[:i], all.positions[:i]
	}
	return all, nil
}

// idOf is the task's id, with which a position ends.
func idOf(position string) string { return position[strings.LastIndex(position, "#")+1:] }

// page reads a part of a list, after a position ("": from the beginning), also of a user who is being deleted. It looks
// at most tasks.
func (s *Service) page(ctx context.Context, user string, p plan, after string, most int) (page, error) {
	partition, sortKey := taskPrefix+user, "SK"
	if p.index != "" {
		partition, sortKey = ownerPrefix+user, p.index+"SK"
	}
	query := dynamo.Query{Values: append([]any{partition}, p.bounds...), Filter: p.filter, PageSize: most}
	if after != "" {
		key := map[string]string{"PK": taskPrefix + user, "SK": taskPrefix + idOf(after)}
		if p.index != "" {
			key[p.index+"PK"], key[sortKey] = partition, after
		}
		query.StartAfter = dynamo.Texts(key)
	}
	read, err := s.DB.Page(ctx, p.pattern, query)
	if err != nil {
		return page{}, err
	}
	part := page{evaluated: read.Evaluated, next: dynamo.Text(read.Next, sortKey)}
	for _, item := range read.Items {
		var t taskItem
		if err := attributevalue.UnmarshalMap(item, &t); err != nil {
			return page{}, fmt.Errorf("%s: read task: %w", p.pattern, err)
		}
		part.tasks = append(part.tasks, t.task())
		part.positions = append(part.positions, dynamo.Text(item, sortKey))
	}
	return part, nil
}
