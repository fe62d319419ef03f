package scaffold

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/test/platform"
	"github.com/onesynth-cdk/onesynth/test/workflows"
)

// needAccount are the steps, as FILE/JOB/STEP, that need an AWS account. A new step with a command runs in the tests
// unless it is named here. Those that call make are only resolved.
var needAccount = []string{"platform.yml/preview/Check and deploy", "platform.yml/production/Check and deploy"}

// expressions are the values of expressions in a workflow that the tests run.
var expressions = map[string]string{"github.event.number": "17", "github.token": "secret"}

// expression matches an expression of a workflow.
var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// step is a step with a command.
type step struct {
	name, command, shell string
	environment          []string
}

// checkWorkflows checks the workflows, and carries out their commands.
func (p *project) checkWorkflows(t *testing.T) {
	// The checks look for local actions in the repository around the folder.
	p.run(t, "git", "init", "--quiet")
	all := workflows.Read(t, p.folder)
	if len(all) != 2 {
		t.Errorf("got %d workflows, want 2", len(all))
	}
	p.run(t, "bash", "-e", "-c", setUp(t, p))
	var environments, skipped []string
	for _, file := range slices.Sorted(maps.Keys(all)) {
		workflow := all[file]
		workflows.CheckPermissions(t, file, workflow, nil)
		// In the order of the file, a job comes after those that it needs.
		inOrder := slices.SortedFunc(maps.Values(workflow.Jobs), func(a, b *actionlint.Job) int {
			return a.Pos.Line - b.Pos.Line
		})
		for _, job := range inOrder {
			if job.Environment != nil {
				environments = append(environments, job.Environment.Name.Value)
			}
			for _, s := range steps(t, file+"/"+job.ID.Value, workflow, job) {
				if slices.Contains(needAccount, s.name) {
					skipped = append(skipped, s.name)
					if strings.HasPrefix(s.command, "make ") {
						s.command = "make --dry-run " + strings.TrimPrefix(s.command, "make ")
					}
				}
				// The tutorial's last command may have been the same.
				if !slices.Contains(p.done, s.command) {
					p.carryOut(t, s)
				}
			}
		}
	}
	if !slices.Equal(skipped, needAccount) {
		t.Errorf("steps that need an account: got %v, want %v", skipped, needAccount)
	}
	t.Run("Page", p.checkPage)
	slices.Sort(environments)
	p.checkRole(t, slices.Compact(environments))
}

// checkPage checks that what docs/guide/test-and-ci.md shows of the files is what they say, and carries out what it
// shows for other systems.
func (p *project) checkPage(t *testing.T) {
	const page = "docs/guide/test-and-ci.md"
	content := string(must.Get(os.ReadFile(filepath.Join(platform.Root(t), page)))(t))
	files := ""
	for _, file := range []string{"actions/setup/action.yml", "workflows/platform.yml", "workflows/stages.yml",
		"role.yml"} {
		files += string(must.Get(os.ReadFile(filepath.Join(p.folder, ".github", file)))(t))
		if !strings.Contains(content, ".github/"+file) {
			t.Errorf("%s does not name .github/%s", page, file)
		}
	}
	shown := 0
	for _, block := range platform.Blocks(t, page) {
		if block.Language != "yaml" {
			continue
		}
		if shown++; !strings.Contains(files, block.Text) {
			t.Errorf("%s shows what no file says:\n%s", page, block.Text)
		}
	}
	if shown != 3 {
		t.Errorf("%s shows %d parts of files, want 3", page, shown)
	}
	_, section, _ := strings.Cut(content, "\n## Elsewhere\n")
	_, script, _ := strings.Cut(section, "\n```sh\n")
	script, _, ok := strings.Cut(script, "\n```\n")
	if !ok {
		t.Fatalf("%s shows no commands below \"Elsewhere\"", page)
	}
	// The run has free ports here.
	script = strings.ReplaceAll(script, "localhost:8080", "$(awk '/^API/ {print $2}' local.log)")
	if printed := p.run(t, "bash", "-e", "-c", script); !strings.Contains(printed, `"openapi":"3.1.0"`) {
		t.Errorf("%s: the commands below \"Elsewhere\" print %s", page, printed)
	}
}

