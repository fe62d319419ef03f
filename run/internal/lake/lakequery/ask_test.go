package lakequery_test

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
)

// An answer ends where people can read no more of it, and says so.
func TestAskWithinBounds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(small(nil))
	t.Cleanup(server.Close)
	ask := func(sql string) catalog.Answer {
		t.Helper()
		return must.Get(lakequery.Ask(t.Context(), server.URL, catalog.Question{SQL: sql}))(t)
	}
	got := ask("SELECT rpad('', 1000000, 'ü') AS long, 'short' AS short")
	if value := *got.Rows[0][0]; len(value) > catalog.LongestValue || len(value) < catalog.LongestValue-2 ||
		!utf8.ValidString(value) || got.Cut != 1 || got.More || *got.Rows[0][1] != "short" {
		t.Errorf("a long value: got %d bytes, %d cut, more %v", len(value), got.Cut, got.More)
	}
	got = ask("SELECT rpad('', 60000, 'a') FROM UNNEST(sequence(1, 1000)) AS t (n)")
	if size := 60_000 * len(got.Rows); size < catalog.LargestAnswer || size > catalog.LargestAnswer+60_000 ||
		got.Cut != 0 || !got.More {
		t.Errorf("many rows: got %d bytes, %d cut, more %v", size, got.Cut, got.More)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(small(map[string][]byte{
		"events/day=2026-03-01/a.parquet": write(t, thing{"b", 7, 0.5, true, time.UnixMilli(1).UTC()},
			thing{"a", -2, 0, false, time.UnixMilli(2).UTC()}, thing{"c", 3, 0, false, time.UnixMilli(3).UTC()}),
	}))
	t.Cleanup(server.Close)
	got, err := lakequery.Ask(t.Context(), server.URL,
		catalog.Question{SQL: "SELECT day, name, nullif(n, 7) AS n FROM things ORDER BY name", Most: 2})
	must.OK(t, err)
	text := func(text string) *string { return &text }
	want := catalog.Answer{
		Columns: []catalog.Column{{Name: "day", Type: "DATE"}, {Name: "name", Type: "VARCHAR"},
			{Name: "n", Type: "BIGINT"}},
		Rows: [][]*string{{text("2026-03-01"), text("a"), text("-2")}, {text("2026-03-01"), text("b"), nil}},
		More: true,
	}
	if got.Milliseconds <= 0 {
		t.Errorf("the query took %v ms", got.Milliseconds)
	}
	got.Milliseconds = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, err = lakequery.Ask(t.Context(), server.URL,
		catalog.Question{Database: "shop", SQL: "SELECT 1 WHERE false"}); err != nil || got.Rows == nil || got.More {
		t.Errorf("got %+v, %v", got, err)
	}
	var unknown *catalog.DatabaseError
	if _, err := lakequery.Ask(t.Context(), server.URL,
		catalog.Question{Database: "other", SQL: "SELECT 1"}); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if _, err := lakequery.Ask(t.Context(), server.URL, catalog.Question{SQL: "DROP VIEW totals"}); !errors.Is(err,
		lakequery.ErrNotQuery) {
		t.Errorf("got %v", err)
	}
}
