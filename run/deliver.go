package run

// What one service of the run does for another: schedules, streams and failed invocations reach functions and queues
// under the role of the one that acts.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// target delivers the events of schedules to functions, under the schedule's role.
type target struct {
	aws       *services.Services
	functions *lambda.Service
}

// deliveryError is a refused delivery, with AWS's code for the dead-letter queue.
type deliveryError struct {
	code string
	err  error
}

func (e *deliveryError) Error() string     { return e.err.Error() }
func (e *deliveryError) Unwrap() error     { return e.err }
func (e *deliveryError) ErrorCode() string { return e.code }

func (t target) authorise(s scheduler.Schedule, action, resource string) error {
	err := t.aws.Authorise(scheduleCaller+s.Name, action, resource)
	var denied *aws.DeniedError
	if errors.As(err, &denied) {
		return &deliveryError{code: "AccessDeniedException", err: err}
	}
	return err
}

// Deliver invokes the function asynchronously.
func (t target) Deliver(ctx context.Context, s scheduler.Schedule, event []byte) error {
	if s.Rule {
		return t.fire(s, event)
	}
	if err := t.authorise(s, "lambda:InvokeFunction", s.Target); err != nil {
		return err
	}
	_, err := t.functions.InvokeAsync(about(ctx, s), functionName(s), event)
	if errors.Is(err, lambda.ErrTooLarge) {
		return &deliveryError{code: "RequestTooLargeException", err: err}
	}
	return err
}

// DeliverAndWait invokes the function and returns its failure.
func (t target) DeliverAndWait(ctx context.Context, s scheduler.Schedule, event []byte) error {
	if s.Rule {
		return t.fire(s, event)
	}
	if err := t.authorise(s, "lambda:InvokeFunction", s.Target); err != nil {
		return err
	}
	result, err := t.functions.Invoke(about(ctx, s), functionName(s), event)
	if err != nil {
		return err
	}
	if result.FunctionError != "" {
		return fmt.Errorf("function %s failed: %s", functionName(s), strings.TrimSpace(string(result.Payload)))
	}
	return nil
}

// fire makes a rule deliver its own event, at the time of the scheduler's.
func (t target) fire(s scheduler.Schedule, event []byte) error {
	var scheduled struct{ Time time.Time }
	if err := json.Unmarshal(event, &scheduled); err != nil {
		return err
	}
	return t.aws.Events.Fire(s.ARN, scheduled.Time)
}

// DeadLetter sends the event to the schedule's queue.
func (t target) DeadLetter(_ context.Context, s scheduler.Schedule, body string, attributes map[string]string) error {
	if err := t.authorise(s, "sqs:SendMessage", s.DeadLetter); err != nil {
		return err
	}
	return send(t.aws, s.DeadLetter, body, attributes)
}

func about(ctx context.Context, s scheduler.Schedule) context.Context {
	return trace.About(ctx, trace.Origin{Kind: trace.Schedule, Path: s.Name})
}

func functionName(s scheduler.Schedule) string {
	name, _ := assembly.SplitFunction(s.Target)
	return name
}

// queues sends the messages of failed asynchronous invocations.
type queues struct{ aws *services.Services }

// SendMessage implements lambda.Queues.
func (q queues) SendMessage(_ context.Context, function, queueARN, body string, attributes map[string]string) error {
	if err := q.aws.Authorise(function, "sqs:SendMessage", queueARN); err != nil {
		return err
	}
	return send(q.aws, queueARN, body, attributes)
}

func send(endpoint *services.Services, queueARN, body string, attributes map[string]string) error {
	queue := endpoint.Queue(queueARN)
	if queue == nil {
		return fmt.Errorf("no queue %s in the assembly", queueARN)
	}
	typed := make(map[string]sqs.MessageAttribute, len(attributes))
	for name, value := range attributes {
		typed[name] = sqs.MessageAttribute{DataType: "String", StringValue: value}
	}
	queue.Send(body, typed)
	return nil
}

// eventInvoker returns a function's failure as an error, as event source mappings need it.
type eventInvoker struct{ functions *lambda.Service }

// Invoke implements eventsource.Invoker.
func (s eventInvoker) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	result, err := s.functions.Invoke(ctx, function, payload)
	if err != nil {
		return nil, err
	}
	if result.FunctionError != "" {
		return nil, fmt.Errorf("function %s: %w: %s", function, errFunction, result.Payload)
	}
	return result.Payload, nil
}

var errFunction = errors.New("the function failed")

// logs stands in for CloudWatch Logs.
type logs struct {
	assembly func() *assembly.Assembly
	aws      *services.Services
}

// authorise asks what CloudWatch Logs asks of the role of a function that writes its first line.
func (l logs) authorise(function, group, stream string) error {
	arn := "arn:aws:logs:" + assembly.DefaultRegion + ":" + assembly.DefaultAccount + ":log-group:" + group +
		":log-stream:" + stream
	if resource := l.assembly().ByName(function, "AWS::Lambda::Function"); resource != nil {
		arn = "arn:aws:logs:" + resource.Stack.Region + ":" + resource.Stack.Account + ":log-group:" + group +
			":log-stream:" + stream
	}
	return errors.Join(l.aws.Authorise(function, "logs:CreateLogStream", arn),
		l.aws.Authorise(function, "logs:PutLogEvents", arn))
}

// authoriseTraces asks what Lambda asks of the role of a function with active tracing. It drops the traces if one is
// refused.
func authoriseTraces(aws *services.Services, function string) (refused []error) {
	for _, action := range []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"} {
		if err := aws.Authorise(function, action, "*"); err != nil {
			refused = append(refused, err)
		}
	}
	return refused
}
