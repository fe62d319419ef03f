package todo

import "github.com/onesynth-cdk/onesynth/schema"

// The names of the events.
const (
	TaskCreated   = "TaskCreated"
	TaskChanged   = "TaskChanged"
	TaskCompleted = "TaskCompleted"
	TaskDeleted   = "TaskDeleted"
	UserDeleted   = "UserDeleted"
)

// TaskEvent is the detail of the events about a task that still exists.
type TaskEvent struct {
	UserID      string    `json:"user_id" dynamodbav:"-" maxLength:"255" personal:"true" doc:"The task's owner."`
	TaskID      string    `json:"task_id" dynamodbav:"-" format:"uuid" doc:"The task."`
	Title       string    `json:"title" dynamodbav:"title" maxLength:"200" personal:"true" doc:"As its owner wrote it."`
	Status      Status    `json:"status" dynamodbav:"status" enum:"pending,in_progress,completed,cancelled" doc:"Its status after the change."`
	Priority    Priority  `json:"priority" dynamodbav:"priority" nullable:"true" enum:"low,medium,high,urgent" doc:"Null for none."`
	Category    Text      `json:"category" dynamodbav:"category" nullable:"true" maxLength:"50" personal:"true" doc:"As its owner wrote it; null for none."`
	DueDate     Date      `json:"due_date" dynamodbav:"due_date" nullable:"true" format:"date" doc:"Null for none."`
	CreatedAt   Timestamp `json:"created_at" dynamodbav:"created_at" format:"date-time" doc:"Creation."`
	UpdatedAt   Timestamp `json:"updated_at" dynamodbav:"updated_at" format:"date-time" doc:"Last change."`
	CompletedAt Timestamp `json:"completed_at" dynamodbav:"completed_at" nullable:"true" format:"date-time" doc:"Completion; null unless it is completed."`
	Version     int       `json:"version" dynamodbav:"version" minimum:"1" doc:"Version of the task, as the API has it."`
}

// TaskDeletedEvent is the detail of [TaskDeleted]. It has no text that the task's owner wrote.
type TaskDeletedEvent struct {
	UserID  string `json:"user_id" dynamodbav:"-" maxLength:"255" personal:"true" doc:"The task's owner."`
	TaskID  string `json:"task_id" dynamodbav:"-" format:"uuid" doc:"The task."`
	Status  Status `json:"status" dynamodbav:"status" enum:"pending,in_progress,completed,cancelled" doc:"Its last status."`
	Version int    `json:"version" dynamodbav:"version" minimum:"1" doc:"Its last version."`
}

// UserDeletedEvent is the detail of [UserDeleted].
type UserDeletedEvent struct {
	UserID string `json:"user_id" maxLength:"255" personal:"true" doc:"The user."`
}

// Events returns the domain events of To-Do. A consumer that stores their personal fields must delete them at
// [UserDeleted].
func Events() []schema.Event {
	of := func(prefix, sort string, kinds ...any) []map[string]any {
		pattern := map[string]any{"dynamodb": map[string]any{"Keys": map[string]any{
			"PK": map[string]any{"S": []any{map[string]any{"prefix": prefix}}},
			"SK": map[string]any{"S": []any{map[string]any{"prefix": sort}}}}}}
		if len(kinds) > 0 {
			pattern["eventName"] = kinds
		}
		return []map[string]any{pattern}
	}
	tasks := of("TASK#", "TASK#")
	event := func(name, description string, changes []map[string]any, detail any) schema.Event {
		return schema.Event{Name: name, Version: 1, Description: description, Table: appData, Changes: changes,
			Before: true, Detail: detail}
	}
	return []schema.Event{
		event(TaskCreated, "A task was created.", tasks, TaskEvent{}),
		event(TaskChanged, "A task was changed; its completion is a change, too.", tasks, TaskEvent{}),
		event(TaskCompleted, "A task was completed, also one that was created so. It comes beside TaskCreated or "+
			"TaskChanged.", tasks, TaskEvent{}),
		event(TaskDeleted, "A task was deleted, alone or with its owner.", tasks, TaskDeletedEvent{}),
		event(UserDeleted, "A user was deleted. TaskDeleted of their tasks may come before and after it.",
			of("USER#", "METADATA", "REMOVE"), UserDeletedEvent{}),
	}
}
