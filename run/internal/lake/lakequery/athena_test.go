package lakequery_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
)

// Every statement of testdata/athena.txt has Athena's answer, or none.
func TestAthena(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("testdata/athena.txt"))(t)
	lake := small(map[string][]byte{"events/day=2026-03-01/a.parquet": write(t,
		thing{"b", 7, 0.5, true, time.Date(2026, 3, 1, 10, 20, 30, 456e6, time.UTC)})}).open(t)
	page, statement, asked := "", "", 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		want, isAnswer := strings.CutPrefix(line, "=")
		says, isError := strings.CutPrefix(line, "! ")
		switch {
		case strings.HasPrefix(line, "## "):
			page = strings.TrimPrefix(line, "## ")
			continue
		case line == "" || strings.HasPrefix(line, "# "):
			continue
		case !isAnswer && !isError:
			statement = line
			continue
		}
		asked++
		var b strings.Builder
		rows, err := lake.Query(t.Context(), statement)
		if err == nil {
			err = lakequery.Write(&b, lakequery.FormatCSV, rows)
		}
		_, got, _ := strings.Cut(strings.TrimSuffix(b.String(), "\n"), "\n")
		got = strings.ReplaceAll(got, "\n", "|")
		switch {
		case isAnswer && (err != nil || got != strings.TrimPrefix(want, " ")):
			t.Errorf("%s: %s\ngot  %s, %v\nwant%s", page, statement, got, err, want)
		case isError && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %s\ngot  %s, %v\nwant an error with %s", page, statement, got, err, says)
		}
	}
	if asked < 200 {
		t.Errorf("asked %d statements", asked)
	}
}
