package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// tutorial is the page that makes, changes, tests and checks a project.
const tutorial = "docs/guide/own-platform.md"

// withoutAccount are the tutorial's commands that need an AWS account, as the tests resolve them.
var withoutAccount = []string{"npx cdk bootstrap", "make deploy STAGE=dev-alice"}

// blocks are the tutorial's blocks. README.md shows the first one, too.
func blocks(t *testing.T) []platform.Block {
	t.Helper()
	all := platform.Blocks(t, tutorial)
	if len(all) == 0 || !slices.Contains(platform.Blocks(t, "README.md"), all[0]) {
		t.Fatalf("README.md does not show the first block of %s: %v", tutorial, all)
	}
	return all
}

// follow carries out blocks of the tutorial, one after the other: commands, which print what the page shows; changes of
// files; and what the run that follows these says of them.
func (p *project) follow(t *testing.T, blocks []platform.Block) {
	var watching *projectRun
	var definitions []string
	applied := "" // what the run said of the last change
	for _, b := range blocks {
		switch b.Language {
		case "console":
			for _, c := range b.Commands() {
				switch {
				case c.Line == "make watch":
					watching = p.start(t, "watch")
				case definition.MatchString(c.Line):
					definitions = append(definitions, c.Line)
				default:
					p.carryOutShown(t, watching, definitions, c)
				}
			}
		case "diff":
			apply := p.command(t.Context(), "git", "apply", "-")
			apply.Stdin = strings.NewReader(b.Text)
			if output, err := apply.CombinedOutput(); err != nil {
				t.Fatalf("git apply: %v\n%s%s", err, output, b.Text)
			}
			p.done = nil
			if watching != nil && changesApp.MatchString(b.Text) {
				applied = watching.next(t, "applied after ")
			}
		case "text":
			if unlike(duration, applied, b.Text) {
				t.Errorf("make watch prints %q; %s shows %q", applied, tutorial, b.Text)
			}
		case "sh":
			var commands []string
			for line := range strings.Lines(b.Text) {
				command, _, _ := strings.Cut(line, "#")
				commands = append(commands, strings.TrimSpace(command))
			}
			if !slices.Equal(commands, withoutAccount) {
				t.Errorf("%s leaves out %q; the tests leave out %q", tutorial, commands, withoutAccount)
			}
			p.run(t, "bash", "-c", strings.Replace(commands[1], "make", "make --dry-run", 1))
		default:
			t.Errorf("%s has a block of %q, which no test carries out:\n%s", tutorial, b.Language, b.Text)
		}
	}
}

var (
	// definition matches a command that the commands after it need.
	definition = regexp.MustCompile(`^\w+=`)
	// changesApp matches a change of more than tests.
	changesApp = regexp.MustCompile(`(?m)^\+\+\+ b/\S+/`)
	// duration matches how long something took.
	duration = regexp.MustCompile(`\d+(\.\d+)? m?s\b`)
)

// unlike reports whether a text is another than the page shows, up to what is new each time and to where lines end.
func unlike(isNew *regexp.Regexp, got, shown string) bool {
	plain := func(text string) string {
		return strings.Join(strings.Fields(isNew.ReplaceAllString(text, "")), "")
	}
	return plain(got) != plain(shown)
}

// carryOutShown carries out a command of the tutorial, and compares what it prints, up to what is new each time.
func (p *project) carryOutShown(t *testing.T, at *projectRun, definitions []string, c platform.Command) {
	t.Helper()
	script := strings.Join(append(slices.Clone(definitions), c.Line), "\n")
	command := p.command(t.Context(), "bash", "-e", "-c", at.addressed(script))
	command.Env = at.environment(p.environment)
	var complaints strings.Builder
	command.Stderr = &complaints
	printed, err := command.Output()
	if err != nil || c.Output != "" && unlike(anew, string(printed), c.Output) {
		t.Fatalf("%s\nprints %s, %v\n%s\n%s shows %s", script, printed, err, &complaints, tutorial, c.Output)
	}
	p.done = append(p.done, c.Line)
}

// projectRun is a run of the project.
type projectRun struct {
	// api and console are its addresses.
	api, console string
	printed      *wait.Process
	// read is how far the tests have read what it printed.
	read int
}

// addressed is a script of the tutorial with the run's addresses.
func (r *projectRun) addressed(script string) string {
	if r == nil {
		return script
	}
	return strings.ReplaceAll(script, "localhost:8080", strings.TrimPrefix(r.api, "http://"))
}

// environment is an environment in which the commands of the project find the run.
func (r *projectRun) environment(variables []string) []string {
	if r == nil {
		return variables
	}
	return append(slices.Clone(variables), "ONESYNTH_CONSOLE="+r.console)
}

// next waits until the run prints a line that begins so, and returns it.
func (r *projectRun) next(t *testing.T, beginning string) (line string) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("make watch prints a line %q", beginning), func() (any, bool) {
		printed := r.printed.String()
		for end := r.read; ; end += len(line) {
			next := strings.IndexByte(printed[end:], '\n')
			if next < 0 {
				return fmt.Sprint(len(printed), " bytes"), false
			}
			if line = printed[end : end+next+1]; strings.HasPrefix(line, beginning) {
				r.read = end + len(line)
				return line, true
			}
		}
	}, wait.On(r.printed))
	return strings.TrimSuffix(line, "\n")
}
