package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// A module under a path of a team's own passes tests, and is installed and imported from a module proxy: its command
// writes a platform, whose synth builds the handlers, and takes one over.
func TestPublishAs(t *testing.T) {
	t.Parallel()
	const path, version = "example.com/team/onesynth", "v0.1.0"
	folder := filepath.Join(t.TempDir(), "ours")
	publish := exec.Command("make", "publish-as", "MODULE="+path, "DIR="+folder)
	publish.Dir = "../.."
	importertest.Output(t, publish)
	in := func(folder string, environment []string, arguments ...string) string {
		t.Helper()
		command := exec.Command(arguments[0], arguments[1:]...)
		command.Dir, command.Env = folder, append(os.Environ(), environment...)
		return importertest.Output(t, command)
	}
	if found := in(folder, nil, "sh", "-c", "grep -rlF "+importertest.ModulePath+" . || true"); found != "" {
		t.Errorf("the former path is left in %s", found)
	}
	in(folder, nil, "go", "test", "-vet=off", "./schema", "./internal/gobuild", "./run/command/target")

	cache := filepath.Join(t.TempDir(), "modcache")
	t.Cleanup(func() { makeWritable(t, cache) })
	linkModule(t, cache, "github.com/aws/aws-cdk-go/awscdk/v2")
	published := []string{"GOMODCACHE=" + cache, "GOFLAGS=", "GOSUMDB=off", "CDK_VALIDATION=false",
		"GOPROXY=file://" + proxy(t, path, folder, version) + "," + importertest.CacheProxy(t)}
	beside := t.TempDir()
	in(beside, published, "go", "run", path+"/cmd/onesynth@"+version, "init", "links")
	// A platform that is taken over comes from the module cache.
	in(beside, published, "go", "run", path+"/cmd/onesynth@"+version, "init", "tasks", "--from", "todo")
	in(filepath.Join(beside, "tasks"), published, "go", "test", "-vet=off", "./platforms/...", "./constructs/...")
	own := filepath.Join(beside, "links")
	if required := in(own, published, "go", "list", "-m", path); required != path+" "+version+"\n" {
		t.Errorf("the platform requires %q", required)
	}
	in(own, append(published, "CDK_OUTDIR="+filepath.Join(own, "cdk.out")), "go", "run", ".")
	handlers, err := filepath.Glob(filepath.Join(own, "cdk.out", "asset.*", "bootstrap"))
	if err != nil || len(handlers) == 0 {
		t.Errorf("the assembly has no handlers: %v", err)
	}
}

// What publish cannot do is refused before it writes.
func TestPublishAsRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ module, folder, want string }{
		"Module": {"our onesynth", t.TempDir(), "write a path such as example.com/team/onesynth"},
		"Folder": {"example.com/team/onesynth", "publish", "name a folder that is not there yet, or empty"},
		"None":   {"example.com/team/onesynth", "", "name the folder to write"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command("go", "run", "./publish", "-module", test.module, "-dir", test.folder)
			if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), test.want) {
				t.Errorf("got %s, %v; want %q", output, err, test.want)
			}
		})
	}
}
