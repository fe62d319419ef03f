package askahuman

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Parts are the parts of Ask-a-Human that a stack can have or leave out. Each is described in
// a file of its own, by its name.
type Parts struct {
	// AgentKeys adds the table of issued keys.
	AgentKeys bool
	// ShareOptions tells people who have answered a multiple choice question what others chose.
	ShareOptions bool
	// WithoutWaiting leaves out reads of agents that wait for news of a question.
	WithoutWaiting bool
	// WithoutMCP leaves out the server of the Model Context Protocol.
	WithoutMCP bool
	// WithoutWebhooks leaves out the stream of questions, and the queue and the functions that send webhooks.
	WithoutWebhooks bool
	// WithoutModeration leaves out reports, and operators who hide and block.
	WithoutModeration bool
	// WithoutPage leaves the page for people out.
	WithoutPage bool
	// OperatorPage adds the page for operators. It has no effect with WithoutModeration.
	OperatorPage bool
}

// LeftOut returns the names of the left-out parts that concern functions, separated by commas: moderation, waiting and
// webhooks. Functions find it in their environment.
func (p Parts) LeftOut() string {
	var names []string
	for name, out := range p.leftOut() {
		if *out {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// ParseParts parses the result of [Parts.LeftOut]. It fails for an unknown name. AgentKeys is not in the result, since
// functions have the table's name instead, nor is ShareOptions ([ShareOptionsVariable]).
func ParseParts(leftOut string) (Parts, error) {
	var p Parts
	known := p.leftOut()
	for name := range strings.SplitSeq(leftOut, ",") {
		if name == "" {
			continue
		}
		out := known[name]
		if out == nil {
			return Parts{},
				fmt.Errorf("reading the parts that are left out: %q is none: write what Parts.LeftOut gives", name)
		}
		*out = true
	}
	return p, nil
}

func (p *Parts) leftOut() map[string]*bool {
	return map[string]*bool{"moderation": &p.WithoutModeration, "waiting": &p.WithoutWaiting,
		"webhooks": &p.WithoutWebhooks}
}

// Platform returns the platform on which AI agents ask and people answer, with every part that a stack has by default.
func Platform() schema.Platform { return With(Parts{}) }

// With returns the platform with these parts.
func With(parts Parts) schema.Platform {
	p := api()
	if !parts.WithoutModeration {
		withModeration(&p)
	}
	if parts.ShareOptions {
		withShareOptions(&p, !parts.WithoutModeration)
	}
	if parts.AgentKeys {
		withAgentKeys(&p)
	}
	if !parts.WithoutWaiting {
		withWaiting(&p)
	}
	if !parts.WithoutPage {
		withPage(&p)
	}
	if parts.OperatorPage && !parts.WithoutModeration {
		withOperatorPage(&p)
	}
	if !parts.WithoutWebhooks {
		withWebhooks(&p, !parts.WithoutModeration)
	}
	// It takes over what the parts above give to agentapi.
	if !parts.WithoutMCP {
		withMCP(&p)
	}
	p.Owned = Owned(parts)
	ruled(&p, parts, DefaultRules(), false)
	return p
}

// function returns the function of that name, to add to.
func function(p *schema.Platform, name string) *schema.Function {
	return &p.Functions[slices.IndexFunc(p.Functions, func(f schema.Function) bool { return f.Name == name })]
}

// table returns the table of that name, to add to.
func table(p *schema.Platform, name string) *schema.Table {
	tables := p.Database.Tables
	return &tables[slices.IndexFunc(tables, func(t schema.Table) bool { return t.Name == name })]
}

// describe adds attributes to the table of that name.
func describe(p *schema.Platform, name string, attributes ...schema.Attribute) {
	t := table(p, name)
	t.Attributes = append(t.Attributes, attributes...)
}

// pattern returns the access pattern of that name, to change.
func pattern(p *schema.Platform, name string) *schema.AccessPattern {
	patterns := p.Database.AccessPatterns
	return &patterns[slices.IndexFunc(patterns, func(a schema.AccessPattern) bool { return a.Name == name })]
}
