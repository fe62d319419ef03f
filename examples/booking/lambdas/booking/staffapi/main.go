// Command staffapi is the Lambda function that serves the staff.
package main

import (
	"context"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema"
)

type (
	dayRequest = httpapi.Request[hotel.DayParams, none]
	none       = schema.None
)

func main() {
	kit.StartHTTP("booking", func(ctx context.Context, e kit.Environment) (*kit.API, error) {
		db, err := dynamo.Open(e, hotel.Platform(), hotel.StaffAPI)
		if err != nil {
			return nil, err
		}
		key, err := dynamo.ReadCursorKey(ctx, e)
		if err != nil {
			return nil, err
		}
		signing, err := booking.ReadWebhookSecret(ctx, e)
		if err != nil {
			return nil, err
		}
		names, err := e.Require(hotel.ReportsBucket)
		if err != nil {
			return nil, err
		}
		service, reports := &booking.Service{DB: db, CursorKey: key}, booking.NewReports(e.AWS, names[0])
		allowed := webhook.AddressesOf(e.Getenv)
		server := httpapi.New(httpapi.Config{Platform: hotel.Platform(), Log: e.Log})
		httpapi.Bind(server, hotel.PutRoom,
			func(ctx context.Context, r httpapi.Request[hotel.KindParams, hotel.Room]) (hotel.Room, error) {
				return service.PutRoom(ctx, r.Params.Kind, r.Body)
			})
		httpapi.Bind(server, hotel.ListArrivals,
			func(ctx context.Context, r httpapi.Request[hotel.ArrivalsParams, none]) (hotel.Page, error) {
				return service.Arrivals(ctx, r.Params.Day, r.Params.Cursor, r.Params.Limit)
			})
		httpapi.Bind(server, hotel.GetReport, func(ctx context.Context, r dayRequest) (report hotel.Report, err error) {
			found, err := service.HasReport(ctx, r.Params.Day)
			switch {
			case err != nil:
				return report, err
			case !found:
				return report, hotel.ErrNoReport
			}
			return reports.Read(ctx, r.Params.Day)
		})
		httpapi.Bind(server, hotel.PutWebhook,
			func(ctx context.Context, r httpapi.Request[none, hotel.Endpoint]) (hotel.Endpoint, error) {
				return r.Body, service.PutEndpoint(ctx, r.Body, allowed)
			})
		httpapi.Bind(server, hotel.GetWebhookSecret,
			func(context.Context, httpapi.Request[none, none]) (hotel.SigningSecret, error) {
				return hotel.SigningSecret{Secret: signing.Reveal()}, nil
			})
		return server.Handler(), nil
	})
}
