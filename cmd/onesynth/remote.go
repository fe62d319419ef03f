package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/schedule"
)

// running has the flag with which commands find the console of a run.
type running struct {
	Console string `help:"Address of the run's console. Default: http://127.0.0.1:8079, or the port that cdk.json says (onesynth.consolePort)." placeholder:"URL"`
}

// AfterApply sets the console's default address from the cdk.json of the working folder.
func (c *running) AfterApply() error {
	if c.Console != "" {
		return nil
	}
	set, err := readSettings()
	if err != nil {
		return err
	}
	port := local.DefaultConsolePort
	if set.ConsolePort != nil && *set.ConsolePort > 0 {
		port = *set.ConsolePort
	}
	c.Console = fmt.Sprintf("http://127.0.0.1:%d", port)
	return nil
}

// call sends a request to the console, and decodes the response into the value.
func (c running) call(ctx context.Context, method, path string, body, into any) error {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("request: %w", err)
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.Console+path, reader)
	if err != nil {
		return fmt.Errorf("console address: %w", err)
	}
	request.Header.Set(console.Header, "onesynth")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return c.explain(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		var problem struct{ Error string }
		if err := json.NewDecoder(response.Body).Decode(&problem); err != nil || problem.Error == "" {
			return fmt.Errorf("%s %s answered %s: is %s the console of a local run?", method, path, response.Status, c.Console)
		}
		return errors.New(problem.Error)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("answer of %s: %w", c.Console, err)
	}
	return nil
}

// explain adds a remedy to an error of the connection.
func (c running) explain(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("nothing runs at %s: start it with onesynth local, or name its console with --console", c.Console)
	}
	return err
}

type tokenCommand struct {
	running
	Sub     string            `help:"Subject: who the token is for." required:""`
	Stack   string            `help:"Stack whose API the token is for. Default: all APIs of the run." placeholder:"NAME"`
	Aud     string            `help:"Audience. Default: the first one of each API."`
	Iss     string            `help:"Issuer. Default: the APIs' own, or the run's when they have several." placeholder:"URL"`
	Scope   string            `help:"Scopes, separated by spaces."`
	Claim   map[string]string `help:"Further claim; may be repeated." placeholder:"NAME=VALUE"`
	Expires time.Duration     `help:"Life of the token." default:"1h"`
}

// Run prints the token alone, so that it fits into a shell variable.
func (c *tokenCommand) Run(ctx context.Context) error {
	claims := map[string]any{}
	for name, value := range c.Claim {
		claims[name] = value
	}
	var token console.Token
	err := c.call(ctx, http.MethodPost, "/token", console.TokenRequest{
		Subject: c.Sub, Stack: c.Stack, Audience: c.Aud, Issuer: c.Iss, Scope: c.Scope, Expires: c.Expires.String(), Claims: claims,
	}, &token)
	if err != nil {
		return err
	}
	fmt.Println(token.AccessToken)
	return nil
}

type runScheduleCommand struct {
	running
	Name string `arg:"" optional:"" help:"Name of the schedule. Default: the schedules are listed."`
}

// Run runs the schedule, and waits until its function has finished.
func (c *runScheduleCommand) Run(ctx context.Context) error {
	if c.Name == "" {
		return c.list(ctx)
	}
	return c.call(ctx, http.MethodPost, "/schedules/"+url.PathEscape(c.Name)+"/run", nil, nil)
}

// list prints each schedule on a line that begins with its name.
func (c *runScheduleCommand) list(ctx context.Context) error {
	var schedules []schedule.Status
	if err := c.call(ctx, http.MethodGet, "/schedules", nil, &schedules); err != nil {
		return err
	}
	if len(schedules) == 0 {
		fmt.Println("the running assembly has no schedules")
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "schedule\texpression\tlast run")
	for _, s := range schedules {
		last := "never"
		if s.Last != nil {
			last = s.Last.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Expression, last)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print schedules: %w", err)
	}
	return nil
}

type pushCommand struct {
	running
	Clear bool `help:"Remove the messages after listing them."`
}

// Run prints the messages as JSON.
func (c *pushCommand) Run(ctx context.Context) error {
	var messages []json.RawMessage
	if err := c.call(ctx, http.MethodGet, "/push", nil, &messages); err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(messages); err != nil {
		return fmt.Errorf("print messages: %w", err)
	}
	if c.Clear {
		return c.call(ctx, http.MethodDelete, "/push", nil, nil)
	}
	return nil
}
