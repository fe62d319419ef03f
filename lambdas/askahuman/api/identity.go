package api

import (
	"strings"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// identify says which agent calls, unless the token of Amazon API Gateway does.
func (a *AgentAPI) identify() map[schema.Caller]httpapi.Identify {
	switch {
	case a.OpenAgents:
		return map[schema.Caller]httpapi.Identify{askahuman.CallerAgent: httpapi.ByHeader(askahuman.AgentHeader,
			func(id string) error {
				// Ids are stored and shown unchanged, so a key, which is a secret, must not be one.
				if strings.HasPrefix(id, service.AgentKeyPrefix) {
					return validate.Errorf(askahuman.AgentHeader, validate.RuleFormat, "begins with %s, as keys do, "+
						"but this environment takes no keys; send an id of your choice that is no secret",
						service.AgentKeyPrefix)
				}
				return service.CheckAgentID(askahuman.AgentHeader, id)
			})}
	case a.AgentKeys != nil:
		return map[schema.Caller]httpapi.Identify{
			askahuman.CallerAgent: httpapi.ByKey(askahuman.AgentHeader, a.AgentKeys.Agent)}
	}
	return nil
}
