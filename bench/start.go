package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/bench/routes"
)

// local is a running `onesynth local`.
type local struct {
	routes.Run
	pid   int
	ready time.Duration // from start to the line "ready"
	stop  func() error
}

// runLocal starts the command on some stacks of the assembly, or on all, without
// schedules, so that nothing but the load is measured.
func (b *bench) runLocal(ctx context.Context, stacks ...string) (*local, error) {
	var arguments []string
	for _, s := range stacks {
		arguments = append(arguments, "--stack", s)
	}
	return b.runLocalOf(ctx, "cdk.out", arguments...)
}

// runLocalOf starts the command on an assembly, with further arguments.
func (b *bench) runLocalOf(ctx context.Context, assembly string, further ...string) (*local, error) {
	began := time.Now()
	arguments := append([]string{"local", "--assembly", b.path(assembly), "--port", "0", "--console-port", "0", "--no-schedules", "--no-initial-data"}, further...)
	cmd := exec.CommandContext(ctx, b.path("onesynth"), arguments...)
	cmd.Dir = b.root
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &local{pid: cmd.Process.Pid, stop: func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return cmd.Wait()
	}}
	l.Seed = b.seed(&l.Run)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 1 && fields[0] == "ready":
			l.ready = time.Since(began)
			go func() {
				for lines.Scan() {
				}
			}()
			return l, nil
		case len(fields) > 1 && fields[0] == "API":
			l.API = fields[1]
		case len(fields) > 1 && fields[0] == "console":
			l.Console = fields[1]
		}
	}
	return nil, fmt.Errorf("onesynth local ended before it was ready: %w", cmd.Wait())
}

// seed loads the initial data of a platform into a run.
func (b *bench) seed(run *routes.Run) func(context.Context, string) error {
	return func(ctx context.Context, platform string) error {
		output, err := exec.CommandContext(ctx, b.path("onesynth"), "seed", platform, "--console", run.Console).CombinedOutput()
		if err != nil {
			return fmt.Errorf("onesynth seed %s: %w\n%s", platform, err, output)
		}
		return nil
	}
}
