package command

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
)

// lakes serves a lake of one table, with 50,000 rows, from a console. Each database holds it.
func lakes(t *testing.T, databases ...string) string {
	t.Helper()
	type sale struct {
		Shop   string `parquet:"shop"`
		Amount int64  `parquet:"amount"`
	}
	rows := make([]sale, 50_000)
	for i := range rows {
		rows[i] = sale{"north", int64(i)}
	}
	rows[0].Shop = "south"
	var file bytes.Buffer
	must.OK(t, parquet.Write(&file, rows))
	shop := must.Get(assembly.Load(lakeAssembly(t, "{}"), assembly.Options{}))(t)
	known := []catalog.Lake{}
	for _, database := range databases {
		lake := must.Get(catalog.Read(shop))(t)[0]
		lake.Database = database
		known = append(known, lake)
	}
	buckets := must.Get(s3.New(t.TempDir(), shop))(t)
	must.Get(buckets.Backend().PutObject("bucket", "sales/day=2026-01-31/a.parquet", nil, &file, int64(file.Len()),
		nil))(t)
	return serve(t, console.New(console.Parts{Lakes: known, Buckets: buckets}).ServeHTTP)
}

// skipWithoutLake skips what needs onesynth-lake: building it needs a C compiler.
func skipWithoutLake(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("asks onesynth-lake: go test without -short does")
	}
}

func TestLake(t *testing.T) {
	skipWithoutLake(t)
	t.Parallel()
	one, two, none := lakes(t, "shop"), lakes(t, "shop", "todo"), lakes(t)
	const list = `Database shop

Table sales
  shop    string
  amount  bigint
  day     date, of the folder

View totals
  shop   string
  sales  bigint

Saved queries, for --query
  Best shops  Shops by sales
`
	const rows = `kind,of,name,type,description
column,sales,shop,string,
column,sales,amount,bigint,
partition key,sales,day,date,
column of a view,totals,shop,string,
column of a view,totals,sales,bigint,
saved query,,Best shops,,Shops by sales
`
	const table = "shop   sales\n----   -----\nnorth  49999\nsouth  1\n(2 rows)\n"
	for name, test := range map[string]struct {
		arguments []string
		status    int
		want      string // exactly, on standard output
		says      string // on standard error
	}{
		"List":  {[]string{"--console", one}, 0, list, ""},
		"SQL":   {[]string{"--console", one, "select * from totals order by 1"}, 0, table, ""},
		"Saved": {[]string{"--console", one, "--query", "best SHOPS"}, 0, table, ""},
		"Database": {[]string{"--console", two, "--database", "todo", "SELECT * FROM todo.totals ORDER BY 1"}, 0,
			table, ""},
		"CSV": {[]string{"--console", one, "--format", "csv",
			"SELECT sum(amount) AS total, day FROM sales GROUP BY day"}, 0, "total,day\n1249975000,2026-01-31\n", ""},
		"JSON": {[]string{"--console", one, "--format", "json",
			"SELECT sales FROM totals WHERE shop = 'south'"}, 0, "[\n{\"sales\":1}\n]\n", ""},
		"JSONLines": {[]string{"--console", one, "--format", "jsonlines", "SELECT shop FROM totals ORDER BY shop"},
			0, "{\"shop\":\"north\"}\n{\"shop\":\"south\"}\n", ""},
		"UnknownSaved": {[]string{"--console", one, "--query", "Worst shops"}, 1, "", `the lake has "Best shops"`},
		"Both":         {[]string{"--console", one, "--query", "Best shops", "SELECT 1"}, 64, "", "give one of them"},
		"Ambiguous": {[]string{"--console", two, "SELECT 1"}, 64, "",
			"shop of stack Stack, todo of stack Stack: choose with --database"},
		"NoLake":     {[]string{"--console", none}, 1, "", "the run has no lake"},
		"NoSuchLake": {[]string{"--console", one, "--database", "shops"}, 64, "", `no database "shops"`},
		"NoQuery":    {[]string{"--console", one, "DROP VIEW totals"}, 1, "", "a lake is read with SELECT"},
		"Memory": {[]string{"--console", one, "SELECT replace(rpad('', 40000, 'a'), 'a', rpad('', 50000, 'b'))"}, 1, "",
			"the query needs more than 1.5 GiB of memory"},
		"Refused": {[]string{"--console", one, "SELECT amount = '1' FROM sales"}, 1, "",
			"(amount = '1'): Athena does not convert a varchar to bigint by itself. Write: 1"},
		"NoColumn":    {[]string{"--console", one, "SELECT price FROM sales"}, 1, "", `"price" not found`},
		"Rows":        {[]string{"--console", one, "--format", "csv"}, 0, rows, ""},
		"Format":      {[]string{"--console", one, "--format", "xml", "SELECT 1"}, 64, "", "table"},
		"NothingRuns": {[]string{"--console", "http://127.0.0.1:1", "SELECT 1"}, 1, "", "start it with onesynth local"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := invoke(t, append([]string{"lake"}, test.arguments...)...)
			if status != test.status || stdout != test.want && test.status != 64 ||
				!strings.Contains(stderr+stdout, test.says) {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
		})
	}
	t.Run("ListAsJSON", func(t *testing.T) {
		t.Parallel()
		status, stdout, stderr := invoke(t, "lake", "--format", "json", "--console", one)
		var got catalog.Lake
		if err := json.Unmarshal([]byte(stdout), &got); status != 0 || err != nil || got.Tables[0].Name != "sales" {
			t.Errorf("got %d\n%s%s%v", status, stdout, stderr, err)
		}
	})
}

