package askahuman

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/onesynth-cdk/onesynth/internal/loopback"
	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/mcp"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/command/output"
)

type mcpCommand struct {
	API   string `required:"" help:"Address of the API of Ask-a-Human, such as https://api.example.com or http://localhost:8080." env:"ASK_A_HUMAN_BASE_URL" placeholder:"URL"`
	Agent string `help:"Who asks, if agents are open: an id of your choice." env:"ASK_A_HUMAN_AGENT_ID" placeholder:"ID"`
	Token string `help:"Token of the API's issuer, or a key that was issued to the agent. Give it by the variable: other users of the machine can read a flag." env:"ASK_A_HUMAN_TOKEN" placeholder:"SECRET"`
}

// Help returns the text of --help below the summary.
func (c *mcpCommand) Help() string {
	return `It speaks the Model Context Protocol on standard input and output, until its input ends, and reports problems on standard error.
The tools are those of POST /mcp of the same API. If agents show tokens or keys, set ASK_A_HUMAN_TOKEN to one; if they are open, name the agent with --agent.
docs/platforms/agents.md says how to add it to a desktop agent.`
}

// mcpAttempts is how often a tool sends a request that had no answer.
const mcpAttempts = 3

// Run serves the tools.
func (c *mcpCommand) Run(ctx context.Context) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	if err := server.Run(ctx, &sdk.StdioTransport{}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the Model Context Protocol: %w", err)
	}
	return nil
}

// server is the server with the agent that the flags name.
func (c *mcpCommand) server() (*sdk.Server, error) {
	address, err := url.Parse(c.API)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" ||
		address.RawQuery != "" || address.User != nil {
		return nil, output.Usagef("--api: got %q, allowed is an http or https URL: give the address of the API, such "+
			"as https://api.example.com", c.API)
	}
	if c.Token != "" && address.Scheme == "http" && !loopback.Is(address.Hostname()) {
		return nil, output.Usagef("--api: a token must not be sent without encryption: give an https URL, or one of " +
			"this machine")
	}
	header := http.Header{}
	switch {
	case c.Token != "" && c.Agent != "":
		return nil, output.Usagef("--agent: a token says who the agent is: give one of --agent and ASK_A_HUMAN_TOKEN")
	case c.Token != "":
		header.Set("Authorization", "Bearer "+strings.TrimSpace(c.Token))
	case c.Agent == "":
		return nil, output.Usagef("there is no agent: set ASK_A_HUMAN_TOKEN to a token or a key, or, where agents " +
			"are open, give --agent")
	default:
		if err := service.CheckAgentID("--agent", c.Agent); err != nil {
			return nil, &output.UsageError{Err: err}
		}
		header.Set(askahuman.AgentHeader, c.Agent)
	}
	client := &mcp.Client{URL: c.API, Header: header, Attempts: mcpAttempts}
	return (&mcp.Server{Live: true, Client: func(context.Context, http.Header) *mcp.Client { return client }}).New(),
		nil
}
