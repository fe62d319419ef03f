package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// local is a running `onesynth local`.
type local struct {
	api, console string
	ready        time.Duration // from start to the line "ready"
	stop         func() error
}

// runLocal starts the command on the assembly, without schedules, so that
// nothing but the load is measured.
func (b *bench) runLocal(ctx context.Context) (*local, error) {
	began := time.Now()
	cmd := exec.CommandContext(ctx, b.path("onesynth"), "local", "--assembly", b.path("cdk.out"), "--port", "0", "--console-port", "0", "--no-schedules")
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
	l := &local{stop: func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return cmd.Wait()
	}}
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
			l.api = fields[1]
		case len(fields) > 1 && fields[0] == "console":
			l.console = fields[1]
		}
	}
	return nil, fmt.Errorf("onesynth local ended before it was ready: %w", cmd.Wait())
}

// get reads a page of the console.
func (l *local) get(ctx context.Context, path string, out any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.console+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(out)
}

// start measures the time from the command to its line "ready".
func (b *bench) start(ctx context.Context) error {
	var times []time.Duration
	for range b.runs + 1 {
		l, err := b.runLocal(ctx)
		if err != nil {
			return err
		}
		times = append(times, l.ready)
		if err := l.stop(); err != nil {
			return fmt.Errorf("stop onesynth local: %w", err)
		}
	}
	times = times[1:]
	b.title("onesynth local")
	b.row("start to ready, from a built assembly", spread(times), "at most 4 s", median(times) <= 4*time.Second)
	return nil
}
