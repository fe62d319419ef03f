package eventsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	dynamodblocal "github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// consumer stands in for a function: it gets one batch after the other, and answers as handle does.
type consumer struct {
	handle func(records []events.DynamoDBEventRecord) (string, error)

	mutex   sync.Mutex
	batches [][]events.DynamoDBEventRecord
}

func (c *consumer) Invoke(_ context.Context, function string, payload []byte) ([]byte, error) {
	if function != "Stack-Consumer" {
		return nil, fmt.Errorf("got function %q", function)
	}
	var event events.DynamoDBEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.batches = append(c.batches, event.Records)
	answer, err := c.handle(event.Records)
	return []byte(answer), err
}

// until waits for the condition on what was delivered so far.
func (c *consumer) until(t testing.TB, condition func(
	batches [][]events.DynamoDBEventRecord) bool) [][]events.DynamoDBEventRecord {
	t.Helper()
	var batches [][]events.DynamoDBEventRecord
	wait.Until(t, "the wanted batches", func() (any, bool) {
		c.mutex.Lock()
		batches = slices.Clone(c.batches)
		c.mutex.Unlock()
		return names(batches), condition(batches)
	})
	return batches
}

// names writes batches as the ids of their records.
func names(batches [][]events.DynamoDBEventRecord) (all []string) {
	for _, batch := range batches {
		var batchNames []string
		for _, record := range batch {
			batchNames = append(batchNames, record.Change.Keys["id"].String())
		}
		all = append(all, strings.Join(batchNames, " "))
	}
	return all
}

func count(batches [][]events.DynamoDBEventRecord) (records int) {
	for _, batch := range batches {
		records += len(batch)
	}
	return records
}

func accept([]events.DynamoDBEventRecord) (string, error) { return "", nil }

// sessions is a table with a stream, a sort key and a time to live.
var sessions = `"Sessions": ` + enginetest.Sessions

// tables are those of an assembly, and its queues.
type tables struct {
	source    *assembly.Assembly
	accessKey string
	databases *dynamodblocal.Databases
	client    *dynamodb.Client
	queue     func(arn string) *sqs.Queue
	// former are the mappings of the assembly before this one; nil: there was none.
	former *eventsource.Mappings
}

func open(t testing.TB, template string) tables {
	t.Helper()
	opened := tables{source: assemblytest.Load(t, template), accessKey: enginetest.AccessKey()}
	opened.databases = must.Get(dynamodblocal.OpenDatabases(enginetest.Engine(t), opened.source,
		dynamodblocal.DatabasesOptions{AccessKey: opened.accessKey}))(t)
	opened.client = opened.databases.Client()
	must.OK(t, opened.databases.CreateTables(t.Context(), func(string) {}))
	endpoint := must.Get(services.New(services.Options{Assembly: opened.source,
		DynamoDB: dynamodblocal.ServiceOptions{EngineURL: "http://127.0.0.1:1"}}))(t)
	opened.queue = endpoint.Queue
	return opened
}

// deliver starts the assembly's mappings, after the former ones. They end with the test, or when end is called.
func (o tables) deliver(t testing.TB, options eventsource.Options) (mappings *eventsource.Mappings, end func()) {
	t.Helper()
	options.Databases, options.Queue, options.PollInterval, options.RetryDelay = o.databases, o.queue, time.Millisecond,
		time.Millisecond
	mappings = must.Get(eventsource.Read(o.source, options))(t)
	ctx, cancel := context.WithCancel(t.Context())
	done, err := mappings.Start(ctx, o.former)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	end = func() {
		cancel()
		<-done
	}
	t.Cleanup(end)
	return mappings, end
}

type streamFixture struct {
	tables
	mappings *eventsource.Mappings
}

// stream starts a mapping with the properties, after the items are written.
func stream(t testing.TB, properties string, to *consumer, items ...map[string]types.AttributeValue) *streamFixture {
	t.Helper()
	return streamWith(t, properties, eventsource.Options{Invoke: to}, items...)
}

// streamWith is stream with other options.
func streamWith(t testing.TB, properties string, options eventsource.Options,
	items ...map[string]types.AttributeValue) *streamFixture {
	t.Helper()
	f := &streamFixture{tables: open(t, consumes(properties))}
	for _, item := range items {
		enginetest.Put(t, f.client, "sessions", item)
	}
	f.mappings, _ = f.deliver(t, options)
	return f
}

// consumes is a template of a function on the stream of sessions, with a queue of failures.
func consumes(properties string) string {
	return `{` + sessions + `, "Consumer": {"Type": "AWS::Lambda::Function"}, "Failed": {"Type": "AWS::SQS::Queue"},
		"Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "Consumer"},
		"EventSourceArn": {"Fn::GetAtt": ["Sessions", "StreamArn"]}, ` + properties + `}}}`
}

