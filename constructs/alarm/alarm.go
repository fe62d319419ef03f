// Package alarm watches metrics.
package alarm

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Metric is what an alarm watches: an awscloudwatch.Metric or an
// awscloudwatch.MathExpression.
type Metric interface {
	CreateAlarm(scope constructs.Construct, id *string, props *awscloudwatch.CreateAlarmOptions) awscloudwatch.Alarm
}

// Props describe an alarm. Metric is required.
type Props struct {
	// Metric is what is watched, with its period.
	Metric Metric
	// Description says what is wrong when the alarm goes off.
	Description string
	// Threshold is the value from which on it goes off. Default: 1.
	Threshold float64
	// Periods is how many periods in a row have to reach the threshold. Default: 1.
	Periods int
}

// New declares an alarm without actions. Without data it does not go off.
func New(scope constructs.Construct, id string, p Props) awscloudwatch.Alarm {
	return p.Metric.CreateAlarm(scope, &id, &awscloudwatch.CreateAlarmOptions{
		AlarmDescription:   &p.Description,
		Threshold:          jsii.Number(orOne(p.Threshold)),
		EvaluationPeriods:  jsii.Number(orOne(float64(p.Periods))),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

func orOne(n float64) float64 {
	if n == 0 {
		return 1
	}
	return n
}
