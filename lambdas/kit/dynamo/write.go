package dynamo

// Writes, each alone or as a part of a transaction.

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Put stores one item, replacing the item with its key, if the condition is true; the zero condition is always true. It
// costs half as much as a transaction of one write. It returns a [*ConditionError] if the condition is false. The new
// item keeps what a team has added to the old one ([schema.Extra]). A key attribute, of the table or an index, that is
// empty or too long for DynamoDB is a [*validate.Error] with its name.
//
// The client repeats an attempt whose answer was lost. A condition that the write itself makes false, such as [Absent],
// then refuses the repeat, and ConditionError.Item is what this call has written. If you cannot tell such an item from
// another caller's, use [DB.Transact], which recognises its own writes.
func (db *DB) Put(ctx context.Context, pattern string, item any, condition expression.ConditionBuilder) error {
	return db.write(ctx, pattern, Put("", item, condition), nil)
}

// Delete removes the item with this key if the condition is true, with the costs and errors of [DB.Put]. It succeeds
// without an item, unless the condition requires one.
func (db *DB) Delete(ctx context.Context, pattern string, key []any, condition expression.ConditionBuilder) error {
	return db.write(ctx, pattern, Delete("", key, condition), nil)
}

// Update changes one item if the condition is true, with the costs and errors of [DB.Put]. It reads the new values of
// the attributes that it changed into out, unless out is nil. An update of attributes that a team has added to a record
// creates no item: its condition is false without one.
func (db *DB) Update(ctx context.Context, pattern string, key []any, update expression.UpdateBuilder,
	condition expression.ConditionBuilder, out any) error {
	return db.write(ctx, pattern, Update("", key, update, condition), out)
}

// write makes the one write of a pattern, to the pattern's table. It reads what an update has changed into out, unless
// out is nil.
func (db *DB) write(ctx context.Context, pattern string, w Write, out any) error {
	if err := Await(ctx); err != nil {
		return err
	}
	p, err := db.pattern(pattern, w.operation)
	if err != nil {
		return err
	}
	w.table = p.Table
	part, err := db.prepare(w)
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, err)
	}
	var changed Item
	switch part.operation {
	case schema.PutItem:
		_, err = call(ctx, p, db.client.PutItem, &dynamodb.PutItemInput{
			TableName: part.table, Item: part.item, ConditionExpression: part.Condition(),
			ExpressionAttributeNames: part.Names(), ExpressionAttributeValues: part.Values(),
			ReturnValuesOnConditionCheckFailure: allOld,
		})
	case schema.DeleteItem:
		_, err = call(ctx, p, db.client.DeleteItem, &dynamodb.DeleteItemInput{
			TableName: part.table, Key: part.key, ConditionExpression: part.Condition(),
			ExpressionAttributeNames: part.Names(), ExpressionAttributeValues: part.Values(),
			ReturnValuesOnConditionCheckFailure: allOld,
		})
	case schema.UpdateItem:
		input := &dynamodb.UpdateItemInput{
			TableName: part.table, Key: part.key, UpdateExpression: part.Update(),
			ConditionExpression:      part.Condition(),
			ExpressionAttributeNames: part.Names(), ExpressionAttributeValues: part.Values(),
			ReturnValuesOnConditionCheckFailure: allOld,
		}
		if out != nil {
			input.ReturnValues = types.ReturnValueUpdatedNew
		}
		var output *dynamodb.UpdateItemOutput
		if output, err = call(ctx, p, db.client.UpdateItem, input); err == nil {
			changed = output.Attributes
		}
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		addExtra(p.table, failed.Item)
		return &ConditionError{Item: failed.Item}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, kit.Failure(err))
	}
	if out != nil {
		if err := attributevalue.UnmarshalMap(changed, out); err != nil {
			return fmt.Errorf("%s: read attributes: %w", pattern, err)
		}
	}
	return nil
}

type waitKey struct{}

// BeforeWrites returns a context under which every write waits until wait returns. If wait returns an error, the write
// returns it unchanged, and is not sent. A write first waits for what the context already makes it wait for. Reads do
// not wait.
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

// WithoutWaiting returns a context whose writes do not wait as [BeforeWrites] says. It is for a write that means
// nothing without a later one, such as a claim.
func WithoutWaiting(ctx context.Context) context.Context {
	return context.WithValue(ctx, waitKey{}, (func(context.Context) error)(nil))
}

