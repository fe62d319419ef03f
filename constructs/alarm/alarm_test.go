package alarm_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// topic is a topic whose methods are not called.
type topic struct{ awssns.ITopic }

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	metric := struct{ awscloudwatch.Metric }{}
	synthtest.Validate(t, map[string]synthtest.Case[alarm.Props]{
		"OK":            {alarm.Props{Metric: metric, Topic: topic{}, Periods: 3}, nil},
		"ErrZero":       {alarm.Props{}, []string{"Props.Metric"}},
		"ErrNilTopic":   {alarm.Props{Metric: metric, Topic: (*topic)(nil)}, []string{"Props.Topic"}},
		"ErrPeriods":    {alarm.Props{Metric: metric, Periods: -1}, []string{"Props.Periods"}},
		"Range":         {alarm.Props{Metric: metric, Period: time.Hour, Periods: 168}, nil},
		"ShortRange":    {alarm.Props{Metric: metric, Periods: 288}, nil},
		"ErrRange":      {alarm.Props{Metric: metric, Period: time.Hour, Periods: 169}, []string{"Props.Periods"}},
		"ErrShortRange": {alarm.Props{Metric: metric, Period: time.Minute, Periods: 1441}, []string{"Props.Periods"}},
		"ErrPeriod":     {alarm.Props{Metric: metric, Period: 90 * time.Second}, []string{"Props.Period"}},
		"ErrLongPeriod": {alarm.Props{Metric: metric, Period: 25 * time.Hour}, []string{"Props.Period"}},
		"ErrDescription": {alarm.Props{Metric: metric, Description: strings.Repeat("x", 1025)},
			[]string{"Props.Description"}},
	})
}

func TestOptionsCheck(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:sns:eu-west-1:111122223333:alerts"
	tests := map[string]struct {
		options alarm.Options
		paths   []string
	}{
		"Zero":           {alarm.Options{}, nil},
		"Off":            {alarm.Options{Off: true}, nil},
		"All":            {alarm.Options{Threshold: 0.5, Periods: 3, Period: time.Minute, TopicARN: arn}, nil},
		"Topic":          {alarm.Options{Topic: topic{}}, nil},
		"TopicOfThisApp": {alarm.Options{TopicARN: "${Token[TOKEN.7]}"}, nil},
		"ErrOff":         {alarm.Options{Off: true, Threshold: 1}, []string{"A.Off"}},
		"ErrThreshold":   {alarm.Options{Threshold: math.NaN()}, []string{"A.Threshold"}},
		"ErrBelow": {alarm.Options{Threshold: -1, Periods: -1, Period: -1},
			[]string{"A.Threshold", "A.Period"}},
		"ErrRange":    {alarm.Options{Periods: 289}, []string{"A.Periods"}},
		"ErrTopics":   {alarm.Options{Topic: topic{}, TopicARN: arn}, []string{"A.TopicARN"}},
		"ErrNilTopic": {alarm.Options{Topic: (*topic)(nil)}, []string{"A.Topic"}},
		"ErrQueue": {alarm.Options{TopicARN: "arn:aws:sqs:eu-west-1:111122223333:alerts"},
			[]string{"A.TopicARN"}},
		"ErrFIFO": {alarm.Options{TopicARN: arn + ".fifo"}, []string{"A.TopicARN"}},
		"ErrAnotherRegion": {alarm.Options{TopicARN: strings.Replace(arn, "eu-west-1", "eu-west-2", 1)},
			[]string{"A.TopicARN"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			region := "eu-west-1"
			if test.options.Topic != nil {
				region = ""
			}
			synthtest.Findings(t, test.paths, func(f *finding.List) { test.options.Check(f, "A", region) })
		})
	}
}

func TestNewErrProps(t *testing.T) {
	t.Parallel()
	synthtest.PanicsWithFindings(t, func() { alarm.New(nil, "Alarm", alarm.Props{}) }, "Props.Metric")
}
