package table

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// tell writes the data model of the table into the template's metadata: what DynamoDB does not
// know, such as all attributes of its items, and what the schema says of the rest. onesynth check
// compares it with the deployed template's. The declared resource is nil for a table that exists
// already.
func (t *Table) tell(declared awscdk.CfnElement) {
	attributes, indexes := map[string]any{}, map[string]any{}
	for _, a := range t.Schema.Attributes {
		attributes[a.Name] = string(a.Type)
	}
	for _, i := range t.Schema.Indexes {
		indexes[i.Name] = modelKey(indexKey(t.Schema, i)) + "; " + modelProjection(i)
	}
	model := map[string]any{
		"table": t.Schema.Name, "attributes": attributes, "indexes": indexes,
		"key": modelKey(tableKey(t.Schema)),
	}
	if t.Schema.TimeToLive != "" {
		model["timeToLive"] = t.Schema.TimeToLive
	}
	if t.Schema.Stream != schema.StreamNone {
		model["stream"] = string(t.Schema.Stream)
	}
	if declared != nil {
		model["resource"] = props.LogicalID(t, declared)
	}
	props.AddModel(t, model)
}

// modelKey is a key as "PK S HASH, SK S RANGE".
func modelKey(key []keyPart) string {
	return strings.Join(props.Map(key, func(k keyPart) string { return k.name + " " + k.kind + " " + k.role }), ", ")
}

// modelProjection is a projection as "INCLUDE note, owner".
func modelProjection(i schema.Index) string {
	projection := string(cmp.Or(i.Projection, "ALL"))
	if i.Projection == schema.ProjectInclude {
		projection += " " + strings.Join(slices.Sorted(slices.Values(i.Include)), ", ")
	}
	return projection
}
