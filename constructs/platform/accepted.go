package platform

import (
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Reasons for findings of cdk-nag that every platform accepts.
const (
	failuresReason = "It is itself the queue of what could not be done; an alarm says when it is not empty."
	mappingReason  = "A mapping of a queue takes no failure destination (CreateEventSourceMapping): the queue's " +
		"redrive policy keeps what is given up."
	tracingOffReason = "Props.Tracing is off by default, because X-Ray's actions accept no resource but *."
	tracingReason    = "xray:PutTraceSegments and xray:PutTelemetryRecords accept no resource but * (Service " +
		"Authorization Reference); they can write traces and read nothing."
	networkReason = "With Props.VPC: the network interfaces of a function have no names before AWS Lambda makes " +
		"them, and EC2's Describe actions accept no resource but * (Service Authorization Reference). A Deny on " +
		"lambda:SourceFunctionArn keeps the function's own code from them."
	objectsReason = "Objects get their names when they are written: all below a prefix of one bucket is the " +
		"narrowest that Amazon S3 has, and the schema says which function may use the prefix."
	emailReason = "Amazon SNS tries an email for six hours (\"Message delivery retries\"), and the alarm stays in " +
		"Amazon CloudWatch: a queue would keep a copy that no one reads."
	accessLogsReason = "With Props.RemoveWithStack all goes with the stack, and a bucket that logs keep filling " +
		"could not be deleted."
	pageReason   = "The page is the same files for all, and its function may read nothing: people sign in on it."
	healthReason = "Monitors of the API send no token; the answer has no data."
	cursorReason = "It protects no data: with a known key, a cursor only pages through the lists that the token's " +
		"user may read anyway."
	documentReason = "The OpenAPI document says nothing about data, and clients need it before they have a token."
	programsReason = "The pool is for programs: it has no sign-up, and its clients have no sign-in with a password."
	secondReason   = "A second factor is each user's choice by default; Props.RequireMFA asks it of all."
	threatReason   = "Threat protection comes with Amazon Cognito's Plus plan, which costs for every active user: " +
		"the owner's choice."
)

// Reasons why a function needs no dead-letter queue of its own, by what invokes it.
const (
	apiReason      = "API Gateway waits for the function, so no event is left over when it fails."
	scheduleReason = "Failed runs go to the schedule's dead-letter queue, by the function's failure destination, " +
		"which tells the cause as well."
	streamReason = "The stream keeps what failed, and the mapping sends what is given up to its failure " +
		"destination."
	queueReason = "The queue keeps what failed, and its redrive policy sends what is given up to the queue of " +
		"failures."
	seedReason   = "onesynth seed waits for the function, tells a failure, and can be repeated."
	signUpReason = "Amazon Cognito waits for the function. What it fails to create, the user's first request " +
		"creates."
	eventReason = "The failure destination of the function keeps the events on which it failed."
)

// Accepted returns the findings of cdk-nag's packs AwsSolutions and Serverless that the platform accepts as it is
// declared, with the reason for each. [nag.Acknowledge] hands them to cdk-nag. Findings about what you add, such as
// routes of Props.Own, are yours.
func (p *Platform) Accepted() []nag.Accepted {
	a := acceptance{platform: p, all: slices.Clone(p.props.Accepted), root: *p.construct.Node().Path() + "/"}
	for _, r := range p.Schema.Routes {
		if strings.HasSuffix(r.Path, "/openapi.json") && r.Caller == schema.CallerAnyone {
			a.all = append(a.all, nag.OpenRoutes(documentReason, r.Key())...)
		}
	}
	for _, f := range p.Schema.Functions {
		a.function(p.Functions[f.Name], p.unwaited(f))
		for _, o := range slices.Concat(f.Puts, f.Gets) {
			a.objects(p.Functions[f.Name], p.Buckets[o.Bucket].Resource.Node(), o.Prefix)
		}
	}
	for _, l := range p.lakes() {
		a.function(l.Writer, streamReason)
		a.function(l.Compactor, scheduleReason)
		for _, f := range []*gofunction.Function{l.Writer, l.Compactor} {
			a.objects(f, l.Bucket.Node(), lake.EventsPrefix)
		}
	}
	for _, c := range *p.construct.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if resource, ok := c.(awscdk.CfnResource); ok {
			a.resource(c, *resource.CfnResourceType())
		}
	}
	return a.all
}

