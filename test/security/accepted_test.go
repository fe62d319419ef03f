package security

import (
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// everywhere has the findings that every platform accepts (constructs/platform), by subject. Each applies where the
// template, or the platform's schema, shows that the reason is true.
var everywhere = map[string]struct {
	rule *regexp.Regexp
	// applies reports whether the reason is true of the resource.
	applies func(s stack, id, rule string) bool
}{
	"DeadLetters": {
		regexp.MustCompile(`^(AwsSolutions-SQS3|Serverless-SQSRedrivePolicy)$`), stack.takesFailures,
	},
	"Waits":     {deadLetters, invokedBy(invokers{api: true})},
	"Scheduled": {deadLetters, invokedBy(invokers{schedule: true})},
	"OfStream":  {deadLetters, invokedBy(invokers{stream: true})},
	"OfQueue":   {deadLetters, invokedBy(invokers{queue: true})},
	"QueueMapping": {
		regexp.MustCompile(`^Serverless-LambdaEventSourceMappingDestination$`), func(s stack, id, _ string) bool {
			return s.redrives(s.template.Resources[id].Properties["EventSourceArn"])
		},
	},
	"Seeds":   {deadLetters, invokedBy(invokers{seed: true})},
	"SignsUp": {deadLetters, invokedBy(invokers{signUp: true})},
	"TracingIsOff": {
		regexp.MustCompile(`^Serverless-LambdaTracing$`), func(s stack, _, _ string) bool {
			return !s.platform.Common().Tracing
		},
	},
	"Tracing": {
		regexp.MustCompile(`^AwsSolutions-IAM5\[Resource::\*\]$`), func(s stack, id, _ string) bool {
			return s.platform.Common().Tracing &&
				s.allowsEverywhere(id, "xray:PutTraceSegments", "xray:PutTelemetryRecords")
		},
	},
	"Network": {
		regexp.MustCompile(`^AwsSolutions-IAM5\[Resource::\*\]$`), func(s stack, id, _ string) bool {
			return s.environment == platformtest.Existing &&
				s.allowsEverywhere(id, "ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface",
					"ec2:DeleteNetworkInterface",
					"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses")
		},
	},
	"Objects": {
		objects, func(s stack, id, rule string) bool {
			bucket, prefix := objects.FindStringSubmatch(rule)[1], objects.FindStringSubmatch(rule)[2]
			return slices.ContainsFunc(s.buckets(), func(b described) bool {
				return strings.ReplaceAll(b.path, "/", "") == bucket &&
					slices.Contains(b.users[prefix], strings.TrimSuffix(s.paths[id], "/Role/DefaultPolicy/Resource"))
			})
		},
	},
	"AlarmEmail": {
		regexp.MustCompile(`^Serverless-SNSRedrivePolicy$`), func(s stack, id, _ string) bool {
			return s.platform.Common().AlarmEmail != "" && s.template.Resources[id].Properties["Protocol"] == "email"
		},
	},
	"Logs": {
		regexp.MustCompile(`^AwsSolutions-S1$`), func(s stack, id, _ string) bool {
			return s.template.Resources[id].DeletionPolicy == "Delete" &&
				slices.ContainsFunc(s.buckets(), func(b described) bool { return s.paths[id] == b.path+"/Resource" })
		},
	},
	"Document": {
		regexp.MustCompile(`^AwsSolutions-APIG4$`), func(s stack, id, _ string) bool {
			key, _ := s.template.Resources[id].Properties["RouteKey"].(string)
			return strings.HasSuffix(key, "/openapi.json") &&
				slices.Contains(s.platform.Schema.RoutesOf(schema.CallerAnyone), key)
		},
	},
	"NoPeople": {
		regexp.MustCompile(`^AwsSolutions-COG[28]$`), func(s stack, id, _ string) bool { return !s.signsIn(id) },
	},
	"SecondFactor": {
		regexp.MustCompile(`^AwsSolutions-COG2$`), func(s stack, id, _ string) bool {
			return s.signsIn(id) && s.template.Resources[id].Properties["MfaConfiguration"] == "OPTIONAL"
		},
	},
	"ThreatProtection": {
		regexp.MustCompile(`^AwsSolutions-COG8$`), func(s stack, id, _ string) bool { return s.signsIn(id) },
	},
}

// deadLetters is the rule about a function without a dead-letter queue.
var deadLetters = regexp.MustCompile(`^Serverless-LambdaDLQ$`)

// invokedBy reports whether these alone invoke a function.
func invokedBy(by invokers) func(s stack, id, _ string) bool {
	return func(s stack, id, _ string) bool { return s.invokers(id) == by }
}

// objects is the rule about a role that may use all objects below a prefix of a bucket.
var objects = regexp.MustCompile(`^AwsSolutions-IAM5\[Resource::<(\w+)\.Arn>/(.+/)\*\]$`)

// described is a bucket of the schema.
type described struct {
	// path is the construct path below the stack.
	path string
	// users are the paths of the functions that may use objects, by prefix.
	users map[string][]string
}

// buckets returns those of the lakes, and those that the schema names.
func (s stack) buckets() []described {
	var all []described
	p, id := s.platform.Schema, s.platform.ID+"/"
	for _, l := range p.Lakes {
		lake := id + p.LakeID(l.Name)
		all = append(all, described{lake + "/Bucket",
			map[string][]string{"events/": {lake + "/Writer", lake + "/Compactor"}}})
	}
	for _, b := range p.Buckets {
		bucket := described{id + b.Name + "/Bucket", map[string][]string{}}
		for _, f := range p.Functions {
			for _, o := range slices.Concat(f.Puts, f.Gets) {
				if o.Bucket == b.Name {
					bucket.users[o.Prefix] = append(bucket.users[o.Prefix], id+f.ConstructID())
				}
			}
		}
		all = append(all, bucket)
	}
	return all
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
	return names, judged && !strings.HasPrefix(rule, "AwsSolutions-APIG4")
}

// reasons are the names that shown returns.
func (s stack) reasons(id, rule string) []string {
	names, _ := s.shown(id, rule)
	return names
}

// acceptedBy returns the further findings that a platform accepts, with paths below its stack.
func acceptedBy(p *platforms.Platform) []nag.Accepted {
	all := p.Props.Accepted()
	for i := range all {
		all[i].Resource = p.ID + "/" + all[i].Resource
	}
	return all
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

// invokers are what invokes a function: the API, sign-ups, and schedules, streams and queues that have
// a queue of failures.
type invokers struct{ api, schedule, stream, queue, seed, signUp bool }

func (s stack) invokers(function string) invokers {
	var by invokers
	for _, r := range s.template.OfType("AWS::ApiGatewayV2::Integration") {
		by.api = by.api || references(r.Properties["IntegrationUri"], function)
	}
	fails := map[string]bool{} // by resource type
	for _, kind := range []string{"AWS::Lambda::EventSourceMapping", "AWS::Lambda::EventInvokeConfig"} {
		for _, r := range s.template.OfType(kind) {
			if references(r.Properties["FunctionName"], function) {
				fails[kind] = synthtest.At(r.Properties, "DestinationConfig", "OnFailure", "Destination") != nil
				by.queue = by.queue || s.redrives(r.Properties["EventSourceArn"])
			}
		}
	}
	for _, r := range s.template.OfType("AWS::Scheduler::Schedule") {
		by.schedule = by.schedule || references(synthtest.At(r.Properties, "Target", "Arn"), function) &&
			fails["AWS::Lambda::EventInvokeConfig"]
	}
	by.stream = fails["AWS::Lambda::EventSourceMapping"]
	for _, r := range s.template.OfType("AWS::Cognito::UserPool") {
		by.signUp = by.signUp || references(synthtest.At(r.Properties, "LambdaConfig", "PostConfirmation"), function)
	}
	if _, seeds := s.platform.Schema.Seeder(); seeds {
		by.seed = references(s.template.Outputs[s.platform.ID+s.platform.Schema.SeedOutput()].Value, function)
	}
	return by
}

// allowsEverywhere reports whether a policy allows nothing but those actions on all
// resources.
func (s stack) allowsEverywhere(policy string, actions ...string) bool {
	for _, statement := range synthtest.List(
		synthtest.At(s.template.Resources[policy].Properties, "PolicyDocument", "Statement")) {
		if synthtest.At(statement, "Effect") != "Allow" ||
			!slices.Contains(synthtest.List(synthtest.At(statement, "Resource")), any("*")) {
			continue
		}
		for _, action := range synthtest.List(synthtest.At(statement, "Action")) {
			if !slices.Contains(actions, synthtest.Text(action)) {
				return false
			}
		}
	}
	return true
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
