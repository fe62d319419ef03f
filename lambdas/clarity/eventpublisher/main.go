// Command eventpublisher is the Lambda function that publishes what happened to attempts and profiles.
package main

import (
	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/publisher"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func main() { publisher.Start(clarity.Platform(), service.EventsOf, nil) }