// failed waits for a message of the failure queue.
func (f *streamFixture) failed(t testing.TB) string {
	t.Helper()
	messages := f.queue("arn:aws:sqs:us-east-1:000000000000:Stack-Failed").Take(t.Context(), 1)
	if len(messages) == 0 {
		t.Fatal("no message came")
	}
	return messages[0].Body
}

func plain(ids ...string) (items []map[string]types.AttributeValue) {
	for _, id := range ids {
		items = append(items, enginetest.Session(id, nil))
	}
	return items
}

func TestStreamDeliversInOrder(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	f := stream(t, `"StartingPosition": "TRIM_HORIZON", "BatchSize": 3`, to, plain("1", "2")...)
	for _, id := range []string{"3", "4", "5", "6", "7"} {
		enginetest.Put(t, f.client, "sessions", enginetest.Session(id, nil))
	}
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) == 7 })
	if got := strings.Join(names(batches), " "); got != "1 2 3 4 5 6 7" {
		t.Errorf("got %s", got)
	}
	for _, batch := range batches {
		if len(batch) > 3 {
			t.Errorf("got a batch of %d", len(batch))
		}
	}
	record := batches[0][0]
	if record.EventName != "INSERT" || record.EventSource != "aws:dynamodb" || record.AWSRegion != "us-east-1" ||
		record.UserIdentity != nil ||
		record.EventSourceArn !=
			"arn:aws:dynamodb:us-east-1:000000000000:table/sessions/stream/1970-01-01T00:00:00.000" ||
		record.Change.NewImage["status"].String() != "OPEN" || record.Change.StreamViewType != "NEW_AND_OLD_IMAGES" ||
		record.EventID == "" {
		t.Errorf("got %+v", record)
	}
}

// Another platform may write first, to a table without a stream.
func TestStreamBeginsAfterWritesToAnotherTable(t *testing.T) {
	t.Parallel()
	for _, position := range []string{"TRIM_HORIZON", "LATEST"} {
		t.Run(position, func(t *testing.T) {
			t.Parallel()
			to := &consumer{handle: accept}
			f := stream(t, `"StartingPosition": "`+position+`"`, to)
			if _, err := f.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
				TableName: aws.String("others"), BillingMode: types.BillingModePayPerRequest,
				AttributeDefinitions: []types.AttributeDefinition{
					{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
				KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			}); err != nil {
				t.Fatal(err)
			}
			for _, other := range plain("1", "2", "3") {
				enginetest.Put(t, f.client, "others", other)
			}
			enginetest.Put(t, f.client, "sessions", enginetest.Session("4", nil))
			enginetest.Put(t, f.client, "sessions", enginetest.Session("5", nil))
			batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) >= 2 })
			if got := strings.Join(names(batches), " "); got != "4 5" {
				t.Errorf("got %s, want 4 5", got)
			}
		})
	}
}

// A run begins each stream with records of its own, which reach no function: DynamoDB Local is slow to find the first
// record of a stream among many of others.
func TestStreamHasBegun(t *testing.T) {
	t.Parallel()
	o := open(t, `{`+sessions+`}`)
	stream := must.Get(o.databases.OpenStream(t.Context(), o.source.Tables()[0]))(t)
	defer stream.Close()
	shards, err := stream.Shards(t.Context())
	if err != nil || len(shards) != 1 {
		t.Fatalf("got the shards %v, %v", shards, err)
	}
	for _, again := range []bool{false, true} {
		page, err := stream.Oldest(t.Context(), shards[0].ID)
		if err != nil || len(page.Records) != 2 || !dynamodblocal.BeginsStream(page.Records[0]) ||
			!dynamodblocal.BeginsStream(page.Records[1]) {
			t.Fatalf("created again %t: got %s, %v; want the two records that begin it", again, page.Records, err)
		}
		must.OK(t, o.databases.CreateTables(t.Context(), func(string) {}))
	}
}

func TestStreamStartsAtLatest(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	f := stream(t, `"StartingPosition": "LATEST"`, to, plain("before")...)
	enginetest.Put(t, f.client, "sessions", enginetest.Session("after", nil))
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) > 0 })
	if got := names(batches); !slices.Equal(got, []string{"after"}) {
		t.Errorf("got %v", got)
	}
}

func TestStreamBatchingWindowGathersRecords(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	f := stream(t, `"StartingPosition": "LATEST", "BatchSize": 4, "MaximumBatchingWindowInSeconds": 300`, to)
	for _, id := range []string{"1", "2", "3", "4"} {
		enginetest.Put(t, f.client, "sessions", enginetest.Session(id, nil))
	}
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) > 0 })
	if got := names(batches); !slices.Equal(got, []string{"1 2 3 4"}) {
		t.Errorf("got %v, want one full batch", got)
	}
}

