package trigger

import "github.com/aws/aws-lambda-go/events"

// Change is a change of an item, as the stream of its table has it.
type Change struct {
	// Table is the logical name of the table.
	Table string
	// Kind is INSERT, MODIFY or REMOVE.
	Kind events.DynamoDBOperationType
	events.DynamoDBStreamRecord
}

// Event is a domain event to publish.
type Event struct {
	// Name is the name of an event in the platform's schema. Detail has its fields, as the type that the schema names.
	Name   string
	Detail any
}

// EventMapper returns the domain events of a change. It has no side effects, since it is called again for a repeated
// change. An error means that no attempt can turn the change into events.
type EventMapper func(Change) ([]Event, error)
