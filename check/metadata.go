package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// metadataPrefix begins the names of the library's own entries in a template's Metadata. The path of a construct below
// its stack follows: "onesynth:Todo/Database/AppData".
const metadataPrefix = "onesynth:"

// metadata is an entry of a template's Metadata that describes a table, a function, a lake or an API as the schema
// does.
type metadata struct {
	// Table is the table's name in the schema.
	Table string `json:"table"`
	// Resource is the table's logical id; "" for one that is declared elsewhere.
	Resource string `json:"resource"`
	// Attributes are the types of all attributes that items may have.
	Attributes map[string]string `json:"attributes"`
	// Indexes are the keys and the projection of each index, as that of [index.String].
	Indexes map[string]string `json:"indexes"`
	// Key is the primary key, as in [describeKeys], and TimeToLive and Stream are as DynamoDB has them.
	Key        string `json:"key"`
	TimeToLive string `json:"timeToLive"`
	Stream     string `json:"stream"`

	// Function is the name of a function in the schema; Role is the logical id of its role, and Grants are what its
	// access patterns need, as "Query AppData.GSI1".
	Function string   `json:"function"`
	Role     string   `json:"role"`
	Grants   []string `json:"grants"`

	// Lake is the name of a lake, Catalog the logical id of its database, and Tables are those in it.
	Lake    string                     `json:"lake"`
	Catalog string                     `json:"catalog"`
	Tables  map[string]catalogMetadata `json:"tables"`

	// API is the logical id of an API, and Routes are the keys of its routes.
	API    string   `json:"api"`
	Routes []string `json:"routes"`
}

// catalogMetadata is a table or view of a lake: its line in the schema, and its own columns with their types in the
// catalog.
type catalogMetadata struct {
	Line    string            `json:"line"`
	Columns map[string]string `json:"columns"`
	// Attributes are what a table's columns show of an item, such as "title" or "SK without TASK#".
	Attributes map[string]string `json:"attributes"`
}

// find returns the first entry, by path, that the function accepts.
func find(all map[string]metadata, is func(path string, m metadata) bool) (metadata, bool) {
	for path, m := range sorted(all) {
		if is(path, m) {
			return m, true
		}
	}
	return metadata{}, false
}

// catalogMetadataOf returns the metadata of a table or view of the catalog; the zero value if there is none. Its line
// names the lake, which the template's begins with "Lake".
func catalogMetadataOf(all map[string]metadata, table *resource) catalogMetadata {
	database, name := text(table.at("DatabaseName", "Ref")), text(table.at("TableInput", "Name"))
	m, _ := find(all, func(_ string, m metadata) bool { return m.Catalog == database && m.Tables[name].Line != "" })
	found := m.Tables[name]
	if rest, ok := strings.CutPrefix(found.Line, "Lake."); ok {
		found.Line = "Lakes[" + m.Lake + "]." + rest
	}
	return found
}

// readMetadata reads the entries in the Metadata of a template, by path. It skips values of another form, which belong
// to other tools.
func readMetadata(text json.RawMessage) map[string]metadata {
	var entries map[string]json.RawMessage
	all := map[string]metadata{}
	if json.Unmarshal(text, &entries) != nil {
		return all
	}
	for name, text := range entries {
		path, ok := strings.CutPrefix(name, metadataPrefix)
		var m metadata
		if ok && json.Unmarshal(text, &m) == nil {
			all[path] = m
		}
	}
	return all
}

// resource returns the table, or a stand-in for one that is declared elsewhere.
func (m metadata) resource(path string, resources map[string]*resource) *resource {
	if r := resources[m.Resource]; r != nil {
		return r
	}
	return &resource{id: path, path: path, kind: globalTable}
}

// attributes reports attributes of existing items that functions no longer know, or expect in another type.
func (c *comparison) attributes() {
	for path, old := range sorted(c.deployedMetadata) {
		changed, ok := find(c.proposedMetadata, func(place string, m metadata) bool {
			return m.Table != "" && (old.Resource == "" && place == path ||
				old.Resource != "" && m.Resource == old.Resource)
		})
		if old.Table == "" || !ok {
			// The drop of a table is a finding of its own.
			continue
		}
		r := changed.resource(path, c.proposed)
		if before := c.deployed[r.id]; before != nil &&
			describeKeys(before.at("KeySchema"), before) != describeKeys(r.at("KeySchema"), r) {
			// So is a replacement.
			continue
		}
		added := except(slices.Sorted(maps.Keys(changed.Attributes)), slices.Collect(maps.Keys(old.Attributes)))
		for name, before := range sorted(old.Attributes) {
			after, ok := changed.Attributes[name]
			switch {
			case !ok:
				alike := slices.DeleteFunc(slices.Clone(added), func(a string) bool {
					return changed.Attributes[a] != before
				})
				c.attributeDropped(r, name, before, alike)
			case after != before:
				c.attributeRetyped(r, name, before, after)
			}
		}
	}
}

func (c *comparison) attributeDropped(r *resource, name, kind string, alike []string) {
	if len(alike) == 0 {
		c.addBy(c.source(r).table(".Attributes, without "+name+",", "", true), Warning, "attribute-"+name, r,
			fmt.Sprintf("the attribute %s (%s) is no longer in the schema", name, kind),
			"Items that have it keep it: they cost as much as before, and nothing reads it.",
			do("Make sure that no deployed function needs it. To remove it from items, update them with REMOVE %s.",
				name))
		return
	}
	to := join(alike)
	s := c.source(r)
	by := s.table(".Attributes["+alike[0]+"]", "", true)
	c.addBy(by, Refusal, "attribute-"+name, r,
		fmt.Sprintf("the attribute %s (%s) is no longer in the schema, and %s is new: it looks renamed", name, kind,
			to),
		"DynamoDB renames nothing in items: those from before have "+name+", which functions no longer read. Its "+
			"values seem lost.",
		do("Leave the attribute %s in the schema, beside %s.", name, to),
		do("To rename it, functions have to know both for a while:"),
		deploy(by+", beside Attributes["+name+"]; "+functionsCode,
			"this template, but with the attribute %s as deployed: functions write both, and read %s where an item "+
				"lacks %s.", name, name, to),
		do("Read all items of the table, and write %s on each that has only %s.", to, name),
		deploy(s.table(".Attributes, without "+name+",", "", true)+"; "+functionsCode, "this template."),
		do("If %s has nothing to do with %s: accept this finding.", to, name))
}

func (c *comparison) attributeRetyped(r *resource, name, before, after string) {
	s := c.source(r)
	c.addBy(s.table(".Attributes["+name+"].Type", "", true), Refusal, "attribute-"+name, r,
		turns("the type of the attribute "+name, before, after),
		"DynamoDB converts nothing in items: those from before have the old type, and functions fail when they read "+
			"them.",
		do("Leave the type of %s as deployed (%s).", name, before),
		do("For values of another type, give the attribute another name, such as %s2:", name),
		deploy(s.table(".Attributes["+name+"2]", "", true)+"; "+functionsCode,
			"this template, but with %[1]s of the type %[2]s, and %[1]s2 of the type %[3]s beside it: functions "+
				"write both, and read %[1]s where an item lacks %[1]s2.", name, before, after),
		do("Read all items of the table, and write %s2 on each that has only %s.", name, name),
		deploy(s.table(".Attributes, without "+name+",", "", true)+"; "+functionsCode, "that without %s.", name))
}
