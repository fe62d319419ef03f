// Command eventpublisher is the Lambda function that publishes what happened to translations, submissions and quizzes.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/publisher"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func main() { publisher.Start(lingible.Platform(), service.EventsOf, nil) }
