// Package queuetest gives tests a function behind a queue and a queue of failures, as a local run has them.
package queuetest

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
)

// resources are the queues, the function and its role as the constructs declare them.
//
//go:embed resources.json
var resources string

// Message is a message in a queue.
type Message = sqs.Message

// Queues has a queue with a function behind it, and its queue of failures.
type Queues struct {
	messages, failures *sqs.Queue
	mappings           *eventsource.Mappings
}

// Start runs a function behind an empty queue until the test ends. A message that it has not handled after that many
// attempts goes to the queue of failures. function gets the configuration and the URLs by which it reaches both queues.
func Start(t testing.TB, attempts int,
	function func(configuration aws.Config, messages, failures string) lambda.Handler) *Queues {
	t.Helper()
	source := assemblytest.Load(t, strings.Replace(resources, "ATTEMPTS", fmt.Sprint(attempts), 1))
	server := must.Get(services.New(services.Options{Assembly: source,
		DynamoDB: dynamodb.ServiceOptions{EngineURL: "http://127.0.0.1:1"}}))(t)
	configuration := awstest.Listen(t, server.Server, source)
	q := &Queues{messages: server.Queue("messages"), failures: server.Queue("failed")}
	handler := function(configuration, q.messages.URL, q.failures.URL)
	q.mappings = must.Get(eventsource.Read(source, eventsource.Options{
		Invoke: invoker{handler}, Queue: server.Queue, Authorise: server.Authorise}))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := must.Get(q.mappings.Start(ctx, nil))(t)
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return q
}

// invoker runs the function in this process.
type invoker struct{ handler lambda.Handler }

// Invoke implements [eventsource.Invoker].
func (i invoker) Invoke(ctx context.Context, _ string, payload []byte) ([]byte, error) {
	return i.handler.Invoke(ctx, payload)
}

// Send puts a message into the queue.
func (q *Queues) Send(body string) { q.messages.Send(body, nil) }

// Messages returns the queue's messages, including those that wait or are with the function.
func (q *Queues) Messages() []Message { return q.messages.Messages() }

// Failures returns the messages of the queue of failures.
func (q *Queues) Failures() []Message { return q.failures.Messages() }

// Due ends the delays of all messages, and returns how many were delayed.
func (q *Queues) Due() int { return q.messages.Due() }

// Returned returns how often the function has returned a message as not handled.
func (q *Queues) Returned() int { return q.mappings.Queues()[0].Returned }
