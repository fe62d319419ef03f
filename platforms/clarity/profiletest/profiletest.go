// Package profiletest computes profiles for tests from the definitions in docs/platforms/clarity.md, independently of
// package clarity: each from all attempts, in fractions.
package profiletest

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Attempt returns an evaluated attempt, with a private answer. scores are in the order of [clarity.Dimensions]; missing
// ones are 0.
func Attempt(user, id string, evaluatedAt time.Time, scores ...int) clarity.Attempt {
	judgement := clarity.Judgement{Feedback: "Go on.", ModelID: "test"}
	for i, d := range clarity.Dimensions() {
		score := 0
		if i < len(scores) {
			score = scores[i]
		}
		judgement.Dimensions = append(judgement.Dimensions,
			clarity.DimensionScore{Name: d, Score: score, Rationale: []string{"because"}})
	}
	return clarity.Attempt{
		ID: id, UserID: user, ScenarioID: "city-bike-lanes", Timestamp: wire.Time(evaluatedAt.Add(-time.Second)),
		Status: clarity.Completed, Version: 1, EvaluationTries: 1,
		Answers: []clarity.Answer{{QuestionID: "q1", QuestionText: "Why?", Text: "a private answer",
			WordCount: 3}},
		EvaluationStatus: clarity.EvaluationDone, Evaluation: &clarity.Evaluation{
			OverallScore: judgement.OverallScore(), Judgement: judgement, EvaluatedAt: wire.Time(evaluatedAt),
		},
	}
}

// Profiles returns the profiles of a user with these attempts, oldest first, without recommendations. The attempts may
// be in any order.
func Profiles(attempts []clarity.Attempt) []clarity.Profile {
	attempts = slices.Clone(attempts)
	slices.SortFunc(attempts, func(a, b clarity.Attempt) int {
		return cmp.Or(strings.Compare(a.Evaluation.EvaluatedAt.String(), b.Evaluation.EvaluatedAt.String()),
			strings.Compare(a.ID, b.ID))
	})
	var profiles []clarity.Profile
	for i := range attempts {
		profiles = append(profiles, profileOf(attempts[:i+1]))
	}
	return profiles
}

func profileOf(all []clarity.Attempt) clarity.Profile {
	last, window := all[len(all)-1], all[max(0, len(all)-10):]
	p := clarity.Profile{
		UserID: last.UserID, AttemptID: last.ID, Timestamp: wire.At(time.Time(last.Evaluation.EvaluatedAt)),
		AttemptCount: len(all),
		Weaknesses:   []clarity.Weakness{}, Improvements: []clarity.Improvement{},
	}
	for _, attempt := range window {
		p.RecentOverallScores = append(p.RecentOverallScores, attempt.Evaluation.OverallScore)
	}
	p.OverallAverage = decimal(mean(p.RecentOverallScores))

	everything := new(big.Rat)
	for _, dimension := range clarity.Dimensions() {
		var scores []int
		for _, attempt := range window {
			for _, judged := range attempt.Evaluation.Dimensions {
				if judged.Name == dimension {
					scores = append(scores, judged.Score)
				}
			}
		}
		everything.Add(everything, mean(scores))
		p.Dimensions = append(p.Dimensions, clarity.DimensionStatistics{
			Name: dimension, MovingAverage: decimal(mean(scores)), StandardDeviation: deviation(scores),
			Trend: trend(scores), RecentScores: scores,
		})
	}
	everything.Quo(everything, big.NewRat(8, 1))

	// Means of ten numbers or fewer that differ do so in 4 decimals.
	lowest := slices.Clone(p.Dimensions)
	slices.SortStableFunc(lowest, func(a, b clarity.DimensionStatistics) int {
		return cmp.Compare(a.MovingAverage, b.MovingAverage)
	})
	for i, d := range lowest[:3] {
		if i == 0 || d.MovingAverage < 2 {
			gap := new(big.Rat).Sub(mean(d.RecentScores), everything)
			p.Weaknesses = append(p.Weaknesses,
				clarity.Weakness{Dimension: d.Name, Score: d.MovingAverage, Gap: decimal(gap)})
		}
	}

	half := len(window) / 2
	for _, d := range p.Dimensions {
		if half == 0 {
			break
		}
		from, to := mean(d.RecentScores[:half]), mean(d.RecentScores[len(window)-half:])
		if rise := new(big.Rat).Sub(to, from); rise.Sign() > 0 {
			p.Improvements = append(p.Improvements, clarity.Improvement{Dimension: d.Name,
				Improvement: decimal(rise), From: decimal(from), To: decimal(to)})
		}
	}
	slices.SortStableFunc(p.Improvements, func(a, b clarity.Improvement) int {
		return cmp.Compare(b.Improvement, a.Improvement)
	})
	p.Improvements = p.Improvements[:min(3, len(p.Improvements))]
	return p
}

func mean(scores []int) *big.Rat {
	total := int64(0)
	for _, score := range scores {
		total += int64(score)
	}
	return big.NewRat(total, int64(len(scores)))
}

func deviation(scores []int) float64 {
	squares := 0.0
	average, _ := mean(scores).Float64()
	for _, score := range scores {
		squares += math.Pow(float64(score)-average, 2)
	}
	return parse(fmt.Sprintf("%.4f", math.Sqrt(squares/float64(len(scores)))))
}

// trend is by the slope of the line through the scores, which is 2*rise/run: above 1/20 it improves.
func trend(scores []int) clarity.Trend {
	rise, run := 0, 0
	for i, score := range scores {
		x := 2*i - (len(scores) - 1) // twice the distance from the middle
		rise, run = rise+x*score, run+x*x
	}
	switch {
	case len(scores) >= 3 && 40*rise > run:
		return clarity.Improving
	case len(scores) >= 3 && 40*rise < -run:
		return clarity.Declining
	}
	return clarity.Stable
}

// decimal has 4 decimals.
func decimal(x *big.Rat) float64 { return parse(x.FloatString(4)) }

func parse(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return x + 0 // no -0
}
