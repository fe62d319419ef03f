package main

import (
	"context"
	"os"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
)

type localCommand struct {
	Assembly         string        `help:"Folder of the cloud assembly." default:"cdk.out" type:"path"`
	Stack            []string      `help:"Stack to run, by name, by display id (Dev/Ask) or by a pattern (Dev/*); may be repeated. Default: all." placeholder:"STACK"`
	Port             int           `help:"Port of the first HTTP API, further ones take the ports above it; 0 takes any free ones, -1 those that the stacks ask for." default:"-1"`
	ConsolePort      int           `help:"Port of the console; 0 takes any free one." default:"8079"`
	Data             string        `help:"Folder that keeps tables, objects, secrets and keys between runs. Default: nothing is kept." type:"path" placeholder:"DIR"`
	DynamoDB         string        `name:"dynamodb" help:"URL of a DynamoDB to use instead of starting DynamoDB Local." placeholder:"URL"`
	AllowUnsupported []string      `help:"Resource type that may stay without effect; may be repeated." placeholder:"TYPE"`
	MaxInstances     int           `help:"Most processes of one function. Default: four per processor, at least eight." placeholder:"N"`
	SweepInterval    time.Duration `help:"Time between two looks at which items have expired; negative: they stay until POST /sweep of the console." default:"5s"`
	NoSchedules      bool          `help:"Keep schedules from firing by themselves; onesynth run-schedule still runs them."`
}

// Run runs the assembly until it is interrupted.
func (c *localCommand) Run(ctx context.Context) error {
	return local.Run(ctx, local.Options{
		Assembly: c.Assembly, Stacks: c.Stack, Port: c.Port, ConsolePort: c.ConsolePort, Data: c.Data, DynamoDB: c.DynamoDB,
		AllowUnsupported: c.AllowUnsupported, MaxInstances: c.MaxInstances, SweepInterval: c.SweepInterval, NoSchedules: c.NoSchedules, CheckLake: checkLake,
		Log: os.Stdout,
	})
}
