package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// source is where an app writes what a template has: lines of the schema, if the template's metadata has the model, and
// constructs.
type source struct {
	model model
	// path is the construct's.
	path string
}

// source returns that of a resource.
func (c *comparison) source(r *resource) source {
	s := source{path: or(r.path, r.id)}
	for _, models := range []map[string]model{c.proposedModels, c.deployedModels} {
		for _, path := range slices.Sorted(maps.Keys(models)) {
			if m := models[path]; s.model.Table == "" && (m.Resource == r.id || path == r.id) {
				s.model = m
			}
		}
	}
	return s
}

// table returns a line of the table in the schema if that is what says it, such as ".TimeToLive", or else the property of
// the construct: then an override says it, or a prop that no schema has.
func (s source) table(element, property string, says bool) string {
	switch {
	case s.model.Table == "":
		return property + " of " + s.path
	case says:
		return "Tables[" + s.model.Table + "]" + element + " of the schema"
	default:
		return "an override of " + property + " of " + s.path
	}
}

// index returns the line of an index that is created, or given other keys or another projection than before has.
func (s source) index(i index, before *index) string {
	element := ".Indexes[" + i.name + "]"
	if before != nil && before.keys != i.keys {
		element += ".Key"
	} else if before != nil {
		element += ".Projection"
	}
	return s.table(element, "GlobalSecondaryIndexes", s.model.Indexes[i.name] == i.keys+"; "+i.projection)
}

// dropped returns the line that an index is no longer on.
func (s source) dropped(i index) string {
	_, declared := s.model.Indexes[i.name]
	return s.table(".Indexes, without "+i.name+",", "GlobalSecondaryIndexes", !declared)
}

// successor returns the line of an index under another name, which no template has yet.
func (s source) successor(i index) string {
	return s.table(".Indexes["+i.name+"]", "GlobalSecondaryIndexes", true)
}

// goneBy returns what a resource is no longer in the template by.
func (c *comparison) goneBy(old *resource) string {
	if s := c.source(old); s.model.Table != "" {
		return "Tables, without " + s.model.Table + ", of the schema"
	}
	return "without the construct " + or(old.path, old.id)
}

// lines joins lines, each once.
func lines(all []string) string {
	var once []string
	for _, line := range all {
		if !slices.Contains(once, line) {
			once = append(once, line)
		}
	}
	return strings.Join(once, "; ")
}

// constructs names the constructs of resources of the deployed template.
func (c *comparison) constructs(ids []string) string {
	var paths []string
	for _, id := range ids {
		paths = append(paths, or(c.deployed[id].path, id))
	}
	return "without " + lines(paths)
}

// functionsCode is what makes a deployment in which only handlers change.
const functionsCode = "the code of the functions"

// by says what makes the latest deployment of the plan, in the app.
func (p *plan) by(format string, arguments ...any) {
	p.steps[len(p.steps)-1] += " By: " + fmt.Sprintf(format, arguments...) + "."
}

// attribute says by what every deployment is made that does not say it itself.
func attribute(steps []string, by string) []string {
	attributed := slices.Clone(steps)
	for i, step := range attributed {
		if strings.HasPrefix(step, "Deploy ") && !strings.Contains(step, " By: ") {
			attributed[i] = step + " By: " + by + "."
		}
	}
	return attributed
}
