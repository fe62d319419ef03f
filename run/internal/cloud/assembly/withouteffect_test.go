package assembly_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
)

// A reference to a neighbour gives a value of AWS's form ("Return values" of each type, CloudFormation template
// reference).
func TestWithoutEffect(t *testing.T) {
	t.Parallel()
	const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`
	for name, test := range map[string]struct {
		kind, properties string
		want             map[string]string
	}{
		"zone": {"AWS::Route53::HostedZone", `{"Name": "example.com."}`,
			map[string]string{"": `Z[0-9A-Z]{20}`, "Id": `Z[0-9A-Z]{20}`}},
		"record": {"AWS::Route53::RecordSet", `{"Name": "ask.example.com."}`,
			map[string]string{"": `ask\.example\.com\.`}},
		"certificate": {"AWS::CertificateManager::Certificate", `{}`,
			map[string]string{"": `arn:aws:acm:us-east-1:000000000000:certificate/` + uuid,
				"CertificateArn": `arn:aws:acm:us-east-1:000000000000:certificate/` + uuid}},
		"firewall": {"AWS::WAFv2::WebACL", `{"Name": "ask", "Scope": "REGIONAL"}`, map[string]string{
			"": `ask\|` + uuid + `\|REGIONAL`, "Arn": `arn:aws:wafv2:us-east-1:000000000000:regional/webacl/ask/` +
				uuid, "Id": uuid, "Capacity": "0", "LabelNamespace": "awswaf:000000000000:webacl:ask:"}},
		"firewall at the edge": {"AWS::WAFv2::IPSet", `{"Name": "bad", "Scope": "CLOUDFRONT"}`, map[string]string{
			"": `bad\|` + uuid + `\|CLOUDFRONT`, "Arn": `arn:aws:wafv2:us-east-1:000000000000:global/ipset/bad/` +
				uuid}},
		"budget": {"AWS::Budgets::Budget", `{"Budget": {"BudgetName": "monthly"}}`,
			map[string]string{"": "monthly"}},
		"cost monitor": {"AWS::CE::AnomalyMonitor", `{"MonitorName": "all"}`,
			map[string]string{"": "arn:aws:ce::000000000000:anomalymonitor/" + uuid,
				"MonitorArn": "arn:aws:ce::000000000000:anomalymonitor/" + uuid}},
		"cost subscription": {"AWS::CE::AnomalySubscription", `{}`,
			map[string]string{"": "arn:aws:ce::000000000000:anomalysubscription/" + uuid, "AccountId": "000000000000"}},
		"trail": {"AWS::CloudTrail::Trail", `{"TrailName": "all", "SnsTopicName": "calls"}`,
			map[string]string{"": "all", "SnsTopicArn": "arn:aws:sns:us-east-1:000000000000:calls"}},
		"trail with the topic's ARN": {"AWS::CloudTrail::Trail",
			`{"SnsTopicName": "arn:aws:sns:eu-west-1:111122223333:calls"}`,
			map[string]string{"SnsTopicArn": "arn:aws:sns:eu-west-1:111122223333:calls"}},
		"vault": {"AWS::Backup::BackupVault", `{"BackupVaultName": "vault"}`,
			map[string]string{"": "vault", "BackupVaultArn": "arn:aws:backup:us-east-1:000000000000:backup-vault:vault",
				"BackupVaultName": "vault"}},
		"plan": {"AWS::Backup::BackupPlan", `{}`,
			map[string]string{"": uuid, "BackupPlanId": uuid,
				"BackupPlanArn": "arn:aws:backup:us-east-1:000000000000:backup-plan:" + uuid}},
		"share": {"AWS::RAM::ResourceShare", `{"Name": "tables"}`,
			map[string]string{"": "arn:aws:ram:us-east-1:000000000000:resource-share/" + uuid,
				"OwningAccountId": "000000000000"}},
		"pipeline": {"AWS::CodePipeline::Pipeline", `{"Name": "deploy"}`,
			map[string]string{"": "deploy", "Version": "1"}},
		"project": {"AWS::CodeBuild::Project", `{}`,
			map[string]string{"": "Stack-Beside",
				"Arn": "arn:aws:codebuild:us-east-1:000000000000:project/Stack-Beside"}},
		"images": {"AWS::ECR::Repository", `{"RepositoryName": "company/ask"}`,
			map[string]string{"": "company/ask",
				"RepositoryUri": `000000000000\.dkr\.ecr\.us-east-1\.amazonaws\.com/company/ask`}},
		"distribution": {"AWS::CloudFront::Distribution", `{}`,
			map[string]string{"": "E[0-9A-Z]{13}", "DomainName": `d[0-9a-z]{13}\.cloudfront\.net`}},
		"private API": {"AWS::ApiGateway::RestApi", `{"Name": "entry"}`,
			map[string]string{"": "[0-9a-z]{10}", "RootResourceId": "[0-9a-z]{9}"}},
		"private name": {"AWS::ApiGateway::DomainNameV2", `{"DomainName": "tasks.example.com"}`, map[string]string{
			"DomainNameArn": `arn:aws:apigateway:us-east-1:000000000000:/domainnames/tasks\.example\.com`}},
		"access logs": {"AWS::Logs::DeliveryDestination", `{"Name": "firewall"}`, map[string]string{
			"": "firewall", "Arn": "arn:aws:logs:us-east-1:000000000000:delivery-destination:firewall"}},
		"config rule": {"AWS::Config::ConfigRule", `{"ConfigRuleName": "encrypted"}`,
			map[string]string{"": "encrypted", "Compliance.Type": "INSUFFICIENT_DATA"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]any{}
			for attribute := range test.want {
				values["v"+attribute] = map[string]any{"Fn::GetAtt": []string{"Beside", attribute}}
				if attribute == "" {
					values["v"] = map[string]any{"Ref": "Beside"}
				}
			}
			text := must.Get(json.Marshal(values))(t)
			loaded := assemblytest.Load(t, `{"Beside": {"Type": "`+test.kind+`", "Properties": `+test.properties+
				`}, "Queue": {"Type": "AWS::SQS::Queue", "Properties": `+string(text)+`}}`)
			for attribute, want := range test.want {
				if got, _ := loaded.Stacks[0].ByLogicalID("Queue").Properties["v"+attribute].(string); !fully(want,
					got) {
					t.Errorf("%q: got %q, want %s", attribute, got, want)
				}
			}
			if diff := cmp.Diff(map[string]int{test.kind: 1}, loaded.WithoutEffect()); diff != "" {
				t.Errorf("withoutEffect (-want +got):\n%s", diff)
			}
			if len(loaded.Unsupported())+len(loaded.Accepted()) != 0 {
				t.Errorf("got unsupported %v, accepted %v", loaded.Unsupported(), loaded.Accepted())
			}
		})
	}
}

func fully(pattern, text string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(text)
}

// The names of a public zone's servers can be outputs. A private zone has none.
func TestNameServers(t *testing.T) {
	t.Parallel()
	loaded := assemblytest.Load(t,
		`{"Public": {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": "a."}}, "Private": {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": "b.", "VPCs": [{"VPCId": "vpc-1"}]}},
		"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"First": {"Fn::Select": [0, {"Fn::GetAtt": ["Public", "NameServers"]}]}, "None": {"Fn::GetAtt": ["Private", "NameServers"]}}}}`)
	properties := loaded.Stacks[0].ByLogicalID("Queue").Properties
	if got, ok := properties["First"].(string); !ok || got == "" {
		t.Errorf("got %v", properties["First"])
	}
	if got, ok := properties["None"].([]any); !ok || len(got) != 0 {
		t.Errorf("got %v", properties["None"])
	}
}
