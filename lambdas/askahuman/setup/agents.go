// Package setup wires what several functions of Ask-a-Human have.
package setup

import (
	"context"
	"slices"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema"
)

// AgentAPI returns the API of agents as a function of schema.AskAHuman serves it.
func AgentAPI(environment kit.Environment, function string) (*api.AgentAPI, error) {
	store, err := dynamodb.Open(environment, function)
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
	service := &askahuman.Agents{Store: store, Ended: api.CountEnded(environment.Metrics)}
	agents := &api.AgentAPI{
		Service:    service,
		Options:    api.Options{Parts: store.Parts, RateLimiter: store.Limiter(), Rules: &rules, Log: environment.Log, Metrics: environment.Metrics},
		Keys:       store.Keys(),
		OpenAgents: open,
		Reports:    &askahuman.AgentReports{Store: store},
	}
	if !store.Parts.WithoutWebhooks {
		service.CheckCallback = webhook.AddressesOf(environment.Getenv).CheckURL
	}
	described, _ := schema.AskAHumanWith(store.Parts).Function(function)
	if slices.Contains(described.Sends, "webhooksender") {
		url, err := environment.Require(schema.WebhookQueueVariable)
		if err != nil {
			return nil, err
		}
		agents.WebhookTests = &webhooks.Tester{Check: service.CheckCallback, Queue: queue.New(environment.AWS, url[0])}
	}
	// A function that may not read the secret serves no secrets of webhooks.
	if slices.Contains(described.Secrets, "WebhookSecret") {
		if agents.Webhooks, err = WebhookSecrets(environment, store); err != nil {
			return nil, err
		}
	}
	keys, err := dynamodb.OpenAgentKeys(environment, function)
	if err != nil {
		return nil, err
	}
	if keys != nil {
		agents.AgentKeys = &askahuman.AgentKeys{Store: keys, Unmarked: func(ctx context.Context, err error) {
			environment.Log.WarnContext(ctx, "the last use of a key was not kept", "error", err.Error())
		}}
	}
	return agents, nil
}
