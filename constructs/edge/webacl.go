package edge

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

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
	// A rule of the first group refuses bodies over 8 KB. The API has limits of its own.
	larger := []any{&awswafv2.CfnWebACL_RuleActionOverrideProperty{Name: jsii.String("SizeRestrictions_BODY"),
		ActionToUse: &awswafv2.CfnWebACL_RuleActionProperty{Count: map[string]any{}}}}
	for i, group := range []string{"AWSManagedRulesCommonRuleSet", "AWSManagedRulesKnownBadInputsRuleSet"} {
		managed := &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{Name: &group, VendorName: jsii.String("AWS")}
		if i == 0 {
			managed.RuleActionOverrides = larger
		}
		rules = append(rules, &awswafv2.CfnWebACL_RuleProperty{
			Name: &group, Priority: jsii.Number(i + 1), VisibilityConfig: counted(group),
			OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: map[string]any{}},
			Statement:      &awswafv2.CfnWebACL_StatementProperty{ManagedRuleGroupStatement: managed},
		})
	}
	return awswafv2.NewCfnWebACL(scope, jsii.String("WebACL"), &awswafv2.CfnWebACLProps{
		Scope: jsii.String("CLOUDFRONT"), Rules: rules, VisibilityConfig: counted("Firewall"),
		DefaultAction: &awswafv2.CfnWebACL_DefaultActionProperty{Allow: &awswafv2.CfnWebACL_AllowActionProperty{}},
	})
}
