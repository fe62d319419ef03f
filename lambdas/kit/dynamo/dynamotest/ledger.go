package dynamotest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
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
	var ledger Ledger
	var before sync.Map // []dynamo.Item by the input of the request: reads beside a write come here, too
	t.Recorder.FaultsOf(func(_ context.Context, r Request) error {
		var items []dynamo.Item
		for _, w := range writesOf(r) {
			items = append(items, t.get(tb, w.table, w.key(t.database)))
		}
		before.Store(r.Input, items)
		return nil
	}, func(_ context.Context, r Request) error {
		items, _ := before.Load(r.Input)
		for i, w := range writesOf(r) {
			after := t.get(tb, w.table, w.key(t.database))
			ledger = append(ledger, w.entry(t.database, items.([]dynamo.Item)[i], after))
		}
		return nil
	})
	do()
	t.Recorder.FaultsOf(nil, nil)
	return ledger
}

// written is a write of a request.
type written struct {
	table         string
	operation     schema.Action
	item          map[string]types.AttributeValue // or its key
	inTransaction bool
}

func writesOf(r Request) []written {
	switch input := r.Input.(type) {
	case *dynamodb.PutItemInput:
		return []written{{table: r.Table, operation: r.Action, item: input.Item}}
	case *dynamodb.UpdateItemInput:
		return []written{{table: r.Table, operation: r.Action, item: input.Key}}
	case *dynamodb.DeleteItemInput:
		return []written{{table: r.Table, operation: r.Action, item: input.Key}}
	case *dynamodb.TransactWriteItemsInput:
		var all []written
		for _, i := range input.TransactItems {
			w := written{inTransaction: true}
			switch {
			case i.Put != nil:
				w.table, w.operation, w.item = *i.Put.TableName, schema.PutItem, i.Put.Item
			case i.Update != nil:
				w.table, w.operation, w.item = *i.Update.TableName, schema.UpdateItem, i.Update.Key
			case i.Delete != nil:
				w.table, w.operation, w.item = *i.Delete.TableName, schema.DeleteItem, i.Delete.Key
			default:
				w.table, w.operation, w.item = *i.ConditionCheck.TableName, schema.ConditionCheckItem,
					i.ConditionCheck.Key
			}
			all = append(all, w)
		}
		return all
	}
	return nil
}

// key is the key of the item.
func (w written) key(database schema.Database) map[string]types.AttributeValue {
	table, _ := database.Table(w.table)
	return pick(w.item, table.Key.Attributes())
}

func (w written) entry(database schema.Database, before, after map[string]types.AttributeValue) Entry {
	table, _ := database.Table(w.table)
	e := Entry{Action: w.operation, InTransaction: w.inTransaction, Units: max(1, units(before), units(after)),
		Indexes: map[string]float64{}}
	var names []string
	for _, name := range table.Key.Attributes() {
		if text, ok := w.item[name].(*types.AttributeValueMemberS); ok {
			names = append(names, text.Value)
		}
	}
	e.Item = strings.Join(names, " ")
	for _, index := range table.Indexes {
		was, is := copyIn(table, index, before), copyIn(table, index, after)
		keyOf := func(item map[string]types.AttributeValue) map[string]types.AttributeValue {
			return pick(item, index.KeyAttributes())
		}
		switch {
		case reflect.DeepEqual(was, is):
		case was == nil || is == nil || !reflect.DeepEqual(keyOf(was), keyOf(is)):
			e.Indexes[index.Name] = units(was) + units(is)
		default:
			e.Indexes[index.Name] = max(units(was), units(is))
		}
	}
	return e
}

// copyIn is the index's copy of an item; nil if the index does not hold it.
func copyIn(table schema.Table, index schema.Index,
	item map[string]types.AttributeValue) map[string]types.AttributeValue {
	keys := append(table.Key.Attributes(), index.KeyAttributes()...)
	copied := pick(item, keys)
	for _, name := range keys {
		if copied[name] == nil {
			return nil
		}
	}
	switch index.Projection {
	case schema.ProjectAll:
		return item
	case schema.ProjectKeysOnly:
		return copied
	}
	maps.Copy(copied, pick(item, index.Include))
	return copied
}

func pick(item map[string]types.AttributeValue, names []string) map[string]types.AttributeValue {
	picked := map[string]types.AttributeValue{}
	for _, name := range names {
		if value := item[name]; value != nil {
			picked[name] = value
		}
	}
	return picked
}

// units are the write units of an item; none for no item.
func units(item map[string]types.AttributeValue) float64 {
	size := 0
	for name, value := range item {
		size += len(name) + sizeOf(value)
	}
	return math.Ceil(float64(size) / 1024)
}

// sizeOf is the size of a value in bytes ("DynamoDB item sizes and formats"); of a number at most.
func sizeOf(value types.AttributeValue) int {
	const list, element = 3, 1
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return len(value.Value)
	case *types.AttributeValueMemberN:
		return len(value.Value)/2 + 2
	case *types.AttributeValueMemberB:
		return len(value.Value)
	case *types.AttributeValueMemberSS:
		size := 0
		for _, text := range value.Value {
			size += len(text)
		}
		return size
	case *types.AttributeValueMemberL:
		size := list
		for _, of := range value.Value {
			size += element + sizeOf(of)
		}
		return size
	case *types.AttributeValueMemberM:
		size := list
		for name, of := range value.Value {
			size += element + len(name) + sizeOf(of)
		}
		return size
	}
	return 1
}
