package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/schedule"
)

func readSchedule(a *assembly.Assembly, resource *assembly.Resource) (schedule.Schedule, error) {
	var p struct {
		ScheduleExpression, ScheduleExpressionTimezone, State, StartDate, EndDate string
		FlexibleTimeWindow                                                        struct {
			Mode                   string
			MaximumWindowInMinutes int
		}
		Target struct {
			Arn, RoleArn, Input string
			RetryPolicy         struct {
				MaximumRetryAttempts     *int
				MaximumEventAgeInSeconds int
			}
			DeadLetterConfig struct{ Arn string }
		}
	}
	if err := resource.Decode(&p); err != nil {
		return schedule.Schedule{}, err
	}
	s := schedule.Schedule{
		Name: resource.Name, ARN: resource.ARN, Expression: p.ScheduleExpression, Timezone: p.ScheduleExpressionTimezone,
		Disabled: p.State == "DISABLED", Target: p.Target.Arn, Role: p.Target.RoleArn, Input: p.Target.Input,
		MaxAttempts: p.Target.RetryPolicy.MaximumRetryAttempts, MaxAge: time.Duration(p.Target.RetryPolicy.MaximumEventAgeInSeconds) * time.Second,
		DeadLetter: p.Target.DeadLetterConfig.Arn,
	}
	if p.FlexibleTimeWindow.Mode == "FLEXIBLE" {
		s.Window = time.Duration(p.FlexibleTimeWindow.MaximumWindowInMinutes) * time.Minute
	}
	var err error
	if s.Start, err = parseDate(p.StartDate); err != nil {
		return s, fmt.Errorf("%s: StartDate: %w", resource, err)
	}
	if s.End, err = parseDate(p.EndDate); err != nil {
		return s, fmt.Errorf("%s: EndDate: %w", resource, err)
	}
	if a.Function(p.Target.Arn) == nil {
		return s, fmt.Errorf("%s: target %s: functions of the assembly are run locally", resource, p.Target.Arn)
	}
	if s.DeadLetter != "" && !isQueue(a, s.DeadLetter) {
		return s, fmt.Errorf("%s: dead-letter queue %s is not in the assembly", resource, s.DeadLetter)
	}
	return s, nil
}

func parseDate(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, text)
}

// target is what schedules deliver to: functions, under the schedule's role.
type target struct{ runner *Runner }

// deliveryError is a delivery that the target refused, with AWS's code for the dead-letter queue.
type deliveryError struct {
	code string
	err  error
}

func (e *deliveryError) Error() string     { return e.err.Error() }
func (e *deliveryError) Unwrap() error     { return e.err }
func (e *deliveryError) ErrorCode() string { return e.code }

func (t target) authorise(s schedule.Schedule, action, resource string) error {
	err := t.runner.aws.Authorise(callerOfRoles+s.Name, action, resource)
	var denied *awsapi.DeniedError
	if errors.As(err, &denied) {
		return &deliveryError{code: "AccessDeniedException", err: err}
	}
	return err
}

// Deliver invokes the function asynchronously.
func (t target) Deliver(_ context.Context, s schedule.Schedule, event []byte) error {
	if err := t.authorise(s, "lambda:InvokeFunction", s.Target); err != nil {
		return err
	}
	_, err := t.runner.functions.InvokeAsync(functionName(s.Target), event)
	if errors.Is(err, lambda.ErrTooLarge) {
		return &deliveryError{code: "RequestTooLargeException", err: err}
	}
	return err
}

// DeliverAndWait invokes the function and returns its failure.
func (t target) DeliverAndWait(ctx context.Context, s schedule.Schedule, event []byte) error {
	if err := t.authorise(s, "lambda:InvokeFunction", s.Target); err != nil {
		return err
	}
	result, err := t.runner.functions.Invoke(ctx, functionName(s.Target), event)
	if err != nil {
		return err
	}
	if result.FunctionError != "" {
		return fmt.Errorf("function %s failed: %s", functionName(s.Target), strings.TrimSpace(string(result.Payload)))
	}
	return nil
}

// DeadLetter sends the event to the schedule's queue.
func (t target) DeadLetter(_ context.Context, s schedule.Schedule, body string, attributes map[string]string) error {
	if err := t.authorise(s, "sqs:SendMessage", s.DeadLetter); err != nil {
		return err
	}
	return send(t.runner.aws, s.DeadLetter, body, attributes)
}

// queues sends for functions whose asynchronous invocations failed.
type queues struct{ runner *Runner }

// SendMessage implements lambda.Queues.
func (q queues) SendMessage(_ context.Context, function, queueARN, body string, attributes map[string]string) error {
	if err := q.runner.aws.Authorise(function, "sqs:SendMessage", queueARN); err != nil {
		return err
	}
	return send(q.runner.aws, queueARN, body, attributes)
}

func send(aws *awsapi.Server, queueARN, body string, attributes map[string]string) error {
	queue := aws.Queue(queueARN)
	if queue == nil {
		return fmt.Errorf("no queue %s in the assembly", queueARN)
	}
	typed := make(map[string]awsapi.MessageAttribute, len(attributes))
	for name, value := range attributes {
		typed[name] = awsapi.MessageAttribute{DataType: "String", StringValue: value}
	}
	queue.Send(body, typed)
	return nil
}
