package services_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	tables "github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	buckets "github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/services/servicestest"
)

// clients are those of a function that may do everything.
type clients struct {
	*fixture
	s3     *s3.Client
	events *eventbridge.Client
	models *bedrockruntime.Client
}

// request is a request of such a function. It returns the error of AWS.
type request func(context.Context, clients) error

// refusedRequests are requests that AWS refuses, by call and by what it refuses in it: those of servicestest.Refusals.
// AWS refuses each of several requests.
var refusedRequests = map[string]map[string][]request{
	"Bedrock Converse": {
		"each request, unless --bedrock names a server, which then decides": {askModel("amazon.nova-lite-v1:0")},
	},
	"DynamoDB BatchGetItem": {
		"a table that is not there":     {batchGet("none", key("1"))},
		"no key, or more than 100":      {batchGet("answers"), batchGet("answers", keys(101)...)},
		"the same key twice":            {batchGet("answers", key("1"), key("1"))},
		"a key that is not the table's": {batchGet("answers", item("1"))},
	},
	"DynamoDB DeleteItem": {
		"a table that is not there":      {deleteItem("none", key("1"), "")},
		"a key that is not the table's":  {deleteItem("answers", item("1"), "")},
		"a condition that does not hold": {deleteItem("answers", key("none"), "attribute_exists(id)")},
	},
	"DynamoDB GetItem": {
		"a table that is not there":         {getItem("none", key("1"), "id")},
		"a key that is not the table's":     {getItem("answers", item("1"), "id")},
		"an expression that cannot be read": {getItem("answers", key("1"), "id,,")},
	},
	"DynamoDB PutItem": {
		"a table that is not there": {putItem("none", item("1"), "")},
		"an item without its key, or with an empty one": {putItem("answers", item(""), ""),
			putItem("answers", map[string]types.AttributeValue{"status": text("OPEN")}, "")},
		"an item of more than 400 KB": {putItem("answers", with("1", text(strings.Repeat("x", 400<<10))), "")},
		"a number of more than 38 digits": {putItem("answers", with("1", &types.AttributeValueMemberN{
			Value: strings.Repeat("1", 39)}), "")},
		"a condition that does not hold": {putItem("answers", item("none"), "attribute_exists(id)")},
	},
	"DynamoDB Query": {
		"a table that is not there":                    {query("none", "", "id", nil, 1)},
		"an index that the table does not have":        {query("answers", "none", "id", nil, 1)},
		"a condition on other attributes than the key": {query("answers", "", "other", nil, 1)},
		"a start that is no key":                       {query("answers", "", "id", item("1"), 1)},
		"a limit below 1":                              {query("answers", "", "id", nil, 0)},
	},
	"DynamoDB TransactWriteItems": {
		"a table that is not there":   {transact("", put("none", item("1")))},
		"no action, or more than 100": {transact(""), transact("", puts(101, "")...)},
		"two actions on one item":     {transact("", put("answers", item("1")), put("answers", item("1")))},
		"a condition that does not hold": {transact("", types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: aws.String("answers"), Key: key("none"),
			ConditionExpression: aws.String("attribute_exists(id)")}})},
		"items of more than 4 MB together": {transact("", puts(11, strings.Repeat("x", 399<<10))...)},
		"an item of more than 400 KB":      {transact("", puts(1, strings.Repeat("x", 400<<10))...)},
		"a token again, with other actions": {func(ctx context.Context, c clients) error {
			if err := transact("token", put("answers", item("1")))(ctx, c); err != nil {
				return fmt.Errorf("the first time: %w", err)
			}
			return transact("token", put("answers", item("2")))(ctx, c)
		}},
	},
	"DynamoDB UpdateItem": {
		"a table that is not there":     {update("none", key("1"), "SET a = :v", text("x"), "")},
		"a key that is not the table's": {update("answers", item("1"), "SET a = :v", text("x"), "")},
		"a change of the key":           {update("answers", key("1"), "SET id = :v", text("x"), "")},
		"an addition to a text":         {update("answers", key("1"), "ADD a :v", text("x"), "")},
		"an item that would have more than 400 KB": {update("answers", key("1"), "SET a = :v",
			text(strings.Repeat("x", 400<<10)), "")},
		"a condition that does not hold": {update("answers", key("none"), "SET a = :v", text("x"),
			"attribute_exists(id)")},
	},
	"EventBridge PutEvents": {
		"no entry, or more than 10": {putEvents(), putEvents(make([]eventtypes.PutEventsRequestEntry, 11)...)},
		"entries of more than 1 MB together": {putEvents(event("platform", "Asked",
			`{"a": "`+strings.Repeat("x", 1<<20)+`"}`))},
		"an entry without Source, DetailType or Detail": {putEvents(event("", "Asked", "{}")),
			putEvents(event("platform", "", "{}")), putEvents(event("platform", "Asked", ""))},
		"a Detail that is no JSON object": {putEvents(event("platform", "Asked", "[]"))},
		"a Source of AWS, such as aws.s3": {putEvents(event("aws.s3", "Asked", "{}"))},
		"a DetailType of more than 128 characters": {
			putEvents(event("platform", strings.Repeat("x", 129), "{}"))},
	},
	"S3 DeleteObject": {
		"a bucket that is not there": {func(ctx context.Context, c clients) error {
			_, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String("none"), Key: aws.String("a")})
			return err
		}},
	},
	"S3 GetObject": {
		"a bucket that is not there":      {getObject("none", "a", "")},
		"a key that is not there":         {getObject("lake", "none", "")},
		"a range behind the object's end": {getObject("lake", "a", "bytes=100-200")},
	},
	"S3 ListObjectsV2": {
		"a bucket that is not there": {func(ctx context.Context, c clients) error {
			_, err := c.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("none")})
			return err
		}},
	},
	"S3 PutObject": {
		"a bucket that is not there":                {putObject("none", "a", nil)},
		"a key of more than 1,024 bytes":            {putObject("lake", strings.Repeat("x", 1025), nil)},
		"a body with another checksum than it says": {putObject("lake", "b", aws.String("AAAAAA=="))},
	},
	"SQS ChangeMessageVisibility": {
		"a queue that is not there": {changeVisibility("none", "receipt", 0)},
		"a time that is not from 0 to 43,200 seconds": {changeVisibility("work", "receipt", -1),
			changeVisibility("work", "receipt", 43201)},
		"a receipt that is not the queue's": {changeVisibility("work", "receipt", 1)},
		"a message that is not in flight": {func(ctx context.Context, c clients) error {
			if err := send("failed", "x", nil)(ctx, c); err != nil {
				return err
			}
			url := aws.String(c.server.Queue("failed").URL)
			got, err := c.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url})
			if err != nil || len(got.Messages) != 1 {
				return fmt.Errorf("receiving: got %v, %w", got, err)
			}
			receipt := aws.ToString(got.Messages[0].ReceiptHandle)
			return errors.Join(changeVisibility("failed", receipt, 0)(ctx, c),
				changeVisibility("failed", receipt, 1)(ctx, c))
		}},
	},
	"SQS SendMessage": {
		"a queue that is not there": {send("none", "x", nil)},
		"no body":                   {send("work", "", nil)},
		"a character that the reference does not list": {send("work", "\x00", nil)},
		"more than 1 MiB with the attributes": {send("work", strings.Repeat("x", 1<<20),
			named("a", "String", "x"))},
		"more than 10 attributes":      {send("work", "x", attributes(11))},
		"an attribute without a value": {send("work", "x", named("a", "String", ""))},
		"an attribute with a name or a type that is not allowed": {
			send("work", "x", named("a b", "String", "x")),
			send("work", "x", named("AWS.a", "String", "x")),
			send("work", "x", named("a..b", "String", "x")),
			send("work", "x", named("a", "Text", "x")),
		},
	},
	"Secrets Manager GetSecretValue": {
		"a secret that is not there, or has no value": {secret("none"), secret("empty")},
	},
}

