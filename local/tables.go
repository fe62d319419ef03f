package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/lambda"
)

// database is what the engine holds for an account in a region: names of tables are unique there, as in AWS.
type database struct {
	// of has the stacks of the account and region.
	of *assembly.Assembly
	// accessKey is that of the run's options with the suffix.
	accessKey string
	suffix    string
	client    *dynamodb.Client
	sweeper   *engine.Sweeper
	streams   *engine.Streams
}

func (d *database) environment() string { return d.of.Stacks[0].Environment() }

// addDatabases makes one of each account and region, and reads which items expire in it: before anything writes, so that the
// sweeper is told of every write.
func (r *Runner) addDatabases() error {
	suffixes, err := r.suffixes()
	if err != nil {
		return err
	}
	for _, of := range r.assembly.Environments() {
		d := &database{of: of}
		d.suffix = suffixes[d.environment()]
		d.accessKey = r.options.AccessKey + d.suffix
		d.client = r.engine.Client(d.accessKey)
		if d.sweeper, err = engine.NewSweeper(d.client, of, engine.SweeperOptions{
			Interval: r.options.SweepInterval, Log: slog.New(slog.NewTextHandler(r.log, nil)),
		}); err != nil {
			return err
		}
		r.databases = append(r.databases, d)
	}
	return nil
}

// suffixesFile, in the folder of the run's data, has the suffixes by account and region.
const suffixesFile = "environments.json"

// suffixes are what the access keys of accounts and regions end in. The first account and region has none: a run of one, and data
// from before there were several, need none. Kept data keeps its suffix, also when stacks of further regions come or only some
// are chosen. The access key without one becomes free once the assembly has no stack of its account and region, as when a stack
// gets an Env.
func (r *Runner) suffixes() (map[string]string, error) {
	kept := map[string]string{}
	path := subfolder(r.options.Data, suffixesFile)
	if path != "" {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &kept)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s, which tells the tables of accounts and regions apart: %w: mend it, or remove the data folder", path, err)
		}
	}
	free, changed := true, false
	for environment, suffix := range kept {
		if suffix == "" && r.assembly.HasEnvironment(environment) {
			free = false
		}
	}
	for _, of := range r.assembly.Environments() {
		environment := of.Stacks[0].Environment()
		if _, known := kept[environment]; known {
			continue
		}
		if free {
			maps.DeleteFunc(kept, func(_, suffix string) bool { return suffix == "" })
			kept[environment], free = "", false
		} else {
			// Access keys have letters and digits.
			kept[environment] = of.Stacks[0].Account + strings.ReplaceAll(of.Stacks[0].Region, "-", "")
		}
		changed = true
	}
	if path == "" || !changed {
		return kept, nil
	}
	text, err := json.Marshal(kept)
	if err == nil {
		err = os.MkdirAll(r.options.Data, 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the account and region of each table: %w", err)
	}
	return kept, nil
}

// accessKeys name the databases for the AWS endpoint.
func (r *Runner) accessKeys() map[string]string {
	keys := map[string]string{}
	for _, d := range r.databases {
		keys[d.environment()] = d.accessKey
	}
	return keys
}

// consoleDatabase tells programs beside the run how to reach the tables.
func (r *Runner) consoleDatabase() console.Database {
	all := console.Database{Endpoint: r.engine.URL(), Region: engine.Region, AccessKey: r.databases[0].accessKey}
	for _, d := range r.databases {
		first := d.of.Stacks[0]
		all.Environments = append(all.Environments, console.EnvironmentDatabase{Account: first.Account, Region: first.Region, AccessKey: d.accessKey})
	}
	return all
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
	create := engine.CreateTables
	// Others may use an engine that the run did not start: branches of one app share its tables.
	if r.engine.PID() != 0 {
		create = func(ctx context.Context, client *dynamodb.Client, of *assembly.Assembly) error {
			return engine.CreateOrAlterTables(ctx, client, of, func(line string) { r.log.printf("%s", line) })
		}
	}
	for _, d := range r.databases {
		if err := create(ctx, d.client, d.of); err != nil {
			return err
		}
		r.working.Go(func() { d.sweeper.Run(background) })
	}
	return nil
}

// readStreams reads the streams and the functions that get their records.
func (r *Runner) readStreams() (err error) {
	for _, d := range r.databases {
		checkpoints := "streams.json"
		if d.suffix != "" {
			checkpoints = "streams-" + d.suffix + ".json"
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
