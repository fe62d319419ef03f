package check

import (
	"cmp"
	"regexp"
	"strings"
)

// Types of resources that several comparisons name.
const (
	lambdaFunction = "AWS::Lambda::Function"
	userPool       = "AWS::Cognito::UserPool"
	schedule       = "AWS::Scheduler::Schedule"
	queue          = "AWS::SQS::Queue"
	bucket         = "AWS::S3::Bucket"
	alarm          = "AWS::CloudWatch::Alarm"
	subscription   = "AWS::SNS::Subscription"
	distribution   = "AWS::CloudFront::Distribution"
	recordSet      = "AWS::Route53::RecordSet"
	integration    = "AWS::ApiGatewayV2::Integration"
)

// otherKeys are the keys of types that the table of types does not say, as parts of [parts].
var otherKeys = map[string]string{
	"AWS::ECS::Service":           "ServiceName,Cluster?",
	"AWS::Events::EventBusPolicy": "StatementId,EventBusName?",
	"AWS::WAFv2::IPSet":           "Name,Scope",
	"AWS::WAFv2::RuleGroup":       "Name,Scope",
	"AWS::WAFv2::WebACL":          "Name,Scope",
	distribution:                  "DistributionConfig.Aliases*",
	"AWS::IAM::Policy":            "PolicyName,Roles*",
	"AWS::Lambda::Alias":          "Name,FunctionName",
	"AWS::Lambda::Url":            "TargetFunctionArn,Qualifier?",
	recordSet:                     "HostedZoneId|HostedZoneName,Name,Type,SetIdentifier?",
	"AWS::Scheduler::Schedule":    "Name,GroupName?",
}

// uniqueOf returns the unique key of a type; the zero value, which has no key, if AWS takes any number of such
// resources.
func uniqueOf(kind string) unique {
	if u, ok := uniques[kind]; ok {
		return u
	}
	key := cmp.Or(otherKeys[kind], typeField(kind, typeKey))
	if _, known := typeLines()[kind]; !known && strings.HasPrefix(kind, "AWS::") {
		// It is newer than the table: most types follow this convention.
		key = kind[strings.LastIndex(kind, ":")+1:] + "Name"
	}
	if k, _ := kindOf(kind); key == "" || k.severity == Refusal {
		return unique{}
	}
	properties := strings.Split(key, ",")
	u := unique{
		noun: nounOf(kind), key: parts(properties...), meanwhile: "Meanwhile it is gone, and what uses it fails.",
	}
	u.why = "CloudFormation creates before it deletes, and AWS takes one " + u.noun +
		" with that name: the deployment fails and rolls back, or the clean-up of the old one takes the new one away."
	if strings.HasSuffix(properties[0], "Name") && !strings.Contains(properties[0], "|") {
		u.renamed = properties[0]
	}
	return u
}

// nounOf names a type in findings by the last part of its name.
func nounOf(kind string) string {
	short := strings.Replace(kind[strings.LastIndex(kind, ":")+1:], "DB", "Database", 1)
	return strings.ToLower(wordEnd.ReplaceAllString(short, "$1 $2"))
}

// wordEnd is the boundary of two words in the name of a type.
var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)
