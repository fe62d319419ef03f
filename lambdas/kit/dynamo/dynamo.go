// Package dynamo reaches a platform's tables by the access patterns that its schema declares, and in no other way.
// Table and index names, key conditions, projections and consistency come from the pattern: a handler requests exactly
// what its role may do and what the documentation says.
//
// Every expression has placeholders, so reserved words such as status and names such as _leaderboard need no care.
//
// A client of kit's configuration repeats requests that may succeed another time. Once it gives up,
// every method returns ErrBusy or ErrUnanswered of package retry.
package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Client is the part of the DynamoDB client that access patterns use.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput,
		...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput,
		error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput,
		error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput,
		...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Item is an item, or the key of one, as DynamoDB has it.
type Item = map[string]types.AttributeValue

// ConditionError says that a write's condition failed.
type ConditionError struct {
	// Item is the current item, or nil if there is none.
	Item Item
}

// Error implements error.
func (e *ConditionError) Error() string { return "the condition of the write failed" }

// TransactionError says that a transaction changed nothing because conditions of some of its writes
// failed.
type TransactionError struct {
	failed map[int]Item
}

// Error says how many conditions failed.
func (e *TransactionError) Error() string {
	return fmt.Sprintf("the conditions of %d of the transaction's writes failed", len(e.failed))
}

// Failed reports whether the condition of the i-th write of the call failed, and returns that write's current item, or
// nil if there is none.
func (e *TransactionError) Failed(i int) (Item, bool) {
	item, ok := e.failed[i]
	return item, ok
}

// Satisfied reports, from the error of a write, whether its condition was true, or all conditions of a transaction. It
// returns any other error unchanged.
func Satisfied(err error) (bool, error) {
	_, condition := errors.AsType[*ConditionError](err)
	if _, transaction := errors.AsType[*TransactionError](err); condition || transaction {
		return false, nil
	}
	return err == nil, err
}

// Unless returns refused if the condition of a write, or of one of a transaction's writes, was false. It returns any
// other error unchanged.
func Unless(err, refused error) error {
	if satisfied, err := Satisfied(err); satisfied || err != nil {
		return err
	}
	return refused
}

// Refusal is the error to return if the condition of one of a transaction's writes was false.
type Refusal struct {
	write int
	means error
}

// OnFailed returns err as the Refusal of the write with that index, from 0.
func OnFailed(write int, err error) Refusal { return Refusal{write, err} }

// UnlessStale returns [retry.ErrStale] if the condition of a write, or of one of a transaction's writes, was false. For
// a transaction, it returns the error of the first refusal whose write's condition was false, if there is one. It
// returns any other error unchanged.
func UnlessStale(err error, refusals ...Refusal) error {
	if refused, ok := errors.AsType[*TransactionError](err); ok {
		for _, refusal := range refusals {
			if _, failed := refused.Failed(refusal.write); failed {
				return refusal.means
			}
		}
	}
	return Unless(err, retry.ErrStale)
}

// DB is a platform's tables. It is safe for concurrent use.
type DB struct {
	client   Client
	database schema.Database
	extra    []schema.Extra
	accesses map[string]*access
	names    map[string]string
	platform schema.Platform
	function string   // empty: every pattern may be used
	patterns []string // those of function
}

// New returns the tables of a database. names gives each table's physical name
// by its logical one.
func New(client Client, database schema.Database, names map[string]string) (*DB, error) {
	for _, t := range database.Tables {
		if names[t.Name] == "" {
			return nil, fmt.Errorf("table %s has no name: set the environment variable %s to the physical name of "+
				"the table", t.Name, t.EnvironmentVariable())
		}
	}
	_, prepares := client.(*dynamodb.Client)
	accesses := make(map[string]*access, len(database.AccessPatterns))
	for _, p := range database.AccessPatterns {
		table, _ := database.Table(p.Table)
		prepared, err := accessOf(p, table)
		if err != nil {
			return nil, err
		}
		prepared.prepares = prepares
		accesses[p.Name] = prepared
	}
	return &DB{client: client, database: database, accesses: accesses, names: names}, nil
}

