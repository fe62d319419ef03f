// Command onesynth runs cloud assemblies on this machine, talks to such a run, and checks an assembly before it is
// deployed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
)

type commands struct {
	Init        initCommand        `cmd:"" help:"Write a platform of your own, which builds, passes its tests and runs."`
	Local       localCommand       `cmd:"" help:"Run a cloud assembly on this machine: functions, HTTP APIs, tables, streams, buckets, schedules, queues, secrets."`
	Token       tokenCommand       `cmd:"" help:"Mint a token that the JWT authorizers of the running assembly accept."`
	RunSchedule runScheduleCommand `cmd:"" help:"Run a schedule of the running assembly now and wait until its function has finished, or list the schedules."`
	Push        pushCommand        `cmd:"" help:"List the push messages that the running assembly has sent."`
	Logs        logsCommand        `cmd:"" help:"Print the requests of the running assembly with what functions logged, and go on with -f."`
	Lake        lakeCommand        `cmd:"" help:"Query a lake of the running assembly with SQL, or list what is in it."`
	Seed        seedCommand        `cmd:"" help:"Load the initial data of a platform, of the running assembly or of a deployed stack. Repeating it adds nothing twice."`
	Agent       agentCommand       `cmd:"" help:"Issue, list and revoke the keys that AI agents show, of the running assembly or of a deployed stack."`
	MCP         mcpCommand         `cmd:"" name:"mcp" help:"Serve the tools of Ask-a-Human to a desktop agent, by the Model Context Protocol on standard input and output."`
	OpenAPI     openapiCommand     `cmd:"" name:"openapi" help:"Print the OpenAPI document of an API of a cloud assembly, without a run."`
	Check       checkCommand       `cmd:"" help:"Compare a cloud assembly with what is deployed, and refuse what would fail or lose data."`
	Version     kong.VersionFlag   `help:"Print the version."`
}

func main() {
	// The first Ctrl-C stops the run gracefully. After that the signal has its default effect, so a second one ends
	// this process at once, and its children with it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, arguments []string) int {
	var c commands
	parser, err := kong.New(&c,
		kong.Name("onesynth"),
		kong.Description("Runs the cloud assembly that cdk synth writes on this machine, without an AWS account and without Docker, and checks it before it is deployed."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": version()},
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, "onesynth:", err)
		return 1
	}
	if len(arguments) == 0 {
		arguments = []string{"--help"}
	}
	command, err := parser.Parse(arguments)
	if err != nil {
		parser.Errorf("%v", err)
		var parseError *kong.ParseError
		if errors.As(err, &parseError) {
			fmt.Fprintln(os.Stderr, `Run "onesynth --help" for the commands and "onesynth COMMAND --help" for their flags.`)
		}
		return 2
	}
	if err := command.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "onesynth:", err)
		var coded kong.ExitCoder
		if errors.As(err, &coded) {
			return coded.ExitCode()
		}
		return 1
	}
	return 0
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
