package httpapitest

// Examples of what a document describes.

import (
	"encoding/json"
	"strings"
)

func (d Document) resolved(form map[string]any) map[string]any {
	reference, ok := form["$ref"].(string)
	if !ok {
		return form
	}
	target, _ := d.Components.Schemas[strings.TrimPrefix(reference, "#/components/schemas/")].(map[string]any)
	return target
}

// example is a value of the form: its own example, or a least one.
func (d Document) example(form map[string]any) any {
	form = d.resolved(form)
	if examples := asList(form["examples"]); len(examples) > 0 {
		return examples[0]
	}
	if enum := asList(form["enum"]); len(enum) > 0 {
		return enum[0]
	}
	if alternatives := append(asList(form["oneOf"]), asList(form["anyOf"])...); len(alternatives) > 0 {
		first, _ := alternatives[0].(map[string]any)
		return d.example(first)
	}
	switch typeOf(form) {
	case "integer", "number":
		return least(form, "minimum")
	case "boolean":
		return true
	case "array":
		items, _ := form["items"].(map[string]any)
		return []any{d.example(items)}
	case "object":
		object := map[string]any{}
		properties, _ := form["properties"].(map[string]any)
		for _, name := range asList(form["required"]) {
			property, _ := properties[name.(string)].(map[string]any)
			object[name.(string)] = d.example(property)
		}
		return object
	}
	switch form["format"] {
	case "date-time":
		return "2026-02-02T15:30:00Z"
	case "date":
		return "2026-02-02"
	case "uuid":
		return "550e8400-e29b-41d4-a716-446655440000"
	}
	return strings.Repeat("x", least(form, "minLength"))
}

// typeOf is the type of a form, apart from null.
func typeOf(form map[string]any) string {
	for _, each := range append(asList(form["type"]), form["type"]) {
		if name, ok := each.(string); ok && name != "null" {
			return name
		}
	}
	return ""
}

// least is the limit of that name, and 1 at least.
func least(form map[string]any, name string) int {
	n, _ := form[name].(float64)
	return max(1, int(n))
}

func asJSON(value any) string {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(body)
}
