package clarity

import (
	"net/http"
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
