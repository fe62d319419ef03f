package table_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
)

// declareExisting uses a table that exists, in addition to the tables of declareOptions.
func declareExisting(stack awscdk.Stack) {
	there := awsdynamodb.TableV2_FromTableArn(stack, jsii.String("There-wide"),
		jsii.String("arn:aws:dynamodb:eu-central-1:111122223333:table/old-wide"))
	table.New(stack, "ExistingWide", table.Props{Table: wide, Existing: there})
}

// The description of an existing table equals the table's declaration, with its ARN, and the
// template does not mention the table.
func TestExistingIsDescribed(t *testing.T) {
	t.Parallel()
	synthesised := synthtest.Stack(t, "stack")
	want, descriptions := map[string]any{}, map[string]any{}
	for path, declared := range map[string]string{"/stack/Existing/AllOfIt": "KeptAllOfIt",
		"/stack/ExistingWide": "Wide"} {
		_, table := synthesised.One(t, "AWS::DynamoDB::GlobalTable", declared)
		properties := table.Properties
		name := map[string]string{"KeptAllOfIt": "old-all", "Wide": "old-wide"}[declared]
		described := map[string]any{
			"Arn": "arn:aws:dynamodb:eu-central-1:111122223333:table/" + name, "BillingMode": "PAY_PER_REQUEST",
			"KeySchema": properties["KeySchema"], "AttributeDefinitions": byName(properties["AttributeDefinitions"]),
		}
		for _, optional := range []string{"StreamSpecification", "TimeToLiveSpecification"} {
			if value, ok := properties[optional]; ok {
				described[optional] = value
			}
		}
		var indexes []any
		for _, index := range synthtest.List(properties["GlobalSecondaryIndexes"]) {
			indexes = append(indexes, map[string]any{
				"IndexName": synthtest.At(index, "IndexName"), "KeySchema": synthtest.At(index, "KeySchema"),
				"Projection": synthtest.At(index, "Projection"),
			})
		}
		described["GlobalSecondaryIndexes"] = indexes
		want[path] = described
	}
	for path, entries := range synthesised.Entries {
		for _, e := range entries {
			if e.Type == "onesynth:existing-table" {
				described := e.Data.(map[string]any)
				described["AttributeDefinitions"] = byName(described["AttributeDefinitions"])
				descriptions[path] = described
			}
		}
	}
	if diff := cmp.Diff(want, descriptions); diff != "" {
		t.Errorf("descriptions (-want +got):\n%s", diff)
	}
	for name, entry := range synthesised.Metadata {
		// Apart from what the schema says of tables, the template is empty.
		if strings.Contains(name, "existing-table") || synthtest.At(entry, "table") == nil ||
			synthtest.At(entry, "Arn") != nil {
			t.Errorf("the template has the description: its metadata is %v", synthesised.Metadata)
		}
	}
	if strings.Contains(synthesised.Source, "onesynth:existing-table") {
		t.Error("the template has the description")
	}
}

// byName sorts definitions of attributes, whose order means nothing.
func byName(definitions any) []any {
	return slices.SortedFunc(slices.Values(synthtest.List(definitions)), func(a, b any) int {
		return strings.Compare(synthtest.At(a, "AttributeName").(string), synthtest.At(b, "AttributeName").(string))
	})
}
