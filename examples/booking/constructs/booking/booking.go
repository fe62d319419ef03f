// Package booking declares the booking platform: everything of it by one call, with secure defaults.
package booking

import (
	"cmp"
	"time"

	"github.com/aws/constructs-go/constructs/v10"

	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
)

// Props configure the platform. The zero value gives all of it.
type Props struct {
	platform.Props
	platform.UserProps
	platform.LakeProps
}

// Booking is the platform, with its tables, functions, API, user pool, queues, bus, lake and alarms.
type Booking struct {
	constructs.Construct
	platform.Platform
}

// New declares the platform. It ends the program with all that is wrong in the props. Events are always on, because
// messages to guests come by the bus.
func New(scope constructs.Construct, id string, p Props) *Booking {
	p.Events = true
	p.LakeBatchWindow = cmp.Or(p.LakeBatchWindow, 5*time.Second)
	b := &Booking{}
	platform.Declare(b, scope, id, hotel.Platform(), platform.Declaration{
		Module: "example.com/booking", Props: p.Props, UserProps: p.UserProps, LakeProps: p.LakeProps,
	})
	announcer, postman := b.Functions[hotel.Announcer], b.Functions[hotel.Postman]
	b.On(hotel.BookingMade, eventbus.Target{Function: announcer})
	b.On(hotel.BookingCancelled, eventbus.Target{Function: announcer})
	b.On(hotel.ReminderDue, eventbus.Target{Function: postman})
	b.On(hotel.BookingMade, eventbus.Target{ID: "OnWaitingListLeft", Function: postman,
		Detail: map[string]any{"from_waiting_list": []any{true}}})
	return b
}
