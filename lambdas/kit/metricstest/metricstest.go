// Package metricstest compares the metrics that handlers report with the schema's, so that every
// metric on a dashboard has a handler that reports it.
package metricstest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Sums returns the sum of each metric in lines of the embedded metric format. It ignores other lines.
func Sums(tb testing.TB, output string) map[string]float64 {
	tb.Helper()
	sums := map[string]float64{}
	read(tb, output, func(name string, _ schema.Unit, value float64) { sums[name] += value })
	return sums
}

// Complete checks that lines of the embedded metric format have each of the
// metrics, with its unit, and no other.
func Complete(tb testing.TB, output string, metrics []schema.Metric) {
	tb.Helper()
	got, want := map[string]schema.Unit{}, map[string]schema.Unit{}
	read(tb, output, func(name string, unit schema.Unit, _ float64) { got[name] = unit })
	for _, m := range metrics {
		want[m.Name] = m.Unit
	}
	if len(want) == 0 {
		tb.Error("the schema has no such metrics")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("metrics reported (-schema +got):\n%s", diff)
	}
}

func read(tb testing.TB, output string, each func(name string, unit schema.Unit, value float64)) {
	tb.Helper()
	for line := range strings.Lines(output) {
		var directives struct {
			AWS struct {
				CloudWatchMetrics []struct {
					Metrics []struct {
						Name string
						Unit schema.Unit
					}
				}
			} `json:"_aws"`
		}
		values := map[string]any{}
		if json.Unmarshal([]byte(line), &directives) != nil || json.Unmarshal([]byte(line), &values) != nil {
			continue
		}
		for _, d := range directives.AWS.CloudWatchMetrics {
			for _, m := range d.Metrics {
				value, ok := values[m.Name].(float64)
				if !ok {
					tb.Errorf("the metric %s has the value %v in %v", m.Name, values[m.Name], values)
				}
				each(m.Name, m.Unit, value)
			}
		}
	}
}
