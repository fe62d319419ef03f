package askahuman

import "github.com/onesynth-cdk/onesynth/platforms/askahuman"

// setIssuer tells the function mcpapi who issues agents' tokens, and which address or base path the API has, so that it
// can tell their clients.
func (a *AskAHuman) setIssuer(p Props) {
	if a.MCPAPI == nil {
		return
	}
	if p.PublicURL != "" {
		a.MCPAPI.AddEnvironment(map[string]string{askahuman.PublicURLVariable: p.PublicURL})
	} else if p.BasePath != "" {
		a.MCPAPI.AddEnvironment(map[string]string{askahuman.BasePathVariable: p.BasePath})
	}
	switch {
	case p.JWTIssuer != "":
		a.MCPAPI.AddEnvironment(map[string]string{askahuman.TokenIssuerVariable: p.JWTIssuer})
	case a.Agents != nil:
		a.MCPAPI.AddEnvironment(map[string]string{askahuman.TokenIssuerVariable: a.Agents.Issuer,
			askahuman.TokenScopeVariable: a.Agents.Scope})
	}
}
