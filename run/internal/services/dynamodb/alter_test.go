package dynamodb_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	tables "github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
)

// design is a table of orders with further properties, written as members of a JSON object.
func design(t testing.TB, attributes []string, members ...string) *assembly.Assembly {
	t.Helper()
	var defined []string
	for _, attribute := range append([]string{"id S"}, attributes...) {
		name, kind, _ := strings.Cut(attribute, " ")
		defined = append(defined, fmt.Sprintf(`{"AttributeName": %q, "AttributeType": %q}`, name, kind))
	}
	return assemblytest.Load(t,
		`{"Orders": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [`+strings.Join(defined, ", ")+`]`+
			strings.Join(append([]string{""}, members...), ", ")+`}}}`)
}

// indexes are global indexes, each written as "name: key projection".
func indexes(written ...string) string {
	var all []string
	for _, w := range written {
		fields := strings.Fields(strings.Replace(w, ":", "", 1))
		all = append(all,
			fmt.Sprintf(
				`{"IndexName": %q, "KeySchema": [{"AttributeName": %q, "KeyType": "HASH"}], "Projection": {"ProjectionType": %q}}`,
				fields[0], fields[1], fields[2]))
	}
	return `"GlobalSecondaryIndexes": [` + strings.Join(all, ", ") + `]`
}

func streamOf(view string) string { return `"StreamSpecification": {"StreamViewType": "` + view + `"}` }

func order(i int, size types.AttributeValue) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"id":     &types.AttributeValueMemberS{Value: fmt.Sprintf("%02d", i)},
		"status": &types.AttributeValueMemberS{Value: "OPEN"},
		"place":  &types.AttributeValueMemberS{Value: "Berlin"},
	}
	if size != nil {
		item["size"] = size
	}
	return item
}

// indexed counts the items that a query of the index finds.
func indexed(t testing.TB, client *dynamodb.Client, index, attribute string, value types.AttributeValue) int {
	t.Helper()
	found := must.Get(client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("orders"), IndexName: &index, KeyConditionExpression: aws.String("#a = :v"),
		ExpressionAttributeNames:  map[string]string{"#a": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": value},
	}))(t)
	return int(found.Count)
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

// Data survives the changes that DynamoDB can make to a table.
func TestKeptTablesFollowTheDesign(t *testing.T) {
	t.Parallel()
	client := enginetest.Client(t)
	for i, step := range []struct {
		source *assembly.Assembly
		says   []string
	}{
		{source: design(t, nil)},
		{source: design(t, []string{"status S", "place S"},
			indexes("by-status: status ALL", "by-place: place KEYS_ONLY")),
			says: []string{"adds index by-status to 20 items", "adds index by-place to 20 items"}},
		{source: design(t, []string{"status S", "place S"},
			indexes("by-place: place KEYS_ONLY", "by-status: status ALL"),
			`"TimeToLiveSpecification": {"AttributeName": "end", "Enabled": true}`)},
		{source: design(t, []string{"status S", "place S"},
			indexes("by-status: status KEYS_ONLY", "by-place: place KEYS_ONLY"), streamOf("NEW_IMAGE")),
			says: []string{"removes index by-status", "adds index by-status to 20 items",
				"begins a stream of NEW_IMAGE"}},
		{source: design(t, []string{"place S"}, indexes("by-status: place ALL"), streamOf("NEW_AND_OLD_IMAGES")),
			says: []string{"removes index by-place", "removes index by-status", "adds index by-status to 20 items",
				"ends its stream of NEW_IMAGE", "begins a stream of NEW_AND_OLD_IMAGES"}},
		{source: design(t, nil), says: []string{"removes index by-status", "ends its stream of NEW_AND_OLD_IMAGES"}},
	} {
		var lines, says []string
		if err := tables.CreateOrAlterTables(t.Context(), client, step.source, func(line string) {
			lines = append(lines, line)
		}); err != nil {
			t.Fatal(err)
		}
		for _, line := range step.says {
			says = append(says, "table orders: "+line)
		}
		if !slices.Equal(lines, says) {
			t.Errorf("step %d: got %q, want %q", i, lines, says)
		}
		if i == 0 {
			for i := range 20 {
				enginetest.Put(t, client, "orders", order(i, nil))
			}
		}
		got := must.Get(tables.DescribeTables(t.Context(), client, step.source))(t)
		fresh := enginetest.Client(t)
		must.OK(t, tables.CreateOrAlterTables(t.Context(), fresh, step.source, func(string) {}))
		want := must.Get(tables.DescribeTables(t.Context(), fresh, step.source))(t)
		want[0].Items = 20
		if difference := cmp.Diff(want, got); difference != "" {
			t.Errorf("step %d: %s", i, difference)
		}
		for _, index := range got[0].Indexes {
			key := index.Keys[0].Attribute
			if n := indexed(t, client, index.Name, key,
				text(map[string]string{"status": "OPEN", "place": "Berlin"}[key])); n != 20 {
				t.Errorf("step %d: index %s has %d items", i, index.Name, n)
			}
		}
	}
}

