package dynamo

import (
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/schema"
)

func TestAccess(t *testing.T) {
	t.Parallel()
	table := schema.Table{Name: "Notes", Key: schema.Key{Partition: "owner", Sort: "at"}}
	for name, test := range map[string]struct {
		pattern               schema.AccessPattern
		condition, projection string
		names                 map[string]string
	}{
		"a read of the whole item": {pattern: schema.AccessPattern{Action: schema.GetItem}},
		"a read of attributes": {pattern: schema.AccessPattern{Action: schema.GetItem,
			Attributes: []string{"_state", "a.b"}},
			projection: "#k0, #k1", names: map[string]string{"#k0": "_state", "#k1": "a.b"}},
		"a query": {pattern: schema.AccessPattern{Action: schema.Query,
			KeyConditions: []schema.KeyCondition{{Attribute: "owner", Comparison: schema.Equal},
				{Attribute: "at", Comparison: schema.Between}}},
			condition: "#k0 = :k0 AND #k1 BETWEEN :k1 AND :k2", names: map[string]string{"#k0": "owner", "#k1": "at"}},
		"a query of attributes, one name for each": {
			pattern: schema.AccessPattern{Action: schema.Query,
				KeyConditions: []schema.KeyCondition{{Attribute: "owner", Comparison: schema.Equal},
					{Attribute: "at", Comparison: schema.BeginsWith}}, Attributes: []string{"at", "text"}},
			condition: "#k0 = :k0 AND begins_with (#k1, :k1)", projection: "#k1, #k2",
			names: map[string]string{"#k0": "owner", "#k1": "at", "#k2": "text"}},
		"a batch, which has its keys": {pattern: schema.AccessPattern{Action: schema.BatchGetItem,
			Attributes: []string{"text", "at"}},
			projection: "#k0, #k1, #k2", names: map[string]string{"#k0": "text", "#k1": "at", "#k2": "owner"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := accessOf(test.pattern, table)
			if err != nil {
				t.Fatal(err)
			}
			if aws.ToString(got.condition) != test.condition || aws.ToString(got.projection) != test.projection ||
				!maps.Equal(got.names, test.names) {
				t.Errorf("got %q, %q, %v", aws.ToString(got.condition), aws.ToString(got.projection), got.names)
			}
		})
	}
	t.Run("ErrComparison", func(t *testing.T) {
		t.Parallel()
		if _, err := accessOf(schema.AccessPattern{
			KeyConditions: []schema.KeyCondition{{Attribute: "owner", Comparison: "like"}}}, table); err == nil {
			t.Error("got no error for a comparison that DynamoDB lacks")
		}
	})
}

// A request changes nothing of what the next one shares with it.
func TestFilterLeavesAccess(t *testing.T) {
	t.Parallel()
	a, err := accessOf(schema.AccessPattern{Action: schema.Query,
		KeyConditions: []schema.KeyCondition{{Attribute: "owner", Comparison: schema.Equal}}}, schema.Table{})
	if err != nil {
		t.Fatal(err)
	}
	values, err := a.values([]any{"me"})
	if err != nil {
		t.Fatal(err)
	}
	text, names, err := a.filtered(Equal("status", 1), values)
	if err != nil || aws.ToString(text) != "#0 = :0" || names["#0"] != "status" || names["#k0"] != "owner" {
		t.Errorf("got %q, %v, %v", aws.ToString(text), names, err)
	}
	one, isNumber := values[":0"].(*types.AttributeValueMemberN)
	me, isText := values[":k0"].(*types.AttributeValueMemberS)
	if len(values) != 2 || !isNumber || one.Value != "1" || !isText || me.Value != "me" {
		t.Errorf("got the values %v", values)
	}
	if len(a.names) != 1 {
		t.Errorf("the shared names became %v", a.names)
	}
}
