package api

import (
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The headers that identify callers.
const (
	agentHeader       = schema.AgentHeader
	fingerprintHeader = schema.FingerprintHeader
)

// AgentIdentity is a way of identifying agents.
type AgentIdentity int

// The ways in which agents are identified.
const (
	// ByToken: an agent is the subject of the JWT that API Gateway has verified.
	ByToken AgentIdentity = iota
	// ByHeader: the X-Agent-Id header names the agent.
	ByHeader
	// ByKey: the agent is the one that the key was issued to.
	ByKey
)

// AgentKeys identify agents by keys; [askahuman.AgentKeys] is one.
type AgentKeys interface {
	// Agent returns the agent that a key names. It returns
	// [askahuman.ErrUnknownAgentKey].
	Agent(ctx context.Context, key string) (agentID string, err error)
}

// identity is how agents identify themselves. keys are needed only [ByKey].
func (by AgentIdentity) identity(keys AgentKeys) httpapi.Identity {
	identity := httpapi.ByToken("agentToken", "A token of this platform's issuer. The agent is its subject.")
	switch by {
	case ByHeader:
		header := httpapi.HeaderParameter(agentHeader, true, askahuman.MaxAgentIDLength, "Who asks: an id of the agent's own choice.", "my-agent")
		identity = httpapi.ByHeader(header, func(id string) error {
			// Ids are stored and shown unchanged, so a key, which is a secret, must not be one.
			if strings.HasPrefix(id, askahuman.AgentKeyPrefix) {
				return validate.Errorf(agentHeader, validate.RuleFormat, "begins with %s, as keys do, but this environment takes no keys; send an id of your choice that is no secret", askahuman.AgentKeyPrefix)
			}
			return askahuman.CheckAgentID(agentHeader, id)
		})
	case ByKey:
		identity = httpapi.Identity{
			Schemes: map[string]*huma.SecurityScheme{
				"agentKey":       {Type: "apiKey", In: "header", Name: agentHeader, Description: "A key that was issued to the agent."},
				"agentKeyBearer": {Type: "http", Scheme: "bearer", Description: "The same key. It counts before that of " + agentHeader + "."},
			},
			Errors: []error{askahuman.ErrUnknownAgentKey},
			Identify: func(ctx *httpapi.Context) (caller httpapi.Caller, err error) {
				caller.ID, err = keys.Agent(ctx.Context(), agentKey(ctx))
				return caller, err
			},
		}
	}
	identity.Tag = "agents"
	return identity
}

// people are identified by a fingerprint.
func people(hasher Hasher) httpapi.Identity {
	identity := httpapi.ByFingerprint(httpapi.HeaderParameter(fingerprintHeader, false, askahuman.MaxFingerprintLength,
		"Tells anonymous people apart. Only a keyed hash of it is stored.", "c1b9e0c5a2"), hasher)
	identity.Tag = "people"
	return identity
}

// agentKey is the key that a request shows: a bearer token, or else X-Agent-Id, which
// is all that published clients send.
func agentKey(ctx *httpapi.Context) string {
	if scheme, token, _ := strings.Cut(ctx.Header("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return ctx.Header(agentHeader)
}

// Hasher makes people and addresses anonymous.
type Hasher = httpapi.Hasher
