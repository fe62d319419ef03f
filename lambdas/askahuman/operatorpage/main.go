// Command operatorpage is the Lambda function that serves the page for operators.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/operator"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		signIn, err := webapp.SignInFrom(environment)
		if err != nil {
			return nil, err
		}
		return operator.New(signIn)
	})
}
