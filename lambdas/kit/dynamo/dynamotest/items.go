package dynamotest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Item returns the item with that key, or nil if the table has none. A cleanup of the test may call it, too.
func (t *Tables) Item(tb testing.TB, table string, key ...any) dynamo.Item {
	tb.Helper()
	return t.get(tb, table, t.key(tb, table, key))
}

func (t *Tables) get(tb testing.TB, table string, key dynamo.Item) dynamo.Item {
	tb.Helper()
	return must.Get(t.Client.GetItem(context.WithoutCancel(tb.Context()),
		&dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: new(true)}))(tb).Item
}

// All returns all items of a table as values of a type.
func All[T any](tb testing.TB, t *Tables, table string) (all []T) {
	tb.Helper()
	must.OK(tb, attributevalue.UnmarshalListOfMaps(t.Stored(tb, table), &all))
	return all
}

// Store stores items, each once: structs, or maps of Go values and of DynamoDB's. No fault concerns it.
func (t *Tables) Store(tb testing.TB, table string, items ...any) {
	tb.Helper()
	for some := range slices.Chunk(items, 25) {
		var writes []types.WriteRequest
		for _, item := range some {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: marshalled(tb, item)}})
		}
		for left := map[string][]types.WriteRequest{table: writes}; len(left) > 0; {
			left = must.Get(t.Client.BatchWriteItem(tb.Context(),
				&dynamodb.BatchWriteItemInput{RequestItems: left}))(tb).UnprocessedItems
		}
	}
}

// Set sets attributes of the item with that key, to Go values or to DynamoDB's. It removes those set to nil.
func (t *Tables) Set(tb testing.TB, table string, key []any, attributes map[string]any) {
	tb.Helper()
	var update expression.UpdateBuilder
	for name, value := range attributes {
		if value == nil {
			update = update.Remove(expression.Name(name))
		} else {
			update = update.Set(expression.Name(name), expression.Value(value))
		}
	}
	built := must.Get(expression.NewBuilder().WithUpdate(update).Build())(tb)
	must.Get(t.Client.UpdateItem(tb.Context(), &dynamodb.UpdateItemInput{TableName: &table,
		Key: t.key(tb, table, key), UpdateExpression: built.Update(), ExpressionAttributeNames: built.Names(),
		ExpressionAttributeValues: built.Values()}))(tb)
}

// Remove removes the item with that key, as time to live does.
func (t *Tables) Remove(tb testing.TB, table string, key ...any) {
	tb.Helper()
	must.Get(t.Client.DeleteItem(tb.Context(),
		&dynamodb.DeleteItemInput{TableName: &table, Key: t.key(tb, table, key)}))(tb)
}

// key returns the key of an item of the table.
func (t *Tables) key(tb testing.TB, table string, values []any) dynamo.Item {
	tb.Helper()
	described, _ := t.database.Table(table)
	key := map[string]any{}
	for i, name := range described.Key.Attributes() {
		key[name] = values[i]
	}
	return marshalled(tb, key)
}

func marshalled(tb testing.TB, value any) dynamo.Item {
	tb.Helper()
	if item, ok := value.(dynamo.Item); ok {
		return item
	}
	own := dynamo.Item{}
	values, _ := value.(map[string]any)
	for name, value := range values {
		if attribute, ok := value.(types.AttributeValue); ok {
			own[name] = attribute
		}
	}
	item := must.Get(attributevalue.MarshalMap(value))(tb)
	maps.Copy(item, own)
	return item
}

// Pages reads a list page by page to its end, and returns all of its entries. read returns where the next page begins;
// "": there is none.
func Pages[T any](tb testing.TB, read func(from string) (entries []T, next string, err error)) (all []T) {
	tb.Helper()
	for from, pages := "", 0; pages == 0 || from != ""; pages++ {
		entries, next, err := read(from)
		if must.OK(tb, err); pages > 10_000 {
			tb.Fatal("the list does not end")
		}
		all, from = append(all, entries...), next
	}
	return all
}
