// Command agentapi is the Lambda function that serves the routes of AI agents,
// and the OpenAPI document of the platform.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		tables, err := dynamo.Open(environment.AWS, schema.AskAHuman().Database)
		if err != nil {
			return nil, err
		}
		shards, err := environment.Int("SHARDS", 1)
		if err != nil {
			return nil, err
		}
		store := dynamodb.New(tables, shards)
		open, err := environment.Bool("OPEN_AGENTS")
		if err != nil {
			return nil, err
		}
		agents := &api.AgentAPI{
			Service:     &askahuman.Agents{Store: store},
			RateLimiter: store,
			OpenAgents:  open,
			Log:         environment.Log,
			Metrics:     environment.Metrics,
		}
		return agents.Handler(), nil
	})
}
