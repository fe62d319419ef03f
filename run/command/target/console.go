// Package target finds the target of a command: a run on this machine, by its console, or a deployed stack.
package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
)

// ErrNoRun says that no run answers.
var ErrNoRun = errors.New("nothing runs")

// Console has the flag with which commands find the console of a run.
type Console struct {
	URL string `name:"console" env:"ONESYNTH_CONSOLE" help:"Address of the run's console. Default: http://127.0.0.1:8079, or the port that cdk.json says (onesynth.consolePort)." placeholder:"URL"`
}

// AfterApply sets the console's default address from the cdk.json of the working folder.
func (c *Console) AfterApply() error {
	if c.URL != "" {
		return nil
	}
	set, err := ReadSettings()
	if err != nil {
		return err
	}
	port := run.DefaultConsolePort
	if set.ConsolePort != nil && *set.ConsolePort > 0 {
		port = *set.ConsolePort
	}
	c.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
	return nil
}

// Call sends a request to the console, and decodes the response into the value.
func (c Console) Call(ctx context.Context, method, path string, body, into any) error {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("request: %w", err)
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, reader)
	if err != nil {
		return fmt.Errorf("console address: %w", err)
	}
	request.Header.Set(console.Header, "onesynth")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return c.Explain(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		var problem struct{ Error string }
		if err := json.NewDecoder(response.Body).Decode(&problem); err != nil || problem.Error == "" {
			return fmt.Errorf("%s %s answered %s: is %s the console of a local run?", method, path, response.Status,
				c.URL)
		}
		return errors.New(problem.Error)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("answer of %s: %w", c.URL, err)
	}
	return nil
}

// Explain adds a remedy to an error of the connection.
func (c Console) Explain(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w at %s: start it with onesynth local, or name its console with --console", ErrNoRun, c.URL)
	}
	return err
}
