package engine

// What an event source mapping says, and whether it can be served.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/pattern"
)

type mapping struct {
	streams  *Streams
	function *assembly.Resource
	table    *assembly.Resource
	filter   pattern.Filter
	expired  *expiries

	position    string
	batchSize   int
	window      time.Duration
	retries     int           // -1 is without end
	age         time.Duration // 0 is without end
	bisect      bool
	partial     bool
	destination string
	engineARN   string
	arn         string
	// declared is all that the assembly says of it: a mapping that says the same goes on when the assembly changes.
	declared string

	// finish is closed when the mapping is to deliver what it has read, and to end; cancel ends it at once, ended is closed then.
	finish chan struct{}
	cancel context.CancelFunc
	ended  chan struct{}
	// left are the places at which shards are to be read on, by shard, when the mapping has finished.
	left map[string]string

	mutex    sync.Mutex
	delivery Delivery
	waiting  map[string]waiting // by shard
	flushes  uint64             // how many were asked for
	flushed  map[string]uint64  // how many a shard that is being read has done
	// expiredRecords are the sequence numbers of records in batches that were given up whose items time to live deleted.
	expiredRecords map[string]bool
}

// name tells mappings apart in every run of the assembly.
func (m *mapping) name() string { return m.function.Name + " " + m.table.Name }

// written changes with each write to the table that the run knows of.
func (m *mapping) written() uint64 {
	engine, key := m.streams.engine, m.streams.accessKey
	return engine.writesTo(key, m.table.Name).Load() + engine.writesTo(key, "").Load()
}

// ofQueue reports that the mapping is one of a queue.
func ofQueue(resource *assembly.Resource) bool {
	var declared struct{ EventSourceArn string }
	return resource.Decode(&declared) == nil && strings.Contains(declared.EventSourceArn, ":sqs:")
}

func (s *Streams) read(source *assembly.Assembly, resource *assembly.Resource) (*mapping, error) {
	var declared struct {
		EventSourceArn                 string
		FunctionName                   string
		Enabled                        *bool
		BatchSize                      *int
		MaximumBatchingWindowInSeconds int
		TumblingWindowInSeconds        int
		StartingPosition               string
		FunctionResponseTypes          []string
		BisectBatchOnFunctionError     bool
		MaximumRetryAttempts           *int
		MaximumRecordAgeInSeconds      *int
		FilterCriteria                 struct{ Filters []struct{ Pattern string } }
		DestinationConfig              struct{ OnFailure struct{ Destination string } }
	}
	if err := resource.Decode(&declared); err != nil {
		return nil, err
	}
	if declared.Enabled != nil && !*declared.Enabled {
		return nil, nil
	}
	read := &mapping{streams: s, arn: declared.EventSourceArn, waiting: map[string]waiting{}, flushed: map[string]uint64{}, finish: make(chan struct{}), ended: make(chan struct{}), left: map[string]string{}, position: declared.StartingPosition, batchSize: 100,
		window: time.Duration(declared.MaximumBatchingWindowInSeconds) * time.Second, retries: -1,
		bisect: declared.BisectBatchOnFunctionError, partial: slices.Contains(declared.FunctionResponseTypes, "ReportBatchItemFailures"),
		destination: declared.DestinationConfig.OnFailure.Destination}
	tableARN, _, isStream := strings.Cut(declared.EventSourceArn, "/stream/")
	if read.table = source.ByARN(tableARN); !isStream || read.table == nil {
		return nil, fmt.Errorf("got event source %q: a local run reads the streams of the assembly's tables", declared.EventSourceArn)
	}
	if read.function = source.Function(declared.FunctionName); read.function == nil {
		return nil, fmt.Errorf("got function %q: the assembly has no such function", declared.FunctionName)
	}
	if declared.TumblingWindowInSeconds > 0 {
		return nil, errors.New("TumblingWindowInSeconds is not served by a local run: leave it out")
	}
	if !slices.Contains([]string{"LATEST", "TRIM_HORIZON"}, read.position) {
		return nil, fmt.Errorf("got StartingPosition %q: write LATEST or TRIM_HORIZON", read.position)
	}
	if declared.BatchSize != nil {
		read.batchSize = *declared.BatchSize
	}
	if read.batchSize < 1 || read.batchSize > 10000 {
		return nil, fmt.Errorf("got BatchSize %d: write 1 to 10000", read.batchSize)
	}
	if declared.MaximumRetryAttempts != nil {
		read.retries = *declared.MaximumRetryAttempts
	}
	if declared.MaximumRecordAgeInSeconds != nil && *declared.MaximumRecordAgeInSeconds > 0 {
		read.age = time.Duration(*declared.MaximumRecordAgeInSeconds) * time.Second
	}
	var patterns []string
	for _, filter := range declared.FilterCriteria.Filters {
		patterns = append(patterns, filter.Pattern)
	}
	var err error
	if read.filter, err = pattern.New(patterns...); err != nil {
		return nil, err
	}
	if read.destination != "" {
		if target := source.ByARN(read.destination); target == nil || target.Type != "AWS::SQS::Queue" || s.options.Send == nil {
			return nil, fmt.Errorf("got failure destination %q: a local run sends to the assembly's queues", read.destination)
		}
	}
	text, err := json.Marshal([]any{resource.Properties, read.table.Properties["StreamSpecification"], read.function.ARN})
	if err != nil {
		return nil, err
	}
	read.declared = string(text)
	read.delivery = Delivery{Function: read.function.Name, Table: read.table.Name, StreamARN: read.arn}
	// "Using AWS Lambda with Amazon DynamoDB", execution role permissions. Lambda creates the mapping when all four are allowed
	// on the stream.
	for _, action := range []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"} {
		if err := s.options.Authorise(read.function.Name, action, declared.EventSourceArn); err != nil {
			return nil, err
		}
	}
	if read.destination != "" {
		if err := s.options.Authorise(read.function.Name, "sqs:SendMessage", read.destination); err != nil {
			return nil, err
		}
	}
	return read, nil
}
