// Command eventpublisher is the Lambda function that publishes what happened to questions, and what was reported.
package main

import (
	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func main() { trigger.StartPublisher(askahuman.Platform(), service.EventsOf, nil) }
