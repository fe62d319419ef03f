package security

import (
	"slices"
	"strings"
)

const (
	// A person who answers questions has no account, and is known by the fingerprint that the
	// browser sends; limits for each fingerprint and address hold them instead.
	peopleHaveNoAccount = "People answer without an account: the function limits each fingerprint and each address, and the stage all callers together."
	publicDocument      = "The OpenAPI document says nothing about data, and clients need it before they have a token."
	openAgents          = "Props.OpenAgents, for development, lets anyone ask."
	agentKeys           = "With Props.AgentKeys the function itself checks the key: an authorizer of an HTTP API would need both headers in each request, would keep a revoked key in its cache, and answers in another form."

	tracingIsOff   = "Props.Tracing is off by default, because X-Ray's actions accept no resource but *; the stack issuer has it on."
	tracingActions = "xray:PutTraceSegments and xray:PutTelemetryRecords accept no resource but * (Service Authorization Reference); they can write traces and read nothing."
	networkActions = "With Props.VPC: the network interfaces of a function have no names before AWS Lambda makes them, and EC2's Describe actions accept no resource but * (Service Authorization Reference). A Deny on lambda:SourceFunctionArn keeps the function's own code from them."
	objectsToBe    = "The lake's objects get their names when they are written: all below events/ of one bucket is the narrowest that Amazon S3 has."

	isDeadLetterQueue = "It is itself the queue of what could not be done; an alarm says when it is not empty."

	waits     = "API Gateway waits for the function, so no event is left over when it fails."
	scheduled = "Failed runs go to the schedule's dead-letter queue, by the function's failure destination, which tells the cause as well."
	ofStream  = "The stream keeps what failed, and the mapping sends what is given up to its failure destination."

	noPeople = "The pool is for programs: it has no sign-up, and its clients have no sign-in with a password."
)

// tracing and noTracing are the stacks of a platform whose functions send traces, and
// those whose do not.
func tracing(platform string) []string { return []string{strings.ToLower(platform) + "-issuer"} }

func noTracing(platform string) []string {
	var all []string
	for _, environment := range []string{company, "dev", "prod", "strict", "tokens"} {
		all = append(all, strings.ToLower(platform)+"-"+environment)
	}
	return all
}

