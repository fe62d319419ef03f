package lingible

import (
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Translations feed the trends, which the job scores.
func TestTrends(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.LocalOnly(t, "the test runs the schedule of the job")
	one := newPremium(t, on)
	platform.Post(t, one, lingible.Translate, lingible.TranslationInput{Text: "sus"})
	on.RunSchedule(t, "TrendingJobSchedule")
	all := onesynthtest.Call(t, one, lingible.ListTrends, lingible.TrendParams{Limit: 100}, schema.None{}).Value.Trends
	scored := func(trend lingible.Trend) bool { return trend.Term == "sus" && trend.Popularity > 0 }
	if !slices.ContainsFunc(all, scored) {
		t.Errorf("got %v; want sus among them", all)
	}
}
