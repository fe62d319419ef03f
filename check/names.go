package check

import (
	"regexp"
	"strings"
)

// Types of resources that several comparisons name.
const (
	lambdaFunction    = "AWS::Lambda::Function"
	userPool          = "AWS::Cognito::UserPool"
	userPoolClient    = "AWS::Cognito::UserPoolClient"
	httpAPI           = "AWS::ApiGatewayV2::Api"
	httpStage         = "AWS::ApiGatewayV2::Stage"
	eventInvokeConfig = "AWS::Lambda::EventInvokeConfig"
	schedule          = "AWS::Scheduler::Schedule"
	eventRule         = "AWS::Events::Rule"
	queue             = "AWS::SQS::Queue"
	bucket            = "AWS::S3::Bucket"
	alarm             = "AWS::CloudWatch::Alarm"
	subscription      = "AWS::SNS::Subscription"
	workGroup         = "AWS::Athena::WorkGroup"
	iamRole           = "AWS::IAM::Role"
)

// physicalNames are, by resource type, the properties by which a template names a resource. AWS takes one resource with
// that name: in the account and Region, or within what the further properties name. They are the primary identifiers
// that a template sets, in the schemas of the CloudFormation registry. Left out are types of [uniques], types that
// [kinds] gives a name, and types with a property that is called as the type, as FunctionName.
var physicalNames = map[string][]string{
	"AWS::ApiGateway::DomainName":     {"DomainName"},
	"AWS::Athena::DataCatalog":        {"Name"},
	"AWS::Athena::PreparedStatement":  {"StatementName", "WorkGroup"},
	"AWS::CloudFront::CachePolicy":    {"CachePolicyConfig.Name"},
	"AWS::CloudFront::Function":       {"Name"},
	"AWS::CloudFront::KeyValueStore":  {"Name"},
	"AWS::CloudWatch::CompositeAlarm": {"AlarmName"},
	"AWS::CloudWatch::MetricStream":   {"Name"},
	"AWS::CodeBuild::Project":         {"Name"},
	"AWS::CodePipeline::Pipeline":     {"Name"},
	"AWS::ECS::CapacityProvider":      {"Name"},
	"AWS::ECS::Service":               {"ServiceName", "Cluster?"},
	"AWS::Events::ApiDestination":     {"Name"},
	"AWS::Events::Connection":         {"Name"},
	"AWS::Events::EventBus":           {"Name"},
	"AWS::Events::EventBusPolicy":     {"StatementId", "EventBusName?"},
	"AWS::Events::Rule":               {"Name", "EventBusName?"},
	"AWS::Glue::Crawler":              {"Name"},
	"AWS::Glue::Job":                  {"Name"},
	"AWS::Glue::Trigger":              {"Name"},
	"AWS::IAM::Policy":                {"PolicyName", "Roles*"},
	"AWS::IAM::RolePolicy":            {"PolicyName", "RoleName"},
	"AWS::Lambda::Alias":              {"Name", "FunctionName"},
	"AWS::Lambda::Url":                {"TargetFunctionArn", "Qualifier?"},
	"AWS::Logs::MetricFilter":         {"FilterName", "LogGroupName"},
	"AWS::Logs::ResourcePolicy":       {"PolicyName"},
	"AWS::Logs::SubscriptionFilter":   {"FilterName", "LogGroupName"},
	"AWS::Pipes::Pipe":                {"Name"},
	"AWS::Route53::RecordSet":         {"HostedZoneId|HostedZoneName", "Name", "Type", "SetIdentifier?"},
	"AWS::S3::AccessPoint":            {"Name"},
	"AWS::SES::ConfigurationSet":      {"Name"},
	"AWS::SES::EmailIdentity":         {"EmailIdentity"},
	"AWS::SES::Template":              {"Template.TemplateName"},
	"AWS::SNS::TopicInlinePolicy":     {"TopicArn"},
	"AWS::SQS::QueueInlinePolicy":     {"Queue"},
	"AWS::SSM::Document":              {"Name"},
	"AWS::SSM::Parameter":             {"Name"},
	"AWS::Scheduler::Schedule":        {"Name", "GroupName?"},
	"AWS::Scheduler::ScheduleGroup":   {"Name"},
	"AWS::StepFunctions::Activity":    {"Name"},
	"AWS::Synthetics::Canary":         {"Name"},
	"AWS::WAFv2::IPSet":               {"Name", "Scope"},
	"AWS::WAFv2::RuleGroup":           {"Name", "Scope"},
	"AWS::WAFv2::WebACL":              {"Name", "Scope"},
}

// sharedNames are types that may share a name, although a property has the name of the type, as in FunctionName.
var sharedNames = map[string]bool{
	"AWS::ApiGateway::UsagePlan": true, "AWS::Cognito::IdentityPool": true, "AWS::Cognito::UserPool": true,
}

// uniqueOf returns the unique key of a type; the zero value, which has no key, if AWS takes any number of such
// resources.
func uniqueOf(kind string) unique {
	if u, ok := uniques[kind]; ok {
		return u
	}
	short := kind[strings.LastIndex(kind, ":")+1:]
	properties, ok := physicalNames[kind]
	if !ok && kinds[kind].name == "" && !sharedNames[kind] && strings.HasPrefix(kind, "AWS::") {
		// Most types follow this convention.
		properties = []string{short + "Name"}
	}
	if len(properties) == 0 {
		return unique{}
	}
	u := unique{
		noun: strings.ToLower(wordEnd.ReplaceAllString(short, "$1 $2")), key: parts(properties...),
		meanwhile: "Meanwhile it is gone, and what uses it fails.",
	}
	u.why = "CloudFormation creates before it deletes, and AWS takes one " + u.noun +
		" with that name: the deployment fails and rolls back, or the clean-up of the old one takes the new one away."
	if strings.HasSuffix(properties[0], "Name") && !strings.Contains(properties[0], "|") {
		u.renamed = properties[0]
	}
	return u
}

// wordEnd is the boundary of two words in the name of a type.
var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)
