package trigger_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
)

// A function handles the changes of a table. One that fails comes again, and holds up no other.
func ExampleStream_Each() {
	event := trigger.Records{Records: []json.RawMessage{
		json.RawMessage(`{"dynamodb": {"SequenceNumber": "1", "NewImage": {"guest": {"S": "Ann"}, "nights": {"N": "2"}}}}`),
	}}
	batch := &trigger.Stream{Failures: &triggertest.Queue{}}
	response, err := batch.Each(context.Background(), event,
		func(_ context.Context, change events.DynamoDBStreamRecord) error {
			var booking struct {
				Guest  string `dynamodbav:"guest"`
				Nights int    `dynamodbav:"nights"`
			}
			if err := trigger.Read(change.NewImage, &booking); err != nil {
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
