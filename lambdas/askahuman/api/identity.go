package api

import (
	"context"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

// AgentKeys identify agents by keys; [askahuman.AgentKeys] is one.
type AgentKeys interface {
	// Agent returns the agent that a key names. It returns
	// [askahuman.ErrUnknownAgentKey].
	Agent(ctx context.Context, key string) (agentID string, err error)
}

// identity is how agents identify themselves. Published clients send X-Agent-Id alone, as a name or
// as a key.
func (a *AgentAPI) identity() httpapi.Identity {
	switch {
	case a.OpenAgents:
		header := httpapi.HeaderParameter(schema.AgentHeader, true, askahuman.MaxAgentIDLength, "Who asks: an id of the agent's own choice.", "my-agent")
		return httpapi.ByHeader(header, func(id string) error {
			// Ids are stored and shown unchanged, so a key, which is a secret, must not be one.
			if strings.HasPrefix(id, askahuman.AgentKeyPrefix) {
				return validate.Errorf(schema.AgentHeader, validate.RuleFormat, "begins with %s, as keys do, but this environment takes no keys; send an id of your choice that is no secret", askahuman.AgentKeyPrefix)
			}
			return askahuman.CheckAgentID(schema.AgentHeader, id)
		})
	case a.AgentKeys != nil:
		return httpapi.ByKey("agentKey", schema.AgentHeader, "A key that was issued to the agent.", a.AgentKeys.Agent, askahuman.ErrUnknownAgentKey)
	default:
		return httpapi.ByToken("agentToken", "A token of this platform's issuer. The agent is its subject.")
	}
}
