package check_test

import (
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestSilent(t *testing.T) {
	t.Parallel()
	const topic = `"AlarmActions": [{"Ref": "Topic"}]`
	for name, test := range map[string]struct {
		properties     string
		silent, alarms int
	}{
		"Notifies":    {topic, 0, 1},
		"ByCondition": {`"AlarmActions": {"Fn::If": ["Prod", ["a"], []]}`, 0, 1},
		"None":        {`"OKActions": [{"Ref": "Topic"}]`, 1, 1},
		"Empty":       {`"AlarmActions": []`, 1, 1},
		"Off":         {topic + `, "ActionsEnabled": false`, 1, 1},
		"OffInText":   {topic + `, "ActionsEnabled": "false"`, 1, 1},
		"On":          {topic + `, "ActionsEnabled": true`, 0, 1},
	} {
		for _, kind := range []string{"Alarm", "CompositeAlarm"} {
			template := must.Get(check.Parse([]byte(fmt.Sprintf(
				`{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}, "A": {"Type": "AWS::CloudWatch::%s", "Properties": {%s}}}}`,
				kind, test.properties))))(t)
			if silent, alarms := check.Silent(template); silent != test.silent || alarms != test.alarms {
				t.Errorf("%s of a %s: got %d of %d, want %d of %d", name, kind, silent, alarms, test.silent,
					test.alarms)
			}
		}
	}
}
