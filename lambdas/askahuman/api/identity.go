package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The headers that identify callers.
const (
	agentHeader       = "X-Agent-Id"
	fingerprintHeader = "X-Fingerprint"
)

// AgentIdentity says how agents are identified.
type AgentIdentity int

// The ways in which agents are identified.
const (
	// ByToken: an agent is the subject of the JWT that API Gateway has verified.
	ByToken AgentIdentity = iota
	// ByHeader: an agent is the one that its X-Agent-Id header names.
	ByHeader
	// ByKey: an agent is the one that its key was issued to.
	ByKey
)

// AgentKeys identify agents by keys; [askahuman.AgentKeys] is one.
type AgentKeys interface {
	// Agent returns the agent that a key names. It returns
	// [askahuman.ErrUnknownAgentKey].
	Agent(ctx context.Context, key string) (agentID string, err error)
}

// identifyAgent identifies the calling agent. keys are needed only [ByKey].
func identifyAgent(by AgentIdentity, keys AgentKeys) identify {
	return func(ctx *httpapi.Context) (who identity, err error) {
		if ctx.Route.Caller != schema.CallerAgent {
			return identity{}, nil
		}
		switch by {
		case ByHeader:
			who.agent = ctx.Header(agentHeader)
			// An id is stored and shown as it is: a key, which is a secret, must not be one.
			if strings.HasPrefix(who.agent, askahuman.AgentKeyPrefix) {
				return identity{}, invalid(agentHeader, askahuman.ConstraintFormat, "begins with "+askahuman.AgentKeyPrefix+", as keys do, but this environment takes no keys; send an id of your choice that is no secret")
			}
			err = askahuman.CheckAgentID(agentHeader, who.agent)
		case ByKey:
			who.agent, err = keys.Agent(ctx.Context(), agentKey(ctx))
		default:
			who.agent = kit.InvocationFrom(ctx.Context()).Subject()
		}
		return who, err
	}
}

// agentKey is the key that a request shows: a bearer token, or else X-Agent-Id, which
// is all that published clients send.
func agentKey(ctx *httpapi.Context) string {
	if scheme, token, _ := strings.Cut(ctx.Header("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return ctx.Header(agentHeader)
}

// Hasher makes people and addresses anonymous: only an HMAC of either is ever
// stored.
type Hasher struct {
	// Secret returns the key of the HMAC.
	Secret func(context.Context) (string, error)
}

// Person is the HMAC-SHA-256 of a fingerprint, in hexadecimal.
func (h Hasher) Person(ctx context.Context, fingerprint string) (string, error) {
	return h.sum(ctx, fingerprint)
}

// Address is the HMAC-SHA-256 of an IP address, in hexadecimal. No fingerprint has
// the same: none begins with the character NUL.
func (h Hasher) Address(ctx context.Context, address string) (string, error) {
	return h.sum(ctx, "\x00address\x00"+address)
}

func (h Hasher) sum(ctx context.Context, text string) (string, error) {
	key, err := h.Secret(ctx)
	if err != nil {
		return "", fmt.Errorf("hashing who calls: %w", err)
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// identifyPerson identifies the calling person and their address.
func identifyPerson(hasher Hasher) identify {
	return func(ctx *httpapi.Context) (identity, error) {
		fingerprint := ctx.Header(fingerprintHeader)
		switch length := utf8.RuneCountInString(fingerprint); {
		case fingerprint == "" && ctx.Operation().Metadata[needsPerson] == true:
			return identity{}, invalid(fingerprintHeader, askahuman.ConstraintRequired, fmt.Sprintf("is missing; send the header with a fingerprint of the browser, 1 to %d characters; only a keyed hash of it is stored", askahuman.MaxFingerprintLength))
		case length > askahuman.MaxFingerprintLength:
			return identity{}, tooLong(fingerprintHeader, length, askahuman.MaxFingerprintLength)
		case strings.ContainsFunc(fingerprint, unicode.IsControl):
			return identity{}, invalid(fingerprintHeader, askahuman.ConstraintFormat, "holds control characters; send printable ones")
		}
		var who identity
		var err error
		if fingerprint != "" {
			if who.person, err = hasher.Person(ctx.Context(), fingerprint); err != nil {
				return identity{}, err
			}
		}
		if who.address, err = hasher.Address(ctx.Context(), kit.InvocationFrom(ctx.Context()).SourceAddress); err != nil {
			return identity{}, err
		}
		return who, nil
	}
}

// tooLong is a header of so many characters, where at most so many are allowed.
func tooLong(header string, length, most int) error {
	least := 1
	return &askahuman.InvalidError{Problems: []askahuman.Problem{askahuman.LengthProblem(header, length, "character", &least, &most)}}
}
