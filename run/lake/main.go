// Package lake is the command onesynth-lake: it answers SQL on the lakes of a local run, and checks the views of
// lakes, for the command onesynth. It is a command of its own because it alone has DuckDB.
package lake

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakecommand"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
)

// Main does what its standard input asks for, and returns the exit code: 0, or 1 if it failed.
func Main() int {
	// A reader such as head may close the pipe early. The copy of the lake must be removed even then.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	go limitMemory()
	input, err := lakecommand.Stdin()
	if err == nil {
		err = lakecommand.Serve(ctx, input, answer)
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func answer(ctx context.Context, request lakecommand.Request) (err error) {
	out := bufio.NewWriter(os.Stdout)
	defer func() {
		if err == nil {
			err = out.Flush()
		}
	}()
	switch {
	case request.Check != nil:
		failures, err := lakequery.Check(ctx, *request.Check)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(failures)
	case request.Format == "":
		answer, err := lakequery.Ask(ctx, request.Console, request.Question)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(answer)
	}
	question := request.Question
	lake, err := lakequery.Open(ctx, request.Console,
		lakequery.Options{Database: question.Database, Stack: question.Stack})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lake.Close()) }()
	rows, err := lake.Query(ctx, question.SQL)
	if err != nil {
		return err
	}
	return lakequery.Write(out, lakequery.Format(request.Format), rows)
}
