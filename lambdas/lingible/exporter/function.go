package main

import (
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// function is the exporter.
type function struct {
	// export exports the lexicon, in which the terms with the slugs have changed, also with an
	// [*service.UnreadableTermsError].
	export  func(ctx context.Context, changed []string) (terms int, err error)
	batch   *trigger.Stream
	metrics *kit.Metrics
}

// handle makes one export for all changes of a batch, in any order: it has the terms as they are in the table. Without
// the export, the whole batch comes again. A term that cannot be read keeps the others out of no export.
func (f *function) handle(ctx context.Context, event trigger.Records) (response events.DynamoDBEventResponse,
	_ error) {
	var slugs []string
	for _, change := range event.Changes() {
		if slug := service.ChangedTerm(change); slug != "" {
			slugs = append(slugs, slug)
		}
	}
	terms, err := f.export(ctx, slugs)
	unreadable, ok := errors.AsType[*service.UnreadableTermsError](err)
	if err != nil && !ok {
		return response, err
	}
	f.metrics.Emit(ctx, kit.Count("TermsExported", terms))
	return f.batch.Each(ctx, event, func(_ context.Context, change events.DynamoDBStreamRecord) error {
		if !ok {
			return nil
		}
		return unreadable.Causes[service.ChangedTerm(change)]
	})
}
