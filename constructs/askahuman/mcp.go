package askahuman

import "github.com/onesynth-cdk/onesynth/platforms/askahuman"

// tellIssuer tells the function mcpapi who issues agents' tokens, so that it can tell their clients.
func (a *AskAHuman) tellIssuer(p Props) {
	switch {
	case a.MCPAPI == nil:
	case p.JWTIssuer != "":
		a.MCPAPI.AddEnvironment(map[string]string{askahuman.TokenIssuerVariable: p.JWTIssuer})
	case a.Agents != nil:
		a.MCPAPI.AddEnvironment(map[string]string{askahuman.TokenIssuerVariable: a.Agents.Issuer,
			askahuman.TokenScopeVariable: a.Agents.Scope})
	}
}
