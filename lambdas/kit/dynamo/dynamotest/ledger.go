package dynamotest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Entry has the cost of one write of an item, alone or in a transaction.
type Entry struct {
	// Item is the item's key, its values joined by a space.
	Item string
	// Action is what the write does: a transaction has an action for each of its writes.
	Action schema.Action
	// InTransaction says that the write is part of a transaction.
	InTransaction bool
	// Units are the write units of the item itself: one per KB of the item before or after the write, whichever is
	// larger ("DynamoDB read and write operations"). A transaction costs twice as many.
	Units float64
	// Indexes are the write units of each index whose copy of the item changes: one per KB for a copy that comes, goes
	// or changes. A copy whose key changes goes and comes ("Using Global Secondary Indexes in DynamoDB": write capacity
	// units).
	Indexes map[string]float64
}

// Ledger lists the writes of items, in their order.
type Ledger []Entry

// Units returns the ledger's write units. A transaction doubles the items of the table; indexesTwice says that it
// doubles the indexes, too, as DynamoDB Local reports. DynamoDB does not (docs/operate/cost.md).
func (l Ledger) Units(indexesTwice bool) float64 {
	var units float64
	for _, e := range l {
		table, indexes := e.Units, 0.0
		for _, of := range e.Indexes {
			indexes += of
		}
		if e.InTransaction {
			table *= 2
		}
		if e.InTransaction && indexesTwice {
			indexes *= 2
		}
		units += table + indexes
	}
	return units
}

// String lists the ledger, a line for each write.
func (l Ledger) String() string {
	var b strings.Builder
	for _, e := range l {
		in := "alone"
		if e.InTransaction {
			in = "in a transaction"
		}
		fmt.Fprintf(&b, "%s %s, %s: %v", e.Action, e.Item, in, e.Units)
		for _, index := range slices.Sorted(maps.Keys(e.Indexes)) {
			fmt.Fprintf(&b, ", %s %v", index, e.Indexes[index])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Writes returns the ledger of the writes that do makes through the tables. Nothing else may write to them meanwhile.
func (t *Tables) Writes(tb testing.TB, do func()) Ledger {
	tb.Helper()
	if t.apart == nil {
		t.apart = Open(tb, t.database).Client
	}
	var ledger Ledger
	var before sync.Map // []dynamo.Item by the input of the request: reads beside a write come here, too
	t.Recorder.FaultsOf(func(_ context.Context, r Request) error {
		var items []dynamo.Item
		for _, w := range t.writesOf(r) {
			items = append(items, t.get(tb, w.table, w.key))
		}
		before.Store(r.Input, items)
		return nil
	}, func(_ context.Context, r Request) error {
		items, _ := before.Load(r.Input)
		for i, w := range t.writesOf(r) {
			ledger = append(ledger, t.cost(tb, w, items.([]dynamo.Item)[i]))
		}
		return nil
	})
	do()
	t.Recorder.FaultsOf(nil, nil)
	return ledger
}

// written is a write of a request.
type written struct {
	table string
	key   dynamo.Item
	entry Entry // without units
}

// writesOf returns the writes of a request; none of a read. The inputs of the client have their fields in common, and
// no interface.
func (t *Tables) writesOf(r Request) (all []written) {
	add := func(action schema.Action, input reflect.Value, inTransaction bool) {
		w := written{table: *input.FieldByName("TableName").Interface().(*string), key: dynamo.Item{},
			entry: Entry{Action: action, InTransaction: inTransaction, Indexes: map[string]float64{}}}
		item := input.FieldByName("Key")
		if !item.IsValid() {
			item = input.FieldByName("Item")
		}
		table, _ := t.database.Table(w.table)
		var names []string
		for _, name := range table.Key.Attributes() {
			w.key[name] = item.Interface().(map[string]types.AttributeValue)[name]
			names = append(names, dynamo.Text(w.key, name))
		}
		w.entry.Item = strings.Join(names, " ")
		all = append(all, w)
	}
	switch input := r.Input.(type) {
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput:
		add(r.Action, reflect.ValueOf(input).Elem(), false)
	case *dynamodb.TransactWriteItemsInput:
		for _, i := range input.TransactItems {
			for action, of := range map[schema.Action]any{schema.PutItem: i.Put, schema.UpdateItem: i.Update,
				schema.DeleteItem: i.Delete, schema.ConditionCheckItem: i.ConditionCheck} {
				if write := reflect.ValueOf(of); !write.IsNil() {
					add(action, write.Elem(), true)
				}
			}
		}
	}
	return all
}

// cost returns the cost of a write that is done. It writes the item once more, alone, into tables of its own: of a
// transaction's items DynamoDB Local counts those of the same cost once (amazon-dynamodb-local-samples, issue 31).
func (t *Tables) cost(tb testing.TB, w written, before dynamo.Item) Entry {
	tb.Helper()
	write := func(item dynamo.Item) *types.ConsumedCapacity {
		if item == nil {
			return must.Get(t.apart.DeleteItem(tb.Context(), &dynamodb.DeleteItemInput{TableName: &w.table,
				Key: w.key, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes}))(tb).ConsumedCapacity
		}
		return must.Get(t.apart.PutItem(tb.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: item,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes}))(tb).ConsumedCapacity
	}
	write(before)
	consumed := write(t.get(tb, w.table, w.key))
	w.entry.Units = aws.ToFloat64(consumed.Table.CapacityUnits)
	for name, index := range consumed.GlobalSecondaryIndexes {
		w.entry.Indexes[name] = aws.ToFloat64(index.CapacityUnits)
	}
	return w.entry
}
