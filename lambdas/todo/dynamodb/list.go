package dynamodb

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// plan says how to read a list: which part the key conditions of a pattern express, and which part
// the filter.
type plan struct {
	pattern string
	// index is the index that the pattern reads; empty: the table.
	index string
	// bounds are the values of the sort key's condition.
	bounds []any
	filter expression.ConditionBuilder
}

func planOf(l todo.Listing) plan {
	// Key conditions remove their part from rest; the filter expresses what remains.
	var p plan
	rest := l
	withStatus := func() {
		p.pattern, p.index, p.bounds, rest.Status = "ListTasksWithStatus", "GSI1", []any{statusKey(l.Status)}, ""
		if l.Status == todo.Completed {
			p.pattern = "ListCompletedTasks"
		}
	}
	withPriority := func() {
		p.pattern, p.index, p.bounds, rest.Priority = "ListTasksWithPriority", "GSI3", []any{priorityKey(l.Priority)}, ""
	}
	withCategory := func() {
		p.pattern, p.index, p.bounds, rest.Category = "ListTasksWithCategory", "GSI4", []any{categoryKey(l.Category)}, ""
	}
	switch {
	case l.Sort == todo.ByStatus && l.Status != "":
		withStatus()
	case l.Sort == todo.ByStatus:
		p.pattern, p.index, p.bounds = "ListTasksByStatus", "GSI1", []any{"STATUS#"}
	case l.Sort == todo.ByPriority && l.Priority != todo.NoPriority:
		withPriority()
	case l.Sort == todo.ByPriority:
		p.pattern, p.index, p.bounds = "ListTasksByPriority", "GSI3", []any{"PRIORITY#"}
	case l.Sort == todo.ByCategory && l.Category != "":
		withCategory()
	case l.Sort == todo.ByCategory:
		p.pattern, p.index, p.bounds = "ListTasksByCategory", "GSI4", []any{"CATEGORY#"}
	case l.Sort == todo.ByDueDate:
		p.index = "GSI2"
		switch {
		case l.DueBefore != "":
			p.pattern, p.bounds = "ListOverdueTasks", []any{dueDateKey(l.DueBefore)}
		case l.DueFrom == "" && l.DueTo == "":
			p.pattern, p.bounds = "ListTasksByDueDate", []any{"DUEDATE#"}
		case l.DueFrom == l.DueTo:
			p.pattern, p.bounds = "ListTasksDueOn", []any{dueDateKey(l.DueFrom)}
			rest.DueFrom, rest.DueTo = "", ""
		default:
			// Every id is under ~, so the last day is in the range.
			p.pattern, p.bounds = "ListTasksDueBetween", []any{dueDateKey(l.DueFrom), dueDateKey(l.DueTo) + "~"}
			if l.DueFrom == "" {
				p.bounds[0] = "DUEDATE#"
			}
			if l.DueTo == "" {
				p.bounds[1] = "DUEDATE#~"
			}
			rest.DueFrom, rest.DueTo = "", ""
		}
	// Newest first: in each of these the id alone decides the order. The category comes first
	// because it narrows most.
	case l.Category != "":
		withCategory()
	case l.Priority != todo.NoPriority:
		withPriority()
	case l.Status != "":
		withStatus()
	case l.Search:
		p.pattern, p.bounds = "SearchTasks", []any{taskPrefix}
	default:
		p.pattern, p.bounds = "ListTasks", []any{taskPrefix}
	}
	p.filter = filterOf(rest)
	return p
}

// filterOf is the filter for a listing.
func filterOf(l todo.Listing) expression.ConditionBuilder {
	var filter expression.ConditionBuilder
	and := func(condition expression.ConditionBuilder) {
		if filter.IsSet() {
			condition = filter.And(condition)
		}
		filter = condition
	}
	if l.Status != "" {
		and(dynamo.Equal("status", l.Status))
	}
	if l.Priority != todo.NoPriority {
		and(dynamo.Equal("priority", l.Priority))
	}
	if l.Category != "" {
		and(dynamo.Equal("category", l.Category))
	}
	due := dynamo.Name("due_date")
	if l.DueFrom != "" {
		and(due.GreaterThanEqual(expression.Value(l.DueFrom)))
	}
	if l.DueTo != "" {
		and(due.LessThanEqual(expression.Value(l.DueTo)))
	}
	if l.DueBefore != "" {
		and(due.LessThan(expression.Value(l.DueBefore)))
		and(dynamo.Name("status").In(expression.Value(todo.Pending), expression.Value(todo.InProgress)))
	}
	return filter
}

// Tasks implements [todo.Store]. A position is the sort key of the list's pattern,
// which ends with the task's id.
func (s *Store) Tasks(ctx context.Context, user string, l todo.Listing) (todo.Listed, error) {
	p := planOf(l)
	partition, sortKey := taskPrefix+user, "SK"
	if p.index != "" {
		partition, sortKey = ownerPrefix+user, p.index+"SK"
	}
	query := dynamo.Query{Values: append([]any{partition}, p.bounds...), Filter: p.filter, PageSize: l.Most}
	if l.After != "" {
		id := l.After[strings.LastIndex(l.After, "#")+1:]
		query.StartAfter = dynamo.Item{
			"PK": text(taskPrefix + user), "SK": text(taskPrefix + id),
		}
		if p.index != "" {
			query.StartAfter[p.index+"PK"], query.StartAfter[sortKey] = text(partition), text(l.After)
		}
	}
	page, err := s.db.Page(ctx, p.pattern, query)
	if err != nil {
		return todo.Listed{}, err
	}
	listed := todo.Listed{Evaluated: page.Evaluated}
	for _, item := range page.Items {
		var t task
		if err := attributevalue.UnmarshalMap(item, &t); err != nil {
			return todo.Listed{}, fmt.Errorf("%s: read task: %w", p.pattern, err)
		}
		listed.Tasks = append(listed.Tasks, t.domain())
		listed.Positions = append(listed.Positions, textOf(item, sortKey))
	}
	if page.Next != nil {
		listed.Next = textOf(page.Next, sortKey)
	}
	return listed, nil
}

// textOf is the text of an attribute; "" if it is none.
func textOf(item dynamo.Item, attribute string) string {
	value, _ := item[attribute].(*types.AttributeValueMemberS)
	if value == nil {
		return ""
	}
	return value.Value
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
