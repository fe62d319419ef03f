// Package triggertest has what tests of functions on events need: a queue of failures, a loopback server with the API
// operation PutEvents of Amazon EventBridge, the changes of a table as its stream has them, and the JSON Schemas of
// events.
package triggertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/publisher"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Event is an event as the bus got it.
type Event struct {
	Source     string
	DetailType string
	Time       float64
	Detail     string
	// Bus is the name of the bus.
	Bus string `json:"EventBusName"`
}

// Fields returns the fields of the detail.
func (e Event) Fields() map[string]any {
	var fields map[string]any
	_ = json.Unmarshal([]byte(e.Detail), &fields) // the bus has read it
	return fields
}

// ID returns the event's id.
func (e Event) ID() string { return fmt.Sprint(e.Fields()["event_id"]) }

// ItemVersion returns the version of the event's item.
func (e Event) ItemVersion() string { return fmt.Sprint(e.Fields()["item_version"]) }

// Bus is a bus that takes the events of a platform. It fails the test for an event that differs from the schema.
type Bus struct {
	// Refuse returns an error code for an event that the bus refuses, and "" for one that it takes. Nil: it takes all.
	Refuse func(Event) (code string)
	// Down makes requests fail as a whole.
	Down bool
	// Requests counts the requests that the bus answered.
	Requests int

	t       testing.TB
	source  string
	schemas map[string]*jsonschema.Resolved
	server  *httptest.Server

	mutex  sync.Mutex
	events []Event
}

// NewBus starts a bus for the time of the test.
func NewBus(t testing.TB, platform schema.Platform) *Bus {
	t.Helper()
	b := &Bus{t: t, source: platform.Name, schemas: map[string]*jsonschema.Resolved{}}
	for _, event := range platform.Events {
		var form jsonschema.Schema
		if err := json.Unmarshal(JSONSchema(t, platform, event), &form); err != nil {
			t.Fatalf("the JSON Schema of %s: %v", event.Name, err)
		}
		resolved, err := form.Resolve(nil)
		if err != nil {
			t.Fatalf("the JSON Schema of %s: %v", event.Name, err)
		}
		b.schemas[event.Name] = resolved
	}
	b.server = httptest.NewServer(b)
	t.Cleanup(b.server.Close)
	return b
}

// Client returns a client of the bus that repeats requests as a function's client does.
func (b *Bus) Client() *eventbridge.Client {
	return eventbridge.New(eventbridge.Options{Region: "eu-central-1", BaseEndpoint: &b.server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), Retryer: kit.Retryer()})
}

// Events returns the events that the bus took, in their order, repeats included.
func (b *Bus) Events() []Event {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return slices.Clone(b.events)
}

