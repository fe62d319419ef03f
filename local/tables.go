package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/lambda"
)

// database is what the engine holds for an account in a region: names of tables are unique there, as in AWS.
type database struct {
	// of has the stacks of the account and region.
	of        *assembly.Assembly
	accessKey string
	client    *dynamodb.Client
	sweeper   *engine.Sweeper
	streams   *engine.Streams
}

func (d *database) environment() string { return d.of.Stacks[0].Environment() }

// addDatabases makes one of each account and region, and reads which items expire in it: before anything writes, so that the
// sweeper is told of every write.
func (r *Runner) addDatabases() error {
	for _, of := range r.assembly.Environments() {
		d := &database{of: of, accessKey: r.options.AccessKey + suffix(of.Stacks[0])}
		d.client = r.engine.Client(d.accessKey)
		var err error
		if d.sweeper, err = engine.NewSweeper(d.client, of, engine.SweeperOptions{
			Interval: r.options.SweepInterval, Log: slog.New(slog.NewTextHandler(r.log, nil)),
		}); err != nil {
			return err
		}
		r.databases = append(r.databases, d)
	}
	return nil
}

// suffix tells the databases of accounts and regions apart, by what is in an access key: letters and digits. It is the same in
// every run, so that kept data is found; stacks for any environment have none.
func suffix(stack *assembly.Stack) string {
	if stack.Account == assembly.DefaultAccount && stack.Region == assembly.DefaultRegion {
		return ""
	}
	return stack.Account + strings.ReplaceAll(stack.Region, "-", "")
}

// accessKeys name the databases for the AWS endpoint.
func (r *Runner) accessKeys() map[string]string {
	keys := map[string]string{}
	for _, d := range r.databases {
		keys[d.environment()] = d.accessKey
	}
	return keys
}

// wrote tells the sweeper of the tables of a write.
func (r *Runner) wrote(environment, operation string, body []byte) {
	for _, d := range r.databases {
		if d.environment() == environment {
			d.sweeper.Wrote(operation, body)
		}
	}
}

// createTables creates the assembly's tables and begins to delete what expires in them.
func (r *Runner) createTables(ctx, background context.Context) error {
	for _, d := range r.databases {
		if err := engine.CreateTables(ctx, d.client, d.of, func(line string) { r.log.printf("%s", line) }); err != nil {
			return err
		}
		r.working.Go(func() { d.sweeper.Run(background) })
	}
	return nil
}

// readStreams reads which functions get the records of which streams.
func (r *Runner) readStreams() (err error) {
	for _, d := range r.databases {
		checkpoints := "streams.json"
		if own := suffix(d.of.Stacks[0]); own != "" {
			checkpoints = "streams-" + own + ".json"
		}
		if d.streams, err = engine.NewStreams(r.engine, d.accessKey, d.of, engine.StreamsOptions{
			Invoke: streamInvoker{r.functions}, Authorise: r.aws.Authorise, Sweeper: d.sweeper, Log: slog.New(slog.NewTextHandler(r.log, nil)),
			Send:      func(queueARN, body string) error { return send(r.aws, queueARN, body, nil) },
			Redeliver: r.aws.Redeliver, Checkpoints: subfolder(r.options.Data, checkpoints),
		}); err != nil {
			return err
		}
	}
	return nil
}

// startStreams delivers stream records to functions.
func (r *Runner) startStreams(background context.Context) error {
	for _, d := range r.databases {
		done, err := d.streams.Start(background)
		if err != nil {
			return err
		}
		r.working.Go(func() { <-done })
	}
	return nil
}

// streamInvoker makes a failure of the function an error, as event source mappings see it.
type streamInvoker struct{ functions *lambda.Service }

// Invoke implements engine.Invoker.
func (s streamInvoker) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	result, err := s.functions.Invoke(ctx, function, payload)
	if err != nil {
		return nil, err
	}
	if result.FunctionError != "" {
		return nil, fmt.Errorf("function %s: %w: %s", function, errFunction, result.Payload)
	}
	return result.Payload, nil
}

var errFunction = errors.New("the function failed")

// Sweep deletes expired items now and returns how many.
func (r *Runner) Sweep(ctx context.Context) (deleted int, err error) {
	for _, d := range r.databases {
		n, err := d.sweeper.Sweep(ctx)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// Tables describes the tables as the engine does, with what only the template says of them.
func (r *Runner) Tables(ctx context.Context) ([]engine.Table, error) {
	all := []engine.Table{}
	for _, d := range r.databases {
		tables, err := engine.DescribeTables(ctx, d.client, d.of)
		if err != nil {
			return nil, err
		}
		all = append(all, tables...)
	}
	return all, nil
}

// Tables shows them to the console.
func (c cloud) Tables(ctx context.Context) (any, error) { return c.Runner.Tables(ctx) }
