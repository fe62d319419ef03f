// Command webpage is the Lambda function that serves the page on which people translate slang.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/page"
)

func main() {
	kit.StartHTTP("lingible", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		signIn, err := webapp.SignInFrom(environment)
		if err != nil {
			return nil, err
		}
		return page.New(signIn)
	})
}
