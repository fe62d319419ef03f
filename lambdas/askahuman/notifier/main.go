// Command notifier is the Lambda function that runs every minute: it notifies people of questions
// that need answers, and marks overdue ones expired.
package main

import (
	"context"
	"encoding/json"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartEvent("askahuman", func(_ context.Context,
		environment kit.Environment) (func(context.Context, json.RawMessage) error, error) {
		notifying, err := service.Open(environment, "notifier")
		if err != nil {
			return nil, err
		}
		arn, err := environment.Require("FCM_CREDENTIALS_SECRET_ARN")
		if err != nil {
			return nil, err
		}
		f := &function{
			service:     notifying,
			credentials: kit.NewSecret(environment.AWS, arn[0], credentialsAge),
			endpoint:    environment.Getenv("FCM_ENDPOINT"),
			questionURL: environment.Getenv("QUESTION_URL"),
			log:         environment.Log,
			metrics:     environment.Metrics,
		}
		return f.handle, nil
	})
}
