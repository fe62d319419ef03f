package todo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

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
	plan, matches := planOf(f, dueBefore), search(f.Search)
	listed := todo.TaskList{Tasks: []todo.Task{}}
	// One task more than the page shows that there is another page.
	most := f.Limit + 1
	var read page
	exists, err := s.withUser(ctx, user, func() (err error) {
		read, err = s.page(ctx, user, plan, after, most)
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
		case left <= 0 || outOfTime(ctx):
			listed.Next = todo.Text(s.CursorKey.Sign(read.next, user, filters...))
			return listed, nil
		}
		most = min(4*most, left)
		if read, err = s.page(ctx, user, plan, read.next, most); err != nil {
			return todo.TaskList{}, err
		}
	}
}

func withDefaults(f todo.TaskFilter) todo.TaskFilter {
	if f.Limit == 0 {
		f.Limit = todo.DefaultPageSize
	}
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

// search reports whether a task's title or description has the text, in any case and any normal form.
func search(text string) func(todo.Task) bool {
	if text == "" {
		return func(todo.Task) bool { return true }
	}
	text = fold(text)
	return func(task todo.Task) bool {
		return strings.Contains(fold(task.Title), text) || strings.Contains(fold(string(task.Description)), text)
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
	// bounds are the values of the sort key's condition.
	bounds []any
	// filter says again what the key conditions say already.
	filter expression.ConditionBuilder
}

// planOf is the plan for a filter, whose order is never ByDefault. dueBefore keeps tasks that were due before that day
// and are neither completed nor cancelled; empty: all.
func planOf(f todo.TaskFilter, dueBefore todo.Date) plan {
	filter := filterOf(f, dueBefore)
	if f.Sort == todo.ByDueDate {
		pattern, bounds := dueDates(f, dueBefore)
		return plan{pattern, "GSI2", bounds, filter}
	}
	withStatus := "ListTasksWithStatus"
	if f.Status == todo.Completed {
		withStatus = "ListCompletedTasks"
	}
	for _, a := range []struct {
		sort  todo.Sort
		given bool
		index string
		// all is how all values are listed, and one how the given one is.
		all, one, allKeys, oneKey string
	}{
		// The category comes first because it narrows most.
		{todo.ByCategory, f.Category != "", "GSI4",
			"ListTasksByCategory", "ListTasksWithCategory", "CATEGORY#", categoryKey(f.Category)},
		{todo.ByPriority, f.Priority != todo.NoPriority, "GSI3",
			"ListTasksByPriority", "ListTasksWithPriority", "PRIORITY#", priorityKey(f.Priority)},
		{todo.ByStatus, f.Status != "", "GSI1", "ListTasksByStatus", withStatus, "STATUS#", statusKey(f.Status)},
	} {
		switch {
		// Newest first, too: of one value the id alone decides the order.
		case a.given && (f.Sort == a.sort || f.Sort == todo.ByCreation):
			return plan{a.one, a.index, []any{a.oneKey}, filter}
		case f.Sort == a.sort:
			return plan{a.all, a.index, []any{a.allKeys}, filter}
		}
	}
	pattern := "ListTasks"
	if f.Search != "" {
		pattern = "SearchTasks"
	}
	return plan{pattern, "", []any{taskPrefix}, filter}
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
		switch {
		case wanted && filter.IsSet():
			filter = filter.And(condition)
		case wanted:
			filter = condition
		}
	}
	due := dynamo.Name("due_date")
	and(f.Status != "", dynamo.Equal("status", f.Status))
	and(f.Priority != "", dynamo.Equal("priority", f.Priority))
	and(f.Category != "", dynamo.Equal("category", f.Category))
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

// page reads a part of a list, after a position ("": from the beginning), also of a user who is being deleted. It looks
// at most tasks.
func (s *Service) page(ctx context.Context, user string, p plan, after string, most int) (page, error) {
	partition, sortKey := taskPrefix+user, "SK"
	if p.index != "" {
		partition, sortKey = ownerPrefix+user, p.index+"SK"
	}
	query := dynamo.Query{Values: append([]any{partition}, p.bounds...), Filter: p.filter, PageSize: most}
	if after != "" {
		id := after[strings.LastIndex(after, "#")+1:]
		query.StartAfter = dynamo.Item{"PK": text(taskPrefix + user), "SK": text(taskPrefix + id)}
		if p.index != "" {
			query.StartAfter[p.index+"PK"], query.StartAfter[sortKey] = text(partition), text(after)
		}
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

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