// setUp returns the commands of the action that all jobs begin with.
func setUp(t *testing.T, p *project) string {
	t.Helper()
	var commands []string
	for _, one := range workflows.ReadAction(t, filepath.Join(p.folder, ".github", "actions", "setup", "action.yml")) {
		commands = append(commands, one.Run)
	}
	return strings.Join(commands, "\n")
}

// steps are the steps of a job with commands.
func steps(t *testing.T, place string, workflow *actionlint.Workflow, job *actionlint.Job) (all []step) {
	t.Helper()
	resolved := func(of *actionlint.Env) (variables []string) {
		if of == nil {
			return nil
		}
		for _, variable := range of.Vars {
			value := expression.ReplaceAllStringFunc(variable.Value.Value, func(found string) string {
				known, ok := expressions[expression.FindStringSubmatch(found)[1]]
				if !ok {
					t.Errorf("%s: the tests know no value of %s", place, found)
				}
				return known
			})
			variables = append(variables, variable.Name.Value+"="+value)
		}
		return variables
	}
	shell := "bash -e"
	if workflow.Defaults != nil && workflow.Defaults.Run != nil && workflow.Defaults.Run.Shell != nil {
		shell = workflow.Defaults.Run.Shell.Value
	}
	for _, one := range job.Steps {
		run, ok := one.Exec.(*actionlint.ExecRun)
		if !ok {
			continue
		}
		if one.Name == nil {
			t.Fatalf("%s: a step with a command has no name: %s", place, run.Run.Value)
		}
		if expression.MatchString(run.Run.Value) {
			t.Errorf("%s/%s: hand values to the command in its environment: an expression in it is code", place,
				one.Name.Value)
		}
		all = append(all, step{place + "/" + one.Name.Value, run.Run.Value, shell,
			append(resolved(job.Env), resolved(one.Env)...)})
	}
	return all
}

// awsCommand and ghCommand stand in for the commands that a runner of GitHub has.
const (
	awsCommand = `#!/bin/sh
case "$*" in
"cloudformation list-stacks "*) printf '%s\n' links-prod links-dev-pr-16 links-dev-pr-17 links-dev-alice other-dev-pr-17 links-dev-pr-18 links-dev-pr-404 links-dev-pr-19 ;;
"cloudformation delete-stack --stack-name links-dev-pr-16") echo "it is being updated" >&2; exit 254 ;;
"cloudformation delete-stack --stack-name "*) echo "$4" >> "$REMOVED" ;;
*) echo "aws $*" >&2; exit 1 ;;
esac
`
	ghCommand = `#!/bin/sh
[ "$GH_TOKEN" = secret ] && [ "$*" = "pr view $3 --repo you/links --json state --jq .state" ] || { echo "gh $*" >&2; exit 1; }
case "$3" in
16 | 17) echo CLOSED ;;
18) echo OPEN ;;
19) echo MERGED ;;
*) exit 1 ;;
esac
`
)

