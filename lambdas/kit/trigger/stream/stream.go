// Package stream starts functions that the stream of a table invokes.
package stream

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
)

// Start starts a function that the stream of a table invokes, as [kit.StartResponder] does. setup gets a stream with
// the function's queue of failures.
func Start(platform string, setup func(kit.Environment, *trigger.Stream) (trigger.Function, error)) {
	kit.StartResponder(platform, func(_ context.Context, environment kit.Environment) (trigger.Function, error) {
		failures, err := queue.OfFailures(environment)
		if err != nil {
			return nil, err
		}
		return setup(environment, &trigger.Stream{Failures: failures, Log: environment.Log})
	})
}
