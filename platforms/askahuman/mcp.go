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

// The environment variables of the function mcpapi with the issuer and the scope of agents' tokens. They are absent if
// agents show no tokens, or have no scope.
const (
	TokenIssuerVariable = "ISSUER"
	TokenScopeVariable  = "SCOPE"
)

// PublicURLVariable is the environment variable of the function mcpapi with the address that agents use, if it is not
// the API's own.
const PublicURLVariable = "PUBLIC_URL"

// BasePathVariable is the environment variable of the function mcpapi with the base path of the API's domain name. It
// is absent if the domain name has none.
const BasePathVariable = "BASE_PATH"

// The tools of the Model Context Protocol leave these access patterns and metrics to agentapi: no tool reports an
// answer, or reads the secrets of webhooks.
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
		Timeout:     agent.Timeout,
	})
	for i, pattern := range p.Database.AccessPatterns {
		if slices.Contains(pattern.Functions, agent.Name) && !slices.Contains(patternsWithoutTool, pattern.Name) {
			p.Database.AccessPatterns[i] = pattern.UsedBy("mcpapi")
		}
	}
	for _, metric := range schema.MetricsOf(agent.Name, p.Metrics) {
		if !slices.Contains(metricsWithoutTool, metric.Name) {
			metric.Function = "mcpapi"
			p.Metrics = append(p.Metrics, metric)
		}
	}
	p.RequestHeaders = append(p.RequestHeaders, "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version")
	add := func(method, path string, caller schema.Caller, summary string) {
		p.Routes = append(p.Routes, schema.Route{Method: method, Path: path, Function: "mcpapi", Caller: caller,
			OutsideAPI: true, Summary: summary})
	}
	add("POST", MCPPath, CallerAgent, "Call a tool, by the Model Context Protocol")
	add("GET", MCPPath, CallerAgent, "Answers that there is no stream to listen to")
	add("DELETE", MCPPath, CallerAgent, "Answers that there is no session to end")
	add("GET", rootMetadataPath, schema.CallerAnyone, "Read who issues tokens for this host")
	add("GET", rootMetadataPath+MCPPath, schema.CallerAnyone,
		"Read who issues tokens for the Model Context Protocol")
}
