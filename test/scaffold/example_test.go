package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/services/dynamodb/enginetest"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The commands that the README of the example shows print what it shows.
func TestExampleWalk(t *testing.T) {
	onThisMachine(t)
	if testing.Short() {
		t.Skip("links the CDK app of the example")
	}
	assembly := filepath.Join(t.TempDir(), "cdk.out")
	synth := exec.Command("go", "run", ".")
	synth.Dir = filepath.Join(platform.Root(t), "examples", "shortener")
	synth.Env = append(os.Environ(), "CDK_OUTDIR="+assembly, "CDK_VALIDATION=false", "GOWORK=off")
	if output, err := synth.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	engine := enginetest.Engine(t).URL()
	t.Chdir(synth.Dir) // a run finds the module of the functions in its folder
	run, err := local.Start(t.Context(), local.Options{Assembly: assembly, InitialData: true, DynamoDB: engine,
		AccessKey: enginetest.AccessKey()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	platform.Walk(t, "examples/shortener/README.md",
		&onesynthtest.Target{URL: run.URL(""), Run: run}, nil)
}
