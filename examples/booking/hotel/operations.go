package hotel

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema"
)

// IDParams name a booking.
type IDParams struct {
	ID string `path:"id" format:"uuid"`
}

// PlaceParams name a place on the waiting list.
type PlaceParams struct {
	Kind    string `path:"kind"`
	Arrival string `path:"arrival" format:"date"`
	ID      string `path:"id" format:"uuid"`
}

// NightsParams say which nights are asked for.
type NightsParams struct {
	Kind   string `path:"kind"`
	From   string `query:"from" format:"date" required:"true"`
	Nights int    `query:"nights" minimum:"1" maximum:"31" default:"14"`
}

// ListParams say which page of a list is meant.
type ListParams struct {
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

// KindParams name a kind of rooms.
type KindParams struct {
	Kind string `path:"kind" pattern:"^[a-z0-9-]{1,40}$"`
}

// DayParams name a day.
type DayParams struct {
	Day string `path:"day" format:"date"`
}

// ArrivalsParams name a day and a page of its arrivals.
type ArrivalsParams struct {
	DayParams
	ListParams
}

// Page is a part of a list of bookings.
type Page struct {
	Bookings   []Booking `json:"bookings" nullable:"false"`
	NextCursor string    `json:"next_cursor,omitempty" doc:"Where the list goes on; absent at its end."`
}

// Messages is a part of a list of messages.
type Messages struct {
	Messages   []Message `json:"messages" nullable:"false"`
	NextCursor string    `json:"next_cursor,omitempty" doc:"Where the list goes on; absent at its end."`
}

// FreeNight says how many rooms of a kind are free in a night.
type FreeNight struct {
	Night string `json:"night" format:"date" doc:"The day on which the night begins."`
	Free  int    `json:"free" minimum:"0" doc:"How many rooms are free."`
}

// Report is a day of the hotel.
type Report struct {
	Day   string       `json:"day" format:"date" doc:"The day."`
	Rooms []RoomReport `json:"rooms" nullable:"false" doc:"Each kind of rooms."`
}

// RoomReport is what a report says of a kind of rooms.
type RoomReport struct {
	Kind     string   `json:"kind" doc:"The kind."`
	Units    int      `json:"units" doc:"How many the hotel has."`
	Taken    int      `json:"taken" doc:"How many are taken in the night that begins on the day."`
	Arrivals []string `json:"arrivals" nullable:"false" doc:"The bookings that begin on the day."`
}

// SigningSecret is the secret of the hotel's webhooks.
type SigningSecret struct {
	Secret string `json:"secret" doc:"What signs webhooks, as libraries of Standard Webhooks read it."`
}

// What guests do.
var (
	ListRooms = schema.Operation[schema.None, schema.None, []Room]{
		ID: "listRooms", Route: "GET /rooms", Function: GuestAPI, Caller: schema.CallerAnyone,
		Summary: "List the kinds of rooms",
	}
	ListNights = schema.Operation[NightsParams, schema.None, []FreeNight]{
		ID: "listNights", Route: "GET /rooms/{kind}/nights", Function: GuestAPI, Caller: schema.CallerAnyone,
		Summary: "See in which nights how many rooms are free", Errors: []error{ErrNoRoom},
	}
	Book = schema.Operation[schema.None, Stay, Booking]{
		ID: "book", Route: "POST /bookings", Function: GuestAPI, Caller: schema.CallerUser, RateLimit: "book",
		Summary: "Book a room", Status: http.StatusCreated, Location: "/bookings/{id}", Key: schema.KeyRequired,
		Errors: []error{ErrNoRoom, ErrFull},
	}
	ListBookings = schema.Operation[ListParams, schema.None, Page]{
		ID: "listBookings", Route: "GET /bookings", Function: GuestAPI, Caller: schema.CallerUser,
		Summary: "List one's own bookings, the latest arrival first",
	}
	GetBooking = schema.Operation[IDParams, schema.None, Booking]{
		ID: "getBooking", Route: "GET /bookings/{id}", Function: GuestAPI, Caller: schema.CallerUser,
		Summary: "Read one of one's own bookings", Errors: []error{ErrNoBooking},
	}
	Cancel = schema.Operation[IDParams, schema.None, schema.None]{
		ID: "cancel", Route: "DELETE /bookings/{id}", Function: GuestAPI, Caller: schema.CallerUser,
		Summary: "Cancel one of one's own bookings", Status: http.StatusNoContent,
		Errors: []error{ErrNoBooking, ErrLate},
	}
	Wait = schema.Operation[schema.None, Stay, Waiting]{
		ID: "wait", Route: "POST /waiting", Function: GuestAPI, Caller: schema.CallerUser, RateLimit: "book",
		Summary: "Join the waiting list", Status: http.StatusCreated, Key: schema.KeyRequired,
		Errors: []error{ErrNoRoom, ErrFree},
	}
	ListWaiting = schema.Operation[schema.None, schema.None, []Waiting]{
		ID: "listWaiting", Route: "GET /waiting", Function: GuestAPI, Caller: schema.CallerUser,
		Summary: "List what one waits for",
	}
	Leave = schema.Operation[PlaceParams, schema.None, schema.None]{
		ID: "leave", Route: "DELETE /waiting/{kind}/{arrival}/{id}", Function: GuestAPI, Caller: schema.CallerUser,
		Summary: "Leave the waiting list", Status: http.StatusNoContent, Errors: []error{ErrNoWaiting},
	}
	ListMessages = schema.Operation[ListParams, schema.None, Messages]{
		ID: "listMessages", Route: "GET /messages", Function: GuestAPI, Caller: schema.CallerUser,
		Summary: "List one's own messages, the newest first",
	}
)

// What the staff do.
var (
	PutRoom = schema.Operation[KindParams, Room, Room]{
		ID: "putRoom", Route: "PUT /rooms/{kind}", Function: StaffAPI, Caller: Manager,
		Summary: "Set how many rooms of a kind there are",
	}
	ListArrivals = schema.Operation[ArrivalsParams, schema.None, Page]{
		ID: "listArrivals", Route: "GET /arrivals/{day}", Function: StaffAPI, Caller: Reception,
		Summary: "List who arrives on a day",
	}
	GetReport = schema.Operation[DayParams, schema.None, Report]{
		ID: "getReport", Route: "GET /reports/{day}", Function: StaffAPI, Caller: Manager,
		Summary: "Read the report of a day", Errors: []error{ErrNoReport},
	}
	PutWebhook = schema.Operation[schema.None, Endpoint, Endpoint]{
		ID: "putWebhook", Route: "PUT /webhook", Function: StaffAPI, Caller: Manager,
		Summary: "Say where the hotel wants its webhooks",
	}
	GetWebhookSecret = schema.Operation[schema.None, schema.None, SigningSecret]{
		ID: "getWebhookSecret", Route: "GET /webhook-secret", Function: StaffAPI, Caller: Manager,
		Summary: "Read the secret that signs webhooks",
	}
)
