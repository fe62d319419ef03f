// Package assemblytest gives tests a cloud assembly of resources that they write out.
package assemblytest

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// Anywhere is the environment of stacks that name no account and no region.
const Anywhere = "aws://unknown-account/unknown-region"

// Stack is a stack of an assembly.
type Stack struct {
	// Environment is its account and region, such as "aws://111122223333/eu-west-1".
	Environment string
	// Template is its template in JSON.
	Template string
	// Existing describes a table that the stack uses and does not declare, as the construct writes it; "" if there is
	// none.
	Existing string
	// Apart puts its metadata into a file of its own, as the CDK does. Otherwise they are in the manifest.
	Apart bool
}

// WriteStacks writes a cloud assembly of stacks, by their names, and returns its folder. The file of a template is
// NAME.template.json. Each asset, such as "code", has an empty folder, asset.code, and the key code.zip.
func WriteStacks(t testing.TB, stacks map[string]Stack, assets ...string) string {
	t.Helper()
	type object = map[string]any
	dir, artifacts, files := t.TempDir(), object{"Tree": object{"type": "cdk:tree"}}, object{}
	write := func(name string, document any) {
		t.Helper()
		must.OK(t, os.WriteFile(filepath.Join(dir, name), must.Get(json.Marshal(document))(t), 0o600))
	}
	for name, stack := range stacks {
		must.OK(t, os.WriteFile(filepath.Join(dir, name+".template.json"), []byte(stack.Template), 0o600))
		metadata := object{"/" + name + "/Other": []object{{"type": "aws:cdk:logicalId", "data": "Other"}}}
		if stack.Existing != "" {
			metadata["/"+name+"/Table"] = []object{{"type": "aws:cdk:path"},
				{"type": "onesynth:existing-table", "data": json.RawMessage(stack.Existing)}}
		}
		artifact := object{"type": "aws:cloudformation:stack", "environment": stack.Environment,
			"properties": object{"templateFile": name + ".template.json"}}
		if artifacts[name] = artifact; stack.Apart {
			artifact["additionalMetadataFile"] = name + ".metadata.json"
			write(name+".metadata.json", metadata)
		} else {
			artifact["metadata"] = metadata
		}
	}
	for _, asset := range assets {
		must.OK(t, os.Mkdir(filepath.Join(dir, "asset."+asset), 0o755))
		files[asset] = object{"source": object{"path": "asset." + asset, "packaging": "zip"},
			"destinations": object{"d": object{"objectKey": asset + ".zip"}}}
	}
	artifacts["Assets"] = object{"type": "cdk:asset-manifest", "properties": object{"file": "assets.json"}}
	write("assets.json", object{"files": files})
	write("manifest.json", object{"artifacts": artifacts})
	return dir
}

// Write is [WriteStacks] of stacks in one environment, by their names and templates.
func Write(t testing.TB, environment string, templates map[string]string, assets ...string) string {
	t.Helper()
	stacks := map[string]Stack{}
	for name, template := range templates {
		stacks[name] = Stack{Environment: environment, Template: template}
	}
	return WriteStacks(t, stacks, assets...)
}

// Changed returns the object in a file with a change merged into it: that has what it adds or replaces, within objects
// too, and null for what it takes away (RFC 7396).
func Changed(t testing.TB, path, change string) map[string]any {
	t.Helper()
	var resources, changes map[string]any
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile(path))(t), &resources))
	must.OK(t, json.Unmarshal([]byte(change), &changes))
	Merge(resources, changes)
	return resources
}

// Merge merges a change into an object, as for [Changed].
func Merge(into, change map[string]any) {
	for name, value := range change {
		before, merges := into[name].(map[string]any)
		if after, ok := value.(map[string]any); ok && merges {
			Merge(before, after)
		} else if into[name] = value; value == nil {
			delete(into, name)
		}
	}
}

// EncodeViews writes the texts of views that are objects as Athena stores them.
func EncodeViews(t testing.TB, resources map[string]any) {
	t.Helper()
	for _, resource := range resources {
		properties, _ := resource.(map[string]any)["Properties"].(map[string]any)
		input, _ := properties["TableInput"].(map[string]any)
		if view, ok := input["ViewOriginalText"].(map[string]any); ok {
			input["ViewOriginalText"] = "/* Presto View: " +
				base64.StdEncoding.EncodeToString(must.Get(json.Marshal(view))(t)) + " */"
		}
	}
}

// Load loads an assembly of one stack, called Stack, with the resources, which are a JSON object.
func Load(t testing.TB, resources string) *assembly.Assembly {
	t.Helper()
	return load(t, Stack{Template: `{"Resources": ` + resources + `}`})
}

// LoadFile is [Load] of the resources in a file, with texts replaced, which are given as old and new by turns.
func LoadFile(t testing.TB, path string, replaced ...string) *assembly.Assembly {
	t.Helper()
	return Load(t, strings.NewReplacer(replaced...).Replace(string(must.Get(os.ReadFile(path))(t))))
}

// LoadExisting loads an assembly of one stack, called Stack, that uses a table which exists. The description is that of
// [Stack].
func LoadExisting(t testing.TB, description string) *assembly.Assembly {
	t.Helper()
	return load(t, Stack{Template: "{}", Existing: description})
}

func load(t testing.TB, stack Stack) *assembly.Assembly {
	t.Helper()
	return must.Get(assembly.Load(WriteStacks(t, map[string]Stack{"Stack": stack}), assembly.Options{}))(t)
}