func TestStreamTellsTimeToLiveFromDeletion(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	f := stream(t,
		`"StartingPosition": "LATEST", "FilterCriteria": {"Filters": [{"Pattern": "{\"eventName\": [\"REMOVE\"]}"}]}`,
		to)
	past := enginetest.Seconds(time.Now().Add(-time.Hour))
	enginetest.Put(t, f.client, "sessions", enginetest.Session("deleted", past))
	must.Get(f.client.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("sessions"), Key: map[string]types.AttributeValue{
			"id":   &types.AttributeValueMemberS{Value: "deleted"},
			"part": &types.AttributeValueMemberN{Value: "1"}}}))(t)
	enginetest.Put(t, f.client, "sessions", enginetest.Session("expired", past))
	must.Get(f.databases.Sweep(t.Context()))(t)
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) == 2 })
	got := map[string]*events.DynamoDBUserIdentity{}
	for _, record := range slices.Concat(batches...) {
		got[record.Change.Keys["id"].String()] = record.UserIdentity
	}
	want := map[string]*events.DynamoDBUserIdentity{"deleted": nil,
		"expired": {Type: "Service", PrincipalID: "dynamodb.amazonaws.com"}}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
}

// failure fails batches that have the id.
func failure(id string) func([]events.DynamoDBEventRecord) (string, error) {
	return func(records []events.DynamoDBEventRecord) (string, error) {
		if strings.Contains(" "+names([][]events.DynamoDBEventRecord{records})[0]+" ", " "+id+" ") {
			return "", errors.New("cannot handle " + id)
		}
		return "", nil
	}
}

func TestStreamGivesUpABatch(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: failure("2")}
	f := stream(t, `"StartingPosition": "TRIM_HORIZON", "BatchSize": 3, "MaximumRetryAttempts": 2,
		"DestinationConfig": {"OnFailure": {"Destination": {"Fn::GetAtt": ["Failed", "Arn"]}}}`, to, plain("1", "2", "3", "4")...)
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) == 4 })
	if got := names(batches); !slices.Equal(got, []string{"1 2 3", "1 2 3", "1 2 3", "4"}) {
		t.Errorf("got %v, want two retries, and then the next batch", got)
	}
	var message struct {
		RequestContext struct {
			RequestID              string `json:"requestId"`
			FunctionARN            string `json:"functionArn"`
			Condition              string `json:"condition"`
			ApproximateInvokeCount int    `json:"approximateInvokeCount"`
		} `json:"requestContext"`
		ResponseContext struct {
			FunctionError string `json:"functionError"`
		} `json:"responseContext"`
		Version string `json:"version"`
		Info    struct {
			BatchSize           int    `json:"batchSize"`
			StreamARN           string `json:"streamArn"`
			ShardID             string `json:"shardId"`
			StartSequenceNumber string `json:"startSequenceNumber"`
			EndSequenceNumber   string `json:"endSequenceNumber"`
		} `json:"DDBStreamBatchInfo"`
		Payload string `json:"payload"`
	}
	must.OK(t, json.Unmarshal([]byte(f.failed(t)), &message))
	failed := batches[0]
	if c := message.RequestContext; c.Condition != "RetryAttemptsExhausted" || c.ApproximateInvokeCount != 3 ||
		c.RequestID == "" ||
		c.FunctionARN != "arn:aws:lambda:us-east-1:000000000000:function:Stack-Consumer" || message.Version != "1.0" ||
		message.ResponseContext.FunctionError == "" {
		t.Errorf("got %+v", message)
	}
	if info := message.Info; info.BatchSize != 3 || info.ShardID == "" ||
		info.StartSequenceNumber != failed[0].Change.SequenceNumber ||
		info.EndSequenceNumber != failed[2].Change.SequenceNumber || info.StreamARN != failed[0].EventSourceArn {
		t.Errorf("got %+v", info)
	}
	var payload events.DynamoDBEvent
	must.OK(t, json.Unmarshal([]byte(message.Payload), &payload))
	if got := names([][]events.DynamoDBEventRecord{payload.Records}); !slices.Equal(got, []string{"1 2 3"}) {
		t.Errorf("got payload %v", got)
	}
}

func TestStreamBisectsABatch(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: failure("3")}
	f := stream(t,
		`"StartingPosition": "TRIM_HORIZON", "BatchSize": 4, "MaximumRetryAttempts": 0, "BisectBatchOnFunctionError": true,
		"DestinationConfig": {"OnFailure": {"Destination": {"Fn::GetAtt": ["Failed", "Arn"]}}}`, to, plain("1", "2", "3", "4")...)
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) == 5 })
	if got := names(batches); !slices.Equal(got, []string{"1 2 3 4", "1 2", "3 4", "3", "4"}) {
		t.Errorf("got %v", got)
	}
	if message := f.failed(t); !strings.Contains(message, `"batchSize":1`) {
		t.Errorf("got %s, want the one record", message)
	}
}

// A panic of the run's own is a failed invocation: the batch comes again.
func TestStreamGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	panics := 2
	to := &consumer{handle: func([]events.DynamoDBEventRecord) (string, error) {
		if panics--; panics >= 0 {
			panic("a bug of the run")
		}
		return "", nil
	}}
	stream(t, `"StartingPosition": "TRIM_HORIZON", "BatchSize": 2`, to, plain("1", "2", "3")...)
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) == 4 })
	if got := names(batches); !slices.Equal(got, []string{"1 2", "1 2", "1 2", "3"}) {
		t.Errorf("got %v", got)
	}
}

