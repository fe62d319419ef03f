package booking

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"example.com/booking/hotel"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/bucket"
)

// Reports keeps reports in a bucket.
type Reports struct{ bucket *bucket.Bucket }

// NewReports returns the reports in the bucket of that name.
func NewReports(config aws.Config, name string) Reports {
	return Reports{bucket.New(config, name, "application/json")}
}

func (Reports) key(day string) string { return hotel.ReportsFolder + day + ".json" }

// Read returns the report of a day that [Service.HasReport] has.
func (r Reports) Read(ctx context.Context, day string) (report hotel.Report, err error) {
	body, found, err := r.bucket.Read(ctx, r.key(day))
	if err == nil && found {
		err = json.Unmarshal(body, &report)
	}
	return report, err
}

// Write stores a report, in place of an earlier one of the day.
func (r Reports) Write(ctx context.Context, report hotel.Report) error {
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return r.bucket.Put(ctx, r.key(report.Day), bytes.NewReader(body))
}

// PutReport notes that there is a report of a day.
func (s *Service) PutReport(ctx context.Context, day string) error {
	return s.DB.Put(ctx, "PutReport", hotel.MadeReport{Day: day, MadeAt: time.Now()}, expression.ConditionBuilder{})
}

// HasReport reports whether there is a report of a day. The bucket does not say: a role that may list no objects learns
// nothing of one that is missing.
func (s *Service) HasReport(ctx context.Context, day string) (bool, error) {
	return s.DB.Get(ctx, "GetReport", &hotel.MadeReport{}, day)
}

// Report makes the report of a day.
func (s *Service) Report(ctx context.Context, day string) (hotel.Report, error) {
	report := hotel.Report{Day: day, Rooms: []hotel.RoomReport{}}
	rooms, err := s.Rooms(ctx)
	if err != nil || len(rooms) == 0 {
		return report, err
	}
	keys := make([][]any, len(rooms))
	for i, room := range rooms {
		keys[i] = []any{room.Kind, day}
	}
	nights, err := dynamo.ReadBatch[hotel.Night](ctx, s.DB, "GetNights", keys...)
	if err != nil {
		return report, err
	}
	arrivals := map[string][]string{}
	query := dynamo.Query{Values: []any{day}}
	for booking, err := range dynamo.Read[hotel.Booking](ctx, s.DB, "ListArrivals", query) {
		if err != nil {
			return report, err
		}
		if booking.Status == hotel.Booked {
			arrivals[booking.Kind] = append(arrivals[booking.Kind], booking.ID)
		}
	}
	for i, room := range rooms {
		of := hotel.RoomReport{Kind: room.Kind, Units: room.Units, Arrivals: arrivals[room.Kind]}
		if of.Arrivals == nil {
			of.Arrivals = []string{}
		}
		if nights[i] != nil {
			of.Taken = nights[i].Taken
		}
		report.Rooms = append(report.Rooms, of)
	}
	return report, nil
}