// Open returns the tables of a platform as one of its functions may use them ([DB.As]). Their
// physical names are in the environment variables that the construct sets
// ([schema.Table.EnvironmentVariable]), and so is what a team has added to the platform's records ([schema.Extra]). A
// function that joins a platform opens what [schema.Platform.Join] returns for it.
func Open(environment kit.Environment, platform schema.Platform, function string) (*DB, error) {
	opened := platform
	if len(platform.Records) > 0 {
		extra, err := schema.ReadExtra(environment.Getenv(schema.ExtraVariable))
		if err != nil {
			return nil, err
		}
		platform = platform.Extended(extra...)
	}
	names := map[string]string{}
	for _, t := range platform.Database.Tables {
		names[t.Name] = environment.Getenv(t.EnvironmentVariable())
	}
	db, err := New(dynamodb.NewFromConfig(environment.AWS), platform.Database, names)
	if err != nil {
		return nil, err
	}
	db.platform = opened
	return db.As(platform, function)
}

// Platform returns the platform that [Open] got, or describes it for a database of [New], or none. Description takes a
// millisecond or more, so a function that starts describes its platform once.
func (db *DB) Platform(describe func() schema.Platform) schema.Platform {
	if db == nil || db.platform.Name == "" {
		return describe()
	}
	return db.platform
}

// As returns the tables as a function of their platform may use them. A request by an access pattern that the schema
// does not give the function fails unsent; its error says what to add to the schema. The function's role would refuse
// the request, or happen to allow it for another pattern.
func (db *DB) As(platform schema.Platform, function string) (*DB, error) {
	if _, ok := platform.Function(function); !ok {
		var names []string
		for _, f := range platform.Functions {
			names = append(names, f.Name)
		}
		return nil, fmt.Errorf("the platform %s has no function %q: name the one that opens the tables (%s), or add "+
			"it to Functions", platform.Name, function, strings.Join(names, ", "))
	}
	restricted := *db
	restricted.extra = platform.Extra
	restricted.function, restricted.patterns = function, platform.PatternsOf(function)
	return &restricted, nil
}

// TimeToLive returns the name of the attribute with the end of an item of this table.
func (db *DB) TimeToLive(table string) (string, error) {
	t, _ := db.database.Table(table)
	if t.TimeToLive == "" {
		return "", fmt.Errorf("the database needs a table %s with a time to live", table)
	}
	return t.TimeToLive, nil
}

// Get reads the item with this key, partition key first, into out. It reports whether the item exists.
func (db *DB) Get(ctx context.Context, pattern string, out any, key ...any) (bool, error) {
	p, err := db.pattern(pattern, schema.GetItem)
	if err != nil {
		return false, err
	}
	input := &dynamodb.GetItemInput{
		TableName: aws.String(db.names[p.Table]), ConsistentRead: aws.Bool(p.Consistent),
		ProjectionExpression: p.projection, ExpressionAttributeNames: p.names,
	}
	if input.Key, err = keyOf(p.table, key); err != nil {
		return false, fmt.Errorf("%s: %w", pattern, err)
	}
	output, err := call(ctx, p, db.client.GetItem, input)
	if err != nil {
		return false, fmt.Errorf("%s: %w", pattern, kit.Failure(err))
	}
	if output.Item == nil {
		return false, nil
	}
	addExtra(p.table, output.Item)
	if err := attributevalue.UnmarshalMap(output.Item, out); err != nil {
		return false, fmt.Errorf("%s: read item: %w", pattern, err)
	}
	return true, nil
}

// Query has the parameters that a pattern's query leaves open.
type Query struct {
	// Values are the values of the pattern's key conditions, in order; Between takes two.
	Values []any
	// Filter drops items after they are read. The zero value drops none.
	Filter expression.ConditionBuilder
	// StartAfter is the key, of the table and of the index, after which to begin.
	StartAfter Item
	// PageSize is how many items one request reads, fewer if they fill 1 MB. Zero: 250, whatever their size.
	PageSize int
}

// defaultPage is small enough to be answered within one attempt, also by a busy DynamoDB Local, which answers nobody
// else meanwhile.
const defaultPage = 250

// Items reads the items of a query, page by page to the end, as the caller iterates. It ends after
// an error.
func (db *DB) Items(ctx context.Context, pattern string, query Query) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		input, err := db.queryInput(pattern, query)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			output, err := db.query(ctx, pattern, input)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range output.Items {
				if !yield(item, nil) {
					return
				}
			}
			if len(output.LastEvaluatedKey) == 0 {
				return
			}
			input.ExclusiveStartKey = output.LastEvaluatedKey
		}
	}
}

