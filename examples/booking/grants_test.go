package main

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// Each role allows exactly what its function does.
func TestGrants(t *testing.T) {
	t.Parallel()
	suite.CheckGrants(t, probes, func(t testing.TB, r onesynthtest.Reply) {
		refused(t, r, http.StatusInternalServerError, "message")
	})
}

// probes make every function do its work.
func probes(t testing.TB, target *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
	alice, bob := guest(t, target), guest(t, target)
	manager, reception := staff(t, target, "manager"), staff(t, target, "reception")
	stay := rooms(t, target, 1, 1)
	today := stay
	today.Arrival, today.Departure = hotel.Today(), hotel.AddDays(hotel.Today(), 1)
	book(t, alice, today)
	kept := book(t, alice, stay)
	// Two small objects for the compactor to merge.
	if err := target.Flush(t); err != nil {
		t.Fatal(err)
	}
	left := onesynthtest.Read[hotel.Waiting](t, bob.Try(t, "POST", "/waiting", stay), http.StatusCreated)
	now := time.Now().UTC()
	target.Set(t, "Bookings", "id", kept.ID,
		map[string]any{"due_on": now.Format(time.DateOnly), "due_at": now.Unix() - 1})
	hook := func(url string) {
		target.Set(t, "Settings", "name", hotel.WebhookSetting, map[string]any{"url": url})
	}
	hook(target.Run.WebhooksURL() + "hotel")
	request := func(function, name string, c *onesynthtest.Client, method, path string, body any) onesynthtest.Probe {
		return onesynthtest.Probe{Function: function, Name: name, Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return c.Send(t.Context(), method, path, nil, body)
		}}
	}
	runner := func(schedule string) func(t testing.TB) (onesynthtest.Reply, error) {
		return func(t testing.TB) (onesynthtest.Reply, error) {
			return onesynthtest.Reply{}, target.Run.RunSchedule(t.Context(), target.Schedule(t, schedule))
		}
	}
	flush := func(t testing.TB) (onesynthtest.Reply, error) {
		return onesynthtest.Reply{}, target.FlushUntilRefused(t)
	}
	free := rooms(t, target, 1, 1)
	freed := book(t, alice, rooms(t, target, 1, 1))
	// pass moves a room from one guest to another. Every function behind the bus learns of it.
	pass := func(t testing.TB) (onesynthtest.Reply, error) {
		hook(target.Run.WebhooksURL() + "hotel")
		stay := rooms(t, target, 1, 1)
		made := book(t, alice, stay)
		onesynthtest.Read[hotel.Waiting](t, bob.Try(t, "POST", "/waiting", stay), http.StatusCreated)
		cancel(t, alice, made.ID)
		return flush(t)
	}
	// try hands two messages to a function: one that cannot be read, which is given up, and one that comes again.
	try := func(function, failing string) func(t testing.TB) (onesynthtest.Reply, error) {
		return func(t testing.TB) (onesynthtest.Reply, error) {
			runner := runtest.Of(target.Run)
			of := func(end string) string {
				names := runner.Queues()
				return names[slices.IndexFunc(names, func(name string) bool {
					return strings.HasPrefix(name, "booking-Booking"+function+end)
				})]
			}
			queue, failures := of("Queue"), of("QueueDeadLetters")
			err := errors.Join(runner.Send(queue, "no message", nil), runner.Send(queue, failing, nil))
			wait.Until(t, function+" has tried both", func() (any, bool) {
				waiting, err1 := runner.Messages(queue)
				failed, err2 := runner.Messages(failures)
				err = errors.Join(err, err1, err2)
				return append(waiting, failed...), err != nil || len(failed) > 0 &&
					slices.ContainsFunc(waiting, func(m runtest.Message) bool {
						return m.Body == failing && m.Received > 0 && !m.InFlight
					})
			}, wait.On(target))
			return onesynthtest.Reply{}, err
		}
	}
	return []onesynthtest.Probe{
			request("Guestapi", "Rooms", alice, "GET", "/rooms", nil),
			request("Guestapi", "Nights", alice, "GET", "/rooms/"+stay.Kind+"/nights?from="+stay.Arrival, nil),
			request("Guestapi", "Book", alice, "POST", "/bookings", free),
			request("Guestapi", "Bookings", alice, "GET", "/bookings", nil),
			request("Guestapi", "Booking", alice, "GET", "/bookings/"+kept.ID, nil),
			request("Guestapi", "Wait", bob, "POST", "/waiting", stay),
			request("Guestapi", "Waiting", bob, "GET", "/waiting", nil),
			request("Guestapi", "Leave", bob, "DELETE", "/waiting/"+left.Kind+"/"+left.Arrival+"/"+left.ID, nil),
			request("Guestapi", "Messages", bob, "GET", "/messages", nil),
			request("Guestapi", "Cancel", alice, "DELETE", "/bookings/"+freed.ID, nil),
			request("Staffapi", "Room", manager, "PUT", "/rooms/other", map[string]any{"title": "Other", "units": 1}),
			request("Staffapi", "Arrivals", reception, "GET", "/arrivals/"+stay.Arrival, nil),
			request("Staffapi", "Endpoint", manager, "PUT", "/webhook",
				map[string]any{"url": target.Run.WebhooksURL() + "hotel"}),
			request("Staffapi", "Secret", manager, "GET", "/webhook-secret", nil),
			{Function: "ReporterSchedule", Name: "Report", Do: runner("Reporter")},
			{Function: "Reporter", Name: "Report", Do: runner("Reporter")},
			request("Staffapi", "Report", manager, "GET", "/reports/"+hotel.Today(), nil),
			{Function: "ReminderSchedule", Name: "Remind", Do: runner("Reminder")},
			{Function: "Reminder", Name: "Remind", Do: runner("Reminder")},
			{Function: "Eventpublisher", Name: "Publish", Do: pass},
			{Function: "Announcer", Name: "Announce", Do: pass},
			{Function: "Waitlist", Name: "Promote", Do: pass},
			{Function: "Waitlist", Name: "Promote again",
				Do: try("Waitlist", `{"kind":"nowhere","from":"2027-01-01","to":"2027-01-02"}`)},
			{Function: "Hotelhook", Name: "Hook", Do: pass},
			{Function: "Hotelhook", Name: "Hook again", Do: func(t testing.TB) (onesynthtest.Reply, error) {
				hook("https://10.0.0.1/")
				return try("Hotelhook", `{"id":"again"}`)(t)
			}},
			{Function: "Postman", Name: "Tell", Do: pass},
			{Function: "LakeWriter", Name: "Write", Do: flush},
			{Function: "LakeCompactor", Name: "Compact", Do: runner("Lake")},
			{Function: "LakeSchedule", Name: "Deliver", Do: runner("Lake")},
		}, func() {
			if err := target.Flush(t); err != nil {
				t.Error(err)
			}
		}
}
