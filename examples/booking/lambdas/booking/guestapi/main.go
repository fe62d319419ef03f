// Command guestapi is the Lambda function that serves guests.
package main

import (
	"context"

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
	request     = httpapi.Request[none, none]
	stayRequest = httpapi.Request[none, hotel.Stay]
	listRequest = httpapi.Request[hotel.ListParams, none]
	idRequest   = httpapi.Request[hotel.IDParams, none]
	none        = schema.None
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
		Platform: platform, Log: e.Log, Limiter: ratelimit.New(db, "Requests", nil),
		Idempotency: httpapi.Idempotency{Keys: idempotency.New(db, "Requests", nil)},
	})
	httpapi.Bind(server, hotel.ListRooms, func(ctx context.Context, _ request) ([]hotel.Room, error) {
		return service.Rooms(ctx)
	})
	httpapi.Bind(server, hotel.ListNights,
		func(ctx context.Context, r httpapi.Request[hotel.NightsParams, none]) ([]hotel.FreeNight, error) {
			return service.Free(ctx, r.Params.Kind, r.Params.From, r.Params.Nights)
		})
	httpapi.Bind(server, hotel.Book, func(ctx context.Context, r stayRequest) (hotel.Booking, error) {
		return service.Book(ctx, r.Caller.ID, r.Body)
	})
	httpapi.Bind(server, hotel.ListBookings, func(ctx context.Context, r listRequest) (hotel.Page, error) {
		return service.List(ctx, r.Caller.ID, r.Params.Cursor, r.Params.Limit)
	})
	httpapi.Bind(server, hotel.GetBooking, func(ctx context.Context, r idRequest) (hotel.Booking, error) {
		return service.Get(ctx, r.Caller.ID, r.Params.ID)
	})
	httpapi.Bind(server, hotel.Cancel, func(ctx context.Context, r idRequest) (none, error) {
		return none{}, service.Cancel(ctx, r.Caller.ID, r.Params.ID)
	})
	httpapi.Bind(server, hotel.Wait, func(ctx context.Context, r stayRequest) (hotel.Waiting, error) {
		return service.Wait(ctx, r.Caller.ID, r.Body)
	})
	httpapi.Bind(server, hotel.ListWaiting, func(ctx context.Context, r request) ([]hotel.Waiting, error) {
		return service.Waiting(ctx, r.Caller.ID)
	})
	httpapi.Bind(server, hotel.Leave,
		func(ctx context.Context, r httpapi.Request[hotel.PlaceParams, none]) (none, error) {
			return none{}, service.Leave(ctx, r.Caller.ID, r.Params.Kind, r.Params.Arrival, r.Params.ID)
		})
	httpapi.Bind(server, hotel.ListMessages, func(ctx context.Context, r listRequest) (hotel.Messages, error) {
		return service.Messages(ctx, r.Caller.ID, r.Params.Cursor, r.Params.Limit)
	})
	return server.Handler(), nil
}
