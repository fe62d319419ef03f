// Command taskpage is the Lambda function that serves the page on which people keep their tasks.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/page"
)

func main() {
	kit.StartHTTP("todo", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		signIn, err := webapp.SignInFrom(environment)
		if err != nil {
			return nil, err
		}
		return page.New(signIn)
	})
}
