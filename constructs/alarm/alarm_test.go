package alarm_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// topic is a topic whose methods are not called.
type topic struct{ awssns.ITopic }

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	metric := struct{ awscloudwatch.Metric }{}
	tests := map[string]struct {
		props alarm.Props
		paths []string
	}{
		"OK":             {alarm.Props{Metric: metric, Topic: topic{}, Periods: 3}, nil},
		"ErrZero":        {alarm.Props{}, []string{"Props.Metric"}},
		"ErrNilTopic":    {alarm.Props{Metric: metric, Topic: (*topic)(nil)}, []string{"Props.Topic"}},
		"ErrPeriods":     {alarm.Props{Metric: metric, Periods: -1}, []string{"Props.Periods"}},
		"ErrDescription": {alarm.Props{Metric: metric, Description: strings.Repeat("x", 1025)}, []string{"Props.Description"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.paths, synthtest.Paths(t, test.props.Validate())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewErrProps(t *testing.T) {
	t.Parallel()
	synthtest.PanicsWithFindings(t, func() { alarm.New(nil, "Alarm", alarm.Props{}) }, "Props.Metric")
}
