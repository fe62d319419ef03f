package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

var suite = onesynthtest.Suite{Platform: hotel.Platform(), Construct: "Booking"}

func TestMain(m *testing.M) {
	if mistake := os.Getenv(mistakeVariable); mistake != "" {
		synthesise(mistake)
		return
	}
	// Functions for this machine's processor are built once: a run builds others again.
	if runtime.GOARCH == "amd64" {
		os.Setenv("CDK_CONTEXT_JSON", `{"arch":"x86_64"}`)
	}
	suite.Main(m)
}

// guest is a new guest.
func guest(t testing.TB, target *onesynthtest.Target) *onesynthtest.Client {
	t.Helper()
	c := target.As(t, onesynthtest.Unique("guest"))
	c.IdempotencyKeys, c.Retry = true, []int{http.StatusServiceUnavailable}
	return c
}

// staff is somebody in a group.
func staff(t testing.TB, target *onesynthtest.Target, group string) *onesynthtest.Client {
	t.Helper()
	return target.As(t, onesynthtest.Unique("staff"), onesynthtest.Groups(group))
}

// rooms makes a kind of rooms that no other test uses, and returns a stay of so many nights in one.
func rooms(t testing.TB, target *onesynthtest.Target, units, nights int) hotel.Stay {
	t.Helper()
	kind := strings.ToLower("k-" + onesynthtest.Random(12))
	room := map[string]any{"title": "Room", "units": units}
	onesynthtest.Read[hotel.Room](t, staff(t, target, "manager").Try(t, "PUT", "/rooms/"+kind, room), http.StatusOK)
	arrival := hotel.AddDays(hotel.Today(), 30)
	return hotel.Stay{Kind: kind, Arrival: arrival, Departure: hotel.AddDays(arrival, nights), Zone: "America/New_York"}
}

// book books a stay.
func book(t testing.TB, c *onesynthtest.Client, stay hotel.Stay) hotel.Booking {
	t.Helper()
	return onesynthtest.Read[hotel.Booking](t, c.Try(t, "POST", "/bookings", stay), http.StatusCreated)
}

// refused checks that a reply has a status and names something.
func refused(t testing.TB, r onesynthtest.Reply, status int, names string) {
	t.Helper()
	if r.Status != status || !strings.Contains(string(r.Body), names) {
		t.Errorf("got %v; want %d that names %q", r, status, names)
	}
}

// cancel cancels a booking.
func cancel(t testing.TB, c *onesynthtest.Client, id string) {
	t.Helper()
	onesynthtest.Read[struct{}](t, c.Try(t, "DELETE", "/bookings/"+id, nil), http.StatusNoContent)
}

// taken is how many rooms are taken in the night on which a stay begins.
func taken(t testing.TB, target *onesynthtest.Target, stay hotel.Stay) string {
	t.Helper()
	return fmt.Sprint(target.Item(t, "Nights", "kind", stay.Kind, "night", stay.Arrival)["taken"])
}

