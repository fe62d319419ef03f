// Package booking has the operations on bookings, rooms and the waiting list, and their requests to DynamoDB.
package booking

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"example.com/booking/hotel"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

// Service keeps bookings.
type Service struct {
	DB        *dynamo.DB
	CursorKey dynamo.CursorKey // signs the cursors of lists
}

// Book books a stay. It returns [hotel.ErrNoRoom] or [hotel.ErrFull].
func (s *Service) Book(ctx context.Context, guest string, stay hotel.Stay) (booking hotel.Booking, err error) {
	room, err := s.room(ctx, stay.Kind)
	if err != nil {
		return booking, err
	}
	// What this read sees as full costs no transaction. What it sees as free, the transaction decides.
	taken, err := s.taken(ctx, stay.Kind, stay.Arrival, stay.Departure)
	if err == nil && taken.full(stay, room.Units) != "" {
		err = hotel.ErrFull
	}
	if err != nil {
		return booking, err
	}
	if booking, err = hotel.NewBooking(guest, stay, time.Now()); err != nil {
		return booking, err
	}
	err = dynamo.Unless(idempotency.Transact(ctx, s.DB, "Book", booking,
		append(take(stay, room.Units), dynamo.Put("Bookings", booking, dynamo.Absent("id")))...), hotel.ErrFull)
	return booking, err
}

// take are the writes by which a stay takes its nights, as long as a room is free.
func take(stay hotel.Stay, units int) (writes []dynamo.Write) {
	free := dynamo.Absent("taken").Or(dynamo.Name("taken").LessThan(expression.Value(units)))
	for _, night := range stay.Nights() {
		writes = append(writes, dynamo.Update("Nights", []any{stay.Kind, night},
			expression.Add(dynamo.Name("taken"), expression.Value(1)).
				Set(dynamo.Name("expires_at"), expression.Value(hotel.Expiry(night, 30))), free))
	}
	return writes
}

// room returns a kind of rooms, or [hotel.ErrNoRoom].
func (s *Service) room(ctx context.Context, kind string) (room hotel.Room, err error) {
	found, err := s.DB.Get(ctx, "GetRoom", &room, hotel.House, kind)
	if err == nil && !found {
		err = hotel.ErrNoRoom
	}
	return room, err
}

// counts are how many rooms of a kind are taken, by night.
type counts map[string]int

// taken reads what is taken in the nights from a day to the one before another day.
func (s *Service) taken(ctx context.Context, kind, from, to string) (counts, error) {
	taken := counts{}
	values := []any{kind, from, hotel.AddDays(to, -1)}
	for night, err := range dynamo.Read[hotel.Night](ctx, s.DB, "ListNights", dynamo.Query{Values: values}) {
		if err != nil {
			return nil, err
		}
		taken[night.Night] = night.Taken
	}
	return taken, nil
}

// full is a night of a stay in which all rooms are taken; "": there is none.
func (c counts) full(stay hotel.Stay, units int) string {
	nights := stay.Nights()
	if i := slices.IndexFunc(nights, func(night string) bool { return c[night] >= units }); i >= 0 {
		return nights[i]
	}
	return ""
}

// Get returns a booking of the guest, or [hotel.ErrNoBooking].
func (s *Service) Get(ctx context.Context, guest, id string) (booking hotel.Booking, err error) {
	found, err := s.DB.Get(ctx, "GetBooking", &booking, id)
	if err == nil && (!found || booking.Guest != guest) {
		err = hotel.ErrNoBooking
	}
	return booking, err
}

// List returns bookings of the guest, the latest arrival first, from a cursor on.
func (s *Service) List(ctx context.Context, guest, from string, most int) (page hotel.Page, err error) {
	list := dynamo.List{Pattern: "ListBookings", Values: []any{guest}, Key: s.CursorKey,
		Scope: []string{"own", guest}}
	page.Bookings, page.NextCursor, err = dynamo.ReadPage[hotel.Booking](ctx, s.DB, list, from, most)
	return page, err
}

// Arrivals returns the bookings of a first day, cancelled ones too, from a cursor on.
func (s *Service) Arrivals(ctx context.Context, day, from string, most int) (page hotel.Page, err error) {
	list := dynamo.List{Pattern: "ListArrivals", Values: []any{day}, Key: s.CursorKey,
		Scope: []string{"day", day}}
	page.Bookings, page.NextCursor, err = dynamo.ReadPage[hotel.Booking](ctx, s.DB, list, from, most)
	return page, err
}

// Cancel cancels a booking of the guest. It returns [hotel.ErrNoBooking] or [hotel.ErrLate]. A cancelled booking stays
// so.
func (s *Service) Cancel(ctx context.Context, guest, id string) error {
	booking, err := s.Get(ctx, guest, id)
	switch {
	case err != nil:
		return err
	case booking.Status == hotel.Cancelled:
		return nil
	case booking.Arrival <= hotel.Today():
		return hotel.ErrLate
	}
	writes := []dynamo.Write{dynamo.Update("Bookings", []any{id},
		expression.Set(dynamo.Name("status"), expression.Value(hotel.Cancelled)).
			Remove(dynamo.Name("due_on")).Remove(dynamo.Name("due_at")), dynamo.Equal("status", hotel.Booked))}
	for _, night := range booking.Nights() {
		writes = append(writes, dynamo.Update("Nights", []any{booking.Kind, night},
			expression.Add(dynamo.Name("taken"), expression.Value(-1)),
			dynamo.Name("taken").GreaterThan(expression.Value(0))))
	}
	// A request at the same time may have cancelled it first.
	_, err = dynamo.Satisfied(s.DB.Transact(ctx, "Cancel", writes...))
	return err
}
