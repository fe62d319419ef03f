package catalog_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

type object = map[string]any

// view is a view as Athena stores it.
func view(name, sql, schema string, columns ...string) object {
	presto, glue := []object{}, []object{}
	for _, column := range columns {
		kind, prestoKind := "bigint", "bigint"
		if strings.HasSuffix(column, "_at") {
			kind, prestoKind = "timestamp", "timestamp(3)"
		}
		presto = append(presto, object{"name": column, "type": prestoKind})
		glue = append(glue, object{"Name": column, "Type": kind})
	}
	text, err := json.Marshal(object{"originalSql": sql, "catalog": "awsdatacatalog", "schema": schema,
		"columns": presto})
	if err != nil {
		panic(err)
	}
	return object{"Type": "AWS::Glue::Table",
		"Properties": object{"DatabaseName": object{"Ref": "Database"}, "CatalogId": object{"Ref": "AWS::AccountId"},
			"TableInput": object{
				"Name": name, "TableType": "VIRTUAL_VIEW", "StorageDescriptor": object{"Columns": glue},
				"ViewOriginalText": fmt.Sprintf("/* Presto View: %s */", base64.StdEncoding.EncodeToString(text)),
			}}}
}

func input(resource object) object { return resource["Properties"].(object)["TableInput"].(object) }

func resources() object {
	return object{
		"Bucket": object{"Type": "AWS::S3::Bucket"},
		"Database": object{"Type": "AWS::Glue::Database",
			"Properties": object{"CatalogId": object{"Ref": "AWS::AccountId"},
				"DatabaseInput": object{"Name": "shop"}}},
		"Changes": object{"Type": "AWS::Glue::Table",
			"Properties": object{"DatabaseName": object{"Ref": "Database"}, "TableInput": object{
				"Name": "order_changes", "TableType": "EXTERNAL_TABLE",
				"PartitionKeys": []object{{"Name": "event_date", "Type": "date"}},
				"StorageDescriptor": object{"Columns": []object{{"Name": "event_id", "Type": "string"}},
					"Location": object{"Fn::Sub": "s3://${Bucket}/events/entity=order/"}},
			}}},
		"A":     view("a_totals", "SELECT * FROM b_current", "shop", "n"),
		"B":     view("b_current", "SELECT n, changed_at FROM order_changes", "shop", "n", "changed_at"),
		"Group": object{"Type": "AWS::Athena::WorkGroup", "Properties": object{"Name": "shop-queries"}},
		"Query": object{"Type": "AWS::Athena::NamedQuery", "Properties": object{
			"Name": "All", "Description": "Everything", "QueryString": "SELECT * FROM a_totals",
			"Database": object{"Ref": "Database"}, "WorkGroup": object{"Ref": "Group"}}},
	}
}

func read(t *testing.T, declared object) ([]catalog.Lake, error) {
	t.Helper()
	text := must.Get(json.Marshal(declared))(t)
	return catalog.Read(assemblytest.Load(t, string(text)))
}

func TestRead(t *testing.T) {
	t.Parallel()
	got := must.Get(read(t, resources()))(t)
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
	declared := object{}
	for _, name := range []string{"clicks", "shop", "visits"} {
		declared["D"+name] = object{"Type": "AWS::Glue::Database",
			"Properties": object{"DatabaseInput": object{"Name": name}}}
		declared["G"+name] = object{"Type": "AWS::Athena::WorkGroup", "Properties": object{"Name": name}}
	}
	lakes, err := read(t, declared)
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
	dir := t.TempDir()
	artifacts := object{}
	for region, sql := range map[string]string{"eu-west-1": "SELECT n, changed_at FROM order_changes",
		"us-east-1": "SELECT n + 1 AS n, changed_at FROM order_changes"} {
		declared := resources()
		declared["B"] = view("b_current", sql, "shop", "n", "changed_at")
		text := must.Get(json.Marshal(object{"Resources": declared}))(t)
		must.OK(t, os.WriteFile(filepath.Join(dir, region+".json"), text, 0o600))
		artifacts["shop-"+region] = object{"type": "aws:cloudformation:stack",
			"environment": "aws://111122223333/" + region, "properties": object{"templateFile": region + ".json"}}
	}
	text := must.Get(json.Marshal(object{"artifacts": artifacts}))(t)
	must.OK(t, os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600))
	loaded := must.Get(assembly.Load(dir, assembly.Options{}))(t)
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
	got, err := read(t, object{"Bucket": object{"Type": "AWS::S3::Bucket"}})
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("got %v, %v; want an empty list, which JSON writes as []", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(object)
		says   string
	}{
		"Database": {func(r object) {
			r["Query"].(object)["Properties"].(object)["Database"] = "other"
		}, `got database "other"`},
		"Location": {func(r object) {
			input(r["Changes"].(object))["StorageDescriptor"].(object)["Location"] = "s3://other/x/"
		}, "s3://other/x/"},
		"NotS3": {func(r object) {
			input(r["Changes"].(object))["StorageDescriptor"].(object)["Location"] = "/tmp"
		}, "s3://BUCKET/PREFIX/"},
		"NoPrestoView": {func(r object) { input(r["A"].(object))["ViewOriginalText"] = "SELECT 1" }, "Presto View"},
		"NoJSON": {func(r object) {
			input(r["A"].(object))["ViewOriginalText"] = "/* Presto View: eA== */"
		}, "view text"},
		"OtherSchema": {func(r object) { r["A"] = view("a_totals", "SELECT 1", "other", "n") }, `schema "other"`},
		"NoSQL":       {func(r object) { r["A"] = view("a_totals", "", "shop", "n") }, "a SELECT"},
		"ColumnMissing": {func(r object) {
			input(r["A"].(object))["StorageDescriptor"] = object{}
		}, "got 1 columns, the catalog has 0"},
		"OtherType": {func(r object) {
			input(r["A"].(object))["StorageDescriptor"] = object{"Columns": []object{{"Name": "n", "Type": "string"}}}
		}, "got column n bigint, the catalog has n varchar"},
		"Circle": {func(r object) { r["B"] = view("b_current", "SELECT n FROM a_totals", "shop", "n") }, "circle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			declared := resources()
			test.change(declared)
			if _, err := read(t, declared); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}
