package booking

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"example.com/booking/hotel"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

// Remind notes of each booking whose reminder is due that its guest is reminded, and returns how many these are. The
// event ReminderDue follows from the note. It looks back a day, to make up for missed runs.
func (s *Service) Remind(ctx context.Context, now time.Time) (reminded int, err error) {
	for _, day := range []time.Time{now.AddDate(0, 0, -1), now} {
		query := dynamo.Query{Values: []any{day.UTC().Format(time.DateOnly), now.Unix()}}
		for item, err := range s.DB.Items(ctx, "ListDue", query) {
			if err != nil {
				return reminded, err
			}
			held, err := dynamo.Satisfied(s.DB.Update(ctx, "MarkReminded", []any{item["id"]},
				expression.Set(dynamo.Name("reminded_at"), expression.Value(now.Unix())).
					Remove(dynamo.Name("due_on")).Remove(dynamo.Name("due_at")),
				dynamo.Equal("status", hotel.Booked).And(dynamo.Absent("reminded_at")), nil))
			if err != nil {
				return reminded, err
			}
			if held {
				reminded++
			}
		}
	}
	return reminded, nil
}

// Messages returns messages to the guest, the newest first, from a cursor on.
func (s *Service) Messages(ctx context.Context, guest, from string, most int) (page hotel.Messages, err error) {
	list := dynamo.List{Pattern: "ListMessages", Values: []any{guest}, Key: s.CursorKey, Scope: []string{"to", guest}}
	page.Messages, page.NextCursor, err = dynamo.ReadPage[hotel.Message](ctx, s.DB, list, from, most)
	return page, err
}

// Tell stores a message about an event, once, however often the event comes.
func (s *Service) Tell(ctx context.Context, name, id string, at time.Time, event hotel.BookingEvent) error {
	text := fmt.Sprintf("Your stay (%s) begins on %s.", event.Kind, event.Arrival)
	if name == hotel.BookingMade {
		text = fmt.Sprintf("A room is free: you have it (%s) from %s to %s.", event.Kind, event.Arrival,
			event.Departure)
	}
	_, err := dynamo.Satisfied(s.DB.Put(ctx, "PutMessage", hotel.Message{
		Guest: event.Guest, ID: at.UTC().Format(time.RFC3339) + "#" + id, BookingID: event.BookingID, Text: text,
		SentAt: at, ExpiresAt: dynamo.ExpiryAt(at.AddDate(0, 0, 90)),
	}, dynamo.Absent("id")))
	return err
}
