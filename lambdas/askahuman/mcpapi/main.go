// Command mcpapi is the Lambda function that serves the Model Context Protocol to AI agents.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/mcp"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	kit.StartHTTP("askahuman", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		agents, err := setup.AgentAPI(environment, "mcpapi")
		if err != nil {
			return nil, err
		}
		handler := &mcp.Handler{
			API: agents.Handler(), Log: environment.Log, WithoutWaiting: agents.Parts.WithoutWaiting,
			Issuer: environment.Getenv(schema.TokenIssuerVariable), Scope: environment.Getenv(schema.TokenScopeVariable),
		}
		return handler.Serve(), nil
	})
}
