package main

import (
	"fmt"
	"time"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// confidence is the confidence level of the interval around a median.
const confidence = 0.95

// sample is a set of durations in seconds, in ascending order. Nothing is assumed of their distribution, so medians
// summarise and the Mann-Whitney U test compares.
type sample struct{ *benchmath.Sample }

func sampleOf(durations []time.Duration) sample {
	values := make([]float64, len(durations))
	for i, d := range durations {
		values[i] = d.Seconds()
	}
	return sample{benchmath.NewSample(values, &benchmath.DefaultThresholds)}
}

func (s sample) summary() benchmath.Summary {
	return benchmath.AssumeNothing.Summary(s.Sample, confidence)
}

// median returns the duration in the middle. Of an even number, it is the mean of the two in the middle.
func (s sample) median() float64 { return s.summary().Center }

// quantile returns the duration that a share of the sample does not exceed, interpolated as the median is.
func (s sample) quantile(share float64) float64 {
	return stats.Sample{Xs: s.Values, Sorted: true}.Quantile(share)
}

func (s sample) longest() float64 { return s.Values[len(s.Values)-1] }

// spread returns the median and the distance to the further end of its confidence interval, as benchstat prints them:
// "1.234s ± 4%". Fewer than 6 durations have no interval. They give "1.234s ± ∞", and how many are needed.
func (s sample) spread() string {
	summary := s.summary()
	text := fmt.Sprintf("%s ± %s", seconds(summary.Center), summary.PctRangeString())
	for _, warning := range summary.Warnings {
		text += fmt.Sprintf(" (%v)", warning)
	}
	return text
}

// difference returns how far the median is from that of a base, with the p-value and the numbers of durations:
// "+4.12% (p=0.002 n=50)". It returns "~" in place of the distance if P is above 0.05.
func (s sample) difference(base sample) string {
	compared := benchmath.AssumeNothing.Compare(base.Sample, s.Sample)
	return fmt.Sprintf("%s (%s)", compared.FormatDelta(base.median(), s.median()), compared)
}

// seconds formats a time with at least three digits, such as "45.60ms".
func seconds(s float64) string { return benchunit.Scale(s, benchunit.Decimal) + "s" }
