package check

import (
	"cmp"
	"slices"
	"strings"
)

// source locates in the app what makes a part of a template: lines of the schema, if the template's metadata names
// them, and constructs.
type source struct {
	metadata metadata
	// path is the construct path.
	path string
}

// source returns the source of a resource.
func (c *comparison) source(r *resource) source {
	s := source{path: r.constructPath()}
	is := func(path string, m metadata) bool {
		if m.Table == "" || m.Resource != r.id && path != r.id {
			return false
		}
		// Only the CDK command writes paths of constructs, and not in every app.
		s.path = cmp.Or(r.path, path)
		return true
	}
	var ok bool
	if s.metadata, ok = find(c.proposedMetadata, is); !ok {
		s.metadata, _ = find(c.deployedMetadata, is)
	}
	return s
}

// table returns a line of the table in the schema if that is what says it, such as ".TimeToLive", or else the property
// of the construct: then an override says it, or a prop that no schema has.
func (s source) table(element, property string, says bool) string {
	switch {
	case s.metadata.Table == "":
		return property + " of " + s.path
	case says:
		return "Tables[" + s.metadata.Table + "]" + element + " of the schema"
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
	return s.table(element, "GlobalSecondaryIndexes", s.metadata.Indexes[i.name] == i.keys+"; "+i.projection)
}

// dropped returns the line that declared a removed index.
func (s source) dropped(i index) string {
	_, declared := s.metadata.Indexes[i.name]
	return s.table(".Indexes, without "+i.name+",", "GlobalSecondaryIndexes", !declared)
}

// successor returns the line of an index under another name, which no template has yet.
func (s source) successor(i index) string {
	return s.table(".Indexes["+i.name+"]", "GlobalSecondaryIndexes", true)
}

// grantsBy returns the line of a function that no longer has the grants, or what overrides them.
func (c *comparison) grantsBy(role *resource, functions []string) string {
	is := func(_ string, m metadata) bool { return m.Role == role.id && m.Function != "" }
	deployed, had := find(c.deployedMetadata, is)
	proposed, has := find(c.proposedMetadata, is)
	switch path := role.constructPath(); {
	case had && has && !slices.Equal(deployed.Grants, proposed.Grants):
		return "AccessPatterns of the schema that are UsedBy " + proposed.Function
	case has:
		return "an override of the policies of " + path
	case len(functions) > 0:
		return "the policies of " + path + ", the role of " + join(functions)
	default:
		return "the policies of " + path
	}
}

// columnBy returns the line of a column of the catalog, which has a type there or none.
func (c *comparison) columnBy(table *resource, name, kind string) string {
	m := catalogMetadataOf(c.proposedMetadata, table)
	switch declared := m.Columns[name]; {
	case m.Line == "":
		return "Columns of " + table.constructPath()
	case declared != kind:
		return "an override of Columns of " + table.constructPath()
	case kind == "":
		return m.Line + ".Columns, without " + name + ", of the schema"
	default:
		return m.Line + ".Columns[" + name + "].Type of the schema"
	}
}

// nameBy returns what sets the name of a resource.
func (c *comparison) nameBy(r *resource) string {
	is := func(_ string, m metadata) bool { return m.Lake != "" && m.Catalog == r.id }
	deployed, had := find(c.deployedMetadata, is)
	proposed, has := find(c.proposedMetadata, is)
	if had && has && deployed.Lake != proposed.Lake {
		return "Lakes[" + proposed.Lake + "].Name of the schema"
	}
	return strings.Join(nameOf(r.kind), ".") + " of " + r.constructPath()
}

// madeBy returns what makes a resource: a line of the schema for a route, or its construct.
func (c *comparison) madeBy(all map[string]metadata, r *resource) string {
	if r.kind == httpRoute {
		api, key := text(r.at("ApiId", "Ref")), text(r.at("RouteKey"))
		if _, ok := find(all, func(_ string, m metadata) bool {
			return m.API == api && slices.Contains(m.Routes, key)
		}); ok {
			return "Routes[" + key + "] of the schema"
		}
	}
	return "the construct " + r.constructPath()
}

// goneBy returns what removed a resource from the template.
func (c *comparison) goneBy(old *resource) string {
	if s := c.source(old); s.metadata.Table != "" {
		return "Tables, without " + s.metadata.Table + ", of the schema"
	}
	if m := catalogMetadataOf(c.deployedMetadata, old); m.Line != "" {
		return "the schema, without " + m.Line
	}
	return "without the construct " + old.constructPath()
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

// constructs names the constructs of resources in the deployed template.
func (c *comparison) constructs(ids []string) string {
	var paths []string
	for _, id := range ids {
		paths = append(paths, c.madeBy(c.deployedMetadata, c.deployed[id]))
	}
	return "without " + lines(paths)
}

// functionsCode is the source of a deployment in which only handlers change.
const functionsCode = "the code of the functions"
