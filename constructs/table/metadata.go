package table

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// addMetadata writes into the template's metadata what the schema says of the table, also what DynamoDB does not know,
// such as all attributes of its items. onesynth check compares it with the deployed template's. The declared resource
// is nil for a table that exists already.
func (t *Table) addMetadata(declared awscdk.CfnElement) {
	attributes, indexes := map[string]any{}, map[string]any{}
	for _, a := range t.Schema.Attributes {
		attributes[a.Name] = string(a.Type)
	}
	for _, i := range t.Schema.Indexes {
		indexes[i.Name] = describeKey(indexKey(t.Schema, i)) + "; " + describeProjection(i)
	}
	metadata := map[string]any{
		"table": t.Schema.Name, "attributes": attributes, "indexes": indexes,
		"key": describeKey(tableKey(t.Schema)),
	}
	if t.Schema.TimeToLive != "" {
		metadata["timeToLive"] = t.Schema.TimeToLive
	}
	if t.Schema.Stream != schema.StreamNone {
		metadata["stream"] = string(t.Schema.Stream)
	}
	if declared != nil {
		metadata["resource"] = props.LogicalID(t, declared)
	}
	props.AddMetadata(t, metadata)
}

// describeKey is a key as "PK S HASH, SK S RANGE".
func describeKey(key []keyPart) string {
	return strings.Join(props.Map(key, func(k keyPart) string { return k.name + " " + k.kind + " " + k.role }), ", ")
}

// describeProjection is a projection as "INCLUDE note, owner".
func describeProjection(i schema.Index) string {
	projection := string(cmp.Or(i.Projection, "ALL"))
	if i.Projection == schema.ProjectInclude {
		projection += " " + strings.Join(slices.Sorted(slices.Values(i.Include)), ", ")
	}
	return projection
}
