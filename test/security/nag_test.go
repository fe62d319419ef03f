package security

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// packs are those of cdk-nag that nag.js holds templates against.
var packs = []string{"AwsSolutions", "Serverless"}

// report is what a pack of cdk-nag says of a template.
type report struct {
	Stack, Pack string
	// Kept is how often the pack saw a rule kept.
	Kept int
	// Findings name resources by logical id.
	Findings []finding
}

// nag holds the templates of those stacks, in the folder of a cloud assembly,
// against cdk-nag's packs. An error tells of all rules that could not judge a
// resource.
func nag(folder string, stacks ...string) ([]report, error) {
	if _, err := os.Stat("node_modules"); err != nil {
		return nil, fmt.Errorf("cdk-nag is not installed: run make test/security/node_modules in the root of the repository: %w", err)
	}
	var printed, complaint bytes.Buffer
	program := exec.Command("node", append([]string{"nag.js", folder}, stacks...)...)
	program.Stdout, program.Stderr = &printed, &complaint
	if err := program.Run(); err != nil {
		return nil, fmt.Errorf("node nag.js: %w\n%s", err, complaint.Bytes())
	}
	var reports []report
	if err := json.Unmarshal(printed.Bytes(), &reports); err != nil {
		return nil, fmt.Errorf("what node nag.js prints: %w", err)
	}
	return reports, nil
}

// Each pack sees what is kept and what is broken, and says where.
func TestNag(t *testing.T) {
	t.Parallel()
	reports, err := nag(write(t, `{"Resources": {
		"Failures": {"Type": "AWS::SQS::Queue", "Properties": {"SqsManagedSseEnabled": true}},
		"Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 7}}
	}}`), "written")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		slices.SortFunc(r.Findings, func(a, b finding) int { return strings.Compare(a.Rule, b.Rule) })
	}
	if diff := cmp.Diff([]report{
		{Stack: "written", Pack: "AwsSolutions", Kept: 1, Findings: []finding{{"AwsSolutions-SQS3", "Failures"}, {"AwsSolutions-SQS4", "Failures"}}},
		{Stack: "written", Pack: "Serverless", Kept: 1, Findings: []finding{{"Serverless-SQSRedrivePolicy", "Failures"}}},
	}, reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// What was not looked at does not pass.
func TestNagFails(t *testing.T) {
	t.Parallel()
	unknown := write(t, `{
		"Parameters": {"Runtime": {"Type": "String"}},
		"Resources": {"Function": {"Type": "AWS::Lambda::Function", "Properties": {"Code": {"ZipFile": "x"}, "Role": "x", "Runtime": {"Ref": "Runtime"}}}}
	}`)
	for name, test := range map[string]struct {
		folder string
		stacks []string
		want   []string
	}{
		"NoTemplate":  {unknown, []string{"written", "missing"}, []string{"missing.template.json"}},
		"CannotJudge": {unknown, []string{"written"}, []string{"AwsSolutions-L1 cannot judge written/Template/Function", "Serverless-LambdaLatestVersion cannot judge written/Template/Function"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports, err := nag(test.folder, test.stacks...)
			if err == nil {
				t.Fatalf("got %v, want an error", reports)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
			}
		})
	}
}

// write writes the template of the stack "written", and returns the folder.
func write(t *testing.T, template string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "written.template.json"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// The CDK that reads the templates is the one that writes them.
func TestVersions(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	module, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	var packages struct{ DevDependencies map[string]string }
	if err := readJSON("package.json", &packages); err != nil {
		t.Fatal(err)
	}
	for path, name := range map[string]string{"github.com/aws/aws-cdk-go/awscdk/v2": "aws-cdk-lib", "github.com/aws/constructs-go/constructs/v10": "constructs"} {
		i := slices.IndexFunc(module.Require, func(r *modfile.Require) bool { return r.Mod.Path == path })
		if i < 0 {
			t.Errorf("go.mod does not require %s", path)
			continue
		}
		if got, want := packages.DevDependencies[name], strings.TrimPrefix(module.Require[i].Mod.Version, "v"); got != want {
			t.Errorf("package.json has %s %q, want %q, as go.mod has %s", name, got, want, path)
		}
	}
}
