package security

import (
	"regexp"
	"slices"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// everywhere has findings that every platform accepts (constructs/platform), by subject, whose reason is something else
// that the template has. Each applies where the template shows that the reason is true.
var everywhere = map[string]struct {
	rule *regexp.Regexp
	// applies reports whether the reason is true of the resource.
	applies func(s stack, id, rule string) bool
}{
	"DeadLetters": {
		regexp.MustCompile(`^(AwsSolutions-SQS3|Serverless-SQSRedrivePolicy)$`), stack.takesFailures,
	},
	"Invoked": {
		regexp.MustCompile(`^Serverless-LambdaDLQ$`),
		func(s stack, id, _ string) bool { return len(s.invokers(id)) == 1 },
	},
	"QueueMapping": {
		regexp.MustCompile(`^Serverless-LambdaEventSourceMappingDestination$`), func(s stack, id, _ string) bool {
			return s.redrives(s.template.Resources[id].Properties["EventSourceArn"])
		},
	},
	"TracingIsOff": {
		regexp.MustCompile(`^Serverless-LambdaTracing$`), func(s stack, _, _ string) bool {
			return !s.platform.Common().Tracing
		},
	},
	"NoPeople": {
		regexp.MustCompile(`^AwsSolutions-COG2$`), func(s stack, id, _ string) bool { return !s.signsIn(id) },
	},
	"SecondFactor": {
		regexp.MustCompile(`^AwsSolutions-COG2$`), func(s stack, id, _ string) bool {
			return s.signsIn(id) && s.template.Resources[id].Properties["MfaConfiguration"] == "OPTIONAL"
		},
	},
}

// shown returns the names of the entries whose reason for a finding the template shows. judged says that there are
// entries about the rule.
func (s stack) shown(id, rule string) (names []string, judged bool) {
	for name, accepted := range everywhere {
		if accepted.rule.MatchString(rule) {
			judged = true
			if accepted.applies(s, id, rule) {
				names = append(names, name)
			}
		}
	}
	return names, judged
}

// reasons are the names that shown returns.
func (s stack) reasons(id, rule string) []string {
	names, _ := s.shown(id, rule)
	return names
}

// references reports whether a value of the template is the resource or its ARN.
func references(value any, id string) bool {
	text := synthtest.Text(value)
	return text == id || text == id+".Arn"
}

// failures are where resources name the queue of what they could not do, by type.
var failures = map[string][]any{
	"AWS::Lambda::EventSourceMapping": {"DestinationConfig", "OnFailure", "Destination"},
	"AWS::Lambda::EventInvokeConfig":  {"DestinationConfig", "OnFailure", "Destination"},
	"AWS::SQS::Queue":                 {"RedrivePolicy", "deadLetterTargetArn"},
	"AWS::Scheduler::Schedule":        {"Target", "DeadLetterConfig", "Arn"},
	"AWS::Events::Rule":               {"Targets", 0, "DeadLetterConfig", "Arn"},
}

// takesFailures reports whether a queue gets the failures of mappings, functions, queues, schedules or rules.
func (s stack) takesFailures(queue, _ string) bool {
	for _, r := range s.template.Resources {
		if at := failures[r.Type]; at != nil && references(synthtest.At(r.Properties, at...), queue) {
			return true
		}
	}
	return false
}

// redrives reports whether an ARN is that of a queue with a queue of failures.
func (s stack) redrives(arn any) bool {
	for id, r := range s.template.OfType("AWS::SQS::Queue") {
		if references(arn, id) && synthtest.At(r.Properties, "RedrivePolicy", "deadLetterTargetArn") != nil {
			return true
		}
	}
	return false
}

// invokers returns the types of what invokes a function and does not lose what it failed at: the API, sign-ups and the
// seed, which wait, and schedules, streams and queues that have a queue of failures.
func (s stack) invokers(function string) (types []string) {
	add := func(kind string, invokes bool) {
		if invokes && !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	fails := func(r synthtest.Resource) bool {
		return references(r.Properties["FunctionName"], function) &&
			synthtest.At(r.Properties, "DestinationConfig", "OnFailure", "Destination") != nil
	}
	kept := false
	for _, r := range s.template.OfType("AWS::Lambda::EventInvokeConfig") {
		kept = kept || fails(r)
	}
	for _, r := range s.template.Resources {
		switch at := r.Properties; r.Type {
		case "AWS::ApiGatewayV2::Integration":
			add(r.Type, references(at["IntegrationUri"], function))
		case "AWS::Lambda::EventSourceMapping":
			add(r.Type+" of a stream", fails(r))
			add(r.Type+" of a queue", references(at["FunctionName"], function) && s.redrives(at["EventSourceArn"]))
		case "AWS::Scheduler::Schedule":
			add(r.Type, kept && references(synthtest.At(at, "Target", "Arn"), function))
		case "AWS::Cognito::UserPool":
			add(r.Type, references(synthtest.At(at, "LambdaConfig", "PostConfirmation"), function))
		}
	}
	if _, seeds := s.platform.Schema.Seeder(); seeds {
		add("seed", references(s.template.Outputs[s.platform.ID+s.platform.Schema.SeedOutput()].Value, function))
	}
	return types
}

// signsIn reports whether people can sign in at a client of the user pool.
func (s stack) signsIn(pool string) bool {
	for _, client := range s.template.OfType("AWS::Cognito::UserPoolClient") {
		flows := synthtest.List(client.Properties["ExplicitAuthFlows"])
		if references(client.Properties["UserPoolId"], pool) &&
			!slices.Equal(flows, []any{"ALLOW_REFRESH_TOKEN_AUTH"}) {
			return true
		}
	}
	return false
}
