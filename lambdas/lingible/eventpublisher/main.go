// Command eventpublisher is the Lambda function that publishes what happened to translations, submissions and quizzes.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func main() { events.StartPublisher(lingible.Platform(), service.Happened, nil) }
