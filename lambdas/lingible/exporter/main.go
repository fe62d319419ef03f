// Command exporter is the Lambda function that exports the lexicon to Amazon S3. It gets the keys of
// the changed terms from the stream of the lexicon.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func main() {
	stream.Start("lingible", func(environment kit.Environment, batch *trigger.Stream) (trigger.Function, error) {
		db, err := dynamo.Open(environment, lingible.Platform(), "exporter")
		if err != nil {
			return nil, err
		}
		exporter, err := setup.Exporter(environment, db)
		if err != nil {
			return nil, err
		}
		f := &function{export: exporter.Export, batch: batch, metrics: environment.Metrics}
		return f.handle, nil
	})
}
