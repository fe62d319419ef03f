// Package setup wires what several functions of Ask-a-Human have.
package setup

import (
	"context"
	"slices"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// AgentAPI returns the API of agents as a function of askahuman.Platform serves it.
func AgentAPI(environment kit.Environment, function string) (*api.AgentAPI, error) {
	asks, err := service.Open(environment, function)
	if err != nil {
		return nil, err
	}
	asks.Ended = api.CountEnded(environment.Metrics)
	open, err := environment.Bool("OPEN_AGENTS")
	if err != nil {
		return nil, err
	}
	agents := &api.AgentAPI{
		Service: asks,
		Options: api.Options{Parts: asks.Parts, RateLimiter: asks.Limiter(), Rules: asks.Rules, Log: environment.Log,
			Metrics: environment.Metrics, Extra: asks.DB.Extra()},
		Keys:       asks.Keys(),
		OpenAgents: open,
	}
	if !asks.Parts.WithoutWebhooks {
		asks.CheckCallback = webhook.AddressesOf(environment.Getenv).CheckURL
	}
	described, _ := asks.Platform().Function(function)
	if slices.Contains(described.Sends, "webhooksender") {
		url, err := environment.Require(askahuman.WebhookQueueVariable)
		if err != nil {
			return nil, err
		}
		agents.WebhookTests = &webhooks.Tester{Check: asks.CheckCallback,
			Send: queue.New(environment.AWS, url[0]).Send}
		if !asks.Parts.WithoutModeration {
			agents.WebhookTests.CheckAgent = asks.CheckAgent
		}
	}
	// A function that may not read the secret serves no secrets of webhooks.
	if slices.Contains(described.Secrets, "WebhookSecret") {
		if agents.Webhooks, err = WebhookSecrets(environment, asks.DB); err != nil {
			return nil, err
		}
	}
	if agents.AgentKeys, err = service.OpenAgentKeys(environment, function); err != nil {
		return nil, err
	}
	if agents.AgentKeys != nil {
		agents.AgentKeys.Unmarked = func(ctx context.Context, err error) {
			environment.Log.WarnContext(ctx, "the last use of a key was not kept", "error", err.Error())
		}
	}
	return agents, nil
}
