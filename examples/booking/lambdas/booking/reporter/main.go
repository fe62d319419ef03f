// Command reporter is the Lambda function that reports the arrivals of the day.
package main

import (
	"context"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

func main() {
	kit.StartEvent("booking", func(_ context.Context, e kit.Environment) (func(context.Context, struct{}) error,
		error) {
		db, err := dynamo.Open(e, hotel.Platform(), hotel.Reporter)
		if err != nil {
			return nil, err
		}
		names, err := e.Require(hotel.ReportsBucket)
		if err != nil {
			return nil, err
		}
		service, reports := &booking.Service{DB: db}, booking.NewReports(e.AWS, names[0])
		return func(ctx context.Context, _ struct{}) error {
			report, err := service.Report(ctx, hotel.Today())
			if err == nil {
				err = reports.Write(ctx, report)
			}
			if err != nil {
				return err
			}
			return service.PutReport(ctx, report.Day)
		}, nil
	})
}
