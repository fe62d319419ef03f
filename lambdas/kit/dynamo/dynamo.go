// Package dynamo reaches a platform's tables by the access patterns that its schema declares, and
// in no other way: table and index names, key conditions, projections and consistency come from the
// pattern, so that a handler requests exactly what its role was granted and what the documentation
// says.
//
// Every expression is built with placeholders, so reserved words such as status
// and names such as _leaderboard need no care.
//
// A client of kit's configuration repeats requests that may succeed another time. Once it gives up,
// every method returns ErrBusy or ErrUnanswered of package retry.
package dynamo

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
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
	// Item is the item as it is; nil if there is none.
	Item Item
}

// Error says so.
func (e *ConditionError) Error() string { return "the condition of the write failed" }

// TransactionError says that a transaction changed nothing because conditions of some of its writes
// failed.
type TransactionError struct {
	failed map[int]Item
}

// Error says which writes.
func (e *TransactionError) Error() string {
	return fmt.Sprintf("the conditions of %d of the transaction's writes failed", len(e.failed))
}

// Failed reports whether the condition of the i-th write of the call failed, and returns that
// write's current item; nil if there is none.
func (e *TransactionError) Failed(i int) (Item, bool) {
	item, ok := e.failed[i]
	return item, ok
}

// Satisfied turns the error of a write into whether its condition, or all conditions of a transaction,
// were true. It returns any other error unchanged.
func Satisfied(err error) (bool, error) {
	_, condition := errors.AsType[*ConditionError](err)
	if _, transaction := errors.AsType[*TransactionError](err); condition || transaction {
		return false, nil
	}
	return err == nil, err
}

// Refusal is what it means that the condition of a write of a transaction was false.
type Refusal struct {
	write int
	means error
}

// OnFailed says what it means that the condition of the write with an index, from 0, was false.
func OnFailed(write int, err error) Refusal { return Refusal{write, err} }

// UnlessStale returns [retry.ErrStale] for a write whose condition, or one of a transaction, was
// false; for a transaction, the first of the refusals that is true comes before it. It returns any
// other error unchanged.
func UnlessStale(err error, refusals ...Refusal) error {
	if held, err := Satisfied(err); held || err != nil {
		return err
	}
	if refused, ok := errors.AsType[*TransactionError](err); ok {
		for _, refusal := range refusals {
			if _, failed := refused.Failed(refusal.write); failed {
				return refusal.means
			}
		}
	}
	return retry.ErrStale
}

// DB is a platform's tables. It is safe for concurrent use.
type DB struct {
	client   Client
	database schema.Database
	accesses map[string]*access
	names    map[string]string
	function *schema.Function // nil: every pattern may be used
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
	accesses := make(map[string]*access, len(database.AccessPatterns))
	for _, p := range database.AccessPatterns {
		table, _ := database.Table(p.Table)
		prepared, err := accessOf(p, table)
		if err != nil {
			return nil, err
		}
		accesses[p.Name] = prepared
	}
	return &DB{client: client, database: database, accesses: accesses, names: names}, nil
}

// Open returns the tables of a platform as one of its functions may use them ([DB.As]). Their
// physical names are in the environment variables that the construct sets
// ([schema.Table.EnvironmentVariable]). A function that joins a platform by GrantAccessPatterns
// opens a platform to whose Functions it has added itself.
func Open(environment kit.Environment, platform schema.Platform, function string) (*DB, error) {
	names := map[string]string{}
	for _, t := range platform.Database.Tables {
		names[t.Name] = environment.Getenv(t.EnvironmentVariable())
	}
	db, err := New(dynamodb.NewFromConfig(environment.AWS), platform.Database, names)
	if err != nil {
		return nil, err
	}
	return db.As(platform, function)
}

// As returns the tables as a function of their platform may use them. A request by an access
// pattern that the schema does not give the function fails without being sent; its error says what
// to add to the schema. The function's role would refuse the request, or allow it by chance because
// of another pattern.
func (db *DB) As(platform schema.Platform, function string) (*DB, error) {
	f, ok := platform.Function(function)
	if !ok {
		var names []string
		for _, f := range platform.Functions {
			names = append(names, f.Name)
		}
		return nil, fmt.Errorf("the platform %s has no function %q: name the one that opens the tables (%s), or add "+
			"it to Functions", platform.Name, function, strings.Join(names, ", "))
	}
	restricted := *db
	restricted.function = &f
	return &restricted, nil
}

// TimeToLive returns the attribute with the end of an item of this table.
func (db *DB) TimeToLive(table string) (string, error) {
	t, _ := db.database.Table(table)
	if t.TimeToLive == "" {
		return "", fmt.Errorf("the database needs a table %s with a time to live", table)
	}
	return t.TimeToLive, nil
}

