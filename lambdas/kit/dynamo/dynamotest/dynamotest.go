// Package dynamotest gives store tests a schema's tables on a real engine, and shows the requests to them.
package dynamotest

import (
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Tables are a database's tables under their logical names: empty, and for one test alone.
type Tables struct {
	*dynamo.DB
	// Client reaches the same tables directly.
	Client *dynamodb.Client
	// Recorder has seen every request of DB.
	Recorder *Recorder
	// Wire has carried every attempt at a request.
	Wire *Wire

	database schema.Database
	apart    *dynamodb.Client // reaches further tables, in which [Tables.Writes] measures writes
}

// Open creates the tables.
func Open(t testing.TB, database schema.Database) *Tables {
	t.Helper()
	client := enginetest.Client(t)
	for _, table := range database.Tables {
		if _, err := client.CreateTable(t.Context(), createTable(table)); err != nil {
			t.Fatalf("create table %s: %v", table.Name, err)
		}
	}
	tables := over(t, database, client.Options())
	tables.Client, tables.Recorder.covers = client, true
	return tables
}

// Stored returns all items of a table, also after the test has ended.
func (t *Tables) Stored(tb testing.TB, table string) (items []dynamo.Item) {
	tb.Helper()
	pages := dynamodb.NewScanPaginator(t.Client, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(context.WithoutCancel(tb.Context())))(tb)
		items = append(items, page.Items...)
	}
	return items
}

// Over returns tables whose requests go to an engine of the test's own. Its clock may be that of a bubble
// (testing/synctest).
func Over(t testing.TB, database schema.Database, engine dynamodb.HTTPClient) *Tables {
	t.Helper()
	return over(t, database, dynamodb.Options{
		Region: "us-east-1", HTTPClient: engine,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// Through returns a database whose requests go through a client of the test's own, to tables of their logical names.
func Through(t testing.TB, client dynamo.Client, database schema.Database) *dynamo.DB {
	t.Helper()
	names := map[string]string{}
	for _, table := range database.Tables {
		names[table.Name] = table.Name
	}
	return must.Get(dynamo.New(client, database, names))(t)
}

// over returns the tables on a wire of their own.
func over(t testing.TB, database schema.Database, options dynamodb.Options) *Tables {
	t.Helper()
	wire := &Wire{Engine: options.HTTPClient}
	recorder := &Recorder{}
	recorder.Client = dynamodb.New(options, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = wire, kit.Retryer()
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("record", recorder.record),
				middleware.After)
		})
	})
	return &Tables{DB: Through(t, recorder.Client, database), Client: recorder.Client, Recorder: recorder, Wire: wire,
		database: database}
}

// Refused returns a database whose requests reach no engine: each attempt gets the answer of its operation; nil: all
// tables are empty. Its clock may be that of a bubble (testing/synctest).
func Refused(t testing.TB, database schema.Database, answer func(operation string) Answer) (*dynamo.DB, *Wire) {
	t.Helper()
	tables := Over(t, database, Engine(func(context.Context, string, string) (string, error) { return "{}", nil }))
	tables.Wire.Answers(answer)
	return tables.DB, tables.Wire
}

func createTable(table schema.Table) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName:   aws.String(table.Name),
		KeySchema:   keySchema(schema.Index{Key: table.Key}),
		BillingMode: types.BillingModePayPerRequest,
	}
	keys := table.Key.Attributes()
	for _, index := range table.Indexes {
		projection := types.ProjectionType(index.Projection)
		if index.Projection == schema.ProjectAll {
			projection = types.ProjectionTypeAll
		}
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  aws.String(index.Name),
			KeySchema:  keySchema(index),
			Projection: &types.Projection{ProjectionType: projection, NonKeyAttributes: index.Include},
		})
		keys = append(keys, index.KeyAttributes()...)
	}
	defined := map[string]bool{}
	for _, name := range keys {
		if defined[name] {
			continue
		}
		defined[name] = true
		attribute, _ := table.Attribute(name)
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeType(attribute.Type[:1]),
		})
	}
	return input
}

func keySchema(index schema.Index) []types.KeySchemaElement {
	var elements []types.KeySchemaElement
	for _, name := range index.PartitionAttributes() {
		elements = append(elements, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeHash})
	}
	for _, name := range index.SortAttributes() {
		elements = append(elements, types.KeySchemaElement{AttributeName: aws.String(name),
			KeyType: types.KeyTypeRange})
	}
	return elements
}

