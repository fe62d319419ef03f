package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// mcpAPI is the function of the Model Context Protocol, as schema.AskAHuman names it.
const mcpAPI = "mcpapi"

// tellIssuer tells the function mcpapi who issues agents' tokens, so that it can tell their clients.
func (a *AskAHuman) tellIssuer(p Props) {
	switch {
	case a.MCPAPI == nil:
	case p.JWTIssuer != "":
		a.MCPAPI.AddEnvironment(map[string]string{schema.TokenIssuerVariable: p.JWTIssuer})
	case a.Agents != nil:
		a.MCPAPI.AddEnvironment(map[string]string{schema.TokenIssuerVariable: a.Agents.Issuer, schema.TokenScopeVariable: a.Agents.Scope})
	}
}

// mcpMetadataRoutes are the routes that say who issues tokens, by method and path.
func (p Props) mcpMetadataRoutes() []string {
	if p.WithoutMCP {
		return nil
	}
	return []string{schema.RootMetadataRoute, schema.MCPMetadataRoute}
}
