// Command profiler is the Lambda function that adds a profile for each evaluated attempt. It gets
// them from the stream of the attempts.
package main

import (
	"fmt"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/stream"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func main() {
	stream.Start("clarity", func(environment kit.Environment, batch *trigger.Stream) (trigger.Function, error) {
		retention, err := retentionOf(environment)
		if err != nil {
			return nil, err
		}
		db, err := dynamo.Open(environment, clarity.Platform(), "profiler")
		if err != nil {
			return nil, err
		}
		f := &function{
			service: &service.Service{DB: db}, retention: retention,
			batch: batch, log: environment.Log, metrics: environment.Metrics,
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
