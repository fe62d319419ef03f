package dynamo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
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
			{Name: "All", Action: schema.Query, Table: "Visits", Index: "ByTenant",
				KeyConditions: []schema.KeyCondition{equal("tenant"), equal("shard")}},
			{Name: "Since", Action: schema.Query, Table: "Visits", Index: "ByTenant",
				KeyConditions: []schema.KeyCondition{
					equal("tenant"), equal("shard"), {Attribute: "year", Comparison: schema.GreaterOrEqual},
				}},
			{Name: "Where", Action: schema.Query, Table: "Visits", Index: "ByTenant", Descending: true,
				KeyConditions: []schema.KeyCondition{
					equal("tenant"), equal("shard"), equal("year"), {Attribute: "place", Comparison: schema.BeginsWith},
				}},
			{Name: "Add", Action: schema.TransactWriteItems,
				Writes: []schema.Write{{Table: "Visits", Action: schema.PutItem}}},
		},
	}
	must.OK(t, database.Validate())
	db := dynamotest.Open(t, database)
	db.Recorder.PageSize = 1
	for _, v := range []visit{
		{"a", "acme", 1, 2024, "Rome"}, {"b", "acme", 1, 2025, "Oslo"}, {"c", "acme", 1, 2025, "Riga"},
		{"d", "acme", 1, 2025, "Rome"},
		{"e", "acme", 2, 2025, "Rome"}, {"f", "other", 1, 2025, "Rome"},
	} {
		must.OK(t, db.Transact(t.Context(), "Add",
			dynamo.Put("Visits", v, expression.AttributeNotExists(expression.Name("id")))))
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
				must.OK(t, err)
				var v visit
				must.OK(t, attributevalue.UnmarshalMap(item, &v))
				got = append(got, v.ID)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What a key may be is measured in bytes. What is accepted here, the engine accepts.
func TestKeysAreMeasuredInBytes(t *testing.T) {
	t.Parallel()
	database := schema.Database{
		Tables: []schema.Table{{
			Name: "Words", PhysicalName: "words", Key: schema.Key{Partition: "owner", Sort: "word"},
			Attributes: []schema.Attribute{
				{Name: "owner", Type: schema.String}, {Name: "word", Type: schema.String},
				{Name: "topic", Type: schema.String}, {Name: "first", Type: schema.String},
				{Name: "second", Type: schema.String},
			},
			Indexes: []schema.Index{{Name: "ByTopic", Key: schema.Key{Partition: "topic", Sort: "first"},
				FurtherSort: []string{"second"}, Projection: schema.ProjectKeysOnly}},
		}},
		AccessPatterns: []schema.AccessPattern{
			{Name: "Put", Action: schema.PutItem, Table: "Words"},
			{Name: "Get", Action: schema.GetItem, Table: "Words"},
			{Name: "Change", Action: schema.UpdateItem, Table: "Words"},
			{Name: "Of", Action: schema.Query, Table: "Words", KeyConditions: []schema.KeyCondition{
				{Attribute: "owner", Comparison: schema.Equal}}},
			{Name: "Swap", Action: schema.TransactWriteItems, Writes: []schema.Write{
				{Table: "Words", Action: schema.PutItem}}},
		},
	}
	db := dynamotest.Open(t, database)
	always := expression.ConditionBuilder{}
	type word = map[string]string
	half, more := strings.Repeat("1", 512), strings.Repeat("2", 513)
	for name, c := range map[string]struct {
		item  word
		field string // "": the engine accepts it
	}{
		"as long as may be":  {word{"owner": strings.Repeat("o", 2048), "word": strings.Repeat("w", 1024)}, ""},
		"owner":              {word{"owner": strings.Repeat("o", 2049), "word": "w"}, "owner"},
		"word":               {word{"owner": "o", "word": strings.Repeat("w", 1025)}, "word"},
		"341 characters":     {word{"owner": "o", "word": strings.Repeat("語", 341)}, ""},
		"342 characters":     {word{"owner": "o", "word": strings.Repeat("語", 342)}, "word"},
		"256 emoji":          {word{"owner": "o", "word": strings.Repeat("🙂", 256)}, ""},
		"257 emoji":          {word{"owner": "o", "word": strings.Repeat("🙂", 257)}, "word"},
		"empty word":         {word{"owner": "o", "word": ""}, "word"},
		"empty owner":        {word{"owner": "", "word": "w"}, "owner"},
		"empty topic":        {word{"owner": "o", "word": "w", "topic": "", "first": "1", "second": "2"}, "topic"},
		"long topic":         {word{"owner": "o", "word": "w", "topic": strings.Repeat("t", 2049)}, "topic"},
		"together":           {word{"owner": "o", "word": "w", "topic": "t", "first": half, "second": half}, ""},
		"together too long":  {word{"owner": "o", "word": "w", "topic": "t", "first": half, "second": more}, "second"},
		"no key of an index": {word{"owner": "o", "word": "w"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for way, err := range map[string]error{
				"put":         db.Put(t.Context(), "Put", c.item, always),
				"transaction": db.Transact(t.Context(), "Swap", dynamo.Put("Words", c.item, always)),
			} {
				wrong, refused := errors.AsType[*validate.Error](err)
				switch {
				case c.field == "" && err != nil:
					t.Errorf("%s: got %v", way, err)
				case c.field != "" && (!refused || len(wrong.Problems) != 1 || wrong.Problems[0].Field != c.field):
					t.Errorf("%s: got %v, want a problem of %s", way, err, c.field)
				}
			}
		})
	}
	refusedField := func(err error) string {
		wrong, _ := errors.AsType[*validate.Error](err)
		if wrong == nil {
			return fmt.Sprint(err)
		}
		return wrong.Problems[0].Field
	}
	var out word
	_, err := db.Get(t.Context(), "Get", &out, "o", strings.Repeat("語", 342))
	if got := refusedField(err); got != "word" {
		t.Errorf("get: got %s", got)
	}
	_, err = db.Page(t.Context(), "Of", dynamo.Query{Values: []any{""}})
	if got := refusedField(err); got != "owner" {
		t.Errorf("query: got %s", got)
	}
	err = db.Update(t.Context(), "Change", []any{"o", "w"}, expression.Set(expression.Name("topic"),
		expression.Value(strings.Repeat("t", 2049))), always, nil)
	if got := refusedField(err); got != "topic" {
		t.Errorf("update: got %s", got)
	}
}
