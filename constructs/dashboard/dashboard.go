// Package dashboard shows how a platform is doing, on one page of Amazon
// CloudWatch.
package dashboard

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Props are what a dashboard shows. Default: no graphs for a part that is left out.
type Props struct {
	// Alarms are shown on top, with their states.
	Alarms []awscloudwatch.Alarm
	// API is shown with its requests, errors and latency.
	API *httpapi.API
	// Functions are shown with their invocations, errors, throttles and durations,
	// and with the metrics that they report themselves.
	Functions []Function
	// Tables are shown with the capacity that they consume and with their errors.
	Tables []Table
	// Streams are shown with the age of what their functions handle.
	Streams []Stream
	// Messages are queues on the way to a function, and Queues are queues of failures. The dashboard shows how many
	// messages wait in them.
	Messages, Queues []Queue
}

// Function is a function on the dashboard.
type Function struct {
	// Name is the name of its lines.
	Name string
	// Function is the function.
	Function *gofunction.Function
	// Namespace and Metrics are what it reports itself. Default: nothing.
	Namespace string
	Metrics   []schema.Metric
}

// Table is a table on the dashboard.
type Table struct {
	Table *table.Table
	// Actions are the actions that requests use on it. DynamoDB counts errors by operation. Default: none,
	// and no graph of errors.
	Actions []schema.Action
}

// Stream is a mapping on the dashboard.
type Stream struct {
	// Name is the name of its line.
	Name    string
	Mapping *stream.Mapping
}

// Queue is a queue on the dashboard.
type Queue struct {
	// Name is the name of its line.
	Name  string
	Queue awssqs.Queue
}

// width is the width of a graph: three fit side by side ("Dashboard body structure and syntax",
// Amazon CloudWatch API reference: 24 units).
const width = 8

// New declares a dashboard.
func New(scope constructs.Construct, id string, p Props) awscloudwatch.Dashboard {
	d := awscloudwatch.NewDashboard(scope, &id, nil)
	if len(p.Alarms) > 0 {
		alarms := props.Map(p.Alarms, func(a awscloudwatch.Alarm) interfacesawscloudwatch.IAlarmRef { return a })
		d.AddWidgets(awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Alarms"), Alarms: &alarms, Width: jsii.Number(3 * width),
		}))
	}
	row(d, reported(p.Functions))
	if p.API != nil {
		row(d, api(p.API))
	}
	if len(p.Functions) > 0 {
		row(d, functions(p.Functions))
	}
	if len(p.Tables) > 0 {
		row(d, tables(p.Tables))
	}
	row(d, waiting(p.Streams, p.Messages, p.Queues))
	return d
}

func row(d awscloudwatch.Dashboard, widgets []awscloudwatch.IWidget) {
	if len(widgets) > 0 {
		d.AddWidgets(widgets...)
	}
}

func graph(title string, lines []awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Width: jsii.Number(width), Left: &lines,
		LeftYAxis: &awscloudwatch.YAxisProps{Min: jsii.Number(0), ShowUnits: jsii.Bool(false)},
	})
}

// line is a metric under another name, and with another statistic.
func line(m awscloudwatch.Metric, label, statistic string) awscloudwatch.Metric {
	return m.With(&awscloudwatch.MetricOptions{Label: &label, Statistic: &statistic})
}

// percentiles returns the lines of a metric's p50, p90 and p99.
func percentiles(m awscloudwatch.Metric, label string) []awscloudwatch.IMetric {
	var lines []awscloudwatch.IMetric
	for _, p := range []string{"p50", "p90", "p99"} {
		lines = append(lines, line(m, label+p, p))
	}
	return lines
}

