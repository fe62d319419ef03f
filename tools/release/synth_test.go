package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// maxCalls is how many calls into the CDK's process a synth of all platforms makes at most, by
// environment. One costs about a third of a millisecond of processor time.
var maxCalls = map[string]int{"dev": 2150, "prod": 3550}

// recordingRuntime returns a command for JSII_RUNTIME that starts the process of the CDK, and writes the
// calls into a file, one a line.
func recordingRuntime(t *testing.T, calls string) string {
	t.Helper()
	module := strings.TrimSpace(importertest.Output(t,
		exec.Command("go", "list", "-m", "-f={{.Dir}}", "github.com/aws/jsii-runtime-go")))
	return fmt.Sprintf("tee '%s' | node '%s/internal/embedded/resources/bin/jsii-runtime.js'", calls, module)
}

// Two copies of the module, each with its own app, give the same assembly to the byte, with no more calls than
// maxCalls. Both take handlers that were linked of the same packages; TestImporters links them once more elsewhere.
func TestSynthIsReproducible(t *testing.T) {
	t.Parallel()
	folders := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "a folder with another name")}
	// The second is a copy of the first, because files of the module may change meanwhile.
	importertest.CopyLibrary(t, folders[0])
	must.OK(t, os.CopyFS(folders[1], os.DirFS(folders[0])))
	for _, folder := range folders {
		build := exec.Command("go", "build", "-ldflags=-w", "-o", "cdk-app", ".")
		build.Dir = folder
		importertest.Output(t, build)
	}
	for _, environment := range []string{"dev", "prod"} {
		var assemblies []map[string]string
		calls := filepath.Join(t.TempDir(), "calls")
		for i, folder := range folders {
			assembly := filepath.Join(folder, environment)
			synth := exec.Command(filepath.Join(folder, "cdk-app"), "-c", "env="+environment)
			synth.Dir = folder
			synth.Env = append(os.Environ(), "CDK_OUTDIR="+assembly)
			if i > 0 {
				synth.Env = append(synth.Env, "JSII_RUNTIME="+recordingRuntime(t, calls))
			}
			importertest.Output(t, synth)
			assemblies = append(assemblies, importertest.Digests(t, assembly))
		}
		recorded := must.Get(os.ReadFile(calls))(t)
		if n := bytes.Count(recorded, []byte("\n")); n == 0 || n > maxCalls[environment] {
			t.Errorf("%s: calls into the CDK: got %d, want 1 to %d: keep what was read once", environment, n,
				maxCalls[environment])
		}
		if diff := cmp.Diff(assemblies[0], assemblies[1]); diff != "" {
			t.Errorf("%s: two folders gave (-first +second):\n%s", environment, diff)
		}
		for _, p := range platforms.All() {
			stack := "onesynth-" + p.Name() + "-" + environment
			if assemblies[0][stack+".template.json"] == "" {
				t.Errorf("%s: no template of stack %s", environment, stack)
			}
		}
		binaries := 0
		for path, hash := range assemblies[0] {
			if filepath.Base(path) == "bootstrap" {
				binaries++
				// The CDK hashes the given asset hash once more.
				sum := sha256.Sum256([]byte(hash))
				if want := "asset." + hex.EncodeToString(sum[:]) + "/bootstrap"; path != want {
					t.Errorf("asset: got %s, want %s: named after its content", path, want)
				}
			}
		}
		want, whole := importertest.CountHandlers()
		if environment == "dev" { // it has each page
			want = whole
		}
		if binaries != want {
			t.Errorf("%s: binaries: got %d, want %d", environment, binaries, want)
		}
	}
}
