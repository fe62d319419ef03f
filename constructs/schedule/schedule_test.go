package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	function := &gofunction.Function{Resource: struct{ awslambda.Function }{}}
	hourly := schema.OnSchedule{Every: time.Hour}
	synthtest.Validate(t, map[string]synthtest.Case[schedule.Props]{
		"OK": {schedule.Props{Function: function, On: hourly, Description: strings.Repeat("d", 512)}, nil},
		"ErrLongText": {schedule.Props{Function: function, On: hourly, Description: strings.Repeat("d", 513)},
			[]string{"Props.Description"}},
		"ErrZero":        {schedule.Props{}, []string{"Props.Function", "Props.On.Every"}},
		"ErrNotDeclared": {schedule.Props{Function: &gofunction.Function{}, On: hourly}, []string{"Props.Function"}},
		"ErrOn": {schedule.Props{Function: function, On: schema.OnSchedule{Cron: "0 24 * * ? *"}},
			[]string{"Props.On.Cron"}},
	})
}
