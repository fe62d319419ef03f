// Package workflows checks workflows of GitHub Actions: those of this repository, and those that onesynth init writes.
// What only GitHub can tell, such as whether a runner has a program, it does not.
package workflows

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// pinned matches an action of one major version, or of one commit.
var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@(v\d+|[0-9a-f]{40})$`)

// Read returns the workflows below .github of a Git repository by the names of their files. It checks what GitHub would
// refuse, and that each action, also of the repository's own actions, has one version.
func Read(t testing.TB, repository string) map[string]*actionlint.Workflow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("workflows: got %v, %v", files, err)
	}
	lint(t, repository, files)
	all := map[string]*actionlint.Workflow{}
	for _, file := range files {
		name := filepath.Base(file)
		workflow, problems := actionlint.Parse(read(t, file))
		if len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		all[name] = workflow
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if action, ok := step.Exec.(*actionlint.ExecAction); ok {
					checkPinned(t, name, action.Uses.Value)
				}
			}
		}
	}
	actions := must.Get(filepath.Glob(filepath.Join(repository, ".github", "actions", "*", "action.yml")))(t)
	for _, file := range actions {
		for _, step := range ReadAction(t, file) {
			if step.Uses != "" {
				checkPinned(t, file, step.Uses)
			}
			if step.Run != "" && step.Shell == "" {
				t.Errorf("%s: %q has no shell", file, step.Run)
			}
		}
	}
	return all
}

// ActionStep is a step of a composite action.
type ActionStep struct{ Uses, Run, Shell string }

// ReadAction returns the steps of a composite action.
func ReadAction(t testing.TB, file string) []ActionStep {
	t.Helper()
	var action struct{ Runs struct{ Steps []ActionStep } }
	if err := yaml.Unmarshal(read(t, file), &action); err != nil || len(action.Runs.Steps) == 0 {
		t.Fatalf("%s: got the steps %v, %v", file, action.Runs.Steps, err)
	}
	return action.Runs.Steps
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	// Go does not know that tests read files outside of their module. It runs them again when this variable changes.
	_ = os.Getenv("ONESYNTH_SOURCES")
	return must.Get(os.ReadFile(file))(t)
}

// lint looks for what GitHub would refuse.
func lint(t testing.TB, repository string, files []string) {
	t.Helper()
	var found bytes.Buffer
	project := must.Get(actionlint.NewProject(repository))(t)
	linter := must.Get(actionlint.NewLinter(&found, &actionlint.LinterOptions{WorkingDir: repository}))(t)
	if problems, err := linter.LintFiles(files, project); err != nil || len(problems) > 0 {
		t.Errorf("actionlint: %v\n%s", err, &found)
	}
}

func checkPinned(t testing.TB, place, action string) {
	t.Helper()
	if !strings.HasPrefix(action, "./") && !pinned.MatchString(action) {
		t.Errorf("%s uses %s; want one major version, or a commit", place, action)
	}
}

// CheckPermissions checks that a workflow may only read. A job that takes a role in AWS may also ask for a token. Any
// other job may write what writes has under its id. Jobs that take a role or deploy pages run in an environment, and no
// others do.
func CheckPermissions(t testing.TB, file string, workflow *actionlint.Workflow, writes map[string][]string) {
	t.Helper()
	if got := scopes(workflow.Permissions); len(got) != 1 || got["contents"] != "read" {
		t.Errorf("%s: got the permissions %v; want contents: read", file, got)
	}
	for id, job := range workflow.Jobs {
		uses := func(prefix string) bool {
			return slices.ContainsFunc(job.Steps, func(step *actionlint.Step) bool {
				action, ok := step.Exec.(*actionlint.ExecAction)
				return ok && strings.HasPrefix(action.Uses.Value, prefix)
			})
		}
		takesRole, deploysPages := uses("aws-actions/"), uses("actions/deploy-pages@")
		if (takesRole || deploysPages) != (job.Environment != nil) {
			t.Errorf("%s, job %s: takes a role: %t; deploys pages: %t; environment %v", file, id, takesRole,
				deploysPages, job.Environment)
		}
		want := slices.Sorted(slices.Values(writes[id]))
		if takesRole {
			want = []string{"id-token"}
		}
		var got []string
		for name, value := range scopes(job.Permissions) {
			if value != "read" {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s, job %s: may write %v; want %v", file, id, got, want)
		}
	}
}

// scopes are permissions by what they are for.
func scopes(of *actionlint.Permissions) map[string]string {
	switch {
	case of == nil:
		return nil
	case of.All != nil:
		return map[string]string{"all": of.All.Value}
	}
	all := map[string]string{}
	for name, scope := range of.Scopes {
		all[name] = scope.Value.Value
	}
	return all
}