// TestLakeReaderLeaves: a reader that wants no more, such as head, is no error, and nothing of the copy stays.
func TestLakeReaderLeaves(t *testing.T) {
	skipWithoutLake(t)
	t.Parallel()
	folder := t.TempDir()
	c := exec.CommandContext(t.Context(), command, "lake", "--console", lakes(t, "shop"), "--format", "jsonlines",
		"SELECT * FROM sales")
	c.Env = append(os.Environ(), "TMPDIR="+folder)
	var stderr strings.Builder
	c.Stderr = &stderr
	stdout := must.Get(c.StdoutPipe())(t)
	must.OK(t, c.Start())
	if _, err := stdout.Read(make([]byte, 10)); err != nil {
		t.Errorf("read: %v", err)
	}
	if err := stdout.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("got %v\n%s", err, stderr.String())
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

// TestLakeInAnyTimeZone: the day and the clock of a query are UTC's, as in Athena, wherever the machine is.
func TestLakeInAnyTimeZone(t *testing.T) {
	skipWithoutLake(t)
	t.Parallel()
	console := lakes(t, "shop")
	for _, zone := range []string{"Pacific/Kiritimati", "Etc/GMT+12"} {
		c := exec.CommandContext(t.Context(), command, "lake", "--console", console, "--format", "csv",
			"SELECT to_unixtime(CAST(TIMESTAMP '1970-01-01 00:00:00' AS timestamp with time zone)), "+
				"CAST(CAST(TIMESTAMP '2026-01-31 23:30:00' AS timestamp with time zone) AS date), "+
				"date_diff('second', CAST(now() AS timestamp), localtimestamp)")
		c.Env = append(os.Environ(), "TZ="+zone)
		output, err := c.CombinedOutput()
		if _, row, _ := strings.Cut(string(output), "\n"); err != nil || row != "0,2026-01-31,0\n" {
			t.Errorf("%s: got %v\n%s", zone, err, output)
		}
	}
}

// lakeTemplate is testdata/shop.json, a stack with a lake, with a change.
func lakeTemplate(t *testing.T, change string) string {
	t.Helper()
	template := assemblytest.Changed(t, "testdata/shop.json", change)
	assemblytest.EncodeViews(t, template["Resources"].(map[string]any))
	return string(must.Get(json.Marshal(template))(t))
}

// lakeAssembly is a folder with the assembly of that stack.
func lakeAssembly(t *testing.T, change string) string {
	t.Helper()
	return assemblytest.Write(t, assemblytest.Anywhere, map[string]string{"Stack": lakeTemplate(t, change)})
}

func TestLakeCheck(t *testing.T) {
	skipWithoutLake(t)
	t.Parallel()
	good := lakeAssembly(t, "{}")
	broken := lakeAssembly(t, `{"Resources": {"Totals": {"Properties": {"TableInput": {"ViewOriginalText": {
		"originalSql": "SELECT shop,\n  count(amuont) AS sales FROM sales GROUP BY shop"}}}}}}`)
	for name, test := range map[string]struct {
		arguments []string
		status    int
		want      string // on standard output
		says      string // on standard error
	}{
		"Good": {[]string{"lake", "check", "--assembly", good}, 0,
			"stack Stack, database shop: all tables, views and saved queries can be queried\n", ""},
		"Broken": {[]string{"lake", "check", "--assembly", broken}, 1, "stack Stack, database shop, view totals: ",
			"1 finding: "},
		"Column": {[]string{"lake", "check", "--assembly", broken}, 1, `"amuont"`, ""},
		"Former": {[]string{"lake", "--check", "--assembly", broken}, 1, "LINE 2:   count(amuont) AS sales", ""},
		"Other": {[]string{"lake", "check", "--assembly", good, "--database", "todo"}, 64, "",
			"it has shop of stack Stack"},
		"Both":       {[]string{"lake", "--check", "--assembly", good, "SELECT 1"}, 64, "", "give one of them"},
		"NoAssembly": {[]string{"lake", "check", "--assembly", t.TempDir()}, 1, "", "manifest.json"},
		"Run": {[]string{"local", "--assembly", broken, "--port", "0", "--console-port", "0"}, 1, "",
			`view totals: Binder Error: Referenced column "amuont"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := invoke(t, test.arguments...)
			if status != test.status || !strings.Contains(stdout, test.want) || !strings.Contains(stderr, test.says) {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
		})
	}
}

// The check takes the stacks and parameters of the run: what cdk.json says, and --stack before it.
func TestLakeCheckAsTheRun(t *testing.T) {
	skipWithoutLake(t)
	t.Parallel()
	folder := assemblytest.Write(t, assemblytest.Anywhere, map[string]string{
		"Stack": lakeTemplate(t, `{"Parameters": {"Name": {"Type": "AWS::SSM::Parameter::Value<String>",
			"Default": "/company/bucket"}}, "Resources": {"Bucket": {"Properties": {"BucketName": {"Ref": "Name"}}}}}`),
		"Other": `{"Resources": {"Queue": {"Type": "AWS::SQS::Queue",
			"Properties": {"QueueName": {"Fn::ImportValue": "elsewhere"}}}}}`})
	const bucket = `"ssmParameters": {"/company/bucket": "bucket"}`
	for name, test := range map[string]struct {
		settings string
		flags    []string
		want     string
	}{
		"Settings":  {`"stacks": ["Stack"], ` + bucket, nil, ""},
		"Flag":      {`"stacks": ["Other"], ` + bucket, []string{"--stack", "Stack"}, ""},
		"Parameter": {`"stacks": ["Stack"]`, nil, "/company/bucket"},
		"Stacks":    {bucket, nil, "elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := invokeBeside(t, `{"context": {"onesynth": {`+test.settings+`}}}`,
				append([]string{"lake", "check", "--assembly", folder}, test.flags...)...)
			if (status == 0) != (test.want == "") || !strings.Contains(stderr, test.want) ||
				status == 0 && !strings.Contains(stdout, "stack Stack, database shop: all") {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
		})
	}
}

// Where onesynth-lake is not beside the command, the first query builds it, and the next one finds it.
func TestLakeBuiltOnFirstUse(t *testing.T) {
	skipWithoutLake(t)
	t.Parallel()
	text := must.Get(exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output())(t)
	caches := strings.Fields(string(text))
	alone, cache := filepath.Join(t.TempDir(), "onesynth"), t.TempDir()
	must.OK(t, os.Link(command, alone))
	environment := append(os.Environ(), "GOCACHE="+caches[0], "GOMODCACHE="+caches[1], "XDG_CACHE_HOME="+cache,
		"HOME="+cache)
	run := func(environment []string, arguments ...string) (status int, stdout, stderr string) {
		c := exec.CommandContext(t.Context(), alone, arguments...)
		c.Env = environment
		return finish(t, c)
	}
	console := lakes(t, "shop")
	query := []string{"lake", "--console", console, "--format", "csv", "SELECT count(*) AS n FROM sales"}
	if status, stdout, stderr := run(append(environment, "PATH="), query...); status != 1 || stdout != "" ||
		!strings.Contains(stderr, "cannot be built without Go") || !strings.Contains(stderr, "go install") {
		t.Errorf("without Go: got %d\n%s%s", status, stdout, stderr)
	}
	if status, stdout, stderr := run(append(environment, "PATH="), "lake", "--console", console); status != 0 ||
		!strings.Contains(stdout, "View totals") {
		t.Errorf("the list: got %d\n%s%s", status, stdout, stderr)
	}
	for i, want := range []string{"building onesynth-lake", ""} {
		if status, stdout, stderr := run(environment, query...); status != 0 || stdout != "n\n50000\n" ||
			!strings.HasPrefix(stderr, want) || want == "" && stderr != "" {
			t.Errorf("query %d: got %d\n%s%s", i+1, status, stdout, stderr)
		}
	}
}