// carryOut runs a step as GitHub does, and checks what it leaves.
func (p *project) carryOut(t *testing.T, s step) {
	t.Run(strings.ReplaceAll(s.name, "/", " "), func(t *testing.T) {
		folder := programs(t, map[string]string{"aws": awsCommand, "gh": ghCommand})
		output, removed := filepath.Join(folder, "output"), filepath.Join(folder, "removed")
		path := p.environment[len(p.environment)-1]
		arguments := []string{"bash", "-e", "-c", s.command}
		if s.shell == "bash" {
			arguments = []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.command}
		}
		command := p.command(t.Context(), arguments...)
		command.Env = append(slices.Clone(p.environment),
			"PATH="+folder+string(filepath.ListSeparator)+strings.TrimPrefix(path, "PATH="),
			"GITHUB_OUTPUT="+output, "GITHUB_REPOSITORY=you/links", "REMOVED="+removed)
		command.Env = append(command.Env, s.environment...)
		want := ""
		switch {
		case strings.HasSuffix(s.name, "/Say where it is"):
			want = "url=https://links.example.com\n"
			p.writeOutputs(t, "links-dev-pr-17", "https://links.example.com")
		case strings.HasSuffix(s.name, "/Remove the stacks of closed pull requests"):
			want, output = "links-dev-pr-17\nlinks-dev-pr-19\n", removed
		}
		if printed, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", s.command, err, printed)
		}
		if got, err := os.ReadFile(output); want != "" && (err != nil || string(got) != want) {
			t.Errorf("%s\nleaves %q, %v; want %q", s.command, got, err, want)
		}
		if strings.Contains(s.command, "openapi") {
			p.checkDocument(t)
		}
	})
}

// writeOutputs writes what the CDK command writes of the outputs of a deployed stack: those of the assembly, with the
// address of its API.
func (p *project) writeOutputs(t *testing.T, stack, address string) {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(p.folder, "cdk.out", "links-prod.template.json")))(t)
	var template struct{ Outputs map[string]any }
	must.OK(t, json.Unmarshal(content, &template))
	outputs := map[string]string{}
	for name := range template.Outputs {
		outputs[name] = "other"
		if strings.HasSuffix(name, "ApiUrl") {
			outputs[name] = address
		}
	}
	content = must.Get(json.Marshal(map[string]any{stack: outputs}))(t)
	must.OK(t, os.WriteFile(filepath.Join(p.folder, "outputs.json"), content, 0o600))
}

// checkDocument checks that the project's OpenAPI document has its routes.
func (p *project) checkDocument(t *testing.T) {
	t.Helper()
	document := httpapitest.Parse(t, must.Get(os.ReadFile(filepath.Join(p.folder, "openapi.json")))(t))
	got := document.Paths["/notes"]["post"]
	if got.OperationID != "createNote" {
		t.Errorf("openapi.json: got the operation %q for POST /notes", got.OperationID)
	}
	for _, status := range []string{"201", "400", "401", "409", "422", "429", "500", "503"} {
		if _, ok := got.Responses[status]; !ok {
			t.Errorf("openapi.json: POST /notes has no answer %s", status)
		}
	}
}

// checkRole checks the template of the role: jobs of one environment of the repository may take it, and no others.
func (p *project) checkRole(t *testing.T, environments []string) {
	text := string(must.Get(os.ReadFile(filepath.Join(p.folder, ".github", "role.yml")))(t))
	const trust = `            Action: sts:AssumeRoleWithWebIdentity
            Condition:
              StringEquals:
                token.actions.githubusercontent.com:aud: sts.amazonaws.com
                token.actions.githubusercontent.com:sub: !Sub repo:${Repository}:environment:${Environment}
      Policies:
`
	allowed := "    AllowedValues: [" + strings.Join(environments, ", ") + "]\n"
	if !strings.Contains(text, trust) || !strings.Contains(text, allowed) ||
		strings.Count(text, "AssumeRoleWithWebIdentity") != 1 || strings.Count(text, "AllowedValues") != 1 {
		t.Errorf("role.yml has not the trust\n%sof the environments of the workflows,\n%s", trust, allowed)
	}
	// A wildcard names all resources only where CloudFormation knows no others.
	if all := regexp.MustCompile(`(?m)^ +Action: (\S+)\n +Resource: "\*"$`).FindAllStringSubmatch(text,
		-1); len(all) != 1 || all[0][1] != "cloudformation:ListStacks" || strings.Count(text, `"*"`) != 1 {
		t.Errorf("role.yml: got %v for all resources; want cloudformation:ListStacks", all)
	}
}
