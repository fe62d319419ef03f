package table

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/schema"
)

// namespace is the namespace of DynamoDB's metrics ("DynamoDB metrics and dimensions").
const namespace = "AWS/DynamoDB"

// MetricThrottledRequests counts the requests of those operations that the table or
// one of its indexes throttled, at least in part: a sum over five minutes.
func (t *Table) MetricThrottledRequests(operations ...schema.Action) awscloudwatch.MathExpression {
	return t.ofOperations("ThrottledRequests", operations)
}

// MetricSystemErrors counts the requests of those operations that DynamoDB
// answered with 500: a sum over five minutes.
func (t *Table) MetricSystemErrors(operations ...schema.Action) awscloudwatch.MathExpression {
	return t.ofOperations("SystemErrors", operations)
}

// MetricConsumedReads and MetricConsumedWrites are the capacity units that the
// table itself consumed, without its indexes: a sum over five minutes.
func (t *Table) MetricConsumedReads() awscloudwatch.Metric {
	return t.metric("ConsumedReadCapacityUnits", nil)
}

// MetricConsumedWrites is described at [Table.MetricConsumedReads].
func (t *Table) MetricConsumedWrites() awscloudwatch.Metric {
	return t.metric("ConsumedWriteCapacityUnits", nil)
}

// ofOperations returns the sum over operations of a metric that DynamoDB reports by operation only.
func (t *Table) ofOperations(name string, operations []schema.Action) awscloudwatch.MathExpression {
	using := map[string]awscloudwatch.IMetric{}
	var terms []string
	for _, o := range operations {
		// A graph of several tables needs different names, each with a small letter first.
		term := strings.ToLower(t.Schema.Name) + name + string(o)
		terms = append(terms, "FILL("+term+", 0)")
		using[term] = t.metric(name, map[string]*string{"Operation": jsii.String(string(o))})
	}
	// DynamoDB reports no zero. Without data, alarms on its metrics keep their state and
	// ignore the setting for missing data; so the expression fills the gaps
	// ("Configuring how CloudWatch alarms treat missing data").
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression:   jsii.String("SUM([" + strings.Join(terms, ", ") + "])"),
		Label:        jsii.String(t.Schema.Name + " " + name),
		UsingMetrics: &using,
	})
}

func (t *Table) metric(name string, dimensions map[string]*string) awscloudwatch.Metric {
	all := map[string]*string{"TableName": jsii.String(t.tableName())}
	for k, v := range dimensions {
		all[k] = v
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace:     jsii.String(namespace),
		MetricName:    &name,
		DimensionsMap: &all,
		Statistic:     jsii.String("Sum"),
		Label:         &t.Schema.Name,
	})
}
