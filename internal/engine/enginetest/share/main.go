// Command share starts one DynamoDB Local for all tests of a command, such as those of
// "share go test ./...", and ends with the status of the command. A package that starts
// its own pays some ten seconds of processor time for it: the engine compiles itself as
// it is used.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: share COMMAND [ARGUMENT ...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1], os.Args[2:])
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(max(exit.ExitCode(), 1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, arguments []string) error {
	shared, err := engine.Start(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer shared.Close()
	// The first request to an engine takes seconds of processor time. The tests only wait so long for an answer.
	if _, err := shared.Client("share").ListTables(ctx, &dynamodb.ListTablesInput{}); err != nil {
		return fmt.Errorf("DynamoDB Local does not answer: %w", err)
	}
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = append(os.Environ(), enginetest.URLVariable+"="+shared.URL())
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The tests end what they started.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	return command.Run()
}
