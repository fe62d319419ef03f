package check

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// exported is an export of a stack: the logical id of its output, and its value.
type exported struct {
	id    string
	value any
}

// exports returns the exports of a template by name.
func (t *Template) exports(environment Environment) map[string]exported {
	all, known := map[string]exported{}, t.known(environment)
	for id, o := range t.outputs {
		if name := text(simplify(o.Export.Name, known)); name != "" {
			all[name] = exported{id, simplify(o.Value, known)}
		}
	}
	return all
}

// Imports returns the names of the exports that the template imports from other stacks, each once.
func (t *Template) Imports(environment Environment) []string {
	var names []string
	for _, r := range t.resolve(environment) {
		names = append(names, imports(r.properties)...)
	}
	for _, o := range t.outputs {
		names = append(names, imports(simplify(o.Value, t.known(environment)))...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func imports(v any) []string {
	var names []string
	if name := text(at(v, "Fn::ImportValue")); name != "" {
		names = append(names, name)
	}
	if _, ok := v.(string); !ok {
		for _, element := range members(v) {
			names = append(names, imports(element)...)
		}
	}
	return names
}

// exports reports exports that other stacks import, and that go or get another value.
func (c *comparison) exports(deployed, proposed map[string]exported) {
	var unknown []string
	var first *resource
	for name, before := range sorted(deployed) {
		after, stays := proposed[name]
		got := "the export " + name + " goes"
		if stays {
			replaced := slices.ContainsFunc(intrinsic.References(after.value), c.isReplaced)
			if text(before.value) == text(after.value) && !replaced {
				continue
			}
			got = turns("the value of the export "+name, say(before.value), say(after.value))
			if replaced {
				got = "the value of the export " + name + " is of " + say(after.value) + ", which is replaced"
			}
		}
		for other, of := range sorted(proposed) {
			if _, had := deployed[other]; !stays && !had && text(of.value) == text(before.value) {
				got = "the export " + name + " is renamed to " + other
			}
		}
		r := &resource{id: before.id, kind: "Output"}
		var stacks []string
		known := false
		if c.environment.Importers != nil {
			stacks, known = c.environment.Importers(name)
		}
		switch {
		case len(stacks) > 0:
			by := "the output " + before.id
			c.addBy(by, Refusal, "export", r, got+"; it is imported by "+join(stacks),
				"CloudFormation does not change or remove an export that another stack imports: the deployment fails "+
					"and rolls back.",
				do("Leave what the value is of as deployed, and keep the export: stack.ExportValue(value, nil), also "+
					"if no construct refers to it any more."),
				deploy("ExportValue in the stack", "all stacks, with the old export. What %s needs instead comes "+
					"beside it, under another name.", join(stacks)),
				deploy("without ExportValue", "this template, once %s imports it no more.", join(stacks)))
		case !known:
			unknown = append(unknown, got)
			if first == nil {
				first = r
			}
		}
	}
	if first != nil {
		c.warn("the outputs of the stack", "exports", first, join(unknown),
			"CloudFormation does not change or remove an export that another stack imports: the deployment fails and "+
				"rolls back. The check could not learn who imports it.",
			"Ask who does: aws cloudformation list-imports --export-name NAME. Keep it with stack.ExportValue for as "+
				"long as a stack does.")
	}
}
