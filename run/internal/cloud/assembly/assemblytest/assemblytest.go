// Package assemblytest gives tests a cloud assembly of resources that they write out.
package assemblytest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// Anywhere is the environment of stacks that name no account and no region.
const Anywhere = "aws://unknown-account/unknown-region"

// Write writes a cloud assembly, and returns its folder. templates are those of its stacks, by their names; environment
// is that of all stacks, such as "aws://111122223333/eu-west-1". The file of a template is NAME.json.
func Write(t testing.TB, environment string, templates map[string]string) string {
	t.Helper()
	dir, artifacts := t.TempDir(), map[string]any{}
	for stack, template := range templates {
		file := stack + ".json"
		must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(template), 0o600))
		artifacts[stack] = map[string]any{"type": "aws:cloudformation:stack", "environment": environment,
			"properties": map[string]any{"templateFile": file}}
	}
	manifest := must.Get(json.Marshal(map[string]any{"artifacts": artifacts}))(t)
	must.OK(t, os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o600))
	return dir
}

// Load loads an assembly of one stack, called Stack, with the resources, which are a JSON object.
func Load(t testing.TB, resources string) *assembly.Assembly {
	t.Helper()
	return load(t, resources, "[]")
}

// LoadExisting loads an assembly of one stack, called Stack, that uses a table which exists. The description is a JSON
// object as the construct writes it.
func LoadExisting(t testing.TB, description string) *assembly.Assembly {
	t.Helper()
	return load(t, "{}", `[{"type": "onesynth:existing-table", "data": `+description+`}]`)
}

func load(t testing.TB, resources, metadata string) *assembly.Assembly {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"artifacts": {"Stack": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "Stack.template.json"},
			"metadata": {"/Stack/Existing": ` + metadata + `}}}}`,
		"Stack.template.json": `{"Resources": ` + resources + `}`,
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return must.Get(assembly.Load(dir, assembly.Options{}))(t)
}
