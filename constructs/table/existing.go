package table

import (
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/schema"
)

// existingMetadata is the type of the metadata that describes a table which exists.
// Package internal/cloud/assembly reads it.
const existingMetadata = "onesynth:existing-table"

// describe writes a description of the table into the assembly, beside the template. A local run
// has no other way to know a table that no template declares. The description is an
// AWS::DynamoDB::Table with the table's ARN.
func (t *Table) describe() {
	described := map[string]any{
		"Arn":                  *t.Resource.TableArn(),
		"BillingMode":          "PAY_PER_REQUEST",
		"KeySchema":            keySchema([]string{t.Schema.Key.Partition}, t.Schema.Key.Attributes()[1:]),
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
			"KeySchema": keySchema(i.PartitionAttributes(), i.SortAttributes()), "Projection": projection})
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

func keySchema(partition, sort []string) []any {
	var keys []any
	for _, name := range partition {
		keys = append(keys, map[string]any{"AttributeName": name, "KeyType": "HASH"})
	}
	for _, name := range sort {
		keys = append(keys, map[string]any{"AttributeName": name, "KeyType": "RANGE"})
	}
	return keys
}

// definitions returns the definitions of the key attributes, of the table and of its indexes.
func definitions(t schema.Table) []any {
	var list []any
	defined := map[string]bool{}
	define := func(names []string) {
		for _, name := range names {
			if !defined[name] {
				defined[name] = true
				a, _ := t.Attribute(name)
				// S, N or B.
				list = append(list, map[string]any{"AttributeName": name, "AttributeType": string(a.Type[:1])})
			}
		}
	}
	define(t.Key.Attributes())
	for _, i := range t.Indexes {
		define(i.KeyAttributes())
	}
	return list
}
