package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakecommand"
)

// port is a port, or auto for 0: any that is free.
type port int

// UnmarshalText reads a flag.
func (p *port) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*p = 0
		return nil
	}
	number, err := strconv.Atoi(string(text))
	if err != nil || number < -1 || number > 65535 {
		return fmt.Errorf("got %q: write a port up to 65535, or auto for any that is free", text)
	}
	*p = port(number)
	return nil
}

type localCommand struct {
	Assembly         string            `help:"Folder of the cloud assembly." default:"cdk.out" type:"path"`
	Stack            []string          `help:"Stack to run, by name, by display id (Dev/Ask) or by a pattern (Dev/*); may be repeated. Default: all." placeholder:"STACK"`
	Port             *port             `help:"Port of the first HTTP API; further APIs take the ports above it, in the order that the run prints. auto takes free ports, -1 the ports that the stacks ask for. Default: -1." placeholder:"PORT"`
	ConsolePort      *port             `help:"Port of the console; auto takes a free port. Default: 8079." placeholder:"PORT"`
	Data             string            `help:"Folder that keeps tables, objects, secrets and keys between runs. Default: nothing is kept." type:"path" placeholder:"DIR"`
	DynamoDB         string            `name:"dynamodb" help:"URL of a DynamoDB to use instead of starting DynamoDB Local." placeholder:"URL"`
	AccessKey        string            `help:"Access key, of letters and digits. DynamoDB Local keeps a database for each access key." default:"onesynth" placeholder:"KEY"`
	Bedrock          string            `help:"URL of a server that answers functions' requests to models of Amazon Bedrock (Converse). Default: these requests fail." env:"AWS_ENDPOINT_URL_BEDROCK_RUNTIME" placeholder:"URL"`
	WebhookEndpoint  []string          `help:"Address on this machine that may get webhooks, and all addresses below it, besides the console's; may be repeated." placeholder:"URL"`
	AllowUnsupported []string          `help:"Resource type, or property of a type (TYPE.PROPERTY), that may stay without effect; may be repeated." placeholder:"TYPE"`
	SSMParameter     map[string]string `name:"ssm-parameter" help:"Value of a parameter of Systems Manager that exists elsewhere; may be repeated." placeholder:"NAME=VALUE"`
	MaxInstances     int               `help:"Most processes that one function may have. Default: four per processor, at least eight." placeholder:"N"`
	SweepInterval    time.Duration     `help:"Time between two sweeps, which delete expired items from the tables. If it is negative, they stay until POST /sweep of the console." default:"30s"`
	Watch            bool              `help:"Follow the source: a change of a Go file rebuilds the functions that have it; a change of the app synthesises again, and the run takes over what has changed."`
	Log              string            `help:"Form of the log: ${enum}. text has a line for each request, json the lines of functions as they wrote them." enum:"text, json" default:"text"`
	LogLevel         string            `help:"Lowest level of functions' lines in the form text: ${enum}." enum:"debug, info, warn, error" default:"info"`
	App              string            `help:"Command that synthesises, for --watch. Default: the app of cdk.json." placeholder:"COMMAND"`
	Context          map[string]string `short:"c" help:"Value of the app's context, for --watch; may be repeated." placeholder:"NAME=VALUE"`
	Debug            string            `help:"Function to run under delve, with debug information, one instance and no time-outs: its name, or the last part of its package." placeholder:"FUNCTION"`
	DebugPort        int               `help:"Port on which delve listens." default:"2345" placeholder:"PORT"`
	NoInitialData    bool              `help:"Do not load the initial data of platforms at the first start; onesynth seed still loads it."`
	NoSchedules      bool              `help:"Keep schedules from firing by themselves; onesynth schedule run still runs them."`
}

// Help returns the text of --help below the summary.
func (c *localCommand) Help() string {
	return `The cdk.json of the working folder may set the same under the context key onesynth, such as {"context": {"onesynth": {"ports": {"STACK": 9001}}}}; its members are stacks, port, consolePort, ports, allowUnsupported, ssmParameters and environment. Flags win.`
}

// Run runs the assembly until it is interrupted.
func (c *localCommand) Run(ctx context.Context) error {
	set, err := target.ReadSettings()
	if err != nil {
		return err
	}
	lake := lakecommand.New(os.Stderr)
	options := c.options(set)
	options.Lake = catalog.Engine{Check: checkLake(lake), Ask: lake.Ask, Ready: lake.Built}
	return run.Run(ctx, options)
}

// options merges the flags with the settings of cdk.json; flags win. --port applies to all stacks.
func (c *localCommand) options(set target.Settings) run.Options {
	platform, console := run.PlatformPorts, run.DefaultConsolePort
	options := run.Options{
		Assembly: c.Assembly, Stacks: c.Stack, Data: c.Data, DynamoDB: c.DynamoDB, AccessKey: c.AccessKey,
		Port:             *cmp.Or((*int)(c.Port), set.Port, &platform),
		ConsolePort:      *cmp.Or((*int)(c.ConsolePort), set.ConsolePort, &console),
		AllowUnsupported: append(c.AllowUnsupported, set.AllowUnsupported...), SSMParameters: map[string]string{},
		Environment: set.Environment, ModelsURL: c.Bedrock, WebhookEndpoints: c.WebhookEndpoint,
		MaxInstances: c.MaxInstances, SweepInterval: c.SweepInterval, InitialData: !c.NoInitialData,
		NoSchedules: c.NoSchedules, Watch: c.Watch, App: c.App, Context: c.Context, Debug: c.Debug,
		DebugPort: c.DebugPort,
		Log:       os.Stdout, LogLevel: levelOf(c.LogLevel), LogColours: coloured(os.Stdout),
	}
	if c.Log == "json" {
		options.LogFormat = run.LogJSON
	}
	if len(c.Stack) == 0 {
		options.Stacks = set.Stacks
	}
	if c.Port == nil {
		options.Ports = set.Ports
	}
	maps.Copy(options.SSMParameters, set.SSMParameters)
	maps.Copy(options.SSMParameters, c.SSMParameter)
	return options
}
