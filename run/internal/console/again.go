package console

// Failed messages, once more: what their queue says of them tells what failed, and so what to do again.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
)

// again is what is done with a failed message. One of function, source and target is set, or why none can be.
type again struct {
	function string
	event    []byte
	// source is the queue from which the message came, and target one that a rule did not reach.
	source, target *sqs.Queue
	why            string
}

// String says it to people.
func (a again) String() string {
	switch {
	case a.source != nil:
		return "send the message to " + a.source.Name + ", from which it came"
	case a.target != nil:
		return "send the event to " + a.target.Name
	}
	return "invoke " + a.function + " with the event"
}

// planAgain reads a message of a queue.
func (c *Console) planAgain(queue *sqs.Queue, message sqs.Message) again {
	invoke := func(arn string, event []byte) again {
		name, _ := assembly.SplitFunction(arn)
		return again{function: name, event: event}
	}
	switch target := message.Attributes["TARGET_ARN"].StringValue; {
	case target == "":
	case message.Attributes["SCHEDULE_ARN"].StringValue != "":
		return invoke(target, []byte(message.Body))
	case message.Attributes["ERROR_CODE"].StringValue == events.InvalidJSON:
		return again{why: "the rule's template does not make JSON of the event: mend the template"}
	case message.Attributes["RULE_ARN"].StringValue == "":
	case c.parts.AWS.Queue(target) != nil:
		return again{target: c.parts.AWS.Queue(target)}
	default:
		return invoke(target, []byte(message.Body))
	}
	if failed, ok := readFailure(message.Body); ok {
		arn := strings.TrimSuffix(failed.RequestContext.FunctionARN, ":$LATEST")
		switch {
		case failed.Payload != "":
			return invoke(arn, []byte(failed.Payload))
		case len(failed.RequestPayload) > 0:
			return invoke(arn, failed.RequestPayload)
		case failed.Omitted != "":
			return again{why: "the message lacks a part of the record: " + failed.Omitted}
		case len(failed.Record) > 0:
			// The function fails on the record instead of sending another message (stream.Event of lambdas/kit).
			return invoke(arn, slices.Concat([]byte(`{"Records":[`), failed.Record, []byte(`],"again":true}`)))
		}
	}
	if message.Attributes["RequestID"].StringValue != "" {
		switch functions := c.parts.Functions.WithDeadLetter(queue.ARN); len(functions) {
		case 1:
			return again{function: functions[0], event: []byte(message.Body)}
		case 0:
		default:
			return again{why: "this queue has the failed events of several functions, and the message does not say " +
				"whose it is: " + strings.Join(functions, ", ")}
		}
	}
	if deliveries := c.deliveries(queue.Name); len(deliveries) > 0 {
		return again{why: "the queue delivers it to " + deliveries[0].Function}
	}
	switch sources := c.parts.AWS.Sources(queue); len(sources) {
	case 1:
		return again{source: sources[0]}
	case 0:
		return again{why: "the message does not say what failed: it is neither the event of a schedule or a rule, " +
			"nor the record of an invocation or of a batch of a stream"}
	default:
		return again{why: "several queues send failed messages here, and the message does not say which did"}
	}
}

// Again is what was done with a failed message.
type Again struct {
	// Did says it to people.
	Did string `json:"did"`
	// Function took the event; it is empty if the message went to another queue.
	Function string `json:"function,omitempty"`
	// Payload is the function's answer.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// again does what failed, according to a message, and then removes the message.
func (c *Console) again(r *http.Request) (Again, error) {
	queue, err := c.queueOf(r)
	if err != nil {
		return Again{}, err
	}
	message, release, err := queue.Reserve(r.PathValue("id"))
	if err != nil {
		return Again{}, err
	}
	done := false
	defer func() { release(done) }()
	plan := c.planAgain(queue, message)
	answer := Again{Did: plan.String(), Function: plan.function}
	switch {
	case plan.why != "":
		return Again{}, &Problem{http.StatusConflict, plan.why}
	case plan.source != nil:
		plan.source.Send(message.Body, message.Attributes)
	case plan.target != nil:
		plan.target.Send(message.Body, nil)
	default:
		result, err := c.parts.Functions.Invoke(r.Context(), plan.function, plan.event)
		if err != nil {
			return Again{}, fmt.Errorf("the message stays in the queue: %w", err)
		}
		if result.FunctionError != "" {
			return Again{}, fmt.Errorf("the message stays in the queue: function %s failed: %s", plan.function,
				result.Payload)
		}
		// A function that reports the records of a stream that failed does not fail itself.
		var response struct {
			Failures []json.RawMessage `json:"batchItemFailures"`
		}
		if json.Unmarshal(result.Payload, &response) == nil && len(response.Failures) > 0 {
			return Again{}, fmt.Errorf("the message stays in the queue: %s: some records failed: %s", plan.function,
				result.Payload)
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