// Await waits as writes do ([BeforeWrites]), and returns the error of that unchanged. Call it before other work that a
// refused request must not cause, such as asking a model.
func Await(ctx context.Context) error {
	if wait, _ := ctx.Value(waitKey{}).(func(context.Context) error); wait != nil {
		return wait(ctx)
	}
	return nil
}

// Write is one part of a transaction.
type Write struct {
	table     string
	operation schema.Action
	item      any
	key       []any
	update    expression.UpdateBuilder
	condition expression.ConditionBuilder
}

// Put stores an item in a table as [DB.Put] does, if the condition is true.
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

// Check lets a transaction succeed only if the condition is true of the item with this key. It does not change the
// item.
func Check(table string, key []any, condition expression.ConditionBuilder) Write {
	return Write{table: table, operation: schema.ConditionCheckItem, key: key, condition: condition}
}

// Transact does all of the writes or none. They are the pattern's, in its order; you may leave out optional ones. The
// client retries conflicts with other transactions. Transact returns a [*TransactionError] if conditions fail.
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
	_, err = call(ctx, p, db.client.TransactWriteItems,
		&dynamodb.TransactWriteItemsInput{TransactItems: items, ClientRequestToken: &token})
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		failed := map[int]Item{}
		for i, reason := range canceled.CancellationReasons {
			if aws.ToString(reason.Code) == "ConditionalCheckFailed" {
				failed[i] = reason.Item
			}
		}
		for i, w := range writes {
			table, _ := db.database.Table(w.table)
			addExtra(table, failed[i])
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
			return i < len(writes) && writes[i].table == d.Table && writes[i].operation == d.Action
		}
		if is() {
			i++
			for d.Repeated && is() {
				i++
			}
		} else if !d.Optional {
			return fmt.Errorf("the pattern declares %s %s, which the call leaves out", d.Action, d.Table)
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
	switch part.operation {
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
	operation schema.Action
	table     *string
	item, key Item
	expression.Expression
}

func (db *DB) prepare(w Write) (part prepared, err error) {
	table, _ := db.database.Table(w.table)
	part.table = aws.String(db.names[w.table])
	given := w.operation
	if w.operation == schema.PutItem {
		if part.item, err = Marshal(w.item); err != nil {
			return part, err
		}
		delete(part.item, wire.ExtraName)
		if err = db.writable(table, part.item); err == nil && replaces(table, w) {
			w = putAsUpdate(table, w, part.item)
		}
	}
	if part.operation = w.operation; w.operation != schema.PutItem && err == nil {
		part.key, err = keyOf(table, w.key)
	}
	if err != nil {
		return part, err
	}
	if part.Expression, err = w.expression(); err == nil && given == schema.UpdateItem {
		if err = db.writable(table, updated(part.Expression)); err == nil && extends(table, part.Expression) {
			w.condition = And(w.condition, expression.AttributeExists(Name(table.Key.Partition)))
			part.Expression, err = w.expression()
		}
	}
	return part, err
}

func (w Write) expression() (expression.Expression, error) {
	// An empty builder is an error.
	builder, built := expression.NewBuilder(), false
	if w.operation == schema.UpdateItem {
		builder, built = builder.WithUpdate(w.update), true
	}
	if w.condition.IsSet() {
		builder, built = builder.WithCondition(w.condition), true
	}
	if !built {
		return expression.Expression{}, nil
	}
	return builder.Build()
}

// updated are the attributes of an item that an update changes, each with its new value; nil where the update computes
// it, or removes the attribute. What follows a point is within one.
func updated(e expression.Expression) Item {
	text, names, values := aws.ToString(e.Update()), e.Names(), e.Values()
	changed := Item{}
	for i := range len(text) {
		if text[i] != '#' || i > 0 && text[i-1] == '.' {
			continue
		}
		name := placeholderAt(text[i:])
		// An update may also read what it sets: a name that comes again has no other value.
		value := changed[names[name]]
		if set, ok := strings.CutPrefix(text[i+len(name):], " = "); ok && value == nil {
			value = values[placeholderAt(set)]
		}
		changed[names[name]] = value
	}
	return changed
}

// placeholderAt is the placeholder that a text begins with, such as #0.
func placeholderAt(text string) string {
	end := 1
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[:min(end, len(text))]
}
