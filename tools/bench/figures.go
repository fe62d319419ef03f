package main

import (
	"fmt"
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
	of := sampleOf(times)
	b.cells(what, "p50", "p99", "longest")
	b.cells(fmt.Sprint(len(times)), seconds(of.median()), seconds(of.quantile(0.99)), seconds(of.longest()))
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

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
