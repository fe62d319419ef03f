// Package laketest queries the lake of a run of package onesynthtest. It brings DuckDB, which
// needs cgo.
package laketest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/lake/lakequery"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Open is [OpenDatabase] for a run with one lake.
func Open(t testing.TB, target *onesynthtest.Target) *lakequery.Lake {
	t.Helper()
	return OpenDatabase(t, target, "")
}

// OpenDatabase copies the lake with that database as it is now, for queries. The database is an output of the stack,
// such as target.Outputs["LakeClicksDatabaseName"]. [onesynthtest.Target.Flush] brings earlier changes into it. The end
// of the test removes the copy.
func OpenDatabase(t testing.TB, target *onesynthtest.Target, database string) *lakequery.Lake {
	t.Helper()
	opened, err := lakequery.Open(t.Context(), target.Run.ConsoleURL(), lakequery.Options{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// Query returns the rows of a SELECT. Each of its columns is a field of T, by its JSON name.
func Query[T any](t testing.TB, from *lakequery.Lake, text string) []T {
	t.Helper()
	rows, err := from.Query(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var lines bytes.Buffer
	if err := lakequery.Write(&lines, lakequery.FormatJSONLines, rows); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var all []T
	decoder := json.NewDecoder(&lines)
	decoder.DisallowUnknownFields()
	for decoder.More() {
		var row T
		if err := decoder.Decode(&row); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, row)
	}
	return all
}