// Read reads the items of a query as [DB.Items] does, each into a value. It yields an error for an item that does not
// fit, and goes on.
func Read[T any](ctx context.Context, db *DB, pattern string, query Query) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range db.Items(ctx, pattern, query) {
			var value T
			if err == nil {
				if err = attributevalue.UnmarshalMap(item, &value); err != nil {
					err = fmt.Errorf("%s: read item: %w", pattern, err)
				}
			}
			if !yield(value, err) {
				return
			}
		}
	}
}

// Page is a part of a query's items.
type Page struct {
	Items []Item
	// Evaluated is how many items the request read, including those that the filter dropped.
	Evaluated int
	// Next is the key after which to go on, for [Query.StartAfter]. Nil: the query ends here. The filter may have
	// dropped its item.
	Next Item
}

// Page reads up to query.PageSize items of a query, for a caller who bounds what one request costs.
func (db *DB) Page(ctx context.Context, pattern string, query Query) (Page, error) {
	input, err := db.queryInput(pattern, query)
	if err != nil {
		return Page{}, err
	}
	output, err := db.query(ctx, pattern, input)
	if err != nil {
		return Page{}, err
	}
	page := Page{Items: output.Items, Evaluated: int(output.ScannedCount)}
	if len(output.LastEvaluatedKey) > 0 {
		page.Next = output.LastEvaluatedKey
	}
	return page, nil
}

// Count counts the items of a counting pattern, up to limit.
func (db *DB) Count(ctx context.Context, pattern string, limit int, values ...any) (int, error) {
	input, err := db.queryInput(pattern, Query{Values: values})
	if err != nil {
		return 0, err
	}
	count := 0
	for count < limit {
		input.Limit = aws.Int32(int32(limit - count))
		output, err := db.query(ctx, pattern, input)
		if err != nil {
			return 0, err
		}
		count += int(output.Count)
		if len(output.LastEvaluatedKey) == 0 {
			break
		}
		input.ExclusiveStartKey = output.LastEvaluatedKey
	}
	return count, nil
}

func (db *DB) query(ctx context.Context, pattern string, input *dynamodb.QueryInput) (output *dynamodb.QueryOutput,
	err error) {
	if output, err = call(ctx, db.accesses[pattern], db.client.Query, input); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, kit.Failure(err))
	}
	for _, item := range output.Items {
		addExtra(db.accesses[pattern].table, item)
	}
	return output, nil
}

func (db *DB) queryInput(pattern string, query Query) (*dynamodb.QueryInput, error) {
	p, err := db.pattern(pattern, schema.Query)
	if err != nil {
		return nil, err
	}
	values, err := p.values(query.Values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	filter, names, err := p.filtered(query.Filter, values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	input := &dynamodb.QueryInput{
		TableName:                 aws.String(db.names[p.Table]),
		KeyConditionExpression:    p.condition,
		FilterExpression:          filter,
		ProjectionExpression:      p.projection,
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
		ScanIndexForward:          aws.Bool(!p.Descending),
		ExclusiveStartKey:         query.StartAfter,
	}
	if p.Index != "" {
		input.IndexName = aws.String(p.Index)
	}
	if p.Consistent {
		input.ConsistentRead = aws.Bool(true)
	}
	if p.Count {
		input.Select = types.SelectCount
	}
	input.Limit = aws.Int32(int32(cmp.Or(query.PageSize, defaultPage)))
	return input, nil
}

func (db *DB) pattern(name string, operation schema.Action) (*access, error) {
	p, ok := db.accesses[name]
	if !ok {
		return nil, fmt.Errorf("access pattern %q is not declared in the schema", name)
	}
	if db.function != "" && !slices.Contains(db.patterns, name) {
		return nil, fmt.Errorf("the function %s may not use the access pattern %q: let the pattern say "+
			"UsedBy(%[1]q) in the schema, so that the function's role is granted what the pattern needs",
			db.function, name)
	}
	if p.Action != operation {
		return nil, fmt.Errorf("access pattern %q is a %s, not a %s", name, p.Action, operation)
	}
	return p, nil
}

func keyOf(table schema.Table, values []any) (Item, error) {
	attributes := table.Key.Attributes()
	if len(values) != len(attributes) {
		return nil, fmt.Errorf("the key of %s is %v: got %d values", table.Name, attributes, len(values))
	}
	key := Item{}
	for i, name := range attributes {
		if values[i] == nil {
			return nil, fmt.Errorf("the key of %s is %v: got no %s", table.Name, attributes, name)
		}
		value, err := attributeOf(values[i])
		if err != nil {
			return nil, err
		}
		key[name] = value
	}
	return key, keyFits(schema.Table{Key: table.Key}, key)
}
