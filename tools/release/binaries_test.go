package release

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// The commands that a release has, made from what GitHub checks out, are of the version of the tag, so that onesynth
// takes onesynth-lake beside it and the library from a module proxy. The notices of what they link go along.
func TestBinaries(t *testing.T) {
	t.Parallel()
	root := must.Get(filepath.Abs("../.."))(t)
	folder := filepath.Join(t.TempDir(), "checkout")
	// The checkout has one commit and its tag.
	for _, arguments := range [][]string{{"git", "clone", "-q", "--no-tags", "--depth=1", "file://" + root, folder},
		{"git", "-C", folder, "tag", "v0.1.0"}, {"make", "-C", folder, "binaries"}} {
		importertest.Output(t, exec.Command(arguments[0], arguments[1:]...))
	}
	binaries := filepath.Join(folder, "bin", "release")
	printed := importertest.Output(t, exec.Command(filepath.Join(binaries, "onesynth"), "--version"))
	if !strings.HasPrefix(printed, "onesynth v0.1.0 ") {
		t.Errorf("onesynth --version: got %s", printed)
	}
	for name, cgo := range map[string]string{"onesynth": "0", "onesynth-lake": "1"} {
		info := must.Get(buildinfo.ReadFile(filepath.Join(binaries, name)))(t)
		settings := map[string]string{}
		for _, setting := range info.Settings {
			settings[setting.Key] = setting.Value
		}
		if info.Main.Version != "v0.1.0" || settings["CGO_ENABLED"] != cgo {
			t.Errorf("%s: got version %s, CGO_ENABLED=%s; want v0.1.0, %s", name, info.Main.Version,
				settings["CGO_ENABLED"], cgo)
		}
	}
	notices := must.Get(os.ReadFile(filepath.Join(binaries, "NOTICES")))(t)
	for _, of := range []string{"Go", "github.com/alecthomas/kong", "github.com/duckdb/duckdb-go/v2"} {
		if !strings.Contains(string(notices), "\n======== "+of) && !strings.HasPrefix(string(notices), "======== "+of) {
			t.Errorf("NOTICES has no licence of %s", of)
		}
	}
}
