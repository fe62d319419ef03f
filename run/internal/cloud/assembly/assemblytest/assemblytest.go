// Package assemblytest gives tests a cloud assembly of resources that they write out.
package assemblytest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

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
