// Command plain is the yardstick of the bench: a Lambda function that makes the calls of DynamoDB that a
// handler of a platform has made, with the AWS SDK, answers as that did, and does nothing else.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/tools/bench/replay"
)

func main() {
	// As package kit sets up a function of 256 MB.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(224 << 20)
	configuration, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.Start((&handler{client: dynamodb.NewFromConfig(configuration)}).handle)
}

// handler has the requests of one file ready.
type handler struct {
	client   *dynamodb.Client
	file     string
	requests []request
}

type request struct {
	stages [][]func(context.Context) error
	status int
	answer string
}

// handle makes the calls of a request. Any other event is done at once.
func (h *handler) handle(ctx context.Context, event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse,
	error) {
	number, err := strconv.Atoi(event.Headers[strings.ToLower(replay.NumberHeader)])
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, nil
	}
	if file := event.Headers[strings.ToLower(replay.FileHeader)]; file != h.file {
		if err := h.read(file); err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
	}
	if number < 0 { // only reads the file
		return events.APIGatewayV2HTTPResponse{StatusCode: 204}, nil
	}
	r := h.requests[number]
	for _, stage := range r.stages {
		var calls sync.WaitGroup
		for _, call := range stage[1:] {
			calls.Go(func() { call(ctx) }) // A condition may fail, as it did in the traced run.
		}
		stage[0](ctx)
		calls.Wait()
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: r.status,
		Headers: map[string]string{"Content-Type": "application/json"}, Body: r.answer}, nil
}

func (h *handler) read(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var recorded []replay.Request
	if err := json.Unmarshal(content, &recorded); err != nil {
		return err
	}
	h.file, h.requests = file, nil
	for _, r := range recorded {
		prepared := request{status: r.Status, answer: r.Answer}
		for _, stage := range r.Stages {
			var calls []func(context.Context) error
			for _, c := range stage {
				call, err := c.Prepare(h.client)
				if err != nil {
					return err
				}
				calls = append(calls, call)
			}
			prepared.stages = append(prepared.stages, calls)
		}
		h.requests = append(h.requests, prepared)
	}
	return nil
}
