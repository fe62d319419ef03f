package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// local is a running `onesynth local`.
type local struct {
	*routes.Run
	pid      int
	dynamodb string        // the address of DynamoDB Local
	loads    int           // platforms whose initial data is loaded after it is ready
	ready    time.Duration // from start to the line "ready"
	stop     func() error
}

// each measures every platform in a run of its own. measure does nothing for one that has nothing to measure.
func (b *bench) each(ctx context.Context, measure func(context.Context, *local, platform) error) error {
	for _, p := range b.platforms {
		if err := b.measured(ctx, p, measure); err != nil {
			return err
		}
	}
	return nil
}

// measured measures a platform in a run of its own, with further arguments.
func (b *bench) measured(ctx context.Context, p platform, measure func(context.Context, *local, platform) error,
	further ...string) error {
	l, err := b.runLocal(ctx, append([]string{"--stack", p.stack()}, further...)...)
	if err != nil {
		return err
	}
	if err := errors.Join(measure(ctx, l, p), l.stop()); err != nil {
		return fmt.Errorf("%s: %w", p.Schema.Title, err)
	}
	return nil
}

// withoutData makes a run load no initial data.
const withoutData = "--no-initial-data"

// runLocal starts the command on the assembly, without initial data, with further arguments.
func (b *bench) runLocal(ctx context.Context, further ...string) (*local, error) {
	return b.runLocalOf(ctx, "cdk.out", b.root, func(string) {}, append(further, withoutData)...)
}

// runLocalOf starts the command on an assembly, without schedules, so that nothing but the load is measured. printed
// gets what it prints once it is ready.
func (b *bench) runLocalOf(ctx context.Context, assembly, folder string, printed func(line string),
	further ...string) (*local, error) {
	began := time.Now()
	arguments := append([]string{"local", "--assembly", b.path(assembly), "--port", "0", "--console-port", "0",
		"--no-schedules"}, further...)
	cmd := exec.CommandContext(ctx, b.path("onesynth"), arguments...)
	cmd.Dir = folder
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
	var api string
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case strings.HasPrefix(lines.Text(), "ready"):
			l.ready = time.Since(began)
			go func() {
				for lines.Scan() {
					printed(lines.Text())
				}
			}()
			return l, nil
		case len(fields) > 1 && fields[0] == "API":
			api = fields[1]
		case len(fields) > 1 && fields[0] == "data":
			l.loads = strings.Count(lines.Text(), ",") // of the platforms, and of the rest of the line
		case len(fields) > 1 && fields[0] == "DynamoDB":
			l.dynamodb = fields[1]
		case len(fields) > 1 && fields[0] == "console":
			l.Run = &routes.Run{API: api, Console: fields[1], Seed: b.seed(fields[1])}
		}
	}
	return nil, fmt.Errorf("onesynth local ended before it was ready: %w", cmd.Wait())
}

// seed loads the initial data of a platform into a run.
func (b *bench) seed(console string) func(context.Context, string) error {
	return func(ctx context.Context, platform string) error {
		output, err := exec.CommandContext(ctx, b.path("onesynth"), "seed", platform, "--console",
			console).CombinedOutput()
		if err != nil {
			return fmt.Errorf("onesynth seed %s: %w\n%s", platform, err, output)
		}
		return nil
	}
}
