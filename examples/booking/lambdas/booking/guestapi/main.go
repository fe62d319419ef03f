// Command guestapi is the Lambda function that serves guests.
package main

import (
	"context"
	"net/http"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

type (
	stayInput = httpapi.Input[hotel.Stay]
	idInput   struct {
		ID string `path:"id" format:"uuid"`
	}
	placeInput struct {
		Kind    string `path:"kind"`
		Arrival string `path:"arrival" format:"date"`
		ID      string `path:"id" format:"uuid"`
	}
	nightsInput struct {
		Kind   string `path:"kind"`
		From   string `query:"from" format:"date" required:"true"`
		Nights int    `query:"nights" minimum:"1" maximum:"31" default:"14"`
	}
	listInput struct {
		Cursor string `query:"cursor"`
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	}
)

func main() {
	kit.StartHTTP("booking", func(ctx context.Context, e kit.Environment) (*kit.API, error) {
		key, err := dynamo.ReadCursorKey(ctx, e)
		if err != nil {
			return nil, err
		}
		return serve(e, hotel.Platform(), key)
	})
}

// serve serves the routes of the platform that the function has.
func serve(e kit.Environment, platform schema.Platform, key dynamo.CursorKey) (*kit.API, error) {
	db, err := dynamo.Open(e, platform, hotel.GuestAPI)
	if err != nil {
		return nil, err
	}
	service := &booking.Service{DB: db, CursorKey: key}
	server := httpapi.New(httpapi.Config{
		Platform: platform, Log: e.Log, Limiter: ratelimit.New(db, "Requests", nil), Strict: true,
		Callers: map[schema.Caller]httpapi.Identity{
			schema.CallerUser: httpapi.ByToken("userToken", "The guest is the token's subject.")},
		Idempotency: httpapi.Idempotency{Keys: idempotency.New(db, "Requests", nil),
			Description: "A key of the caller's choice: a repeat with it books no second room.",
			Passing:     []error{hotel.ErrFull, hotel.ErrFree}},
	})
	guest := func(ctx context.Context) string { return httpapi.CallerFrom(ctx).ID }
	httpapi.Serve(server, httpapi.Operation{ID: "listRooms"},
		func(ctx context.Context, _ *struct{}) ([]hotel.Room, error) { return service.Rooms(ctx) })
	httpapi.Serve(server, httpapi.Operation{ID: "listNights", Errors: []error{hotel.ErrNoRoom}},
		func(ctx context.Context, in *nightsInput) ([]booking.FreeNight, error) {
			return service.Free(ctx, in.Kind, in.From, in.Nights)
		})
	httpapi.Mutate(server, httpapi.Operation{ID: "book", Status: http.StatusCreated, Location: "/bookings/{id}",
		Errors: []error{hotel.ErrNoRoom, hotel.ErrFull}},
		func(ctx context.Context, in *stayInput) (hotel.Booking, error) {
			return service.Book(ctx, guest(ctx), in.Body)
		}, nil)
	httpapi.Serve(server, httpapi.Operation{ID: "listBookings"},
		func(ctx context.Context, in *listInput) (booking.Page, error) {
			return service.List(ctx, guest(ctx), in.Cursor, in.Limit)
		})
	httpapi.Serve(server, httpapi.Operation{ID: "getBooking", Errors: []error{hotel.ErrNoBooking}},
		func(ctx context.Context, in *idInput) (hotel.Booking, error) {
			return service.Get(ctx, guest(ctx), in.ID)
		})
	httpapi.Serve(server, httpapi.Operation{ID: "cancel", Status: http.StatusNoContent,
		Errors: []error{hotel.ErrNoBooking, hotel.ErrLate}},
		func(ctx context.Context, in *idInput) (any, error) {
			return nil, service.Cancel(ctx, guest(ctx), in.ID)
		})
	httpapi.Mutate(server, httpapi.Operation{ID: "wait", Status: http.StatusCreated,
		Errors: []error{hotel.ErrNoRoom, hotel.ErrFree}},
		func(ctx context.Context, in *stayInput) (hotel.Waiting, error) {
			return service.Wait(ctx, guest(ctx), in.Body)
		}, nil)
	httpapi.Serve(server, httpapi.Operation{ID: "listWaiting"},
		func(ctx context.Context, _ *struct{}) ([]hotel.Waiting, error) {
			return service.Waiting(ctx, guest(ctx))
		})
	httpapi.Serve(server, httpapi.Operation{ID: "leave", Status: http.StatusNoContent,
		Errors: []error{hotel.ErrNoWaiting}},
		func(ctx context.Context, in *placeInput) (any, error) {
			return nil, service.Leave(ctx, guest(ctx), in.Kind, in.Arrival, in.ID)
		})
	httpapi.Serve(server, httpapi.Operation{ID: "listMessages"},
		func(ctx context.Context, in *listInput) (booking.Messages, error) {
			return service.Messages(ctx, guest(ctx), in.Cursor, in.Limit)
		})
	return server.Handler(), nil
}
