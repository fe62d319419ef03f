package props

import (
	"reflect"
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

// PlaceOf returns the place of a scope. It is the zero value if the scope is nil or in no stack.
func PlaceOf(scope constructs.Construct) Place {
	if IsNil(scope) {
		return Place{}
	}
	if known := embedded(scope); known.stack != nil {
		return known
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

// embedded returns the place that the struct of a scope embeds, or the zero value. The place of a
// construct that the struct embeds is not its own.
func embedded(scope constructs.Construct) Place {
	v := reflect.Indirect(reflect.ValueOf(scope))
	if v.Kind() != reflect.Struct {
		return Place{}
	}
	field, ok := v.Type().FieldByName("Place")
	if !ok || !field.Anonymous {
		return Place{}
	}
	for i := 1; i < len(field.Index); i++ {
		within := v.Type().FieldByIndex(field.Index[:i]).Type
		if within.Kind() != reflect.Struct || within.Implements(reflect.TypeFor[constructs.Construct]()) {
			return Place{}
		}
	}
	place, _ := v.FieldByIndex(field.Index).Interface().(Place)
	return place
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
