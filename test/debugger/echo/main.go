// Function echo greets whom a path names, for the test that debugs it.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func handle(_ context.Context, request events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	name := request.PathParameters["name"]
	return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: "hello " + name}, nil // the breakpoint
}

func main() { lambda.Start(handle) }
