// Command eventpublisher is the Lambda function that publishes what happened to questions, and what was reported.
package main

import (
	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/publisher"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func main() { publisher.Start(askahuman.Platform(), service.EventsOf, nil) }