func TestStreamTakesPartialFailures(t *testing.T) {
	t.Parallel()
	failures := 0
	to := &consumer{handle: func(records []events.DynamoDBEventRecord) (string, error) {
		for _, record := range records {
			if id := record.Change.Keys["id"].String(); id == "3" && failures < 2 {
				failures++
				return `{"batchItemFailures": [{"itemIdentifier": "` + record.Change.SequenceNumber + `"}]}`, nil
			}
		}
		return `{"batchItemFailures": []}`, nil
	}}
	stream(t,
		`"StartingPosition": "TRIM_HORIZON", "BatchSize": 4, "FunctionResponseTypes": ["ReportBatchItemFailures"]`, to,
		plain("1", "2", "3", "4")...)
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) == 3 })
	if got := names(batches); !slices.Equal(got, []string{"1 2 3 4", "3 4", "3 4"}) {
		t.Errorf("got %v", got)
	}
}

func TestStreamTakesWrongAnswersForFailures(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"unknown item": `{"batchItemFailures": [{"itemIdentifier": "x"}]}`,
		"no object": `[1]`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := true
			to := &consumer{handle: func([]events.DynamoDBEventRecord) (string, error) {
				if first {
					first = false
					return answer, nil
				}
				return "null", nil
			}}
			stream(t, `"StartingPosition": "TRIM_HORIZON", "FunctionResponseTypes": ["ReportBatchItemFailures"]`, to,
				plain("1", "2")...)
			batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) == 2 })
			if got := names(batches); !slices.Equal(got, []string{"1 2", "1 2"}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestStreamFilters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		patterns []string
		want     string
	}{
		"none": {nil, "apple banana cherry"},
		"equal": {[]string{`{"dynamodb": {"NewImage": {"id": {"S": ["apple", "cherry"]}}}}`},
			"apple cherry"},
		"one of two patterns": {[]string{`{"dynamodb": {"Keys": {"id": {"S": ["apple"]}}}}`,
			`{"dynamodb": {"Keys": {"id": {"S": ["banana"]}}}}`}, "apple banana"},
		"prefix": {[]string{`{"dynamodb": {"Keys": {"id": {"S": [{"prefix": "ba"}]}}}}`}, "banana"},
		"suffix": {[]string{`{"dynamodb": {"Keys": {"id": {"S": [{"suffix": "y"}]}}}}`}, "cherry"},
		"other case": {[]string{`{"dynamodb": {"Keys": {"id": {"S": [{"equals-ignore-case": "APPLE"}]}}}}`},
			"apple"},
		"anything but": {[]string{`{"dynamodb": {"Keys": {"id": {"S": [{"anything-but": ["apple"]}]}}}}`},
			"banana cherry"},
		"anything but prefix": {[]string{`{"dynamodb": {"Keys": {"id": {"S": [{"anything-but": {"prefix": "a"}}]}}}}`},
			"banana cherry"},
		"exists": {[]string{`{"dynamodb": {"NewImage": {"ttl": {"N": [{"exists": true}]}}}}`}, "cherry"},
		"exists not": {[]string{`{"dynamodb": {"NewImage": {"ttl": {"N": [{"exists": false}]}}}}`},
			"apple banana"},
		"numeric": {
			[]string{`{"dynamodb": {"SizeBytes": [{"numeric": [">", 0, "<=", 1000000]}]}, "eventName": ["INSERT"]}`},
			"apple banana cherry"},
		"numeric of a text": {[]string{`{"eventName": [{"numeric": [">", 0]}]}`,
			`{"dynamodb": {"Keys": {"id": {"S": ["apple"]}}}}`}, "apple"},
		"two members": {
			[]string{`{"eventName": ["INSERT"], "dynamodb": {"Keys": {"id": {"S": ["apple"]}, "part": {"N": ["1"]}}}}`},
			"apple"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filters := []map[string]string{}
			for _, pattern := range test.patterns {
				filters = append(filters, map[string]string{"Pattern": pattern})
			}
			criteria := must.Get(json.Marshal(map[string]any{"Filters": filters}))(t)
			to := &consumer{handle: accept}
			// The first read has all of them, and so has the first batch.
			stream(t, `"StartingPosition": "TRIM_HORIZON", "FilterCriteria": `+string(criteria), to,
				append(plain("apple", "banana"), enginetest.Session("cherry",
					enginetest.Seconds(time.Now().Add(time.Hour))))...)
			batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) > 0 })
			if got := strings.Join(names(batches), " "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestStreamLosesItsPlace: finished batches come again, cut at other places, and every record still comes, in order.
func TestStreamLosesItsPlace(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	losses := 0
	f := streamWith(t, `"StartingPosition": "TRIM_HORIZON", "BatchSize": 4`, eventsource.Options{
		Invoke: to,
		// Only the reader of the one shard calls this, so it needs no lock.
		Redeliver: func() bool {
			losses++
			return losses%3 != 0 && losses < 60
		},
	}, plain("1", "2", "3", "4", "5", "6", "7", "8", "9")...)
	state := settled(t, f.mappings, 9)[0]
	batches := to.until(t, func([][]events.DynamoDBEventRecord) bool { return true })
	var first []string
	cuts := map[string]bool{}
	for _, batch := range names(batches) {
		cuts[batch] = true
		for _, id := range strings.Fields(batch) {
			if !slices.Contains(first, id) {
				first = append(first, id)
			}
		}
	}
	if got := strings.Join(first, " "); got != "1 2 3 4 5 6 7 8 9" {
		t.Errorf("got %s in %q", got, names(batches))
	}
	if len(batches) <= 3 || len(cuts) == len(batches) && len(cuts) <= 3 || state.Redelivered == 0 {
		t.Errorf("nothing was delivered again: %q, %+v", names(batches), state)
	}
	// The same place in the stream was cut in several ways.
	starts := map[string]int{}
	for cut := range cuts {
		starts[strings.Fields(cut)[0]]++
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(starts)), func(ways int) bool { return ways > 1 }) {
		t.Errorf("batches are cut at the same places again: %q", names(batches))
	}
}

