package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The commands that the READMEs of the examples show print what they show.
func TestExampleWalk(t *testing.T) {
	onThisMachine(t)
	if testing.Short() {
		t.Skip("links the CDK apps of the examples: go test without -short does")
	}
	root := platform.Root(t)
	// An app is the package that cdk.json names.
	for example, app := range map[string]string{"shortener": ".", "booking": ".", "recipes": "./app"} {
		t.Run(example, func(t *testing.T) {
			assembly := filepath.Join(t.TempDir(), "cdk.out")
			synth := exec.Command("go", "run", app)
			synth.Dir = filepath.Join(root, "examples", example)
			synth.Env = append(os.Environ(), "CDK_OUTDIR="+assembly, "CDK_VALIDATION=false", "GOWORK=off",
				`CDK_CONTEXT_JSON={"stage":"dev-pr-17"}`)
			if output, err := synth.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			engine := enginetest.Engine(t).URL()
			t.Chdir(synth.Dir) // a run finds the module of the functions in its folder
			runner := must.Get(run.Start(t.Context(), run.Options{Assembly: assembly, DynamoDB: engine,
				AccessKey: enginetest.AccessKey()}))(t)
			t.Cleanup(runner.Close)
			must.OK(t, runner.LoadInitialData(t.Context()))
			if example == "recipes" {
				checkTemplates(t, assembly)
			}
			platform.Walk(t, "examples/"+example+"/README.md",
				&onesynthtest.Target{URL: runner.URL(""), Run: runner}, nil)
			if refused := runtest.Of(runner).Refused(); len(refused) > 0 {
				t.Errorf("refused requests: got %+v, want none", refused)
			}
		})
	}
}

// checkTemplates checks that the stack of each recipe has what the recipe is about, by a text of its template.
func checkTemplates(t *testing.T, assembly string) {
	t.Helper()
	const pool, table = `"AWS::Cognito::UserPool"`, `"AWS::DynamoDB::GlobalTable"`
	for recipe, test := range map[string]struct{ has, lacks string }{
		"queue":            {`"maxReceiveCount": 3`, ""},
		"bucket":           {`"ExpirationInDays": 730`, ""},
		"issuer":           {`"Issuer": "https://login.example.com/"`, pool},
		"existing":         {`"arn:aws:dynamodb:eu-central-1:123456789012:table/company-tasks/index/`, table},
		"schedule":         {`"ScheduleExpressionTimezone": "Europe/Vienna"`, ""},
		"page":             {`"GET /assets/{path+}"`, ""},
		"language":         {`"GET /greeting"`, pool},
		"stages-dev-pr-17": {table, `"DeletionPolicy": "Retain"`},
	} {
		template, err := os.ReadFile(filepath.Join(assembly, "recipe-"+recipe+".template.json"))
		if err != nil {
			t.Error(err)
		} else if text := string(template); !strings.Contains(text, test.has) ||
			test.lacks != "" && strings.Contains(text, test.lacks) {
			t.Errorf("recipe-%s: want %s in the template, and nothing of %s", recipe, test.has, test.lacks)
		}
	}
}
