// Command profiler is the Lambda function that adds a profile for each evaluated attempt. It gets
// them from the stream of the attempts.
package main

import (
	"context"
	"fmt"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func main() {
	kit.StartResponder("clarity", func(_ context.Context,
		environment kit.Environment) (func(context.Context, events.Records) (lambdaevents.DynamoDBEventResponse, error),
		error) {
		retention, err := retentionOf(environment)
		if err != nil {
			return nil, err
		}
		db, err := dynamo.Open(environment, clarity.Platform(), "profiler")
		if err != nil {
			return nil, err
		}
		failures, err := events.FailureQueue(environment)
		if err != nil {
			return nil, err
		}
		f := &function{
			service: &service.Service{DB: db}, retention: retention, now: time.Now,
			batch: &events.Stream{Failures: failures, Log: environment.Log},
			log:   environment.Log, metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}

// retentionOf is how long profiles are kept; zero: for ever.
func retentionOf(environment kit.Environment) (time.Duration, error) {
	const variable = "PROFILE_RETENTION_DAYS"
	days, err := environment.Int(variable, 0)
	if err == nil && (days != 0 && days < clarity.MinRetentionDays || days > clarity.MaxRetentionDays) {
		err = fmt.Errorf("%s is %d: write %d to %d, or 0 to keep profiles for ever", variable, days,
			clarity.MinRetentionDays, clarity.MaxRetentionDays)
	}
	return time.Duration(days) * 24 * time.Hour, err
}