// TestStreamHasSeveralConsumers: a mapping that fails for good delays no other.
func TestStreamHasSeveralConsumers(t *testing.T) {
	t.Parallel()
	on := open(t,
		`{`+sessions+`, "Writer": {"Type": "AWS::Lambda::Function"}, "Eraser": {"Type": "AWS::Lambda::Function"},
		"WriterMapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "Writer"}, "StartingPosition": "TRIM_HORIZON",
			"BatchSize": 2, "MaximumRetryAttempts": -1, "MaximumRecordAgeInSeconds": -1, "EventSourceArn": {"Fn::GetAtt": ["Sessions", "StreamArn"]},
			"FilterCriteria": {"Filters": [{"Pattern": "{\"dynamodb\":{\"Keys\":{\"id\":{\"S\":[{\"prefix\":\"TASK#\"}]}}}}"}, {"Pattern": "{\"dynamodb\":{\"Keys\":{\"id\":{\"S\":[{\"prefix\":\"USER#\"}]}}}}"}]}}},
		"EraserMapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "Eraser"}, "StartingPosition": "TRIM_HORIZON",
			"EventSourceArn": {"Fn::GetAtt": ["Sessions", "StreamArn"]},
			"FilterCriteria": {"Filters": [{"Pattern": "{\"dynamodb\":{\"NewImage\":{\"ttl\":{\"N\":[{\"exists\":true}]}}}}"}]}}}}`)
	for _, id := range []string{"TASK#1", "EMAIL#1", "USER#1", "COUNTS#1", "TASK#2"} {
		enginetest.Put(t, on.client, "sessions", enginetest.Session(id, nil))
	}
	enginetest.Put(t, on.client, "sessions",
		enginetest.Session("COUNTS#2", enginetest.Seconds(time.Now().Add(time.Hour))))
	erased := make(chan string, 10)
	failures, read := atomic.Int32{}, atomic.Int32{}
	to := &consumer{handle: accept}
	mappings, _ := on.deliver(t, eventsource.Options{
		Read: func(records []trace.StreamRecord) {
			for _, one := range records {
				if one.Table == "sessions" && one.Event == "INSERT" && len(one.Keys) == 2 && one.New["id"] != nil {
					read.Add(1)
				}
			}
		},
		Invoke: invokerFunc(func(ctx context.Context, function string, payload []byte) ([]byte, error) {
			if function == "Stack-Writer" {
				// It fails more often than a mapping with few retries would allow.
				if failures.Add(1) <= 30 {
					return nil, errors.New("the process was killed")
				}
				return to.Invoke(ctx, "Stack-Consumer", payload)
			}
			var event events.DynamoDBEvent
			if err := json.Unmarshal(payload, &event); err != nil {
				return nil, err
			}
			for _, record := range event.Records {
				erased <- record.Change.Keys["id"].String()
			}
			return nil, nil
		}),
	})
	if got := <-erased; got != "COUNTS#2" {
		t.Errorf("the second consumer got %s", got)
	}
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) == 3 })
	if got := names(batches); !slices.Equal(got, []string{"TASK#1 USER#1", "TASK#2"}) {
		t.Errorf("the first consumer got %q", got)
	}
	states := settled(t, mappings, 12)
	if got := read.Load(); got != 12 {
		t.Errorf("%d records were told of, want all 6 of both, also those that the filters keep back", got)
	}
	if !mappings.ReadsStream("sessions") || mappings.ReadsStream("other") {
		t.Error("the mappings read another stream than that of sessions")
	}
	eraser, writer := states[0], states[1]
	if writer.Function != "Stack-Writer" || writer.Table != "sessions" ||
		!strings.HasPrefix(writer.SourceARN, "arn:aws:dynamodb:") ||
		writer.Read != 6 || writer.Filtered != 3 || writer.Done != 3 || writer.GivenUp != 0 || writer.Failures != 30 ||
		writer.Invocations != 32 ||
		writer.Lag != 0 || writer.LongestDelay < writer.LastDelay || writer.LastDelay <= 0 {
		t.Errorf("got %+v", writer)
	}
	if eraser.Function != "Stack-Eraser" || eraser.Read != 6 || eraser.Filtered != 5 || eraser.Done != 1 ||
		eraser.Failures != 0 {
		t.Errorf("got %+v", eraser)
	}
}

