package lakequery_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	lake := small(nil).open(t)
	const values = `SELECT 'a' AS text, 1 AS n, true AS yes, 0.5e0 AS x, CAST(1.50 AS decimal(10,2)) AS price, DATE '2026-01-31' AS day,
		TIMESTAMP '2026-01-31 09:00:00.5' AS at, CAST(TIMESTAMP '2026-01-31 00:00:00' AS timestamp with time zone) AS zoned,
		(SELECT sum(n) FROM UNNEST(ARRAY[9223372036854775807, 1]) AS t (n)) AS huge, nan() AS nan,
		ARRAY['a', NULL, 'b, c'] AS list, NULL AS none`
	for name, test := range map[string]struct {
		format      lakequery.Format
		query, want string
	}{
		"Table": {lakequery.FormatTable, "SELECT 'über' AS a, 1 AS number UNION ALL SELECT NULL, NULL ORDER BY 2",
			"a     number\n-     ------\nüber  1\nnull  null\n(2 rows)\n"},
		"TableOfOne":  {lakequery.FormatTable, "SELECT 1 AS n", "n\n-\n1\n(1 row)\n"},
		"TableOfNone": {lakequery.FormatTable, "SELECT 1 AS n WHERE false", "n\n-\n(0 rows)\n"},
		"Terminal": {lakequery.FormatTable,
			`SELECT 'a' || chr(10) || 'b' || chr(9) || chr(27) || '[2J' || chr(8238) || 'é' AS a`,
			"a\n-\na\\nb\\t\\x1b[2J\\u202eé\n(1 row)\n"},
		"CSV": {lakequery.FormatCSV, values,
			"text,n,yes,x,price,day,at,zoned,huge,nan,list,none\n" +
				`a,1,true,0.5,1.50,2026-01-31,2026-01-31 09:00:00.500,2026-01-31 00:00:00.000 UTC,9223372036854775808,NaN,"[a, null, b, c]",` + "\n"},
		"CSVQuotes": {lakequery.FormatCSV, `SELECT 'a "b", c' || chr(10) || 'd' AS a`, "a\n\"a \"\"b\"\", c\nd\"\n"},
		"JSON": {lakequery.FormatJSON, "SELECT 1 AS b, NULL AS a UNION ALL SELECT 2, 'x\"y' ORDER BY 1",
			"[\n{\"b\":1,\"a\":null},\n{\"b\":2,\"a\":\"x\\\"y\"}\n]\n"},
		"JSONNone": {lakequery.FormatJSON, "SELECT 1 AS n WHERE false", "[]\n"},
		"JSONLines": {lakequery.FormatJSONLines, values,
			`{"text":"a","n":1,"yes":true,"x":0.5,"price":1.5,"day":"2026-01-31","at":"2026-01-31T09:00:00.5Z","zoned":"2026-01-31T00:00:00Z",` +
				`"huge":9223372036854775808,"nan":"NaN","list":["a",null,"b, c"],"none":null}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := must.Get(lake.Query(t.Context(), test.query))(t)
			var b strings.Builder
			if err := lakequery.Write(&b, test.format, rows); err != nil || b.String() != test.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, b.String(), test.want)
			}
		})
	}
}

// broken is a writer that takes some bytes and then fails.
type broken struct{ left int }

var errBroken = errors.New("broken pipe")

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	lake := small(nil).open(t)
	for name, test := range map[string]struct {
		format      lakequery.Format
		query, says string
	}{
		"UnknownFormat": {"xml", "SELECT 1", `format "xml"`},
		"TwiceInJSON":   {lakequery.FormatJSON, "SELECT 1 AS a, 2 AS a", "column a is there twice"},
		"Table":         {lakequery.FormatTable, "SELECT n FROM UNNEST(sequence(1, 100000)) AS t (n)", "broken"},
		"CSV":           {lakequery.FormatCSV, "SELECT n FROM UNNEST(sequence(1, 100000)) AS t (n)", "broken"},
		"JSON":          {lakequery.FormatJSON, "SELECT n FROM UNNEST(sequence(1, 100000)) AS t (n)", "broken"},
		"JSONLines":     {lakequery.FormatJSONLines, "SELECT n FROM UNNEST(sequence(1, 100000)) AS t (n)", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := must.Get(lake.Query(t.Context(), test.query))(t)
			if err := lakequery.Write(&broken{50}, test.format, rows); err == nil ||
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}
