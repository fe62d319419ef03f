package local

// Failed messages, once more: what their queue says of them tells what failed, and so what to do again.

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/lambda"
)

// again is what is done with a failed message. One of function and source is set, or why neither can be.
type again struct {
	function string
	event    []byte
	// batch of the function's stream, instead of the event.
	batch *engine.Batch
	// source is the queue from which the message came.
	source *awsapi.Queue
	why    string
}

// String says it to people.
func (a again) String() string {
	switch {
	case a.batch != nil:
		return "read the batch again from its stream, and invoke " + a.function
	case a.source != nil:
		return "send the message to " + a.source.Name + ", from which it came"
	default:
		return "invoke " + a.function + " with the event"
	}
}

// failure is the body of a message about an invocation or a batch that failed for good.
type failure struct {
	RequestContext struct {
		FunctionARN string `json:"functionArn"`
	} `json:"requestContext"`
	RequestPayload json.RawMessage `json:"requestPayload"`
	// Record is a stream's, which its function gave up; Omitted says what the message lacks of it.
	Record  json.RawMessage `json:"record"`
	Omitted string          `json:"omitted"`
	Batch   *struct {
		Shard  string `json:"shardId"`
		First  string `json:"startSequenceNumber"`
		Last   string `json:"endSequenceNumber"`
		Stream string `json:"streamArn"`
	} `json:"DDBStreamBatchInfo"`
}

// planAgain reads a message of a queue.
func (c cloud) planAgain(queue *awsapi.Queue, message awsapi.Message) again {
	invoke := func(arn string, event []byte) again {
		name, _ := assembly.SplitFunction(arn)
		return again{function: name, event: event}
	}
	if target := message.Attributes["TARGET_ARN"]; message.Attributes["SCHEDULE_ARN"].StringValue != "" && target.StringValue != "" {
		return invoke(target.StringValue, []byte(message.Body))
	}
	var failed failure
	if json.Unmarshal([]byte(message.Body), &failed) == nil && failed.RequestContext.FunctionARN != "" {
		arn := strings.TrimSuffix(failed.RequestContext.FunctionARN, ":$LATEST")
		switch {
		case failed.Batch != nil:
			plan := invoke(arn, nil)
			plan.batch = &engine.Batch{FunctionARN: arn, StreamARN: failed.Batch.Stream, Shard: failed.Batch.Shard, First: failed.Batch.First, Last: failed.Batch.Last}
			return plan
		case len(failed.RequestPayload) > 0:
			return invoke(arn, failed.RequestPayload)
		case failed.Omitted != "":
			return again{why: "the message has not all of the record: it lacks " + failed.Omitted}
		case len(failed.Record) > 0:
			// The function fails on the record instead of sending another message (stream.Event of lambdas/kit).
			return invoke(arn, slices.Concat([]byte(`{"Records":[`), failed.Record, []byte(`],"again":true}`)))
		}
	}
	if message.Attributes["RequestID"].StringValue != "" {
		switch functions := c.functions.WithDeadLetter(queue.ARN); len(functions) {
		case 1:
			return again{function: functions[0], event: []byte(message.Body)}
		case 0:
		default:
			return again{why: "this queue has the failed events of several functions, and the message does not say whose it is: " + strings.Join(functions, ", ")}
		}
	}
	if handed := c.handed(queue.Name); len(handed) > 0 {
		return again{why: "it is handed to " + handed[0].Function + " by itself"}
	}
	switch sources := c.aws.Sources(queue); len(sources) {
	case 1:
		return again{source: sources[0]}
	case 0:
		return again{why: "the message does not say what failed: it is neither the event of a schedule, nor the record of an invocation or of a batch of a stream"}
	default:
		return again{why: "several queues send what fails to this one, and the message does not say which did"}
	}
}

// Again implements console.Cloud.
func (c cloud) Again(ctx context.Context, queueName, id string) (console.Again, error) {
	queue := c.aws.Queue(queueName)
	if queue == nil {
		return console.Again{}, noQueue(queueName)
	}
	message, release, err := queue.Hold(id)
	if err != nil {
		return console.Again{}, err
	}
	done := false
	defer func() { release(done) }()
	plan := c.planAgain(queue, message)
	answer := console.Again{Did: plan.String(), Function: plan.function, Records: 1}
	switch {
	case plan.why != "":
		return console.Again{}, &console.Problem{Status: http.StatusConflict, Message: plan.why}
	case plan.source != nil:
		plan.source.Send(message.Body, message.Attributes)
	case plan.batch != nil:
		if answer.Records, err = c.databases.Again(ctx, *plan.batch); err != nil {
			return console.Again{}, fmt.Errorf("the message stays in the queue: %w", err)
		}
	default:
		result, err := c.functions.Invoke(ctx, plan.function, plan.event)
		if err != nil {
			return console.Again{}, fmt.Errorf("the message stays in the queue: %w", err)
		}
		if result.FunctionError != "" {
			return console.Again{}, fmt.Errorf("the message stays in the queue: function %s: %w: %s", plan.function, errFunction, result.Payload)
		}
		answer.Payload = answerOf(result)
	}
	done = true
	return answer, nil
}

func answerOf(result lambda.Result) json.RawMessage {
	if json.Valid(result.Payload) {
		return result.Payload
	}
	text, err := json.Marshal(string(result.Payload))
	if err != nil {
		panic(err) // a text always encodes
	}
	return text
}

// DropMessage implements console.Cloud.
func (c cloud) DropMessage(queueName, id string) error {
	queue := c.aws.Queue(queueName)
	if queue == nil {
		return noQueue(queueName)
	}
	_, release, err := queue.Hold(id)
	if err == nil {
		release(true)
	}
	return err
}

func noQueue(name string) error {
	return &console.Problem{Status: http.StatusNotFound, Message: fmt.Sprintf("no queue %q: GET /queues lists them", name)}
}