func TestStreamFlush(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	f := stream(t, `"StartingPosition": "TRIM_HORIZON", "BatchSize": 100, "MaximumBatchingWindowInSeconds": 300`, to,
		plain("1", "2")...)
	for _, want := range []string{"1 2", "3"} {
		must.OK(t, f.mappings.Flush(t.Context()))
		to.mutex.Lock()
		got := names(to.batches)
		to.batches = nil
		to.mutex.Unlock()
		if !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
		enginetest.Put(t, f.client, "sessions", enginetest.Session("3", nil))
	}
}

func TestStreamFlushEndsWithItsContext(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: failure("1")}
	f := stream(t, `"StartingPosition": "TRIM_HORIZON", "MaximumBatchingWindowInSeconds": 300`, to, plain("1")...)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) > 2 })
		cancel()
	}()
	if err := f.mappings.Flush(ctx); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "Stack-Consumer") {
		t.Errorf("got %v", err)
	}
}

// TestStreamBatchesFitLambda: a batch is full when one more record would exceed the payload that Lambda takes.
func TestStreamBatchesFitLambda(t *testing.T) {
	t.Parallel()
	var sizes []int
	to := &consumer{handle: accept}
	f := streamWith(t, `"StartingPosition": "TRIM_HORIZON", "BatchSize": 10000, "MaximumBatchingWindowInSeconds": 300`,
		eventsource.Options{
			Invoke: invokerFunc(func(ctx context.Context, function string, payload []byte) ([]byte, error) {
				sizes = append(sizes, len(payload))
				return to.Invoke(ctx, function, payload)
			}),
		})
	const items = 20
	for n := range items {
		item := enginetest.Session(fmt.Sprint(n), nil)
		item["text"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 380_000)}
		enginetest.Put(t, f.client, "sessions", item)
	}
	// One batch is full before its window ends; the rest is not.
	to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) == 1 })
	must.OK(t, f.mappings.Flush(t.Context()))
	batches := to.until(t, func([][]events.DynamoDBEventRecord) bool { return true })
	if count(batches) != items || len(batches) != 2 {
		t.Errorf("got %q", names(batches))
	}
	for _, size := range sizes {
		if size > 6<<20 {
			t.Errorf("got an event of %d bytes", size)
		}
	}
	if sizes[0] < 5<<20 {
		t.Errorf("the first batch has only %d bytes", sizes[0])
	}
}

// TestStreamGoesOnWhereItEnded: with a file of checkpoints the next run delivers what the last one did not, and nothing
// twice.
func TestStreamGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kept", "streams.json")
	on := open(t, `{`+sessions+`, "Consumer": {"Type": "AWS::Lambda::Function"},
		"Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "Consumer"}, "StartingPosition": "TRIM_HORIZON", "BatchSize": 2,
		"EventSourceArn": {"Fn::GetAtt": ["Sessions", "StreamArn"]}, "FilterCriteria": {"Filters": [{"Pattern": "{\"dynamodb\":{\"Keys\":{\"id\":{\"S\":[{\"anything-but\":[\"hidden\"]}]}}}}"}]}}}}`)
	run := func(path string, handle func([]events.DynamoDBEventRecord) (string, error),
		during func(*eventsource.Mappings, *consumer)) []string {
		t.Helper()
		to := &consumer{handle: handle}
		mappings, end := on.deliver(t, eventsource.Options{Invoke: to, Checkpoints: path})
		during(mappings, to)
		end()
		return names(to.until(t, func([][]events.DynamoDBEventRecord) bool { return true }))
	}
	flush := func(mappings *eventsource.Mappings, _ *consumer) {
		if err := mappings.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"1", "2", "3", "hidden"} {
		enginetest.Put(t, on.client, "sessions", enginetest.Session(id, nil))
	}
	// The first run ends during the second batch.
	first := run(path, failure("3"), func(_ *eventsource.Mappings, to *consumer) {
		to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) > 1 })
	})
	if first[0] != "1 2" || first[1] != "3" {
		t.Errorf("the first run got %q", first)
	}
	enginetest.Put(t, on.client, "sessions", enginetest.Session("4", nil))
	if got := run(path, accept, flush); !slices.Equal(got, []string{"3 4"}) {
		t.Errorf("the second run got %q", got)
	}
	enginetest.Put(t, on.client, "sessions", enginetest.Session("hidden", nil))
	if got := run(path, accept, flush); len(got) != 0 {
		t.Errorf("the third run got %q", got)
	}
	// Records are not lost at a place that the engine does not know.
	must.OK(t, os.WriteFile(path, []byte(`{"Stack-Consumer sessions": {"another shard": "1"}}`), 0o600))
	if got := run(path, accept, flush); !slices.Equal(got, []string{"1 2", "3 4"}) {
		t.Errorf("with a foreign place the run got %q", got)
	}
	if got := run("", accept, flush); !slices.Equal(got, []string{"1 2", "3 4"}) {
		t.Errorf("without a file the run got %q", got)
	}
	must.OK(t, os.WriteFile(path, []byte(`{"`), 0o600))
	mappings := must.Get(eventsource.Read(on.source, eventsource.Options{Checkpoints: path}))(t)
	if _, err := mappings.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("got %v", err)
	}
}

