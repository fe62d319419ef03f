// Package dynamotest gives store tests a schema's tables on a real engine, and
// shows what requests were made of them.
package dynamotest

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Tables are a database's tables, empty and the test's own, under their logical
// names.
type Tables struct {
	*dynamo.DB
	// Client reaches the same tables directly.
	Client *dynamodb.Client
	// Recorder has seen every request of DB.
	Recorder *Recorder
	// Wire has carried every attempt at one.
	Wire *Wire
}

// Open creates the tables.
func Open(t testing.TB, database schema.Database) *Tables {
	t.Helper()
	client := enginetest.Client(t)
	names := map[string]string{}
	for _, table := range database.Tables {
		names[table.Name] = table.Name
		if _, err := client.CreateTable(t.Context(), createTable(table)); err != nil {
			t.Fatalf("create table %s: %v", table.Name, err)
		}
	}
	options := client.Options()
	wire := &Wire{Engine: options.HTTPClient}
	recorder := &Recorder{client: dynamodb.New(options, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = wire, kit.Retryer() })}
	db, err := dynamo.New(recorder, database, names)
	if err != nil {
		t.Fatal(err)
	}
	return &Tables{DB: db, Client: client, Recorder: recorder, Wire: wire}
}

// Refused returns a database whose requests reach no engine: each attempt is answered
// so, by operation. Its clock may be that of a bubble (testing/synctest).
func Refused(t testing.TB, database schema.Database, answer func(operation string) Answer) (*dynamo.DB, *Wire) {
	t.Helper()
	names := map[string]string{}
	for _, table := range database.Tables {
		names[table.Name] = table.Name
	}
	wire := &Wire{Engine: empty{}}
	wire.Answers(answer)
	db, err := dynamo.New(dynamodb.New(dynamodb.Options{
		Region: "us-east-1", HTTPClient: wire, Retryer: kit.Retryer(), Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}), database, names)
	if err != nil {
		t.Fatal(err)
	}
	return db, wire
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
		elements = append(elements, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeRange})
	}
	return elements
}

// Request is one request that was made.
type Request struct {
	Operation schema.Operation
	Table     string // of a request on one table
	Index     string
	// Units are the consumed capacity units, of the tables and their indexes.
	Units float64
}

// Recorder is a client that remembers the requests it makes. It implements
// [dynamo.Client].
type Recorder struct {
	client *dynamodb.Client

	// PageSize bounds how many items one Query reads, to make pages of few items.
	// Zero leaves it to the request. Set it before the first request.
	PageSize int32

	mu       sync.Mutex
	requests []Request
}

// Requests returns the requests since the last call.
func (r *Recorder) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests := r.requests
	r.requests = nil
	return requests
}

func (r *Recorder) record(operation schema.Operation, table, index *string, capacities ...types.ConsumedCapacity) {
	request := Request{Operation: operation, Table: aws.ToString(table), Index: aws.ToString(index)}
	for _, c := range capacities {
		request.Units += aws.ToFloat64(c.CapacityUnits)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
}

func consumed(capacity *types.ConsumedCapacity) []types.ConsumedCapacity {
	if capacity == nil {
		return nil
	}
	return []types.ConsumedCapacity{*capacity}
}

// GetItem implements [dynamo.Client].
func (r *Recorder) GetItem(ctx context.Context, input *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := r.client.GetItem(ctx, input, options...)
	if err == nil {
		r.record(schema.GetItem, input.TableName, nil, consumed(output.ConsumedCapacity)...)
	}
	return output, err
}

// Query implements [dynamo.Client].
func (r *Recorder) Query(ctx context.Context, input *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	if r.PageSize > 0 && (input.Limit == nil || *input.Limit > r.PageSize) {
		input.Limit = aws.Int32(r.PageSize)
	}
	output, err := r.client.Query(ctx, input, options...)
	if err == nil {
		r.record(schema.Query, input.TableName, input.IndexName, consumed(output.ConsumedCapacity)...)
	}
	return output, err
}

// BatchGetItem implements [dynamo.Client].
func (r *Recorder) BatchGetItem(ctx context.Context, input *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := r.client.BatchGetItem(ctx, input, options...)
	if err == nil {
		for table := range input.RequestItems {
			r.record(schema.BatchGetItem, &table, nil, output.ConsumedCapacity...)
		}
	}
	return output, err
}

// PutItem implements [dynamo.Client].
func (r *Recorder) PutItem(ctx context.Context, input *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := r.client.PutItem(ctx, input, options...)
	if err == nil {
		r.record(schema.PutItem, input.TableName, nil, consumed(output.ConsumedCapacity)...)
	}
	return output, err
}

// DeleteItem implements [dynamo.Client].
func (r *Recorder) DeleteItem(ctx context.Context, input *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := r.client.DeleteItem(ctx, input, options...)
	if err == nil {
		r.record(schema.DeleteItem, input.TableName, nil, consumed(output.ConsumedCapacity)...)
	}
	return output, err
}

// UpdateItem implements [dynamo.Client].
func (r *Recorder) UpdateItem(ctx context.Context, input *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := r.client.UpdateItem(ctx, input, options...)
	if err == nil {
		r.record(schema.UpdateItem, input.TableName, nil, consumed(output.ConsumedCapacity)...)
	}
	return output, err
}

// TransactWriteItems implements [dynamo.Client].
func (r *Recorder) TransactWriteItems(ctx context.Context, input *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := r.client.TransactWriteItems(ctx, input, options...)
	if err == nil {
		r.record(schema.TransactWriteItems, nil, nil, output.ConsumedCapacity...)
	}
	return output, err
}
