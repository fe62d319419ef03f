package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// function is the eraser.
type function struct {
	eraser  todo.Eraser
	log     *slog.Logger
	metrics *kit.Metrics
}

// handle completes the deletions of a batch. Those that failed, or for which there was
// no time, are delivered again ("Reporting batch item failures for Lambda functions
// with DynamoDB Streams").
func (f *function) handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	var response events.DynamoDBEventResponse
	erased, failed := 0, 0
	for _, record := range event.Records {
		deletion, ok := deletionOf(record)
		if !ok {
			continue
		}
		complete, err := f.eraser.Erase(ctx, deletion)
		if err != nil {
			failed++
			f.log.ErrorContext(ctx, "the deletion of a user is not finished", "event_id", record.EventID, "error", err.Error())
		}
		if complete {
			erased++
			continue
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: record.Change.SequenceNumber})
	}
	f.metrics.Emit(ctx, kit.Count("UsersErased", erased), kit.Count("EraserFailures", failed))
	return response, nil
}

// deletionOf is the deletion in a change of a user's counts, if there is one.
func deletionOf(record events.DynamoDBEventRecord) (todo.Deletion, bool) {
	user, ok := strings.CutPrefix(text(record.Change.Keys["PK"]), "COUNTS#")
	id := text(record.Change.NewImage["deletion"])
	return todo.Deletion{User: user, ID: id}, ok && id != ""
}

// text is the value of a text attribute; "" of any other.
func text(value events.DynamoDBAttributeValue) string {
	if value.DataType() != events.DataTypeString {
		return ""
	}
	return value.String()
}
