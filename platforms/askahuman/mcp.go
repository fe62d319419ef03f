package askahuman

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
)

// The paths of the Model Context Protocol: the endpoint, and where clients find who issues its tokens
// (RFC 9728, section 3.1), for the endpoint and for the whole host.
const (
	MCPPath           = "/mcp"
	MCPRoute          = "POST " + MCPPath
	MCPMetadataRoute  = "GET " + rootMetadataPath + MCPPath
	RootMetadataRoute = "GET " + rootMetadataPath

	rootMetadataPath = "/.well-known/oauth-protected-resource"
)

// The variables of the function mcpapi that say who issues agents' tokens, and the scope that they ask
// for. They are absent where agents show no tokens, or have no scope.
const (
	TokenIssuerVariable = "ISSUER"
	TokenScopeVariable  = "SCOPE"
)

// Of what agentapi does, the tools of the Model Context Protocol leave these access patterns and metrics
// to it: no tool reports an answer, or reads the secrets of webhooks.
var (
	patternsWithoutTool = []string{"KeepReport", "GetWebhookSecret", "RotateWebhookSecret"}
	metricsWithoutTool  = []string{"Reported"}
)

// withMCP adds the function mcpapi, which serves the Model Context Protocol. It does with the tables what
// agentapi does. Call it after the parts that change agentapi.
func withMCP(p *schema.Platform) {
	agent := function(p, "agentapi")
	p.Functions = append(p.Functions, schema.Function{
		Name:        "mcpapi",
		ID:          "MCPAPI",
		Description: "Serves the Model Context Protocol to AI agents",
		AccessPatterns: slices.DeleteFunc(slices.Clone(agent.AccessPatterns), func(name string) bool {
			return slices.Contains(patternsWithoutTool, name)
		}),
		Timeout: agent.Timeout,
	})
	for _, metric := range schema.MetricsOf(agent.Name, p.Metrics) {
		if !slices.Contains(metricsWithoutTool, metric.Name) {
			metric.Function = "mcpapi"
			p.Metrics = append(p.Metrics, metric)
		}
	}
	p.RequestHeaders = append(p.RequestHeaders, "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version")
	p.Routes = append(p.Routes,
		schema.Route{Method: "POST", Path: MCPPath, Function: "mcpapi", Caller: CallerAgent, OutsideAPI: true,
			Summary: "Call a tool, by the Model Context Protocol"},
		schema.Route{Method: "GET", Path: MCPPath, Function: "mcpapi", Caller: CallerAgent, OutsideAPI: true,
			Summary: "Answers that there is no stream to listen to"},
		schema.Route{Method: "DELETE", Path: MCPPath, Function: "mcpapi", Caller: CallerAgent, OutsideAPI: true,
			Summary: "Answers that there is no session to end"},
		schema.Route{Method: "GET", Path: rootMetadataPath, Function: "mcpapi", Caller: schema.CallerAnyone,
			OutsideAPI: true, Summary: "Read who issues tokens for this host"},
		schema.Route{Method: "GET", Path: rootMetadataPath + MCPPath, Function: "mcpapi", Caller: schema.CallerAnyone,
			OutsideAPI: true, Summary: "Read who issues tokens for the Model Context Protocol"},
	)
}
