package events_test

import (
	"context"
	"encoding/json"
	"fmt"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events/eventstest"
)

// A function handles the changes of a table. One that fails comes again, and holds up no other.
func ExampleStream_Each() {
	event := events.Records{Records: []json.RawMessage{
		json.RawMessage(`{"dynamodb": {"SequenceNumber": "1", "NewImage": {"guest": {"S": "Ann"}, "nights": {"N": "2"}}}}`),
	}}
	batch := &events.Stream{Failures: &eventstest.Queue{}}
	response, err := batch.Each(context.Background(), event,
		func(_ context.Context, change lambdaevents.DynamoDBStreamRecord) error {
			var booking struct {
				Guest  string `dynamodbav:"guest"`
				Nights int    `dynamodbav:"nights"`
			}
			if err := events.Read(change.NewImage, &booking); err != nil {
				return err
			}
			fmt.Println(booking.Guest, "stays", booking.Nights, "nights")
			return nil
		})
	fmt.Println(len(response.BatchItemFailures), err)
	// Output:
	// Ann stays 2 nights
	// 0 <nil>
}
