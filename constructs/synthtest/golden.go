package synthtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Golden compares templates with the text files of a folder, each named after its template. The file of base has the
// whole template, and the other files have their differences to it; without a base each file has a whole one. The flag
// -update writes the files, but fails where that would remove a logical id that has to stay ([Gone]).
//
// A golden file has a line for each resource (or output, or other part), and an indented one
// for each property that fits into a line. It has references as ${ID} or ${ID.Attribute}, JSON
// in texts as its members, and no hashes of assets.
func Golden(t *testing.T, folder, base string, templates map[string]Template) {
	t.Helper()
	all := map[string]golden{}
	for name, template := range templates {
		all[name] = must.Get(render(template))(t)
	}
	var kept []string
	if base != "" {
		if _, there := templates[base]; !there {
			t.Fatalf("there is no template %s", base)
		}
		kept = must.Get(read(filepath.Join(folder, base+".txt")))(t)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(folder, name+".txt")
			before := must.Get(read(file))(t)
			got, ids, whole := all[name].lines(), before, base == "" || name == base
			if !whole {
				ids = apply(kept, before)
				if got = difference(all[base], all[name]); len(got) == 0 {
					got = []string{"no difference to " + base}
				}
			}
			if lost := Gone(ids, all[name].lines()); len(lost) > 0 && before != nil {
				t.Fatalf("logical ids that docs/project/versions.md promises to keep are gone: leave the constructs "+
					"where they were, or override the ids of their resources:\n%s", strings.Join(lost, "\n"))
			}
			if goldentest.Update() {
				must.OK(t, errors.Join(os.MkdirAll(folder, 0o755),
					os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644)))
				return
			}
			if slices.Equal(before, got) {
				return
			}
			diff := strings.Join(difference(parse(before), parse(got)), "\n")
			if !whole {
				diff = cmp.Diff(before, got)
			}
			t.Errorf("%s differs (- golden, + got); if the change is meant, run the test with -update:\n%s", file, diff)
		})
	}
	files := must.Get(filepath.Glob(filepath.Join(folder, "*.txt")))(t)
	for _, file := range files {
		if _, there := templates[strings.TrimSuffix(filepath.Base(file), ".txt")]; !there {
			t.Errorf("%s is of no template: remove it", file)
		}
	}
}

// WithoutBuilds returns the template without the sources that its functions were built from.
func (t Template) WithoutBuilds(tb testing.TB) Template {
	tb.Helper()
	var document map[string]any
	must.OK(tb, json.Unmarshal([]byte(t.Source), &document))
	resources, _ := document["Resources"].(map[string]any)
	for _, resource := range resources {
		metadata, _ := At(resource, "Metadata").(map[string]any)
		delete(metadata, "onesynth")
		if len(metadata) == 0 {
			delete(resource.(map[string]any), "Metadata")
		}
	}
	source := must.Get(json.Marshal(document))(tb)
	t.Source = string(source)
	return t
}

// read returns the lines of a golden file; none where it is yet to be written.
func read(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	if goldentest.Update() && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n"), err
}

// Gone returns, as lines of a golden file, the resources that are missing from got although their logical ids must not
// change: resources with data, resources whose ids or addresses clients have, and resources that CloudFormation cannot
// replace ([check.UniqueTypes]). Both files have a whole template.
func Gone(golden, got []string) []string {
	return slices.DeleteFunc(slices.Clone(golden), func(line string) bool {
		kind, _, _ := strings.Cut(line, " ")
		return !slices.Contains(KeptTypes(), kind) || slices.Contains(got, line)
	})
}

// KeptTypes returns the types of the resources whose logical ids never change.
func KeptTypes() []string {
	return append(check.UniqueTypes(), "AWS::DynamoDB::GlobalTable", "AWS::SecretsManager::Secret",
		"AWS::Cognito::UserPool", "AWS::S3::Bucket",
		"AWS::ApiGatewayV2::Api", "AWS::Cognito::UserPoolClient", "AWS::Scheduler::Schedule")
}

// golden is a template, as the lines of its parts.
type golden map[string][]string

func (g golden) lines() []string {
	var all []string
	for _, part := range slices.Sorted(maps.Keys(g)) {
		all = append(all, part)
		for _, line := range g[part] {
			all = append(all, "  "+line)
		}
	}
	return all
}

// parse is the reverse of lines.
func parse(lines []string) golden {
	g, part := golden{}, ""
	for _, line := range lines {
		if own, of := strings.CutPrefix(line, "  "); of {
			g[part] = append(g[part], own)
		} else {
			part = line
			g[part] = nil
		}
	}
	return g
}

// difference returns what one template has and the other has not, in the order of its parts.
// "-" and "+" before a part stand for the whole of it.
func difference(from, to golden) []string {
	var all []string
	parts := maps.Clone(from)
	maps.Copy(parts, to)
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		before, was := from[part]
		after, is := to[part]
		if !is {
			all = append(all, "- "+part)
			continue
		}
		head := part
		if !was {
			head = "+ " + part
		}
		var lines []string
		rest := slices.Clone(after)
		for _, line := range before {
			if i := slices.Index(rest, line); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			} else {
				lines = append(lines, "  - "+line)
			}
		}
		for _, line := range rest {
			lines = append(lines, "  + "+line)
		}
		if !was || len(lines) > 0 {
			all = append(append(all, head), lines...)
		}
	}
	return all
}

