package eventbus

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// service is Amazon EventBridge, to policies.
const service = "events.amazonaws.com"

// RuleProps describe a rule. Pattern, and one of Function and Queue, are required.
type RuleProps struct {
	// Bus carries the events. Default: the account's bus, which carries the events of AWS.
	Bus *Bus
	// Pattern lets events through ("Creating Amazon EventBridge event patterns"). It has up to 2,048 characters.
	Pattern map[string]any
	// Description is shown in the AWS console. Default: none.
	Description string
	// Function or Queue gets the events: see [Target].
	Function *gofunction.Function
	Queue    awssqs.IQueue
	// Key is as in [deadletter.Props]. Default: a key of Amazon SQS.
	Key awskms.IKey
}

// Rule hands events to a target.
type Rule struct {
	constructs.Construct
	// Resource is the rule.
	Resource awsevents.CfnRule
	// DeadLetters receives the events that the target did not take.
	DeadLetters awssqs.Queue
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p RuleProps) Validate() error {
	var f finding.List
	Target{Function: p.Function, Queue: p.Queue}.Check(&f, "RuleProps")
	checkPattern(&f, "RuleProps.Pattern", p.Pattern)
	key.Check(&f, "RuleProps.Key", p.Key, "")
	return f.Err()
}

// NewRule declares a rule. Its target lets only this rule in. It ends the program, by [props.Fatal], with the error of
// [RuleProps.Validate], before it declares anything.
func NewRule(scope constructs.Construct, id string, p RuleProps) *Rule {
	props.Accept("rule", scope, id, p.Validate())
	r := &Rule{}
	constructs.NewConstruct_Override(r, scope, &id)
	r.DeadLetters = deadletter.NewQueue(r, "DeadLetters", deadletter.Props{Key: p.Key})
	key.AllowRules(r, p.Key)
	target := &awsevents.CfnRule_TargetProperty{
		DeadLetterConfig: &awsevents.CfnRule_DeadLetterConfigProperty{Arn: r.DeadLetters.QueueArn()}}
	if p.Function != nil {
		target.Id, target.Arn = jsii.String("Function"), p.Function.Resource.FunctionArn()
	} else {
		target.Id, target.Arn = jsii.String("Queue"), p.Queue.QueueArn()
	}
	described := &awsevents.CfnRuleProps{State: jsii.String("ENABLED"), EventPattern: p.Pattern, Targets: []any{target},
		Description: props.Optional(p.Description)}
	if p.Bus != nil {
		described.EventBusName = p.Bus.Resource.EventBusName()
	}
	r.Resource = awsevents.NewCfnRule(r, jsii.String("Resource"), described)
	if p.Function != nil {
		awslambda.NewCfnPermission(r, jsii.String("Permission"), &awslambda.CfnPermissionProps{
			Action: jsii.String("lambda:InvokeFunction"), FunctionName: p.Function.Resource.FunctionArn(),
			Principal: jsii.String(service), SourceArn: r.Resource.AttrArn(),
		})
	} else {
		r.allowSend(p.Queue)
		key.AllowRules(r, p.Queue.EncryptionMasterKey())
	}
	r.allowSend(r.DeadLetters)
	return r
}

// KeepFailures sends the events that a function has failed to handle three times to the queue of failures, too. The
// attempts last for as long as AWS Lambda keeps an event ("How Lambda handles errors and retries with asynchronous
// invocation"). A function has one such queue, which KeepFailures declares in scope.
func (r *Rule) KeepFailures(scope constructs.Construct, f *gofunction.Function) {
	const longest, retries = 6 * time.Hour, 2
	deadletter.OnFailure(scope, f, r.DeadLetters, longest, retries)
}

func (r *Rule) allowSend(queue awssqs.IQueue) {
	queue.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String(service), nil)},
		Actions:    jsii.Strings("sqs:SendMessage"),
		Resources:  jsii.Strings(*queue.QueueArn()),
		Conditions: &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": r.Resource.AttrArn()}},
	}))
}

// MetricDeadLetters is how many events wait in the queue: a maximum over five minutes unless options say otherwise;
// options may be nil.
func (r *Rule) MetricDeadLetters(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return r.DeadLetters.MetricApproximateNumberOfMessagesVisible(options)
}
