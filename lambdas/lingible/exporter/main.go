// Command exporter is the Lambda function that exports the lexicon to Amazon S3. It gets the keys of
// the changed terms from the stream of the lexicon.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartEvent("lingible", func(_ context.Context, environment kit.Environment) (func(context.Context, events.DynamoDBEvent) error, error) {
		store, err := dynamodb.Open(environment, "exporter")
		if err != nil {
			return nil, err
		}
		exporter, err := setup.Exporter(environment, store)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, event events.DynamoDBEvent) error {
			terms, err := exporter.Export(ctx, dynamodb.ChangedTerms(event))
			if err == nil {
				environment.Metrics.Emit(ctx, kit.Count("TermsExported", terms))
			}
			return err
		}, nil
	})
}
