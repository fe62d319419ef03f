// Command moderationapi is the Lambda function that serves the routes of operators.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		operators, err := askahuman.Open(environment, "moderationapi")
		if err != nil {
			return nil, err
		}
		arn, err := environment.Require("FINGERPRINT_SECRET_ARN")
		if err != nil {
			return nil, err
		}
		key := kit.NewSecret(environment.AWS, arn[0], 0)
		return (&api.OperatorAPI{Service: operators, Hasher: api.Hasher{Secret: key.Value},
			Options: api.Options{Log: environment.Log, Metrics: environment.Metrics}}).Handler(), nil
	})
}
