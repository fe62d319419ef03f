package todo

import (
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
)

// lake leaves out counts, idempotency keys and email owners, and of users
// their names and addresses, so that the lake holds no directory of people.
func lake() schema.Lake {
	task := schema.Entity{
		Name: "task", Description: "A task of a user.", PartitionPrefix: "TASK#", SortPrefix: "TASK#",
		Columns: slices.Concat([]schema.Column{
			{Name: "user_id", Attribute: "PK", TrimPrefix: "TASK#", Description: "The task's owner"},
			{Name: "task_id", Attribute: "SK", TrimPrefix: "TASK#", Description: "The task's id"},
		}, schema.ColumnsOf(Task{}), []schema.Column{
			{Name: "status_before", Attribute: "status", Before: true,
				Description: "Status before the change; null for a new task"},
		}),
	}
	user := schema.Entity{
		Name: "user", Description: "A user, without name and address.", PartitionPrefix: "USER#",
		SortPrefix: "METADATA",
		Columns: append([]schema.Column{
			{Name: "user_id", Attribute: "PK", TrimPrefix: "USER#", Description: "The user's id"},
		}, schema.ColumnsOf(User{})...),
	}
	columns := slices.DeleteFunc(task.ColumnsOf(table()), func(c schema.Column) bool { return c.Before })
	return schema.Lake{
		Name:     "todo",
		Table:    appData,
		Entities: []schema.Entity{task, user},
		Views:    append(taskViews(columns), metricViews()...),
		Queries:  savedQueries(),
	}
}

// taskViews are the changes of tasks, and the tasks as they are, in the columns of a task.
func taskViews(columns []schema.Column) []schema.View {
	change, fields := names(schema.ChangeColumns()), names(columns)
	return []schema.View{
		{
			Name: "task_events",
			Columns: slices.Concat(schema.ChangeColumns(), columns, []schema.Column{
				{Name: "previous_status", Type: schema.ColumnText,
					Description: "Status before the change, if there was one"},
			}),
			Lists: "task", Description: "Each change of a task once, with the status before it.",
			SQL: `SELECT
  ` + change + `,
  ` + fields + `,
  previous_status
FROM (
  SELECT
    ` + change + `,
    ` + fields + `,
    lag(status) OVER (PARTITION BY user_id, task_id ORDER BY sequence_number) AS previous_status,
    lag(sequence_number) OVER (PARTITION BY user_id, task_id ORDER BY sequence_number) AS previous_number
  FROM task_changes
) AS changes
WHERE previous_number IS NULL OR previous_number <> sequence_number`,
		},
		{
			Name: "tasks_current", Columns: columns, Lists: "task",
			Description: "Each task that exists, as its latest change left it.",
			SQL: `SELECT
  ` + fields + `
FROM (
  SELECT
    event_name,
    ` + fields + `,
    row_number() OVER (PARTITION BY user_id, task_id ORDER BY sequence_number DESC) AS recency
  FROM task_changes
) AS changes
WHERE recency = 1 AND event_name <> 'REMOVE'`,
		},
	}
}

// names lists columns as SQL does.
func names(columns []schema.Column) string {
	var all []string
	for _, column := range columns {
		all = append(all, column.Name)
	}
	return strings.Join(all, ", ")
}

// metric is a column of a view, and the SQL that gives it.
type metric struct {
	name        string
	kind        schema.ColumnType
	description string
	sql         string
}

// metricViews are views in figures.
func metricViews() []schema.View {
	const integer = schema.ColumnInteger
	return []schema.View{
		metricView("user_metrics", "Each user with tasks.", slices.Concat([]metric{
			{"user_id", schema.ColumnText, "The user's id", "user_id"},
			{"tasks", integer, "Tasks that exist", "count(*)"},
			{"open_tasks", integer, "Pending or in progress", countIf(isOpen)},
		}, progress(), []metric{
			{"last_change", schema.ColumnTimestamp, "Last change of a task", "max(updated_at)"},
		}), "FROM tasks_current\nGROUP BY user_id"),

		metricView("category_trends", "Each day and category with changes.", []metric{
			{"day", schema.ColumnDate, "Day (UTC) of the changes", "CAST(event_time AS date)"},
			{"category", schema.ColumnText, "Category at the change; null for none", "category"},
			{"created_tasks", integer, "Tasks created", countIf("event_name = 'INSERT'")},
			{"completed_tasks", integer, "Tasks completed", countIf("event_name <> 'REMOVE' AND " + isCompleted +
				" AND coalesce(previous_status, '') <> 'completed'")},
			{"deleted_tasks", integer, "Tasks deleted", countIf("event_name = 'REMOVE'")},
		}, "FROM task_events\nGROUP BY CAST(event_time AS date), category"),

		metricView("kpis", "One row: the platform in figures.", append([]metric{
			{"users", integer, "Users that exist", `(SELECT count(*) FROM (
    SELECT event_name, row_number() OVER (PARTITION BY user_id ORDER BY sequence_number DESC) AS recency FROM user_changes
  ) AS changes WHERE recency = 1 AND event_name <> 'REMOVE')`},
			{"tasks", integer, "Tasks that exist", "count(*)"},
		}, progress()...), "FROM tasks_current"),
	}
}