// ServeHTTP answers PutEvents ("PutEvents", Amazon EventBridge API reference).
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	var request struct{ Entries []Event }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || b.Down ||
		r.Header.Get("X-Amz-Target") != "AWSEvents.PutEvents" || len(request.Entries) == 0 ||
		len(request.Entries) > 10 {
		if !b.Down {
			b.t.Errorf("got the request %s with %d entries, %v; want PutEvents with 1 to 10",
				r.Header.Get("X-Amz-Target"),
				len(request.Entries), err)
		}
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"__type":"InternalException"}`)
		return
	}
	b.Requests++
	var answer struct {
		FailedEntryCount int
		Entries          []map[string]string
	}
	for i, event := range request.Entries {
		b.check(event)
		if b.Refuse != nil {
			if code := b.Refuse(event); code != "" {
				answer.FailedEntryCount++
				answer.Entries = append(answer.Entries, map[string]string{"ErrorCode": code, "ErrorMessage": "refused"})
				continue
			}
		}
		answer.Entries = append(answer.Entries, map[string]string{"EventId": fmt.Sprint("entry-", i)})
		b.events = append(b.events, event)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// check fails the test for an event that is not as the schema says.
func (b *Bus) check(e Event) {
	form := b.schemas[e.DetailType]
	if e.Source != b.source || form == nil || e.Time == 0 {
		b.t.Errorf("got an event %q of %q at %v, want one that %s declares, with its time", e.DetailType, e.Source,
			e.Time,
			b.source)
		return
	}
	var detail any
	err := json.Unmarshal([]byte(e.Detail), &detail)
	if err == nil {
		err = form.Validate(detail)
	}
	if err != nil {
		b.t.Errorf("the event %s is not as its schema says: %v\n%s", e.DetailType, err, e.Detail)
	}
}

// Publisher is the publisher of a platform, with tables that have their logical names.
type Publisher struct {
	*publisher.Publisher
	// Failures has what it gave up.
	Failures *Queue
}

// NewPublisher returns a publisher on the bus, which passes nothing on.
func NewPublisher(platform schema.Platform, bus *Bus, mapper trigger.EventMapper) *Publisher {
	p := &Publisher{Failures: &Queue{}}
	tables := map[string]string{}
	for _, table := range platform.Database.Tables {
		tables[table.Name] = table.Name
	}
	p.Publisher = &publisher.Publisher{Platform: platform, Tables: tables, Mapper: mapper, Client: bus.Client(),
		Bus: "bus-of-the-test", Batch: &trigger.Stream{Failures: p.Failures, Log: slog.New(slog.DiscardHandler)}}
	return p
}

// Stream turns on the stream of a table as events need it, and returns a function that reads its records so far, as AWS
// Lambda delivers them.
func Stream(t testing.TB, platform schema.Platform, tables *dynamotest.Tables, table string) func() []json.RawMessage {
	t.Helper()
	described, _ := platform.Publishing().Database.Table(table)
	enabled := must.Get(tables.Client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &table,
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true),
			StreamViewType: types.StreamViewType(described.Stream)}}))(t)
	arn := enabled.TableDescription.LatestStreamArn
	options := tables.Client.Options()
	kept := &keeping{}
	client := dynamodbstreams.New(dynamodbstreams.Options{Region: options.Region, Credentials: options.Credentials,
		BaseEndpoint: options.BaseEndpoint, HTTPClient: kept})
	return func() (all []json.RawMessage) {
		t.Helper()
		described := must.Get(client.DescribeStream(t.Context(),
			&dynamodbstreams.DescribeStreamInput{StreamArn: arn}))(t)
		for _, shard := range described.StreamDescription.Shards {
			from := must.Get(client.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: arn,
				ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon}))(t)
			for next, more := from.ShardIterator, true; more && next != nil; {
				page := must.Get(client.GetRecords(t.Context(),
					&dynamodbstreams.GetRecordsInput{ShardIterator: next}))(t)
				next, more = page.NextShardIterator, len(page.Records) > 0
				all = append(all, kept.records(t, *arn)...)
			}
		}
		return all
	}
}

// keeping is a client that keeps the last answer: its records are those that AWS Lambda delivers, but for the ARN of
// the stream.
type keeping struct{ answer []byte }

// Do implements the client of the SDK.
func (k *keeping) Do(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	k.answer, err = io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(k.answer))
	return response, err
}

func (k *keeping) records(t testing.TB, arn string) (all []json.RawMessage) {
	t.Helper()
	var answer struct{ Records []map[string]json.RawMessage }
	must.OK(t, json.Unmarshal(k.answer, &answer))
	// Local engines give ARNs without an account.
	physical, _, _ := strings.Cut(arn[strings.Index(arn, ":table/")+len(":table/"):], "/")
	source := must.Get(json.Marshal("arn:aws:dynamodb:eu-central-1:111111111111:table/" + physical + "/stream/s"))(t)
	for _, record := range answer.Records {
		record["eventSourceARN"] = source
		all = append(all, must.Get(json.Marshal(record))(t))
	}
	return all
}

// Deliver hands records to a publisher as AWS Lambda does: in batches of these sizes, over and over, and again from the
// first record that failed. It fails the test if a record is left after many attempts.
func (p *Publisher) Deliver(t testing.TB, records []json.RawMessage, sizes ...int) {
	t.Helper()
	for n := 0; len(records) > 0; n++ {
		batch := records[:min(len(records), sizes[n%len(sizes)])]
		answer, err := p.Handle(t.Context(), trigger.Records{Records: batch})
		if err != nil || n > 10_000 {
			t.Fatalf("%d records are left: %v", len(records), err)
		}
		done := len(batch)
		for _, failure := range answer.BatchItemFailures {
			done = min(done, slices.IndexFunc(batch, func(record json.RawMessage) bool {
				return bytes.Contains(record, []byte(`"SequenceNumber":"`+failure.ItemIdentifier+`"`))
			}))
		}
		records = records[done:]
	}
}

// Lines publishes the events of records, and returns a line for each event: its name, and these fields of its detail.
func Lines(t testing.TB, platform schema.Platform, mapper trigger.EventMapper, records []json.RawMessage,
	fields ...string) (lines []string) {
	t.Helper()
	bus := NewBus(t, platform)
	NewPublisher(platform, bus, mapper).Deliver(t, records, 100)
	for _, e := range bus.Events() {
		line, all := []any{e.DetailType}, e.Fields()
		for _, field := range fields {
			line = append(line, all[field])
		}
		lines = append(lines, fmt.Sprintln(line...))
	}
	return lines
}

// Tell publishes the events of records under the worst conditions: batches are of any size, each record comes twice,
// and the bus refuses any event once. It returns each event once, in the order of the versions of their items. It fails
// the test if a repeat differs, or if the publisher gives a change up.
func (p *Publisher) Tell(t testing.TB, bus *Bus, random *rand.Rand, records []json.RawMessage) []Event {
	t.Helper()
	refused := map[string]bool{}
	bus.Refuse = func(e Event) string {
		if refused[e.ID()] || random.IntN(10) > 0 {
			return ""
		}
		refused[e.ID()] = true
		return "ThrottlingException"
	}
	var sizes []int
	for range 1 + random.IntN(4) {
		sizes = append(sizes, 1+random.IntN(40))
	}
	for range 2 {
		p.Deliver(t, records, sizes...)
	}
	if failures := p.Failures.Failures(); len(failures) > 0 {
		t.Fatalf("gave up %v", failures)
	}
	known := map[string]Event{}
	for _, e := range bus.Events() {
		if before, repeated := known[e.ID()]; repeated && before != e {
			t.Fatalf("a repeat differs:\n%+v\n%+v", before, e)
		}
		known[e.ID()] = e
	}
	return slices.SortedFunc(maps.Values(known), func(a, b Event) int {
		return cmp.Or(strings.Compare(a.ItemVersion(), b.ItemVersion()), strings.Compare(a.DetailType, b.DetailType))
	})
}
