package importertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// built is the line that says what a run has built for this machine.
var built = regexp.MustCompile(`(?m)^built (\d+) functions for (\S+) \(template: linux/arm64\) in `)

// CheckRun runs "onesynth local" in the importer's folder, which has an assembly for
// AWS's processors, and lets each platform read its tables.
func (i *Importer) CheckRun(t *testing.T, onesynth string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	arguments := []string{"local", "--port", "0", "--console-port", "0", "--no-schedules"}
	if i.Database != "" {
		arguments = append(arguments, "--dynamodb", i.Database)
	}
	command := exec.CommandContext(ctx, onesynth, arguments...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Dir, command.Env = i.Folder, i.Environment
	running := must.Get(wait.Start(command))(t)
	wait.Said(t, running, "\nready\n")
	said, _, _ := strings.Cut(running.String(), "\nready\n")
	addresses := map[string]string{}
	for line := range strings.Lines(said) {
		switch words := strings.Fields(line); {
		case len(words) > 2 && words[0] == "API":
			addresses[strings.TrimSuffix(words[len(words)-1], ")")] = words[1]
		case len(words) == 2 && words[0] == "console":
			addresses["console"] = words[1]
		}
	}
	host := runtime.GOOS + "/" + runtime.GOARCH
	line := built.FindStringSubmatch(said)
	zero, _ := CountHandlers()
	want := strconv.Itoa(zero + HandlersOfOwn + len(lake.Packages()))
	if host != "linux/arm64" && (line == nil || line[1] != want || line[2] != host) {
		t.Errorf("got %q, want that the run built %s functions for %s", line, want, host)
	}
	if strings.Contains(said, "warning: ") {
		t.Error("the run warns of something")
	}

	answer := Send(t, http.MethodPost, addresses["console"]+"/token", toConsole(), `{"sub":"alice"}`, http.StatusOK)
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(answer), &token); err != nil {
		t.Fatalf("the console's token: got %s, %v", answer, err)
	}
	for _, p := range platforms.All() {
		i.checkReads(t, addresses, p, token.AccessToken)
		i.checkOwn(t, p.Name(), addresses[p.Name()], token.AccessToken)
	}
	i.checkPlatform(t, addresses["shortener"], token.AccessToken)
	i.firstRequest(t, onesynth, addresses)

	stop()
	wait.Until(t, "onesynth local ends", func() (any, bool) { return nil, running.Ended() != nil })
	// This is the result of an interrupted command that ends without an error.
	if err := running.Ended(); !errors.Is(err, context.Canceled) {
		t.Errorf("onesynth local, interrupted: %v\n%s", err, running)
	}
}

// firstRequest carries out the commands that the page shows for the importer's app, with the addresses of the run, and
// checks that they print what it shows, up to the first id.
func (i *Importer) firstRequest(t *testing.T, onesynth string, addresses map[string]string) {
	t.Helper()
	commands, answered, ok := strings.Cut(i.block(t, startPage, startHeading, "console"), "\n{")
	if !ok {
		t.Fatalf("%s shows no answer to its request", startPage)
	}
	script := strings.NewReplacer(
		"$ ", "", "onesynth token", onesynth+" token --console "+addresses["console"],
		// The port of the first platform.
		"localhost:8080", strings.TrimPrefix(addresses[platforms.All()[0].Name()], "http://"),
	).Replace(commands)
	command := exec.Command("bash", "-c", script)
	command.Dir, command.Env, command.Stderr = i.Folder, i.Environment, t.Output()
	answer, err := command.Output()
	if err != nil {
		t.Fatalf("%s\n%v", script, err)
	}
	if want, _, _ := strings.Cut("{"+answered, `"3`); !strings.HasPrefix(string(answer), want) {
		t.Errorf("%s\nprints %s; %s shows %s", script, answer, startPage, want)
	}
}

// checkReads sends a platform every request that changes nothing and needs no path parameter, as a
// person and as a user, and checks that one of them read a table. The platform's stack has its
// name.
func (i *Importer) checkReads(t *testing.T, addresses map[string]string, p *platforms.Platform, token string) {
	t.Helper()
	if addresses[p.Name()] == "" {
		t.Fatalf("the app of %s has no stack %s with an API: got %v", startPage, p.Name(), addresses)
	}
	capacity := addresses["console"] + "/capacity"
	Call(t, http.MethodDelete, capacity, toConsole(), "")
	caller := http.Header{"Authorization": {"Bearer " + token}, "X-Fingerprint": {"alice"}}
	for _, route := range p.Schema.Routes {
		if route.Method != http.MethodGet || strings.Contains(route.Path, "{") {
			continue
		}
		status, body := Call(t, route.Method, addresses[p.Name()]+route.Path, caller, "")
		// A platform that refuses the caller's tier has another form than API Gateway.
		isForbidden := status == http.StatusForbidden && strings.TrimSpace(body) == `{"message":"Forbidden"}`
		if isForbidden || slices.Contains([]int{http.StatusUnauthorized, http.StatusInternalServerError,
			http.StatusServiceUnavailable}, status) {
			t.Errorf("%s: got %d %s", route.Key(), status, body)
		}
	}
	var rows []struct{ Table string }
	used := Send(t, http.MethodGet, capacity, nil, "", http.StatusOK)
	if err := json.Unmarshal([]byte(used), &rows); err != nil ||
		!slices.ContainsFunc(rows, func(r struct{ Table string }) bool { return r.Table != "" }) {
		t.Errorf("%s used no table: the capacity is %s, %v", p.Name(), used, err)
	}
}

// Output runs a command, and returns what it prints.
func Output(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v in %s: %v\n%s", command.Args, command.Dir, err, text)
	}
	return string(text)
}

// Digests returns the SHA-256 of every file below a folder by path.
func Digests(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.OK(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		all[path] = hex.EncodeToString(sum[:])
		return nil
	}))
	return all
}

// Send sends a request and returns the body of an answer that has the status.
func Send(t *testing.T, method, url string, header http.Header, body string, status int) string {
	t.Helper()
	got, content := Call(t, method, url, header, body)
	if got != status {
		t.Fatalf("%s %s: got %d %s, want %d", method, url, got, content, status)
	}
	return content
}

// toConsole has the header with which the console takes changes.
func toConsole() http.Header { return http.Header{run.ConsoleHeader: {"test"}} }

// Call sends a request and returns status and body of the answer.
func Call(t *testing.T, method, url string, header http.Header, body string) (int, string) {
	t.Helper()
	r := must.Get((&client.Client{URL: url}).Send(t.Context(), method, "", header, []byte(body)))(t)
	return r.Status, string(r.Body)
}
