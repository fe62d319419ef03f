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
	events := append(schema.ChangeColumns(), columns...)
	change, fields := names(schema.ChangeColumns()), names(columns)
	events = append(events, schema.Column{
		Name: "previous_status", Type: schema.ColumnText, Description: "Status before the change, if there was one",
	})
	progress := []schema.Column{
		{Name: "completed_tasks", Type: schema.ColumnInteger, Description: "Completed"},
		{Name: "overdue_tasks", Type: schema.ColumnInteger, Description: "Open and due before today (UTC)"},
		{Name: "completion_rate", Type: schema.ColumnDecimal,
			Description: "Completed of those not cancelled, 0 to 1; null without any"},
		{Name: "average_hours_to_complete", Type: schema.ColumnDecimal,
			Description: "From creation to completion; null when none is completed"},
	}
	return schema.Lake{
		Name:     "todo",
		Table:    "AppData",
		Entities: []schema.Entity{task, user},
		Views: []schema.View{
			{
				Name: "task_events", Columns: events,
				Description: "Each change of a task once, with the status before it.",
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
				Name: "tasks_current", Columns: columns,
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
			{
				Name: "user_metrics",
				Columns: slices.Concat([]schema.Column{
					{Name: "user_id", Type: schema.ColumnText, Description: "The user's id"},
					{Name: "tasks", Type: schema.ColumnInteger, Description: "Tasks that exist"},
					{Name: "open_tasks", Type: schema.ColumnInteger, Description: "Pending or in progress"},
				}, progress, []schema.Column{
					{Name: "last_change", Type: schema.ColumnTimestamp, Description: "Last change of a task"},
				}),
				Description: "Each user with tasks.",
				SQL: `SELECT
  user_id,
  count(*) AS tasks,
  count(CASE WHEN status IN ('pending', 'in_progress') THEN 1 END) AS open_tasks,
` + progressSQL + `,
  max(updated_at) AS last_change
FROM tasks_current
GROUP BY user_id`,
			},
			{
				Name: "category_trends",
				Columns: []schema.Column{
					{Name: "day", Type: schema.ColumnDate, Description: "Day (UTC) of the changes"},
					{Name: "category", Type: schema.ColumnText, Description: "Category at the change; null for none"},
					{Name: "created_tasks", Type: schema.ColumnInteger, Description: "Tasks created"},
					{Name: "completed_tasks", Type: schema.ColumnInteger, Description: "Tasks completed"},
					{Name: "deleted_tasks", Type: schema.ColumnInteger, Description: "Tasks deleted"},
				},
				Description: "Each day and category with changes.",
				SQL: `SELECT
  CAST(event_time AS date) AS day,
  category,
  count(CASE WHEN event_name = 'INSERT' THEN 1 END) AS created_tasks,
  count(CASE WHEN event_name <> 'REMOVE' AND status = 'completed' AND coalesce(previous_status, '') <> 'completed' THEN 1 END) AS completed_tasks,
  count(CASE WHEN event_name = 'REMOVE' THEN 1 END) AS deleted_tasks
FROM task_events
GROUP BY CAST(event_time AS date), category`,
			},
			{
				Name: "kpis",
				Columns: append([]schema.Column{
					{Name: "users", Type: schema.ColumnInteger, Description: "Users that exist"},
					{Name: "tasks", Type: schema.ColumnInteger, Description: "Tasks that exist"},
				}, progress...),
				Description: "One row: the platform in figures.",
				SQL: `SELECT
  (SELECT count(*) FROM (
    SELECT event_name, row_number() OVER (PARTITION BY user_id ORDER BY sequence_number DESC) AS recency FROM user_changes
  ) AS changes WHERE recency = 1 AND event_name <> 'REMOVE') AS users,
  count(*) AS tasks,
` + progressSQL + `
FROM tasks_current`,
			},
		},
		Queries: []schema.SavedQuery{
			{Name: "Overdue tasks", Description: "Open tasks that were due before today, longest overdue first. " +
				"Reads all days",
				SQL: "SELECT user_id, task_id, title, due_date FROM tasks_current\nWHERE status IN ('pending', " +
					"'in_progress') AND due_date < current_date\nORDER BY due_date, user_id, task_id\nLIMIT 100"},
			{Name: "Most active users", Description: "Users by tasks completed. Reads all days",
				SQL: "SELECT user_id, completed_tasks, completion_rate FROM user_metrics\nORDER BY completed_tasks " +
					"DESC, user_id\nLIMIT 20"},
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
				SQL: "SELECT status_before AS previous_status, status, count(DISTINCT event_id) AS changes FROM " +
					"task_changes\nWHERE event_date = current_date AND event_name <> 'REMOVE'\nGROUP BY " +
					"status_before, status\nORDER BY changes DESC, status"},
			{Name: "Key figures", Description: "The platform in figures. Reads all days", SQL: "SELECT * FROM kpis"},
		},
	}
}

// progressSQL says how far tasks are, in figures.
const progressSQL = `  count(CASE WHEN status = 'completed' THEN 1 END) AS completed_tasks,
  count(CASE WHEN status IN ('pending', 'in_progress') AND due_date < current_date THEN 1 END) AS overdue_tasks,
  CAST(count(CASE WHEN status = 'completed' THEN 1 END) AS double) / nullif(count(CASE WHEN status <> 'cancelled' THEN 1 END), 0) AS completion_rate,
  avg(CAST(date_diff('second', created_at, completed_at) AS double)) / 3600 AS average_hours_to_complete`

// names lists columns as SQL does.
func names(columns []schema.Column) string {
	var all []string
	for _, column := range columns {
		all = append(all, column.Name)
	}
	return strings.Join(all, ", ")
}