// AcceptedIn returns the findings of cdk-nag that a platform accepts for what its schema declares: the pages on which
// people sign in and the routes of its health need no token, and nothing rotates the secret of its cursors.
func AcceptedIn(described schema.Platform) []nag.Accepted {
	var all []nag.Accepted
	for _, r := range described.Routes {
		if op, ok := r.Operation(); ok && op.Answer() == reflect.TypeFor[schema.Health]() {
			all = append(all, nag.OpenRoutes(healthReason, r.Key())...)
		}
	}
	if secret, ok := described.Secret(schema.CursorSecret().Name); ok {
		all = append(all, nag.Accepted{Rule: "AwsSolutions-SMG4", Resource: secret.Name + "/Resource",
			Reason: cursorReason})
	}
	for _, page := range described.SignInPages() {
		all = append(all, nag.OpenRoutes(pageReason, described.RoutesServedBy(page.Name)...)...)
	}
	return all
}

// unwaited returns why an event is not lost on which the function fails.
func (p *Platform) unwaited(f schema.Function) string {
	switch f.Trigger.(type) {
	case schema.OnStream, schema.OnStreams:
		return streamReason
	case schema.OnSchedule:
		return scheduleReason
	case schema.OnQueue:
		return queueReason
	case schema.OnObjects, schema.OnOther:
		return eventReason
	}
	if seeder, ok := p.Schema.Seeder(); ok && seeder.Name == f.Name {
		return seedReason
	}
	if handler, ok := p.Schema.SignUpHandler(); ok && handler.Name == f.Name {
		return signUpReason
	}
	return apiReason
}

// acceptance gathers findings that a platform accepts.
type acceptance struct {
	platform *Platform
	// root begins the construct paths of the platform's resources.
	root string
	all  []nag.Accepted
}

func (a *acceptance) add(rule, path, reason string) {
	a.all = append(a.all, nag.Accepted{Rule: rule, Resource: strings.TrimPrefix(path, a.root), Reason: reason})
}

func (a *acceptance) function(f *gofunction.Function, unwaited string) {
	path := *f.Resource.Node().DefaultChild().Node().Path()
	a.add("Serverless-LambdaDLQ", path, unwaited)
	if !a.platform.props.Tracing {
		a.add("Serverless-LambdaTracing", path, tracingOffReason)
	}
	switch policy := *f.Role.Node().Path() + "/DefaultPolicy/Resource"; {
	case a.platform.props.VPC != nil:
		a.add("AwsSolutions-IAM5[Resource::*]", policy, networkReason)
	case a.platform.props.Tracing:
		a.add("AwsSolutions-IAM5[Resource::*]", policy, tracingReason)
	}
}

// objects accepts that a function may use all objects below a prefix of a bucket.
func (a *acceptance) objects(f *gofunction.Function, of constructs.Node, prefix string) {
	resource := of.DefaultChild().(awscdk.CfnElement)
	a.add("AwsSolutions-IAM5[Resource::<"+*resource.Stack().GetLogicalId(resource)+".Arn>/"+prefix+"*]",
		*f.Role.Node().Path()+"/DefaultPolicy/Resource", objectsReason)
}

// resource accepts findings that follow from the type and the place of a resource.
func (a *acceptance) resource(c constructs.IConstruct, kind string) {
	path, d := *c.Node().Path(), a.platform.props
	switch kind {
	case "AWS::SQS::Queue":
		for _, q := range a.platform.Queues {
			if strings.HasPrefix(path, *q.Node().Path()+"/") {
				return
			}
		}
		// A queue that another one names as its dead-letter queue keeps this rule.
		redriven := false
		for function := range a.platform.Queues {
			redriven = redriven || strings.HasPrefix(path, *a.platform.DeadLetters[function].Node().Path()+"/")
		}
		if !redriven {
			a.add("AwsSolutions-SQS3", path, failuresReason)
		}
		a.add("Serverless-SQSRedrivePolicy", path, failuresReason)
	case "AWS::Lambda::EventSourceMapping":
		for _, q := range a.platform.Queues {
			if strings.HasPrefix(path, *q.Node().Path()+"/") {
				a.add("Serverless-LambdaEventSourceMappingDestination", path, mappingReason)
			}
		}
	case "AWS::S3::Bucket":
		if d.RemoveWithStack {
			a.add("AwsSolutions-S1", path, accessLogsReason)
		}
	case "AWS::SNS::Subscription":
		if d.AlarmEmail != "" {
			a.add("Serverless-SNSRedrivePolicy", path, emailReason)
		}
	case "AWS::Cognito::UserPool":
		second, threat := secondReason, threatReason
		if a.platform.Agents != nil && strings.HasPrefix(path, *a.platform.Agents.Node().Path()+"/") {
			second, threat = programsReason, programsReason
		} else if d.RequireMFA {
			second = ""
		}
		if second != "" {
			a.add("AwsSolutions-COG2", path, second)
		}
		a.add("AwsSolutions-COG8", path, threat)
	}
}
