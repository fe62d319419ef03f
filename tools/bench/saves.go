package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

const (
	// saves is how often a package is saved.
	saves = 10
	// watchedAnswers is how many requests each run gets.
	watchedAnswers = 2000
)

// watch measures what a developer waits for after a save: the first answer of the new code of each platform's API, and
// whether requests are slower in a run that follows its source.
func (b *bench) watch(ctx context.Context) error {
	source := b.path("source")
	if err := b.copySource(ctx, source); err != nil {
		return err
	}
	b.title("Save of a package of an API's handlers, with onesynth local --watch, %d times each", saves)
	for _, p := range b.platforms {
		if err := b.savesOf(ctx, source, p); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return b.watchedRequests(ctx, source)
}

// copySource copies the files that handlers are made of, so that a save changes no file of the repository.
func (b *bench) copySource(ctx context.Context, folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	// What is removed, and the index does not know yet, is left out.
	copied := exec.CommandContext(ctx, "sh", "-c",
		`git ls-files --cached --others --exclude-standard --deduplicate '*.go' go.mod go.sum lambdas |
		while read -r file; do test ! -e "$file" || cp --parents "$file" "$0"; done`, folder)
	copied.Dir = b.root
	if output, err := copied.CombinedOutput(); err != nil {
		return fmt.Errorf("copy the repository's files: %w\n%s", err, output)
	}
	return os.Symlink(filepath.Join(b.root, "node_modules"), filepath.Join(folder, "node_modules"))
}

// followed is a run that follows the copied source.
type followed struct {
	*local
	document string // the address of the API's OpenAPI document
	built    chan time.Duration
}

// follow starts a run of a platform in the folder of the source, and reads what it prints.
func (b *bench) follow(ctx context.Context, source string, p platform, further ...string) (f *followed, err error) {
	f = &followed{built: make(chan time.Duration, 1)}
	failed, changed := false, false
	f.local, err = b.runLocalOf(ctx, "cdk.out", source, func(line string) {
		switch {
		case failed:
			fmt.Fprintln(os.Stderr, line)
		case strings.HasPrefix(line, "changed: "):
			changed = true
		// The function that was asked last comes first; what comes later is of the others.
		case changed && strings.HasPrefix(line, "new code after "):
			changed = false
			_, rest, _ := strings.Cut(line, "(built in ")
			text, _, _ := strings.Cut(rest, " s)")
			seconds, _ := strconv.ParseFloat(text, 64)
			f.built <- time.Duration(seconds * float64(time.Second))
		case strings.HasPrefix(line, "build failed"):
			failed = true
			close(f.built)
		}
	}, append([]string{withoutData, "--stack", p.stack()}, further...)...)
	if err != nil {
		return nil, err
	}
	for _, r := range p.Schema.Routes {
		if strings.HasSuffix(r.Path, "/openapi.json") {
			f.document = f.API + r.Path
		}
	}
	return f, nil
}

// answer reads the API's document.
func (f *followed) answer(ctx context.Context) error {
	client := onesynthtest.Client{URL: f.document, HTTP: http.DefaultClient}
	_, err := routes.Demand(http.StatusOK)(client.Send(ctx, http.MethodGet, "", nil, nil))
	return err
}

// savesOf saves files of the package in which the platform's operations are: at once after the start of runs, and then
// the same file and new ones in turn.
func (b *bench) savesOf(ctx context.Context, source string, p platform) error {
	var f *followed
	var builds []time.Duration
	saved := 0
	save := func(name string) error {
		saved++
		text := fmt.Sprintf("package api\n\nfunc init() { println(\"saved %d\") }\n", saved)
		file := filepath.Join(source, "lambdas", p.Name(), "api", name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		built, ok := <-f.built
		if !ok {
			return fmt.Errorf("the build failed")
		}
		builds = append(builds, built)
		return f.answer(ctx)
	}
	begin := func() (err error) {
		f, err = b.follow(ctx, source, p, "--watch")
		return err
	}
	first, err := inTurn(b.runs, func() (time.Duration, error) {
		if err := begin(); err != nil {
			return 0, err
		}
		took, err := timed(func() error { return save("saved.go") })
		return took, errors.Join(err, f.stop())
	})
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	defer func() { _ = f.stop() }()
	builds = nil
	times, err := inTurn(saves, timing(func() error { return save("saved.go") }),
		timing(func() error { return save(fmt.Sprintf("saved%d.go", saved)) }))
	if err != nil {
		return err
	}
	answers, created, early := sampleOf(times[0]), sampleOf(times[1]), sampleOf(first[0])
	b.row(p.Name()+": save to the first answer of the new code", answers.spread(), "at most 2 s", answers.median() <= 2)
	b.row("  of a new file", created.spread(), "at most 2.5 s", created.median() <= 2.5)
	b.row("  at once after ready", early.spread(), "at most 2.5 s", early.median() <= 2.5)
	b.figure("  the Go toolchain's part of the first two", sampleOf(builds[2:]).spread())
	return b.out.Flush()
}

// watchedRequests compares requests in a run that follows its source with those in one that does not, in turn.
func (b *bench) watchedRequests(ctx context.Context, source string) error {
	var answers []func() (time.Duration, error)
	for _, further := range [][]string{nil, {"--watch"}} {
		f, err := b.follow(ctx, source, b.platforms[0], further...)
		if err != nil {
			return err
		}
		defer f.stop()
		answers = append(answers, timing(func() error { return f.answer(ctx) }))
	}
	times, err := inTurn(watchedAnswers, answers...)
	if err != nil {
		return err
	}
	for i, what := range []string{"request without --watch", "request with --watch"} {
		b.times(what, times[i])
	}
	b.figure("difference of --watch", sampleOf(times[1]).difference(sampleOf(times[0])))
	return nil
}
