package main

import (
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
	suite.CheckGrants(t, use)
}

// use makes every function do its work.
func use(t testing.TB, target *onesynthtest.Target) {
	alice, bob := guest(t, target), guest(t, target)
	manager, reception := staff(t, target, "manager"), staff(t, target, "reception")
	send := func(c *onesynthtest.Client, method, path string, body any) {
		t.Helper()
		if r := c.Try(t, method, path, body); r.Status >= http.StatusMultipleChoices {
			t.Errorf("got %v; want success", r)
		}
	}
	send(manager, "PUT", "/webhook", map[string]any{"url": target.Run.WebhooksURL() + "hotel"})
	send(manager, "GET", "/webhook-secret", nil)
	stay, now := rooms(t, target, 1, 1), time.Now().UTC()
	today := stay
	today.Arrival, today.Departure = hotel.Today(), hotel.AddDays(hotel.Today(), 1)
	book(t, alice, today)
	kept := book(t, alice, stay)
	target.Flush(t)
	place := onesynthtest.Read[hotel.Waiting](t, bob.Try(t, "POST", "/waiting", stay), http.StatusCreated)
	for _, path := range []string{"/rooms", "/rooms/" + stay.Kind + "/nights?from=" + stay.Arrival, "/bookings",
		"/bookings/" + kept.ID, "/waiting", "/messages"} {
		send(alice, "GET", path, nil)
	}
	send(reception, "GET", "/arrivals/"+stay.Arrival, nil)
	send(bob, "DELETE", "/waiting/"+place.Kind+"/"+place.Arrival+"/"+place.ID, nil)
	target.Set(t, "Bookings", "id", kept.ID,
		map[string]any{"due_on": now.Format(time.DateOnly), "due_at": now.Unix() - 1})
	target.RunSchedule(t, "Reminder")
	target.RunSchedule(t, "Reporter")
	send(manager, "GET", "/reports/"+hotel.Today(), nil)

	// A room passes from one guest to another. Every function behind the bus learns of it.
	send(bob, "POST", "/waiting", stay)
	cancel(t, alice, kept.ID)
	target.Flush(t)
	target.RunSchedule(t, "Lake") // merges the objects of two batches
	wait.Until(t, "the endpoint gets all", func() (any, bool) {
		got := runtest.Of(target.Run).Webhooks()
		return len(got), len(got) >= 4 // three bookings and a cancellation
	}, wait.On(target))
	try(t, target, "Waitlist", `{"kind":"nowhere","from":"2027-01-01","to":"2027-01-02"}`)
	target.Set(t, "Settings", "name", hotel.WebhookSetting, map[string]any{"url": "https://10.0.0.1/"})
	try(t, target, "Hotelhook", `{"id":"again"}`)
}

// try hands two messages to a function: one that cannot be read, which is given up, and one that comes again.
func try(t testing.TB, target *onesynthtest.Target, function, failing string) {
	t.Helper()
	runner := runtest.Of(target.Run)
	of := func(end string) string {
		names := runner.Queues()
		return names[slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "booking-Booking"+function+end)
		})]
	}
	messages := func(queue string) []runtest.Message {
		all, err := runner.Messages(queue)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	queue, failures := of("Queue"), of("QueueDeadLetters")
	for _, body := range []string{"no message", failing} {
		if err := runner.Send(queue, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, function+" has tried both", func() (any, bool) {
		waiting, failed := messages(queue), messages(failures)
		again := func(m runtest.Message) bool { return m.Body == failing && m.Received > 0 && !m.InFlight }
		return append(waiting, failed...), len(failed) > 0 && slices.ContainsFunc(waiting, again)
	}, wait.On(target))
}
