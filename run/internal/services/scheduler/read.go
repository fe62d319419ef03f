package scheduler

import (
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// Read reads a schedule, and the role under which it delivers. Its error names the resource and what a local run, or
// AWS, refuses.
func Read(a *assembly.Assembly, resource *assembly.Resource) (Schedule, *policy.Role, error) {
	s, err := read(a, resource)
	if err != nil {
		return s, nil, err
	}
	role, err := policy.ForRole(a, s.Role)
	if err != nil {
		return s, nil, fmt.Errorf("%s: %w", resource, err)
	}
	group := "default"
	if name, ok := resource.Properties["GroupName"].(string); ok {
		group = name
	}
	source := "arn:aws:scheduler:" + resource.Stack.Region + ":" + resource.Stack.Account + ":schedule-group/" + group
	if !role.Trusts(policy.Scheduler, map[string]string{policy.SourceAccount: resource.Stack.Account,
		policy.SourceARN: source}) {
		return s, nil, fmt.Errorf("%s: role %s does not let %s assume it: AWS would refuse to create the schedule",
			resource, role.Name, policy.Scheduler)
	}
	return s, role, nil
}

func read(a *assembly.Assembly, resource *assembly.Resource) (Schedule, error) {
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
		return Schedule{}, err
	}
	s := Schedule{
		Name: resource.Name, ARN: resource.ARN, Expression: p.ScheduleExpression,
		Timezone: p.ScheduleExpressionTimezone,
		Disabled: p.State == "DISABLED", Target: p.Target.Arn, Role: p.Target.RoleArn, Input: p.Target.Input,
		MaxAttempts: p.Target.RetryPolicy.MaximumRetryAttempts,
		MaxAge:      time.Duration(p.Target.RetryPolicy.MaximumEventAgeInSeconds) * time.Second,
		DeadLetter:  p.Target.DeadLetterConfig.Arn,
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
	if s.DeadLetter != "" && !a.IsQueue(s.DeadLetter) {
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
