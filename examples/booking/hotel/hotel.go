// Package hotel is the contract of the booking platform, which its construct and its functions read: what is kept, the
// rules that need no table, the errors that callers see, tables, access patterns, functions, routes, events and lake.
package hotel

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

const (
	// Zone is the time zone of the hotel: its days begin and end there.
	Zone = "Europe/Vienna"
	// LongestStay is how many nights a stay has at most.
	LongestStay = 14
	// daysAhead is how many days ahead a stay may begin.
	daysAhead = 365
	// usualReminder is the time of day at which guests are reminded who name none.
	usualReminder = "18:00"
)

// The states of a booking.
const (
	Booked    = "booked"
	Cancelled = "cancelled"
)

// The errors that callers see.
var (
	ErrNoRoom    = problem.New(http.StatusNotFound, "", "the hotel has no rooms of this kind")
	ErrNoBooking = problem.New(http.StatusNotFound, "", "you have no such booking")
	ErrNoWaiting = problem.New(http.StatusNotFound, "", "you do not wait for this")
	ErrNoReport  = problem.New(http.StatusNotFound, "", "there is no report of this day")
	ErrFull      = problem.New(http.StatusConflict, "",
		"no room of this kind is free in all of these nights: choose others, or join the waiting list")
	ErrFree = problem.New(http.StatusConflict, "", "a room of this kind is free in all of these nights: book it")
	ErrLate = problem.New(http.StatusConflict, "", "the stay has begun: ask at the reception")
)

// Room is a kind of room. The hotel has several rooms of each kind.
type Room struct {
	Hotel string `json:"-" dynamodbav:"hotel" attribute:"Always the same: the rooms are one list"`
	Kind  string `json:"kind" dynamodbav:"kind" attribute:"Name of the kind, such as double" readOnly:"true"`
	Title string `json:"title" dynamodbav:"title" attribute:"Its name for guests" minLength:"1" maxLength:"100" doc:"Its name for guests." example:"Double room"`
	Units int    `json:"units" dynamodbav:"units" attribute:"How many of them the hotel has" minimum:"1" maximum:"1000" doc:"How many of them the hotel has. A stay that is booked at this moment may still count by the former number."`
}

// House is the Hotel of every room.
const House = "house"

// Night says how many rooms of a kind are taken in a night.
type Night struct {
	Kind      string `dynamodbav:"kind" attribute:"Kind of the rooms"`
	Night     string `dynamodbav:"night" attribute:"YYYY-MM-DD: the day on which the night begins"`
	Taken     int    `dynamodbav:"taken" attribute:"How many rooms are taken: at most the units of the kind"`
	ExpiresAt int64  `dynamodbav:"expires_at" attribute:"Unix seconds after which the item may be deleted (TTL attribute): a month after the night"`
}

// Stay is what a guest asks for.
type Stay struct {
	Kind      string `json:"kind" dynamodbav:"kind" attribute:"Kind of the room" pattern:"^[a-z0-9-]{1,40}$" doc:"The kind of the room." example:"double"`
	Arrival   string `json:"arrival" dynamodbav:"arrival" attribute:"YYYY-MM-DD" format:"date" doc:"The first day." example:"2027-03-27"`
	Departure string `json:"departure" dynamodbav:"departure" attribute:"YYYY-MM-DD" format:"date" doc:"The last day, at most 14 nights later." example:"2027-03-29"`
	Zone      string `json:"zone" dynamodbav:"zone" attribute:"IANA name of the guest's time zone" minLength:"1" maxLength:"60" doc:"The time zone of the guest, by its IANA name." example:"America/New_York"`
	RemindAt  string `json:"remind_at,omitempty" dynamodbav:"remind_at,omitempty" attribute:"HH:MM: when the guest is reminded" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"The time of day, in the guest's zone, of the reminder on the day before. Default: 18:00." example:"18:00"`
}

