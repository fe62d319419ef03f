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

// The commands that the READMEs of the examples show print what they show.
func TestExampleWalk(t *testing.T) {
	onThisMachine(t)
	if testing.Short() {
		t.Skip("links the CDK apps of the examples")
	}
	root := platform.Root(t)
	for _, example := range []string{"shortener", "booking"} {
		t.Run(example, func(t *testing.T) {
			assembly := filepath.Join(t.TempDir(), "cdk.out")
			synth := exec.Command("go", "run", ".")
			synth.Dir = filepath.Join(root, "examples", example)
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
			platform.Walk(t, "examples/"+example+"/README.md",
				&onesynthtest.Target{URL: run.URL(""), Run: run}, nil)
		})
	}
}
