package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// shop reads the lakes of the assembly of testdata/shop.json, with a change of its resources.
func shop(t *testing.T, change string) ([]catalog.Lake, error) {
	t.Helper()
	return catalog.Read(assemblytest.Load(t, resources(t, change)))
}

func resources(t *testing.T, change string) string {
	t.Helper()
	changed := assemblytest.Changed(t, "testdata/shop.json", change)
	assemblytest.EncodeViews(t, changed)
	return string(must.Get(json.Marshal(changed))(t))
}

func TestRead(t *testing.T) {
	t.Parallel()
	got := must.Get(shop(t, "{}"))(t)
	want := []catalog.Lake{{
		Database: "shop", Stack: "Stack", Workgroup: "shop-queries",
		Tables: []catalog.Table{{Name: "order_changes", Columns: []catalog.Column{{Name: "event_id", Type: "string"}},
			PartitionKeys: []catalog.Column{{Name: "event_date", Type: "date"}},
			Location:      "s3://stack-bucket/events/entity=order/"}},
		Views: []catalog.View{
			{Name: "b_current", SQL: "SELECT n, changed_at FROM order_changes",
				Columns: []catalog.Column{{Name: "n", Type: "bigint"}, {Name: "changed_at", Type: "timestamp"}}},
			{Name: "a_totals", SQL: "SELECT * FROM b_current", Columns: []catalog.Column{{Name: "n", Type: "bigint"}}},
		},
		Queries: []catalog.Query{{Name: "All", Description: "Everything", SQL: "SELECT * FROM a_totals"}},
	}}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
}

// Each of two lakes of a stack has the workgroup of its database's name.
func TestWorkgroups(t *testing.T) {
	t.Parallel()
	declared := map[string]any{}
	for _, name := range []string{"clicks", "shop", "visits"} {
		declared["D"+name] = map[string]any{"Type": "AWS::Glue::Database",
			"Properties": map[string]any{"DatabaseInput": map[string]any{"Name": name}}}
		declared["G"+name] = map[string]any{"Type": "AWS::Athena::WorkGroup",
			"Properties": map[string]any{"Name": name}}
	}
	lakes, err := catalog.Read(assemblytest.Load(t, string(must.Get(json.Marshal(declared))(t))))
	if err != nil || len(lakes) != 3 {
		t.Fatalf("got %d lakes, %v", len(lakes), err)
	}
	for _, lake := range lakes {
		if lake.Workgroup != lake.Database {
			t.Errorf("%s: got the workgroup %s", lake.Database, lake.Workgroup)
		}
	}
}

// A platform in two regions has two catalogs of one name.
func TestRegions(t *testing.T) {
	t.Parallel()
	stacks := map[string]assemblytest.Stack{}
	for region, change := range map[string]string{"eu-west-1": "{}", "us-east-1": `{"B": {"Properties": {"TableInput": {
		"ViewOriginalText": {"originalSql": "SELECT n + 1 AS n, changed_at FROM order_changes"}}}}}`} {
		stacks["shop-"+region] = assemblytest.Stack{Environment: "aws://111122223333/" + region,
			Template: `{"Resources": ` + resources(t, change) + `}`}
	}
	loaded := must.Get(assembly.Load(assemblytest.WriteStacks(t, stacks), assembly.Options{}))(t)
	lakes := must.Get(catalog.Read(loaded))(t)
	var got []string
	for _, lake := range lakes {
		got = append(got, fmt.Sprint(lake.Database, " ", lake.Stack, " ", len(lake.Tables), len(lake.Views),
			len(lake.Queries), " ", lake.Tables[0].Location, " ", lake.Views[0].SQL))
	}
	want := []string{
		"shop shop-eu-west-1 1 2 1 s3://shop-eu-west-1-bucket/events/entity=order/ SELECT n, changed_at FROM " +
			"order_changes",
		"shop shop-us-east-1 1 2 1 s3://shop-us-east-1-bucket/events/entity=order/ SELECT n + 1 AS n, changed_at " +
			"FROM order_changes",
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
}

func TestNoLake(t *testing.T) {
	t.Parallel()
	got, err := catalog.Read(assemblytest.Load(t, `{"Bucket": {"Type": "AWS::S3::Bucket"}}`))
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("got %v, %v; want an empty list, which JSON writes as []", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ change, says string }{
		"Database": {`{"Query": {"Properties": {"Database": "other"}}}`, `got database "other"`},
		"Location": {`{"Changes": {"Properties": {"TableInput": {"StorageDescriptor": {"Location": "s3://other/x/"}}}}}`,
			"s3://other/x/"},
		"NotS3": {`{"Changes": {"Properties": {"TableInput": {"StorageDescriptor": {"Location": "/tmp"}}}}}`,
			"s3://BUCKET/PREFIX/"},
		"NoPrestoView": {`{"A": {"Properties": {"TableInput": {"ViewOriginalText": "SELECT 1"}}}}`, "Presto View"},
		"NoJSON": {`{"A": {"Properties": {"TableInput": {"ViewOriginalText": "/* Presto View: eA== */"}}}}`,
			"view text"},
		"OtherSchema": {`{"A": {"Properties": {"TableInput": {"ViewOriginalText": {"schema": "other"}}}}}`,
			`schema "other"`},
		"NoSQL": {`{"A": {"Properties": {"TableInput": {"ViewOriginalText": {"originalSql": ""}}}}}`, "a SELECT"},
		"ColumnMissing": {`{"A": {"Properties": {"TableInput": {"StorageDescriptor": {"Columns": null}}}}}`,
			"got 1 columns, the catalog has 0"},
		"OtherType": {`{"A": {"Properties": {"TableInput": {"StorageDescriptor": {
			"Columns": [{"Name": "n", "Type": "string"}]}}}}}`, "got column n bigint, the catalog has n varchar"},
		"Circle": {`{"B": {"Properties": {"TableInput": {"StorageDescriptor": {"Columns": [{"Name": "n",
			"Type": "bigint"}]}, "ViewOriginalText": {"originalSql": "SELECT n FROM a_totals",
			"columns": [{"name": "n", "type": "bigint"}]}}}}}`, "circle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := shop(t, test.change); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}
