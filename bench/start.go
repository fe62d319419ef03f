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
	"strings"
	"time"
)

// local is a running `onesynth local`.
type local struct {
	api, console string
	ready        time.Duration // from start to the line "ready"
	stop         func() error
	command      string // onesynth
}

// runLocal starts the command on some stacks of the assembly, or on all, without
// schedules, so that nothing but the load is measured.
func (b *bench) runLocal(ctx context.Context, stacks ...string) (*local, error) {
	began := time.Now()
	arguments := []string{"local", "--assembly", b.path("cdk.out"), "--port", "0", "--console-port", "0", "--no-schedules"}
	for _, s := range stacks {
		arguments = append(arguments, "--stack", s)
	}
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
	l := &local{command: b.path("onesynth"), stop: func() error {
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

// seed loads the initial data of a platform.
func (l *local) seed(ctx context.Context, platform string) error {
	output, err := exec.CommandContext(ctx, l.command, "seed", platform, "--console", l.console).CombinedOutput()
	if err != nil {
		return fmt.Errorf("onesynth seed %s: %w\n%s", platform, err, output)
	}
	return nil
}

// get reads a page of the console.
func (l *local) get(ctx context.Context, path string, out any) error {
	body, err := l.read(ctx, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, out)
}

// read reads a path of the console.
func (l *local) read(ctx context.Context, path string) ([]byte, error) {
	return l.send(ctx, http.MethodGet, path, nil)
}

// post sends a POST request to the console, and reads the response into out, unless that is
// nil.
func (l *local) post(ctx context.Context, path string, body, out any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := l.send(ctx, http.MethodPost, path, bytes.NewReader(encoded))
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

func (l *local) send(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, l.console+path, body)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s of the console: %s: %s", method, path, response.Status, answer)
	}
	return answer, nil
}

// token returns a token of the subject for the APIs of the run.
func (l *local) token(ctx context.Context, subject string) (string, error) {
	var minted struct {
		AccessToken string `json:"access_token"`
	}
	err := l.post(ctx, "/token", map[string]string{"sub": subject}, &minted)
	return minted.AccessToken, err
}

// start measures the time from the start of the command to its line "ready".
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
	b.title("onesynth local, with all stacks")
	b.row("start to ready, from a built assembly", spread(times), "at most 3 s", median(times) <= 3*time.Second)
	return nil
}
