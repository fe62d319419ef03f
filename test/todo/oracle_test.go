package todo

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/todotest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
)

// taskChange is a change of a task, in the lake and in the table's stream.
type taskChange struct {
	EventID   string `json:"event_id"`
	EventName string `json:"event_name"`
	storedTask
}

// userChange is a change of a user, in the lake and in the table's stream.
type userChange struct {
	EventID   string         `json:"event_id"`
	EventName string         `json:"event_name"`
	UserID    string         `json:"user_id"`
	CreatedAt todo.Timestamp `json:"created_at" dynamodbav:"created_at"`
	UpdatedAt todo.Timestamp `json:"updated_at" dynamodbav:"updated_at"`
}

// changes are all changes of tasks and of users by event.
type changes struct {
	tasks map[string]string
	users map[string]userChange
}

func (c *changes) task(t testing.TB, change taskChange) {
	t.Helper()
	if c.tasks[change.EventID] != "" {
		t.Errorf("the event %s is there twice", change.EventID)
	}
	c.tasks[change.EventID] = change.EventName + " " + change.String()
}

// streamed are the changes that the table's stream has.
func (l *lake) streamed(t testing.TB) changes {
	t.Helper()
	all := changes{tasks: map[string]string{}, users: map[string]userChange{}}
	for _, record := range l.records(t) {
		change := record.Dynamodb.NewImage
		if record.EventName == types.OperationTypeRemove {
			change = record.Dynamodb.OldImage
		}
		id, name, item := *record.EventID, string(record.EventName), map[string]any{}
		image, err := attributevalue.FromDynamoDBStreamsMap(change)
		if err == nil {
			err = attributevalue.UnmarshalMap(image, &item)
		}
		if err != nil {
			t.Fatal(err)
		}
		user := of(item)
		switch prefixOf(item) {
		case "TASK":
			task := storedTask{UserID: user}
			for name, value := range image {
				// What cannot be a task's attribute is left out. Of a number, the decoder would make a title.
				if _, isText := item[name].(string); name == "title" && !isText {
					continue
				}
				_ = attributevalue.UnmarshalMap(map[string]dynamodbtypes.AttributeValue{name: value}, &task.Task)
			}
			task.ID = strings.TrimPrefix(item["SK"].(string), "TASK#")
			all.task(t, taskChange{id, name, task})
		case "USER":
			one := userChange{EventID: id, EventName: name, UserID: user}
			must.OK(t, attributevalue.UnmarshalMap(image, &one))
			all.users[id] = one
		}
	}
	return all
}

// landed are the changes that the lake has. Each change of a task must be there once.
func landed(t testing.TB, from *laketest.Lake) changes {
	t.Helper()
	all := changes{tasks: map[string]string{}, users: map[string]userChange{}}
	for _, change := range laketest.Query[taskChange](t, from,
		"SELECT event_id, event_name, user_id, task_id, title, description, status, priority, category, due_date, "+
			"created_at, updated_at, completed_at, version FROM task_events") {
		all.task(t, change)
	}
	for _, change := range laketest.Query[userChange](t, from,
		"SELECT event_id, event_name, user_id, created_at, updated_at FROM user_changes") {
		all.users[change.EventID] = change
	}
	return all
}

// records are all records of the table's stream.
func (l *lake) records(t testing.TB) (all []types.Record) {
	t.Helper()
	table := must.Get(l.Database.DescribeTable(t.Context(),
		&dynamodb.DescribeTableInput{TableName: aws.String(l.Tables["AppData"])}))(t)
	options := l.Database.Options()
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		Region: options.Region, Credentials: options.Credentials, BaseEndpoint: options.BaseEndpoint})
	arn := table.Table.LatestStreamArn
	stream := must.Get(streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn}))(t)
	for _, shard := range stream.StreamDescription.Shards {
		from := must.Get(streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: types.ShardIteratorTypeTrimHorizon}))(t)
		for next := from.ShardIterator; next != nil; {
			page := must.Get(streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: next}))(t)
			if len(page.Records) == 0 {
				break // the shard's end so far
			}
			all, next = append(all, page.Records...), page.NextShardIterator
		}
	}
	return all
}

// events are the ids in task_events; each must be there once.
func events(ctx context.Context, l *lake) (_ map[string]bool, err error) {
	from, err := laketest.Copy(ctx, l.Target.Target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	rows, err := from.Query(ctx, "SELECT event_id FROM task_events")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if ids[id] {
			return nil, fmt.Errorf("task_events has %s twice", id)
		}
		ids[id] = true
	}
	return ids, rows.Err()
}

// compareTable checks that the items agree, that there are the users whom the answers made, and that no deletion
// is left.
func compareTable(t *testing.T, l *lake, members []*member, bad *poisoner) {
	t.Helper()
	items := slices.DeleteFunc(l.Items(t, "AppData"), func(item map[string]any) bool { return of(item) == bad.user })
	for _, finding := range todotest.Disagreements(items) {
		t.Error(finding)
	}
	got, want := map[string]bool{}, map[string]bool{}
	for _, item := range items {
		if prefixOf(item) == "COUNTS" {
			got[of(item)] = item["deletion"] == nil
		}
	}
	for _, m := range members {
		if m.alive {
			want[m.ID] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("users who are not being deleted (- answers, + table):\n%s", diff)
	}
}

var objectKey = regexp.MustCompile(`^events/entity=(task|user)/event_date=\d{4}-\d{2}-\d{2}/[^/]+\.parquet$`)

// compareLake checks that the lake has each change that the table's stream has, but for those that cannot be rows, which
// are in the failure queue; and that it has the versions of tasks that were answered.
func compareLake(t *testing.T, l *lake, members []*member, bad *poisoner) {
	t.Helper()
	for _, key := range l.objects(t) {
		if !objectKey.MatchString(key) {
			t.Errorf("the lake has the object %s", key)
		}
	}
	want, got := l.streamed(t), landed(t, l.copied(t))
	refused := map[string]string{}
	for id, f := range l.failed(t) {
		delete(want.tasks, id)
		keys, image := f.Record.Change.Keys, f.Record.Change.NewImage
		if f.Entity != "task" || f.SequenceNumber == "" || keys["PK"]["S"] != "TASK#"+bad.user ||
			image["status"]["S"] != "pending" {
			t.Errorf("the failure queue has %+v", f)
		}
		column, _, _ := strings.Cut(strings.TrimPrefix(f.Cause, "the column "), " cannot show")
		refused[strings.TrimPrefix(keys["SK"]["S"], "TASK#")+" "+f.EventName] = column
	}
	for what, diff := range map[string]string{
		"changes of tasks": cmp.Diff(want.tasks, got.tasks), "changes of users": cmp.Diff(want.users, got.users),
		"events in the failure queue": cmp.Diff(bad.refused, refused),
	} {
		if diff != "" {
			t.Errorf("%s (- want, + got):\n%s", what, diff)
		}
	}
	versions := map[string]bool{}
	for _, change := range got.tasks {
		versions[change] = true
	}
	for _, m := range members {
		for name, answered := range m.answers {
			if !versions["INSERT "+answered.String()] && !versions["MODIFY "+answered.String()] {
				t.Errorf("the lake lacks the version %s as it was answered: %v", name, answered)
			}
		}
	}
}
