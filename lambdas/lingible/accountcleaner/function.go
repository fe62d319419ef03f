package main

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
)

// function is the account cleaner.
type function struct {
	accounts interface {
		// CleanAccount reports whether nothing is left of a user; if not, it is called again.
		CleanAccount(ctx context.Context, user string) (complete bool, err error)
	}
	log     *slog.Logger
	metrics *kit.Metrics
}

// handle cleans the accounts of a batch. Those that failed, or for which there was no time, are
// delivered again ("Reporting batch item failures for Lambda functions with DynamoDB Streams").
func (f *function) handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	var response events.DynamoDBEventResponse
	cleaned := 0
	for _, record := range event.Records {
		user, ok := dynamodb.DeletedUser(record)
		if !ok {
			continue
		}
		switch complete, err := f.accounts.CleanAccount(ctx, user); {
		case complete:
			cleaned++
			continue
		case err != nil:
			f.log.ErrorContext(ctx, "an account is not cleaned yet", "event_id", record.EventID, "error", err.Error())
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: record.Change.SequenceNumber})
	}
	f.metrics.Emit(ctx, kit.Count("AccountsCleaned", cleaned))
	return response, nil
}