// Get reads the item with the key of these values, partition key first, into
// out. It reports whether there is one.
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
	output, err := db.client.GetItem(ctx, input, p.named)
	if err != nil {
		return false, fmt.Errorf("%s: %w", pattern, kit.Failure(err))
	}
	if output.Item == nil {
		return false, nil
	}
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
	// PageSize is how many items one request reads; zero: as many as fit in 1 MB.
	PageSize int
}

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

// Read reads the items of a query as [DB.Items] does, each into a value. It goes on after an item
// that does not fit into one, which is an error.
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
	// Evaluated is how many items were read, including those that the filter dropped.
	Evaluated int
	// Next is the key after which to go on, for [Query.StartAfter]; nil: the query
	// ends here. The filter may have dropped its item.
	Next Item
}

// Page reads up to query.PageSize items of a query, or fewer when they fill 1 MB,
// for a caller who bounds what one request costs.
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

// Count counts the items of a counting pattern, no further than limit.
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
	if output, err = db.client.Query(ctx, input, db.accesses[pattern].named); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, kit.Failure(err))
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
	if query.PageSize > 0 {
		input.Limit = aws.Int32(int32(query.PageSize))
	}
	return input, nil
}

// Put stores one item, replacing the item with its key, if the condition (the zero value: always)
// is true. It costs half as much as a transaction of one write. It returns a [*ConditionError] when
// the condition is false.
//
// An attempt whose answer was lost is repeated. A condition that the write itself makes false, such
// as [Absent], then refuses the repeat, and ConditionError.Item is what this call has written. Use
// [DB.Transact], which recognises its own writes, if you cannot tell such an item from another
// caller's.
func (db *DB) Put(ctx context.Context, pattern string, item any, condition expression.ConditionBuilder) error {
	if err := Await(ctx); err != nil {
		return err
	}
	w, err := db.alone(pattern, Write{operation: schema.PutItem, item: item, condition: condition})
	if err != nil {
		return err
	}
	_, err = db.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: w.table, Item: w.item, ConditionExpression: w.Condition(),
		ExpressionAttributeNames: w.Names(), ExpressionAttributeValues: w.Values(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}, db.accesses[pattern].named)
	return failure(pattern, err)
}

// Delete removes the item with this key, as [DB.Put] stores one. It is no error if there is none,
// unless the condition requires one.
func (db *DB) Delete(ctx context.Context, pattern string, key []any, condition expression.ConditionBuilder) error {
	if err := Await(ctx); err != nil {
		return err
	}
	w, err := db.alone(pattern, Write{operation: schema.DeleteItem, key: key, condition: condition})
	if err != nil {
		return err
	}
	_, err = db.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: w.table, Key: w.key, ConditionExpression: w.Condition(),
		ExpressionAttributeNames: w.Names(), ExpressionAttributeValues: w.Values(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}, db.accesses[pattern].named)
	return failure(pattern, err)
}

// Update changes one item, as [DB.Put] stores one. It reads the new values of the attributes that
// it changed into out, unless out is nil.
func (db *DB) Update(ctx context.Context, pattern string, key []any, update expression.UpdateBuilder,
	condition expression.ConditionBuilder, out any) error {
	if err := Await(ctx); err != nil {
		return err
	}
	w, err := db.alone(pattern, Write{operation: schema.UpdateItem, key: key, update: update, condition: condition})
	if err != nil {
		return err
	}
	input := &dynamodb.UpdateItemInput{
		TableName: w.table, Key: w.key, UpdateExpression: w.Update(), ConditionExpression: w.Condition(),
		ExpressionAttributeNames: w.Names(), ExpressionAttributeValues: w.Values(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	if out != nil {
		input.ReturnValues = types.ReturnValueUpdatedNew
	}
	output, err := db.client.UpdateItem(ctx, input, db.accesses[pattern].named)
	if err != nil || out == nil {
		return failure(pattern, err)
	}
	if err := attributevalue.UnmarshalMap(output.Attributes, out); err != nil {
		return fmt.Errorf("%s: read attributes: %w", pattern, err)
	}
	return nil
}

type waitKey struct{}

// BeforeWrites returns a context under which every write waits until wait returns, and is not sent if wait
// returns an error: the write then returns that error as it is. It waits for what the context has it wait
// for already, first. Reads do not wait.
func BeforeWrites(ctx context.Context, wait func(context.Context) error) context.Context {
	first, _ := ctx.Value(waitKey{}).(func(context.Context) error)
	return context.WithValue(ctx, waitKey{}, func(ctx context.Context) error {
		if first != nil {
			if err := first(ctx); err != nil {
				return err
			}
		}
		return wait(ctx)
	})
}

// WithoutWaiting returns a context whose writes do not wait for what [BeforeWrites] says. It is for a write
// that means nothing without a later one, such as a claim.
func WithoutWaiting(ctx context.Context) context.Context {
	return context.WithValue(ctx, waitKey{}, (func(context.Context) error)(nil))
}

// Await waits as [BeforeWrites] says, as writes do, and returns its error as it is. Call it before other work that a
// refused request must not cause, such as asking a model.
func Await(ctx context.Context) error {
	if wait, _ := ctx.Value(waitKey{}).(func(context.Context) error); wait != nil {
		return wait(ctx)
	}
	return nil
}

// failure is the error of a write on its own.
func failure(pattern string, err error) error {
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return &ConditionError{Item: failed.Item}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, kit.Failure(err))
	}
	return nil
}

