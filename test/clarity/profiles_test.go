package clarity

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

type statistics struct {
	Name              string  `json:"name"`
	MovingAverage     float64 `json:"movingAverage"`
	StandardDeviation float64 `json:"standardDeviation"`
	Trend             string  `json:"trend"`
	RecentScores      []int   `json:"recentScores"`
}

type profile struct {
	UserID              string           `json:"userId"`
	Timestamp           string           `json:"timestamp"`
	AttemptID           string           `json:"attemptId"`
	RecentOverallScores []int            `json:"recentOverallScores"`
	AttemptCount        int              `json:"attemptCount"`
	OverallAverage      float64          `json:"overallAverage"`
	Dimensions          []statistics     `json:"dimensions"`
	Weaknesses          []map[string]any `json:"weaknesses"`
	Improvements        []map[string]any `json:"improvements"`
	Recommendations     []string         `json:"recommendations"`
}

// profiles returns the caller's profiles, newest first.
func (p *target) profiles(t testing.TB, c caller) []profile {
	t.Helper()
	return onesynthtest.Read[struct{ Profiles []profile }](t,
		c.Try(t, http.MethodGet, "/users/me/profile/history?limit=100", nil), http.StatusOK).Profiles
}

// Each evaluated attempt adds a profile over the last ten, and unfinished ones add none. Records of the
// stream that come again add none.
func TestProfiles(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	some := one.scenarios(t, on, "")[2]
	const attempts = 12
	var made []attempt
	for i := range attempts {
		words := fmt.Sprintf("in case %d I assume that the %d people asked are typical, which may be false; perhaps "+
			"another cause explains it", i, 10+i)
		if i%2 == 0 {
			words = "it is so"
		}
		made = append(made, one.begin(t, completed(some, words)))
		one.begin(t, input{"scenarioId": some.ScenarioID, "status": "in-progress", "answers": []answer{}})
	}
	var got []profile
	onesynthtest.Settled(t, "a profile for each evaluated attempt", func() bool {
		got = on.profiles(t, one)
		return len(got) >= attempts
	})
	if len(got) != attempts {
		t.Fatalf("got %d profiles; want %d", len(got), attempts)
	}
	slices.Reverse(got)
	for i, p := range got {
		window := made[max(0, i-9) : i+1]
		if p.UserID != one.ID || p.AttemptID != made[i].AttemptID || p.AttemptCount != i+1 ||
			len(p.Dimensions) != len(weights) {
			t.Errorf("profile %d: got %+v", i, p)
			continue
		}
		overall := 0.0
		for _, a := range window {
			overall += float64(a.Evaluation.OverallScore) / float64(len(window))
		}
		if math.Abs(p.OverallAverage-overall) > 0.001 {
			t.Errorf("profile %d: got overall average %v; want %v", i, p.OverallAverage, overall)
		}
		for j, d := range p.Dimensions {
			var scores []int
			sum := 0.0
			for _, a := range window {
				scores = append(scores, a.Evaluation.Dimensions[j].Score)
				sum += float64(a.Evaluation.Dimensions[j].Score)
			}
			if d.Name != made[0].Evaluation.Dimensions[j].Name || !slices.Equal(d.RecentScores, scores) ||
				math.Abs(d.MovingAverage-sum/float64(len(scores))) > 0.001 {
				t.Errorf("profile %d: got %+v; want the scores %v", i, d, scores)
			}
		}
		if n := len(p.Weaknesses); n < 1 || n > 3 || len(p.Recommendations) != n {
			t.Errorf("profile %d: got weaknesses %v and recommendations %q", i, p.Weaknesses, p.Recommendations)
		}
	}
	latest := onesynthtest.Read[profile](t, one.Try(t, http.MethodGet, "/users/me/profile", nil), http.StatusOK)
	if latest.Timestamp != got[attempts-1].Timestamp {
		t.Errorf("got the profile of %s; want that of %s", latest.Timestamp, got[attempts-1].Timestamp)
	}
	if on.Run == nil {
		return
	}
	for _, a := range made {
		on.Set(t, "Attempts", "attemptId", a.AttemptID, map[string]any{"durationSeconds": 1})
	}
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	if again := on.profiles(t, one); len(again) != attempts {
		t.Errorf("got %d profiles after the records came again; want %d", len(again), attempts)
	}
}
