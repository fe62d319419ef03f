package assembly

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// withoutEffect are resources that companies put beside a platform: names in the DNS, certificates, firewalls, budgets,
// backups, pipelines. A local run goes on without their effect, and says so.
var withoutEffect = map[string]typeEntry{
	"AWS::Route53::HostedZone": {ref: zoneID, attributes: map[string]give{"Id": ref},
		lists: map[string]giveList{"NameServers": nameServers}},
	"AWS::Route53::RecordSet":      {nameProperty: "Name"},
	"AWS::Route53::RecordSetGroup": {ref: id(12), attributes: map[string]give{"Id": ref}},
	"AWS::Route53::HealthCheck":    {ref: ownUUID, attributes: map[string]give{"HealthCheckId": ref}},
	"AWS::Route53::DNSSEC":         {naming: []string{"HostedZoneId"}, ref: of("HostedZoneId")},
	"AWS::Route53::KeySigningKey": {nameProperty: "Name", naming: []string{"HostedZoneId"},
		ref: func(r *Resource) (string, error) {
			return r.naming["HostedZoneId"] + "|" + r.Name, nil
		}},

	"AWS::CertificateManager::Certificate": numbered("acm", "certificate/", "CertificateArn"),
	"AWS::CertificateManager::Account":     {ref: account, attributes: map[string]give{"AccountId": ref}},

	"AWS::WAFv2::WebACL": firewall("webacl").with(map[string]give{
		"Capacity": fixed("0"), "LabelNamespace": func(r *Resource) (string, error) {
			return "awswaf:" + r.Stack.Account + ":webacl:" + r.Name + ":", nil
		}}, "Scope"),
	"AWS::WAFv2::RuleGroup": firewall("rulegroup").with(map[string]give{
		"LabelNamespace": func(r *Resource) (string, error) {
			return "awswaf:" + r.Stack.Account + ":rulegroup:" + r.Name + ":", nil
		}}, "Scope"),
	"AWS::WAFv2::IPSet":           firewall("ipset"),
	"AWS::WAFv2::RegexPatternSet": firewall("regexpatternset"),
	"AWS::WAFv2::WebACLAssociation": {naming: []string{"ResourceArn", "WebACLArn"},
		ref: func(r *Resource) (string, error) { return r.naming["ResourceArn"] + "|" + r.naming["WebACLArn"], nil }},
	"AWS::WAFv2::LoggingConfiguration": {naming: []string{"ResourceArn"}, ref: of("ResourceArn"),
		attributes: map[string]give{"ManagedByFirewallManager": fixed("false")}},

	"AWS::Budgets::Budget":        {nameProperty: "Budget.BudgetName", attributes: map[string]give{"Id": ref}},
	"AWS::Budgets::BudgetsAction": {ref: ownUUID, attributes: map[string]give{"ActionId": ref}},
	"AWS::CE::AnomalyMonitor":     costAnomaly("anomalymonitor/", "MonitorArn"),
	"AWS::CE::AnomalySubscription": costAnomaly("anomalysubscription/",
		"SubscriptionArn").with(map[string]give{"AccountId": account}),

	"AWS::Backup::BackupVault": {nameProperty: "BackupVaultName", limit: 50, arn: arn("backup", "backup-vault:"),
		attributes: map[string]give{"BackupVaultArn": ownARN, "BackupVaultName": ref}},
	"AWS::Backup::BackupPlan": {ref: ownUUID, arn: uuidARN("backup", "backup-plan:"),
		attributes: map[string]give{"BackupPlanArn": ownARN, "BackupPlanId": ref, "VersionId": id(40)}},
	"AWS::Backup::BackupSelection": {naming: []string{"BackupPlanId"}, ref: selectionID,
		attributes: map[string]give{"BackupPlanId": of("BackupPlanId"), "SelectionId": ownUUID, "Id": ref}},

	"AWS::RAM::ResourceShare": numbered("ram", "resource-share/", "Arn").with(map[string]give{
		"OwningAccountId": account, "Status": fixed("ACTIVE"), "FeatureSet": fixed("STANDARD")}),
	"AWS::RAM::Permission": {nameProperty: "Name", arn: arn("ram", "permission/"), ref: ownARN,
		attributes: map[string]give{"Arn": ownARN, "Version": fixed("1")}},

	"AWS::Events::EventBusPolicy": {naming: []string{"EventBusName", "StatementId"},
		ref: func(r *Resource) (string, error) {
			return r.naming["EventBusName"] + "|" + r.naming["StatementId"], nil
		}},
	"AWS::Events::Archive": {nameProperty: "ArchiveName", limit: 48, arn: arn("events", "archive/"),
		attributes: map[string]give{"Arn": ownARN}},

	"AWS::CodePipeline::Pipeline": {nameProperty: "Name", limit: 100, arn: arn("codepipeline", ""),
		attributes: map[string]give{"Arn": ownARN, "Version": fixed("1")}},
	"AWS::CodePipeline::CustomActionType": {ref: id(12), attributes: map[string]give{"Id": ref}},
	"AWS::CodePipeline::Webhook": {nameProperty: "Name", ref: id(12),
		attributes: map[string]give{"Id": ref, "Url": domain("https://REGION.webhooks.aws/trigger")}},
	"AWS::CodeBuild::Project": {nameProperty: "Name", limit: 150, arn: arn("codebuild", "project/"),
		attributes: map[string]give{"Arn": ownARN, "Id": ref}},
	"AWS::CodeBuild::ReportGroup": {nameProperty: "Name", limit: 128, arn: arn("codebuild", "report-group/"),
		ref: ownARN, attributes: map[string]give{"Arn": ownARN}},
	"AWS::CodeBuild::SourceCredential": {arn: arn("codebuild", "token/"), ref: ownARN,
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::CodeCommit::Repository": {nameProperty: "RepositoryName", limit: 100, ref: ownUUID,
		arn: arn("codecommit", ""), attributes: map[string]give{
			"Arn": ownARN, "Name": name, "RepositoryId": ref,
			"CloneUrlHttp": domain("https://git-codecommit.REGION.amazonaws.com/v1/repos/NAME"),
			"CloneUrlSsh":  domain("ssh://git-codecommit.REGION.amazonaws.com/v1/repos/NAME")}},
	"AWS::CodeConnections::Connection":             connection("codeconnections"),
	"AWS::CodeStarConnections::Connection":         connection("codestar-connections"),
	"AWS::CodeStarNotifications::NotificationRule": numbered("codestar-notifications", "notificationrule/", "Arn"),
	"AWS::CodeDeploy::Application":                 {nameProperty: "ApplicationName", limit: 100},
	"AWS::CodeDeploy::DeploymentConfig":            {nameProperty: "DeploymentConfigName", limit: 100},
	"AWS::CodeDeploy::DeploymentGroup":             {nameProperty: "DeploymentGroupName", limit: 100},
	"AWS::ECR::Repository": {nameProperty: "RepositoryName", lower: true, arn: arn("ecr", "repository/"),
		attributes: map[string]give{
			"Arn": ownARN, "RepositoryUri": func(r *Resource) (string, error) {
				return fmt.Sprintf("%s.dkr.ecr.%s.amazonaws.com/%s", r.Stack.Account, r.Stack.Region, r.Name), nil
			}}},
	"AWS::Chatbot::SlackChannelConfiguration": {nameProperty: "ConfigurationName", arn: chat("slack-channel"),
		ref: ownARN, attributes: map[string]give{"Arn": ownARN}},
	"AWS::Chatbot::MicrosoftTeamsChannelConfiguration": {nameProperty: "ConfigurationName",
		arn: chat("microsoft-teams-channel"), ref: ownARN, attributes: map[string]give{"Arn": ownARN}},

	"AWS::ApiGateway::RestApi": {nameProperty: "Name", ref: id(10),
		attributes: map[string]give{"RestApiId": ref, "RootResourceId": id(9)}},
	"AWS::ApiGateway::Resource":   {ref: id(6), attributes: map[string]give{"ResourceId": ref}},
	"AWS::ApiGateway::Method":     {ref: id(12)},
	"AWS::ApiGateway::Deployment": {ref: id(6), attributes: map[string]give{"DeploymentId": ref}},
	"AWS::ApiGateway::Stage":      {nameProperty: "StageName"},
	"AWS::ApiGateway::DomainNameV2": {nameProperty: "DomainName", arn: arn("apigateway", "/domainnames/"), ref: ownARN,
		attributes: map[string]give{"DomainNameArn": ownARN, "DomainNameId": id(10)}},
	"AWS::ApiGateway::BasePathMappingV2": numbered("apigateway", "/basepathmappings/", "BasePathMappingArn"),
	"AWS::ApiGateway::DomainNameAccessAssociation": numbered("apigateway", "/domainnameaccessassociations/",
		"DomainNameAccessAssociationArn"),

	"AWS::Logs::DeliverySource": {nameProperty: "Name", limit: 60, arn: arn("logs", "delivery-source:"),
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::Logs::DeliveryDestination": {nameProperty: "Name", limit: 60, arn: arn("logs", "delivery-destination:"),
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::Logs::Delivery": {ref: id(16), attributes: map[string]give{"DeliveryId": ref}},

	"AWS::CloudFront::Distribution": {ref: edgeID, attributes: map[string]give{
		"Id": ref, "DomainName": func(r *Resource) (string, error) {
			return "d" + identifier(r, 13) + ".cloudfront.net", nil
		}}},
	"AWS::CloudFront::OriginAccessControl":   {ref: edgeID, attributes: map[string]give{"Id": ref}},
	"AWS::CloudFront::CachePolicy":           {ref: ownUUID, attributes: map[string]give{"Id": ref}},
	"AWS::CloudFront::OriginRequestPolicy":   {ref: ownUUID, attributes: map[string]give{"Id": ref}},
	"AWS::CloudFront::ResponseHeadersPolicy": {ref: ownUUID, attributes: map[string]give{"Id": ref}},
	"AWS::CloudFront::CloudFrontOriginAccessIdentity": {ref: edgeID,
		attributes: map[string]give{"Id": ref, "S3CanonicalUserId": id(40)}},
	"AWS::CloudFront::Function": {nameProperty: "Name", limit: 64, arn: func(r *Resource) (string, error) {
		return "arn:aws:cloudfront::" + r.Stack.Account + ":function/" + r.Name, nil
	}, ref: ownARN, attributes: map[string]give{"FunctionARN": ownARN, "FunctionMetadata.FunctionARN": ownARN,
		"Stage": fixed("LIVE")}},

	"AWS::Config::ConfigRule": {nameProperty: "ConfigRuleName", limit: 128, arn: func(r *Resource) (string, error) {
		return fmt.Sprintf("arn:aws:config:%s:%s:config-rule/config-rule-%s", r.Stack.Region, r.Stack.Account,
			identifier(r, 6)), nil
	}, attributes: map[string]give{
		"Arn": ownARN, "Compliance.Type": fixed("INSUFFICIENT_DATA"),
		"ConfigRuleId": func(r *Resource) (string, error) {
			return "config-rule-" + identifier(r, 6), nil
		}}},
	"AWS::CloudTrail::Trail": {nameProperty: "TrailName", limit: 128, naming: []string{"SnsTopicName"},
		arn: arn("cloudtrail", "trail/"), attributes: map[string]give{"Arn": ownARN, "SnsTopicArn": trailTopic}},
	"AWS::GuardDuty::Detector": {ref: id(32), attributes: map[string]give{"Id": ref}},

	"AWS::ResourceGroups::Group": {nameProperty: "Name", arn: arn("resource-groups", "group/"),
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::ServiceCatalogAppRegistry::Application": {nameProperty: "Name", ref: id(26),
		arn: func(r *Resource) (string, error) {
			return fmt.Sprintf("arn:aws:servicecatalog:%s:%s:/applications/%s", r.Stack.Region, r.Stack.Account,
				identifier(r, 26)), nil
		}, attributes: map[string]give{"Arn": ownARN, "Id": ref, "ApplicationName": name,
			"ApplicationTagKey": fixed("awsApplication"),
			"ApplicationTagValue": func(r *Resource) (string, error) {
				return fmt.Sprintf("arn:aws:resource-groups:%s:%s:group/%s/%s", r.Stack.Region, r.Stack.Account, r.Name,
					identifier(r, 26)), nil
			}}},
	"AWS::ServiceCatalogAppRegistry::ResourceAssociation": {naming: []string{"Application", "Resource", "ResourceType"},
		ref: func(r *Resource) (string, error) {
			return strings.Join([]string{r.naming["Application"], r.naming["Resource"], r.naming["ResourceType"]}, "|"),
				nil
		}},

	"AWS::XRay::Group": {nameProperty: "GroupName", limit: 32, arn: arn("xray", "group/"), ref: ownARN,
		attributes: map[string]give{"GroupARN": ownARN}},
	"AWS::XRay::SamplingRule": {nameProperty: "SamplingRule.RuleName", limit: 32,
		arn: arn("xray", "sampling-rule/"), ref: ownARN, attributes: map[string]give{"RuleARN": ownARN}},
	"AWS::Logs::SubscriptionFilter":    {nameProperty: "FilterName"},
	"AWS::Logs::LogStream":             {nameProperty: "LogStreamName"},
	"AWS::Logs::LogAnomalyDetector":    numbered("logs", "anomaly-detector:", "AnomalyDetectorArn"),
	"AWS::CloudWatch::AnomalyDetector": {ref: id(12), attributes: map[string]give{"Id": ref}},
	"AWS::CloudWatch::InsightRule": {nameProperty: "RuleName", limit: 128, arn: arn("cloudwatch", "insight-rule/"),
		ref: ownARN, attributes: map[string]give{"Arn": ownARN, "RuleName": name}},

	"AWS::IAM::User": {nameProperty: "UserName", naming: []string{"Path"}, limit: 64, arn: iamARN("user"),
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::IAM::Group": {nameProperty: "GroupName", naming: []string{"Path"}, limit: 128,
		arn: iamARN("group"), attributes: map[string]give{"Arn": ownARN}},
	"AWS::IAM::InstanceProfile": {nameProperty: "InstanceProfileName", naming: []string{"Path"}, limit: 128,
		arn: iamARN("instance-profile"), attributes: map[string]give{"Arn": ownARN}},
	"AWS::IAM::ServiceLinkedRole": {naming: []string{"AWSServiceName"}, attributes: map[string]give{"RoleName": ref}},
	"AWS::IAM::OIDCProvider": {naming: []string{"Url"}, arn: func(r *Resource) (string, error) {
		return fmt.Sprintf("arn:aws:iam::%s:oidc-provider/%s", r.Stack.Account,
			strings.TrimPrefix(r.naming["Url"], "https://")), nil
	}, ref: ownARN, attributes: map[string]give{"Arn": ownARN}},
}

func account(r *Resource) (string, error) { return r.Stack.Account, nil }

func ownUUID(r *Resource) (string, error) { return uuidOf(r.Stack.Name + "/" + r.LogicalID), nil }

func uuidARN(service, prefix string) give {
	return func(r *Resource) (string, error) {
		return fmt.Sprintf("arn:aws:%s:%s:%s:%s%s", service, r.Stack.Region, r.Stack.Account, prefix,
			uuidOf(r.Stack.Name+"/"+r.LogicalID)), nil
	}
}

// numbered is a type whose ARN ends in a UUID, which Ref and the named attribute give.
func numbered(service, prefix, attribute string) typeEntry {
	return typeEntry{arn: uuidARN(service, prefix), ref: ownARN, attributes: map[string]give{attribute: ownARN}}
}

// costAnomaly is a type of AWS Cost Explorer, whose ARNs have no region.
func costAnomaly(prefix, attribute string) typeEntry {
	return typeEntry{arn: func(r *Resource) (string, error) {
		return "arn:aws:ce::" + r.Stack.Account + ":" + prefix + uuidOf(r.Stack.Name+"/"+r.LogicalID), nil
	}, ref: ownARN, attributes: map[string]give{attribute: ownARN}}
}

// trailTopic is the ARN of the topic that a trail names by name or ARN.
func trailTopic(r *Resource) (string, error) {
	topic := r.naming["SnsTopicName"]
	if topic == "" || strings.HasPrefix(topic, "arn:") {
		return topic, nil
	}
	return fmt.Sprintf("arn:aws:sns:%s:%s:%s", r.Stack.Region, r.Stack.Account, topic), nil
}

func connection(service string) typeEntry {
	return numbered(service, "connection/", "ConnectionArn").with(
		map[string]give{"ConnectionStatus": fixed("PENDING"), "OwnerAccountId": account})
}

// firewall is a type of AWS WAF, which Ref gives as NAME|ID|SCOPE.
func firewall(kind string) typeEntry {
	return typeEntry{nameProperty: "Name", naming: []string{"Scope"}, limit: 128,
		arn: func(r *Resource) (string, error) {
			scope := "regional"
			if r.naming["Scope"] == "CLOUDFRONT" {
				scope = "global"
			}
			return fmt.Sprintf("arn:aws:wafv2:%s:%s:%s/%s/%s/%s", r.Stack.Region, r.Stack.Account, scope, kind, r.Name,
				uuidOf(r.Stack.Name+"/"+r.LogicalID)), nil
		}, ref: func(r *Resource) (string, error) {
			return r.Name + "|" + uuidOf(r.Stack.Name+"/"+r.LogicalID) + "|" + r.naming["Scope"], nil
		}, attributes: map[string]give{"Arn": ownARN, "Id": ownUUID}}
}

func zoneID(r *Resource) (string, error) { return "Z" + strings.ToUpper(identifier(r, 20)), nil }

func edgeID(r *Resource) (string, error) { return "E" + strings.ToUpper(identifier(r, 13)), nil }

// nameServers are those of a public zone; a private one has none.
func nameServers(r *Resource) []any {
	if r.raw["VPCs"] != nil {
		return []any{}
	}
	return []any{"ns-1.awsdns-01.com", "ns-2.awsdns-02.net", "ns-3.awsdns-03.org", "ns-4.awsdns-04.co.uk"}
}

func selectionID(r *Resource) (string, error) {
	own, err := ownUUID(r)
	return r.naming["BackupPlanId"] + "_" + own, err
}

func chat(kind string) give {
	return func(r *Resource) (string, error) {
		return fmt.Sprintf("arn:aws:chatbot::%s:chat-configuration/%s/%s", r.Stack.Account, kind, r.Name), nil
	}
}

// entryOf returns the entry of a type, or the zero value for an unknown one.
func entryOf(kind string) typeEntry {
	if entry, ok := withoutEffect[kind]; ok {
		entry.support = neighbour
		return entry
	}
	return types[kind]
}

// WithoutEffect counts, by type, the resources that companies put beside a platform. A local run takes them without
// their effect, and should say so. Resources without effect that platforms themselves have, such as alarms, do not
// count.
func (a *Assembly) WithoutEffect() map[string]int {
	counts := map[string]int{}
	for _, resource := range a.Resources(slices.Collect(maps.Keys(withoutEffect))...) {
		counts[resource.Type]++
	}
	return counts
}