// A mapping of the next assembly goes on where the former one has ended, and knows what time to live has deleted since.
func TestStreamNextAssembly(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	on := open(t, consumes(`"StartingPosition": "LATEST"`))
	former, end := on.deliver(t, eventsource.Options{Invoke: to})
	enginetest.Put(t, on.client, "sessions", enginetest.Session("1", nil))
	must.OK(t, former.Flush(t.Context()))
	end()
	enginetest.Put(t, on.client, "sessions", enginetest.Session("2", enginetest.Seconds(time.Now().Add(-time.Hour))))
	if deleted, err := on.databases.Sweep(t.Context()); err != nil || deleted != 1 {
		t.Fatalf("deleted %d, %v", deleted, err)
	}
	on.source = assemblytest.Load(t, consumes(`"StartingPosition": "LATEST", "BatchSize": 1`))
	on.former = former
	next, _ := on.deliver(t, eventsource.Options{Invoke: to})
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) == 3 })
	if got := names(batches); !slices.Equal(got, []string{"1", "2", "2"}) {
		t.Errorf("got %q", got)
	}
	if identity := batches[2][0].UserIdentity; identity == nil || identity.Type != "Service" {
		t.Errorf("got a deletion by %+v", identity)
	}
	if state := settled(t, next, 3)[0]; state.Done != 3 {
		t.Errorf("got %+v", state)
	}
}

// A mapping that has read nothing has a place all the same: what is written between two mappings is not lost.
func TestStreamNextAssemblyOfQuietTable(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	on := open(t, consumes(`"StartingPosition": "LATEST"`))
	former, _ := on.deliver(t, eventsource.Options{Invoke: to})
	on.source = assemblytest.Load(t, `{`+sessions+`}`)
	on.former = former
	on.deliver(t, eventsource.Options{Invoke: to})
	enginetest.Put(t, on.client, "sessions", enginetest.Session("1", nil))
	on.source = assemblytest.Load(t, consumes(`"StartingPosition": "LATEST", "BatchSize": 1`))
	on.deliver(t, eventsource.Options{Invoke: to})
	enginetest.Put(t, on.client, "sessions", enginetest.Session("2", nil))
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return count(batches) == 2 })
	if got := strings.Join(names(batches), " "); got != "1 2" {
		t.Errorf("got %q", got)
	}
}

// settled waits until all mappings together have read the number of records, and none is pending.
func settled(t *testing.T, mappings *eventsource.Mappings, records int) []eventsource.Delivery {
	t.Helper()
	var states []eventsource.Delivery
	wait.Until(t, fmt.Sprintf("%d records are read, and none is pending", records), func() (any, bool) {
		states = mappings.Streams()
		read, waiting := 0, 0
		for _, state := range states {
			read, waiting = read+state.Read, waiting+state.Waiting
		}
		return states, read == records && waiting == 0
	})
	return states
}

type invokerFunc func(context.Context, string, []byte) ([]byte, error)

func (f invokerFunc) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	return f(ctx, function, payload)
}