// An engine that others use keeps their indexes and streams.
func TestCreateTablesAltersNothing(t *testing.T) {
	t.Parallel()
	client := enginetest.Client(t)
	theirs := design(t, []string{"status S"}, indexes("by-status: status ALL"), streamOf("NEW_IMAGE"))
	must.OK(t, tables.CreateTables(t.Context(), client, theirs))
	for name, ours := range map[string]*assembly.Assembly{
		"without the index": design(t, nil, streamOf("NEW_IMAGE")),
		"another stream":    design(t, []string{"status S"}, indexes("by-status: status ALL"), streamOf("KEYS_ONLY")),
		"another index": design(t, []string{"status S", "place S"},
			indexes("by-status: status ALL", "by-place: place ALL"), streamOf("NEW_IMAGE")),
	} {
		if err := tables.CreateTables(t.Context(), client, ours); !errors.Is(err, tables.ErrTableDiffers) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := tables.CreateTables(t.Context(), client, theirs); err != nil {
		t.Errorf("the table was changed: %v", err)
	}
}

func TestKeptTablesThatCannotFollow(t *testing.T) {
	t.Parallel()
	client := enginetest.Client(t)
	before := design(t, []string{"status S"}, indexes("by-status: status ALL"))
	must.OK(t, tables.CreateOrAlterTables(t.Context(), client, before, func(string) {}))
	for i := range 3 {
		enginetest.Put(t, client, "orders", order(i, text("large")))
	}
	enginetest.Put(t, client, "orders", order(3, number("5")))
	enginetest.Put(t, client, "orders", order(4, &types.AttributeValueMemberBOOL{Value: true}))
	for name, c := range map[string]struct {
		source *assembly.Assembly
		want   error
		says   []string
	}{
		"another sort key": {source: assemblytest.Load(t,
			`{"Orders": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
			"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "status", "KeyType": "RANGE"}],
			"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "status", "AttributeType": "S"}]}}}`), want: tables.ErrTableDiffers, says: []string{"remove the data folder", "status S RANGE"}},
		"another type of the key": {source: assemblytest.Load(t,
			`{"Orders": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
			"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}]}}}`), want: tables.ErrTableDiffers, says: []string{"id N HASH"}},
		"an index on text that is a number": {source: design(t, []string{"size N"}, indexes("by-size: size ALL")),
			want: tables.ErrUnfitItems, says: []string{"by-size", "size of type N", `as S`, `{"id":{"S":"0`}},
		"an index on text that is a truth": {source: design(t, []string{"size S"}, indexes("by-size: size ALL")),
			want: tables.ErrUnfitItems, says: []string{"size of type S", "remove the data folder"}},
	} {
		err := tables.CreateOrAlterTables(t.Context(), client, c.source, func(string) {})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in: %v", name, part, err)
			}
		}
	}
	// None of them has changed the table.
	var lines []string
	if err := tables.CreateOrAlterTables(t.Context(), client, before, func(line string) {
		lines = append(lines, line)
	}); err != nil || len(lines) > 0 {
		t.Errorf("got %v, %v", lines, err)
	}
	if n := indexed(t, client, "by-status", "status", text("OPEN")); n != 5 {
		t.Errorf("the index has %d items", n)
	}
}

// A new process opens the folder of an earlier run, whose table had another design.
func TestDataSurvivesAnAddedIndex(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), enginetest.AccessKey()
	var last []string
	for _, source := range []*assembly.Assembly{
		design(t, []string{"status S"}, indexes("by-status: status ALL")),
		design(t, []string{"place S"}, indexes("by-place: place ALL"), streamOf("NEW_AND_OLD_IMAGES")),
	} {
		started := must.Get(engine.Start(t.Context(), engine.Options{Dir: dir}))(t)
		client := started.Client(key)
		last = nil
		if err := tables.CreateOrAlterTables(t.Context(), client, source, func(line string) {
			last = append(last, line)
		}); err != nil {
			t.Fatal(err)
		}
		if len(last) == 0 {
			for i := range 60 {
				enginetest.Put(t, client, "orders", order(i, nil))
			}
		} else if n := indexed(t, client, "by-place", "place", text("Berlin")); n != 60 {
			t.Errorf("the new index has %d items", n)
		}
		if err := started.Close(); err != nil {
			t.Error(err)
		}
	}
	want := []string{"table orders: removes index by-status", "table orders: adds index by-place to 60 items",
		"table orders: begins a stream of NEW_AND_OLD_IMAGES"}
	if !slices.Equal(last, want) {
		t.Errorf("got %q, want %q", last, want)
	}
}