// A run refuses what it says that it refuses, and takes what it says that it takes.
func TestRefusals(t *testing.T) {
	t.Parallel()
	c := clients{fixture: start(t, everything)}
	loaded := assemblytest.Load(t, strings.Replace(resources, "STATEMENTS", everything, 1))
	store := must.Get(buckets.New(t.TempDir(), loaded))(t)
	server, config := serve(t, services.Options{Assembly: loaded,
		DynamoDB: tables.ServiceOptions{EngineURL: "http://127.0.0.1:1"}, Buckets: store})
	t.Cleanup(server.Events.Close)
	c.events, c.models = eventbridge.NewFromConfig(config), bedrockruntime.NewFromConfig(config)
	c.s3 = s3.NewFromConfig(config)
	must.OK(t, putObject("lake", "a", nil)(t.Context(), c))
	for _, refusal := range servicestest.Refusals {
		requests := refusedRequests[refusal.Call][refusal.Of]
		for _, request := range requests {
			code := ""
			err := request(t.Context(), c)
			if failure, ok := errors.AsType[smithy.APIError](err); ok {
				code = failure.ErrorCode()
			}
			if code != refusal.Code || code == "" && err != nil {
				t.Errorf("%s, %s: got %v, want the code %q", refusal.Call, refusal.Of, err, refusal.Code)
			}
		}
		if len(requests) == 0 && refusal.Code != "" {
			t.Errorf("%s, %s: there is no request of it", refusal.Call, refusal.Of)
		}
		delete(refusedRequests[refusal.Call], refusal.Of)
	}
	for call, left := range refusedRequests {
		for of := range left {
			t.Errorf("%s, %s: servicestest.Refusals does not have it", call, of)
		}
	}
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// with is an item with one more attribute.
func with(id string, value types.AttributeValue) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": text(id), "a": value}
}

