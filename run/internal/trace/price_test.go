package trace

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestPriceOf(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]Price{
		// A million requests of 1 ms with 1 GB are 1,000 GB-seconds.
		"1\t0.00\t0.21\t1.00\t0.38\t1.59":        PriceOf(0, 0, 0.2, 1024),
		"25\t6.94\t0.28\t1.00\t0.55\t8.77":       PriceOf(0.5, 11, 25, 256),
		"1000\t0.12\t133.53\t1.00\t0.38\t135.03": PriceOf(1, 0, 1000, 10240),
	} {
		if got.String() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The prices of routes in docs/reference/routes follow from the units and times beside them, by the prices here.
func TestCostDocument(t *testing.T) {
	t.Parallel()
	pages := must.Get(filepath.Glob("../../../docs/reference/routes/*.md"))(t)
	var all strings.Builder
	for _, page := range pages {
		content := must.Get(os.ReadFile(page))(t)
		_, section, _ := strings.Cut(string(content), "\n## A million requests\n")
		section, _, _ = strings.Cut(section, "\n## ")
		all.WriteString(section)
	}
	rows := 0
	for line := range strings.Lines(all.String()) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		var numbers []float64
		for _, cell := range cells[1:] {
			if n, err := strconv.ParseFloat(cell, 64); err == nil {
				numbers = append(numbers, n)
			}
		}
		if len(cells) < 10 || len(numbers) != 9 {
			continue
		}
		rows++
		p := PriceOf(numbers[0], numbers[1], numbers[3], DefaultMemory)
		for i, want := range []float64{p.DynamoDB, p.Lambda, p.Gateway, p.Logs, p.Sum()} {
			// The units are rounded to tenths.
			if got := numbers[4+i]; math.Abs(got-want) > 0.05 {
				t.Errorf("%s: got US$ %.2f, want %.2f: run `make cost`", cells[0], got, want)
			}
		}
	}
	if rows < 50 {
		t.Errorf("got prices of %d routes: run `make cost`", rows)
	}
}
