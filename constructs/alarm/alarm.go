// Package alarm declares alarms of Amazon CloudWatch. Each has a description for the
// person on call, and may notify a topic when it goes off and when it is over.
package alarm

import (
	"cmp"
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// longestDescription is in bytes ("PutMetricAlarm", Amazon CloudWatch API reference).
const longestDescription = 1024

// Period is the period of a metric that has no other.
const Period = 5 * time.Minute

const (
	// longestPeriod is a metric's ("PutMetricAlarm", Amazon CloudWatch API reference).
	longestPeriod = 24 * time.Hour
	// longestRange and longestShortRange are how far back an alarm looks, with periods of
	// an hour and more and with shorter ones (ibidem, EvaluationPeriods).
	longestRange, longestShortRange = 7 * 24 * time.Hour, 24 * time.Hour
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
	// Description says what is wrong when the alarm goes off. Default: nothing.
	Description string
	// Threshold is the lowest value at which it goes off. Default: 1.
	Threshold float64
	// Periods is how many periods in a row have to reach the threshold. Together they are a day at most, or a week if
	// each is an hour or longer. Default: 1.
	Periods int
	// Period replaces the metric's own period: whole minutes up to a day. It is for an awscloudwatch.Metric or an
	// awscloudwatch.MathExpression. Default: the metric's own.
	Period time.Duration
	// Below makes it go off below the threshold, and without data. Default: it goes off from the threshold up, and not
	// without data.
	Below bool
	// Percentile says that the metric is a percentile. A percentile of few requests means little, so the alarm keeps
	// its state until there are enough. Default: false.
	Percentile bool
	// Topic is notified when the alarm goes off and when it is over. If it is encrypted
	// with a key that the app declares, the alarm may use the key. Default: the alarm
	// notifies no one.
	Topic awssns.ITopic
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p Props) Validate() error {
	var f finding.List
	if props.IsNil(p.Metric) {
		f.Add("Props.Metric", nil, "a metric, or an expression of metrics", "say what the alarm watches")
	}
	if len(p.Description) > longestDescription {
		f.Add("Props.Description", p.Description, "up to 1024 bytes", "shorten it: the person on call has little time")
	}
	checkPeriods(&f, "Props", p.Period, p.Periods)
	props.CheckResource(&f, "Props.Topic", p.Topic, "")
	return f.Err()
}

// checkPeriods adds a finding below path for each of the two values that is invalid. 0 is valid: it
// means a period of five minutes, and one period.
func checkPeriods(f *finding.List, path string, period time.Duration, periods int) {
	if period < 0 || period > longestPeriod || period%time.Minute != 0 {
		f.Add(path+".Period", period, "1m0s to 24h0m0s in whole minutes", "leave it 0 for the metric's own")
		return
	}
	period = cmp.Or(period, Period)
	longest := longestShortRange
	if period >= time.Hour {
		longest = longestRange
	}
	if most := int(longest / period); periods < 0 || periods > most {
		f.Add(path+".Periods", periods, fmt.Sprintf("1 to %d with a period of %s", most, period),
			"leave it 0 for the default, or choose a longer period")
	}
}

// New declares an alarm. It ends the program, by [props.Fatal], with the error
// of [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) awscloudwatch.Alarm {
	props.Accept("alarm", scope, id, p.Validate())
	options := &awscloudwatch.CreateAlarmOptions{
		AlarmDescription:   &p.Description,
		Threshold:          jsii.Number(cmp.Or(p.Threshold, 1)),
		EvaluationPeriods:  jsii.Number(cmp.Or(p.Periods, 1)),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	}
	if p.Below {
		options.ComparisonOperator = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
		options.TreatMissingData = awscloudwatch.TreatMissingData_BREACHING
	}
	if p.Percentile {
		options.EvaluateLowSampleCountPercentile = jsii.String("ignore")
	}
	made := p.metric().CreateAlarm(scope, &id, options)
	if p.Topic != nil {
		key.AllowAlarms(scope, p.Topic.MasterKey())
		action := awscloudwatchactions.NewSnsAction(p.Topic)
		made.AddAlarmAction(action)
		made.AddOkAction(action)
	}
	return made
}

// metric is the metric with the period.
func (p Props) metric() Metric {
	if p.Period == 0 {
		return p.Metric
	}
	period := awscdk.Duration_Seconds(jsii.Number(p.Period.Seconds()))
	switch m := p.Metric.(type) {
	case awscloudwatch.Metric:
		return m.With(&awscloudwatch.MetricOptions{Period: period})
	case awscloudwatch.MathExpression:
		return m.With(&awscloudwatch.MathExpressionOptions{Period: period})
	}
	return p.Metric
}
