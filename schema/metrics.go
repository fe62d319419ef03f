package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// Metric is a number that a function reports itself, in addition to what AWS Lambda reports of every function. The
// handlers emit it; dashboards and alarms read it. Its dimension is [MetricDimension], its namespace the
// [MetricNamespace] of the function's folder in lambdas.
type Metric struct {
	// Name is its name in Amazon CloudWatch, such as "Asked".
	Name string
	// Function is the name of the function that reports it.
	Function string
	// Unit is its unit.
	Unit Unit
	// Description says what the metric counts, and when.
	Description string
	// AlarmAt is the sum over five minutes at which an alarm goes off. The alarm's id is the function's ID, the
	// metric's name and "Alarm". 0: no alarm.
	AlarmAt int
	// SlowOnPurpose marks a count of API requests that take longer than a second on purpose, such as requests that wait
	// for an answer. The alarm on slow requests leaves that many out.
	SlowOnPurpose bool
}

// Unit is the unit of a metric ("MetricDatum", Amazon CloudWatch API reference).
type Unit string

// The units.
const (
	// Count is a number of things; its sum is of interest.
	Count Unit = "Count"
	// Milliseconds is a time; its percentiles and its maximum are of interest.
	Milliseconds Unit = "Milliseconds"
)

// MetricDimension is the one dimension that every metric has: the physical name
// of the function, as in the namespace AWS/Lambda, which keeps the environments of
// an account apart.
const MetricDimension = "FunctionName"

// MetricNamespace returns the namespace of the metrics of the functions in a folder of lambdas, such as
// "Acme/askahuman" for the prefix "Acme", and "Onesynth/askahuman" for the empty prefix.
func MetricNamespace(prefix, component string) string {
	return cmp.Or(prefix, "Onesynth") + "/" + component
}

// MetricNamespaceVariable is the environment variable with a function's prefix for [MetricNamespace]. It is absent if
// the prefix is the default.
const MetricNamespaceVariable = "METRIC_NAMESPACE"

// MetricsOf returns the metrics that the function reports.
func MetricsOf(function string, metrics []Metric) []Metric {
	var own []Metric
	for _, m := range metrics {
		if m.Function == function {
			own = append(own, m)
		}
	}
	return own
}

// LakeComponent is the folder of lambdas that the functions of every lake are in.
const LakeComponent = "lake"

// The functions of every lake.
const (
	LakeWriter    = "writer"
	LakeCompactor = "compactor"
)

// LakeMetrics returns the metrics that the functions of every lake report.
func LakeMetrics() []Metric {
	return []Metric{
		{Name: "LakeRows", Function: LakeWriter, Unit: Count,
			Description: "rows that a batch wrote; a batch that is delivered again counts again"},
		{Name: "LakeDelay", Function: LakeWriter, Unit: Milliseconds,
			Description: "from the oldest change of a batch to its landing"},
		{Name: "LakeFailures", Function: LakeWriter, Unit: Count,
			Description: "records of a batch that cannot become rows, and are in the failure queue"},
		{Name: "LakeWriteFailures", Function: LakeWriter, Unit: Count,
			Description: "1 for a batch that could not be written and comes again"},
		{Name: "LakeObjectsMerged", Function: LakeCompactor, Unit: Count,
			Description: "small objects that a run merged"},
		{Name: "LakeDuplicates", Function: LakeCompactor, Unit: Count,
			Description: "rows that were there twice, and that a run left out"},
		{Name: "LakeCompactionFailures", Function: LakeCompactor, Unit: Count,
			Description: "what a run could not read or write; the next run tries it again"},
	}
}

var metricName = expression(`^[A-Za-z][A-Za-z0-9]{0,254}$`)

// validateMetrics finds metrics of no function, and two of one name of a function.
func (p Platform) validateMetrics(f *findings, functions map[string]bool) {
	unique(f, "Metrics", p.Metrics, func(m Metric) string { return m.Function + "/" + m.Name })
	for _, m := range p.Metrics {
		path := fmt.Sprintf("Metrics[%s/%s]", m.Function, m.Name)
		if !matches(metricName, m.Name) {
			f.add(path+".Name", quoted(m.Name), "write up to 255 letters and digits, a letter first")
		}
		if !functions[m.Function] {
			f.add(path+".Function", quoted(m.Function), "name a declared function")
		}
		if m.Unit != Count && m.Unit != Milliseconds {
			f.add(path+".Unit", quoted(string(m.Unit)), "write Count or Milliseconds")
		}
	}
}

// Actions returns the actions that the access patterns use on a table, each once, in the order of the
// patterns. They are the dimensions of DynamoDB's error metrics.
func (d Database) Actions(table string) []Action {
	var made []Action
	for _, p := range d.AccessPatterns {
		if slices.Contains(p.tables(), table) && !slices.Contains(made, p.Action) {
			made = append(made, p.Action)
		}
	}
	return made
}
