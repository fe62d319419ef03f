package trigger_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
)

// A message that fails comes again by the plan.
func ExampleMessages_Each() {
	batch := trigger.Messages{
		Plan:   []time.Duration{10 * time.Second, time.Minute},
		Random: func() float64 { return 0 },
		Defer: func(_ context.Context, receipt string, wait time.Duration) error {
			fmt.Println(receipt, "comes again after", wait)
			return nil
		},
	}
	event := events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "1", ReceiptHandle: "first", Body: "hello",
			Attributes: map[string]string{"ApproximateReceiveCount": "1"}},
	}}
	response, err := batch.Each(context.Background(), event,
		func(context.Context, events.SQSMessage) error { return errors.New("nobody is at home") })
	fmt.Println(len(response.BatchItemFailures), err)
	// Output:
	// first comes again after 10s
	// 1 <nil>
}
