package triggertest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// CheckSchemas compares the JSON Schema of each event of a platform with the file <event>.json in a folder. With the
// flag -update it writes the files instead.
func CheckSchemas(t testing.TB, platform schema.Platform, folder string) {
	t.Helper()
	var files []string
	for _, event := range platform.Events {
		file := filepath.Join(folder, event.Name+".json")
		files = append(files, file)
		if goldentest.Check(t, file, JSONSchema(t, platform, event)); t.Failed() {
			t.Logf("raise the version of %s if a field went or means something else", event.Name)
		}
	}
	found := must.Get(filepath.Glob(filepath.Join(folder, "*.json")))(t)
	for _, file := range found {
		if !slices.Contains(files, file) {
			t.Errorf("%s is of no event: remove it", file)
		}
	}
}

// JSONSchema describes the detail of an event by JSON Schema 2020-12. A field about a person has x-personal-data. The
// schema allows further fields.
func JSONSchema(t testing.TB, platform schema.Platform, event schema.Event) []byte {
	t.Helper()
	registry := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	root := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{},
		Title: platform.Title + ": " + event.Name, Description: event.Description,
		Extensions: map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema"}}
	for _, part := range []reflect.Type{reflect.TypeFor[schema.EventHead](), reflect.TypeOf(event.Detail)} {
		form := huma.SchemaFromType(registry, part)
		root.Required = append(root.Required, form.Required...)
		for name, field := range form.Properties {
			root.Properties[name] = field
		}
	}
	if forms := registry.Map(); len(forms) > 0 {
		root.Extensions["$defs"] = forms
		for _, form := range forms {
			form.AdditionalProperties = nil
		}
	}
	root.Properties["event_version"].Enum = []any{event.Version}
	for _, field := range event.Fields() {
		form := root.Properties[field.Name]
		if form.Nullable && len(form.Enum) > 0 {
			form.Enum = append(form.Enum, nil)
		}
		if field.Personal {
			form.Extensions = map[string]any{"x-personal-data": true}
		}
	}
	text := must.Get(json.Marshal(root))(t)
	var indented bytes.Buffer
	must.OK(t, json.Indent(&indented, text, "", "  "))
	return append(indented.Bytes(), '\n')
}
