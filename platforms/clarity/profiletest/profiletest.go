// Package profiletest computes profiles for tests from the definitions in docs/platforms/clarity.md, independently of
// package clarity: each from all attempts, in fractions.
package profiletest

import (
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
		if order := strings.Compare(a.Evaluation.EvaluatedAt.String(), b.Evaluation.EvaluatedAt.String()); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
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

	averages, everything := map[clarity.Dimension]*big.Rat{}, new(big.Rat)
	for _, dimension := range clarity.Dimensions() {
		var scores []int
		for _, attempt := range window {
			for _, judged := range attempt.Evaluation.Dimensions {
				if judged.Name == dimension {
					scores = append(scores, judged.Score)
				}
			}
		}
		averages[dimension] = mean(scores)
		everything.Add(everything, averages[dimension])
		p.Dimensions = append(p.Dimensions, clarity.DimensionStatistics{
			Name: dimension, MovingAverage: decimal(averages[dimension]), StandardDeviation: deviation(scores),
			Trend: trend(scores), RecentScores: scores,
		})
	}
	everything.Quo(everything, big.NewRat(8, 1))

	// The lowest one is taken until there are enough.
	for taken := map[clarity.Dimension]bool{}; len(taken) < 3; {
		var lowest clarity.Dimension
		for _, dimension := range clarity.Dimensions() {
			if !taken[dimension] && (lowest == "" || averages[dimension].Cmp(averages[lowest]) < 0) {
				lowest = dimension
			}
		}
		if len(taken) > 0 && averages[lowest].Cmp(big.NewRat(2, 1)) >= 0 {
			break
		}
		taken[lowest] = true
		p.Weaknesses = append(p.Weaknesses, clarity.Weakness{
			Dimension: lowest, Score: decimal(averages[lowest]),
			Gap: decimal(new(big.Rat).Sub(averages[lowest], everything)),
		})
	}

	for taken := map[clarity.Dimension]bool{}; len(taken) < 3 && len(window) > 1; {
		var best clarity.Improvement
		largest := new(big.Rat)
		for _, d := range p.Dimensions {
			half := len(window) / 2
			from, to := mean(d.RecentScores[:half]), mean(d.RecentScores[len(window)-half:])
			if rise := new(big.Rat).Sub(to, from); !taken[d.Name] && rise.Cmp(largest) > 0 {
				largest = rise
				best = clarity.Improvement{Dimension: d.Name, Improvement: decimal(rise), From: decimal(from),
					To: decimal(to)}
			}
		}
		if best.Dimension == "" {
			break
		}
		taken[best.Dimension] = true
		p.Improvements = append(p.Improvements, best)
	}
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

func trend(scores []int) clarity.Trend {
	if len(scores) < 3 {
		return clarity.Stable
	}
	middle, average := big.NewRat(int64(len(scores)-1), 2), mean(scores)
	rise, run := new(big.Rat), new(big.Rat)
	for i, score := range scores {
		x := new(big.Rat).Sub(big.NewRat(int64(i), 1), middle)
		y := new(big.Rat).Sub(big.NewRat(int64(score), 1), average)
		rise.Add(rise, y.Mul(y, x))
		run.Add(run, new(big.Rat).Mul(x, x))
	}
	slope := new(big.Rat).Quo(rise, run)
	switch {
	case slope.Cmp(big.NewRat(5, 100)) > 0:
		return clarity.Improving
	case slope.Cmp(big.NewRat(-5, 100)) < 0:
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
