package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// saves is how often a package is saved.
	saves = 10
	// inTurn is how many requests go to a run before the other one gets as many, and turns how often.
	inTurn, turns = 200, 10
)

// watch measures what a developer waits for after a save: the first answer of the new code of each platform's API, and whether
// requests are slower in a run that follows its source.
func (b *bench) watch(ctx context.Context) error {
	source := b.path("source")
	if err := b.copySource(ctx, source); err != nil {
		return err
	}
	b.title(fmt.Sprintf("Save of a package of an API's handlers, with onesynth local --watch, %d times each", saves))
	for _, p := range b.platforms {
		if err := b.savesOf(ctx, source, p); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return b.watchedRequests(ctx, source)
}

// copySource copies the files that handlers are made of, so that a save changes no file of the repository.
func (b *bench) copySource(ctx context.Context, folder string) error {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.go", "go.mod", "go.sum", "lambdas")
	list.Dir = b.root
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the repository's files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(b.root, name))
		if os.IsNotExist(err) {
			continue // it is removed, and the index does not know yet
		}
		if err != nil {
			return err
		}
		target := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(b.root, "node_modules"), filepath.Join(folder, "node_modules"))
}

// followed is a run that follows the copied source.
type followed struct {
	document string // the address of the API's OpenAPI document
	built    chan time.Duration
	stop     func() error
}

// follow starts a run of a platform in the folder of the source, and reads what it prints.
func (b *bench) follow(ctx context.Context, source string, p platform, further ...string) (*followed, error) {
	arguments := []string{"local", "--assembly", b.path("cdk.out"), "--stack", p.stack(), "--port", "0", "--console-port", "0", "--no-schedules"}
	cmd := exec.CommandContext(ctx, b.path("onesynth"), append(arguments, further...)...)
	cmd.Dir, cmd.Stderr = source, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &followed{built: make(chan time.Duration, 1), stop: func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return cmd.Wait()
	}}
	console, ready := "", make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			line := lines.Text()
			switch fields := strings.Fields(line); {
			case line == "ready":
				ready <- nil
			case len(fields) > 1 && fields[0] == "console":
				console = fields[1]
			case strings.HasPrefix(line, "new code after "):
				_, rest, _ := strings.Cut(line, "(built in ")
				text, _, _ := strings.Cut(rest, " s)")
				seconds, _ := strconv.ParseFloat(text, 64)
				f.built <- time.Duration(seconds * float64(time.Second))
			case strings.HasPrefix(line, "build failed"):
				close(f.built)
				_, _ = io.Copy(os.Stderr, output)
			}
		}
		ready <- fmt.Errorf("onesynth local ended")
	}()
	if err := <-ready; err != nil {
		return nil, err
	}
	text, err := answer(ctx, console+"/")
	if err != nil {
		return nil, err
	}
	var index struct {
		APIs []struct {
			OpenAPI string `json:"openapi"`
		} `json:"apis"`
	}
	if err := json.Unmarshal(text, &index); err != nil || len(index.APIs) == 0 || index.APIs[0].OpenAPI == "" {
		return nil, fmt.Errorf("the console names no OpenAPI document: %s", text)
	}
	f.document = index.APIs[0].OpenAPI
	return f, nil
}

// savesOf saves a file of the package in which the platform's operations are.
func (b *bench) savesOf(ctx context.Context, source string, p platform) error {
	f, err := b.follow(ctx, source, p, "--watch")
	if err != nil {
		return err
	}
	defer f.stop()
	var answers, builds []time.Duration
	for n := range saves + 1 {
		began := time.Now()
		text := fmt.Sprintf("package api\n\nfunc init() { println(\"saved %d\") }\n", n)
		if err := os.WriteFile(filepath.Join(source, "lambdas", p.Name(), "api", "saved.go"), []byte(text), 0o644); err != nil {
			return err
		}
		built, ok := <-f.built
		if !ok {
			return fmt.Errorf("the build failed")
		}
		if _, err := answer(ctx, f.document); err != nil {
			return err
		}
		if n == 0 {
			continue // compiles the packages around it without inlining
		}
		answers, builds = append(answers, time.Since(began)), append(builds, built)
	}
	b.row(p.Name()+": save to the first answer of the new code", spread(answers), "at most 2 s", median(answers) <= 2*time.Second)
	b.row("  of it the Go toolchain", spread(builds), "", true)
	return nil
}

// watchedRequests compares requests in a run that follows its source with those in one that does not, in turn.
func (b *bench) watchedRequests(ctx context.Context, source string) error {
	var runs [2]*followed
	for i, further := range [][]string{nil, {"--watch"}} {
		f, err := b.follow(ctx, source, b.platforms[0], further...)
		if err != nil {
			return err
		}
		defer f.stop()
		runs[i] = f
	}
	var times [2][]time.Duration
	for turn := range turns + 1 {
		for i, f := range runs {
			for range inTurn {
				took, err := timed(func() error { _, err := answer(ctx, f.document); return err })
				if err != nil {
					return err
				}
				if turn > 0 {
					times[i] = append(times[i], took)
				}
			}
		}
	}
	for i, what := range []string{"request without --watch", "request with --watch"} {
		slices.Sort(times[i])
		b.row(what, fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", milliseconds(quantile(times[i], 0.5)), milliseconds(quantile(times[i], 0.99))), "", true)
	}
	return nil
}

func answer(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", url, response.Status, bytes.TrimSpace(text))
	}
	return text, err
}
