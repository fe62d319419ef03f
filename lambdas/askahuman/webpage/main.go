// Command webpage is the Lambda function that serves the page for people.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/page"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		settings, err := page.ParseSettings(environment.Getenv(askahuman.PageSettingsVariable))
		if err != nil {
			return nil, err
		}
		settings.Inbox = environment.Getenv(page.InboxVariable)
		return page.New(settings)
	})
}
