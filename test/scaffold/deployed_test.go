package scaffold

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// The steps that need an account deploy a pull request to an emulator of AWS, and say where it is. Then it is removed.
// MiniStack does not know the resource of GitHub's provider, so the template of the role is not deployed.
func TestDeployed(t *testing.T) {
	if os.Getenv("AWS_ENDPOINT_URL") == "" {
		t.Skip("AWS_ENDPOINT_URL names no emulator of AWS: run make test-emulator")
	}
	p := newProject(t, blocks(t)[0].Commands()[0].Line)
	output := filepath.Join(t.TempDir(), "output")
	p.environment = append(p.environment, "CI=true", "GITHUB_OUTPUT="+output)
	p.run(t, "bash", "-e", "-c", setUp(t, p))
	file := filepath.Join(p.folder, ".github", "workflows", "platform.yml")
	content := must.Get(os.ReadFile(file))(t)
	workflow, problems := actionlint.Parse(content)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	before := p.environment
	for _, s := range steps(t, "platform.yml/preview", workflow, workflow.Jobs["preview"]) {
		p.environment = slices.Concat(before, s.environment)
		p.run(t, "bash", "-e", "-c", s.command)
	}
	p.environment = before
	if said, err := os.ReadFile(output); err != nil || !regexp.MustCompile(`^url=https?://\S+\n$`).Match(said) {
		t.Errorf("the address: got %q, %v", said, err)
	}
	stack := p.name + "-dev-pr-17"
	if checked := p.run(t, "make", "check", "STAGE=dev-pr-17"); !strings.Contains(checked,
		stack+": nothing speaks against the deployment") {
		t.Errorf("make check: got %s", checked)
	}
	if removed := p.run(t, "make", "destroy", "STAGE=dev-pr-17"); !strings.Contains(removed, stack+": destroyed") {
		t.Errorf("make destroy: got %s", removed)
	}
}