// progress says how far tasks are.
func progress() []metric {
	return []metric{
		{"completed_tasks", schema.ColumnInteger, "Completed", countIf(isCompleted)},
		{"overdue_tasks", schema.ColumnInteger, "Open and due before today (UTC)",
			countIf(isOpen + " AND due_date < current_date")},
		{"completion_rate", schema.ColumnDecimal, "Completed of those not cancelled, 0 to 1; null without any",
			"CAST(" + countIf(isCompleted) + " AS double) / nullif(" + countIf("status <> 'cancelled'") + ", 0)"},
		{"average_hours_to_complete", schema.ColumnDecimal, "From creation to completion; null when none is completed",
			"avg(CAST(date_diff('second', created_at, completed_at) AS double)) / 3600"},
	}
}

// Conditions of SQL on a task.
const (
	isOpen      = "status IN ('pending', 'in_progress')"
	isCompleted = "status = 'completed'"
)

func countIf(condition string) string { return "count(CASE WHEN " + condition + " THEN 1 END)" }

// metricView is the view with these columns. source is its SQL from FROM on.
func metricView(name, description string, metrics []metric, source string) schema.View {
	view := schema.View{Name: name, Description: description}
	var terms []string
	for _, m := range metrics {
		view.Columns = append(view.Columns, schema.Column{Name: m.name, Type: m.kind, Description: m.description})
		if m.sql != m.name {
			m.sql += " AS " + m.name
		}
		terms = append(terms, "  "+m.sql)
	}
	view.SQL = "SELECT\n" + strings.Join(terms, ",\n") + "\n" + source
	return view
}

func savedQueries() []schema.SavedQuery {
	return []schema.SavedQuery{
		{Name: "Overdue tasks",
			Description: "Open tasks that were due before today, longest overdue first. Reads all days",
			SQL: `SELECT user_id, task_id, title, due_date FROM tasks_current
WHERE ` + isOpen + ` AND due_date < current_date
ORDER BY due_date, user_id, task_id
LIMIT 100`},
		{Name: "Most active users", Description: "Users by tasks completed. Reads all days",
			SQL: `SELECT user_id, completed_tasks, completion_rate FROM user_metrics
ORDER BY completed_tasks DESC, user_id
LIMIT 20`},
		// As category_trends, which has to read all days to know each task's former status:
		// a change completes its task if it was made on the day of the completion.
		{Name: "Category trends of the last 30 days",
			Description: "What was created, completed and deleted by day and category. Reads 30 days",
			SQL: `SELECT
  event_date AS day,
  category,
  count(DISTINCT CASE WHEN event_name = 'INSERT' THEN task_id END) AS created_tasks,
  count(DISTINCT CASE WHEN event_name <> 'REMOVE' AND CAST(completed_at AS date) = CAST(updated_at AS date) THEN task_id END) AS completed_tasks,
  count(DISTINCT CASE WHEN event_name = 'REMOVE' THEN task_id END) AS deleted_tasks
FROM task_changes
WHERE event_date >= current_date - INTERVAL '30' DAY
GROUP BY event_date, category
ORDER BY day, category`},
		{Name: "Status changes of a day", Description: "How tasks moved from status to status today. Reads one day",
			SQL: `SELECT status_before AS previous_status, status, count(DISTINCT event_id) AS changes FROM task_changes
WHERE event_date = current_date AND event_name <> 'REMOVE'
GROUP BY status_before, status
ORDER BY changes DESC, status`},
		{Name: "Key figures", Description: "The platform in figures. Reads all days", SQL: "SELECT * FROM kpis"},
	}
}
