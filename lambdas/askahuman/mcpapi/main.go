// Command mcpapi is the Lambda function that serves the Model Context Protocol to AI agents.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/mcp"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		agents, err := setup.AgentAPI(environment, "mcpapi")
		if err != nil {
			return nil, err
		}
		handler := &mcp.Handler{
			API: agents.Handler(), Log: environment.Log, Parts: agents.Parts,
			Issuer:    environment.Getenv(askahuman.TokenIssuerVariable),
			Scope:     environment.Getenv(askahuman.TokenScopeVariable),
			PublicURL: environment.Getenv(askahuman.PublicURLVariable),
			BasePath:  environment.Getenv(askahuman.BasePathVariable),
		}
		return handler.Serve(), nil
	})
}
