// Command eventpublisher is the Lambda function that publishes what happened to attempts and profiles.
package main

import (
	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func main() { events.StartPublisher(clarity.Platform(), service.Happened, nil) }
