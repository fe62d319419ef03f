// Command moderationapi is the Lambda function that serves the routes of operators.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		store, err := dynamodb.Open(environment, "moderationapi")
		if err != nil {
			return nil, err
		}
		operators := &api.OperatorAPI{
			Service: &askahuman.Operators{Store: store},
			Options: api.Options{Log: environment.Log, Metrics: environment.Metrics},
		}
		return operators.Handler(), nil
	})
}
