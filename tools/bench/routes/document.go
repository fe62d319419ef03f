package routes

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Document is what the OpenAPI document of an API says of its requests, by path and by method in lower case.
type Document struct {
	Paths      map[string]map[string]Operation
	Components struct{ Schemas map[string]*jsonschema.Schema }
}

// Operation is a method of a path.
type Operation struct {
	Parameters []struct {
		Name, In string
		Required bool
	}
	RequestBody struct {
		Content map[string]struct{ Schema *jsonschema.Schema }
	}
	Responses map[string]struct{}

	schemas map[string]*jsonschema.Schema
}

// Operation returns a method of a path. The zero value is one that the document does not have.
func (d Document) Operation(method, path string) Operation {
	o := d.Paths[path][strings.ToLower(method)]
	o.schemas = d.Components.Schemas
	return o
}

// TakesBody reports whether requests have a body.
func (o Operation) TakesBody() bool { return len(o.RequestBody.Content) > 0 }

// Succeeds reports whether the operation declares the status for success: 200 if the document does not have the
// operation.
func (o Operation) Succeeds(status int) bool {
	_, declared := o.Responses[strconv.Itoa(status)]
	return status == http.StatusOK && len(o.Responses) == 0 || declared && status < http.StatusMultipleChoices
}

// Body returns a body of the operation, with what is given. Of the rest it has what is required: what is known by that
// name, and otherwise the document's example or first value. It is nil if requests have none, and what is given if the
// document does not have the operation.
func (o Operation) Body(given, known map[string]any) (map[string]any, error) {
	switch {
	case len(o.Responses) == 0:
		return given, nil
	case !o.TakesBody():
		return nil, nil
	}
	schema := o.RequestBody.Content["application/json"].Schema
	if name, ok := strings.CutPrefix(schema.Ref, "#/components/schemas/"); ok {
		schema = o.schemas[name]
	}
	forms := schema.OneOf
	if forms == nil {
		forms = []*jsonschema.Schema{schema}
	}
	// Of the forms that take all that is given, the one that requires the least besides. A form says of what it does
	// not take that it is null.
	var form *jsonschema.Schema
	var missing []string
	for _, f := range forms {
		takes := func(name string) bool { return f.Properties[name] != nil && f.Properties[name].Type != "null" }
		var further []string
		for _, name := range f.Required {
			if _, ok := given[name]; !ok {
				further = append(further, name)
			}
		}
		all := !slices.ContainsFunc(slices.Collect(maps.Keys(given)), func(name string) bool { return !takes(name) })
		if all && (form == nil || len(further) < len(missing)) {
			form, missing = f, further
		}
	}
	if form == nil {
		return nil, fmt.Errorf("the document has no form of the body with %v", slices.Sorted(maps.Keys(given)))
	}
	body := map[string]any{}
	maps.Copy(body, given)
	for _, name := range missing {
		property := form.Properties[name]
		value, ok := known[name]
		switch {
		case len(property.Enum) == 1:
			value = property.Enum[0]
		case ok:
		case len(property.Examples) > 0:
			value = property.Examples[0]
		case len(property.Enum) > 0:
			value = property.Enum[0]
		case property.Type == "boolean":
			value = true
		default:
			return nil, fmt.Errorf("the document has no example of %s: give it", name)
		}
		body[name] = value
	}
	return body, nil
}
