package schema_test

import (
	"reflect"
	"testing"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Patterns are what their literals say.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want schema.AccessPattern }{
		{schema.GetItem.Pattern("Get", "T", "An item.").InOrigin("Read it").Costing("1 RCU").Returning("a"),
			schema.AccessPattern{Name: "Get", Description: "An item.", Action: schema.GetItem, Table: "T",
				Consistent: true, Origin: "Read it", OriginCost: "1 RCU", Attributes: []string{"a"}}},
		{schema.GetItem.Pattern("Get", "T", "An item.").Eventually(),
			schema.AccessPattern{Name: "Get", Description: "An item.", Action: schema.GetItem, Table: "T"}},
		{schema.Query.Pattern("List", "T", "Items.").By("I",
			schema.Where("a", schema.Equal)).Downwards().Filtering("b").ForOthers(),
			schema.AccessPattern{Name: "List", Description: "Items.", Action: schema.Query, Table: "T", Index: "I",
				Descending: true, Filter: []string{"b"}, Offered: true,
				KeyConditions: []schema.KeyCondition{{Attribute: "a", Comparison: schema.Equal}}}},
		{schema.BatchGetItem.Pattern("Each", "", "Items.").Across("T", "U").Consistently().ForOperators(),
			schema.AccessPattern{Name: "Each", Description: "Items.", Action: schema.BatchGetItem,
				Tables: []string{"T", "U"}, Consistent: true, ByOperators: true}},
		{schema.Transaction("Both", "Two.", schema.PutItem.On("T", "one"),
			schema.UpdateItem.On("U", "the other").IfNeeded().ForEach()),
			schema.AccessPattern{Name: "Both", Description: "Two.", Action: schema.TransactWriteItems,
				Writes: []schema.Write{
					{Table: "T", Action: schema.PutItem, Description: "one"},
					{Table: "U", Action: schema.UpdateItem, Description: "the other", Optional: true,
						Repeated: true}}}},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("got %+v; want %+v", test.got, test.want)
		}
	}
}
