// Package replay makes calls of DynamoDB again that a traced run has made, with the AWS SDK.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The headers with which a request says what to make of it: the file with the requests, and the number
// of the request in it.
const (
	FileHeader   = "X-Bench-File"
	NumberHeader = "X-Bench-Number"
)

// Request is a request to an API, as its handler answered it.
type Request struct {
	// Stages are its calls: those of a stage at once, and the stages one after the other.
	Stages [][]Call
	Status int
	Answer string
}

// Call is a call with its input in DynamoDB's JSON.
type Call struct {
	Operation string
	Input     json.RawMessage
}

// item is an item or a key in DynamoDB's JSON.
type item map[string]types.AttributeValue

func (i *item) UnmarshalJSON(text []byte) (err error) {
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	*i, err = attributevalue.UnmarshalMapJSON(text)
	return err
}

// write has the members of all writes, alone and in transactions.
type write struct {
	TableName, ConditionExpression, UpdateExpression *string
	Key, Item, ExpressionAttributeValues             item
	ExpressionAttributeNames                         map[string]string
	ReturnValues                                     types.ReturnValue
	ReturnValuesOnConditionCheckFailure              types.ReturnValuesOnConditionCheckFailure
}

// input has the members of the operations that Prepare knows.
type input struct {
	write
	IndexName, KeyConditionExpression, FilterExpression, ProjectionExpression *string
	ExclusiveStartKey                                                         item
	ConsistentRead, ScanIndexForward                                          *bool
	Limit                                                                     *int32
	Select                                                                    types.Select
	RequestItems                                                              map[string]struct {
		Keys                     []item
		ConsistentRead           *bool
		ProjectionExpression     *string
		ExpressionAttributeNames map[string]string
	}
	TransactItems []struct{ Put, Update, Delete, ConditionCheck *write }
}

// Prepare returns a function that makes the call, with its input built already.
func (c Call) Prepare(client *dynamodb.Client) (func(context.Context) error, error) {
	var in input
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Operation, err)
	}
	switch c.Operation {
	case "GetItem":
		return with(client.GetItem, &dynamodb.GetItemInput{
			TableName: in.TableName, Key: in.Key, ConsistentRead: in.ConsistentRead,
			ProjectionExpression: in.ProjectionExpression, ExpressionAttributeNames: in.ExpressionAttributeNames,
		}), nil
	case "Query":
		return with(client.Query, &dynamodb.QueryInput{
			TableName: in.TableName, IndexName: in.IndexName, KeyConditionExpression: in.KeyConditionExpression, FilterExpression: in.FilterExpression,
			ProjectionExpression: in.ProjectionExpression, ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
			ExclusiveStartKey: in.ExclusiveStartKey, ConsistentRead: in.ConsistentRead, ScanIndexForward: in.ScanIndexForward, Limit: in.Limit, Select: in.Select,
		}), nil
	case "PutItem":
		return with(client.PutItem, &dynamodb.PutItemInput{
			TableName: in.TableName, Item: in.Item, ConditionExpression: in.ConditionExpression, ExpressionAttributeNames: in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
		}), nil
	case "UpdateItem":
		return with(client.UpdateItem, &dynamodb.UpdateItemInput{
			TableName: in.TableName, Key: in.Key, UpdateExpression: in.UpdateExpression, ConditionExpression: in.ConditionExpression, ExpressionAttributeNames: in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues, ReturnValues: in.ReturnValues, ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
		}), nil
	case "DeleteItem":
		return with(client.DeleteItem, &dynamodb.DeleteItemInput{
			TableName: in.TableName, Key: in.Key, ConditionExpression: in.ConditionExpression, ExpressionAttributeNames: in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
		}), nil
	case "BatchGetItem":
		asked := map[string]types.KeysAndAttributes{}
		for table, of := range in.RequestItems {
			keys := make([]map[string]types.AttributeValue, len(of.Keys))
			for i, key := range of.Keys {
				keys[i] = key
			}
			asked[table] = types.KeysAndAttributes{Keys: keys, ConsistentRead: of.ConsistentRead, ProjectionExpression: of.ProjectionExpression, ExpressionAttributeNames: of.ExpressionAttributeNames}
		}
		return with(client.BatchGetItem, &dynamodb.BatchGetItemInput{RequestItems: asked}), nil
	case "TransactWriteItems":
		return with(client.TransactWriteItems, &dynamodb.TransactWriteItemsInput{TransactItems: in.transaction()}), nil
	}
	return nil, fmt.Errorf("operation: got %q: add it to package replay", c.Operation)
}

func (in *input) transaction() []types.TransactWriteItem {
	var items []types.TransactWriteItem
	for _, of := range in.TransactItems {
		var converted types.TransactWriteItem
		if w := of.Put; w != nil {
			converted.Put = &types.Put{
				TableName: w.TableName, Item: w.Item, ConditionExpression: w.ConditionExpression, ExpressionAttributeNames: w.ExpressionAttributeNames,
				ExpressionAttributeValues: w.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
			}
		}
		if w := of.Update; w != nil {
			converted.Update = &types.Update{
				TableName: w.TableName, Key: w.Key, UpdateExpression: w.UpdateExpression, ConditionExpression: w.ConditionExpression, ExpressionAttributeNames: w.ExpressionAttributeNames,
				ExpressionAttributeValues: w.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
			}
		}
		if w := of.Delete; w != nil {
			converted.Delete = &types.Delete{
				TableName: w.TableName, Key: w.Key, ConditionExpression: w.ConditionExpression, ExpressionAttributeNames: w.ExpressionAttributeNames,
				ExpressionAttributeValues: w.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
			}
		}
		if w := of.ConditionCheck; w != nil {
			converted.ConditionCheck = &types.ConditionCheck{
				TableName: w.TableName, Key: w.Key, ConditionExpression: w.ConditionExpression, ExpressionAttributeNames: w.ExpressionAttributeNames,
				ExpressionAttributeValues: w.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
			}
		}
		items = append(items, converted)
	}
	return items
}

// with makes a call of one operation. The answer is not looked at.
func with[In, Out any](operation func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := operation(ctx, in)
		return err
	}
}
