package props

import (
	"reflect"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// Location is where a construct of this module is: its stack, and its path below it. A construct embeds the Location
// that [Accept] returns, so that what is declared below need not read it again: each reading is a call to the process
// of the CDK, and a platform made hundreds.
type Location struct {
	stack  awscdk.Stack
	region string
	// path is the construct's path below the stack, without a slash at the start.
	path string
}

// LocationOf returns the location of a scope. It is the zero value if the scope is nil or in no stack.
func LocationOf(scope constructs.Construct) Location {
	if IsNil(scope) {
		return Location{}
	}
	if known := embedded(scope); known.stack != nil {
		return known
	}
	if stack, ok := scope.(awscdk.Stack); ok {
		return Location{stack: stack, region: *stack.Region()}
	}
	stack := stackOf(scope)
	if stack == nil {
		return Location{}
	}
	path := strings.TrimPrefix(*scope.Node().Path(), *stack.Node().Path())
	return Location{stack: stack, region: *stack.Region(), path: strings.TrimPrefix(path, "/")}
}

// embedded returns the location that the struct of a scope embeds, or the zero value. The location of a
// construct that the struct embeds is not its own.
func embedded(scope constructs.Construct) Location {
	v := reflect.Indirect(reflect.ValueOf(scope))
	if v.Kind() != reflect.Struct {
		return Location{}
	}
	field, ok := v.Type().FieldByName("Location")
	if !ok || !field.Anonymous {
		return Location{}
	}
	for i := 1; i < len(field.Index); i++ {
		within := v.Type().FieldByIndex(field.Index[:i]).Type
		if within.Kind() != reflect.Struct || within.Implements(reflect.TypeFor[constructs.Construct]()) {
			return Location{}
		}
	}
	location, _ := v.FieldByIndex(field.Index).Interface().(Location)
	return location
}

// LocationBelow returns the location of the scope's child of that id.
func LocationBelow(scope constructs.Construct, id string) Location {
	return LocationOf(scope).below(id)
}

func (p Location) below(id string) Location {
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
	return *LocationOf(of).stack.GetLogicalId(resource)
}