// acknowledged are all findings that stay, each with its reason. A finding that is
// not here fails the test, and so does an acknowledgement that nothing needs.
var acknowledged = slices.Concat(
	[]acknowledgement{
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --human--questions/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --human--questions--{question_id}/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/POST --human--responses/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/POST --human--push--subscribe/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/PUT --human--push--subscribe/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/PUT --human--push--subscribe--{subscription_id}/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/DELETE --human--push--subscribe--{subscription_id}/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --human--stats/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --human--leaderboard/Resource", Reason: peopleHaveNoAccount},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --openapi.json/Resource", Reason: publicDocument},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/POST --agent--questions/Resource", In: []string{"askahuman-dev"}, Reason: openAgents},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/POST --agent--questions/Resource", In: []string{"askahuman-prod"}, Reason: agentKeys},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --agent--questions/Resource", In: []string{"askahuman-dev"}, Reason: openAgents},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --agent--questions/Resource", In: []string{"askahuman-prod"}, Reason: agentKeys},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --agent--questions--{question_id}/Resource", In: []string{"askahuman-dev"}, Reason: openAgents},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/GET --agent--questions--{question_id}/Resource", In: []string{"askahuman-prod"}, Reason: agentKeys},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/DELETE --agent--questions--{question_id}/Resource", In: []string{"askahuman-dev"}, Reason: openAgents},
		{Rule: "AwsSolutions-APIG4", Resource: "AskAHuman/API/DELETE --agent--questions--{question_id}/Resource", In: []string{"askahuman-prod"}, Reason: agentKeys},
		{Rule: "AwsSolutions-APIG4", Resource: "Todo/API/GET --api--v1--openapi.json/Resource", Reason: publicDocument},
		{Rule: "AwsSolutions-APIG4", Resource: "Todo/API/GET --health/Resource", Reason: "Who watches the API asks without a token; the answer has no data."},

		{Rule: "AwsSolutions-COG2", Resource: "AskAHuman/Agents/Resource/Resource", Reason: noPeople},
		{Rule: "AwsSolutions-COG8", Resource: "AskAHuman/Agents/Resource/Resource", Reason: noPeople},
		{
			Rule: "AwsSolutions-COG2", Resource: "Todo/Users/Resource/Resource", In: []string{"todo-company", "todo-dev", "todo-prod", "todo-tokens"},
			Reason: "A second factor is each user's choice by default; Props.RequireMFA, on in the stack strict, asks it of all.",
		},
		{
			Rule: "AwsSolutions-COG8", Resource: "Todo/Users/Resource/Resource",
			Reason: "Threat protection comes with Amazon Cognito's Plus plan, which costs for every active user: the owner's choice, as docs/SECURITY.md says.",
		},

		{Rule: "AwsSolutions-SMG4", Resource: "AskAHuman/FingerprintSecret/Resource", Reason: "With another key every person would be a new one, without points and with all limits fresh."},
		{Rule: "AwsSolutions-SMG4", Resource: "AskAHuman/FCMCredentials/Resource", Reason: "Google issues the service account key: AWS cannot make a new one."},
		{Rule: "AwsSolutions-SMG4", Resource: "Todo/CursorSecret/Resource", Reason: "It protects no data: a cursor with a known key still only pages through the tasks of the token's own user, whose key the request's token gives."},

		{Rule: "AwsSolutions-IAM5[Resource::<TodoLakeBucket.Arn>/events/*]", Resource: "Todo/Lake/Writer/Role/DefaultPolicy/Resource", Reason: objectsToBe},
		{Rule: "AwsSolutions-IAM5[Resource::<TodoLakeBucket.Arn>/events/*]", Resource: "Todo/Lake/Compactor/Role/DefaultPolicy/Resource", Reason: objectsToBe},
		{
			Rule: "AwsSolutions-S1", Resource: "Todo/Lake/Bucket/Resource", In: []string{"todo-dev"},
			Reason: "With Props.RemoveWithStack all goes with the stack, and a bucket that logs keep filling could not be deleted.",
		},
	},
	deadLetterQueues("AskAHuman/Schedule/DeadLetters", "Todo/DeadLetters", "Todo/Lake/Failures", "Todo/Lake/Schedule/DeadLetters"),
	function("AskAHuman", "AgentAPI", waits),
	function("AskAHuman", "HumanAPI", waits),
	function("AskAHuman", "Notifier", scheduled),
	function("Todo", "TodoAPI", waits),
	function("Todo", "Eraser", ofStream),
	function("Todo", "Lake/Writer", ofStream),
	function("Todo", "Lake/Compactor", scheduled),
)

func deadLetterQueues(paths ...string) []acknowledgement {
	var all []acknowledgement
	for _, path := range paths {
		for _, rule := range []string{"AwsSolutions-SQS3", "Serverless-SQSRedrivePolicy"} {
			all = append(all, acknowledgement{Rule: rule, Resource: path + "/Resource", Reason: isDeadLetterQueue})
		}
	}
	return all
}

// function has the acknowledgements of one function, which needs no dead-letter
// queue of its own because of that reason.
func function(platform, name, noQueue string) []acknowledgement {
	path := platform + "/" + name
	return []acknowledgement{
		{Rule: "Serverless-LambdaTracing", Resource: path + "/Resource/Resource", In: noTracing(platform), Reason: tracingIsOff},
		{Rule: "AwsSolutions-IAM5[Resource::*]", Resource: path + "/Role/DefaultPolicy/Resource", In: tracing(platform), Reason: tracingActions},
		{Rule: "AwsSolutions-IAM5[Resource::*]", Resource: path + "/Role/DefaultPolicy/Resource", In: []string{strings.ToLower(platform) + "-" + company}, Reason: networkActions},
		{Rule: "Serverless-LambdaDLQ", Resource: path + "/Resource/Resource", Reason: noQueue},
	}
}
