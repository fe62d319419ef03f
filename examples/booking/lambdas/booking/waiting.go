package booking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

// Wait puts the guest on the waiting list. It returns [hotel.ErrNoRoom], or [hotel.ErrFree] if the nights are free. So
// the list has all guests who want a night when that night becomes free.
func (s *Service) Wait(ctx context.Context, guest string, stay hotel.Stay) (waiting hotel.Waiting, err error) {
	room, err := s.room(ctx, stay.Kind)
	if err != nil {
		return waiting, err
	}
	taken, err := s.taken(ctx, stay.Kind, stay.Arrival, stay.Departure)
	if err != nil {
		return waiting, err
	}
	full := taken.full(stay, room.Units)
	if full == "" {
		return waiting, hotel.ErrFree
	}
	if waiting, err = hotel.NewWaiting(guest, stay); err != nil {
		return waiting, err
	}
	err = dynamo.Unless(idempotency.Transact(ctx, s.DB, "Wait", waiting,
		dynamo.Check("Nights", []any{stay.Kind, full},
			dynamo.Name("taken").GreaterThanEqual(expression.Value(room.Units))),
		dynamo.Put("Waiting", waiting, dynamo.Absent("place"))), hotel.ErrFree)
	return waiting, err
}

// Waiting returns what the guest waits for.
func (s *Service) Waiting(ctx context.Context, guest string) (waiting []hotel.Waiting, err error) {
	waiting = []hotel.Waiting{}
	for one, err := range dynamo.Read[hotel.Waiting](ctx, s.DB, "ListOwnWaiting", dynamo.Query{Values: []any{guest}}) {
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, one)
	}
	return waiting, nil
}

// Leave takes the guest off the waiting list. It returns [hotel.ErrNoWaiting].
func (s *Service) Leave(ctx context.Context, guest, kind, arrival, id string) error {
	return dynamo.Unless(s.DB.Delete(ctx, "LeaveWaiting", []any{kind, hotel.PlaceOf(arrival, id)},
		dynamo.Equal("guest", guest)), hotel.ErrNoWaiting)
}

// Freed are nights that were given back.
type Freed struct {
	Kind string `json:"kind"`
	// From is the first night, and To the day after the last one.
	From string `json:"from"`
	To   string `json:"to"`
}

// Promote gives nights that were given back to guests who wait for them, the one who came first before others, and
// returns how many got a room. It may be called again for the same nights.
func (s *Service) Promote(ctx context.Context, freed Freed) (promoted int, err error) {
	room, err := s.room(ctx, freed.Kind)
	if err != nil {
		return 0, err
	}
	// A stay with one of these nights begins less than the longest stay before them.
	first := hotel.AddDays(freed.From, 1-hotel.LongestStay)
	var waiting []hotel.Waiting
	query := dynamo.Query{Values: []any{freed.Kind, first, freed.To}}
	for one, err := range dynamo.Read[hotel.Waiting](ctx, s.DB, "ListWaiting", query) {
		if err != nil {
			return 0, err
		}
		if one.Departure > freed.From && one.Arrival >= hotel.Today() {
			waiting = append(waiting, one)
		}
	}
	if len(waiting) == 0 {
		return 0, nil
	}
	slices.SortFunc(waiting, func(a, b hotel.Waiting) int { return cmp.Compare(a.ID, b.ID) })
	taken, err := s.taken(ctx, freed.Kind, first, hotel.AddDays(freed.To, hotel.LongestStay))
	if err != nil {
		return 0, err
	}
	for _, one := range waiting {
		if taken.full(one.Stay, room.Units) != "" {
			continue
		}
		booked, err := s.bookWaiting(ctx, one, room.Units)
		if err != nil {
			return promoted, err
		}
		if booked {
			promoted++
			for _, night := range one.Nights() {
				taken[night]++
			}
		}
	}
	return promoted, nil
}

// bookWaiting books what a guest waits for, unless somebody was faster.
func (s *Service) bookWaiting(ctx context.Context, waiting hotel.Waiting, units int) (bool, error) {
	booking, err := hotel.NewBooking(waiting.Guest, waiting.Stay, time.Now())
	if err != nil {
		return false, err
	}
	booking.FromWaitingList = true
	return dynamo.Satisfied(s.DB.Transact(ctx, "BookWaiting", append(take(waiting.Stay, units),
		dynamo.Put("Bookings", booking, dynamo.Absent("id")),
		dynamo.Delete("Waiting", []any{waiting.Kind, waiting.Place}, dynamo.Equal("id", waiting.ID)))...))
}
