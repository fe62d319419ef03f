package sqs_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	queues "github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
)

type fixture struct {
	service *queues.Service
	client  *sqs.Client
	url     string
}

// start serves the queues to a function that may do everything with them.
func start(t *testing.T) *fixture {
	t.Helper()
	service := queues.New()
	config := awstest.Serve(t, "sqs", service, assemblytest.LoadFile(t, "testdata/resources.json"))
	return &fixture{service, sqs.NewFromConfig(config), *config.BaseEndpoint}
}

func TestQueues(t *testing.T) {
	t.Parallel()
	f := start(t)
	url := f.service.Queue("work").URL
	attributes := map[string]sqstypes.MessageAttributeValue{
		"ERROR_CODE": {DataType: aws.String("String"), StringValue: aws.String("x")}}
	sent := must.Get(f.client.SendMessage(t.Context(),
		&sqs.SendMessageInput{QueueUrl: aws.String(url), MessageBody: aws.String("größe"),
			MessageAttributes: attributes}))(t)
	receive := func() []sqstypes.Message {
		got := must.Get(f.client.ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: aws.String(url), MaxNumberOfMessages: 10,
				MessageAttributeNames: []string{"All"}, VisibilityTimeout: 0}))(t)
		return got.Messages
	}
	got := receive()
	if len(got) != 1 || aws.ToString(got[0].Body) != "größe" ||
		aws.ToString(got[0].MessageId) != aws.ToString(sent.MessageId) ||
		aws.ToString(got[0].MessageAttributes["ERROR_CODE"].StringValue) != "x" {
		t.Fatalf("got %+v", got)
	}
	if again := receive(); len(again) != 0 {
		t.Errorf("a message being worked on was received: %v", again)
	}
	show := func() {
		must.Get(f.client.ChangeMessageVisibility(t.Context(),
			&sqs.ChangeMessageVisibilityInput{QueueUrl: aws.String(url), ReceiptHandle: got[0].ReceiptHandle,
				VisibilityTimeout: 0}))(t)
	}
	show()
	if got = receive(); len(got) != 1 {
		t.Fatalf("got %v, want the message again", got)
	}
	show()
	if third := receive(); len(third) != 0 {
		t.Errorf("got %v after the most receives", third)
	}
	if dead := f.service.Queue("failed").Messages(); len(dead) != 1 || dead[0].Body != "größe" ||
		dead[0].Received != 2 {
		t.Errorf("dead-letter queue: got %+v", dead)
	}
	batch, err := f.client.SendMessageBatch(t.Context(),
		&sqs.SendMessageBatchInput{QueueUrl: aws.String(url), Entries: []sqstypes.SendMessageBatchRequestEntry{
			{Id: aws.String("a"), MessageBody: aws.String("1")},
			{Id: aws.String("b"), MessageBody: aws.String("2"), DelaySeconds: 60},
			{Id: aws.String("c"), MessageBody: aws.String("")}}})
	if err != nil || len(batch.Successful) != 2 || len(batch.Failed) != 1 {
		t.Fatalf("got %+v %v", batch, err)
	}
	if got = receive(); len(got) != 1 || aws.ToString(got[0].Body) != "1" {
		t.Fatalf("got %+v, want the message without delay", got)
	}
	for range 2 {
		if _, err := f.client.DeleteMessage(t.Context(),
			&sqs.DeleteMessageInput{QueueUrl: aws.String(url), ReceiptHandle: got[0].ReceiptHandle}); err != nil {
			t.Error(err)
		}
	}
	counted, err := f.client.GetQueueAttributes(t.Context(),
		&sqs.GetQueueAttributesInput{QueueUrl: aws.String(url), AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil || counted.Attributes["ApproximateNumberOfMessagesDelayed"] != "1" ||
		counted.Attributes["ApproximateNumberOfMessages"] != "0" {
		t.Errorf("got %v %v", counted, err)
	}
	if _, err := f.client.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: aws.String(url)}); err != nil {
		t.Error(err)
	}
	if left := f.service.Queue("work").Messages(); len(left) != 0 {
		t.Errorf("after the purge: got %v", left)
	}
	var missing *sqstypes.QueueDoesNotExist
	if _, err := f.client.SendMessage(t.Context(),
		&sqs.SendMessageInput{QueueUrl: aws.String(f.url + "/1/none"), MessageBody: aws.String("x")}); !errors.As(err,
		&missing) {
		t.Errorf("got %v", err)
	}
}

func TestLongPollWakesUp(t *testing.T) {
	t.Parallel()
	f := start(t)
	queue := f.service.Queue("work")
	received := make(chan []sqstypes.Message, 1)
	go func() {
		got, err := f.client.ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: aws.String(queue.URL), WaitTimeSeconds: 20})
		if err != nil {
			t.Error(err)
			received <- nil
			return
		}
		received <- got.Messages
	}()
	queue.Send("x", nil)
	if got := <-received; len(got) != 1 {
		t.Errorf("got %v", got)
	}
}