// Write is one part of a transaction.
type Write struct {
	table     string
	operation schema.Operation
	item      any
	key       []any
	update    expression.UpdateBuilder
	condition expression.ConditionBuilder
}

// Put stores an item in a table, replacing the item with its key, if the condition (the zero value:
// always) is true.
func Put(table string, item any, condition expression.ConditionBuilder) Write {
	return Write{table: table, operation: schema.PutItem, item: item, condition: condition}
}

// Update changes the item with this key, or creates it, if the condition is true.
func Update(table string, key []any, update expression.UpdateBuilder, condition expression.ConditionBuilder) Write {
	return Write{table: table, operation: schema.UpdateItem, key: key, update: update, condition: condition}
}

// Delete removes the item with this key, if the condition is true.
func Delete(table string, key []any, condition expression.ConditionBuilder) Write {
	return Write{table: table, operation: schema.DeleteItem, key: key, condition: condition}
}

// Check lets a transaction succeed only if the condition is true of the item with this key, which
// it does not change.
func Check(table string, key []any, condition expression.ConditionBuilder) Write {
	return Write{table: table, operation: schema.ConditionCheckItem, key: key, condition: condition}
}

// Transact does all of the writes or none. They are the pattern's, in its order; optional ones may
// be left out. Conflicts with other transactions are retried by the client. It returns a
// [*TransactionError] when conditions fail.
func (db *DB) Transact(ctx context.Context, pattern string, writes ...Write) error {
	p, err := db.pattern(pattern, schema.TransactWriteItems)
	if err != nil {
		return err
	}
	if err := declared(p.AccessPattern, writes); err != nil {
		return fmt.Errorf("%s: %w", pattern, err)
	}
	items := make([]types.TransactWriteItem, len(writes))
	for i, w := range writes {
		if items[i], err = db.transactItem(w); err != nil {
			return fmt.Errorf("%s: write %d, %s %s: %w", pattern, i, w.operation, w.table, err)
		}
	}
	if err := Await(ctx); err != nil {
		return err
	}
	// One token for all attempts: if the answer to one was lost, the next does not conflict with
	// its writes, but reports their success ("Idempotency", TransactWriteItems).
	token := cryptorand.Text()
	_, err = db.client.TransactWriteItems(ctx,
		&dynamodb.TransactWriteItemsInput{TransactItems: items, ClientRequestToken: &token}, p.named)
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		failed := map[int]Item{}
		for i, reason := range canceled.CancellationReasons {
			if aws.ToString(reason.Code) == "ConditionalCheckFailed" {
				failed[i] = reason.Item
			}
		}
		if len(failed) > 0 {
			return &TransactionError{failed: failed}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, kit.Failure(err))
	}
	return nil
}

func declared(p schema.AccessPattern, writes []Write) error {
	i := 0
	for _, d := range p.Writes {
		is := func() bool {
			return i < len(writes) && writes[i].table == d.Table && writes[i].operation == d.Operation
		}
		if is() {
			i++
			for d.Repeated && is() {
				i++
			}
		} else if !d.Optional {
			return fmt.Errorf("the pattern declares %s %s, which the call leaves out", d.Operation, d.Table)
		}
	}
	if i < len(writes) {
		return fmt.Errorf("%s %s is not declared by the pattern, or not at this place", writes[i].operation,
			writes[i].table)
	}
	return nil
}

