package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/lambda"
)

// addSweeper reads which items expire. It is made before anything writes, so that it is told of every write.
func (r *Runner) addSweeper() (err error) {
	r.sweeper, err = engine.NewSweeper(r.DynamoDB(), r.assembly, engine.SweeperOptions{
		Interval: r.options.SweepInterval, Log: slog.New(slog.NewTextHandler(r.log, nil)),
	})
	return err
}

// createTables creates the assembly's tables and begins to delete what expires in them.
func (r *Runner) createTables(ctx, background context.Context) error {
	if err := engine.CreateTables(ctx, r.DynamoDB(), r.assembly, func(line string) { r.log.printf("%s", line) }); err != nil {
		return err
	}
	r.working.Go(func() { r.sweeper.Run(background) })
	return nil
}

// readStreams reads which functions get the records of which streams.
func (r *Runner) readStreams() error {
	streams, err := engine.NewStreams(r.engine, r.options.AccessKey, r.assembly, engine.StreamsOptions{
		Invoke: streamInvoker{r.functions}, Authorise: r.aws.Authorise, Sweeper: r.sweeper, Log: slog.New(slog.NewTextHandler(r.log, nil)),
		Send:      func(queueARN, body string) error { return send(r.aws, queueARN, body, nil) },
		Redeliver: r.aws.Redeliver, Checkpoints: subfolder(r.options.Data, "streams.json"),
	})
	r.streams = streams
	return err
}

// startStreams delivers stream records to functions.
func (r *Runner) startStreams(background context.Context) error {
	done, err := r.streams.Start(background)
	if err != nil {
		return err
	}
	r.working.Go(func() { <-done })
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
func (r *Runner) Sweep(ctx context.Context) (int, error) { return r.sweeper.Sweep(ctx) }

// Tables describes the tables as the engine does, with what only the template says of them.
func (r *Runner) Tables(ctx context.Context) ([]engine.Table, error) {
	return engine.DescribeTables(ctx, r.DynamoDB(), r.assembly)
}

// Tables shows them to the console.
func (c cloud) Tables(ctx context.Context) (any, error) { return c.Runner.Tables(ctx) }