// Check adds what no tag says.
func (s Stay) Check(p *validate.Problems, _ string) {
	if _, err := validate.Zone(s.Zone); err != nil {
		p.Add("zone", validate.RuleEnum, "is %s, but the IANA name of a time zone is needed, such as Europe/Vienna",
			validate.Quoted(s.Zone))
	}
	if !p.Date("arrival", s.Arrival) || !p.Date("departure", s.Departure) {
		return
	}
	if today := Today(); s.Arrival < today || s.Arrival > AddDays(today, daysAhead) {
		p.Add("arrival", validate.RuleRange, "is %s, but a day from %s, which is today, to %s is needed", s.Arrival,
			today, AddDays(today, daysAhead))
	}
	first, last := AddDays(s.Arrival, 1), AddDays(s.Arrival, LongestStay)
	if s.Departure < first || s.Departure > last {
		p.Add("departure", validate.RuleRange, "is %s, but a day from %s to %s is needed", s.Departure, first, last)
	}
}

// Nights are the days on which the nights of the stay begin.
func (s Stay) Nights() (nights []string) {
	for night := s.Arrival; night < s.Departure; night = AddDays(night, 1) {
		nights = append(nights, night)
	}
	return nights
}

// Reminder is when the guest is reminded.
func (s Stay) Reminder() (time.Time, error) {
	zone, err := validate.Zone(s.Zone)
	if err != nil {
		return time.Time{}, err
	}
	wall, err := time.Parse(time.DateOnly+" 15:04", AddDays(s.Arrival, -1)+" "+s.RemindAt)
	return firstAt(wall, zone), err
}

// firstAt is the first moment at which clocks of a zone show a time, or a later one. So a time that the zone skips in
// spring is the end of the gap, and one that comes twice in autumn is the first of the two.
func firstAt(wall time.Time, zone *time.Location) time.Time {
	for at := wall.Add(-24 * time.Hour).In(zone); ; {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		moment := wall.Add(-time.Duration(offset) * time.Second)
		if moment.Before(start) {
			moment = start
		}
		if end.IsZero() || moment.Before(end) {
			return moment.UTC()
		}
		at = end
	}
}

// Booking is a room for a guest.
type Booking struct {
	ID    string `json:"id" dynamodbav:"id" attribute:"UUIDv7: in the order of time" format:"uuid"`
	Guest string `json:"guest" dynamodbav:"guest" attribute:"User who stays"`
	Stay
	Status          string    `json:"status" dynamodbav:"status" attribute:"booked or cancelled" enum:"booked,cancelled"`
	FromWaitingList bool      `json:"from_waiting_list" dynamodbav:"from_waiting_list" attribute:"Whether the guest had waited for it" doc:"Whether the guest had waited for it."`
	CreatedAt       time.Time `json:"created_at" dynamodbav:"created_at,unixtime" attribute:"Unix seconds" column:"When it was made" columntype:"timestamp"`
	DueOn           string    `json:"-" dynamodbav:"due_on,omitempty" attribute:"YYYY-MM-DD: the day of the reminder in UTC; absent without one, and once it was sent"`
	DueAt           int64     `json:"-" dynamodbav:"due_at,omitempty" attribute:"Unix seconds: when the guest is to be reminded; absent as due_on is"`
	RemindedAt      int64     `json:"-" dynamodbav:"reminded_at,omitempty" attribute:"Unix seconds: when the guest was reminded; absent before"`
	ExpiresAt       int64     `json:"-" dynamodbav:"expires_at" attribute:"Unix seconds after which the item may be deleted (TTL attribute): a year after the departure"`
}

// NewBooking is a booking of a stay. It has no reminder if the time of the reminder has passed.
func NewBooking(guest string, stay Stay, now time.Time) (Booking, error) {
	if stay.RemindAt == "" {
		stay.RemindAt = usualReminder
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Booking{}, err
	}
	booking := Booking{ID: id.String(), Guest: guest, Stay: stay, Status: Booked,
		CreatedAt: now.UTC().Truncate(time.Second), ExpiresAt: Expiry(stay.Departure, daysAhead)}
	due, err := stay.Reminder()
	if err == nil && due.After(now) {
		booking.DueOn, booking.DueAt = due.Format(time.DateOnly), due.Unix()
	}
	return booking, err
}

