// Command webpage is the Lambda function that serves the page on which people train critical thinking.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/page"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
)

func main() {
	kit.StartHTTP("clarity", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		signIn, err := webapp.SignInFrom(environment)
		if err != nil {
			return nil, err
		}
		return page.New(signIn)
	})
}
