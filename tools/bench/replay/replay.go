// Package replay makes calls of DynamoDB again that a traced run has made, with the AWS SDK.
package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

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

// Prepare returns a function that makes the call, with its input built already.
func (c Call) Prepare(client *dynamodb.Client) (func(context.Context) error, error) {
	prepare, ok := operations[c.Operation]
	if !ok {
		return nil, fmt.Errorf("operation: got %q: add it to package replay", c.Operation)
	}
	call, err := prepare(client, c.Input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Operation, err)
	}
	return call, nil
}

// operations build the inputs of calls.
var operations = map[string]func(*dynamodb.Client, json.RawMessage) (func(context.Context) error, error){
	"BatchGetItem":       of((*dynamodb.Client).BatchGetItem),
	"DeleteItem":         of((*dynamodb.Client).DeleteItem),
	"GetItem":            of((*dynamodb.Client).GetItem),
	"PutItem":            of((*dynamodb.Client).PutItem),
	"Query":              of((*dynamodb.Client).Query),
	"TransactWriteItems": of((*dynamodb.Client).TransactWriteItems),
	"UpdateItem":         of((*dynamodb.Client).UpdateItem),
}

// of makes calls of one operation. The answers are not looked at.
func of[In, Out any](operation func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out,
	error)) func(
	*dynamodb.Client, json.RawMessage) (func(context.Context) error, error) {
	return func(client *dynamodb.Client, text json.RawMessage) (func(context.Context) error, error) {
		in := new(In)
		err := decode(text, reflect.ValueOf(in).Elem())
		return func(ctx context.Context) error {
			_, err := operation(client, ctx, in)
			return err
		}, err
	}
}

// decode reads DynamoDB's JSON into an input of the SDK, whose fields are called as its members. Package encoding/json
// does not know the types of attributes.
func decode(text json.RawMessage, into reflect.Value) error {
	if string(text) == "null" {
		return nil
	}
	switch kind := into.Type(); {
	case kind == reflect.TypeFor[map[string]types.AttributeValue]():
		item, err := attributevalue.UnmarshalMapJSON(text)
		into.Set(reflect.ValueOf(item))
		return err
	case kind.Kind() == reflect.Pointer:
		into.Set(reflect.New(kind.Elem()))
		return decode(text, into.Elem())
	case kind.Kind() == reflect.Slice:
		var all []json.RawMessage
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		into.Set(reflect.MakeSlice(kind, len(all), len(all)))
		for i, one := range all {
			if err := decode(one, into.Index(i)); err != nil {
				return err
			}
		}
	case kind.Kind() == reflect.Map, kind.Kind() == reflect.Struct:
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			return err
		}
		if kind.Kind() == reflect.Map {
			into.Set(reflect.MakeMap(kind))
		}
		// With the token of the traced run it would be the same transaction.
		delete(members, "ClientRequestToken")
		for name, member := range members {
			var value reflect.Value
			if kind.Kind() == reflect.Map {
				value = reflect.New(kind.Elem()).Elem()
			} else if value = into.FieldByName(name); !value.IsValid() {
				return fmt.Errorf("the SDK's %s has no %s", kind, name)
			}
			if err := decode(member, value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if kind.Kind() == reflect.Map {
				into.SetMapIndex(reflect.ValueOf(name), value)
			}
		}
	default:
		return json.Unmarshal(text, into.Addr().Interface())
	}
	return nil
}
