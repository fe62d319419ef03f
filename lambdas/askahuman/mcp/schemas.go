package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
)

// definitions is where a schema has the forms that it refers to.
const definitions = "$defs"

// schemaOf is the JSON Schema of a form, by the tags from which the API's document has it.
func schemaOf(form reflect.Type) map[string]any {
	forms := openapi.NewForms("#/"+definitions+"/", askahuman.Platform().API.Forms, true)
	root := forms.Schema(form, false, "")
	forms.Complete()
	schema := asMap(root)
	if forms := forms.Map(); len(forms) > 0 {
		all := map[string]any{}
		for name, form := range forms {
			if form != root {
				all[name] = asMap(form)
			}
		}
		if len(all) > 0 {
			schema[definitions] = all
		}
	}
	return schema
}

// asMap is a value as JSON decodes it. It panics on a value that is no JSON object: forms are part of
// the program.
func asMap(value any) map[string]any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("mcp: a schema cannot be written: %v", err))
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		panic(fmt.Sprintf("mcp: a schema is no object: %v", err))
	}
	return object
}

// askSchema is the input of ask_human: the form of an ask, whose type follows from its options.
func askSchema() map[string]any {
	schema := schemaOf(reflect.TypeFor[askahuman.Ask]())
	schema["required"] = []any{"prompt"}
	properties := schema["properties"].(map[string]any)
	properties["type"].(map[string]any)["description"] = "How it is answered. Default: multiple_choice with options, " +
		"text without."
	properties["idempotency_key"].(map[string]any)["description"] = "A text of your choice. Calls with the same key " +
		"within 24 hours ask once. Default: a key that follows from the other arguments."
	return schema
}

// object is the schema of an input with these arguments. A call must have the required ones.
func object(arguments map[string]any, required ...any) map[string]any {
	schema := map[string]any{"type": "object", "properties": arguments, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// either is the schema of an object that is as one of the schemas says.
func either(schemas ...map[string]any) map[string]any {
	all := map[string]any{}
	var forms []any
	for _, schema := range schemas {
		schema = maps.Clone(schema)
		if named, ok := schema[definitions].(map[string]any); ok {
			maps.Copy(all, named)
			delete(schema, definitions)
		}
		forms = append(forms, schema)
	}
	return map[string]any{"type": "object", "anyOf": forms, definitions: all}
}

// outputSchema is the schema of a result. A later version of the API may add to it.
func outputSchema[T any](description string) map[string]any {
	schema := schemaOf(reflect.TypeFor[T]())
	open(schema)
	if description != "" {
		schema["description"] = description
	}
	return schema
}

// open lets all objects of a schema have further fields.
func open(schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		if closed, ok := schema["additionalProperties"].(bool); ok && !closed {
			delete(schema, "additionalProperties")
		}
		for _, value := range schema {
			open(value)
		}
	case []any:
		for _, value := range schema {
			open(value)
		}
	}
}
