package askahuman

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Accepted returns the findings of cdk-nag that the platform accepts with these props, in addition
// to the findings that every platform accepts.
func (p Props) Accepted() []nag.Accepted {
	described := p.Described()
	routes := described.RoutesOf
	accepted := slices.Concat(
		nag.OpenRoutes("People answer without an account: the function limits each fingerprint and each address, and "+
			"the stage all callers together.",
			routes(askahuman.CallerPerson)...),
		[]nag.Accepted{{
			Rule: "AwsSolutions-SMG4", Resource: "FingerprintSecret/Resource",
			Reason: "With another key every person would be a new one, without points and with all limits fresh.",
		}},
	)
	if !p.WithoutMCP {
		accepted = append(accepted, nag.OpenRoutes("Clients read who issues tokens before they have one (RFC 9728).",
			askahuman.RootMetadataRoute, askahuman.MCPMetadataRoute)...)
	}
	accepted = append(accepted, nag.OpenRoutes(
		"The page is the same files for all: people open it without an account, and its function may read nothing.",
		described.RoutesServedBy("webpage")...)...)
	accepted = append(accepted, platform.AcceptedIn(described)...)
	if !p.WithoutWebhooks {
		accepted = append(accepted, nag.Accepted{
			Rule: "AwsSolutions-SMG4", Resource: "WebhookSecret/Resource",
			Reason: "With another key all secrets of agents would change at once, and no endpoint could verify a " +
				"webhook. Agents rotate their own secrets, by POST /agent/webhook-secrets.",
		})
	}
	if p.OpenAgents {
		accepted = append(accepted, nag.OpenRoutes("Props.OpenAgents, for development, lets anyone ask.",
			routes(askahuman.CallerAgent)...)...)
	}
	if p.AgentKeys {
		accepted = append(accepted, nag.OpenRoutes("With Props.AgentKeys the function itself checks the key: an "+
			"authorizer of an HTTP API would need both headers in each request, "+
			"would keep a revoked key in its cache, and answers in another form.", routes(askahuman.CallerAgent)...)...)
	}
	if p.FCMCredentials == nil {
		accepted = append(accepted, nag.Accepted{
			Rule: "AwsSolutions-SMG4", Resource: "FCMCredentials/Resource",
			Reason: "Google issues the service account key: AWS cannot make a new one.",
		})
	}
	return accepted
}
