package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/command/scaffold"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Each platform, taken over, has nothing that go vet finds, and passes the tests of its contract. Its app, with the name
// of a deployed stack and its props, as README.md says, has what the library's has, and so loses nothing in its place.
func TestTakenOver(t *testing.T) {
	onThisMachine(t)
	if testing.Short() {
		t.Skip("links the CDK apps of all platforms: go test without -short does")
	}
	root, onesynth := platform.Root(t), commandtest.Path(t)
	contracts, err := filepath.Glob(filepath.Join(root, "constructs", "*", "testdata", "environments.json"))
	if err != nil || len(contracts) < 2 {
		t.Fatalf("got the platforms %v, %v", contracts, err)
	}
	for _, contract := range contracts {
		name := filepath.Base(filepath.Dir(filepath.Dir(contract)))
		t.Run(name, func(t *testing.T) {
			original := platform.Suite{Platform: schema.Platform{Name: name}}
			deployed := original.Local(t, "tokens").Assembly(t)
			stack := "onesynth-" + name + "-tokens"
			p := &project{folder: filepath.Join(t.TempDir(), "ours"), environment: append(os.Environ(), "GOWORK=off",
				"GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "CDK_VALIDATION=false", "CDK_OUTDIR=cdk.out",
				`CDK_CONTEXT_JSON={"env": "prod", "arch": "`+platform.OwnArchitecture()+`"}`)}
			must.Get((scaffold.Project{Name: "ours", From: name, Folder: p.folder,
				Checkout: root}).Write())(t)
			sums := must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(t)
			p.edit(t, "go.sum", func(string) string { return string(sums) })
			p.edit(t, "main.go", func(text string) string {
				return strings.NewReplacer(`"ours-"+stage`, `"`+stack+`"`,
					`{Props: platform.Props{DeletionProtection: true}}`, `{}`).Replace(text)
			})
			p.run(t, "go", "vet", "./...")
			p.run(t, "go", "test", "-vet=off", "./platforms/...")
			p.run(t, "go", "run", "-ldflags=-w", ".")
			if said := p.run(t, onesynth, "check", "--strict", "--against", filepath.Join(deployed,
				stack+".template.json")); !strings.Contains(said, stack+": nothing speaks against the deployment") {
				t.Errorf("onesynth check: got %s", said)
			}
		})
	}
}

// edit changes a file of the project, which may not be there yet.
func (p *project) edit(t *testing.T, name string, change func(string) string) {
	t.Helper()
	file := filepath.Join(p.folder, name)
	content, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	must.OK(t, os.WriteFile(file, []byte(change(string(content))), 0o600))
}
