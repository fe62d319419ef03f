package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/todotest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// set is the function on a table with users who have tasks.
type set struct {
	handler  lambda.Handler
	tables   *dynamotest.Tables
	service  *service.Service
	failures triggertest.Queue
	output   *bytes.Buffer
}

func newSet(t *testing.T, erase func(context.Context, service.Deletion) (bool, error)) *set {
	t.Helper()
	s := &set{tables: dynamotest.Open(t, todo.Platform().Database), output: &bytes.Buffer{}}
	s.service = &service.Service{DB: s.tables.DB}
	if erase == nil {
		db, err := s.tables.As(todo.Platform(), "eraser")
		if err != nil {
			t.Fatal(err)
		}
		erase = (&service.Service{DB: db}).Erase
	}
	log, err := kit.NewLogger(s.output, "", "eraser")
	if err != nil {
		t.Fatal(err)
	}
	batch := &trigger.Stream{Failures: &s.failures, Log: log}
	f := &function{erase: erase, batch: batch,
		metrics: &kit.Metrics{Namespace: "Onesynth/todo", Function: "eraser", Writer: s.output}}
	s.handler = kit.NewResponder(log, f.handle)
	return s
}

// begin stores a user with tasks, begins their deletion, and returns its id.
func (s *set) begin(t *testing.T, user string) service.Deletion {
	t.Helper()
	ctx := t.Context()
	if _, err := s.service.CreateUser(ctx, user, todo.UserBody{Email: user + "@example.com", Name: user}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.service.CreateTask(ctx, user, todo.TaskBody{Title: "secret"}); err != nil {
			t.Fatal(err)
		}
	}
	if complete, err := s.service.DeleteUser(todotest.Hurried(ctx), user); err != nil || complete {
		t.Fatalf("begin a deletion: %v, %v", complete, err)
	}
	var counts struct {
		Deletion string `dynamodbav:"deletion"`
	}
	if _, err := s.tables.DB.Get(ctx, "GetTaskCounts", &counts, "COUNTS#"+user, "METADATA"); err != nil ||
		counts.Deletion == "" {
		t.Fatalf("no deletion has begun: %v", err)
	}
	return service.Deletion{User: user, ID: counts.Deletion}
}

// record is one of the stream as Lambda delivers it.
func record(sequence, partition, image string) string {
	return fmt.Sprintf(
		`{"eventID":"e%[1]s","eventName":"MODIFY","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-central-1",
		"eventSourceARN":"arn:aws:dynamodb:eu-central-1:1:table/t/stream/s",
		"dynamodb":{"ApproximateCreationDateTime":1774737000,"Keys":{"PK":{"S":%[2]q},"SK":{"S":"METADATA"}},%[3]s,"SequenceNumber":"%[1]s","SizeBytes":1,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`,
		sequence, partition, image)
}

func deletionRecord(sequence string, deletion service.Deletion) string {
	return record(sequence, "COUNTS#"+deletion.User,
		fmt.Sprintf(`"NewImage":{"PK":{"S":"COUNTS#%s"},"pending":{"N":"3"},"deletion":{"S":%q}}`, deletion.User,
			deletion.ID))
}