// A booking is made once. Only its guest reads and cancels it, and its nights are free again.
func TestBooking(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	stay := rooms(t, target, 1, 2)
	alice, bob := guest(t, target), guest(t, target)
	once := onesynthtest.Key("once")
	first := alice.MustSend(t, "POST", "/bookings", once, stay)
	again := alice.MustSend(t, "POST", "/bookings", once, stay)
	made := onesynthtest.Read[hotel.Booking](t, first, http.StatusCreated)
	if string(again.Body) != string(first.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %v; want the answer %v again", again, first)
	}
	if made.Status != hotel.Booked || made.RemindAt != "18:00" || made.Arrival != stay.Arrival {
		t.Errorf("got %+v; want %+v", made, stay)
	}
	refused(t, bob.Try(t, "POST", "/bookings", stay), http.StatusConflict, "waiting list")
	later := stay
	later.Arrival, later.Departure = stay.Departure, hotel.AddDays(stay.Departure, 1)
	book(t, bob, later)
	overlapping := stay
	overlapping.Arrival, overlapping.Departure = hotel.AddDays(stay.Arrival, 1), hotel.AddDays(stay.Arrival, 4)
	refused(t, bob.Try(t, "POST", "/bookings", overlapping), http.StatusConflict, "waiting list")

	free := onesynthtest.Read[[]hotel.FreeNight](t, onesynthtest.NewClient(t, target).Try(t, "GET",
		"/rooms/"+stay.Kind+"/nights?nights=4&from="+stay.Arrival, nil), http.StatusOK)
	if len(free) != 4 || free[0].Free+free[1].Free+free[2].Free != 0 || free[3].Free != 1 {
		t.Errorf("got %v; want three nights without a room, and one with", free)
	}

	path := first.Header.Get("Location")
	for _, method := range []string{"GET", "DELETE"} {
		refused(t, bob.Try(t, method, path, nil), http.StatusNotFound, "no such booking")
	}
	cancel(t, alice, made.ID)
	cancel(t, alice, made.ID)
	if got := onesynthtest.Read[hotel.Booking](t, alice.Try(t, "GET", path, nil),
		http.StatusOK); got.Status != hotel.Cancelled {
		t.Errorf("got %+v; want it cancelled", got)
	}
	book(t, bob, stay)

	stay.Kind = "nowhere"
	refused(t, alice.Try(t, "POST", "/bookings", stay), http.StatusNotFound, "no rooms of this kind")
	stay.Zone, stay.Departure = "Europe/Wien", stay.Arrival
	refused(t, alice.Try(t, "POST", "/bookings", stay), http.StatusUnprocessableEntity, "zone")
	refused(t, alice.Try(t, "POST", "/bookings", stay), http.StatusUnprocessableEntity, "departure")
	refused(t, onesynthtest.NewClient(t, target).Try(t, "POST", "/bookings", stay), http.StatusUnauthorized, "")
}

