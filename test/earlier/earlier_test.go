// Package earlier checks that today's code reads, continues and queries what earlier versions have stored: testdata has
// the data folder of a run of each, of which write.txtar has used all platforms, and what that has to find again.
package earlier

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// written is the address of the console of a run, whose data folder is to become test data.
var written = flag.String("write", "", "use the platforms of the run with its console at this `URL`, and print what "+
	"the test has to find again")

var suite = &platform.Suite{Platform: askahuman.Platform(), Construct: "AskAHuman"}

func TestMain(m *testing.M) { suite.Main(m) }

// session makes the requests of scripts to a run.
type session struct {
	console *onesynthtest.Client
	// apis are the addresses of the platforms' APIs, by their names.
	apis map[string]string
	// record has what earlier requests were answered with, by the names that scripts give it.
	record map[string]any
}

// open opens the run that has its console at the address.
func open(t *testing.T, address string) session {
	t.Helper()
	s := session{&onesynthtest.Client{URL: address, HTTP: http.DefaultClient,
		Header: http.Header{run.ConsoleHeader: {"test"}}}, map[string]string{}, map[string]any{}}
	var overview struct{ APIs []struct{ Name, URL string } }
	must.OK(t, json.Unmarshal(s.console.Try(t, http.MethodGet, "/", nil).Body, &overview))
	for _, api := range overview.APIs {
		s.apis[api.Name] = api.URL
	}
	return s
}

// caller makes requests of a platform, or of the console.
func (s session) caller(t *testing.T, api, name string) *onesynthtest.Client {
	t.Helper()
	c := &onesynthtest.Client{URL: s.apis[api], HTTP: http.DefaultClient, IdempotencyKeys: api != "Ask-a-Human"}
	switch {
	case name == "console":
		return s.console
	case name == "agent":
		c.Header = http.Header{"X-Agent-Id": {"earlier"}}
	case api == "Ask-a-Human":
		c.Header = http.Header{"X-Fingerprint": {name + "-of-an-earlier-version"}}
	default:
		token := s.console.Try(t, http.MethodPost, "/token", map[string]any{"sub": name,
			"claims": map[string]any{"email": name + "@example.com"}})
		c.Header = http.Header{"Authorization": {"Bearer " + onesynthtest.Field(token.Body, "access_token")}}
	}
	return c
}

// play makes the requests of an archive, whose files have the names of platforms. A request has its caller, its headers
// and, after "> ", its body; it has to succeed, or to be refused with a status. "keep NAME FIELD" keeps a field of the
// answer, which <NAME> stands for afterwards, and "has" and "lacks" have a regular expression.
func (s session) play(t *testing.T, archive string) {
	t.Helper()
	for _, file := range must.Get(txtar.ParseFile(filepath.Join("testdata", archive)))(t).Files {
		t.Run(file.Name, func(t *testing.T) {
			for block := range strings.SplitSeq(strings.TrimSpace(string(file.Data)), "\n\n") {
				s.request(t, file.Name, strings.Split(block, "\n"))
			}
		})
	}
}

// variable is a name of the record in a script.
var variable = regexp.MustCompile(`<\w+>`)

// request makes a request of a script, and checks its answer.
func (s session) request(t *testing.T, api string, lines []string) {
	t.Helper()
	var request string
	var body any
	var checks [][2]string
	header, refused := http.Header{}, ""
	for _, line := range lines {
		line = variable.ReplaceAllStringFunc(line, func(name string) string {
			return fmt.Sprint(s.record[strings.Trim(name, "<>")])
		})
		switch verb, rest, _ := strings.Cut(line, " "); {
		case verb == "#":
		case request == "":
			request = line
		case verb == ">":
			body = json.RawMessage(rest)
		case verb == "refused":
			refused = rest
		case strings.HasSuffix(verb, ":"):
			header.Set(strings.TrimSuffix(verb, ":"), rest)
		default:
			checks = append(checks, [2]string{verb, rest})
		}
	}
	request, by, _ := strings.Cut(request, " as ")
	method, path := onesynthtest.Split(request)
	r := s.caller(t, api, by).MustSend(t, method, path, header, body)
	if refused == "" && r.Status >= http.StatusMultipleChoices || refused != "" && fmt.Sprint(r.Status) != refused {
		t.Fatalf("got %v; want success, or a refusal with %q", r, refused)
	}
	var answer bytes.Buffer
	if len(r.Body) > 0 {
		must.OK(t, json.Compact(&answer, r.Body))
	}
	for _, check := range checks {
		switch verb, what := check[0], check[1]; verb {
		case "keep":
			name, field, _ := strings.Cut(what, " ")
			fields := map[string]any{}
			must.OK(t, json.Unmarshal(answer.Bytes(), &fields))
			s.record[name] = fields[field]
		case "has", "lacks":
			if regexp.MustCompile(what).Match(answer.Bytes()) != (verb == "has") {
				t.Errorf("got %v; want that it %s %s", r, verb, what)
			}
		default:
			t.Fatalf("there is no verb %s", verb)
		}
	}
}

// TestEarlierVersions: today's code starts with the data of each earlier version, reads it for its owners, continues
// it, and queries the lake over old and new changes.
func TestEarlierVersions(t *testing.T) {
	if *written != "" {
		s := open(t, *written)
		s.play(t, "write.txtar")
		text := must.Get(json.MarshalIndent(s.record, "", "  "))(t)
		t.Logf("the record:\n%s", text)
		return
	}
	if testing.Short() {
		t.Skip("starts a run of all platforms for each earlier version: go test without -short does")
	}
	archives, err := filepath.Glob("testdata/*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatalf("got %v, %v; want an archive of each earlier version", archives, err)
	}
	for _, archive := range archives {
		version := strings.TrimSuffix(archive, ".tar.gz")
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if output, err := exec.Command("tar", "-xzf", archive, "-C", folder).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", archive, err, output)
			}
			started := must.Get(run.Start(t.Context(),
				run.Options{Assembly: suite.Local(t, "dev").Assembly(t), Data: folder, NoSchedules: true,
					Lake: laketest.Engine(nil)}))(t)
			t.Cleanup(started.Close)
			must.OK(t, started.LoadInitialData(t.Context()))
			s := open(t, started.ConsoleURL())
			must.OK(t, json.Unmarshal(must.Get(os.ReadFile(version+".json"))(t), &s.record))
			on := runtest.Of(started)
			schedules := on.Schedules()
			s.record["compactor"] = schedules[slices.IndexFunc(schedules, func(one runtest.Schedule) bool {
				return strings.Contains(one.Name, "TodoLake")
			})].Name
			s.record["database"] = on.Outputs()["TodoLakeDatabaseName"]
			s.play(t, "read.txtar")
		})
	}
}