func TestMappingErrors(t *testing.T) {
	t.Parallel()
	const source = `"EventSourceArn": {"Fn::GetAtt": ["Sessions", "StreamArn"]}, "FunctionName": {"Ref": "Consumer"}`
	for name, test := range map[string]struct{ properties, want string }{
		"other source": {
			`"EventSourceArn": "arn:aws:kinesis:us-east-1:000000000000:x", "FunctionName": {"Ref": "Consumer"}`,
			"reads the streams of the assembly's tables"},
		"unknown function": {`"EventSourceArn": {"Fn::GetAtt": ["Sessions", "StreamArn"]}, "FunctionName": "nobody"`,
			"no such function"},
		"no position": {source, "LATEST or TRIM_HORIZON"},
		"batch size":  {source + `, "StartingPosition": "LATEST", "BatchSize": 0`, "write 1 to 10000"},
		"unknown destination": {source +
			`, "StartingPosition": "LATEST", "DestinationConfig": {"OnFailure": {"Destination": "arn:aws:sns:us-east-1:1:x"}}`,
			"failure destination"},
		"pattern, no JSON": {source +
			`, "StartingPosition": "LATEST", "FilterCriteria": {"Filters": [{"Pattern": "{"}]}`, "filter pattern"},
		"pattern, operator": {source +
			`, "StartingPosition": "LATEST", "FilterCriteria": {"Filters": [{"Pattern": "{\"a\": [{\"contains\": \"x\"}]}"}]}`,
			`operator "contains"`},
		"pattern, $or": {source +
			`, "StartingPosition": "LATEST", "FilterCriteria": {"Filters": [{"Pattern": "{\"$or\": []}"}]}`, "$or"},
		"numeric on N": {source +
			`, "StartingPosition": "LATEST", "FilterCriteria": {"Filters": [{"Pattern": "{\"dynamodb\": {\"Keys\": {\"n\": {\"N\": [{\"numeric\": [\">\", 1]}]}}}}"}]}`,
			"as text"},
		"pattern, scalar": {source +
			`, "StartingPosition": "LATEST", "FilterCriteria": {"Filters": [{"Pattern": "{\"a\": 1}"}]}`,
			"write a list"},
		"grant": {source + `, "StartingPosition": "LATEST"`, "may not dynamodb:GetRecords"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := assemblytest.Load(t, `{`+sessions+
				`, "Consumer": {"Type": "AWS::Lambda::Function"}, "Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {`+
				test.properties+`}}}`)
			_, err := eventsource.Read(read, eventsource.Options{
				Authorise: func(function, action, _ string) error {
					if action == "dynamodb:GetRecords" {
						return fmt.Errorf("%s may not %s", function, action)
					}
					return nil
				},
			})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "Mapping") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestQuietStream: a stream with few changes loses none of them beside those of a busy one, which DynamoDB Local
// counts in the same sequence.
func TestQuietStream(t *testing.T) {
	t.Parallel()
	const table = `{"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "%s", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
		"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "BillingMode": "PAY_PER_REQUEST", "StreamSpecification": {"StreamViewType": "KEYS_ONLY"}}}`
	const mapping = `{"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "Consumer"}, "BatchSize": 1000,
		"EventSourceArn": {"Fn::GetAtt": ["%s", "StreamArn"]}, "StartingPosition": "TRIM_HORIZON"}}`
	on := open(t, `{"Consumer": {"Type": "AWS::Lambda::Function"}, "Busy": `+fmt.Sprintf(table, "busy")+`, "Quiet": `+
		fmt.Sprintf(table, "quiet")+
		`, "OfBusy": `+fmt.Sprintf(mapping, "Busy")+`, "OfQuiet": `+fmt.Sprintf(mapping, "Quiet")+`}`)
	var mutex sync.Mutex
	var quiet []string
	mappings, _ := on.deliver(t, eventsource.Options{
		Invoke: invokerFunc(func(_ context.Context, _ string, payload []byte) ([]byte, error) {
			var event events.DynamoDBEvent
			if err := json.Unmarshal(payload, &event); err != nil {
				return nil, err
			}
			mutex.Lock()
			defer mutex.Unlock()
			for _, record := range event.Records {
				if id := record.Change.Keys["id"].String(); strings.Contains(record.EventSourceArn, "quiet") {
					quiet = append(quiet, id)
				}
			}
			return nil, nil
		}),
	})
	var want []string
	for n := range 160 {
		var writes []types.WriteRequest
		for i := range 25 {
			writes = append(writes, types.WriteRequest{
				PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
					"id": &types.AttributeValueMemberS{Value: fmt.Sprint(n*25 + i)}}}})
		}
		must.Get(on.client.BatchWriteItem(t.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"busy": writes}}))(t)
		if n%4 == 0 {
			want = append(want, fmt.Sprint("q", n))
			enginetest.Put(t, on.client, "quiet", enginetest.Session(want[len(want)-1], nil))
		}
	}
	must.OK(t, mappings.Flush(t.Context()))
	mutex.Lock()
	defer mutex.Unlock()
	if diff := cmp.Diff(want, quiet); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
}

// TestWroteWakesStreams: a stream that rests for long is read once the run has written.
func TestWroteWakesStreams(t *testing.T) {
	t.Parallel()
	to := &consumer{handle: accept}
	f := streamWith(t, `"StartingPosition": "TRIM_HORIZON"`, eventsource.Options{Invoke: to, IdleInterval: time.Hour})
	for _, id := range []string{"1", "2", "3"} {
		enginetest.Put(t, f.client, "sessions", enginetest.Session(id, nil))
		enginetest.Engine(t).Wrote(f.accessKey, "sessions")
		to.until(t, func(batches [][]events.DynamoDBEventRecord) bool {
			return len(batches) > 0 && names(batches)[len(batches)-1] == id
		})
	}
}
