package hotel

import (
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// A reminder comes at the guest's time of day, also where clocks are changed.
func TestReminder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ arrival, zone, at, want string }{
		"winter":                    {"2027-03-28", "Europe/Vienna", "18:00", "2027-03-27T17:00:00Z"},
		"the evening of the change": {"2027-03-29", "Europe/Vienna", "18:00", "2027-03-28T16:00:00Z"},
		"skipped in spring":         {"2027-03-29", "Europe/Vienna", "02:30", "2027-03-28T01:00:00Z"},
		"the end of the gap":        {"2027-03-29", "Europe/Vienna", "03:00", "2027-03-28T01:00:00Z"},
		"before the gap":            {"2027-03-29", "Europe/Vienna", "01:59", "2027-03-28T00:59:00Z"},
		"twice in autumn":           {"2027-11-01", "Europe/Vienna", "02:30", "2027-10-31T00:30:00Z"},
		"after the second time":     {"2027-11-01", "Europe/Vienna", "03:00", "2027-10-31T02:00:00Z"},
		"another day in UTC":        {"2027-07-02", "Pacific/Auckland", "08:00", "2027-06-30T20:00:00Z"},
		"far in the west":           {"2027-07-02", "Pacific/Pago_Pago", "18:00", "2027-07-02T05:00:00Z"},
		"a gap of half an hour":     {"2027-10-04", "Australia/Lord_Howe", "02:15", "2027-10-02T15:30:00Z"},
		"a day that never was":      {"2011-12-31", "Pacific/Apia", "18:00", "2011-12-30T10:00:00Z"},
		"without changes":           {"2027-03-29", "UTC", "02:30", "2027-03-28T02:30:00Z"},
	} {
		got, err := Stay{Arrival: test.arrival, Zone: test.zone, RemindAt: test.at}.Reminder()
		if err != nil || got.Format(time.RFC3339) != test.want {
			t.Errorf("%s: got %v, %v; want %s", name, got, err, test.want)
		}
	}
}

// A stay has 1 to 14 nights and begins within a year.
func TestStay(t *testing.T) {
	t.Parallel()
	today := Today()
	for name, test := range map[string]struct {
		change func(*Stay)
		field  string
	}{
		"right":            {func(*Stay) {}, ""},
		"the longest":      {func(s *Stay) { s.Departure = AddDays(s.Arrival, LongestStay) }, ""},
		"too long":         {func(s *Stay) { s.Departure = AddDays(s.Arrival, LongestStay+1) }, "departure"},
		"no night":         {func(s *Stay) { s.Departure = s.Arrival }, "departure"},
		"in the past":      {func(s *Stay) { s.Arrival = AddDays(today, -1) }, "arrival"},
		"too far ahead":    {func(s *Stay) { s.Arrival = AddDays(today, 366) }, "arrival"},
		"no day":           {func(s *Stay) { s.Arrival = "2027-02-30" }, "arrival"},
		"no zone":          {func(s *Stay) { s.Zone = "Europe/Wien" }, "zone"},
		"the machine's":    {func(s *Stay) { s.Zone = "Local" }, "zone"},
		"a path of a file": {func(s *Stay) { s.Zone = "../etc/passwd" }, "zone"},
	} {
		stay := Stay{Kind: "double", Arrival: AddDays(today, 3), Departure: AddDays(today, 5), Zone: "Asia/Tokyo"}
		test.change(&stay)
		var field string
		if err := openapi.Check(stay); err != nil {
			field = err.(*validate.Error).Problems[0].Field
		}
		if field != test.field {
			t.Errorf("%s: got the problem of %q; want %q", name, field, test.field)
		}
	}
	stay := Stay{Arrival: "2027-02-27", Departure: "2027-03-02"}
	if got := stay.Nights(); !slices.Equal(got, []string{"2027-02-27", "2027-02-28", "2027-03-01"}) {
		t.Errorf("got the nights %v", got)
	}
}
