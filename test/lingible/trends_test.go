package lingible

import (
	"slices"
	"testing"
)

// Translations feed the trends, which the job scores.
func TestTrends(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.LocalOnly(t, "the test runs the schedule of the job")
	one := newPremium(t, on)
	one.translate(t, "sus")
	if err := on.Run.RunSchedule(t.Context(), on.Schedule(t, "TrendingJobSchedule")); err != nil {
		t.Fatal(err)
	}
	if all := one.get(t, "/trending?limit=100").list("trends"); !slices.ContainsFunc(all, func(trend object) bool {
		return trend["term"] == "sus" && trend["popularity_score"].(float64) > 0
	}) {
		t.Errorf("got %v; want sus among them", all)
	}
}
