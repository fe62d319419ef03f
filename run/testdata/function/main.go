// A function that uses a table, a queue, a secret, a bucket and a bus through the AWS SDK, for the tests of whole runs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

type clients struct {
	table   *dynamodb.Client
	queue   *sqs.Client
	secrets *secretsmanager.Client
	bucket  *s3.Client
	bus     *eventbridge.Client
}

type event struct {
	events.APIGatewayV2HTTPRequest
	Tick    string
	Records []events.DynamoDBEventRecord
	Detail  struct {
		Object struct {
			Key  string
			Size int
		}
		Note string
	}
	TriggerSource string
	Request       struct{ UserAttributes map[string]string }
}

func (c clients) put(ctx context.Context, id, value string) error {
	_, err := c.table.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(os.Getenv("TABLE")),
		Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: id}, "value": &types.AttributeValueMemberS{Value: value},
			"expires_at": &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(time.Hour).Unix())},
		}})
	return err
}

func (c clients) handle(ctx context.Context, e event) (any, error) {
	switch {
	case e.Tick == "fail":
		return nil, fmt.Errorf("tick failed")
	case e.Tick != "":
		fmt.Println("tick", e.Tick)
		return nil, c.put(ctx, "tick", e.Tick)
	case e.Detail.Object.Key == "events/fail":
		return nil, fmt.Errorf("object failed")
	case e.Detail.Object.Key != "":
		fmt.Println("created", e.Detail.Object.Key, e.Detail.Object.Size)
		return nil, nil
	case e.Detail.Note == "fail":
		return nil, fmt.Errorf("note failed")
	case e.Detail.Note != "":
		return nil, c.put(ctx, "noted", e.Detail.Note)
	case e.TriggerSource != "":
		email := e.Request.UserAttributes["email"]
		if strings.HasPrefix(email, "fail@") {
			return nil, fmt.Errorf("sign-up failed")
		}
		return map[string]any{"response": map[string]any{}}, c.put(ctx, "user", e.TriggerSource+" "+email)
	case e.Records != nil:
		for _, record := range e.Records {
			if record.EventID == "report" {
				return map[string]any{"batchItemFailures": []any{
					map[string]any{"itemIdentifier": record.Change.SequenceNumber}}}, nil
			}
			if id := record.Change.Keys["id"].String(); id != "seen" {
				if err := c.put(ctx, "seen", record.EventName+" "+id); err != nil {
					return nil, err
				}
			}
		}
		return nil, nil
	}
	id := e.PathParameters["id"]
	switch e.RouteKey {
	case "PUT /items/{id}":
		return answer(nil, c.put(ctx, id, e.Body))
	case "GET /items/{id}":
		output, err := c.table.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(os.Getenv("TABLE")),
			Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}})
		if err != nil || output.Item == nil {
			return answer(nil, err)
		}
		return answer(output.Item["value"].(*types.AttributeValueMemberS).Value, nil)
	case "DELETE /items/{id}":
		_, err := c.table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(os.Getenv("TABLE")),
			Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}})
		return answer(nil, err)
	case "POST /messages":
		_, err := c.queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(os.Getenv("QUEUE")),
			MessageBody: aws.String(e.Body)})
		return answer(nil, err)
	case "POST /events":
		output, err := c.bus.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []bustypes.PutEventsRequestEntry{{
			EventBusName: aws.String(os.Getenv("BUS")), Source: aws.String("items"), DetailType: aws.String("Noted"),
			Detail: aws.String(e.Body)}}})
		if err == nil && output.FailedEntryCount > 0 {
			err = fmt.Errorf("%s", *output.Entries[0].ErrorCode)
		}
		return answer(nil, err)
	case "GET /secret":
		output, err := c.secrets.GetSecretValue(ctx,
			&secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SECRET"))})
		if err != nil {
			return answer(nil, err)
		}
		return answer(output.SecretString, nil)
	case "PUT /objects/{id}":
		_, err := c.bucket.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(os.Getenv("BUCKET")),
			Key: aws.String("events/" + id), Body: strings.NewReader(e.Body)})
		return answer(nil, err)
	case "GET /objects/{id}":
		output, err := c.bucket.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(os.Getenv("BUCKET")),
			Key: aws.String("events/" + id)})
		if err != nil {
			return answer(nil, err)
		}
		text, err := io.ReadAll(output.Body)
		return answer(string(text), err)
	case "GET /environment":
		return answer(map[string]string{"push": os.Getenv("PUSH"), "pid": fmt.Sprint(os.Getpid()),
			"region": os.Getenv("AWS_REGION"), "table": os.Getenv("TABLE"), "own": os.Getenv("OWN"),
			"key": os.Getenv("AWS_ACCESS_KEY_ID")}, nil)
	case "GET /me":
		return answer(e.RequestContext.Authorizer.JWT.Claims["sub"], nil)
	case "GET /slow":
		time.Sleep(time.Minute)
	}
	return answer(nil, fmt.Errorf("no route %s", e.RouteKey))
}

func answer(value any, err error) (any, error) {
	if err != nil {
		return map[string]any{"statusCode": 502, "body": err.Error()}, nil
	}
	body, err := json.Marshal(value)
	return map[string]any{"statusCode": 200, "headers": map[string]string{"content-type": "application/json"},
		"body": string(body)}, err
}

func main() {
	configuration, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		panic(err)
	}
	c := clients{
		dynamodb.NewFromConfig(configuration), sqs.NewFromConfig(configuration),
		secretsmanager.NewFromConfig(configuration),
		s3.NewFromConfig(configuration), eventbridge.NewFromConfig(configuration),
	}
	lambda.Start(c.handle)
}
