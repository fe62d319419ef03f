package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

type visit struct {
	ID     string `dynamodbav:"id"`
	Tenant string `dynamodbav:"tenant"`
	Shard  int    `dynamodbav:"shard"`
	Year   int    `dynamodbav:"year"`
	Place  string `dynamodbav:"place"`
}

// An index whose keys are made of several attributes is queried by all of its
// partition key and by the first of its sort key on, page after page.
func TestSeveralKeyAttributes(t *testing.T) {
	t.Parallel()
	equal := func(attribute string) schema.KeyCondition {
		return schema.KeyCondition{Attribute: attribute, Comparison: schema.Equal}
	}
	database := schema.Database{
		Tables: []schema.Table{{
			Name: "Visits", PhysicalName: "visits", Key: schema.Key{Partition: "id"},
			Attributes: []schema.Attribute{
				{Name: "id", Type: schema.String}, {Name: "tenant", Type: schema.String},
				{Name: "shard", Type: schema.Number},
				{Name: "year", Type: schema.Number}, {Name: "place", Type: schema.String},
			},
			Indexes: []schema.Index{{
				Name: "ByTenant", Key: schema.Key{Partition: "tenant", Sort: "year"},
				FurtherPartition: []string{"shard"}, FurtherSort: []string{"place"},
				Projection: schema.ProjectKeysOnly,
			}},
		}},
		AccessPatterns: []schema.AccessPattern{
			{Name: "All", Operation: schema.Query, Table: "Visits", Index: "ByTenant",
				KeyConditions: []schema.KeyCondition{equal("tenant"), equal("shard")}},
			{Name: "Since", Operation: schema.Query, Table: "Visits", Index: "ByTenant",
				KeyConditions: []schema.KeyCondition{
					equal("tenant"), equal("shard"), {Attribute: "year", Comparison: schema.GreaterOrEqual},
				}},
			{Name: "Where", Operation: schema.Query, Table: "Visits", Index: "ByTenant", Descending: true,
				KeyConditions: []schema.KeyCondition{
					equal("tenant"), equal("shard"), equal("year"), {Attribute: "place", Comparison: schema.BeginsWith},
				}},
			{Name: "Add", Operation: schema.TransactWriteItems,
				Writes: []schema.Write{{Table: "Visits", Operation: schema.PutItem}}},
		},
	}
	if err := database.Validate(); err != nil {
		t.Fatal(err)
	}
	db := dynamotest.Open(t, database)
	db.Recorder.PageSize = 1
	for _, v := range []visit{
		{"a", "acme", 1, 2024, "Rome"}, {"b", "acme", 1, 2025, "Oslo"}, {"c", "acme", 1, 2025, "Riga"},
		{"d", "acme", 1, 2025, "Rome"},
		{"e", "acme", 2, 2025, "Rome"}, {"f", "other", 1, 2025, "Rome"},
	} {
		if err := db.Transact(t.Context(), "Add",
			dynamo.Put("Visits", v, expression.AttributeNotExists(expression.Name("id")))); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, test := range map[string]struct {
		values []any
		want   []string
	}{
		"All":   {[]any{"acme", 1}, []string{"a", "b", "c", "d"}},
		"Since": {[]any{"acme", 1, 2025}, []string{"b", "c", "d"}},
		"Where": {[]any{"acme", 1, 2025, "R"}, []string{"d", "c"}},
	} {
		t.Run(pattern, func(t *testing.T) {
			var got []string
			for item, err := range db.Items(t.Context(), pattern, dynamo.Query{Values: test.values}) {
				if err != nil {
					t.Fatal(err)
				}
				var v visit
				if err := attributevalue.UnmarshalMap(item, &v); err != nil {
					t.Fatal(err)
				}
				got = append(got, v.ID)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
