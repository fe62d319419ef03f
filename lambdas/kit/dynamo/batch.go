package dynamo

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// maxBatch is how many items one request reads at most ("BatchGetItem", Amazon DynamoDB
// API reference).
const maxBatch = 100

// BatchGet reads the items with these keys, partition key first each, 100 with a request. The result has an item, or
// nil, for each key, in the order of the keys. You may give a key more than once. Items have the attributes of their
// key even if the pattern does not name them. BatchGet requests again what DynamoDB leaves out for size or load.
func (db *DB) BatchGet(ctx context.Context, pattern string, keys ...[]any) ([]Item, error) {
	p, err := db.pattern(pattern, schema.BatchGetItem)
	if err != nil {
		return nil, err
	}
	names, found := make([]string, len(keys)), map[string]Item{}
	var wanted []Item
	for i, values := range keys {
		key, err := keyOf(p.table, values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		names[i] = keyText(p.table, key)
		if _, again := found[names[i]]; !again {
			found[names[i]] = nil
			wanted = append(wanted, key)
		}
	}
	name := db.names[p.Table]
	for batch := range slices.Chunk(wanted, maxBatch) {
		asked := types.KeysAndAttributes{Keys: batch, ProjectionExpression: p.projection,
			ExpressionAttributeNames: p.names, ConsistentRead: aws.Bool(p.Consistent)}
		err := db.batchGet(ctx, p, map[string]types.KeysAndAttributes{name: asked}, func(_ string, item Item) error {
			addExtra(p.table, item)
			found[keyText(p.table, item)] = item
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	items := make([]Item, len(keys))
	for i, name := range names {
		items[i] = found[name]
	}
	return items, nil
}

// GetEach reads an item of each of a pattern's Tables, with one request, each into a value. Keys and values are in the
// order of the tables. It reports which items exist, and requests again what DynamoDB leaves out for load.
func (db *DB) GetEach(ctx context.Context, pattern string, keys [][]any, values ...any) ([]bool, error) {
	p, err := db.pattern(pattern, schema.BatchGetItem)
	if err != nil {
		return nil, err
	}
	if len(keys) != len(p.Tables) || len(values) != len(p.Tables) {
		return nil, fmt.Errorf("%s: got %d keys and %d values, want one for each of the tables %s",
			pattern, len(keys), len(values), strings.Join(p.Tables, ", "))
	}
	places, asked := map[string]int{}, map[string]types.KeysAndAttributes{}
	for i, name := range p.Tables {
		table, _ := db.database.Table(name)
		key, err := keyOf(table, keys[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		places[db.names[name]] = i
		asked[db.names[name]] = types.KeysAndAttributes{
			Keys: []map[string]types.AttributeValue{key}, ConsistentRead: aws.Bool(p.Consistent),
		}
	}
	found := make([]bool, len(p.Tables))
	err = db.batchGet(ctx, p, asked, func(name string, item Item) error {
		place := places[name]
		found[place] = true
		table, _ := db.database.Table(p.Tables[place])
		addExtra(table, item)
		if err := attributevalue.UnmarshalMap(item, values[place]); err != nil {
			return fmt.Errorf("%s: read item of %s: %w", pattern, name, err)
		}
		return nil
	})
	return found, err
}

// batchGet hands each item, with the physical name of its table, to take. It requests again what DynamoDB leaves out.
func (db *DB) batchGet(ctx context.Context, p *access, asked map[string]types.KeysAndAttributes,
	take func(table string, item Item) error) error {
	for round := 1; ; round++ {
		output, err := call(ctx, p, db.client.BatchGetItem, &dynamodb.BatchGetItemInput{RequestItems: asked})
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, kit.Failure(err))
		}
		for table, items := range output.Responses {
			for _, item := range items {
				if err := take(table, item); err != nil {
					return err
				}
			}
		}
		if asked = output.UnprocessedKeys; len(asked) == 0 {
			return nil
		}
		if err := retry.Rest(ctx, round); err != nil {
			return fmt.Errorf("%s: %w", p.Name, kit.Failure(err))
		}
	}
}

// ReadBatch reads items as [DB.BatchGet] does, each into a value, or nil for a missing item.
func ReadBatch[T any](ctx context.Context, db *DB, pattern string, keys ...[]any) ([]*T, error) {
	items, err := db.BatchGet(ctx, pattern, keys...)
	values := make([]*T, len(items))
	for i, item := range items {
		if item == nil {
			continue
		}
		values[i] = new(T)
		if err := attributevalue.UnmarshalMap(item, values[i]); err != nil {
			return nil, fmt.Errorf("%s: read item %d: %w", pattern, i, err)
		}
	}
	return values, err
}

// keyText returns the key of an item as a unique text. DynamoDB may return a number in another form
// than it was sent.
func keyText(table schema.Table, item Item) string {
	var b strings.Builder
	for _, name := range table.Key.Attributes() {
		switch value := item[name].(type) {
		case *types.AttributeValueMemberS:
			fmt.Fprintf(&b, "%q", value.Value)
		case *types.AttributeValueMemberB:
			fmt.Fprintf(&b, "%q", value.Value)
		case *types.AttributeValueMemberN:
			if number, ok := new(big.Rat).SetString(value.Value); ok {
				b.WriteString(number.RatString())
			}
		}
		b.WriteByte(' ')
	}
	return b.String()
}
