package kit

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Metrics writes metrics as lines in CloudWatch's embedded metric format ("Embedding metrics within
// logs"), which costs no API call. Every metric has one dimension, FunctionName, as in AWS/Lambda:
// it separates the environments of one account. A nil *Metrics writes nothing.
type Metrics struct {
	// Namespace is the CloudWatch namespace, such as "Onesynth/askahuman".
	Namespace string
	// Function is the name of the Lambda function.
	Function string
	// Writer is where the lines go: the function's standard output.
	Writer io.Writer
	Clock  wire.Clock

	mu sync.Mutex
}

// Metric is one value of a metric.
type Metric struct {
	name, unit string
	value      float64
}

// Count returns a metric: a number of things that happened.
func Count(name string, n int) Metric { return Metric{name, string(schema.Count), float64(n)} }

// Milliseconds returns a metric: how long something took.
func Milliseconds(name string, d time.Duration) Metric {
	return Metric{name, string(schema.Milliseconds), milliseconds(d)}
}

type metricDefinition struct {
	Name string
	Unit string
}

type metricDirective struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metricDefinition
}

type metricMetadata struct {
	Timestamp         int64
	CloudWatchMetrics []metricDirective
}

// Emit writes the values as one line. Give each name once, and at most 100 values, which the format allows to a line.
// Emit leaves out a count of 0: CloudWatch charges for a metric in each hour with data, and alarms and graphs take
// missing counts for 0. A line that cannot be written is lost: a metric must not fail a request.
func (m *Metrics) Emit(ctx context.Context, metrics ...Metric) {
	metrics = slices.DeleteFunc(slices.Clone(metrics), func(metric Metric) bool {
		return metric.value == 0 && metric.unit == string(schema.Count)
	})
	if m == nil || m.Writer == nil || len(metrics) == 0 {
		return
	}
	definitions := make([]metricDefinition, len(metrics))
	line := map[string]any{schema.MetricDimension: m.Function, "request_id": InvocationFrom(ctx).RequestID}
	for i, metric := range metrics {
		definitions[i] = metricDefinition{metric.name, metric.unit}
		line[metric.name] = metric.value
	}
	line["_aws"] = metricMetadata{
		Timestamp: m.Clock.Now().UnixMilli(),
		CloudWatchMetrics: []metricDirective{{
			Namespace:  m.Namespace,
			Dimensions: [][]string{{schema.MetricDimension}},
			Metrics:    definitions,
		}},
	}
	body, err := json.Marshal(line)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _ = m.Writer.Write(append(body, '\n'))
}
