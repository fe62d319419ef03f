package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// title begins what one part prints of a platform.
func (b *bench) title(format string, arguments ...any) {
	fmt.Fprintf(b.out, "\n"+format+"\n", arguments...)
}

// cells prints a row of a table.
func (b *bench) cells(cells ...string) {
	fmt.Fprintln(b.out, strings.Join(cells, "\t"))
}

// row prints a figure, its target, and whether it reaches the target.
func (b *bench) row(what, figure, reach string, reached bool) {
	b.cells(what, figure, reach, verdict(reach, reached))
}

// figure prints a figure without a target.
func (b *bench) figure(what, figure string) { b.cells(what, figure) }

func verdict(reach string, reached bool) string {
	switch {
	case reach == "":
		return ""
	case reached:
		return "reached"
	default:
		return "NOT reached"
	}
}

// times prints how long requests, or what else is counted, took.
func (b *bench) times(what string, times []time.Duration) {
	b.cells(what, "p50", "p99", "longest")
	b.cells(fmt.Sprint(len(times)), said(median(times)), said(quantile(times, 0.99)), said(slices.Max(times)))
}

// timed returns how long a function takes.
func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

// inTurn measures functions in turn, so that other load on the machine affects all of them. Each function returns what
// is counted. The first round is left out: it starts processes and warms caches.
func inTurn(rounds int, of ...func() (time.Duration, error)) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(of))
	for round := range rounds + 1 {
		for i, f := range of {
			took, err := f()
			if err != nil {
				return nil, err
			}
			if round > 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	return times, nil
}

// timing returns a function that returns how long one takes.
func timing(f func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) { return timed(f) }
}

func median(durations []time.Duration) time.Duration { return quantile(durations, 0.5) }

func quantile(durations []time.Duration, q float64) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// spread is the median and the largest distance from it, as benchstat prints them: "1.23s ± 4%".
func spread(durations []time.Duration) string {
	m := median(durations)
	most := max(slices.Max(durations)-m, m-slices.Min(durations))
	return fmt.Sprintf("%s ± %.0f%%", said(m), 100*most.Seconds()/m.Seconds())
}

// said is a time with three digits, such as "45.6ms".
func said(d time.Duration) string {
	digits := time.Duration(1)
	for d/digits >= 1000 {
		digits *= 10
	}
	return d.Round(digits).String()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
