package booking

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"

	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/schema"
)

// EventsOf makes events of a change.
func EventsOf(change trigger.Change) ([]trigger.Event, error) {
	if change.Kind == events.DynamoDBOperationTypeRemove {
		return nil, nil
	}
	var before, after hotel.Booking
	err := trigger.Read(change.NewImage, &after)
	if err == nil && change.Kind == events.DynamoDBOperationTypeModify {
		err = trigger.Read(change.OldImage, &before)
	}
	if err != nil {
		return nil, err
	}
	event := trigger.Event{Detail: hotel.BookingEvent{
		BookingID: after.ID, Guest: after.Guest, Kind: after.Kind, Arrival: after.Arrival, Departure: after.Departure,
		FromWaitingList: after.FromWaitingList,
	}}
	switch {
	case before.ID == "":
		event.Name = hotel.BookingMade
	case after.Status == hotel.Cancelled && before.Status == hotel.Booked:
		event.Name = hotel.BookingCancelled
	case after.RemindedAt != 0 && before.RemindedAt == 0:
		event.Name = hotel.ReminderDue
	default:
		return nil, nil
	}
	return []trigger.Event{event}, nil
}

// Detail is what an event on the bus has.
type Detail struct {
	schema.EventHead
	hotel.BookingEvent
}

// Sender takes messages.
type Sender interface {
	Send(ctx context.Context, body string) error
}

// Announce hands an event on: to the hotel, and the nights of a cancelled booking to those who wait.
func Announce(ctx context.Context, name string, detail Detail, hook, waitList Sender) error {
	kind := "booking.made"
	if name == hotel.BookingCancelled {
		kind = "booking.cancelled"
		freed := Freed{Kind: detail.Kind, From: detail.Arrival, To: detail.Departure}
		if err := send(ctx, waitList, freed); err != nil {
			return err
		}
	}
	return send(ctx, hook, Webhook{ID: "msg_" + detail.ID, Type: kind, Data: detail.BookingEvent})
}

func send(ctx context.Context, to Sender, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return to.Send(ctx, string(body))
}
