// Package command is the command onesynth: it runs cloud assemblies on this machine, talks to such a run, and checks an
// assembly before it is deployed.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/onesynth-cdk/onesynth/run/command/output"
)

type commands struct {
	Init       initCommand       `cmd:"" group:"Start" help:"Write a platform of your own, which builds, passes its tests and runs."`
	Local      localCommand      `cmd:"" group:"Start" help:"Run a cloud assembly on this machine: functions, HTTP APIs, tables, streams, buckets, schedules, queues, secrets."`
	Completion completionCommand `cmd:"" group:"Start" help:"Print a script with which a shell completes commands and flags."`
	Help       helpCommand       `cmd:"" group:"Start" help:"Show the help of a command."`
	Version    versionCommand    `cmd:"" group:"Start" help:"Print the version."`
	Token      tokenCommand      `cmd:"" group:"Run" help:"Mint a token that the JWT authorizers of the running assembly accept."`
	Schedule   scheduleCommand   `cmd:"" group:"Run" help:"List the schedules of the running assembly, or run one now."`
	Queue      queueCommand      `cmd:"" group:"Run" help:"List the queues of the running assembly, or send a message to one."`
	Push       pushCommand       `cmd:"" group:"Run" help:"List or clear the push messages that the running assembly has sent."`
	Logs       logsCommand       `cmd:"" group:"Look" help:"Print the requests of the running assembly and what their functions logged; -f goes on."`
	Lake       lakeCommand       `cmd:"" group:"Look" help:"Query a lake of the running assembly with SQL, list what is in it, or check its views."`
	OpenAPI    openapiCommand    `cmd:"" group:"Look" name:"openapi" help:"Print the OpenAPI document of an API in a cloud assembly, without a run."`
	Check      checkCommand      `cmd:"" group:"Deploy" help:"Compare a cloud assembly with what is deployed, and refuse what would fail or lose data."`
	Seed       seedCommand       `cmd:"" group:"Deploy" help:"Load the initial data of platforms into the running assembly or a deployed stack; repeating it adds nothing twice."`

	RunSchedule runScheduleCommand `cmd:"" hidden:""`
	Complete    completeCommand    `cmd:"" hidden:""`
	VersionFlag kong.VersionFlag   `name:"version" help:"Print the version."`
}

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command, such as local, or agent list. Default: the list of commands."`
}

// Run prints the help, and ends the process.
func (c *helpCommand) Run(k *kong.Kong) error {
	_, err := k.Parse(append(c.Command, "--help"))
	return err
}

type versionCommand struct{}

// Run prints the version.
func (c *versionCommand) Run() error {
	fmt.Println(version())
	return nil
}

// exitUsage is the exit status of a command that was called wrongly (EX_USAGE of sysexits.h).
const exitUsage = 64

// Main runs the command with those arguments, without its name, and returns its exit code: 0 if it succeeded, 64 if the
// arguments are wrong, and another one, which its help says, if it failed.
func Main(arguments []string) int {
	// The first Ctrl-C stops the run gracefully. After that the signal has its default effect, so a second one ends
	// this process at once, and its children with it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return execute(ctx, arguments)
}

// newParser returns the parser of all commands.
func newParser(ctx context.Context) (*kong.Kong, error) {
	options := []kong.Option{
		kong.Name("onesynth"),
		kong.Description("Runs a cloud assembly, as cdk synth writes it, on this machine, without an AWS account and " +
			"without Docker, and checks it before you deploy it."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{"version": version()},
		kong.BindTo(ctx, (*context.Context)(nil)),
	}
	for _, of := range platformCommands {
		options = append(options, kong.Embed(of.commands, `group:"`+of.platform+`"`))
	}
	parser, err := kong.New(&commands{}, options...)
	if err != nil {
		return nil, err
	}
	parser.Model.Detail = fmt.Sprintf("Exit codes: 0 if the command succeeded; %d if its arguments or flags are "+
		"wrong; 1 if it failed otherwise. The help of a command says if it has others.", exitUsage)
	return parser, nil
}

func execute(ctx context.Context, arguments []string) int {
	parser, err := newParser(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "onesynth:", err)
		return 1
	}
	if len(arguments) == 0 {
		arguments = []string{"--help"}
	}
	command, err := parser.Parse(arguments)
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		command = wrong.Context
	} else if err == nil {
		err = command.Run()
	}
	if err == nil {
		return 0
	}
	var usage *output.UsageError
	if wrong != nil || errors.As(err, &usage) {
		// The usage of onesynth itself is its long list of commands.
		if command.Selected() == nil {
			err = fmt.Errorf("%w\nRun \"onesynth --help\" for the commands", err)
		} else {
			parser.Stdout = os.Stderr
			err = errors.Join(command.PrintUsage(true), err)
			fmt.Fprintln(os.Stderr)
		}
	}
	fmt.Fprintln(os.Stderr, "onesynth:", err)
	for _, address := range explanations(err) {
		fmt.Fprintln(os.Stderr, "see", address)
	}
	var coded *exitError
	switch {
	case wrong != nil || usage != nil:
		return exitUsage
	case errors.As(err, &coded):
		return coded.code
	}
	return 1
}

// version returns the version that the Go toolchain recorded in the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "onesynth (unknown version)"
	}
	text := "onesynth " + info.Main.Version
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			text += " " + setting.Value
		}
	}
	return text + " " + info.GoVersion
}