// Waiting is a guest on the waiting list.
type Waiting struct {
	Place string `json:"-" dynamodbav:"place" attribute:"Arrival, # and id: the list by arrival"`
	ID    string `json:"id" dynamodbav:"id" attribute:"UUIDv7: who came first is first" format:"uuid"`
	Guest string `json:"-" dynamodbav:"guest" attribute:"User who waits"`
	Stay
	ExpiresAt int64 `json:"-" dynamodbav:"expires_at" attribute:"Unix seconds after which the item may be deleted (TTL attribute): the day after the arrival"`
}

// PlaceOf is where a guest of that id waits.
func PlaceOf(arrival, id string) string { return arrival + "#" + id }

// NewWaiting is the last place on the waiting list.
func NewWaiting(guest string, stay Stay) (Waiting, error) {
	id, err := uuid.NewV7()
	return Waiting{Place: PlaceOf(stay.Arrival, id.String()), ID: id.String(), Guest: guest, Stay: stay,
		ExpiresAt: Expiry(stay.Arrival, 1)}, err
}

// Message is what a guest is told.
type Message struct {
	Guest     string    `json:"-" dynamodbav:"guest" attribute:"User who is told"`
	ID        string    `json:"id" dynamodbav:"id" attribute:"When it happened, # and the id of the event: the same for a repeat"`
	BookingID string    `json:"booking_id" dynamodbav:"booking_id" attribute:"Booking that it is about" format:"uuid"`
	Text      string    `json:"text" dynamodbav:"text" attribute:"What the guest reads"`
	SentAt    time.Time `json:"sent_at" dynamodbav:"sent_at,unixtime" attribute:"Unix seconds"`
	ExpiresAt int64     `json:"-" dynamodbav:"expires_at" attribute:"Unix seconds after which the item may be deleted (TTL attribute): 90 days later"`
}

// MadeReport says that there is a report of a day in the bucket.
type MadeReport struct {
	Day    string    `dynamodbav:"day" attribute:"YYYY-MM-DD"`
	MadeAt time.Time `dynamodbav:"made_at,unixtime" attribute:"Unix seconds"`
}

// Endpoint is where the hotel wants its webhooks.
type Endpoint struct {
	Name string `json:"-" dynamodbav:"name" attribute:"Name of the setting: webhook"`
	URL  string `json:"url" dynamodbav:"url" attribute:"Address of the hotel's endpoint" minLength:"1" maxLength:"2048" doc:"Where the hotel wants its webhooks." example:"https://hotel.example.com/hooks"`
}

// WebhookSetting is the Name of the endpoint.
const WebhookSetting = "webhook"

// BookingEvent are the fields of the events about a booking.
type BookingEvent struct {
	BookingID       string `json:"booking_id" format:"uuid" doc:"The booking."`
	Guest           string `json:"guest" maxLength:"255" doc:"The user who stays." personal:"true"`
	Kind            string `json:"kind" maxLength:"40" doc:"The kind of the room."`
	Arrival         string `json:"arrival" format:"date" doc:"The first day."`
	Departure       string `json:"departure" format:"date" doc:"The last day."`
	FromWaitingList bool   `json:"from_waiting_list" doc:"Whether the guest had waited for it."`
}

// Today is the day in the hotel, as YYYY-MM-DD.
func Today() string {
	zone, err := time.LoadLocation(Zone)
	if err != nil {
		panic(err) // The binary has all zones.
	}
	return time.Now().In(zone).Format(time.DateOnly)
}

// AddDays is a day so many days later.
func AddDays(day string, days int) string {
	parsed, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // Each day that is stored, or comes with a request, was checked.
	}
	return parsed.AddDate(0, 0, days).Format(time.DateOnly)
}

// Expiry is the time to live of what is kept for so many days after a day.
func Expiry(day string, days int) int64 {
	parsed, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // As in AddDays.
	}
	return parsed.AddDate(0, 0, days+1).Unix()
}
