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
	roomInput struct {
		Kind string `path:"kind" pattern:"^[a-z0-9-]{1,40}$"`
		Body hotel.Room
	}
	dayInput struct {
		Day string `path:"day" format:"date"`
	}
	arrivalsInput struct {
		Day    string `path:"day" format:"date"`
		Cursor string `query:"cursor"`
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	}
	endpointInput struct{ Body hotel.Endpoint }
	secretOutput  struct {
		Secret string `json:"secret" doc:"What signs webhooks, as libraries of Standard Webhooks read it."`
	}
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
		staff := httpapi.ByToken("userToken", "The staff are users in groups.")
		server := httpapi.New(httpapi.Config{Platform: hotel.Platform(), Log: e.Log, Strict: true,
			Callers: map[schema.Caller]httpapi.Identity{hotel.Reception: staff, hotel.Manager: staff}})
		httpapi.Serve(server, httpapi.Operation{ID: "putRoom"},
			func(ctx context.Context, in *roomInput) (hotel.Room, error) {
				return service.PutRoom(ctx, in.Kind, in.Body)
			})
		httpapi.Serve(server, httpapi.Operation{ID: "listArrivals"},
			func(ctx context.Context, in *arrivalsInput) (booking.Page, error) {
				return service.Arrivals(ctx, in.Day, in.Cursor, in.Limit)
			})
		httpapi.Serve(server, httpapi.Operation{ID: "getReport", Errors: []error{hotel.ErrNoReport}},
			func(ctx context.Context, in *dayInput) (report booking.Report, err error) {
				found, err := service.HasReport(ctx, in.Day)
				switch {
				case err != nil:
					return report, err
				case !found:
					return report, hotel.ErrNoReport
				}
				return reports.Read(ctx, in.Day)
			})
		httpapi.Serve(server, httpapi.Operation{ID: "putWebhook"},
			func(ctx context.Context, in *endpointInput) (hotel.Endpoint, error) {
				return in.Body, service.PutEndpoint(ctx, in.Body, allowed)
			})
		httpapi.Serve(server, httpapi.Operation{ID: "getWebhookSecret"},
			func(context.Context, *struct{}) (secretOutput, error) {
				return secretOutput{signing.Reveal()}, nil
			})
		return server.Handler(), nil
	})
}