func keys(number int) (all []map[string]types.AttributeValue) {
	for i := range number {
		all = append(all, key(fmt.Sprint(i)))
	}
	return all
}

// optional is nil for "".
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func askModel(model string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.models.Converse(ctx, &bedrockruntime.ConverseInput{ModelId: &model})
		return err
	}
}

func batchGet(table string, keys ...map[string]types.AttributeValue) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{table: {
				Keys: append([]map[string]types.AttributeValue{}, keys...)}}})
		return err
	}
}

func deleteItem(table string, key map[string]types.AttributeValue, condition string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key,
			ConditionExpression: optional(condition)})
		return err
	}
}

func getItem(table string, key map[string]types.AttributeValue, projection string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key,
			ProjectionExpression: &projection})
		return err
	}
}

func putItem(table string, item map[string]types.AttributeValue, condition string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item,
			ConditionExpression: optional(condition)})
		return err
	}
}

func query(table, index, attribute string, start map[string]types.AttributeValue, limit int32) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.Query(ctx, &dynamodb.QueryInput{TableName: &table, IndexName: optional(index),
			KeyConditionExpression:    aws.String(attribute + " = :v"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": text("1")},
			ExclusiveStartKey:         start, Limit: &limit})
		return err
	}
}

func put(table string, item map[string]types.AttributeValue) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item}}
}

func puts(number int, value string) (all []types.TransactWriteItem) {
	for i := range number {
		all = append(all, put("answers", with(fmt.Sprint(i), text(value))))
	}
	return all
}

func transact(token string, actions ...types.TransactWriteItem) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: append([]types.TransactWriteItem{}, actions...), ClientRequestToken: optional(token)})
		return err
	}
}

func update(table string, key map[string]types.AttributeValue, expression string, value types.AttributeValue,
	condition string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &table, Key: key,
			UpdateExpression: &expression, ConditionExpression: optional(condition),
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": value}})
		return err
	}
}

func event(source, kind, detail string) eventtypes.PutEventsRequestEntry {
	return eventtypes.PutEventsRequestEntry{Source: &source, DetailType: &kind, Detail: &detail}
}

// putEvents returns the error of the request, or of its first entry.
func putEvents(entries ...eventtypes.PutEventsRequestEntry) request {
	return func(ctx context.Context, c clients) error {
		output, err := c.events.PutEvents(ctx, &eventbridge.PutEventsInput{
			Entries: append([]eventtypes.PutEventsRequestEntry{}, entries...)})
		if err != nil {
			return err
		}
		if code := aws.ToString(output.Entries[0].ErrorCode); code != "" {
			return &smithy.GenericAPIError{Code: code, Message: aws.ToString(output.Entries[0].ErrorMessage)}
		}
		return nil
	}
}

func getObject(bucket, key, part string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key, Range: optional(part)})
		return err
	}
}

func putObject(bucket, key string, checksum *string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("x"),
			ChecksumCRC32: checksum})
		return err
	}
}

func changeVisibility(queue, receipt string, seconds int32) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.sqs.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: c.queueURL(queue),
			ReceiptHandle: &receipt, VisibilityTimeout: seconds})
		return err
	}
}

// queueURL is the address of a queue, also of one that is not there.
func (c clients) queueURL(name string) *string {
	return aws.String(strings.TrimSuffix(c.server.Queue("work").URL, "work") + name)
}

// named is one attribute of a message.
func named(name, kind, value string) map[string]sqstypes.MessageAttributeValue {
	return map[string]sqstypes.MessageAttributeValue{name: {DataType: &kind, StringValue: &value}}
}

func attributes(number int) map[string]sqstypes.MessageAttributeValue {
	all := map[string]sqstypes.MessageAttributeValue{}
	for i := range number {
		maps.Copy(all, named(fmt.Sprint("a", i), "String", "x"))
	}
	return all
}

func send(queue, body string, attributes map[string]sqstypes.MessageAttributeValue) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: c.queueURL(queue), MessageBody: &body,
			MessageAttributes: attributes})
		return err
	}
}

func secret(id string) request {
	return func(ctx context.Context, c clients) error {
		_, err := c.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
		return err
	}
}
