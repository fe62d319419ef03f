// Command notifier is the Lambda function that runs every minute: it notifies
// people of questions that are short of answers, and marks overdue ones expired.
package main

import (
	"context"
	"encoding/json"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/secret"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	kit.StartEvent("askahuman", func(_ context.Context, environment kit.Environment) (func(context.Context, json.RawMessage) error, error) {
		tables, err := dynamo.Open(environment.AWS, schema.AskAHuman().Database)
		if err != nil {
			return nil, err
		}
		shards, err := environment.Int("SHARDS", 1)
		if err != nil {
			return nil, err
		}
		arn, err := environment.Require("FCM_CREDENTIALS_SECRET_ARN")
		if err != nil {
			return nil, err
		}
		f := &function{
			store:       dynamodb.New(tables, shards),
			credentials: secret.New(environment.AWS, arn[0], credentialsAge),
			endpoint:    environment.Getenv("FCM_ENDPOINT"),
			webURL:      environment.Getenv("LINK_BASE"),
			log:         environment.Log,
			metrics:     environment.Metrics,
		}
		return f.handle, nil
	})
}
