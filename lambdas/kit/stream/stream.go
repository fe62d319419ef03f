// Package stream reads the changes of a DynamoDB table that a function gets in batches.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
)

// ErrUnfinished says that a record has not failed, and has to come again.
var ErrUnfinished = errors.New("the change of the table is not handled to its end")

// Image are the attributes of an item before or after a change, or those of its key.
type Image = map[string]events.DynamoDBAttributeValue

// Batch says how the records of a batch are handled. The zero value is ready to use.
type Batch struct {
	// Parallel handles all records at once. Otherwise one follows the other.
	Parallel bool
	// Failed is called for each record that failed. Nil: nothing is.
	Failed func(ctx context.Context, eventID string, err error)
}

// Each handles the records of a batch. It answers with those whose handle returned an error, so that
// they are delivered again ("Reporting batch item failures for Lambda functions with DynamoDB
// Streams"). [ErrUnfinished] is no failure.
func (b Batch) Each(ctx context.Context, event events.DynamoDBEvent, handle func(context.Context, events.DynamoDBStreamRecord) error) (response events.DynamoDBEventResponse, _ error) {
	failed := make([]error, len(event.Records))
	var all sync.WaitGroup
	for i, record := range event.Records {
		if b.Parallel {
			all.Go(func() { failed[i] = handle(ctx, record.Change) })
		} else {
			failed[i] = handle(ctx, record.Change)
		}
	}
	all.Wait()
	for i, record := range event.Records {
		if failed[i] == nil {
			continue
		}
		if b.Failed != nil && !errors.Is(failed[i], ErrUnfinished) {
			b.Failed(ctx, record.EventID, failed[i])
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: record.Change.SequenceNumber})
	}
	return response, nil
}

// Text is a text attribute of an image; "": there is none, or one of another type.
func Text(image Image, name string) string {
	if value := image[name]; value.DataType() == events.DataTypeString {
		return value.String()
	}
	return ""
}

// Read reads an image into the struct that out points to, with tags of package attributevalue.
func Read(image Image, out any) error {
	text, err := json.Marshal(image)
	if err != nil {
		return fmt.Errorf("write the image as JSON: %w", err)
	}
	item, err := attributevalue.UnmarshalMapJSON(text)
	if err == nil {
		err = attributevalue.UnmarshalMap(item, out)
	}
	if err != nil {
		return fmt.Errorf("read the image: %w", err)
	}
	return nil
}