// Of sixty requests for one night, as many get a room as there are, whatever else they ask for.
func TestNoOverlap(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	for _, units := range []int{1, 3} {
		stay := rooms(t, target, units, 1)
		clients := make([]*onesynthtest.Client, 60)
		for i := range clients {
			clients[i] = guest(t, target)
		}
		var booked, full atomic.Int32
		if err := onesynthtest.Together(len(clients), func(i int) error {
			asked := stay
			asked.Departure = hotel.AddDays(stay.Arrival, 1+i%3)
			r, err := clients[i].Send(t.Context(), "POST", "/bookings", nil, asked)
			switch {
			case err != nil:
				return err
			case r.Status == http.StatusCreated:
				booked.Add(1)
			case r.Status == http.StatusConflict && strings.Contains(string(r.Body), "no room of this kind"):
				full.Add(1)
			default:
				return fmt.Errorf("got %v", r)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if int(booked.Load()) != units || int(full.Load()) != len(clients)-units {
			t.Errorf("%d rooms: got %d times 201 and %d times 409", units, booked.Load(), full.Load())
		}
		if got := taken(t, target, stay); got != fmt.Sprint(units) {
			t.Errorf("%d rooms: %s are taken", units, got)
		}
	}
}

// The staff do what their group may.
func TestStaff(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	stay := rooms(t, target, 1, 1)
	stay.Arrival = hotel.AddDays(hotel.Today(), 200)
	stay.Departure = hotel.AddDays(stay.Arrival, 1)
	made := book(t, guest(t, target), stay)
	room := map[string]any{"title": "Room", "units": 1}
	refused(t, guest(t, target).Try(t, "PUT", "/rooms/x", room), http.StatusForbidden, "another group")
	refused(t, staff(t, target, "reception").Try(t, "PUT", "/rooms/x", room), http.StatusForbidden, "another group")
	refused(t, staff(t, target, "manager").Try(t, "PUT", "/rooms/x", map[string]any{"title": "Room", "units": 0}),
		http.StatusUnprocessableEntity, "units")
	refused(t, staff(t, target, "manager").Try(t, "GET", "/arrivals/"+stay.Arrival, nil), http.StatusForbidden, "")
	wait.Until(t, "the index has the booking", func() (any, bool) {
		page := onesynthtest.Read[hotel.Page](t, staff(t, target, "reception").Try(t, "GET",
			"/arrivals/"+stay.Arrival, nil), http.StatusOK)
		return page, slices.ContainsFunc(page.Bookings, func(b hotel.Booking) bool { return b.ID == made.ID })
	}, wait.On(target))
}

// A room that is given back goes to the guest who has waited longest for nights that are free then.
func TestWaitingList(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	stay := rooms(t, target, 1, 2)
	alice, bob, carol := guest(t, target), guest(t, target), guest(t, target)
	queue := func(c *onesynthtest.Client, stay hotel.Stay) onesynthtest.Reply {
		return c.Try(t, "POST", "/waiting", stay)
	}
	refused(t, queue(bob, stay), http.StatusConflict, "book it")
	made := book(t, alice, stay)
	longer := stay
	longer.Arrival = hotel.AddDays(stay.Arrival, -1)
	onesynthtest.Read[hotel.Waiting](t, queue(bob, longer), http.StatusCreated)
	onesynthtest.Read[hotel.Waiting](t, queue(carol, stay), http.StatusCreated)
	cancel(t, alice, made.ID)

	var got []hotel.Booking
	wait.For(t, "the rooms of the first one who waits", 1, func() int {
		got = onesynthtest.Read[hotel.Page](t, bob.Try(t, "GET", "/bookings", nil), http.StatusOK).Bookings
		return len(got)
	}, wait.On(target))
	if !got[0].FromWaitingList || got[0].Arrival != longer.Arrival || got[0].Status != hotel.Booked {
		t.Errorf("got %+v; want %+v from the waiting list", got[0], longer)
	}
	waiting := func(c *onesynthtest.Client) []hotel.Waiting {
		return onesynthtest.Read[[]hotel.Waiting](t, c.Try(t, "GET", "/waiting", nil), http.StatusOK)
	}
	if len(waiting(bob)) != 0 || len(waiting(carol)) != 1 {
		t.Errorf("got %v and %v waiting; want Carol alone", waiting(bob), waiting(carol))
	}
	place := "/waiting/" + stay.Kind + "/" + stay.Arrival + "/" + waiting(carol)[0].ID
	refused(t, bob.Try(t, "DELETE", place, nil), http.StatusNotFound, "do not wait")
	onesynthtest.Read[struct{}](t, carol.Try(t, "DELETE", place, nil), http.StatusNoContent)
	refused(t, carol.Try(t, "DELETE", place, nil), http.StatusNotFound, "do not wait")
	wait.Until(t, "the guest has a message by the bus", func() (any, bool) {
		page := onesynthtest.Read[hotel.Messages](t, bob.Try(t, "GET", "/messages", nil), http.StatusOK)
		return page, len(page.Messages) == 1 && page.Messages[0].BookingID == got[0].ID &&
			strings.Contains(page.Messages[0].Text, "A room is free")
	}, wait.On(target))
	event := target.Event(t, "BookingMade", map[string]any{"booking_id": got[0].ID})
	if event["from_waiting_list"] != true || event["event_version"] != 1.0 {
		t.Errorf("got %v; want the event of a booking from the waiting list", event)
	}
	target.Event(t, "BookingCancelled", map[string]any{"booking_id": made.ID})
}

// A guest is reminded once, when it is time in the guest's zone.
func TestReminder(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	stay := rooms(t, target, 3, 1)
	due, early, cancelled := guest(t, target), guest(t, target), guest(t, target)
	made, not, gone := book(t, due, stay), book(t, early, stay), book(t, cancelled, stay)
	at, err := not.Reminder()
	if err != nil {
		t.Fatal(err)
	}
	item := target.Item(t, "Bookings", "id", not.ID)
	if item["due_on"] != at.Format(time.DateOnly) || item["due_at"] != float64(at.Unix()) {
		t.Errorf("got %v; want it due at %v", item, at)
	}
	cancel(t, cancelled, gone.ID)
	now := time.Now().UTC()
	target.Set(t, "Bookings", "id", made.ID,
		map[string]any{"due_on": now.Format(time.DateOnly), "due_at": now.Unix() - 1})
	messages := func(c *onesynthtest.Client) []hotel.Message {
		return onesynthtest.Read[hotel.Messages](t, c.Try(t, "GET", "/messages", nil), http.StatusOK).Messages
	}
	wait.For(t, "the guest is reminded", true, func() bool {
		target.RunSchedule(t, "Reminder")
		return len(messages(due)) > 0
	}, wait.On(target))
	target.Event(t, "ReminderDue", map[string]any{"booking_id": made.ID})
	if got := messages(due); len(got) != 1 || !strings.Contains(got[0].Text, stay.Arrival) {
		t.Errorf("got %v; want one reminder", got)
	}
	if got := append(messages(early), messages(cancelled)...); len(got) != 0 {
		t.Errorf("got %v; want no message", got)
	}
}

// The hotel gets a signed webhook for each booking and each cancellation.
func TestWebhook(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	manager := staff(t, target, "manager")
	refused(t, manager.Try(t, "PUT", "/webhook", map[string]any{"url": "http://10.0.0.1/hooks"}),
		http.StatusUnprocessableEntity, "url")
	endpoint := map[string]any{"url": target.Run.WebhooksURL() + "hotel"}
	onesynthtest.Read[hotel.Endpoint](t, manager.Try(t, "PUT", "/webhook", endpoint), http.StatusOK)
	text := onesynthtest.Field(manager.Try(t, "GET", "/webhook-secret", nil).Body, "secret")
	secret, err := webhook.ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	stay, alice := rooms(t, target, 1, 1), guest(t, target)
	made := book(t, alice, stay)
	cancel(t, alice, made.ID)
	console := &onesynthtest.Client{URL: target.Run.ConsoleURL(), HTTP: http.DefaultClient}
	for _, kind := range []string{"booking.made", "booking.cancelled"} {
		wait.Until(t, kind, func() (any, bool) {
			var came struct {
				Webhooks []struct {
					Headers http.Header
					Body    string
				}
			}
			if err := json.Unmarshal(console.Try(t, "GET", "/webhooks", nil).Body, &came); err != nil {
				t.Fatal(err)
			}
			for _, got := range came.Webhooks {
				var hook booking.Webhook
				if json.Unmarshal([]byte(got.Body), &hook) != nil || hook.Type != kind ||
					hook.Data.BookingID != made.ID {
					continue
				}
				if err := webhook.Verify(got.Headers, []byte(got.Body), time.Now(), secret); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
				return nil, true
			}
			return len(came.Webhooks), false
		}, wait.On(target))
	}
}

// Every morning a report of the day is in the bucket.
func TestReport(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	manager, stay := staff(t, target, "manager"), rooms(t, target, 2, 1)
	stay.Arrival, stay.Departure = hotel.Today(), hotel.AddDays(hotel.Today(), 1)
	made := book(t, guest(t, target), stay)
	var report hotel.Report
	wait.Until(t, "the report has the arrival", func() (any, bool) {
		target.RunSchedule(t, "Reporter")
		r := manager.Try(t, "GET", "/reports/"+stay.Arrival, nil)
		report = onesynthtest.Read[hotel.Report](t, r, http.StatusOK)
		return report, slices.ContainsFunc(report.Rooms, func(r hotel.RoomReport) bool {
			return r.Kind == stay.Kind && r.Units == 2 && r.Taken == 1 && slices.Equal(r.Arrivals, []string{made.ID})
		})
	}, wait.On(target))
	runner := runtest.Of(target.Run)
	var object hotel.Report
	body, err := runner.Object(target.Outputs["ReportsBucketName"], hotel.ReportsFolder+stay.Arrival+".json")
	if err == nil {
		err = json.Unmarshal(body, &object)
	}
	if err != nil || object.Day != report.Day {
		t.Errorf("got %s, %v; want the report of %s", body, err, report.Day)
	}
	refused(t, manager.Try(t, "GET", "/reports/2027-01-01", nil), http.StatusNotFound, "no report")
	zone, err := time.LoadLocation(hotel.Zone)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := runner.NextRun(target.Schedule(t, "Reporter")); err != nil || next.In(zone).Hour() != 5 {
		t.Errorf("the reporter runs next at %v, %v; want five o'clock in %s", next, err, hotel.Zone)
	}
}

// Every booking lands in the lake, where the saved query counts it, without its guest.
func TestLake(t *testing.T) {
	if testing.Short() {
		t.Skip("needs DuckDB: go test without -short does")
	}
	t.Parallel()
	target := suite.Shared(t)
	stay, alice := rooms(t, target, 2, 1), guest(t, target)
	made := book(t, alice, stay)
	book(t, alice, stay)
	cancel(t, alice, made.ID)
	target.Flush(t)
	type row struct {
		Kind            string
		Made, Cancelled int
	}
	lake := laketest.Open(t, target)
	rows := laketest.Query[row](t, lake, hotel.Platform().Lakes[0].Queries[0].SQL)
	if want := (row{stay.Kind, 2, 1}); !slices.Contains(rows, want) {
		t.Errorf("got %v; want %v", rows, want)
	}
}
