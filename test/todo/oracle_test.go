package todo

import (
	"encoding/json"
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

// changes are all changes of tasks and of users by event, as text.
type changes map[string]string

// add adds a change to a task or a user. Each is there once.
func (c changes) add(t testing.TB, event, name string, of any) {
	t.Helper()
	if c[event] != "" {
		t.Errorf("the event %s is there twice", event)
	}
	c[event] = name + " " + text(t, of)
}

// text has every field, for comparison and for failure messages.
func text(t testing.TB, of any) string {
	t.Helper()
	return string(must.Get(json.Marshal(of))(t))
}

// streamed are the changes that the table's stream has.
func (l *lake) streamed(t testing.TB) changes {
	t.Helper()
	all := changes{}
	for _, record := range l.records(t) {
		change := record.Dynamodb.NewImage
		if record.EventName == types.OperationTypeRemove {
			change = record.Dynamodb.OldImage
		}
		image, item := must.Get(attributevalue.FromDynamoDBStreamsMap(change))(t), map[string]any{}
		must.OK(t, attributevalue.UnmarshalMap(image, &item))
		switch prefixOf(item) {
		case "TASK":
			task := storedTask{UserID: of(item)}
			for name, value := range image {
				// What cannot be a task's attribute is left out. Of a number, the decoder would make a title.
				if _, isText := item[name].(string); name == "title" && !isText {
					continue
				}
				_ = attributevalue.UnmarshalMap(map[string]dynamodbtypes.AttributeValue{name: value}, &task.Task)
			}
			task.ID = strings.TrimPrefix(item["SK"].(string), "TASK#")
			all.add(t, *record.EventID, string(record.EventName), task)
		case "USER":
			var user todo.User
			must.OK(t, attributevalue.UnmarshalMap(image, &user))
			all.add(t, *record.EventID, string(record.EventName),
				todo.User{ID: of(item), CreatedAt: user.CreatedAt, UpdatedAt: user.UpdatedAt})
		}
	}
	return all
}

// event identifies a change in the tables of the lake.
type event struct {
	EventID   string `json:"event_id"`
	EventName string `json:"event_name"`
}

// landed are the changes that the lake has. Each change of a task must be there once.
func landed(t testing.TB, from *laketest.Lake) changes {
	t.Helper()
	all := changes{}
	for _, change := range laketest.Query[struct {
		event
		storedTask
	}](t, from, "SELECT event_id, event_name, user_id, task_id, title, description, status, priority, category, "+
		"due_date, created_at, updated_at, completed_at, version FROM task_events") {
		all.add(t, change.EventID, change.EventName, change.storedTask)
	}
	// Until it is compacted, the lake may have a change twice.
	for _, change := range laketest.Query[struct {
		event
		todo.User
	}](t, from, "SELECT DISTINCT event_id, event_name, user_id, created_at, updated_at FROM user_changes") {
		all.add(t, change.EventID, change.EventName, change.User)
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

// stillThere checks that the lake has the events of tasks that it had, each once, and returns those that it has now.
func (l *lake) stillThere(t testing.TB, before map[string]bool) map[string]bool {
	t.Helper()
	from := must.Get(laketest.Copy(t.Context(), l.Target.Target))(t)
	defer from.Close()
	now := map[string]bool{}
	for _, one := range laketest.Query[event](t, from, "SELECT event_id FROM task_events") {
		if now[one.EventID] {
			t.Errorf("task_events has %s twice", one.EventID)
		}
		now[one.EventID] = true
	}
	for id := range before {
		if !now[id] {
			t.Errorf("event %s was in the lake, and is not any more", id)
		}
	}
	return now
}

// compareTable checks that the items agree, that there are the users whom the answers made, and that no deletion
// is left.
func compareTable(t *testing.T, l *lake, members []*member) {
	t.Helper()
	items := slices.DeleteFunc(l.Items(t, "AppData"), func(item map[string]any) bool { return of(item) == poisoner })
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
func compareLake(t *testing.T, l *lake, members []*member) {
	t.Helper()
	for _, key := range l.objects(t) {
		if !objectKey.MatchString(key) {
			t.Errorf("the lake has the object %s", key)
		}
	}
	want, got := l.streamed(t), landed(t, l.copied(t))
	refused := map[string]string{}
	for id, f := range l.failed(t) {
		delete(want, id)
		keys, image := f.Record.Change.Keys, f.Record.Change.NewImage
		if f.Entity != "task" || f.SequenceNumber == "" || keys["PK"].String() != "TASK#"+poisoner ||
			image["status"].String() != "pending" {
			t.Errorf("the failure queue has %+v", f)
		}
		column, _, _ := strings.Cut(strings.TrimPrefix(f.Cause, "the column "), " cannot show")
		refused[strings.TrimPrefix(keys["SK"].String(), "TASK#")+" "+f.EventName] = column
	}
	for what, diff := range map[string]string{
		"changes of tasks and users":  cmp.Diff(want, got),
		"events in the failure queue": cmp.Diff(refusedEvents, refused),
	} {
		if diff != "" {
			t.Errorf("%s (- want, + got):\n%s", what, diff)
		}
	}
	versions := map[string]bool{}
	for _, change := range got {
		versions[change] = true
	}
	for _, m := range members {
		for name, answered := range m.answers {
			if as := text(t, answered); !versions["INSERT "+as] && !versions["MODIFY "+as] {
				t.Errorf("the lake lacks the version %s as it was answered: %s", name, as)
			}
		}
	}
}
