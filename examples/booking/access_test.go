package main

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Every access pattern works on a real engine as declared.
func TestAccessPatterns(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, hotel.Platform().Database)
	service := &booking.Service{DB: tables.DB, CursorKey: dynamo.CursorKey("0123456789abcdef")}
	keys, limit := idempotency.New(tables.DB, "Requests", nil), hotel.Platform().RateLimits[0]
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	arrival := hotel.AddDays(hotel.Today(), 30)
	stay := hotel.Stay{Kind: "double", Arrival: arrival, Departure: hotel.AddDays(arrival, 2), Zone: hotel.Zone}
	book := func(stay hotel.Stay) hotel.Booking {
		made, err := service.Book(ctx, "alice", stay)
		must(err)
		return made
	}
	room := func(kind string) func() error {
		return func() error { _, err := service.PutRoom(ctx, kind, hotel.Room{Title: "Room", Units: 1}); return err }
	}
	// full makes a kind with one room and books it. It returns the stay and the booking.
	full := func(kind string) (hotel.Stay, hotel.Booking) {
		must(room(kind)())
		stay := stay
		stay.Kind = kind
		return stay, book(stay)
	}
	wait := func(stay hotel.Stay) error { _, err := service.Wait(ctx, "bob", stay); return err }
	claim := func() *idempotency.Claim {
		claimed, _, err := keys.Begin(ctx, "alice", onesynthtest.Unique("key"), []byte("request"), time.Minute)
		must(err)
		return claimed
	}
	// due is a booking whose reminder is due.
	due := func(kind string) {
		_, made := full(kind)
		now := time.Now().UTC()
		must(tables.DB.Update(ctx, "MarkReminded", []any{made.ID},
			expression.Set(dynamo.Name("due_on"), expression.Value(now.Format(time.DateOnly))).
				Set(dynamo.Name("due_at"), expression.Value(now.Unix()-1)), expression.ConditionBuilder{}, nil))
	}
	remind := func() error {
		if reminded, err := service.Remind(ctx, time.Now()); err != nil || reminded != 1 {
			return errors.Join(err, errors.New("one guest is to be reminded"))
		}
		return nil
	}
	promote := func(kind string) func() error {
		return func() error {
			freed := booking.Freed{Kind: kind, From: stay.Arrival, To: stay.Departure}
			if promoted, err := service.Promote(ctx, freed); err != nil || promoted != 1 {
				return errors.Join(err, errors.New("one guest is to get the room"))
			}
			return nil
		}
	}
	ready := func(request func() error) func() func() error { return func() func() error { return request } }
	report := ready(func() error { _, err := service.Report(ctx, arrival); return err })
	promotion := func(kind string) func() func() error {
		return func() func() error {
			stay, made := full(kind)
			must(wait(stay))
			must(service.Cancel(ctx, "alice", made.ID))
			return promote(kind)
		}
	}
	tables.Measure(t, hotel.Platform().Database.AccessPatterns, dynamotest.Cases{
		"PutRoom":   ready(room("double")),
		"ListRooms": ready(func() error { _, err := service.Rooms(ctx); return err }),
		"GetRoom": func() func() error {
			must(room("double")())
			return func() error { _, err := service.Free(ctx, "double", arrival, 3); return err }
		},
		"ListNights": ready(func() error {
			_, err := service.Free(ctx, "double", arrival, 3)
			return err
		}),
		"GetNights": report,
		"Book": func() func() error {
			must(room("book")())
			stay := stay
			stay.Kind = "book"
			return func() error { book(stay); return nil }
		},
		"GetBooking": func() func() error {
			_, made := full("get")
			return func() error { _, err := service.Get(ctx, "alice", made.ID); return err }
		},
		"ListBookings": ready(func() error { _, err := service.List(ctx, "alice", "", 10); return err }),
		"ListArrivals": ready(func() error { _, err := service.Arrivals(ctx, arrival, "", 10); return err }),
		"Cancel": func() func() error {
			_, made := full("cancel")
			return func() error { return service.Cancel(ctx, "alice", made.ID) }
		},
		"ListDue":      func() func() error { due("list-due"); return remind },
		"MarkReminded": func() func() error { due("mark"); return remind },
		"Wait": func() func() error {
			stay, _ := full("wait")
			return func() error { return wait(stay) }
		},
		"ListOwnWaiting": ready(func() error { _, err := service.Waiting(ctx, "bob"); return err }),
		"LeaveWaiting": func() func() error {
			stay, _ := full("leave")
			waiting, err := service.Wait(ctx, "bob", stay)
			must(err)
			return func() error { return service.Leave(ctx, "bob", stay.Kind, stay.Arrival, waiting.ID) }
		},
		"ListWaiting": promotion("list-waiting"),
		"BookWaiting": promotion("book-waiting"),
		"PutMessage": ready(func() error {
			return service.Tell(ctx, "ReminderDue", "1", time.Now(), hotel.BookingEvent{Guest: "alice", BookingID: "1"})
		}),
		"ListMessages": ready(func() error { _, err := service.Messages(ctx, "alice", "", 10); return err }),
		"PutEndpoint": ready(func() error {
			return service.PutEndpoint(ctx, hotel.Endpoint{URL: "https://hotel.example.com/hooks"}, webhook.Addresses{})
		}),
		"PutReport":   ready(func() error { return service.PutReport(ctx, arrival) }),
		"GetReport":   ready(func() error { _, err := service.HasReport(ctx, arrival); return err }),
		"GetEndpoint": ready(func() error { return (booking.Hook{Service: service}).Send(ctx, "{}", time.Now()) }),
		schema.CountRequest: ready(func() error {
			_, err := ratelimit.New(tables.DB, "Requests", nil).CountRequest(ctx, limit, "alice", time.Now())
			return err
		}),
		schema.ClaimIdempotencyKey: ready(func() error { claim(); return nil }),
		schema.SettleIdempotencyKey: func() func() error {
			claimed := claim()
			return func() error { return keys.Settle(ctx, claimed, idempotency.Response{Status: http.StatusConflict}) }
		},
	}, nil)
}

// Schema, stack and functions have the same routes.
func TestRoutes(t *testing.T) {
	t.Parallel()
	suite.CheckRoutes(t, suite.Shared(t))
}
