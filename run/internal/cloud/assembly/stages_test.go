package assembly_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// testdata/stages is an assembly as the CDK writes one: a stack beside two stages of two stacks each. Assets lie in the
// outermost folder.
func TestStages(t *testing.T) {
	t.Parallel()
	const dir = "testdata/stages"
	for name, test := range map[string]struct {
		folder  string
		wanted  []string
		want    []string
		problem string
	}{
		"display id":         {"", []string{"Dev/Ask"}, []string{"Dev/Ask"}, ""},
		"name of one":        {"", []string{"Prod-Own"}, []string{"Prod/Own"}, ""},
		"stage":              {"", []string{"Dev/*"}, []string{"Dev/Ask", "Dev/Own"}, ""},
		"several":            {"", []string{"Shared", "P*/Ask"}, []string{"Shared", "Prod/Ask"}, ""},
		"no slash in a star": {"", []string{"*"}, []string{"Shared"}, ""},
		"all of one name":    {"", []string{"**/Own"}, []string{"Dev/Own", "Prod/Own"}, ""},
		"nested":             {"assembly-Dev", nil, []string{"Dev/Ask", "Dev/Own"}, ""},
		"nested, name":       {"assembly-Prod", []string{"ask"}, []string{"Prod/Ask"}, ""},
		"two of one name": {"", nil, nil, "stacks Dev/Ask and Prod/Ask have one name, ask: choose one of them, " +
			"with --stack Dev/Ask"},
		"two by a pattern": {"", []string{"**"}, nil, "have one name"},
		"name of two": {"", []string{"ask"}, nil,
			`stack "ask": got the name of 2 stacks: write which, such as Dev/Ask; the assembly has Shared, Dev/Ask (ask), Dev/Own (Dev-Own), Prod/Ask (ask), Prod/Own (Prod-Own)`},
		"unknown": {"", []string{"Test/Ask"}, nil,
			`stack "Test/Ask": the assembly has Shared, Dev/Ask (ask)`},
		"unknown pattern":      {"", []string{"Test/*"}, nil, `stack "Test/*": the assembly has`},
		"pattern with a fault": {"", []string{"[/Ask"}, nil, `stack "[/Ask": the assembly has`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := assembly.Load(filepath.Join(dir, test.folder), assembly.Options{Stacks: test.wanted})
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want %s", err, test.problem)
				}
				return
			}
			must.OK(t, err)
			var got []string
			for _, stack := range loaded.Stacks {
				got = append(got, stack.DisplayID)
				if !stack.Selected {
					t.Errorf("%s: not selected", stack.DisplayID)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAssetsOfStages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cdk.out")
	must.OK(t, os.CopyFS(dir, os.DirFS("testdata/stages")))
	for folder, key := range map[string]string{"": "Dev.zip", "assembly-Prod": "Prod.zip"} {
		loaded := must.Get(assembly.Load(filepath.Join(dir, folder), assembly.Options{Stacks: []string{"*/Own"}}))(t)
		if asset, err := loaded.Asset(key); err != nil || asset.Path != filepath.Join(dir, "asset.one") {
			t.Errorf("%q: got %v, %v", folder, asset, err)
		}
	}
	// A folder that no assembly names is the outermost: files above it are not the assembly's.
	alone := filepath.Join(dir, "copy")
	must.OK(t, os.CopyFS(alone, os.DirFS(filepath.Join(dir, "assembly-Dev"))))
	if _, err := assembly.Load(alone, assembly.Options{}); err == nil ||
		!strings.Contains(err.Error(), `got path "../asset.one": it must lie within the assembly`) {
		t.Errorf("a folder that no assembly names: got %v", err)
	}
	for _, path := range []string{"../../outside", "/etc/passwd", "../assembly-Dev/../../outside", ""} {
		writeManifest(t, filepath.Join(dir, "assembly-Dev"),
			map[string]any{"S": map[string]any{"type": "aws:cloudformation:stack",
				"properties": map[string]any{"templateFile": path}}})
		if _, err := assembly.Load(dir, assembly.Options{}); err == nil ||
			!strings.Contains(err.Error(), "must lie within the assembly") {
			t.Errorf("%q: got %v", path, err)
		}
	}
}

// A stack that is not chosen may have values that a local run cannot resolve.
func TestOtherStacksMayBeUnresolved(t *testing.T) {
	t.Parallel()
	dir := write(t, `{"Outputs": {"Name": {"Value": {"Fn::ImportValue": "table"}}}}`,
		`{"Resources": {"Table": {"Type": "AWS::DynamoDB::Table"}, "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Ref": "Nothing"}}}},
		  "Outputs": {"Odd": {"Value": "x", "Export": {"Name": {"Ref": "Nothing"}}}, "Table": {"Value": {"Ref": "Table"}, "Export": {"Name": "table"}}}}`)
	loaded := must.Get(assembly.Load(dir, assembly.Options{Stacks: []string{"Stack"}}))(t)
	if got := loaded.Stacks[0].Outputs["Name"].Value; got != "Stack2-Table" {
		t.Errorf("got %q", got)
	}
	if _, err := assembly.Load(dir, assembly.Options{}); err == nil || !strings.Contains(err.Error(), "Nothing") {
		t.Errorf("with the other stack: got %v", err)
	}
}