func (db *DB) transactItem(w Write) (converted types.TransactWriteItem, err error) {
	part, err := db.prepare(w)
	if err != nil {
		return converted, err
	}
	switch w.operation {
	case schema.PutItem:
		converted.Put = &types.Put{
			TableName: part.table, Item: part.item, ConditionExpression: part.Condition(),
			ExpressionAttributeNames: part.Names(), ExpressionAttributeValues: part.Values(),
			ReturnValuesOnConditionCheckFailure: allOld,
		}
	case schema.UpdateItem:
		converted.Update = &types.Update{
			TableName: part.table, Key: part.key, UpdateExpression: part.Update(),
			ConditionExpression:      part.Condition(),
			ExpressionAttributeNames: part.Names(), ExpressionAttributeValues: part.Values(),
			ReturnValuesOnConditionCheckFailure: allOld,
		}
	case schema.DeleteItem:
		converted.Delete = &types.Delete{
			TableName: part.table, Key: part.key, ConditionExpression: part.Condition(),
			ExpressionAttributeNames: part.Names(), ExpressionAttributeValues: part.Values(),
			ReturnValuesOnConditionCheckFailure: allOld,
		}
	case schema.ConditionCheckItem:
		converted.ConditionCheck = &types.ConditionCheck{
			TableName: part.table, Key: part.key, ConditionExpression: part.Condition(),
			ExpressionAttributeNames: part.Names(), ExpressionAttributeValues: part.Values(),
			ReturnValuesOnConditionCheckFailure: allOld,
		}
	}
	return converted, nil
}

// allOld makes the error of a failed condition carry the item.
const allOld = types.ReturnValuesOnConditionCheckFailureAllOld

// prepared is a write as DynamoDB takes it, on its own or in a transaction.
type prepared struct {
	table     *string
	item, key Item
	expression.Expression
}

// alone prepares the single write of a pattern.
func (db *DB) alone(pattern string, w Write) (prepared, error) {
	p, err := db.pattern(pattern, w.operation)
	if err != nil {
		return prepared{}, err
	}
	w.table = p.Table
	part, err := db.prepare(w)
	if err != nil {
		return part, fmt.Errorf("%s: %w", pattern, err)
	}
	return part, nil
}

func (db *DB) prepare(w Write) (part prepared, err error) {
	table, _ := db.database.Table(w.table)
	part.table = aws.String(db.names[w.table])
	if w.operation == schema.PutItem {
		if part.item, err = Marshal(w.item); err == nil {
			err = allDeclared(table, maps.Keys(part.item))
		}
	} else {
		part.key, err = keyOf(table, w.key)
	}
	if err != nil {
		return part, err
	}
	// An empty builder is an error.
	builder, built := expression.NewBuilder(), false
	if w.operation == schema.UpdateItem {
		builder, built = builder.WithUpdate(w.update), true
	}
	if w.condition.IsSet() {
		builder, built = builder.WithCondition(w.condition), true
	}
	if built {
		part.Expression, err = builder.Build()
	}
	if err == nil && w.operation == schema.UpdateItem {
		err = allDeclared(table, updated(part.Expression))
	}
	return part, err
}

// allDeclared returns an error for an attribute that the table does not declare. Nothing else would find a name that is
// misspelt: DynamoDB stores it.
func allDeclared(table schema.Table, names iter.Seq[string]) error {
	if table.Open {
		return nil
	}
	for name := range names {
		if !slices.ContainsFunc(table.Attributes, func(a schema.Attribute) bool { return a.Name == name }) {
			return fmt.Errorf("the table %s has no attribute %q: spell it as in the schema, add it to Attributes "+
				"there, or set Open", table.Name, name)
		}
	}
	return nil
}

// updated are the attributes of an item that an update changes. What follows a point is within one.
func updated(e expression.Expression) iter.Seq[string] {
	return func(yield func(string) bool) {
		text, names := aws.ToString(e.Update()), e.Names()
		for i := range len(text) {
			if text[i] != '#' || i > 0 && text[i-1] == '.' {
				continue
			}
			end := i + 1
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			if !yield(names[text[i:end]]) {
				return
			}
		}
	}
}

func (db *DB) pattern(name string, operation schema.Operation) (*access, error) {
	p, ok := db.accesses[name]
	if !ok {
		return nil, fmt.Errorf("access pattern %q is not declared in the schema", name)
	}
	if f := db.function; f != nil && !slices.Contains(f.AccessPatterns, name) {
		return nil, fmt.Errorf("the function %s may not use the access pattern %[2]q: add %[2]q to AccessPatterns of "+
			"the function %[1]q in the schema, so that its role is granted what the pattern needs", f.Name, name)
	}
	if p.Operation != operation {
		return nil, fmt.Errorf("access pattern %q is a %s, not a %s", name, p.Operation, operation)
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
	return key, nil
}
