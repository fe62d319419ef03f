// Command eventpublisher is the Lambda function that publishes the platform's events.
package main

import (
	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/publisher"
)

func main() {
	publisher.Start(hotel.Platform(), booking.EventsOf, nil)
}
