package security

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// reports are the reports of cdk-nag's packs on the templates, by stack and by pack, the templates
// of testdata included.
var reports map[string]map[string]report

// packs are the packs of cdk-nag by which nag.js checks templates.
var packs = []string{"AwsSolutions", "Serverless"}

// report is the report of a pack on a template.
type report struct {
	// Kept is how often the pack saw a rule kept.
	Kept int
	// Findings are the broken rules. They name resources by logical id.
	Findings []finding
	// Undecided are rules that could not judge a resource, and why.
	Undecided []struct{ Rule, Resource, Cause string }
}

// runNag checks templates by cdk-nag's packs, in one run of nag.js.
func runNag(files ...string) (map[string]map[string]report, error) {
	if _, err := os.Stat("node_modules"); err != nil {
		return nil, fmt.Errorf("cdk-nag is not installed: run make test/security/node_modules in the root of the "+
			"repository: %w", err)
	}
	var printed, complaint bytes.Buffer
	program := exec.Command("node", append([]string{"nag.js"}, files...)...)
	program.Stdout, program.Stderr = &printed, &complaint
	if err := program.Run(); err != nil {
		return nil, fmt.Errorf("node nag.js: %w\n%s", err, complaint.Bytes())
	}
	all := map[string]map[string]report{}
	if err := json.Unmarshal(printed.Bytes(), &all); err != nil {
		return nil, fmt.Errorf("what node nag.js prints: %w", err)
	}
	return all, nil
}

// The packs see what is kept, what is broken, and what they cannot judge.
func TestNag(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		template, pack      string
		kept                int
		findings, undecided []finding
	}{
		{"broken", "AwsSolutions", 1, []finding{{"AwsSolutions-SQS3", "Queue"}, {"AwsSolutions-SQS4", "Queue"}}, nil},
		{"broken", "Serverless", 1, []finding{{"Serverless-SQSRedrivePolicy", "Queue"}}, nil},
		{"undecided", "AwsSolutions", 0, nil, []finding{{"AwsSolutions-L1", "Function"}}},
		{"undecided", "Serverless", 0, []finding{
			{"Serverless-LambdaDLQ", "Function"}, {"Serverless-LambdaDefaultMemorySize", "Function"},
			{"Serverless-LambdaDefaultTimeout", "Function"}, {"Serverless-LambdaTracing", "Function"},
		}, []finding{{"Serverless-LambdaLatestVersion", "Function"}}},
	} {
		t.Run(test.template+test.pack, func(t *testing.T) {
			t.Parallel()
			got := reports[test.template][test.pack]
			if got.Kept != test.kept {
				t.Errorf("got %d rules kept, want %d", got.Kept, test.kept)
			}
			findings := slices.SortedFunc(slices.Values(got.Findings), func(a, b finding) int {
				return strings.Compare(a.Rule, b.Rule)
			})
			if diff := cmp.Diff(test.findings, findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			var undecided []finding
			for _, u := range got.Undecided {
				undecided = append(undecided, finding{u.Rule, u.Resource})
				if u.Cause == "" {
					t.Errorf("%s does not say why it cannot judge", u.Rule)
				}
			}
			if diff := cmp.Diff(test.undecided, undecided); diff != "" {
				t.Errorf("undecided (-want +got):\n%s", diff)
			}
		})
	}
}

// A template that is not there does not pass.
func TestNoTemplate(t *testing.T) {
	t.Parallel()
	all, err := runNag("testdata/missing.template.json")
	if err == nil || !strings.Contains(err.Error(), "missing.template.json") {
		t.Errorf("got %v and error %v, want an error that names the template", all, err)
	}
}

// The CDK that reads the templates is the one that writes them.
func TestVersions(t *testing.T) {
	t.Parallel()
	content := must.Get(os.ReadFile("../../go.mod"))(t)
	module := must.Get(modfile.Parse("go.mod", content, nil))(t)
	var packages struct{ DevDependencies map[string]string }
	must.OK(t, platformtest.ReadJSON("package.json", &packages))
	for path, name := range map[string]string{"github.com/aws/aws-cdk-go/awscdk/v2": "aws-cdk-lib",
		"github.com/aws/constructs-go/constructs/v10": "constructs"} {
		i := slices.IndexFunc(module.Require, func(r *modfile.Require) bool { return r.Mod.Path == path })
		if i < 0 {
			t.Errorf("go.mod does not require %s", path)
			continue
		}
		if got, want := packages.DevDependencies[name],
			strings.TrimPrefix(module.Require[i].Mod.Version, "v"); got != want {
			t.Errorf("package.json has %s %q, want %q, as go.mod has %s", name, got, want, path)
		}
	}
}
