package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// The events of testdata/failed.json are those of eight packages: of a failed, a panicking, a hanging, an exiting and a
// passing test, of a package that does not compile, of one that imports it, and of a subtest in another module.
func TestSummarize(t *testing.T) {
	t.Parallel()
	events := must.Get(os.ReadFile("testdata/failed.json"))(t)
	var lines string
	for _, p := range []struct{ name, result, begin, end, command string }{
		{"format", "0", "23:24:58", "23:25:00", "formatted"},
		{"packages", "1", "23:25:00", "23:26:30", "packages -short"}, // Its tests failed.
		{"synth", "1", "23:26:30", "23:26:40", "synthesise dev"},
	} {
		seconds := func(clock string) int64 {
			at := must.Get(time.Parse(time.DateTime, "2026-11-28 "+clock))(t)
			return at.Unix()
		}
		lines += fmt.Sprintf("%s\t%s\t%d\t%d\t -trimpath -tags=a,b\t0\t%s\n",
			p.name, p.result, seconds(p.begin), seconds(p.end), p.command)
	}
	const flags = "GOFLAGS='-trimpath -tags=a,b' CGO_ENABLED=0 "
	check(t, string(events), lines, options{target: "test", flags: "-short", status: 1,
		raced: []string{"github.com/onesynth-cdk/onesynth/schema"}}, `3 of 11 tests were skipped:
     2  left to make test-all: starts the command (2)
     1  needs DuckDB
make test failed: broken does not compile, exits failed, hang TestWaits/x did not end and 4 more. `+
		`Run again what failed, each by its command:
  `+flags+`go test ./broken -count=1 -short -run '^$'
  `+flags+`go test ./exits -count=1 -short
  `+flags+`go test ./hang -count=1 -short -run '^TestWaits$/^x$'
  `+flags+`go test ./run -count=1 -short -run '^TestFollow$/^a_b$'
  `+flags+`go test ./schema -count=1 -short -race -run '^TestPanics$'
  (cd test && `+flags+`go test ./todo -count=1 -short -run '^TestShared$/^it'\''s$')
  `+flags+`test/tier parts synthesise dev
`)
}

func TestSummarizePassed(t *testing.T) {
	t.Parallel()
	events := `{"Action":"run","Package":"p","Test":"TestA"}
no event
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}
`
	const skipped = `{"Action":"skip","Package":"p","Test":"TestB"}` + "\n"
	check(t, events, "", options{target: "test-all"}, "make test-all passed: all 1 tests.\n")
	check(t, events+skipped, "", options{target: "test"}, `1 of 2 tests were skipped:
     1  without a reason
make test passed: all tests but those skipped, 1 of 2.
`)
	check(t, events, "", options{target: "test", status: 130},
		"make test failed: exit status 130. The lines above say why.\n")
}

func check(t *testing.T, events, parts string, o options, want string) {
	t.Helper()
	var r results
	var err error
	if r.parts, err = readParts(parts); err != nil {
		t.Fatal(err)
	}
	must.OK(t, r.readEvents(strings.NewReader(events)))
	if got := summarize(r, o); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What test/tier writes of a part is what is read.
func TestParts(t *testing.T) {
	t.Parallel()
	tier := must.Get(os.ReadFile("../../test/tier"))(t)
	_, rest, _ := strings.Cut(string(tier), "\npart() {")
	body, _, found := strings.Cut(rest, "\n}\n")
	if !found {
		t.Fatal("test/tier has no function part")
	}
	c := exec.Command("bash", "-c", "tier=quick; mkdir bin; part() {"+body+`
}
part one true
part two sh -c 'exit 3'`)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "GOFLAGS= -trimpath", "CGO_ENABLED=0")
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	lines := must.Get(os.ReadFile(c.Dir + "/bin/quick.parts"))(t)
	got, err := readParts(string(lines))
	if err != nil || len(got) != 2 || got[0].failed || !got[1].failed || got[1].name != "two" ||
		got[1].command != `sh -c exit\ 3` || got[1].goflags != "-trimpath" || got[1].cgo != "0" || got[1].begin == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