// reported are the graphs of what functions report: one of the counts of each
// function, and one of each time.
func reported(functions []Function) []awscloudwatch.IWidget {
	var widgets []awscloudwatch.IWidget
	for _, f := range functions {
		var counts []awscloudwatch.IMetric
		for _, m := range f.Metrics {
			metric := reportedMetric(f.Function, f.Namespace, m)
			if m.Unit == schema.Milliseconds {
				widgets = append(widgets, graph(m.Name+" (ms)", percentiles(metric, "")))
			} else {
				counts = append(counts, metric)
			}
		}
		if len(counts) > 0 {
			widgets = append(widgets, graph("What "+f.Name+" reports", counts))
		}
	}
	return widgets
}

// reportedMetric is a metric that a function reports itself: of a count the sum and of
// a time the maximum, over five minutes.
func reportedMetric(f *gofunction.Function, namespace string, m schema.Metric) awscloudwatch.Metric {
	statistic := "Sum"
	if m.Unit == schema.Milliseconds {
		statistic = "Maximum"
	}
	return line(f.MetricReported(namespace, schema.MetricDimension, m.Name, statistic), m.Name, statistic)
}

func api(a *httpapi.API) []awscloudwatch.IWidget {
	return []awscloudwatch.IWidget{
		graph("Requests", []awscloudwatch.IMetric{
			line(a.MetricRequests(nil), "requests", "Sum"), line(a.MetricClientErrors(nil), "4xx", "Sum"),
			line(a.MetricServerErrors(nil), "5xx", "Sum"),
		}),
		graph("Failed and refused (%)", []awscloudwatch.IMetric{a.MetricServerErrorRate(), a.MetricClientErrorRate()}),
		graph("Latency (ms)", percentiles(a.MetricLatency(nil), "")),
	}
}

func functions(list []Function) []awscloudwatch.IWidget {
	var invocations, failures, durations []awscloudwatch.IMetric
	for _, f := range list {
		invocations = append(invocations, line(f.Function.Resource.MetricInvocations(nil), f.Name, "Sum"))
		failures = append(failures, line(f.Function.MetricErrors(nil), f.Name+" errors", "Sum"),
			line(f.Function.MetricThrottles(nil), f.Name+" throttles", "Sum"))
		durations = append(durations, line(f.Function.MetricDuration(nil), f.Name, "p99"))
	}
	return []awscloudwatch.IWidget{
		graph("Invocations", invocations), graph("Errors and throttles", failures),
		graph("Duration, p99 (ms)", durations),
	}
}

func tables(list []Table) []awscloudwatch.IWidget {
	var reads, writes, failures []awscloudwatch.IMetric
	for _, t := range list {
		reads = append(reads, t.Table.MetricConsumedReads())
		writes = append(writes, t.Table.MetricConsumedWrites())
		if len(t.Actions) > 0 {
			failures = append(failures, t.Table.MetricThrottledRequests(t.Actions...),
				t.Table.MetricSystemErrors(t.Actions...))
		}
	}
	return []awscloudwatch.IWidget{
		graph("Read units consumed by tables", reads), graph("Write units consumed by tables", writes),
		graph("Throttled requests and system errors", failures),
	}
}

func waiting(streams []Stream, messages, failures []Queue) []awscloudwatch.IWidget {
	var ages []awscloudwatch.IMetric
	for _, s := range streams {
		ages = append(ages, line(s.Mapping.MetricAge(nil), s.Name, "Maximum"))
	}
	var widgets []awscloudwatch.IWidget
	if len(ages) > 0 {
		widgets = append(widgets, graph("Age of stream records (ms)", ages))
	}
	for _, q := range []struct {
		title string
		of    []Queue
	}{{"Messages that wait for a function", messages}, {"Messages in queues of failures", failures}} {
		var lines []awscloudwatch.IMetric
		for _, one := range q.of {
			lines = append(lines, line(one.Queue.MetricApproximateNumberOfMessagesVisible(nil), one.Name, "Maximum"))
		}
		if len(lines) > 0 {
			widgets = append(widgets, graph(q.title, lines))
		}
	}
	return widgets
}
