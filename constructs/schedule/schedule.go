// Package schedule runs a function at intervals or at times of a calendar, by Amazon EventBridge Scheduler, and keeps
// failed runs in a dead-letter queue. For a platform's function, its schema declares the schedule: see
// examples/recipes/schedule.go.
package schedule

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// stale is the age at which a run's event is dropped: the next run does its work.
const stale = 5 * time.Minute

// longestDescription is in bytes ("CreateSchedule", Amazon EventBridge Scheduler API
// reference).
const longestDescription = 512

// Props describe a schedule. Function and On are required.
type Props struct {
	// Function runs.
	Function *gofunction.Function
	// On says when the function runs, by Every or by Cron. Its ID and Failures are ignored.
	On schema.OnSchedule
	// Description is shown in the AWS console. Default: none.
	Description string
	// Off declares the schedule without running the function. Default: it runs.
	Off bool
	// Key is as in [deadletter.Props]. Default: a key of Amazon SQS.
	Key awskms.IKey
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p Props) Validate() error {
	var f finding.List
	p.Function.Check(&f, "Props.Function")
	p.On.Check(&f, "Props.On")
	if len(p.Description) > longestDescription {
		f.Add("Props.Description", p.Description, "up to 512 bytes", "shorten it")
	}
	key.Check(&f, "Props.Key", p.Key, "")
	return f.Err()
}

// Schedule runs a function. A run that cannot be started, or fails twice, ends in
// the dead-letter queue.
type Schedule struct {
	constructs.Construct
	// Resource is the schedule.
	Resource awsscheduler.Schedule
	// Role is the schedule's role: it may invoke the function and write to the
	// dead-letter queue.
	Role awsiam.Role
	// DeadLetters receives the runs that could not be started or that failed.
	DeadLetters awssqs.Queue
	// Longest is the longest time from one run to the next. 0: runs come to an end, or are fewer than two in four
	// years.
	Longest time.Duration

	function *gofunction.Function
}

// New declares a schedule. It ends the program, by [props.Fatal], with the error
// of [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Schedule {
	props.Accept("schedule", scope, id, p.Validate())
	s := &Schedule{Longest: p.On.Every, function: p.Function}
	constructs.NewConstruct_Override(s, scope, &id)
	s.DeadLetters = deadletter.NewQueue(s, "DeadLetters", deadletter.Props{Key: p.Key})

	// The scheduler hands a run over and does not wait for it. AWS Lambda reports a run that fails
	// after that.
	deadletter.OnFailure(s, p.Function, s.DeadLetters, stale, 1)

	s.Role = awsiam.NewRole(s, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{
				"aws:SourceAccount": awscdk.Stack_Of(s).Account()}},
		}),
	})
	p.Function.GrantInvoke(s.Role)
	deadletter.AllowSend(s.Role, s.DeadLetters)
	s.Resource = awsscheduler.NewSchedule(s, jsii.String("Resource"), &awsscheduler.ScheduleProps{
		Description: props.Optional(p.Description),
		Enabled:     jsii.Bool(!p.Off),
		Schedule:    s.when(p),
		TimeWindow:  awsscheduler.TimeWindow_Off(),
		Target:      &target{s},
	})
	// Until the policy is there, runs would be refused.
	s.Resource.Node().AddDependency(s.Role)
	return s
}

// target is the schedule's function. The CDK's own target would add a grant on all versions of it, and
// an importer's app would compile thirteen packages of the CDK for targets of other kinds.
type target struct{ schedule *Schedule }

// Bind returns the target for AWS CloudFormation. The CDK calls it.
func (t *target) Bind(awsscheduler.ISchedule) *awsscheduler.ScheduleTargetConfig {
	return &awsscheduler.ScheduleTargetConfig{
		Arn:              t.schedule.function.Resource.FunctionArn(),
		Role:             t.schedule.Role,
		DeadLetterConfig: &awsscheduler.CfnSchedule_DeadLetterConfigProperty{Arn: t.schedule.DeadLetters.QueueArn()},
		RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
			MaximumEventAgeInSeconds: jsii.Number(stale.Seconds()),
			MaximumRetryAttempts:     jsii.Number(3),
		},
	}
}

// when returns the expression for AWS, and notes its longest interval.
func (s *Schedule) when(p Props) awsscheduler.ScheduleExpression {
	if p.On.Cron == "" {
		return awsscheduler.ScheduleExpression_Rate(awscdk.Duration_Minutes(jsii.Number(p.On.Every.Minutes())))
	}
	// Validate has parsed the expression.
	expression, _ := p.On.Expression()
	s.Longest = cron.Longest(expression)
	zone := awscdk.TimeZone_ETC_UTC()
	if p.On.TimeZone != "" {
		zone = awscdk.TimeZone_Of(&p.On.TimeZone)
	}
	return awsscheduler.ScheduleExpression_Expression(jsii.String("cron("+p.On.Cron+")"), zone)
}

// MetricRuns counts the invocations of the function: a sum over five minutes
// unless options say otherwise; options may be nil.
func (s *Schedule) MetricRuns(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return s.function.Resource.MetricInvocations(options)
}

// MetricDeadLetters is how many failed runs wait in the queue: a maximum over
// five minutes unless options say otherwise; options may be nil.
func (s *Schedule) MetricDeadLetters(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return s.DeadLetters.MetricApproximateNumberOfMessagesVisible(options)
}
