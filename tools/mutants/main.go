// Command mutants breaks one line of the library at a time, and prints the changes that no test notices. It says
// whether tests may go: with the same seed no more changes survive without them.
//
//	go run ./tools/mutants -pure 100 -operations 50
//
// It draws changes of two groups: packages without a store, and those that carry out a platform's operations. Each runs
// against the tests of its own package, and a survivor of an operation against the script of the wire, too. A change of
// other lines does not change which are drawn. Files stay as they are: the changes are overlays of go build.
//
// Results are lines of JSON in a file. A command that is repeated goes on where it was stopped.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "decides which changes are drawn")
	flag.IntVar(&o.pure, "pure", 100, "number of changes of packages without a store")
	flag.IntVar(&o.operations, "operations", 50, "number of changes of packages with a platform's operations")
	flag.StringVar(&o.results, "results", "bin/mutants.jsonl", "file of results: changes that it has are not run again")
	flag.StringVar(&o.packages, "packages", "./...", "packages to draw from")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, ".", o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	seed              uint64
	pure, operations  int
	results, packages string
}

// outcome is what became of a change.
type outcome string

const (
	invalid  outcome = "invalid" // it does not compile, and another one is drawn
	killed   outcome = "killed"
	script   outcome = "killed by the script"
	survived outcome = "survived"
)

// result is a line of the file of results.
type result struct {
	ID      string  `json:"id"`
	Outcome outcome `json:"outcome"`
	// Change is the file and line with the new text.
	Change string `json:"change"`
}

func run(ctx context.Context, module string, o options, out io.Writer) error {
	all, err := list(ctx, module, o.packages)
	if err != nil {
		return err
	}
	known, err := readResults(filepath.Join(module, o.results))
	if err != nil {
		return err
	}
	for _, group := range []struct {
		name  string
		has   func(pkg) bool
		count int
	}{{"pure", pkg.isPure, o.pure}, {"operations", pkg.hasOperations, o.operations}} {
		counts := map[outcome]int{}
		var survivors []string
		drawn, err := draw(all, group.has, o.seed)
		if err != nil {
			return err
		}
		for _, m := range drawn {
			if counts[killed]+counts[script]+counts[survived] == group.count {
				break
			}
			r, ok := known[m.id]
			if !ok {
				if r, err = m.judge(ctx, module); err != nil {
					return err
				}
				if err := keep(filepath.Join(module, o.results), r); err != nil {
					return err
				}
			}
			if counts[r.Outcome]++; r.Outcome == survived {
				survivors = append(survivors, r.Change)
			}
		}
		fmt.Fprintf(out, "%s: %d killed, %d killed by the script, %d survived\n", group.name, counts[killed],
			counts[script], counts[survived])
		slices.Sort(survivors)
		for _, change := range survivors {
			fmt.Fprintln(out, "  "+change)
		}
	}
	return nil
}

// pkg is a package as go list describes it.
type pkg struct {
	ImportPath, Dir           string
	GoFiles, Deps             []string
	TestGoFiles, XTestGoFiles []string
}

// isPure reports whether a package has tests, and starts nothing: no process, and no client of AWS.
func (p pkg) isPure() bool {
	return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 && !slices.ContainsFunc(p.Deps, func(path string) bool {
		return path == "os/exec" || strings.HasPrefix(path, "github.com/aws/")
	})
}

// script returns the folder of the package that binds the operations of this one to requests.
func (p pkg) script() string { return filepath.Join(p.Dir, "api") }

func (p pkg) hasOperations() bool {
	_, err := os.Stat(filepath.Join(p.script(), "testdata", "wire.txt"))
	return err == nil
}

func list(ctx context.Context, module, packages string) (all []pkg, err error) {
	command := exec.CommandContext(ctx, "go", "list",
		"-json=ImportPath,Dir,GoFiles,Deps,TestGoFiles,XTestGoFiles", packages)
	command.Dir, command.Stderr = module, os.Stderr
	listed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", packages, err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(listed)))
	for {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// draw returns the changes of the packages of a group, in an order that follows from the seed.
func draw(all []pkg, has func(pkg) bool, seed uint64) (drawn []mutant, err error) {
	for _, p := range all {
		if !has(p) {
			continue
		}
		for _, file := range p.GoFiles {
			some, err := mutants(p, filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			drawn = append(drawn, some...)
		}
	}
	slices.SortFunc(drawn, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.rank(seed), b.rank(seed)), cmp.Compare(a.id, b.id))
	})
	return drawn, nil
}

// judge runs the tests with a change.
func (m mutant) judge(ctx context.Context, module string) (r result, err error) {
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	changed, overlay := filepath.Join(folder, filepath.Base(m.file)), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file: changed}})
	if err != nil {
		return r, err
	}
	if err := errors.Join(os.WriteFile(changed, m.source, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return r, err
	}
	r = result{ID: m.id, Outcome: invalid, Change: fmt.Sprintf("%s: %s", m.at(module), m.what)}
	succeeds := func(arguments ...string) bool {
		// A changed condition may let a loop take memory without end.
		command := exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -d 6000000; exec go "$@"`, "sh"},
			arguments...)...)
		command.Dir = module
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
		return command.Run() == nil
	}
	test := func(folder string, further ...string) bool {
		return succeeds(append([]string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast",
			"-timeout", (10 * time.Minute).String(), folder}, further...)...)
	}
	switch {
	case !succeeds("build", "-overlay", overlay, m.of.Dir):
	case !test(m.of.Dir):
		r.Outcome = killed
	case m.of.hasOperations() && !test(m.of.script(), "-run", "^TestWire$"):
		r.Outcome = script
	default:
		r.Outcome = survived
	}
	return r, ctx.Err()
}

func readResults(path string) (map[string]result, error) {
	known := map[string]result{}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		known[r.ID] = r
	}
	return known, nil
}

func keep(path string, r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
