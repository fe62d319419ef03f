// A function that tells its OpenAPI document, or fails to, as the variable MODE says.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

func main() {
	secret, err := start(context.Background())
	if err != nil {
		panic(err)
	}
	lambda.Start(func(_ context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		switch os.Getenv("MODE") {
		case "missing":
			return events.APIGatewayV2HTTPResponse{StatusCode: 404, Body: `{"message":"nothing here"}`}, nil
		case "text":
			return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: "hello"}, nil
		case "old":
			return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: `{"swagger":"2.0"}`}, nil
		case "fail":
			fmt.Println("the operation is confused")
			return events.APIGatewayV2HTTPResponse{}, errors.New("no document today")
		}
		return events.APIGatewayV2HTTPResponse{StatusCode: 200,
			Body: fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":%q,"version":"1"}}`, e.RouteKey+" "+secret)}, nil
	})
}

// start does what functions do before they take requests.
func start(ctx context.Context) (secret string, err error) {
	configuration, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return "", err
	}
	if os.Getenv("MODE") == "tables" {
		_, err = dynamodb.NewFromConfig(configuration).GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String("items"), Key: map[string]types.AttributeValue{
				"id": &types.AttributeValueMemberS{Value: "a"}},
		})
		return "", err
	}
	output, err := secretsmanager.NewFromConfig(configuration).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SECRET"))})
	if err != nil {
		return "", err
	}
	return *output.SecretString, nil
}
