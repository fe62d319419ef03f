// Package stream lets a function handle the changes of a DynamoDB table, from its
// stream, and keeps those that it could not handle, or their places, in a queue.
package stream

import (
	"encoding/json"
	"fmt"
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
	"github.com/onesynth-cdk/onesynth/finding"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Limits and defaults ("CreateEventSourceMapping", AWS Lambda API reference).
const (
	maximumBatchSize   = 10000
	defaultBatchSize   = 100
	maximumBatchWindow = 5 * time.Minute
	minimumAge         = time.Minute
	maximumRetries     = 10000
	maximumFilters     = 5
	maximumPattern     = 4096
	maximumParallel    = 10
)

// longestAge is the highest age of a record by default: an hour less than a stream
// keeps it ("Change data capture for DynamoDB Streams"), so that it can still be
// read at the place that the failure queue names.
const longestAge = 23 * time.Hour

// Props describe a mapping. Table, Function and OnFailure are required.
type Props struct {
	// Table is the table. It has a stream.
	Table *table.Table
	// Function handles the records.
	Function *gofunction.Function
	// OnFailure receives the places of the records that were given up, because they were too old or
	// had been tried too often. The function finds its address in [schema.FailureQueueVariable], and may
	// send to it what no attempt can handle.
	OnFailure awssqs.IQueue

	// Filters are patterns of records ("Lambda event filtering"); the function gets the records
	// that any of them matches. At most 5. Default: every record.
	Filters []map[string]any
	// BatchSize is how many records one invocation gets at most: 1 to 10,000, as far as they fit
	// into 6 MB. Default: 100.
	BatchSize int
	// BatchWindow is how long records are gathered for a batch: whole seconds up to
	// 5 minutes. Default: none, a record is handled as soon as it is read.
	BatchWindow time.Duration
	// Parallel is how many batches of one shard may be handled at once: 1 to 10.
	// Records of one item stay in order. Default: 1.
	Parallel int
	// Retries is how often a failed batch is tried again, up to 10,000 times. Default:
	// until MaximumAge.
	Retries int
	// MaximumAge is how old a record may get before it is given up: whole seconds, a
	// minute to 23 hours. Default: 23 hours.
	MaximumAge time.Duration
	// Bisect tries a failed batch again in two halves. Default: as a whole.
	Bisect bool
	// ReportItemFailures lets the function say which record of a batch failed, so
	// that those before it are not handled again. The function's answer then has to
	// be an events.DynamoDBEventResponse. Default: a batch fails as a whole.
	ReportItemFailures bool
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
		f.Add("Props.OnFailure", nil, "a queue", "pass a queue of package deadletter: without one, records that are given up are lost")
	}
	if len(p.Filters) > maximumFilters {
		f.Add("Props.Filters", len(p.Filters), "at most 5 patterns", "write several values into one pattern")
	}
	for i, filter := range p.Filters {
		if pattern, err := json.Marshal(filter); err != nil || len(filter) == 0 || len(pattern) > maximumPattern {
			f.Add(fmt.Sprintf("Props.Filters[%d]", i), filter, "a pattern of up to 4,096 bytes of JSON", `write it as in {"eventName": ["INSERT"]}`)
		}
	}
	if p.BatchSize < 0 || p.BatchSize > maximumBatchSize {
		f.Add("Props.BatchSize", p.BatchSize, "1 to 10000", "leave it 0 for 100")
	}
	if p.BatchWindow < 0 || p.BatchWindow > maximumBatchWindow || p.BatchWindow%time.Second != 0 {
		f.Add("Props.BatchWindow", p.BatchWindow, "0s to 5m0s in whole seconds", "leave it 0 for none")
	}
	if p.Parallel < 0 || p.Parallel > maximumParallel {
		f.Add("Props.Parallel", p.Parallel, "1 to 10", "leave it 0 for 1")
	}
	if p.Retries < 0 || p.Retries > maximumRetries {
		f.Add("Props.Retries", p.Retries, "1 to 10000", "leave it 0 to retry until MaximumAge")
	}
	if p.MaximumAge != 0 && (p.MaximumAge < minimumAge || p.MaximumAge > longestAge || p.MaximumAge%time.Second != 0) {
		f.Add("Props.MaximumAge", p.MaximumAge, "1m0s to 23h0m0s in whole seconds", "leave it 0 for 23 hours")
	}
	return f.Err()
}

// Mapping invokes a function with the records of a table's stream, from the
// oldest that the stream has.
type Mapping struct {
	constructs.Construct
	// Resource is the event source mapping.
	Resource awslambda.CfnEventSourceMapping
	// BatchWindow is how long records are gathered, and so their normal age.
	BatchWindow time.Duration

	function *gofunction.Function
}

// New declares a mapping, and lets the function's role read exactly that stream
// and write to the failure queue. It ends the program, by [props.Refuse], with
// the error of [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Mapping {
	props.Accept("stream", scope, id, p.Validate())
	m := &Mapping{BatchWindow: p.BatchWindow, function: p.Function}
	constructs.NewConstruct_Override(m, scope, &id)
	stream := p.Table.Resource.TableStreamArn()
	p.Table.GrantStream(p.Function.Role)
	deadletter.AllowSend(p.Function.Role, p.OnFailure)
	p.Function.AddEnvironment(map[string]string{schema.FailureQueueVariable: *p.OnFailure.QueueUrl()})

	batchSize, age := p.BatchSize, p.MaximumAge
	if batchSize == 0 {
		batchSize = defaultBatchSize
	}
	if age == 0 {
		age = longestAge
	}
	description := &awslambda.CfnEventSourceMappingProps{
		FunctionName:               p.Function.Resource.FunctionName(),
		EventSourceArn:             stream,
		StartingPosition:           jsii.String("TRIM_HORIZON"),
		BatchSize:                  jsii.Number(batchSize),
		MaximumRecordAgeInSeconds:  jsii.Number(age.Seconds()),
		BisectBatchOnFunctionError: p.Bisect,
		DestinationConfig: &awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: p.OnFailure.QueueArn()},
		},
	}
	if p.BatchWindow > 0 {
		description.MaximumBatchingWindowInSeconds = jsii.Number(p.BatchWindow.Seconds())
	}
	if p.Parallel > 0 {
		description.ParallelizationFactor = jsii.Number(p.Parallel)
	}
	if p.Retries > 0 {
		description.MaximumRetryAttempts = jsii.Number(p.Retries)
	}
	if p.ReportItemFailures {
		description.FunctionResponseTypes = jsii.Strings("ReportBatchItemFailures")
	}
	if len(p.Filters) > 0 {
		description.FilterCriteria = filterCriteria(p.Filters)
	}
	m.Resource = awslambda.NewCfnEventSourceMapping(m, jsii.String("Resource"), description)
	// AWS Lambda refuses a mapping whose function may not read the stream yet.
	m.Resource.Node().AddDependency(p.Function.Role)
	return m
}

// MetricAge is how old the last record of a batch was when the function was done
// with it, in milliseconds: a maximum over five minutes unless options say
// otherwise; options may be nil.
func (m *Mapping) MetricAge(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	age := m.function.Resource.Metric(jsii.String("IteratorAge"), &awscloudwatch.MetricOptions{Statistic: jsii.String("Maximum")})
	if options == nil {
		return age
	}
	return age.With(options)
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
