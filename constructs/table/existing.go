package table

import (
	"slices"

	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// existingMetadata is the type of the metadata that describes a table which exists.
// Package run/internal/cloud/assembly reads it.
const existingMetadata = "onesynth:existing-table"

// describe writes a description of the table into the assembly, beside the template. A local run
// has no other way to know a table that no template declares. The description is an
// AWS::DynamoDB::Table with the table's ARN.
func (t *Table) describe() {
	described := map[string]any{
		"Arn":                  *t.Resource.TableArn(),
		"BillingMode":          "PAY_PER_REQUEST",
		"KeySchema":            keySchema(tableKey(t.Schema)),
		"AttributeDefinitions": definitions(t.Schema),
	}
	var indexes []any
	for _, i := range t.Schema.Indexes {
		projection := map[string]any{"ProjectionType": "ALL"}
		if i.Projection != schema.ProjectAll {
			projection["ProjectionType"] = string(i.Projection)
		}
		if i.Projection == schema.ProjectInclude {
			projection["NonKeyAttributes"] = i.Include
		}
		indexes = append(indexes, map[string]any{"IndexName": i.Name,
			"KeySchema": keySchema(indexKey(t.Schema, i)), "Projection": projection})
	}
	if indexes != nil {
		described["GlobalSecondaryIndexes"] = indexes
	}
	if t.Schema.Stream != schema.StreamNone {
		described["StreamSpecification"] = map[string]any{"StreamViewType": string(t.Schema.Stream)}
	}
	if t.Schema.TimeToLive != "" {
		described["TimeToLiveSpecification"] = map[string]any{"AttributeName": t.Schema.TimeToLive, "Enabled": true}
	}
	t.Node().AddMetadata(jsii.String(existingMetadata), described, nil)
}

// keyPart is an attribute of a key: its type is S, N or B, and its role HASH or RANGE.
type keyPart struct{ name, kind, role string }

func tableKey(t schema.Table) []keyPart {
	return keyParts(t, []string{t.Key.Partition}, t.Key.Attributes()[1:])
}

func indexKey(t schema.Table, i schema.Index) []keyPart {
	return keyParts(t, i.PartitionAttributes(), i.SortAttributes())
}

func keyParts(t schema.Table, partition, sort []string) []keyPart {
	var parts []keyPart
	for i, name := range slices.Concat(partition, sort) {
		a, _ := t.Attribute(name)
		// DynamoDB calls the types that a key may have by their first letters.
		part := keyPart{name, string(a.Type)[:1], "HASH"}
		if i >= len(partition) {
			part.role = "RANGE"
		}
		parts = append(parts, part)
	}
	return parts
}

func keySchema(key []keyPart) []any {
	return props.Map(key, func(k keyPart) any { return map[string]any{"AttributeName": k.name, "KeyType": k.role} })
}

// definitions returns the definitions of the key attributes, of the table and of its indexes.
func definitions(t schema.Table) []any {
	parts := tableKey(t)
	for _, i := range t.Indexes {
		parts = append(parts, indexKey(t, i)...)
	}
	var list []any
	defined := map[string]bool{}
	for _, k := range parts {
		if !defined[k.name] {
			defined[k.name] = true
			list = append(list, map[string]any{"AttributeName": k.name, "AttributeType": k.kind})
		}
	}
	return list
}
