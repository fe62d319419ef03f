package lakequery_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
)

// small is a lake of one table, below events/, with a view over it.
func small(objects map[string][]byte) *run {
	columns := []catalog.Column{{Name: "name", Type: "string"}, {Name: "n", Type: "bigint"},
		{Name: "x", Type: "double"}, {Name: "yes", Type: "boolean"}, {Name: "moment", Type: "timestamp"}}
	return &run{objects: objects, lakes: []catalog.Lake{{
		Database: "shop",
		Tables: []catalog.Table{{Name: "things", Columns: columns,
			PartitionKeys: []catalog.Column{{Name: "day", Type: "date"}}, Location: "s3://bucket/events/"}},
		Views: []catalog.View{{Name: "totals", SQL: "SELECT name, count(*) AS things FROM things GROUP BY name",
			Columns: []catalog.Column{{Name: "name", Type: "string"}, {Name: "things", Type: "bigint"}}}},
	}}}
}

type thing struct {
	Name   string    `parquet:"name"`
	N      int64     `parquet:"n"`
	X      float64   `parquet:"x"`
	Yes    bool      `parquet:"yes"`
	Moment time.Time `parquet:"moment,timestamp(millisecond)"`
}

func TestQuery(t *testing.T) {
	t.Parallel()
	lake := small(map[string][]byte{
		"events/day=2026-03-01/a.parquet": write(t, thing{"b", 7, 0.5, true, time.UnixMilli(1).UTC()},
			thing{"a", -2, 1e300, false, time.Date(2026, 2, 28, 23, 59, 59, 999e6, time.UTC)}),
	}).open(t)
	for query, want := range map[string]string{
		"SELECT * FROM things ORDER BY n": "a,-2,1e+300,false,2026-02-28 " +
			"23:59:59.999,2026-03-01\nb,7,0.5,true,1970-01-01 00:00:00.001,2026-03-01\n",
		"select sum(things) from shop.totals":                   "2\n",
		"SELECT count(*) FROM awsdatacatalog.shop.totals;":      "2\n",
		"WITH t AS (SELECT n FROM things) SELECT max(n) FROM t": "7\n",
		"SHOW TABLES": "things\ntotals\n",
		"SELECT n / 2 FROM things WHERE name = 'b'":                                             "3\n",
		"SELECT name FROM things WHERE CAST(moment AS date) = DATE '2026-02-28'":                "a\n",
		"SELECT to_unixtime(CAST(TIMESTAMP '1970-01-01 00:00:00' AS timestamp with time zone))": "0\n",
		"SELECT current_date, current_date = CAST(now() AS date)": time.Now().UTC().Format(time.DateOnly) +
			",true\n",
		"SELECT max(x) FROM things WHERE day >= current_date": "\n",
	} {
		if got := answer(t, lake, query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"EXPLAIN SELECT * FROM totals", "explain analyze select * from totals",
		"EXPLAIN (FORMAT JSON) SELECT 1", "DESCRIBE totals"} {
		if got := answer(t, lake, query); got == "" {
			t.Errorf("%s: no answer", query)
		}
	}
}

func TestQueryErrors(t *testing.T) {
	t.Parallel()
	lake := small(map[string][]byte{"events/day=2026-03-01/a.parquet": write(t, thing{})}).open(t)
	folder := t.TempDir()
	foreign := filepath.Join(folder, "secret.parquet")
	must.OK(t, os.WriteFile(foreign, write(t, thing{}), 0o600))
	for _, query := range []string{
		"", "-- nothing", "SELECT 1; SELECT 2", "CREATE TABLE t (a INTEGER)",
		"CREATE OR REPLACE VIEW totals AS SELECT 1", "DROP VIEW totals",
		"INSERT INTO things SELECT * FROM things", "COPY (SELECT 1) TO '" + foreign + "'",
		"ATTACH '" + filepath.Join(folder, "db") + "'", "SET TimeZone = 'Asia/Tokyo'",
		"PRAGMA version", "INSTALL httpfs", "LOAD httpfs", "CALL duckdb_tables()", "USE memory", "BEGIN",
		"EXPLAIN ANALYZE COPY (SELECT 1) TO '" + foreign + "'",
		"EXPLAIN EXPLAIN SELECT 1", "WITH t AS (SELECT 1) DELETE FROM things",
	} {
		if rows, err := lake.Query(t.Context(), query); !errors.Is(err, lakequery.ErrNotQuery) {
			t.Errorf("%q: got %v, %v", query, rows, err)
		}
	}
	for query, says := range map[string]string{
		"SELEC 1":                    `syntax error at or near "SELEC"`,
		"SELECT nothing FROM things": "nothing",
		"SELECT * FROM thing":        "things",
		"SELECT * FROM read_parquet('" + foreign + "')":  "disabled",
		"SELECT * FROM read_csv('/etc/passwd')":          "disabled",
		"SELECT * FROM read_text('/etc/passwd')":         "disabled",
		"SELECT * FROM glob('" + folder + "/*')":         "disabled",
		"SELECT * FROM 'http://127.0.0.1:1/a.parquet'":   "disabled",
		"SELECT CAST(name || 'x' AS bigint) FROM things": "x",
		"SELECT * FROM things WHERE n = 'many'":          "many",
		"SELECT * FROM awsdatacatalog.nowhere.things":    "nowhere",
		"SELECT \x00": "",
		strings.Repeat("(", 5000) + strings.Repeat(")", 5): "",
	} {
		rows, err := lake.Query(t.Context(), query)
		if err == nil {
			err = lakequery.Write(&strings.Builder{}, lakequery.FormatCSV, rows)
		}
		if err == nil || errors.Is(err, lakequery.ErrNotQuery) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80q: got %v", query, err)
		}
	}
}