// Request is one request to DynamoDB.
type Request struct {
	// Pattern is the name of its access pattern.
	Pattern string
	Action  schema.Action
	Table   string // of a request on one table
	Index   string
	Input   any // the SDK's
	// Units are the capacity units that the tables and their indexes consumed.
	Units float64
}

// Recorder is a client that records its requests, and fails those that the test chooses ([Recorder.Faults]). It
// implements [dynamo.Client].
type Recorder struct {
	*dynamodb.Client

	// PageSize bounds how many items one Query reads, to make pages of few items.
	// Zero leaves it to the request. Set it before the first request.
	PageSize int32

	mu            sync.Mutex
	covers        bool // an engine carries the requests out
	requests      []Request
	before, after func(context.Context, Request) error
}

// Faults sets the functions that run around each request from now on, or nil. An error from before simulates a request
// that never arrives. An error from after simulates a lost answer, or a process that dies.
func (r *Recorder) Faults(before, after func(schema.Action) error) {
	of := func(fault func(schema.Action) error) func(context.Context, Request) error {
		if fault == nil {
			return nil
		}
		return func(_ context.Context, request Request) error { return fault(request.Action) }
	}
	r.FaultsOf(of(before), of(after))
}

// Dying returns a function for [Recorder.Faults] with which one transaction in ten fails at random, and five at most:
// who looks for an order of what has happened has to try all places of one that may have been carried out.
func Dying(err error) func(schema.Action) error {
	var failed atomic.Int32
	return func(operation schema.Action) error {
		if operation == schema.TransactWriteItems && rand.IntN(10) == 0 && failed.Add(1) <= 5 {
			return err
		}
		return nil
	}
}

// FaultsOf is [Recorder.Faults] for functions that need the context or the table of a request. They may make requests
// themselves.
func (r *Recorder) FaultsOf(before, after func(context.Context, Request) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before, r.after = before, after
}

// Requests returns the requests since the last call.
func (r *Recorder) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests := r.requests
	r.requests = nil
	return requests
}

// record wraps each request. The inputs and outputs of the client have their fields in common, and
// no interface.
func (r *Recorder) record(ctx context.Context, in middleware.InitializeInput,
	next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	request := Request{Action: schema.Action(awsmiddleware.GetOperationName(ctx)), Input: in.Parameters}
	ctx = middleware.WithStackValue(ctx, requestKey{}, &request)
	input := reflect.ValueOf(in.Parameters).Elem()
	input.FieldByName("ReturnConsumedCapacity").SetString(string(types.ReturnConsumedCapacityTotal))
	for name, to := range map[string]*string{"TableName": &request.Table, "IndexName": &request.Index} {
		if field := input.FieldByName(name); field.IsValid() {
			*to = aws.ToString(field.Interface().(*string))
		}
	}
	switch input := in.Parameters.(type) {
	case *dynamodb.QueryInput:
		if r.PageSize > 0 && (input.Limit == nil || *input.Limit > r.PageSize) {
			input.Limit = aws.Int32(r.PageSize)
		}
	case *dynamodb.BatchGetItemInput:
		for table := range input.RequestItems {
			request.Table = table
		}
		if len(input.RequestItems) > 1 {
			request.Table = ""
		}
	}
	r.mu.Lock()
	before, after := r.before, r.after
	r.mu.Unlock()
	if before != nil {
		if err := before(ctx, request); err != nil {
			return middleware.InitializeOutput{}, middleware.Metadata{}, err
		}
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err != nil {
		return out, metadata, err
	}
	switch consumed := reflect.ValueOf(out.Result).Elem().FieldByName("ConsumedCapacity").Interface().(type) {
	case *types.ConsumedCapacity:
		if consumed != nil {
			request.Units = aws.ToFloat64(consumed.CapacityUnits)
		}
	case []types.ConsumedCapacity:
		for _, of := range consumed {
			request.Units += aws.ToFloat64(of.CapacityUnits)
		}
	}
	r.mu.Lock()
	r.requests = append(r.requests, request)
	r.mu.Unlock()
	if r.covers {
		cover(request)
	}
	if after != nil {
		err = after(ctx, request)
	}
	return out, metadata, err
}
