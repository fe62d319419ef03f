package lingible_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func TestPoints(t *testing.T) {
	t.Parallel()
	for taken, want := range map[time.Duration]float64{
		-time.Second: 10, 0: 10, time.Millisecond: 10, 17 * time.Millisecond: 9.99, time.Second: 9.7,
		10 * time.Second: 7, 15 * time.Second: 5.5,
		29*time.Second + 900*time.Millisecond: 1.03, 30 * time.Second: 1, 15 * time.Minute: 1,
	} {
		if got := lingible.Points(taken); got != want {
			t.Errorf("after %s: got %v, want %v", taken, got, want)
		}
	}
}

// Each score belongs to the range of its difficulty, and to no other one.
func TestDifficultyScores(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.OneOf(rapid.Float64Range(0, 1),
			rapid.SampledFrom([]float64{0, 1, 0.85, 0.65, 0.849999999, 0.649999999, math.Nextafter(0.85, 0)}))
		entry := lingible.Entry{Confidence: share.Draw(t, "confidence"),
			Momentum: rapid.SampledFrom([]float64{1, 0.9, 0.5}).Draw(t, "momentum")}
		for _, difficulty := range append(lingible.Difficulties(), "") {
			least, most := difficulty.Scores()
			within := least <= entry.QuizScore() && entry.QuizScore() <= most
			if want := difficulty == "" || difficulty == entry.QuizDifficulty(); within != want {
				t.Fatalf("%v in %q: got %t, want %t", entry.QuizScore(), difficulty, within, want)
			}
		}
	})
}