// TestConcurrentQueries: every connection of the engine is set up like the first.
func TestConcurrentQueries(t *testing.T) {
	t.Parallel()
	lake := small(map[string][]byte{"events/day=2026-03-01/a.parquet": write(t, thing{N: 5, Name: "a"})}).open(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			held, err := lake.Query(t.Context(), "SELECT name FROM totals")
			if err != nil {
				t.Error(err)
				return
			}
			defer held.Close()
			if got := answer(t, lake, "SELECT n / 2, to_unixtime(CAST(DATE '1970-01-01' AS "+
				"timestamp with time zone)) FROM things"); got != "2,0\n" {
				t.Errorf("got %q", got)
			}
		})
	}
	group.Wait()
}

func TestCancel(t *testing.T) {
	t.Parallel()
	lake := small(nil).open(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	rows, err := lake.Query(ctx, "SELECT sum(a.n * b.n) FROM UNNEST(sequence(1, 10000000)) AS a (n) "+
		"CROSS JOIN UNNEST(sequence(1, 10000000)) AS b (n)")
	if err == nil {
		err = lakequery.Write(&strings.Builder{}, lakequery.FormatCSV, rows)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestEvolution: a file that is older than a column has null there, and columns that the catalog lacks are left out.
func TestEvolution(t *testing.T) {
	t.Parallel()
	type older struct {
		N    int64  `parquet:"n"`
		Name string `parquet:"name"`
		Gone string `parquet:"gone"`
	}
	lake := small(map[string][]byte{
		"events/day=2026-03-01/a.parquet": write(t, older{1, "old", "x"}),
		"events/day=2026-03-02/a.parquet": write(t, thing{"new", 2, 0.5, true, time.Unix(0, 0)}),
	}).open(t)
	if got := answer(t, lake, "SELECT * FROM things ORDER BY n"); got !=
		"old,1,,,,2026-03-01\nnew,2,0.5,true,1970-01-01 00:00:00.000,2026-03-02\n" {
		t.Errorf("got %q", got)
	}
	lake = small(map[string][]byte{"events/day=2026-03-01/a.parquet": write(t, older{1, "old", "x"})}).open(t)
	if got := answer(t, lake, "SELECT * FROM things"); got != "old,1,,,,2026-03-01\n" {
		t.Errorf("got %q", got)
	}
}

// TestCompaction: the rows of an object that was merged between its listing and its copy come from the merged object.
func TestCompaction(t *testing.T) {
	t.Parallel()
	r := small(map[string][]byte{
		"events/day=2026-03-01/a.parquet": write(t, thing{N: 1}),
		"events/day=2026-03-01/b.parquet": write(t, thing{N: 2}),
		"events/day=2026-03-01/c.parquet": write(t, thing{N: 3}),
	})
	listings := 0
	r.listed = func(string) {
		if listings++; listings == 1 {
			r.objects["events/day=2026-03-01/merged.parquet"] = write(t, thing{N: 1}, thing{N: 2})
			delete(r.objects, "events/day=2026-03-01/a.parquet")
			delete(r.objects, "events/day=2026-03-01/b.parquet")
		}
	}
	lake := r.open(t)
	if got := answer(t, lake, "SELECT n FROM things ORDER BY n"); got != "1\n2\n3\n" || listings != 2 {
		t.Errorf("got %q after %d listings", got, listings)
	}
}

// Files of the run's folder are read in place. They stay readable when a compaction deletes them, and the console is
// asked for the objects whose files are not there.
func TestInPlace(t *testing.T) {
	t.Parallel()
	r := small(map[string][]byte{
		"events/day=2026-03-01/a.parquet": write(t, thing{N: 1}),
		"events/day=2026-03-01/b.parquet": write(t, thing{N: 2}),
	})
	r.folder = t.TempDir()
	for key, content := range r.objects {
		must.OK(t, os.WriteFile(filepath.Join(r.folder, url.PathEscape(key)), content, 0o600))
	}
	r.objects["events/day=2026-03-01/c.parquet"] = write(t, thing{N: 3})
	lake := r.open(t)
	if r.served != 1 {
		t.Errorf("the console was asked for %d objects, want the one without a file", r.served)
	}
	must.OK(t, os.RemoveAll(r.folder))
	if got := answer(t, lake, "SELECT n FROM things ORDER BY n"); got != "1\n2\n3\n" {
		t.Errorf("got %q", got)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	object := func(content []byte) map[string][]byte {
		return map[string][]byte{"events/day=2026-03-01/a.parquet": content}
	}
	view := func(sql string) func(*catalog.Lake) { return func(l *catalog.Lake) { l.Views[0].SQL = sql } }
	for name, test := range map[string]struct {
		objects map[string][]byte
		change  func(*catalog.Lake)
		says    string
	}{
		"NoParquet": {object([]byte("PAR1 not")), nil, "a.parquet"},
		"WrongType": {object(write(t, struct{ N string }{"many"})), nil,
			`column n is VARCHAR in the files, but bigint in the catalog`},
		"NarrowType":    {object(write(t, struct{ N int32 }{1})), nil, `column n is INTEGER in the files`},
		"TimeAsInteger": {object(write(t, struct{ N time.Time }{time.Now()})), nil, `column n is TIMESTAMP`},
		"UnknownType": {nil, func(l *catalog.Lake) {
			l.Tables[0].Columns[0].Type = "array<string>"
		}, "array<string>"},
		"Location": {nil, func(l *catalog.Lake) {
			l.Tables[0].Location = "bucket/events"
		}, "s3://BUCKET/PREFIX/"},
		"NoBucket": {nil, func(l *catalog.Lake) {
			l.Tables[0].Location = "s3://other/events/"
		}, "no /buckets/other here"},
		"ViewSyntax":    {nil, view("SELECT FROM WHERE"), "view totals"},
		"ViewOfNothing": {nil, view("SELECT * FROM nothing"), "nothing"},
		"ViewType": {nil, view("SELECT name, sum(n) AS things FROM things GROUP BY name"),
			"column things is HUGEINT, but bigint in the catalog: write CAST(… AS bigint)"},
		"ViewOrder": {nil, view("SELECT count(*) AS things, name FROM things GROUP BY name"),
			"column 1 of the SELECT is not name"},
		"ViewLacks": {nil, view("SELECT name FROM things"), "column 2 of the SELECT is not things"},
		"ViewHasAnother": {nil, view("SELECT name, n AS things, x FROM things"),
			"column x of the SELECT is not in the catalog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := small(test.objects)
			if test.change != nil {
				test.change(&r.lakes[0])
			}
			lake, err := lakequery.Open(t.Context(), r.start(t), lakequery.Options{})
			if err == nil {
				lake.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNothingRuns(t *testing.T) {
	t.Parallel()
	if _, err := lakequery.Open(t.Context(), "http://127.0.0.1:1", lakequery.Options{}); !errors.Is(err,
		syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

// TestClose: no file of a copy stays, after use or after opening that failed midway. It is not parallel, because it
// sets the temporary folder.
func TestClose(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	left := func() string {
		entries := must.Get(os.ReadDir(folder))(t)
		return fmt.Sprint(entries)
	}
	r := small(map[string][]byte{"events/day=2026-03-01/a.parquet": write(t, thing{})})
	lake := must.Get(lakequery.Open(t.Context(), r.start(t), lakequery.Options{}))(t)
	if left() == "[]" {
		t.Errorf("no copy in %s", folder)
	}
	if err := lake.Close(); err != nil || left() != "[]" {
		t.Errorf("got %v, left %s", err, left())
	}
	r.objects["events/day=2026-03-01/b.parquet"] = []byte("no Parquet")
	if _, err := lakequery.Open(t.Context(), r.start(t), lakequery.Options{}); err == nil || left() != "[]" {
		t.Errorf("got %v, left %s", err, left())
	}
}
