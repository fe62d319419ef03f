// Package stream lets a function handle the changes of a DynamoDB table, from the table's stream. A queue keeps the
// changes that the function could not handle, or their places in the stream.
package stream

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

const (
	// defaultBatchSize is AWS Lambda's.
	defaultBatchSize = 100
	// maxAge is how old a record may get before AWS Lambda gives it up. A stream keeps it an hour longer, for readers
	// of the place that the queue of failures names ("Change data capture for DynamoDB Streams").
	maxAge = 23 * time.Hour
)

// Props describe a mapping. Table, Function and OnFailure are required.
type Props struct {
	// Table is the table. It has a stream.
	Table *table.Table
	// Function handles the records.
	Function *gofunction.Function
	// OnFailure receives the places of the records that AWS Lambda gave up, because they were too old. The function
	// finds its address in [schema.FailureQueueVariable], and may send to it what no attempt can handle.
	OnFailure awssqs.IQueue
	// On says which records the function gets, and how. Its ID, Table, After, Changes and Failures are ignored.
	// Default: every record, as soon as it is read.
	On schema.OnStream
	// Off declares the mapping without reading the stream. Once it is on, it begins with the oldest record that the
	// stream has. Default: it reads.
	Off bool
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p Props) Validate() error {
	var f finding.List
	switch {
	case p.Table == nil || p.Table.Resource == nil:
		f.Add("Props.Table", nil, "a table with a stream", "pass a table of package table")
	case p.Table.Schema.Stream == schema.StreamNone:
		f.Add("Props.Table", p.Table.Schema.Name, "a table with a stream", "set Stream in the table's schema")
	}
	p.Function.Check(&f, "Props.Function")
	if props.IsNil(p.OnFailure) {
		f.Add("Props.OnFailure", nil, "a queue",
			"pass a queue of package deadletter: without one, records that are given up are lost")
	}
	p.On.Check(&f, "Props.On")
	return f.Err()
}

// Mapping invokes a function with the records of a table's stream, from the
// oldest that the stream has.
type Mapping struct {
	constructs.Construct
	// Resource is the event source mapping. Its setters change what no prop does, such as the parallelization factor.
	Resource awslambda.CfnEventSourceMapping
	// BatchWindow is how long records are gathered, and so how old they normally get.
	BatchWindow time.Duration

	function *gofunction.Function
}

// New declares a mapping, and lets the function's role read exactly that stream
// and write to the failure queue. It ends the program, by [props.Fatal], with
// the error of [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Mapping {
	props.Accept("stream", scope, id, p.Validate())
	m := &Mapping{BatchWindow: p.On.BatchWindow, function: p.Function}
	constructs.NewConstruct_Override(m, scope, &id)
	stream := p.Table.Resource.TableStreamArn()
	p.Table.GrantStream(p.Function.Role)
	deadletter.AllowSend(p.Function.Role, p.OnFailure)
	p.Function.AddEnvironment(map[string]string{schema.FailureQueueVariable: *p.OnFailure.QueueUrl()})

	description := &awslambda.CfnEventSourceMappingProps{
		FunctionName:                   p.Function.Resource.FunctionName(),
		EventSourceArn:                 stream,
		StartingPosition:               jsii.String("TRIM_HORIZON"),
		BatchSize:                      jsii.Number(cmp.Or(p.On.BatchSize, defaultBatchSize)),
		MaximumRecordAgeInSeconds:      jsii.Number(maxAge.Seconds()),
		BisectBatchOnFunctionError:     !p.On.Whole,
		MaximumBatchingWindowInSeconds: props.Optional(p.On.BatchWindow.Seconds()),
		DestinationConfig: &awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: p.OnFailure.QueueArn()},
		},
	}
	if p.Off {
		description.Enabled = false
	}
	if p.On.ReportItemFailures {
		description.FunctionResponseTypes = jsii.Strings("ReportBatchItemFailures")
	}
	if len(p.On.Filters) > 0 {
		description.FilterCriteria = filterCriteria(p.On.Filters)
	}
	m.Resource = awslambda.NewCfnEventSourceMapping(m, jsii.String("Resource"), description)
	// AWS Lambda refuses a mapping whose function may not read the stream yet.
	m.Resource.Node().AddDependency(p.Function.Role)
	return m
}

// MetricAge is how old the last record of a batch was when the function finished, in milliseconds: a maximum over five
// minutes unless options say otherwise; options may be nil.
func (m *Mapping) MetricAge(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return m.function.Resource.Metric(jsii.String("IteratorAge"),
		&awscloudwatch.MetricOptions{Statistic: jsii.String("Maximum")}).
		With(cmp.Or(options, &awscloudwatch.MetricOptions{}))
}

func filterCriteria(patterns []map[string]any) *awslambda.CfnEventSourceMapping_FilterCriteriaProperty {
	var filters []any
	for _, p := range patterns {
		// Validate has checked that it can be encoded.
		text, _ := json.Marshal(p)
		filters = append(filters, &awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(string(text))})
	}
	return &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{Filters: &filters}
}
