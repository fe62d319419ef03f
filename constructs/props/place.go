package props

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// Place is where a construct of this module is: its stack, and its path below it. A construct embeds
// it as [Accept] returns it, so that what is declared below reads none of it again: each reading is a
// call to the process of the CDK, and a platform made hundreds.
type Place struct {
	stack  awscdk.Stack
	region string
	// path is the construct's path below the stack, without a slash at the start.
	path string
}

func (p *Place) place() *Place { return p }

// PlaceOf returns the place of a scope. It is the zero value if the scope is nil or in no stack.
func PlaceOf(scope constructs.Construct) Place {
	if IsNil(scope) {
		return Place{}
	}
	if known, ok := scope.(interface{ place() *Place }); ok && known.place().stack != nil {
		return *known.place()
	}
	if stack, ok := scope.(awscdk.Stack); ok {
		return Place{stack: stack, region: *stack.Region()}
	}
	stack := stackOf(scope)
	if stack == nil {
		return Place{}
	}
	path := strings.TrimPrefix(*scope.Node().Path(), *stack.Node().Path())
	return Place{stack: stack, region: *stack.Region(), path: strings.TrimPrefix(path, "/")}
}

// PlaceBelow returns the place of the scope's child of that id.
func PlaceBelow(scope constructs.Construct, id string) Place { return PlaceOf(scope).below(id) }

func (p Place) below(id string) Place {
	// The CDK writes a slash within an id as two hyphens.
	id = strings.ReplaceAll(id, "/", "--")
	if p.path != "" {
		id = p.path + "/" + id
	}
	p.path = id
	return p
}

// LogicalID returns the logical id of a resource in the stack of a construct.
func LogicalID(of constructs.Construct, resource awscdk.CfnElement) string {
	return *PlaceOf(of).stack.GetLogicalId(resource)
}
