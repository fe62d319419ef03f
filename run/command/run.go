package command

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/onesynth-cdk/onesynth/run/command/output"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/services/fcm"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
)

type tokenCommand struct {
	target.Console
	Sub     string            `help:"Subject: who the token is for." required:""`
	Stack   string            `help:"Stack whose API the token is for. Default: all APIs of the run." placeholder:"NAME"`
	Aud     string            `help:"Audience. Default: the first one of each API."`
	Iss     string            `help:"Issuer. Default: that of the APIs, or that of the run if the APIs have several." placeholder:"URL"`
	Scope   string            `help:"Scopes, separated by spaces."`
	Claim   map[string]string `help:"Further claim; may be repeated." placeholder:"NAME=VALUE"`
	Expires time.Duration     `help:"Time until the token expires." default:"1h"`
	Format  string            `help:"Form of the output: ${enum}. text is the token alone." enum:"text, table, json, jsonlines, csv" default:"text"`
}

// Run prints the token alone, so that it fits into a shell variable.
func (c *tokenCommand) Run(ctx context.Context) error {
	claims := map[string]any{}
	for name, value := range c.Claim {
		claims[name] = value
	}
	var token console.Token
	err := c.Call(ctx, http.MethodPost, "/token", console.TokenRequest{
		Subject: c.Sub, Stack: c.Stack, Audience: c.Aud, Issuer: c.Iss, Scope: c.Scope, Expires: c.Expires.String(),
		Claims: claims,
	}, &token)
	if err != nil {
		return err
	}
	if c.Format != "text" {
		return output.Rows(os.Stdout, output.Format{Format: c.Format}, []console.Token{token})
	}
	fmt.Println(token.AccessToken)
	return nil
}

type scheduleCommand struct {
	List scheduleListCommand `cmd:"" help:"List the schedules of the running assembly."`
	Run  scheduleRunCommand  `cmd:"" help:"Run a schedule now, and wait until its function has finished."`
}

type scheduleListCommand struct {
	target.Console
	output.Format
}

// Run prints the schedules. Text has what people ask for first, the other forms have everything.
func (c *scheduleListCommand) Run(ctx context.Context) error {
	var schedules []scheduler.Status
	if err := c.Call(ctx, http.MethodGet, "/schedules", nil, &schedules); err != nil {
		return err
	}
	if c.Format.Format != "text" {
		return output.Rows(os.Stdout, c.Format, schedules)
	}
	if len(schedules) == 0 {
		fmt.Println("the running assembly has no schedules")
		return nil
	}
	var rows []scheduleRow
	for _, s := range schedules {
		row := scheduleRow{s.Name, s.Expression, "never"}
		if s.Last != nil {
			row.LastRun = s.Last.Local().Format(time.DateTime)
		}
		rows = append(rows, row)
	}
	return output.Rows(os.Stdout, c.Format, rows)
}

type scheduleRow struct {
	Schedule   string `json:"schedule"`
	Expression string `json:"expression"`
	LastRun    string `json:"last_run"`
}

type scheduleRunCommand struct {
	target.Console
	Name string `arg:"" help:"Name of the schedule, as schedule list shows it."`
}

// Run runs the schedule, and waits until its function has finished.
func (c *scheduleRunCommand) Run(ctx context.Context) error {
	return c.Call(ctx, http.MethodPost, "/schedules/"+url.PathEscape(c.Name)+"/run", nil, nil)
}

type pushCommand struct {
	List  pushListCommand  `cmd:"" default:"withargs" help:"List the push messages that the running assembly has sent."`
	Clear pushClearCommand `cmd:"" help:"Remove the messages from the list."`
}

// Help returns the text of --help below the summary.
func (c *pushCommand) Help() string {
	return `onesynth push is short for onesynth push list: onesynth push list --help has the flags.`
}

type pushListCommand struct {
	target.Console
	// A message is a document, so JSON is the form for people, too.
	Format string `help:"Form of the output: ${enum}." enum:"text, table, json, jsonlines, csv" default:"json"`
	Clear  bool   `hidden:"" help:"Remove the messages after listing them."`
}

// Run prints the messages.
func (c *pushListCommand) Run(ctx context.Context) error {
	var messages []fcm.Message
	if err := c.Call(ctx, http.MethodGet, "/push", nil, &messages); err != nil {
		return err
	}
	if err := output.Rows(os.Stdout, output.Format{Format: c.Format}, messages); err != nil || !c.Clear {
		return err
	}
	renamed("push --clear", "push clear")
	return (&pushClearCommand{c.Console}).Run(ctx)
}

type pushClearCommand struct{ target.Console }

// Run removes the messages.
func (c *pushClearCommand) Run(ctx context.Context) error {
	return c.Call(ctx, http.MethodDelete, "/push", nil, nil)
}

type queueCommand struct {
	List queueListCommand `cmd:"" help:"List the queues of the running assembly."`
	Send queueSendCommand `cmd:"" help:"Send a message to a queue."`
}

type queueListCommand struct {
	target.Console
	output.Format
}

type queueRow struct {
	Queue    string `json:"name"`
	Messages int    `json:"messages"`
}

// Run prints the queues.
func (c *queueListCommand) Run(ctx context.Context) error {
	var queues []queueRow
	if err := c.Call(ctx, http.MethodGet, "/queues", nil, &queues); err != nil {
		return err
	}
	if c.Format.Format == "text" && len(queues) == 0 {
		fmt.Println("the running assembly has no queues")
		return nil
	}
	return output.Rows(os.Stdout, c.Format, queues)
}

type queueSendCommand struct {
	target.Console
	Name      string            `arg:"" help:"Name of the queue, as queue list shows it."`
	Body      string            `arg:"" optional:"" help:"Text of the message. Default: what standard input has."`
	Attribute map[string]string `help:"Attribute of the message, a String; may be repeated." placeholder:"NAME=VALUE"`
}

// Run sends the message, and prints its id.
func (c *queueSendCommand) Run(ctx context.Context) error {
	if c.Body == "" {
		read, err := io.ReadAll(os.Stdin)
		if err != nil {
			return fmt.Errorf("reading the message: %w", err)
		}
		c.Body = string(read)
	}
	var sent console.SentID
	if err := c.Call(ctx, http.MethodPost, "/queues/"+url.PathEscape(c.Name)+"/messages",
		console.NewMessage{Body: c.Body, Attributes: c.Attribute}, &sent); err != nil {
		return err
	}
	fmt.Println(sent.ID)
	return nil
}

// runScheduleCommand is the former spelling of scheduleCommand.
type runScheduleCommand struct {
	target.Console
	Name string `arg:"" optional:""`
}

// Run lists the schedules, or runs one.
func (c *runScheduleCommand) Run(ctx context.Context) error {
	if c.Name == "" {
		renamed("run-schedule", "schedule list")
		return (&scheduleListCommand{c.Console, output.Format{Format: "text"}}).Run(ctx)
	}
	renamed("run-schedule NAME", "schedule run NAME")
	return (&scheduleRunCommand{c.Console, c.Name}).Run(ctx)
}

// renamed tells people the spelling that has replaced the one that they used.
func renamed(former, now string) {
	fmt.Fprintf(os.Stderr, "onesynth: onesynth %s is now onesynth %s; the former spelling goes on working\n", former,
		now)
}
