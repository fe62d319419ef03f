package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	function := &gofunction.Function{Resource: struct{ awslambda.Function }{}}
	synthtest.Validate(t, map[string]synthtest.Case[schedule.Props]{
		"Minute":         {schedule.Props{Function: function, Every: time.Minute}, nil},
		"Day":            {schedule.Props{Function: function, Every: 24 * time.Hour}, nil},
		"LongText":       {schedule.Props{Function: function, Every: time.Minute, Description: strings.Repeat("d", 512)}, nil},
		"ErrLongText":    {schedule.Props{Function: function, Every: time.Minute, Description: strings.Repeat("d", 513)}, []string{"Props.Description"}},
		"ErrZero":        {schedule.Props{}, []string{"Props.Function", "Props.Every"}},
		"ErrNotDeclared": {schedule.Props{Function: &gofunction.Function{}, Every: time.Minute}, []string{"Props.Function"}},
		"ErrShort":       {schedule.Props{Function: function, Every: 59 * time.Second}, []string{"Props.Every"}},
		"ErrLong":        {schedule.Props{Function: function, Every: 25 * time.Hour}, []string{"Props.Every"}},
		"Cron":           {schedule.Props{Function: function, Cron: "0 3 ? * MON-FRI *", TimeZone: "Europe/Vienna"}, nil},
		"ErrCron":        {schedule.Props{Function: function, Cron: "0 24 * * ? *"}, []string{"Props.Cron"}},
		"ErrTwo":         {schedule.Props{Function: function, Cron: "0 3 * * ? *", Every: time.Hour}, []string{"Props.Cron"}},
		"ErrZone":        {schedule.Props{Function: function, Cron: "0 24 * * ? *", TimeZone: "Vienna"}, []string{"Props.Cron", "Props.TimeZone"}},
		"ErrLocalZone":   {schedule.Props{Function: function, Cron: "0 3 * * ? *", TimeZone: "Local"}, []string{"Props.TimeZone"}},
		"ErrZoneOfEvery": {schedule.Props{Function: function, Every: time.Hour, TimeZone: "Europe/Vienna"}, []string{"Props.TimeZone"}},
		"ErrFraction":    {schedule.Props{Function: function, Every: 90 * time.Second}, []string{"Props.Every"}},
	})
}
