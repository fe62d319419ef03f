// A function that does what its event tells it to, for the tests of the runtime.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Echo    json.RawMessage
	SleepMS int
	Exit    *int
	Panic   string
	Error   string
	Print   string
	Big     int
	Child   bool
	Env     bool
	Context bool
	Memory  bool
}

func handle(ctx context.Context, e event) (any, error) {
	if e.Print != "" {
		fmt.Println(e.Print)
	}
	if e.Child {
		child := exec.Command("sleep", "600")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return nil, err
		}
		return child.Process.Pid, nil
	}
	time.Sleep(time.Duration(e.SleepMS) * time.Millisecond)
	switch {
	case e.Exit != nil:
		os.Exit(*e.Exit)
	case e.Panic != "":
		panic(e.Panic)
	case e.Error != "":
		return nil, errors.New(e.Error)
	case e.Big > 0:
		return strings.Repeat("x", e.Big), nil
	case e.Env:
		return os.Environ(), nil
	case e.Context:
		deadline, _ := ctx.Deadline()
		lc, _ := lambdacontext.FromContext(ctx)
		return map[string]any{"deadline_ms": deadline.UnixMilli(), "request_id": lc.AwsRequestID,
			"arn": lc.InvokedFunctionArn, "pid": os.Getpid()}, nil
	}
	return e.Echo, nil
}

// alone returns once at most eight processes are in the folder: more of them hinder each other, as on a machine with
// few processors, and none gets on.
func alone(folder string) {
	own := filepath.Join(folder, fmt.Sprint(os.Getpid()))
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		panic(err)
	}
	// Others begin meanwhile.
	time.Sleep(300 * time.Millisecond)
	for {
		present, err := os.ReadDir(folder)
		if err != nil {
			panic(err)
		}
		if len(present) <= 8 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := os.Remove(own); err != nil {
		panic(err)
	}
}

func main() {
	switch os.Getenv("INIT") {
	case "exit":
		os.Exit(7)
	case "panic":
		panic("cannot initialise")
	case "slow":
		time.Sleep(200 * time.Millisecond)
	case "crowded":
		alone(os.Getenv("CROWD"))
	}
	lambda.Start(handle)
}
