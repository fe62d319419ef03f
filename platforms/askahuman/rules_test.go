package askahuman_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The functions read the same rules that the construct wrote.
func TestRulesEncode(t *testing.T) {
	t.Parallel()
	rules := askahuman.DefaultRules()
	if wrong := rules.OutOfRange(); len(wrong) > 0 {
		t.Errorf("of the default rules are out of range: %v", wrong)
	}
	rules.RateLimits[3] = schema.RateLimit{Name: "read", Requests: 7, AddressRequests: 8, Window: 90 * time.Second,
		Per: askahuman.PerPerson}
	rules.OpenQuestions, rules.DailyPoints, rules.Points[askahuman.PointsText] = 3, 4, 0
	got, err := askahuman.ParseRules(rules.Encode())
	must.OK(t, err)
	if diff := cmp.Diff(rules, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	got, err = askahuman.ParseRules("")
	if diff := cmp.Diff(askahuman.DefaultRules(), got); diff != "" || err != nil {
		t.Errorf("rules without text: %v (-want +got):\n%s", err, diff)
	}
	if n := len(rules.Encode()); n > 1500 {
		t.Errorf("the rules take %d of the 4096 bytes of a function's environment", n)
	}
}

func TestParseRulesErr(t *testing.T) {
	t.Parallel()
	good := askahuman.DefaultRules().Encode()
	for name, text := range map[string]string{
		"NotJSON":      "60",
		"Truncated":    good[:len(good)-1],
		"Trailing":     good + "{}",
		"UnknownField": strings.Replace(good, `"DailyPoints"`, `"DailyPoint"`, 1),
		"UnknownLimit": strings.Replace(good, `"create"`, `"creat"`, 1),
		"OtherPer":     strings.Replace(good, `"Per":"agent"`, `"Per":"person"`, 1),
		"NoLimits":     `{"OpenQuestions":1,"DailyPoints":1}`,
		"UnknownPoint": strings.Replace(good, `"early"`, `"late"`, 1),
		"NoRequests":   strings.Replace(good, `"Requests":60,`, `"Requests":0,`, 1),
		"NegativeDay":  strings.Replace(good, `"DailyPoints":500`, `"DailyPoints":-1`, 1),
	} {
		if text == good {
			t.Errorf("%s: nothing is wrong with it", name)
		}
		if rules, err := askahuman.ParseRules(text); err == nil {
			t.Errorf("%s: got %+v; want an error", name, rules)
		}
	}
}
