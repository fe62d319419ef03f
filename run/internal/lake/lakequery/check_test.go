package lakequery_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
)

// The platform's own lake has no findings, and each mistake that the test makes in it is one.
func TestCheck(t *testing.T) {
	t.Parallel()
	view := func(lake *catalog.Lake, name string) *catalog.View {
		return &lake.Views[slices.IndexFunc(lake.Views, func(v catalog.View) bool { return v.Name == name })]
	}
	for name, c := range map[string]struct {
		change func(*catalog.Lake)
		// wants are the findings, in order.
		wants [][]string
		// unchecked says that DuckDB cannot check the text.
		unchecked bool
	}{
		"nothing": {change: func(*catalog.Lake) {}},
		"a column that no table has": {
			change: func(l *catalog.Lake) {
				v := view(l, "tasks_current")
				v.SQL = strings.Replace(v.SQL, "title", "titel", 1)
			},
			wants: [][]string{{"database " + todo.Platform().Lakes[0].Name + ", view tasks_current", `"titel"`, "LINE ",
				"^"}},
		},
		"a view that is not there": {
			change: func(l *catalog.Lake) { view(l, "kpis").SQL = "SELECT count(*) AS users\nFROM people" },
			wants:  [][]string{{"view kpis", "people", "LINE 2: FROM people", "^"}},
		},
		"a type that the catalog does not say": {
			change: func(l *catalog.Lake) { view(l, "kpis").Columns[0].Type = "string" },
			wants:  [][]string{{"view kpis", "column users is BIGINT, but string in the catalog"}},
		},
		"a column too few": {
			change: func(l *catalog.Lake) { v := view(l, "kpis"); v.Columns = v.Columns[:len(v.Columns)-1] },
			wants:  [][]string{{"view kpis", "is not in the catalog"}},
		},
		"a type that no lake has": {
			change: func(l *catalog.Lake) { l.Tables[0].Columns[0].Type = "array<string>" },
			wants:  [][]string{{"table ", "array<string>"}},
		},
		"text that is no SQL": {
			change: func(l *catalog.Lake) { view(l, "kpis").SQL = "SELECT FROM WHERE" },
			wants:  [][]string{{"view kpis", "syntax error", "LINE 1"}},
		},
		"queries": {
			change: func(l *catalog.Lake) {
				l.Queries[0].SQL = "SELECT nothing FROM kpis"
				l.Queries[1].SQL = "DROP VIEW kpis"
				l.Queries[2].SQL = "SELECT 1; SELECT 2"
			},
			wants: [][]string{{"saved query", "nothing", "LINE 1"}, {"saved query", "not a query"},
				{"saved query", "got 2 statements"}},
		},
		"a file of this machine": {
			change: func(l *catalog.Lake) { l.Queries[0].SQL = "SELECT * FROM read_csv('/etc/passwd')" },
			wants:  [][]string{{"saved query", "disabled"}},
		},
		"a function that DuckDB lacks": {
			change:    func(l *catalog.Lake) { l.Queries[0].SQL = "SELECT approx_percentile(users, 0.5) FROM kpis" },
			wants:     [][]string{{"saved query", "could not be checked", "approx_percentile"}},
			unchecked: true,
		},
		"views and queries of one that DuckDB cannot check": {
			change: func(l *catalog.Lake) {
				l.Views = []catalog.View{
					{Name: "first", SQL: "SELECT approx_percentile(1, 0.5) AS n",
						Columns: []catalog.Column{{Name: "n", Type: "bigint"}}},
					{Name: "second", SQL: "SELECT n FROM first",
						Columns: []catalog.Column{{Name: "n", Type: "bigint"}}},
					{Name: "other", SQL: "SELECT CAST(1 AS bigint) AS n",
						Columns: []catalog.Column{{Name: "n", Type: "bigint"}}},
				}
				l.Queries = []catalog.Query{{Name: "all", SQL: "SELECT n FROM second"},
					{Name: "own", SQL: "SELECT n FROM other"}}
			},
			wants: [][]string{{"view first", "approx_percentile"}, {"view second", "could not be checked", "first"},
				{"saved query \"all\"", "could not be checked", "second"}},
			unchecked: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lake := described(todo.Platform().Lakes[0])
			c.change(&lake)
			findings := must.Get(lakequery.Check(t.Context(), lake))(t)
			if len(findings) != len(c.wants) {
				t.Fatalf("got %d findings, want %d: %v", len(findings), len(c.wants), findings)
			}
			for i, finding := range findings {
				if finding.Unchecked != c.unchecked {
					t.Errorf("unchecked is %v", finding.Unchecked)
				}
				for _, part := range c.wants[i] {
					if !strings.Contains(finding.String(), part) {
						t.Errorf("%q is not in: %s", part, finding)
					}
				}
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	lake := described(todo.Platform().Lakes[0])
	for b.Loop() {
		if findings, err := lakequery.Check(b.Context(), lake); err != nil || len(findings) > 0 {
			b.Fatal(findings, err)
		}
	}
}