// apply returns the parts of a template, without their lines, that the golden files of its
// base and its difference describe.
func apply(base, difference []string) []string {
	var parts []string
	for _, line := range base {
		if !slices.Contains(difference, "- "+line) {
			parts = append(parts, line)
		}
	}
	for _, line := range difference {
		if part, added := strings.CutPrefix(line, "+ "); added {
			parts = append(parts, part)
		}
	}
	return parts
}

// render writes a template as a golden file has it.
func render(template Template) (golden, error) {
	var document map[string]any
	if err := json.Unmarshal([]byte(template.Source), &document); err != nil {
		return nil, err
	}
	g := golden{}
	for section, value := range document {
		parts, _ := value.(map[string]any)
		for id, part := range parts {
			properties, ok := part.(map[string]any)
			if !ok {
				properties = map[string]any{"Value": part}
			}
			name := section + " " + id
			if kind, ok := properties["Type"].(string); ok && section == "Resources" {
				name = kind + " " + id
				delete(properties, "Type")
			}
			if more, ok := properties["Properties"].(map[string]any); ok {
				delete(properties, "Properties")
				maps.Copy(properties, more)
			}
			g[name] = flatten("", readable(properties))
		}
		if parts == nil {
			g[section] = flatten("Value", readable(value))
		}
	}
	for path, entries := range template.Entries {
		// The path begins with the stack, which differs between templates.
		_, below, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		for _, e := range entries {
			if e.Type == "aws:cdk:warning" {
				g["Warnings "+below] = append(g["Warnings "+below], fmt.Sprint(e.Data))
			}
		}
	}
	return g, nil
}

// maxLine is the largest part of a template, in bytes, that is written as one line.
const maxLine = 160

// flatten writes a value as lines, each with the path of its value.
func flatten(path string, value any) []string {
	text := inline(value)
	switch value := value.(type) {
	case map[string]any:
		if path != "" && len(text) <= maxLine {
			break
		}
		var lines []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			lines = append(lines, flatten(strings.TrimPrefix(path+"."+key, "."), value[key])...)
		}
		return lines
	case []any:
		if len(text) <= maxLine {
			break
		}
		var lines []string
		for i, element := range value {
			if each := inline(element); len(each) <= 2*maxLine {
				lines = append(lines, path+"[]: "+each)
			} else {
				lines = append(lines, flatten(fmt.Sprintf("%s[%d]", path, i), element)...)
			}
		}
		return lines
	case string:
		if strings.Contains(value, "\n") {
			var lines []string
			for line := range strings.Lines(value) {
				lines = append(lines, path+"| "+strings.TrimSuffix(line, "\n"))
			}
			return lines
		}
	}
	return []string{path + ": " + text}
}

// inline writes a value on one line. A text has quotes where it would be taken for another
// value.
func inline(value any) string {
	switch value := value.(type) {
	case string:
		if value == "" || json.Valid([]byte(value)) || strings.ContainsAny(value, "\n,") {
			return fmt.Sprintf("%q", value)
		}
		return value
	case map[string]any:
		var members []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			members = append(members, key+": "+inline(value[key]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	case []any:
		var elements []string
		for _, element := range value {
			elements = append(elements, inline(element))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	text, _ := json.Marshal(value)
	return string(text)
}

var (
	assetHash = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	// prestoView is the form in which the catalog stores a view.
	prestoView = regexp.MustCompile(`^/\* Presto View: ([A-Za-z0-9+/=]+) \*/$`)
)

// readable returns a value with references as text, JSON in texts as its members, and without
// hashes of assets.
func readable(value any) any {
	switch value := value.(type) {
	case string:
		value = assetHash.ReplaceAllString(value, "HASH")
		if view := prestoView.FindStringSubmatch(value); view != nil {
			if decoded, err := base64.StdEncoding.DecodeString(view[1]); err == nil {
				return map[string]any{"Presto View": readable(string(decoded))}
			}
		}
		if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
			var decoded any
			if json.Unmarshal([]byte(value), &decoded) == nil {
				return map[string]any{"JSON": readable(decoded)}
			}
		}
		return value
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = readable(element)
		}
		return list
	case map[string]any:
		if text, ok := reference(value); ok {
			return readable(text)
		}
		object := map[string]any{}
		for key, member := range value {
			object[key] = readable(member)
		}
		return object
	}
	return value
}

// reference returns the text of an intrinsic function that is one.
func reference(value map[string]any) (string, bool) {
	if len(value) != 1 {
		return "", false
	}
	if ref, ok := value["Ref"].(string); ok {
		return "${" + ref + "}", true
	}
	if imported, ok := value["Fn::ImportValue"].(string); ok {
		return "${" + imported + "}", true
	}
	if sub, ok := value["Fn::Sub"].(string); ok {
		return sub, true
	}
	if attribute, ok := value["Fn::GetAtt"].([]any); ok {
		return fmt.Sprintf("${%v.%v}", attribute[0], attribute[1]), true
	}
	join, ok := value["Fn::Join"].([]any)
	if !ok {
		return "", false
	}
	var parts []string
	for _, part := range List(join[1]) {
		text, ok := part.(string)
		if object, is := part.(map[string]any); is {
			text, ok = reference(object)
		}
		if !ok {
			text = "${" + strings.ReplaceAll(inline(readable(part)), `"`, "'") + "}"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, join[0].(string)), true
}
