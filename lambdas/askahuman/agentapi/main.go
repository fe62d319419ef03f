// Command agentapi is the Lambda function that serves the routes of AI agents,
// and the OpenAPI document of the platform.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		store, err := dynamodb.Open(environment, "agentapi")
		if err != nil {
			return nil, err
		}
		parts, err := schema.ParseAskAHumanParts(environment.Getenv("LEFT_OUT"))
		if err != nil {
			return nil, err
		}
		rules, err := schema.ParseAskAHumanRules(environment.Getenv("RULES"))
		if err != nil {
			return nil, err
		}
		store.Quota = rules.OpenQuestions
		open, err := environment.Bool("OPEN_AGENTS")
		if err != nil {
			return nil, err
		}
		agents := &api.AgentAPI{
			Service:    &askahuman.Agents{Store: store, Ended: api.CountEnded(environment.Metrics)},
			Options:    api.Options{Parts: parts, RateLimiter: store.Limiter(), Rules: &rules, Log: environment.Log, Metrics: environment.Metrics},
			Keys:       store.Keys(),
			OpenAgents: open,
			Reports:    &askahuman.AgentReports{Store: store},
		}
		keys, err := dynamodb.OpenAgentKeys(environment, "agentapi")
		if err != nil {
			return nil, err
		}
		if keys != nil {
			agents.AgentKeys = &askahuman.AgentKeys{Store: keys, Unmarked: func(ctx context.Context, err error) {
				environment.Log.WarnContext(ctx, "the last use of a key was not kept", "error", err.Error())
			}}
		}
		return agents.Handler(), nil
	})
}