func (s *set) handle(t *testing.T, ctx context.Context, records ...string) []string {
	t.Helper()
	answer, err := s.handler.Invoke(ctx, []byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	var response events.DynamoDBEventResponse
	if err := json.Unmarshal(answer, &response); err != nil || !bytes.Contains(answer, []byte(`"batchItemFailures"`)) {
		t.Fatalf("got %s, %v", answer, err)
	}
	var failed []string
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	return failed
}

func (s *set) items(t *testing.T) int {
	t.Helper()
	output, err := s.tables.Client.Scan(t.Context(), &awsdynamodb.ScanInput{TableName: new("AppData")})
	if err != nil {
		t.Fatal(err)
	}
	return len(output.Items)
}

func TestErasesWhatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	s := newSet(t, nil)
	ada, bob := s.begin(t, "ada"), s.begin(t, "b#ob")
	// Without time nothing fails, and all comes again.
	if diff := cmp.Diff([]string{"1", "2"}, s.handle(t, todotest.Hurried(t.Context()), deletionRecord("1", ada),
		deletionRecord("2", bob))); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	if failed := s.handle(t, t.Context(), deletionRecord("1", ada), deletionRecord("2", bob),
		record("3", "COUNTS#eve", `"NewImage":{"pending":{"N":"3"}}`), deletionRecord("4", ada)); failed != nil {
		t.Errorf("failed are %v", failed)
	}
	if n := s.items(t); n != 0 {
		t.Errorf("%d items are left", n)
	}
	if !strings.Contains(s.output.String(), `"UsersErased":3`) || strings.Contains(s.output.String(), "secret") {
		t.Errorf("wrote %s", s.output)
	}
	// A user who came back stays.
	if _, err := s.service.CreateUser(t.Context(), "ada",
		todo.UserBody{Email: "ada@example.com", Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.service.CreateTask(t.Context(), "ada", todo.TaskBody{Title: "new"}); err != nil {
		t.Fatal(err)
	}
	if failed := s.handle(t, t.Context(), deletionRecord("1", ada)); failed != nil {
		t.Errorf("failed are %v", failed)
	}
	if n := s.items(t); n != 4 {
		t.Errorf("%d items of the new user, want 4", n)
	}
}

// Where events are published, their publisher passes deletions on by a queue. They are erased as those of the stream.
func TestErasesWhatIsPassedOn(t *testing.T) {
	t.Parallel()
	s := newSet(t, nil)
	message, err := json.Marshal(map[string]string{"eventSource": "aws:sqs", "messageId": "m", "receiptHandle": "r",
		"body": deletionRecord("1", s.begin(t, "ada"))})
	if err != nil {
		t.Fatal(err)
	}
	if failed := s.handle(t, todotest.Hurried(t.Context()), string(message)); len(failed) != 1 || failed[0] != "m" {
		t.Errorf("without time, failed are %v", failed)
	}
	if failed := s.handle(t, t.Context(), string(message)); failed != nil || s.items(t) != 0 {
		t.Errorf("failed are %v; %d items are left", failed, s.items(t))
	}
}

// The answer names a record that may heal by its sequence number; one that cannot is in the queue of failures; the
// others are done.
func TestReportsFailures(t *testing.T) {
	t.Parallel()
	var erased []string
	s := newSet(t, func(_ context.Context, deletion service.Deletion) (bool, error) {
		switch deletion.User {
		case "bob":
			return false, fmt.Errorf("the table: %w", retry.ErrBusy)
		case "spoiled":
			return false, errors.New("an item is not readable")
		}
		erased = append(erased, deletion.User)
		return true, nil
	})
	failed := s.handle(t, t.Context(), deletionRecord("10", service.Deletion{User: "spoiled", ID: "0"}),
		deletionRecord("11", service.Deletion{User: "ada", ID: "1"}),
		deletionRecord("12", service.Deletion{User: "bob", ID: "2"}),
		deletionRecord("13", service.Deletion{User: "carol", ID: "3"}))
	if diff := cmp.Diff([]string{"12"}, failed); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ada", "carol"}, erased); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	metricstest.Complete(t, s.output.String(), schema.MetricsOf("eraser", todo.Platform().Metrics))
	if f := s.failures.Failures(); len(f) != 1 || !strings.Contains(f["10"].Cause, "not readable") ||
		!strings.Contains(string(f["10"].Record), "COUNTS#spoiled") {
		t.Errorf("the queue of failures has %+v", f)
	}
	if !strings.Contains(s.output.String(), `"EraserFailures":2`) ||
		!strings.Contains(s.output.String(), "too much is going on") {
		t.Errorf("wrote %s", s.output)
	}
}
