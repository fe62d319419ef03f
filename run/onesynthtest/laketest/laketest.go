// Package laketest queries the lake of a run of package onesynthtest. It brings DuckDB, which
// needs cgo.
package laketest

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Lake is a copy of a lake, for queries.
type Lake = lakequery.Lake

// Engine answers SQL for the console of a run: [github.com/onesynth-cdk/onesynth/run.Options] takes it as Lake. around,
// if it is not nil, is called with each query, and has to call it.
func Engine(around func(query func())) catalog.Engine {
	return catalog.Engine{Ask: func(ctx context.Context, console string, question catalog.Question) (
		answer catalog.Answer, err error) {
		query := func() { answer, err = lakequery.Ask(ctx, console, question) }
		if around != nil {
			around(query)
		} else {
			query()
		}
		return answer, err
	}}
}

// Copy copies the only lake of a run as it is now, for a caller that closes the copy.
func Copy(ctx context.Context, target *onesynthtest.Target) (*Lake, error) {
	return lakequery.Open(ctx, target.Run.ConsoleURL(), lakequery.Options{})
}

// Open is [OpenDatabase] for a run with one lake.
func Open(t testing.TB, target *onesynthtest.Target) *Lake {
	t.Helper()
	return OpenDatabase(t, target, "")
}

// OpenDatabase copies the lake with that database as it is now, for queries. The database is an output of the stack,
// such as target.Outputs["LakeClicksDatabaseName"]. [onesynthtest.Target.Flush] brings earlier changes into it. The end
// of the test removes the copy.
func OpenDatabase(t testing.TB, target *onesynthtest.Target, database string) *Lake {
	t.Helper()
	opened := must.Get(lakequery.Open(t.Context(), target.Run.ConsoleURL(), lakequery.Options{Database: database}))(t)
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// Query returns the rows of a SELECT. Each of its columns is a field of T, by its JSON name.
func Query[T any](t testing.TB, from *Lake, text string) []T {
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
