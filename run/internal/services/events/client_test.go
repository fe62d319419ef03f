package events_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// The SDK puts events on buses, and reads what became of each.
func TestPutEventsByClient(t *testing.T) {
	t.Parallel()
	loaded := assemblytest.Load(t, `{"Bus": {"Type": "AWS::Events::EventBus", "Properties": {"Name": "own"}},
		"Inbox": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "inbox"}},
		"Allowed": {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": [{"Ref": "Inbox"}], "PolicyDocument": {"Statement": [
			{"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": ["sqs:SendMessage", "sqs:GetQueueUrl"],
			"Resource": {"Fn::GetAtt": ["Inbox", "Arn"]}, "Condition": {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": ["Rule", "Arn"]}}}}]}}},
		"Rule": {"Type": "AWS::Events::Rule", "Properties": {"EventBusName": {"Ref": "Bus"}, "EventPattern": {"detail-type": ["Asked"]},
			"Targets": [{"Id": "i", "Arn": {"Fn::GetAtt": ["Inbox", "Arn"]}, "InputPath": "$.time"}]}},
		"Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "reader"}},
		"Policy": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement":
			{"Effect": "Allow", "Action": "events:PutEvents", "Resource": {"Fn::GetAtt": ["Bus", "Arn"]}}}}}}`)
	queues := sqs.New()
	apply := must.Get(queues.Prepare(loaded))(t)
	apply()
	service := events.New(events.Options{Queue: queues.Queue})
	t.Cleanup(service.Close)
	client := eventbridge.NewFromConfig(awstest.Serve(t, "events", service, loaded))
	entry := func(bus, detail string) types.PutEventsRequestEntry {
		return types.PutEventsRequestEntry{EventBusName: aws.String(bus), Source: aws.String("platform"),
			DetailType: aws.String("Asked"), Detail: aws.String(detail),
			Time: aws.Time(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))}
	}
	put, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{
		Entries: []types.PutEventsRequestEntry{entry("own", `{"id": "q1"}`), entry("own", `x`)}})
	must.OK(t, err)
	if put.FailedEntryCount != 1 || aws.ToString(put.Entries[0].EventId) == "" || put.Entries[0].ErrorCode != nil ||
		put.Entries[1].EventId != nil || aws.ToString(put.Entries[1].ErrorCode) != "MalformedDetail" {
		t.Errorf("got %+v", put)
	}
	queue := queues.Queue("inbox")
	wait.For(t, "the events in the queue", 1, func() int { return len(queue.Messages()) })
	if got := queue.Messages()[0].Body; got != `"2026-11-26T12:00:00Z"` {
		t.Errorf("got %s", got)
	}
	_, err = client.PutEvents(t.Context(), &eventbridge.PutEventsInput{
		Entries: []types.PutEventsRequestEntry{entry("default", `{}`)}})
	if failure, ok := errors.AsType[smithy.APIError](err); !ok || failure.ErrorCode() != "AccessDeniedException" {
		t.Errorf("a bus that the role does not allow: got %v", err)
	}
	_, err = client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{}})
	if failure, ok := errors.AsType[smithy.APIError](err); !ok || failure.ErrorCode() != "ValidationException" {
		t.Errorf("no entries: got %v", err)
	}
}
