package gobuild

import (
	"debug/buildinfo"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Scanners and "go version -m" read of each binary what is in it, and no more.
func TestStamp(t *testing.T) {
	skipShort(t)
	t.Parallel()
	folder, dependency := handlersModule(t), t.TempDir()
	write(t, dependency, "go.mod", "module example.com/dependency\n\ngo 1.24\n")
	write(t, dependency, "dependency.go", "package dependency\n\nfunc Name() string { return \"you\" }\n")
	write(t, folder, "go.mod", "module example.com/handlers\n\ngo 1.24\n\nrequire example.com/dependency "+
		"v1.2.3\n\nreplace example.com/dependency => "+dependency+"\n")
	write(t, folder, "bye/main.go", "package main\n\nimport \"example.com/dependency\"\n\nfunc main() { "+
		"println(dependency.Name()) }\n")
	binaries := mustBuild(t, both(folder), t.TempDir())
	dependencies := map[string][]*debug.Module{
		"hello": nil,
		"bye":   {{Path: "example.com/dependency", Version: "(devel)"}},
	}
	for name, want := range dependencies {
		got := must.Get(buildinfo.ReadFile(filepath.Join(binaries[name].Directory, "bootstrap")))(t)
		if diff := cmp.Diff(&debug.BuildInfo{
			GoVersion: runtime.Version(),
			Path:      "example.com/handlers/" + name,
			Main:      debug.Module{Path: "example.com/handlers", Version: "(devel)"},
			Deps:      want,
			Settings: []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"},
				{Key: "GOARCH", Value: "arm64"}, {Key: "GOOS", Value: "linux"}},
		}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
