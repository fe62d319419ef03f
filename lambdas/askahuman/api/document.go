package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Document returns the OpenAPI 3.1 document of all routes, as JSON, for agents with that kind of
// identity.
func Document(agents AgentIdentity, rules *schema.AskAHumanRules) ([]byte, error) {
	s := newServer(Options{Rules: rules}, agents, nil, Hasher{})
	registerAgents(s, nil, nil)
	registerPeople(s, nil)
	s.OpenAPI().Tags = []*huma.Tag{
		{Name: "agents", Description: "What AI agents call."},
		{Name: "people", Description: "What people's apps call."},
	}
	return s.Document()
}
