package api

import (
	"strings"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// identity is how agents identify themselves. Published clients send X-Agent-Id alone, as a name or
// as a key.
func (a *AgentAPI) identity() httpapi.Identity {
	switch {
	case a.OpenAgents:
		header := httpapi.HeaderParameter(askahuman.AgentHeader, true, askahuman.MaxAgentIDLength,
			"Who asks: an id of the agent's own choice.", "my-agent")
		return httpapi.ByHeader(header, func(id string) error {
			// Ids are stored and shown unchanged, so a key, which is a secret, must not be one.
			if strings.HasPrefix(id, service.AgentKeyPrefix) {
				return validate.Errorf(askahuman.AgentHeader, validate.RuleFormat, "begins with %s, as keys do, but "+
					"this environment takes no keys; send an id of your choice that is no secret",
					service.AgentKeyPrefix)
			}
			return service.CheckAgentID(askahuman.AgentHeader, id)
		})
	case a.AgentKeys != nil:
		return httpapi.ByKey("agentKey", askahuman.AgentHeader, "A key that was issued to the agent.",
			a.AgentKeys.Agent, askahuman.ErrUnknownAgentKey)
	default:
		return httpapi.ByToken("agentToken", "A token of this platform's issuer. The agent is its subject.")
	}
}
