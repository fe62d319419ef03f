// Command submissionvalidator is the Lambda function that validates new submissions. It gets them
// from the stream of the submissions.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	stream.Start("lingible", func(environment kit.Environment, batch *trigger.Stream) (trigger.Function, error) {
		s, err := setup.Speaking(environment, "submissionvalidator")
		if err != nil {
			return nil, err
		}
		batch.Parallel = true
		f := &function{judge: s.Validate, batch: batch}
		return f.handle, nil
	})
}
