// Command agentapi is the Lambda function that serves the routes of AI agents,
// and the OpenAPI document of the platform.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		agents, err := setup.AgentAPI(environment, "agentapi")
		if err != nil {
			return nil, err
		}
		return agents.Handler(), nil
	})
}
