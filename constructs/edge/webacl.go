package edge

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// managed are the groups of rules that AWS manages ("Baseline rule groups", AWS WAF), with the rules that count a
// request and let it pass: each finds in texts of people and agents what the texts may contain. The tables of
// docs/operate/firewall.md have all rules, and why each blocks or counts.
var managed = []struct {
	name   string
	counts []string
}{
	{"AWSManagedRulesCommonRuleSet", []string{"NoUserAgent_HEADER", "SizeRestrictions_QUERYSTRING",
		"SizeRestrictions_BODY", "EC2MetaDataSSRF_BODY", "EC2MetaDataSSRF_QUERYARGUMENTS", "GenericLFI_BODY",
		"GenericLFI_QUERYARGUMENTS", "RestrictedExtensions_QUERYARGUMENTS", "GenericRFI_BODY",
		"GenericRFI_QUERYARGUMENTS", "CrossSiteScripting_BODY", "CrossSiteScripting_QUERYARGUMENTS"}},
	{"AWSManagedRulesKnownBadInputsRuleSet", []string{"JavaDeserializationRCE_BODY",
		"JavaDeserializationRCE_QUERYSTRING", "Log4JRCE_QUERYSTRING", "Log4JRCE_BODY", "ReactJSRCE_BODY"}},
}

// newWebACL declares rules that count in Amazon CloudWatch by their names.
func newWebACL(scope constructs.Construct, requestsPerAddress int) awswafv2.CfnWebACL {
	counted := func(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
		return &awswafv2.CfnWebACL_VisibilityConfigProperty{CloudWatchMetricsEnabled: true, MetricName: &name,
			SampledRequestsEnabled: true}
	}
	rules := []any{&awswafv2.CfnWebACL_RuleProperty{
		Name: jsii.String("RequestsPerAddress"), Priority: jsii.Number(0),
		VisibilityConfig: counted("RequestsPerAddress"),
		Action:           &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{}},
		Statement: &awswafv2.CfnWebACL_StatementProperty{
			RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{AggregateKeyType: jsii.String("IP"),
				Limit: jsii.Number(cmp.Or(requestsPerAddress, 2000))},
		},
	}}
	for i, group := range managed {
		var counts []any
		for _, rule := range group.counts {
			counts = append(counts, &awswafv2.CfnWebACL_RuleActionOverrideProperty{Name: &rule,
				ActionToUse: &awswafv2.CfnWebACL_RuleActionProperty{Count: map[string]any{}}})
		}
		rules = append(rules, &awswafv2.CfnWebACL_RuleProperty{
			Name: &group.name, Priority: jsii.Number(i + 1), VisibilityConfig: counted(group.name),
			OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: map[string]any{}},
			Statement: &awswafv2.CfnWebACL_StatementProperty{
				ManagedRuleGroupStatement: &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{
					Name: &group.name, VendorName: jsii.String("AWS"), RuleActionOverrides: counts}},
		})
	}
	return awswafv2.NewCfnWebACL(scope, jsii.String("WebACL"), &awswafv2.CfnWebACLProps{
		Scope: jsii.String("CLOUDFRONT"), Rules: rules, VisibilityConfig: counted("Firewall"),
		DefaultAction: &awswafv2.CfnWebACL_DefaultActionProperty{Allow: &awswafv2.CfnWebACL_AllowActionProperty{}},
	})
}
